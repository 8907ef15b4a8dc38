import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Executions from "../src/Executions.ts"
import * as N8nClient from "../src/N8nClient.ts"
import * as N8nApi from "../src/testing/N8nApi.ts"

/** An execution whose JSON grows with `size`. */
const execution = (id: number, more: object = {}): N8nApi.Execution => ({
  id: String(id),
  workflowId: "w",
  status: "success",
  startedAt: "2026-01-01T00:00:00.000Z",
  stoppedAt: "2026-01-01T00:00:01.000Z",
  data: { resultData: { runData: {}, lastNodeExecuted: `Node ${id}` } },
  ...more
})

const length = (stored: N8nApi.Execution) => JSON.stringify(stored).length

/** An n8n that holds the executions; `asked` are the ids that were asked for over the wire. */
const connected = Effect.fnUntraced(function*(
  executions: ReadonlyArray<N8nApi.Execution>,
  { url = "https://n8n.test/", apiKey = "key" } = {}
) {
  const api = yield* N8nApi.make({ workflows: [], executions })
  const n8n = yield* N8nClient.make({ url: new URL(url), apiKey: Redacted.make(apiKey) }).pipe(
    Effect.provideService(HttpClient.HttpClient, api.client)
  )
  const get = (id: number) =>
    Executions.Executions.use((kept) => kept.get(String(id))).pipe(Effect.provideService(N8nClient.N8nClient, n8n))
  const asked = Effect.map(api.requests, (requests) => requests.map(({ url }) => Number(/\/(\d+)\?/.exec(url)?.[1])))
  return { get, asked }
})

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
    { status: "success", kept: true },
    { status: "error", kept: true },
    { status: "canceled", kept: true },
    { status: "crashed", kept: true },
    { status: "running", kept: false },
    { status: "waiting", kept: false },
    { status: "new", kept: false },
    { status: "unknown", kept: false },
    { status: "a status of 2027", kept: false },
    { status: null, kept: false }
  ])("with status $status: kept is $kept", ({ kept, status }) =>
    Effect.gen(function*() {
      const { asked, get } = yield* connected([execution(1, { status })])
      yield* get(1)
      yield* get(1)
      assert.strictEqual((yield* asked).length, kept ? 1 : 2)
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

  const three = [execution(1), execution(2), execution(3)]

  it.effect("lets go of the one not used for longest", () =>
    Effect.gen(function*() {
      const { asked, get } = yield* connected(three)
      for (const id of [1, 2, 1, 3]) yield* get(id)
      assert.deepStrictEqual(yield* asked, [1, 2, 3])
      yield* get(1)
      yield* get(3)
      assert.deepStrictEqual(yield* asked, [1, 2, 3])
      yield* get(2)
      assert.deepStrictEqual(yield* asked, [1, 2, 3, 2])
    }).pipe(Effect.provide(Executions.layer({ maxLength: 2 * length(execution(1)) }))))

  it.effect("does not keep what is larger than all room, and clears none for it", () =>
    Effect.gen(function*() {
      const large = execution(4, { customData: { text: "x".repeat(2 * length(execution(1))) } })
      const { asked, get } = yield* connected([...three, large])
      for (const id of [1, 2, 4, 4, 1, 2]) yield* get(id)
      assert.deepStrictEqual(yield* asked, [1, 2, 4, 4])
    }).pipe(Effect.provide(Executions.layer({ maxLength: 2 * length(execution(1)) }))))

  it.effect("counts what was read twice side by side once", () =>
    Effect.gen(function*() {
      const { asked, get } = yield* connected(three)
      yield* Effect.all([get(1), get(1), get(1)], { concurrency: "unbounded" })
      const { length: reads } = yield* asked
      for (const id of [2, 1, 2]) yield* get(id)
      assert.strictEqual((yield* asked).length, reads + 1)
    }).pipe(Effect.provide(Executions.layer({ maxLength: 2 * length(execution(1)) }))))

  const Size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400 }))

  it.effect.prop(
    "asks n8n exactly when the bound says so, whatever is read in whatever order",
    {
      sizes: Schema.Tuple([Size, Size, Size, Size, Size]),
      room: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_500 })),
      reads: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 })))
    },
    ({ reads, room, sizes }) =>
      Effect.gen(function*() {
        const stored = sizes.map((size, id) => execution(id + 1, { customData: { text: "x".repeat(size) } }))
        const lengths = stored.map(length)
        const { asked, get } = yield* connected(stored)
        const expected: Array<number> = []
        // Most recently used first.
        let kept: ReadonlyArray<number> = []
        for (const read of reads) {
          yield* get(read + 1)
          const found = kept.includes(read)
          if (!found) expected.push(read + 1)
          if (!found && (lengths[read] ?? 0) > room) continue
          let left = room
          let full = false
          kept = [read, ...kept.filter((each) => each !== read)].filter((each) => {
            left -= lengths[each] ?? 0
            full ||= left < 0
            return !full
          })
        }
        assert.deepStrictEqual(yield* asked, expected)
      }).pipe(Effect.provide(Executions.layer({ maxLength: room }))),
    { arbitrary: { runs: 200 } }
  )
})
