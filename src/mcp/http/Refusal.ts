/** Refusals of requests, such as those by `access`: always JSON, never a stack trace. */
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Rpc from "../Rpc.ts"
import { pathOf } from "./accessLog.ts"

/** Error codes of refusals before a tool is called, by HTTP status: those of the older server, and further ones. */
const codes = {
  400: "INVALID_REQUEST_FORMAT",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  406: "INVALID_REQUEST_FORMAT",
  413: "INVALID_REQUEST_FORMAT",
  415: "INVALID_REQUEST_FORMAT",
  429: "TOO_MANY_REQUESTS",
  500: "INTERNAL_SERVER_ERROR",
  503: "UNAVAILABLE"
} as const

/** Answer to a request that no tool gets to see. */
export interface Refusal {
  /** Status of HTTP. */
  readonly status: number
  /** Error code for clients without MCP. */
  readonly code:
    | typeof codes[keyof typeof codes]
    | "TOOL_NOT_FOUND"
    | "INVALID_TOOL_PARAMETERS"
    | "TOOL_EXECUTION_ERROR"
  readonly message: string
  /** Details for clients without MCP. */
  readonly details?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** JSON-RPC error code. Default: -32000. */
  readonly rpcCode?: number
  /** Id of the refused message. */
  readonly id?: string | number | undefined
}

/** Response of a refusal: a JSON-RPC error for MCP, otherwise `{error:{message,code,details}}`. */
const response = (isRpc: boolean, refusal: Refusal): HttpServerResponse.HttpServerResponse => {
  const { code, details, headers = {}, id = null, message, rpcCode = Rpc.codes.refused, status } = refusal
  const body = isRpc
    ? { jsonrpc: "2.0", id, error: { code: rpcCode, message } }
    : { error: { message, code, ...(details === undefined ? {} : { details }) } }
  return HttpServerResponse.jsonUnsafe(body, { status, headers })
}

/** Answers refusals and bugs in the format of the request's path, JSON-RPC if `isRpc`. @internal */
export const handle = (isRpc: (path: string) => boolean) =>
<R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R | HttpServerRequest.HttpServerRequest> =>
  HttpServerRequest.HttpServerRequest.use((request) => {
    const answer = (refusal: Refusal) => response(isRpc(pathOf(request)), refusal)
    return app.pipe(
      Effect.catch((refusal) => Effect.succeed(answer(refusal))),
      Effect.catchDefect((defect) => Effect.as(Effect.logError("request died", defect), answer(bug)))
    )
  })

/** Makes a refusal with a status of HTTP. */
export const make = (
  status: keyof typeof codes,
  message: string,
  more: Pick<Refusal, "headers" | "rpcCode"> = {}
): Refusal => ({ status, code: codes[status], message, ...more })

/** Refusal after a defect. @internal */
export const bug = make(
  500,
  "Internal error: a bug of this server, not of your call. Its log (stderr) has the details.",
  { rpcCode: -32603 }
)

/** Refusal of a caller without a token, or with one that is not valid. */
export const unauthorized = (hasToken: boolean) =>
  make(
    401,
    hasToken
      ? "This token is not valid for this server."
      : "A token is required: send the header 'Authorization: Bearer <token>'.",
    { headers: { "www-authenticate": `Bearer realm="effect-n8n-mcp"${hasToken ? ", error=\"invalid_token\"" : ""}` } }
  )

/** Refusal of a message that is not valid. @internal */
export const invalid = (message: string, rpcCode: number) => make(400, message, { rpcCode })
