import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Envelope from "../../src/answer/Envelope.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { rounds } from "../support/seed.ts"
import { memoryClient, readPages, versions } from "./clients.ts"

describe("listExecutions", () => {
  const start = Date.UTC(2026, 0, 1)

  const time = (minute: number) => new Date(start + minute * 60_000).toISOString()

  /** Execution `n` starts in minute `n`. */
  const run = (minute: number, more: object = {}): N8nApi.Execution => ({
    id: String(minute),
    workflowId: "w",
    status: "success",
    mode: "trigger",
    startedAt: time(minute),
    stoppedAt: time(minute),
    ...more
  })

  const runs = (count: number) => Array.from({ length: count }, (_, index) => run(index + 1))

  const ids = ({ executions }: { readonly executions: ReadonlyArray<{ readonly id: string | number }> }) =>
    executions.map((each) => Number(each.id))

  const refused = (queries: ReadonlyArray<URLSearchParams>) => queries.filter((query) => query.has("startedBefore"))

  it.effect("passes filters to n8n", () =>
    Effect.gen(function*() {
      const failure = run(1, { status: "error" })
      const { n8n, queries } = yield* memoryClient({ executions: [failure, run(2)] })
      const page = yield* n8n.listExecutions({ limit: 10, status: "error", workflowId: "w" })
      assert.deepStrictEqual(page, { executions: [failure] })
      assert.deepStrictEqual((yield* queries).map(String), ["limit=10&status=error&workflowId=w"])
    }))

  it.effect.each(versions)(
    "uses the requested limit, not the cursor's, and passes unknown cursors on (n8n %s)",
    (version) =>
      Effect.gen(function*() {
        const { n8n } = yield* memoryClient({ executions: runs(9) }, version)
        const { nextCursor: cursor } = yield* n8n.listExecutions({ limit: 4 })
        assert.deepStrictEqual(ids(yield* n8n.listExecutions({ limit: 2, cursor })), [5, 4])
        const timed = yield* n8n.listExecutions({ limit: 4, startedBefore: time(8) })
        const next = yield* n8n.listExecutions({ limit: 2, cursor: timed.nextCursor, startedBefore: time(8) })
        assert.deepStrictEqual(ids(next), [4, 3])
        const error = yield* Effect.flip(n8n.listExecutions({ limit: 4, cursor: "%%%" }))
        assert.strictEqual(Envelope.fromError(error).context["errorDetails"], "An invalid cursor was provided")
      })
  )

  it.effect("accepts 'crashed' only on 2.x, and reports an unknown status as the caller's mistake", () =>
    Effect.gen(function*() {
      const executions = [run(1, { status: "crashed" })]
      const query = { limit: 10, status: "crashed" } as const
      const two = yield* memoryClient({ executions }, "2")
      assert.deepStrictEqual(ids(yield* two.n8n.listExecutions(query)), [1])
      const one = yield* memoryClient({ executions }, "1")
      for (const times of [{}, { startedAfter: time(1) }]) {
        const error = yield* Effect.flip(one.n8n.listExecutions({ ...query, ...times }))
        const { context, ...rest } = Envelope.fromError(error)
        assert.deepStrictEqual(rest, {
          name: "ValidationError",
          message: "This n8n does not know the status 'crashed'",
          hint: "errorDetails lists the values that it accepts."
        })
        assert.strictEqual(context["field"], "status")
        assert.match(context["errorDetails"] ?? "", /canceled.+success.+waiting/)
      }
    }))

  it.effect.each(["1", "2"] as const)(
    "takes any form of a time, and refuses what is not one, on %s.x",
    (version) =>
      Effect.gen(function*() {
        const { count, n8n } = yield* memoryClient({ executions: runs(9) }, version)
        const at = DateTime.makeUnsafe(time(3))
        const forms: ReadonlyArray<DateTime.DateTime.Input> = [
          time(3),
          at,
          DateTime.toDateUtc(at),
          DateTime.toEpochMillis(at),
          DateTime.setZoneNamedUnsafe(at, "Asia/Tokyo"),
          time(3).slice(0, -1)
        ]
        for (const startedAfter of forms) {
          assert.deepStrictEqual(ids(yield* n8n.listExecutions({ startedAfter, limit: 2 })), [9, 8])
          const all = yield* Stream.runCollect(n8n.streamExecutions({ startedAfter, status: "success" }))
          assert.deepStrictEqual(all.map(({ id }) => Number(id)), [9, 8, 7, 6, 5, 4, 3])
        }
        const before = yield* count
        for (const startedBefore of ["yesterday", Number.NaN, ""]) {
          const error = yield* Effect.flip(n8n.listExecutions({ startedBefore }))
          assert.deepInclude(error, { _tag: "ValidationError", field: "startedBefore" })
        }
        assert.strictEqual(yield* count, before)
      })
  )

  it.effect("takes no state that n8n does not have", () =>
    Effect.gen(function*() {
      const { n8n } = yield* memoryClient({})
      // @ts-expect-error: a typing error.
      yield* Effect.ignore(n8n.listExecutions({ status: "eror" }))
      // @ts-expect-error: a typing error, too.
      yield* Effect.ignore(Stream.runDrain(n8n.streamExecutions({ status: "eror" })))
      assert.deepStrictEqual(yield* n8n.listWorkflows(), yield* n8n.listWorkflows({ archived: false, limit: 100 }))
    }))

  it.effect("detects only once that 1.x cannot filter by time", () =>
    Effect.gen(function*() {
      const { n8n, queries } = yield* memoryClient({ executions: runs(9) }, "1")
      const query = { limit: 10, startedBefore: time(2.5), workflowId: "w", status: "success" } as const
      assert.deepStrictEqual(ids(yield* n8n.listExecutions(query)), [2, 1])
      assert.strictEqual(refused(yield* queries).length, 1)
      assert.deepStrictEqual(ids(yield* n8n.listExecutions(query)), [2, 1])
      assert.strictEqual(refused(yield* queries).length, 1)
      assert.strictEqual((yield* queries).length, 3)
      // The other filters are still n8n's.
      assert.strictEqual((yield* queries).at(-1)?.get("workflowId"), "w")
      assert.strictEqual((yield* queries).at(-1)?.get("status"), "success")
    }))

  it.effect("stops on 1.x at the first execution that is too old", () =>
    Effect.gen(function*() {
      const { count, n8n } = yield* memoryClient({ executions: runs(2_000) }, "1")
      const page = yield* n8n.listExecutions({ limit: 100, startedAfter: time(1_951) })
      assert.strictEqual(page.executions.length, 50)
      assert.notProperty(page, "nextCursor")
      assert.strictEqual(yield* count, 2)
    }))

  it.effect("scans 5,000 executions per call on 1.x, and the cursor continues from there", () =>
    Effect.gen(function*() {
      const { count, n8n } = yield* memoryClient({ executions: runs(5_300) }, "1")
      const query = { limit: 10, startedBefore: time(4.5) }
      const first = yield* n8n.listExecutions(query)
      assert.deepStrictEqual(first.executions, [])
      assert.isDefined(first.nextCursor)
      assert.strictEqual(yield* count, 21)
      const second = yield* n8n.listExecutions({ ...query, cursor: first.nextCursor })
      assert.deepStrictEqual(ids(second), [4, 3, 2, 1])
      assert.notProperty(second, "nextCursor")
      assert.strictEqual(yield* count, 23)
    }))

  it.effect("accepts executions without a start time on 1.x", () =>
    Effect.gen(function*() {
      const executions = [run(1), run(2, { status: "waiting", startedAt: "" }), run(3)]
      const { n8n } = yield* memoryClient({ executions }, "1")
      assert.deepStrictEqual(ids(yield* n8n.listExecutions({ limit: 10, startedAfter: time(1) })), [3, 1])
    }))

  const Minute = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 45 }))

  it.effect.prop(
    "lists the same executions on both versions for any times and limit",
    {
      failed: Schema.Array(Schema.Boolean).check(Schema.isMaxLength(40)),
      limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8 })),
      after: Schema.UndefinedOr(Minute),
      before: Schema.UndefinedOr(Minute),
      status: Schema.UndefinedOr(Schema.Literals(["success", "error"]))
    },
    ({ after, before, failed, limit, status }) =>
      Effect.gen(function*() {
        const executions = failed.map((error, index) => run(index + 1, { status: error ? "error" : "success" }))
        const expected = executions.filter((execution) =>
          (status === undefined || execution.status === status) &&
          (after === undefined || execution.startedAt >= time(after)) &&
          (before === undefined || execution.startedAt <= time(before))
        ).map((execution) => Number(execution.id)).toReversed()
        const query = {
          limit,
          status,
          startedAfter: after === undefined ? undefined : time(after),
          startedBefore: before === undefined ? undefined : time(before)
        }
        for (const version of versions) {
          const { n8n } = yield* memoryClient({ executions }, version)
          const pages = yield* readPages((cursor) => n8n.listExecutions({ ...query, cursor }))
          assert.deepStrictEqual(pages.flatMap(ids), expected, version)
          assert.isTrue(pages.every((page) => page.executions.length <= limit))
        }
      }),
    { arbitrary: { runs: rounds(100) } }
  )
})
