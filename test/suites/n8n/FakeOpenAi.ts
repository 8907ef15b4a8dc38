/** OpenAI's chat completions on loopback: enough for n8n's AI nodes to run. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createServer } from "node:http"

const Request = Schema.Struct({
  model: Schema.String,
  stream: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  messages: Schema.Array(Schema.Struct({ role: Schema.String, content: Schema.optionalKey(Schema.Unknown) })),
  tools: Schema.optionalKey(
    Schema.Array(Schema.Struct({ function: Schema.Struct({ name: Schema.String }) }))
  )
})
type Request = typeof Request.Type

/** The model's answer without a tool call, which the scenario's structured output parser accepts. */
const text = JSON.stringify({ output: { answer: "forty-two" } })

/** Calls the first tool once, then answers with text: an agent ends after two rounds. */
const reply = ({ messages, tools = [] }: Request) => {
  const [tool] = tools
  if (tool === undefined || messages.some(({ role }) => role === "tool")) {
    return { message: { role: "assistant", content: text }, finish_reason: "stop" }
  }
  const call = {
    id: "call_1",
    type: "function",
    function: { name: tool.function.name, arguments: JSON.stringify({ input: "6 * 7", orderId: "7" }) }
  }
  return { message: { role: "assistant", content: null, tool_calls: [call] }, finish_reason: "tool_calls" }
}

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

const completion = (request: Request) => {
  const { finish_reason, message } = reply(request)
  const base = { id: "chatcmpl-1", created: 1_760_000_000, model: request.model }
  if (request.stream !== true) {
    return HttpServerResponse.jsonUnsafe({
      ...base,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason }],
      usage
    })
  }
  const delta = "tool_calls" in message
    ? { ...message, tool_calls: message.tool_calls?.map((call, index) => ({ ...call, index })) }
    : message
  const chunk = (part: object) => `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", ...part })}\n\n`
  return HttpServerResponse.stream(
    Stream.make(
      chunk({ choices: [{ index: 0, delta, finish_reason: null }] }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason }] }),
      chunk({ choices: [], usage }),
      "data: [DONE]\n\n"
    ).pipe(Stream.encodeText),
    { contentType: "text/event-stream" }
  )
}

/** Serves until the scope ends and returns the base URL for an OpenAI credential. */
export const serve = Effect.gen(function*() {
  const server = yield* NodeHttpServer.make(createServer, { port: 0, host: "127.0.0.1" })
  yield* server.serve(
    HttpServerRequest.HttpServerRequest.pipe(
      Effect.flatMap((request) =>
        request.method === "POST"
          ? Effect.map(HttpServerRequest.schemaBodyJson(Request), completion)
          : Effect.succeed(
            HttpServerResponse.jsonUnsafe({ object: "list", data: [{ id: "gpt-4o-mini", object: "model" }] })
          )
      )
    )
  )
  return new URL("/v1", HttpServer.formatAddress(server.address))
})
