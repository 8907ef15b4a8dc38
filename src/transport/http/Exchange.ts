/** One request to a server that lives as long as the request: nothing is kept between two. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import {
  ErrorCode,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCResultResponse
} from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import { obj, str } from "../../domain/Json.ts"
import { connect } from "../../McpTransport.ts"
import * as AccessLog from "./AccessLog.ts"
import * as Refusal from "./Refusal.ts"

/** Streamable HTTP: the SDK's transport, for one message. */
export const streamable = Effect.fnUntraced(function*(server: Server, message: unknown) {
  if (Array.isArray(message)) {
    return yield* Effect.fail(Refusal.invalid("One message a request: MCP has no batches.", ErrorCode.InvalidRequest))
  }
  const request = yield* HttpServerRequest.HttpServerRequest
  const { method, params } = obj(message) ?? {}
  const { _meta, name } = obj(params) ?? {}
  const entry = yield* AccessLog.CurrentEntry
  entry.call = str(method === "tools/call" ? name : method)
  // Progress needs an event stream; without it one JSON answer is simpler for everybody on the way.
  const enableJsonResponse = obj(_meta)?.["progressToken"] === undefined
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse })
  yield* connect(server, transport as Transport)
  const answer = yield* Effect.promise(() =>
    transport.handleRequest(
      new Request("http://localhost/mcp", { method: "POST", headers: request.headers }),
      { parsedBody: message }
    )
  )
  const { body, headers, status } = answer
  const shown = Object.fromEntries(headers)
  if (body === null) return HttpServerResponse.empty({ status, headers: shown })
  return headers.get("content-type") === "text/event-stream"
    ? HttpServerResponse.stream(
      Stream.fromReadableStream({ evaluate: () => body, onError: () => "the stream broke" }),
      { status, headers: shown }
    )
    : HttpServerResponse.uint8Array(new Uint8Array(yield* Effect.promise(() => answer.arrayBuffer())), {
      status,
      headers: shown
    })
})

/** Asks the server one thing, without MCP's wrapping. */
export const ask = (
  server: Server,
  method: string,
  params: Readonly<Record<string, unknown>>
): Effect.Effect<JSONRPCErrorResponse | JSONRPCResultResponse> =>
  Effect.callback((resume) => {
    const transport: Transport = {
      start: () => Promise.resolve(),
      close: () => Promise.resolve(),
      send: (message: JSONRPCMessage) => {
        if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) resume(Effect.succeed(message))
        return Promise.resolve()
      }
    }
    void server.connect(transport).then(() => transport.onmessage?.({ jsonrpc: "2.0", id: 1, method, params }))
    return Effect.promise(() => server.close())
  })
