/** One request to a server that lives as long as the request; nothing is kept between requests. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import {
  ErrorCode,
  isInitializeRequest,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCRequest,
  type JSONRPCResultResponse,
  SUPPORTED_PROTOCOL_VERSIONS
} from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import { obj, str } from "../../base/Json.ts"
import { connect, join } from "../McpTransport.ts"
import * as AccessLog from "./accessLog.ts"
import * as Refusal from "./refusal.ts"

const both = "Not Acceptable: Client must accept both application/json and text/event-stream"

/** The message, or why the SDK's transport would refuse it, in its words: the body is read here already. */
const decode = (headers: Headers.Headers, body: unknown): Effect.Effect<JSONRPCMessage, Refusal.Refusal> => {
  const accept = headers["accept"] ?? ""
  if (!accept.includes("application/json") || !accept.includes("text/event-stream")) {
    return Effect.fail(Refusal.notAcceptable(both))
  }
  const message = JSONRPCMessageSchema.safeParse(body)
  if (!message.success) {
    return Effect.fail(Refusal.invalid("Parse error: Invalid JSON-RPC message", ErrorCode.ParseError))
  }
  const version = headers["mcp-protocol-version"]
  if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version) || isInitializeRequest(message.data)) {
    return Effect.succeed(message.data)
  }
  const supported = SUPPORTED_PROTOCOL_VERSIONS.join(", ")
  return Effect.fail(
    Refusal.invalid(
      `Bad Request: Unsupported protocol version: ${version} (supported versions: ${supported})`,
      -32000
    )
  )
}

/** An answer in parts: the SDK's transport, for one message. */
const events = Effect.fnUntraced(function*(server: Server, headers: Headers.Headers, message: JSONRPCRequest) {
  const transport = new WebStandardStreamableHTTPServerTransport()
  yield* connect(server, transport as Transport)
  const answer = yield* Effect.promise(() =>
    transport.handleRequest(new Request("http://localhost/mcp", { method: "POST", headers }), { parsedBody: message })
  )
  const { body, status } = answer
  const answerHeaders = Object.fromEntries(answer.headers)
  return body === null
    ? HttpServerResponse.empty({ status, headers: answerHeaders })
    : HttpServerResponse.stream(
      Stream.fromReadableStream({ evaluate: () => body, onError: () => "the stream broke" }),
      { status, headers: answerHeaders }
    )
})

/** A JSON answer; interrupting it interrupts the tool. */
const request = (
  server: Server,
  message: JSONRPCRequest
): Effect.Effect<JSONRPCErrorResponse | JSONRPCResultResponse> =>
  Effect.callback((resume) => {
    const transport: Transport = {
      start: () => Promise.resolve(),
      close: () => Promise.resolve(transport.onclose?.()),
      send: (answer: JSONRPCMessage) => {
        if ("result" in answer || "error" in answer) resume(Effect.succeed(answer))
        return Promise.resolve()
      }
    }
    void join(server, transport).then(() => transport.onmessage?.(message))
    return Effect.promise(() => server.close())
  })

/** Streamable HTTP, for one message. */
export const streamable = Effect.fnUntraced(function*(server: Server, body: unknown) {
  if (Array.isArray(body)) {
    return yield* Effect.fail(Refusal.invalid("One message a request: MCP has no batches.", ErrorCode.InvalidRequest))
  }
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const { method, params } = obj(body) ?? {}
  const { _meta, name } = obj(params) ?? {}
  yield* AccessLog.note({ call: str(method === "tools/call" ? name : method) })
  const message = yield* decode(headers, body)
  // A server that was made for this message waits for no notification and no answer.
  if (!("method" in message && "id" in message)) return HttpServerResponse.empty({ status: 202 })
  // Progress needs an event stream; without it one JSON answer is simpler for everybody on the way.
  return obj(_meta)?.["progressToken"] === undefined
    ? HttpServerResponse.jsonUnsafe(yield* request(server, message))
    : yield* events(server, headers, message)
})
