/**
 * MCP up to 2025-11-25 without sessions: each request is answered by itself. Nothing is known of the client's
 * `initialize`, so it is asked nothing. A server of the SDK for each request took a tenth of a call's time.
 */
import * as Effect from "effect/Effect"
import { defined, int, obj, str } from "../../base/Json.ts"
import type { Caller, Protocol } from "../McpTransport.ts"
import * as Methods from "../Methods.ts"
import * as Rpc from "../Rpc.ts"
import * as Versions from "./Versions.ts"

/** Reason why a request is not one of MCP, if it is not. */
const problem = ({ method, params = {} }: Rpc.Request): string | undefined => {
  const { _meta: meta = {} } = params
  const { progressToken = "" } = obj(meta) ?? {}
  if (obj(meta) === undefined) return "params._meta is not an object"
  if (str(progressToken) === undefined && int(progressToken) === undefined) {
    return "params._meta.progressToken is neither a string nor an integer"
  }
  if (method !== "initialize") return undefined
  return str(params["protocolVersion"]) === undefined
    ? "params.protocolVersion is not a string"
    : ["capabilities", "clientInfo"].map((name) => obj(params[name]) === undefined && `params.${name} is not an object`)
      .find((reason) => reason !== false)
}

const initialize = ({ capabilities, instructions, name, version }: Methods.About, requested: unknown) => ({
  protocolVersion: Versions.legacy.find((each) => each === requested) ?? Versions.legacy[0],
  capabilities,
  serverInfo: { name, version },
  ...defined({ instructions })
})

const resultOf = (
  { about, methods }: Protocol,
  caller: Caller,
  request: Rpc.Request,
  notify: (message: Rpc.Notification) => void
): Effect.Effect<object, Rpc.RpcError> => {
  const { method, params = {} } = request
  const reason = problem(request)
  if (reason !== undefined) return Rpc.invalidParams(`Invalid request: ${reason}`)
  if (method === "initialize") return Effect.succeed(initialize(about, params["protocolVersion"]))
  if (method === "ping") return Effect.succeed({})
  return Methods.run(methods, method, {
    params,
    caller,
    capabilities: {},
    notify: (method, params) => Effect.sync(() => notify({ jsonrpc: "2.0", method, params })),
    ask: (questions) => Effect.as(Methods.checkCanAsk({}, questions), {})
  })
}

/** Answers one request. Interruption cancels the call. */
export const answer = (
  protocol: Protocol,
  caller: Caller,
  request: Rpc.Request,
  notify: (message: Rpc.Notification) => void
): Effect.Effect<object> =>
  Effect.match(resultOf(protocol, caller, request, notify), {
    onSuccess: (result) => ({ jsonrpc: "2.0", id: request.id, result }),
    onFailure: (error) => Rpc.failure(request.id, error)
  })
