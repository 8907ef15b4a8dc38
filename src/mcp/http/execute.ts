/** Interface of the older server: tools without MCP. */
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import { obj } from "../../base/Json.ts"
import type { Caller, Failure, Served } from "../McpTransport.ts"
import * as Rpc from "../Rpc.ts"
import type { Identity } from "./Access.ts"
import * as AccessLog from "./accessLog.ts"
import * as Gate from "./gate.ts"
import * as Refusal from "./Refusal.ts"

/** Status and code of a tool's failure by its name. */
const failures: Readonly<Record<string, Pick<Refusal.Refusal, "status" | "code">>> = {
  ValidationError: { status: 400, code: "INVALID_TOOL_PARAMETERS" },
  NotFoundError: { status: 404, code: "TOOL_EXECUTION_ERROR" },
  ApiError: { status: 502, code: "TOOL_EXECUTION_ERROR" }
}

/** Status and code of an app's own failures, such as those of its middleware. */
const ownFailure = { status: 400, code: "TOOL_EXECUTION_ERROR" } as const

const failure = ({ envelope, isServerFault }: Failure): Refusal.Refusal => {
  const { code, status } = isServerFault ? Refusal.bug : failures[envelope.name] ?? ownFailure
  return { status, code, message: envelope.message, details: envelope }
}

export const tools = ({ list }: Served, caller: Caller) =>
  Effect.map(list(caller), (tools) =>
    HttpServerResponse.jsonUnsafe({
      tools: tools.map(Struct.pick(["name", "description", "inputSchema", "outputSchema"]))
    }))

const usage = "The body is {\"name\": \"list_workflows\", \"parameters\": {…}}; POST /mcp/tools lists the tools."

/** Calls `{name, parameters}` and returns the tool's answer. */
export const call = Effect.fnUntraced(function*(served: Served, caller: Identity, body: unknown) {
  const { name, parameters = {}, ...others } = obj(body) ?? {}
  if (typeof name !== "string" || obj(parameters) === undefined || Object.keys(others).length > 0) {
    return yield* Effect.fail(Refusal.invalid(usage, Rpc.codes.invalidRequest))
  }
  yield* AccessLog.note({ call: name })
  yield* Gate.checkScope(served, caller, name)
  const result = yield* served.call(caller, name, parameters).pipe(
    Effect.catchTag(
      "UnknownTool",
      ({ message }) => Effect.fail<Refusal.Refusal>({ status: 404, code: "TOOL_NOT_FOUND", message })
    )
  )
  return Result.isSuccess(result)
    ? HttpServerResponse.jsonUnsafe(result.success)
    : yield* Effect.fail(failure(result.failure))
})
