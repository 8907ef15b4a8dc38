/** Handling of one request of either era, without state between requests. */
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { str } from "../../base/Json.ts"
import * as Modern from "../eras/Modern.ts"
import * as Stateless from "../eras/Stateless.ts"
import * as Versions from "../eras/Versions.ts"
import type { Served } from "../McpTransport.ts"
import * as Rpc from "../Rpc.ts"
import type { Identity } from "./Access.ts"
import * as AccessLog from "./accessLog.ts"
import * as Gate from "./gate.ts"
import * as Refusal from "./Refusal.ts"

const json = "application/json"
const stream = "text/event-stream"

/** Types of answers that a client takes; an event stream only if it names the type. */
const accepted = (headers: Headers.Headers) => {
  const accept = headers["accept"]?.trim() || "*/*"
  const types = accept.toLowerCase().split(",").map((each) => each.replace(/;.*/s, "").trim())
  return {
    json: types.some((each) => each === json || each === "*/*" || each === "application/*"),
    stream: types.includes(stream)
  }
}

const decode = (accepts: ReturnType<typeof accepted>, body: unknown): Effect.Effect<Rpc.Message, Refusal.Refusal> => {
  if (Array.isArray(body)) {
    return Effect.fail(Refusal.invalid("Send one message per request: MCP has no batches.", Rpc.codes.invalidRequest))
  }
  if (!accepts.json && !accepts.stream) {
    return Effect.fail(Refusal.make(406, `Not Acceptable: answers are ${json} or ${stream}`))
  }
  const message = Rpc.parse(body)
  return message === undefined
    ? Effect.fail({ ...Refusal.invalid(Rpc.problem(body), Rpc.codes.invalidRequest), id: Rpc.idOf(body) })
    : Effect.succeed(message)
}

type Answering = (notify: (message: Rpc.Notification) => void) => Effect.Effect<Modern.Answer>

/** Streamed answer; closing the stream cancels the call. */
const events = (respond: Answering) =>
  Effect.map(Effect.context<never>(), (context) =>
    HttpServerResponse.stream(
      Stream.callback<object>(Effect.fnUntraced(function*(queue) {
        const { body } = yield* respond((message) => void Queue.offerUnsafe(queue, message))
        yield* Queue.offer(queue, body)
        yield* Queue.end(queue)
      })).pipe(
        Stream.map((message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`),
        Stream.encodeText,
        Stream.provideContext(context)
      ),
      { contentType: stream, headers: { "cache-control": "no-cache", "x-accel-buffering": "no" } }
    ))

const whole = ({ body, status }: Modern.Answer) => HttpServerResponse.jsonUnsafe(body, { status })

export const streamable = Effect.fnUntraced(function*(protocol: Served, caller: Identity, body: unknown) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const accepts = accepted(headers)
  const message = yield* decode(accepts, body)
  const method = "method" in message ? message.method : undefined
  yield* AccessLog.note({
    call: method === "tools/call" && "params" in message ? str(message.params?.["name"]) : method
  })
  // Notifications and answers are accepted without effect: no state is left of earlier requests.
  if (!Rpc.isRequest(message)) return HttpServerResponse.empty({ status: 202 })
  const isModern = Modern.isModern(message, headers)
  const version = headers["mcp-protocol-version"]
  if (!isModern && version !== undefined && !Versions.supported.includes(version) && method !== "initialize") {
    return whole({ status: 400, body: Rpc.failure(message.id, Versions.unsupported(version)) })
  }
  const refusal = isModern ? Modern.refusal(message, headers) : undefined
  if (refusal !== undefined) return whole(refusal)
  if (method === "tools/call") yield* Gate.checkScope(protocol, caller, message.params?.["name"])
  const respond: Answering = isModern
    ? (notify) => Modern.answer(protocol, caller, message, notify)
    : (notify) => Effect.map(Stateless.answer(protocol, caller, message, notify), (body) => ({ status: 200, body }))
  // Progress needs an event stream; otherwise one JSON answer is simpler for proxies.
  return accepts.stream && (Versions.metaOf(message)["progressToken"] !== undefined || !accepts.json)
    ? yield* events(respond)
    : whole(yield* respond(() => undefined))
})
