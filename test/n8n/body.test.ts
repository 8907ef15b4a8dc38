import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { RequestListener } from "node:http"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import * as NodeHttpClient from "../../src/app/NodeHttpClient.ts"
import * as Errors from "../../src/base/Errors.ts"
import * as Executions from "../../src/executions/Executions.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import { listening } from "../support/listening.ts"
import { reasonOf } from "../support/reason.ts"
import { type Answer, apiKey, scriptedClient, settle } from "./clients.ts"

const megabyte = 1_000_000

/** An answer that goes on and on; `given` counts its megabytes. */
const endless = (status: number, beginning = "") => {
  const given = { megabytes: 0 }
  const answer: Answer = () =>
    Effect.sync(() =>
      new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(new TextEncoder().encode(beginning)),
          pull: (controller) => {
            given.megabytes++
            controller.enqueue(new Uint8Array(megabyte).fill(0x61))
          }
        }, { highWaterMark: 0 }),
        { status }
      )
    )
  return { answer, given }
}

describe("a body without end", () => {
  it.effect("of JSON is read up to 64 MB", () =>
    Effect.gen(function*() {
      const { answer, given } = endless(200, `{"id":"`)
      const { n8n, requests } = yield* scriptedClient([answer])
      const error = yield* Effect.flip(n8n.getWorkflow("1"))
      assert.instanceOf(error, Errors.ApiError)
      assert.strictEqual(error.reason.details, "an answer of more than 64 MB")
      assert.isAtMost(given.megabytes, 66)
      assert.strictEqual(requests.length, 1)
    }))

  it.effect("of an error is read no further than its words may go", () =>
    Effect.gen(function*() {
      const { answer, given } = endless(400, `{"message":"`)
      const { n8n } = yield* scriptedClient([answer])
      const error = yield* Effect.flip(n8n.getWorkflow("1"))
      assert.strictEqual(reasonOf(error), "Status 400")
      assert.isAtMost(given.megabytes, 2)
    }))

  it.effect("of a webhook is cut at 1 MB, of the start page at 4", () =>
    Effect.gen(function*() {
      const hook = endless(200)
      const called = yield* scriptedClient([hook.answer])
      const { text } = yield* called.n8n.callWebhook("orders", { method: "POST", seconds: 10 })
      assert.strictEqual(text.length, megabyte)
      assert.isAtMost(hook.given.megabytes, 3)
      const page = endless(200)
      const { n8n } = yield* scriptedClient([page.answer])
      assert.isUndefined(yield* n8n.release)
      assert.isAtMost(page.given.megabytes, 6)
    }))

  it.effect.each([
    { what: "a value of its metadata", beginning: `{"id":"`, most: 3 },
    { what: "the workflow that ran", beginning: `{"workflowData":"`, most: 69 },
    { what: "a key", beginning: `{"`, most: 3 }
  ])("of an execution ends with $what", ({ beginning, most }) =>
    Effect.gen(function*() {
      const { answer, given } = endless(200, beginning)
      const { n8n } = yield* scriptedClient([answer])
      const error = yield* Executions.Executions.use((executions) => executions.get("1")).pipe(
        Effect.provide(Executions.layer()),
        Effect.provideService(N8nClient.N8nClient, n8n),
        Effect.flip
      )
      assert.strictEqual(error._tag, "ApiError")
      assert.isAtMost(given.megabytes, most)
    }))
})

const clients = [["fetch", FetchHttpClient.layer], ["node:http", NodeHttpClient.layer]] as const

/** A client of a server that really listens: what is packed, `fetch` and `node:http` unpack. */
const clientOf = Effect.fnUntraced(function*(listener: RequestListener, layer: Layer.Layer<HttpClient.HttpClient>) {
  const address = yield* listening(listener)
  return yield* N8nClient.make({
    url: new URL(address),
    apiKey: Redacted.make(apiKey),
    retry: undefined
  }).pipe(Effect.provide(layer))
})

const json = Buffer.from(JSON.stringify({ id: "1", name: "A", active: false, nodes: [], connections: {} }))
const zeros = Buffer.alloc(80 * megabyte)
const quick = { level: constants.Z_BEST_SPEED }
const once = gzipSync(zeros, quick)

describe.each(clients)("a packed body for %s", (_, layer) => {
  it.live.each<[encoding: string, bytes: Uint8Array]>([
    ["gzip", once],
    ["gzip, gzip", gzipSync(once, quick)],
    ["br", brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })]
  ])("that unpacks to far more than it is is not unpacked whole: %s", ([encoding, bytes]) =>
    Effect.gen(function*() {
      const n8n = yield* clientOf((_request, response) => {
        response.writeHead(200, { "content-encoding": encoding }).end(bytes)
      }, layer)
      const error = yield* Effect.flip(n8n.getWorkflow("1"))
      assert.instanceOf(error, Errors.ApiError)
      assert.strictEqual(error.reason.details, "an answer of more than 64 MB")
    }).pipe(Effect.scoped))

  it.live.each([
    { what: "breaks off", bytes: gzipSync(json).subarray(0, -12) },
    { what: "is none", bytes: json },
    { what: "is empty", bytes: Buffer.alloc(0) }
  ])("that $what is an error, and the next answer is still read", ({ bytes }) =>
    Effect.gen(function*() {
      const n8n = yield* clientOf((request, response) => {
        const isWhole = request.url?.endsWith("/2") === true
        response.writeHead(200, { "content-encoding": "gzip" }).end(isWhole ? gzipSync(json) : bytes)
      }, layer)
      const error = yield* Effect.flip(n8n.getWorkflow("1"))
      assert.instanceOf(error, Errors.ApiError)
      assert.isNotEmpty(error.reason.details)
      assert.strictEqual((yield* n8n.getWorkflow("2")).name, "A")
    }).pipe(Effect.scoped))
})

describe("a list that does not end", () => {
  const page = (data: ReadonlyArray<unknown>, nextCursor: string): Answer => () =>
    Effect.sync(() => Response.json({ data, nextCursor }))

  it.effect("of workflows is read up to a limit, from which nextCursor continues", () =>
    Effect.gen(function*() {
      const archived = { id: "1", name: "A", active: false, nodes: [], isArchived: true }
      const { n8n, requests } = yield* scriptedClient([page([archived], "more")])
      const { nextCursor, workflows } = yield* n8n.listWorkflows({ archived: false, limit: 5 })
      assert.deepStrictEqual(workflows, [])
      assert.isString(nextCursor)
      assert.strictEqual(requests.length, 40)
    }))

  it.effect("of tags is an error, immediately if a cursor repeats", () =>
    Effect.gen(function*() {
      const circle = yield* scriptedClient([page([], "same")])
      assert.strictEqual((yield* Effect.flip(circle.n8n.setWorkflowTags("1", ["a"])))._tag, "ApiError")
      assert.strictEqual(circle.requests.length, 2)
      let pages = 0
      const { n8n } = yield* scriptedClient([
        () => Effect.sync(() => Response.json({ data: [], nextCursor: `${pages++}` }))
      ])
      const error = yield* settle(Effect.flip(n8n.setWorkflowTags("1", ["a"])))
      assert.include(error._tag === "ApiError" ? error.reason.details : "", "does not end")
      assert.isAtMost(pages, 50)
    }))
})
