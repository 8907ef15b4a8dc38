import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as Hints from "../../src/answer/Hints.ts"
import * as Errors from "../../src/base/Errors.ts"
import * as Blocks from "../../src/executions/blocks.ts"
import * as Executions from "../../src/executions/Executions.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { rounds } from "../support/seed.ts"
import * as TestTime from "../support/TestTime.ts"

const execution = (id: number, more: object = {}): N8nApi.Execution => ({
  id: String(id),
  workflowId: "w",
  status: "success",
  startedAt: "2026-01-01T00:00:00.000Z",
  stoppedAt: "2026-01-01T00:00:01.000Z",
  data: { resultData: { runData: {}, lastNodeExecuted: `Node ${id}` } },
  ...more
})

/** Text that no compression makes smaller; it counts as `blocks` of some 20 bytes. */
const filling = (blocks: number) => ({
  customData: {
    text: Array.from({ length: blocks }, (_, index) => createHash("md5").update(`${index}`).digest("base64")).join("")
  }
})

const bytes = (stored: N8nApi.Execution) => new TextEncoder().encode(JSON.stringify(stored))

/** What it takes in memory. */
const size = (stored: N8nApi.Execution) =>
  Effect.sync(() => {
    const writer = new Blocks.Writer()
    writer.write(bytes(stored))
    return writer.end().size
  })

const through = Effect.fnUntraced(function*(http: HttpClient.HttpClient, url = "https://n8n.test/", apiKey = "key") {
  const n8n = yield* N8nClient.make({ url: new URL(url), apiKey: Redacted.make(apiKey) }).pipe(
    Effect.provideService(HttpClient.HttpClient, http)
  )
  const of = (method: "get" | "keep") => (id: number) =>
    Executions.Executions.use((executions) => executions[method](String(id))).pipe(
      Effect.provideService(N8nClient.N8nClient, n8n)
    )
  return { get: of("get"), keep: of("keep") }
})

/** An n8n that holds the executions; `asked` are the ids that were asked for over the wire. */
const connected = Effect.fnUntraced(function*(
  executions: ReadonlyArray<N8nApi.Execution>,
  { apiKey, url }: { readonly url?: string; readonly apiKey?: string } = {}
) {
  const api = yield* N8nApi.make({ workflows: [], executions })
  const { get, keep } = yield* through(api.client, url, apiKey)
  const asked = Effect.map(
    api.requests,
    (requests) => requests.map((request) => Number(/\/(\d+)\?/.exec(request.url)?.[1]))
  )
  return { get, keep, asked }
})

type Answer = Effect.Effect<Response>

/** An n8n that gives these answers one after the other; `asked` are the URLs. */
const scripted = Effect.fnUntraced(function*(...script: ReadonlyArray<Answer>) {
  const asked: Array<URL> = []
  const http = HttpClient.make((request, url) => {
    const answer = script[asked.length] ?? Effect.die(new Error("asked once too often"))
    asked.push(url)
    return Effect.map(answer, (response) => HttpClientResponse.fromWeb(request, response))
  })
  return { ...yield* through(http), asked }
})

const answers = (stored: N8nApi.Execution): Answer => Effect.sync(() => Response.json(stored))

describe("Executions", () => {
  it.effect("reads an execution that is over once", () =>
    Effect.gen(function*() {
      const { asked, get } = yield* connected([execution(1), execution(2)])
      const first = yield* get(1)
      assert.strictEqual(first.lastNode, "Node 1")
      assert.strictEqual(yield* get(1), first)
      assert.deepStrictEqual(yield* asked, [1])
      assert.strictEqual((yield* get(2)).lastNode, "Node 2")
      assert.deepStrictEqual(yield* asked, [1, 2])
    }).pipe(Effect.provide(Executions.layer())))

  it.effect.each([
    ...["success", "error", "canceled", "crashed"].map((status) => ({ status, isCached: true })),
    ...["running", "waiting", "new", "unknown", "a status of 2027", null].map((status) => ({ status, isCached: false }))
  ])("with status $status: cached is $isCached", ({ isCached, status }) =>
    Effect.gen(function*() {
      const { asked, get } = yield* connected([execution(1, { status })])
      yield* get(1)
      yield* get(1)
      assert.strictEqual((yield* asked).length, isCached ? 1 : 2)
    }).pipe(Effect.provide(Executions.layer())))

  it.effect("does not keep a failure", () =>
    Effect.gen(function*() {
      const { asked, get } = yield* connected([])
      assert.strictEqual((yield* Effect.flip(get(1)))._tag, "NotFoundError")
      assert.strictEqual((yield* Effect.flip(get(1)))._tag, "NotFoundError")
      assert.strictEqual((yield* asked).length, 2)
    }).pipe(Effect.provide(Executions.layer())))

  it.effect("keeps instances apart, by key and by address", () =>
    Effect.gen(function*() {
      const of = (name: string, options?: { readonly url?: string; readonly apiKey?: string }) =>
        connected([execution(1, { workflowId: name })], options)
      const mine = yield* of("mine")
      const theirs = yield* of("theirs", { apiKey: "another" })
      const elsewhere = yield* of("elsewhere", { url: "https://elsewhere.test/" })
      for (const _ of [1, 2]) {
        assert.strictEqual((yield* mine.get(1)).workflowId, "mine")
        assert.strictEqual((yield* theirs.get(1)).workflowId, "theirs")
        assert.strictEqual((yield* elsewhere.get(1)).workflowId, "elsewhere")
      }
      for (const { asked } of [mine, theirs, elsewhere]) assert.deepStrictEqual(yield* asked, [1])
      // The same instance through another client.
      const again = yield* of("mine")
      assert.strictEqual((yield* again.get(1)).workflowId, "mine")
      assert.deepStrictEqual(yield* again.asked, [])
    }).pipe(Effect.provide(Executions.layer())))
})

describe("the room for executions", () => {
  const three = [execution(1), execution(2), execution(3)]

  it.effect("may be filled to the last byte", () =>
    Effect.gen(function*() {
      const sizes = yield* Effect.forEach([execution(1), execution(2)], size)
      const readBoth = (room: number) =>
        Effect.gen(function*() {
          const { asked, get } = yield* connected(three)
          for (const id of [1, 2, 1, 2]) yield* get(id)
          return yield* asked
        }).pipe(Effect.provide(Executions.layer({ maxCachedBytes: room })))
      const both = sizes.reduce((sum, each) => sum + each, 0)
      assert.deepStrictEqual(yield* readBoth(both), [1, 2])
      assert.deepStrictEqual(yield* readBoth(both - 1), [1, 2, 1, 2])
    }))

  it.effect("counts an execution once, however often it is cached", () =>
    Effect.gen(function*() {
      const { asked, get, keep } = yield* connected([execution(1, filling(50)), execution(2)])
      yield* Effect.forEach(Array.from({ length: 40 }, () => 1), keep, { discard: true })
      for (const id of [1, 2, 1, 2]) yield* get(id)
      assert.deepStrictEqual((yield* asked).slice(40), [2])
    }).pipe(Effect.provide(Executions.layer({ maxCachedBytes: 20_000 }))))

  const Filling = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))

  it.effect.prop(
    "decides alone when n8n is asked again, whatever is read in whatever order",
    {
      fillings: Schema.Tuple([Filling, Filling, Filling, Filling, Filling]),
      /** Percent of what all of them take. */
      share: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })),
      reads: Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))), {
        minLength: 10,
        maxLength: 40
      })
    },
    ({ fillings, reads, share }) =>
      Effect.gen(function*() {
        const stored = fillings.map((blocks, index) => execution(index + 1, filling(blocks)))
        const sizes = yield* Effect.forEach(stored, size)
        const room = Math.floor(sizes.reduce((sum, each) => sum + each, 0) * share / 100)
        yield* Effect.provide(check(stored, sizes, room, reads), Executions.layer({ maxCachedBytes: room }))
      }),
    { arbitrary: { runs: rounds(20) } }
  )

  /** Compares what n8n is asked for with what a cache of that room cannot answer. */
  const check = (
    stored: ReadonlyArray<N8nApi.Execution>,
    sizes: ReadonlyArray<number>,
    room: number,
    reads: ReadonlyArray<number>
  ) =>
    Effect.gen(function*() {
      const { asked, get } = yield* connected(stored)
      const expected: Array<number> = []
      // Most recently used first.
      let kept: ReadonlyArray<number> = []
      for (const read of reads) {
        yield* get(read + 1)
        const found = kept.includes(read)
        if (!found) expected.push(read + 1)
        if (!found && (sizes[read] ?? 0) > room) continue
        let left = room
        let full = false
        kept = [read, ...kept.filter((each) => each !== read)].filter((each) => {
          left -= sizes[each] ?? 0
          full ||= left < 0
          return !full
        })
      }
      assert.deepStrictEqual(yield* asked, expected)
    })
})

describe("reading an execution", () => {
  it.effect("happens once for all who ask at the same time", () =>
    Effect.gen(function*() {
      const { asked, get } = yield* connected([execution(1), execution(2)])
      const found = yield* Effect.forEach([1, 2, 1, 1], get, { concurrency: "unbounded" })
      assert.deepStrictEqual(found.map(({ id }) => id), ["1", "2", "1", "1"])
      assert.deepStrictEqual((yield* asked).toSorted(), [1, 2])
    }).pipe(Effect.provide(Executions.layer())))

  it.effect("goes on for the others when the first gives up", () =>
    Effect.gen(function*() {
      const asking = yield* Deferred.make<void>()
      const first = Effect.andThen(Deferred.succeed(asking, undefined), Effect.never)
      const { asked, get } = yield* scripted(first, answers(execution(1)))
      const gone = yield* Effect.forkChild(get(1))
      yield* Deferred.await(asking)
      const other = yield* Effect.forkChild(get(1))
      yield* Fiber.interrupt(gone)
      assert.strictEqual((yield* Fiber.join(other)).id, "1")
      assert.strictEqual(asked.length, 2)
    }).pipe(Effect.provide(Executions.layer())))

  it.effect("starts again when the body breaks off", () =>
    Effect.gen(function*() {
      const whole = bytes(execution(1))
      const half = Effect.sync(() =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(whole.subarray(0, whole.length / 2)),
            pull: (controller) => {
              controller.error(new Error("terminated"))
            }
          })
        )
      )
      const { asked, get } = yield* scripted(half, answers(execution(1)))
      assert.strictEqual((yield* TestTime.run(get(1))).lastNode, "Node 1")
      assert.strictEqual(asked.length, 2)
    }).pipe(Effect.provide(Executions.layer())))

  it.effect("asks for the data that n8n keeps back, once", () =>
    Effect.gen(function*() {
      const withheld = { ...execution(1, { dataTooLargeToDisplay: true }), data: null }
      const { asked, get } = yield* scripted(answers(withheld), answers(execution(1)))
      assert.strictEqual((yield* get(1)).lastNode, "Node 1")
      assert.strictEqual((yield* get(1)).lastNode, "Node 1")
      assert.deepStrictEqual(
        asked.map(({ search }) => search),
        ["?includeData=true", "?includeData=true&ignoreDataSizeLimit=true"]
      )
    }).pipe(Effect.provide(Executions.layer())))

  it.effect.each([
    { what: "says", more: { jsonSizeBytes: 3_000_000 } },
    { what: "turns out", more: filling(80_000) }
  ])("ends when n8n $what that it is too large", ({ more }) =>
    Effect.gen(function*() {
      const { data, ...head } = execution(1)
      const { get } = yield* scripted(answers({ ...head, ...more, data }))
      const error = yield* Effect.flip(get(1))
      assert.instanceOf(error, Errors.ValidationError)
      assert.strictEqual(error.field, "id")
      assert.match(error.message, /^Execution '1' contains .*MB, more than the limit of 1 MB$/)
    }).pipe(Effect.provide(Executions.layer({ maxBodyBytes: 1_000_000 }))))

  it.effect.each([
    { what: "a web page", body: "<html>Sign in</html>" },
    { what: "nothing", body: "" },
    { what: "half of it", body: JSON.stringify(execution(1)).slice(0, 100) },
    { what: "JSON of another shape", body: "{\"ok\":true}" }
  ])("fails on $what", ({ body }) =>
    Effect.gen(function*() {
      const { asked, get } = yield* scripted(Effect.sync(() => new Response(body)))
      const error = yield* Effect.flip(get(1))
      assert.instanceOf(error, Errors.ApiError)
      assert.match(error.message, /^Failed to get execution for Execution '1': ./)
      assert.include(Hints.text(error.hint), "N8N_URL")
      assert.strictEqual(asked.length, 1)
    }).pipe(Effect.provide(Executions.layer())))
})
