/** The older server's way in: one tool, without MCP's wrapping. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { ErrorCode } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { arr, obj, str } from "../../domain/Json.ts"
import * as AccessLog from "./AccessLog.ts"
import * as Exchange from "./Exchange.ts"
import * as Refusal from "./Refusal.ts"

/** What a client of this interface needs of each tool. */
export const tools = Effect.fnUntraced(function*(server: Server) {
  const answer = yield* Exchange.ask(server, "tools/list", {})
  if ("error" in answer) return yield* Effect.fail(Refusal.bug)
  const listed = arr(answer.result["tools"]).map((tool) => {
    const { description, inputSchema, name, outputSchema } = obj(tool) ?? {}
    return { name, description, inputSchema, outputSchema }
  })
  return HttpServerResponse.jsonUnsafe({ tools: listed })
})

/** How a tool's failure is told over HTTP. */
const failures: Readonly<Record<string, readonly [status: number, code: Refusal.Code]>> = {
  ValidationError: [400, "INVALID_TOOL_PARAMETERS"],
  NotFoundError: [404, "TOOL_EXECUTION_ERROR"],
  ApiError: [502, "TOOL_EXECUTION_ERROR"]
}

const failure = (text: string): Refusal.Refusal => {
  const envelope = obj(JSON.parse(text)) ?? {}
  const [status, code] = failures[str(envelope["name"]) ?? ""] ?? [Refusal.bug.status, Refusal.bug.code]
  return { status, code, message: str(envelope["message"]) ?? Refusal.bug.message, details: envelope }
}

const usage = "The body is {\"name\": \"list_workflows\", \"parameters\": {…}}; POST /mcp/tools tells the tools."

/** Calls `{name, parameters}`; the answer is the tool's own. */
export const call = Effect.fnUntraced(function*(server: Server, body: unknown) {
  const { name, parameters = {}, ...others } = obj(body) ?? {}
  if (typeof name !== "string" || obj(parameters) === undefined || Object.keys(others).length > 0) {
    return yield* Effect.fail(Refusal.invalid(usage, ErrorCode.InvalidRequest))
  }
  const entry = yield* AccessLog.CurrentEntry
  entry.call = name
  const answer = yield* Exchange.ask(server, "tools/call", { name, arguments: parameters })
  if ("error" in answer) {
    const { code, message } = answer.error
    return yield* Effect.fail<Refusal.Refusal>(
      code === ErrorCode.InvalidParams
        ? { status: 404, code: "TOOL_NOT_FOUND", message: message.replace(/^MCP error -\d+: /, "") }
        : Refusal.bug
    )
  }
  const { content, isError, structuredContent } = answer.result
  if (isError === true) return yield* Effect.fail(failure(str(obj(arr(content)[0])?.["text"]) ?? "{}"))
  return HttpServerResponse.jsonUnsafe(structuredContent)
})
