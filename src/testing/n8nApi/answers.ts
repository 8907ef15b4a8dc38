/**
 * Answers whose bodies are read without promises: effect's `TestClock` waits for a fiber only while the fiber's own
 * scheduler has tasks for it, so a promise would be late for a clock that is adjusted by more than a timeout.
 */
import * as Effect from "effect/Effect"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"

const encoder = new TextEncoder()

const bodies = new WeakMap<Response, Uint8Array<ArrayBuffer>>()

/** Answer with a text; a hook sees it as any other `Response`. */
export const text = (body: string, init?: ResponseInit): Response => {
  const response = new Response(body, init)
  bodies.set(response, encoder.encode(body))
  return response
}

export const json = (value: unknown, init: ResponseInit = {}): Response =>
  text(JSON.stringify(value), { ...init, headers: { "content-type": "application/json", ...init.headers } })

/** Answer without a body. */
export const empty = (headers: Record<string, string> = {}): Response => new Response(null, { status: 204, headers })

/** Turns of the event loop in which a body arrives that was in memory; one that takes longer is a stream. */
const turns = 8

/** Reads the body of a hook's response by turns of the scheduler; `undefined` if it is a stream, or breaks off. */
const bodyOf = Effect.fnUntraced(function*(response: Response) {
  const read = { body: bodies.get(response) }
  if (read.body !== undefined || response.bodyUsed) return read.body
  response.clone().arrayBuffer().then((bytes) => void (read.body = new Uint8Array(bytes)), () => {})
  for (let turn = 0; turn < turns && read.body === undefined; turn++) yield* Effect.yieldNow
  return read.body
})

/** Response for the client; a body in memory is read immediately. */
export const respond = Effect.fnUntraced(
  function*(request: HttpClientRequest.HttpClientRequest, response: Response) {
    const web = HttpClientResponse.fromWeb(request, response)
    const body = response.body === null ? undefined : yield* bodyOf(response)
    if (body === undefined) return web
    const inMemory: HttpClientResponse.HttpClientResponse = Object.create(web, {
      arrayBuffer: { value: Effect.sync(() => body.slice().buffer) },
      stream: { value: Stream.succeed(body) }
    })
    return inMemory
  }
)
