/** Refusals of requests: always JSON, never a stack trace. */
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { pathOf } from "./accessLog.ts"

/** Error codes of the older server's HTTP interface, and further ones. */
export type Code =
  | "TOOL_NOT_FOUND"
  | "INVALID_REQUEST_FORMAT"
  | "INVALID_TOOL_PARAMETERS"
  | "TOOL_EXECUTION_ERROR"
  | "INTERNAL_SERVER_ERROR"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "TOO_MANY_REQUESTS"
  | "UNAVAILABLE"

/** Refusal of a request. */
export interface Refusal {
  readonly status: number
  readonly code: Code
  readonly message: string
  readonly details?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** JSON-RPC error code. Default: -32000. */
  readonly rpcCode?: number
  /** The id of the JSON-RPC request. */
  readonly id?: string | number | undefined
}

/** Response of a refusal: a JSON-RPC error for MCP, otherwise `{error:{message,code,details}}`. */
const response = (isRpc: boolean, refusal: Refusal): HttpServerResponse.HttpServerResponse => {
  const { code, details, headers = {}, id = null, message, rpcCode = -32000, status } = refusal
  const body = isRpc
    ? { jsonrpc: "2.0", id, error: { code: rpcCode, message } }
    : { error: { message, code, ...(details === undefined ? {} : { details }) } }
  return HttpServerResponse.jsonUnsafe(body, { status, headers })
}

/** Answers refusals and bugs in the format of the request's path, JSON-RPC if `isRpc`. */
export const answered = (isRpc: (path: string) => boolean) =>
<R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const answer = (refusal: Refusal) => response(isRpc(pathOf(request)), refusal)
    return app.pipe(
      Effect.catch((refusal) => Effect.succeed(answer(refusal))),
      Effect.catchDefect((defect) => Effect.as(Effect.logError("request died", defect), answer(bug)))
    )
  })

export const notFound: Refusal = {
  status: 404,
  code: "NOT_FOUND",
  message: "Not found. This server has GET /health, POST /mcp, POST /mcp/tools and POST /mcp/execute."
}

export const notAllowed = (allow: string): Refusal => ({
  status: 405,
  code: "METHOD_NOT_ALLOWED",
  message: `Only ${allow} is allowed here.`,
  headers: { allow }
})

export const bug: Refusal = {
  status: 500,
  code: "INTERNAL_SERVER_ERROR",
  message: "Internal error: a bug of this server, not of your call. Its log (stderr) has the details.",
  rpcCode: -32603
}

export const busy = (limit: number): Refusal => ({
  status: 503,
  code: "UNAVAILABLE",
  message: `${limit} calls are in flight already: call again in a moment.`,
  headers: { "retry-after": "1" }
})

export const tooMany = (seconds: number, limit: number): Refusal => ({
  status: 429,
  code: "TOO_MANY_REQUESTS",
  message: `More than ${limit} calls in a minute: call again in ${seconds} s.`,
  headers: { "retry-after": String(seconds) }
})

export const unauthorized = (hasToken: boolean): Refusal => ({
  status: 401,
  code: "UNAUTHORIZED",
  message: hasToken
    ? "This token is not valid for this server."
    : "A token is required: send the header 'Authorization: Bearer <token>'.",
  headers: { "www-authenticate": `Bearer realm="effect-n8n-mcp"${hasToken ? ", error=\"invalid_token\"" : ""}` }
})

export const foreignHost = (host: string | undefined): Refusal => ({
  status: 403,
  code: "FORBIDDEN",
  message: host === undefined
    ? "A Host header is needed."
    : `Host '${host}' is not a name of this server. The operator can add it with --allowed-hosts.`
})

export const foreignOrigin = (origin: string): Refusal => ({
  status: 403,
  code: "FORBIDDEN",
  message: `Pages of '${origin}' may not call this server. The operator can allow them with --allowed-origins.`
})

export const notJson: Refusal = {
  status: 415,
  code: "INVALID_REQUEST_FORMAT",
  message: "Content-Type must be application/json."
}

export const encoded: Refusal = {
  status: 415,
  code: "INVALID_REQUEST_FORMAT",
  message: "Content-Encoding is not supported: send the body uncompressed.",
  headers: { "accept-encoding": "identity" }
}

export const notAcceptable = (message: string): Refusal => ({ status: 406, code: "INVALID_REQUEST_FORMAT", message })

export const tooLarge = (bytes: number): Refusal => ({
  status: 413,
  code: "INVALID_REQUEST_FORMAT",
  message: `The body is larger than ${bytes / 1024 / 1024} MB.`,
  headers: { connection: "close" }
})

export const invalid = (message: string, rpcCode: number): Refusal => ({
  status: 400,
  code: "INVALID_REQUEST_FORMAT",
  message,
  rpcCode
})
