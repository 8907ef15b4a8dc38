import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Errors from "../../src/base/Errors.ts"
import * as Selection from "../../src/executions/Selection.ts"
import * as HttpErrors from "../../src/n8n/HttpErrors.ts"
import type { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { reasonOf } from "../support/reason.ts"
import * as TestTime from "../support/TestTime.ts"

const time = (id: number) => new Date(Date.UTC(2026, 10, 20, 0, id)).toISOString()

const run = (id: number, status = "success", workflowId = id % 2 === 0 ? "even" : "odd"): N8nApi.Execution => ({
  id: String(id),
  workflowId,
  status,
  startedAt: time(id),
  stoppedAt: status === "running" ? null : time(id),
  data: {}
})

const workflow = (id: string, name: string): N8nApi.Workflow => ({
  id,
  name,
  nodes: [],
  connections: {},
  active: false
})

const runs = (count: number) => Array.from({ length: count }, (_, index) => run(index + 1))

const holding = (executions: ReadonlyArray<N8nApi.Execution>): Layer.Layer<N8nClient> =>
  FakeN8n.layer({ workflows: [workflow("even", "受注 Even"), workflow("odd", "Odd")], executions })

const select = (query: Partial<Selection.Query>) =>
  Selection.select({ defaultLast: 20, ...query }, ({ id }) => Effect.succeed(Number(id)))

const ids = ({ runs }: Selection.Selection<unknown>) => runs.map(({ head }) => Number(head.id))

const gone = (id: string) =>
  new Errors.NotFoundError({ operation: "get execution", resourceType: "Execution", resourceId: id })

const unreadable = new Errors.ValidationError({ reason: "It contains 600 MB", field: "id" })

describe("a selection", () => {
  it.effect("is complete with all that match, or with as many as were requested", () =>
    Effect.gen(function*() {
      const all = yield* select({})
      assert.deepStrictEqual([ids(all).length, all.isComplete, all.nextCursor], [12, true, undefined])
      const some = yield* select({ last: 5 })
      assert.deepStrictEqual([ids(some), some.isComplete], [[12, 11, 10, 9, 8], true])
      assert.isUndefined(Selection.next(some, { last: 5, defaultLast: 20 }))
      const cut = yield* select({ defaultLast: 5 })
      assert.deepStrictEqual([ids(cut), cut.isComplete], [[12, 11, 10, 9, 8], false])
      const next = Selection.next(cut, { defaultLast: 5 })
      assert.deepStrictEqual(ids(yield* select({ ...next })), [7, 6, 5, 4, 3, 2, 1])
    }).pipe(Effect.provide(holding(runs(12)))))

  it.effect("meets every condition, by names in any script too", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(ids(yield* select({ workflowName: "受注", startedAfter: time(7) })), [12, 10, 8])
      assert.deepStrictEqual(ids(yield* select({ workflowId: "odd", startedBefore: time(5) })), [5, 3, 1])
      assert.deepStrictEqual(ids(yield* select({ status: "error" })), [])
      const none = yield* select({ workflowName: "nothing" })
      assert.deepStrictEqual([ids(none), none.isComplete], [[], true])
      assert.include(none.note, "No workflow has \"nothing\" in its name")
      assert.include((yield* select({ workflowName: "even", workflowId: "odd" })).note, "of this workflowId")
    }).pipe(Effect.provide(holding(runs(12)))))

  it.effect("leaves out runs that n8n deleted, and names those that cannot be read", () =>
    Effect.gen(function*() {
      const selection = yield* Selection.select({ last: 6, defaultLast: 20 }, ({ id }) => {
        if (id === "11") return Effect.fail(gone("11"))
        return id === "9" ? Effect.fail(unreadable) : id === "8" ? undefined : Effect.succeed(`run ${id}`)
      })
      assert.deepStrictEqual(ids(selection), [12, 10, 8, 7])
      assert.deepStrictEqual(selection.runs.map(({ value }) => value), ["run 12", "run 10", undefined, "run 7"])
      assert.isFalse(selection.isComplete)
      assert.strictEqual(selection.note, "n8n deleted 1 run meanwhile. 1 run could not be read (9): It contains 600 MB")
      const all = yield* Effect.flip(Selection.select({ defaultLast: 20 }, () => Effect.fail(unreadable)))
      assert.strictEqual(all, unreadable)
    }).pipe(Effect.provide(holding(runs(12)))))

  it.effect("ends before the first run that was not read in time, and continues there", () =>
    Effect.gen(function*() {
      const query = { last: 12, defaultLast: 20 }
      const slow = Selection.select(query, ({ id }) =>
        Effect.as(Effect.sleep(Number(id) > 8 ? "10 seconds" : Number(id) === 7 ? "5 minutes" : "1 seconds"), id))
      const first = yield* TestTime.run(slow)
      assert.deepStrictEqual([ids(first), first.isComplete], [[12, 11, 10, 9, 8], false])
      assert.strictEqual(first.note, "Only 5 runs read in the time of one call: continue with cursor.")
      const next = Selection.next(first, query)
      assert.strictEqual(next?.last, 7)
      assert.deepStrictEqual(ids(yield* select({ ...next })), [7, 6, 5, 4, 3, 2, 1])
      const error = yield* Effect.flip(TestTime.run(Selection.select(query, () =>
        Effect.never)))
      assert.strictEqual(reasonOf(error), "Timeout")
    }).pipe(Effect.provide(holding(runs(12)))))

  it.effect("ends before a run that timed out, which the next call reads", () =>
    Effect.gen(function*() {
      const timeout = HttpErrors.timeoutError({ operation: "get execution" }, 7_000)
      const failing = (...late: ReadonlyArray<number>) =>
        Selection.select({ defaultLast: 20 }, ({ id }) =>
          late.includes(Number(id)) ? Effect.fail(timeout) : Effect.succeed(id))
      const first = yield* failing(8, 7, 5)
      assert.deepStrictEqual([ids(first), first.isComplete, first.isCut], [[12, 11, 10, 9], false, true])
      assert.strictEqual(first.note, "Only 4 runs read in the time of one call: continue with cursor.")
      const second = yield* select({ ...Selection.next(first, { defaultLast: 20 }) })
      assert.deepStrictEqual(ids(second), [8, 7, 6, 5, 4, 3, 2, 1])
      // A run that takes longer than all others cannot hold up the rest.
      const slow = yield* failing(12, 11)
      assert.deepStrictEqual([ids(slow).length, slow.isComplete, slow.isCut], [10, false, false])
      assert.include(slow.note, "2 runs could not be read (12, 11)")
      const none = yield* Effect.flip(failing(...Array.from({ length: 12 }, (_, index) =>
        index + 1)))
      assert.strictEqual(none, timeout)
    }).pipe(Effect.provide(holding(runs(12)))))

  it.effect("selects the same runs again", () =>
    Effect.gen(function*() {
      const fake = yield* FakeN8n.FakeN8n
      const some = yield* select({ workflowId: "even", cursor: "eyJsYXN0SWQiOiI5IiwibGltaXQiOjI1MH0=", defaultLast: 3 })
      assert.deepStrictEqual(ids(some), [8, 6, 4])
      yield* fake.addExecution(run(14))
      assert.deepStrictEqual(ids(yield* select({ workflowId: "even", ...some.again })), [8, 6, 4])
    }).pipe(Effect.provide(FakeN8n.layer({ workflows: [], executions: runs(12) }))))

  it.effect("ends after many bytes", () =>
    Effect.gen(function*() {
      const selection = yield* Selection.select({ defaultLast: 100 }, ({ id }) => Effect.succeed(id), () => 66_000_000)
      assert.isAtLeast(ids(selection).length, 15)
      assert.isAtMost(ids(selection).length, 20)
      assert.isFalse(selection.isComplete)
      const rest = yield* select({ cursor: selection.nextCursor ?? "" })
      assert.strictEqual(Math.max(...ids(rest)), Math.min(...ids(selection)) - 1)
    }).pipe(Effect.provide(holding(runs(30)))))

  it.effect("counts each run once over several pages, while others start and end", () =>
    Effect.gen(function*() {
      const fake = yield* FakeN8n.FakeN8n
      const seen: Array<number> = []
      let cursor: string | undefined
      for (let page = 0; page < 3; page++) {
        const selection = yield* select({ last: 100, ...(cursor === undefined ? {} : { cursor }) })
        seen.push(...ids(selection))
        cursor = selection.nextCursor
        yield* fake.addExecution(run(1_000 + page, "error"))
      }
      assert.deepStrictEqual(seen, Array.from({ length: 300 }, (_, index) => 300 - index))
      assert.isUndefined(cursor)
    }).pipe(Effect.provide(FakeN8n.layer({ workflows: [], executions: runs(300) }))))
})
