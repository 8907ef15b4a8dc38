import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { cron, day, hour, layer, minute, type Planned, player, pollUntil, published, watchDay } from "./simulation.ts"

/** `pnpm test:suite long` watches a whole day. */
describe("an hour of a mixed instance", () => {
  it.effect("has no false alarm, and names each cause once", () =>
    Effect.map(watchDay(7, 1), ({ causes, failed, most, others, perPoll, unknown }) => {
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(unknown, [])
      assert.deepStrictEqual(failed, causes)
      assert.isAbove(causes.length, 0)
      assert.isAtMost(most, 8)
      assert.isAtMost(perPoll, 3)
    }))
})

describe("the night in which the clocks change", () => {
  for (const [change, skipped] of [["2026-03-29T01:00:00Z", true], ["2026-10-25T01:00:00Z", false]] as const) {
    it.effect(`at ${change} misses no start`, () => {
      const at = Date.parse(change)
      const [nightly, hourly] = [published("nightly", cron("30 2 * * *")), published("hourly", cron("0 * * * *"))]
      const run = (workflow: Planned["workflow"], at: number): Planned => ({ workflow, at, ms: 1_000, mode: "trigger" })
      const runs = [
        ...Array.from({ length: 60 }, (_, index) => run(hourly, at + (index - 48) * hour)),
        // At 2:30 of Berlin, which the night in spring does not have.
        ...[-2, -1, 0, 1].flatMap((index) => {
          const summer = skipped ? index > 0 : index <= 0
          const offset = summer ? 30 * minute - 1 * hour : 30 * minute
          return skipped && index === 0 ? [] : [run(nightly, at + index * day + offset)]
        })
      ]
      return Effect.gen(function*() {
        yield* TestClock.setTime(at - 3 * hour)
        const reports = yield* pollUntil(at + 5 * hour, player(runs), { zone: "Europe/Berlin", every: 5 * minute })
        assert.deepStrictEqual(reports.flatMap(({ incidents }) => incidents), [])
      }).pipe(Effect.provide(layer({ workflows: [nightly, hourly], executions: [] })))
    })
  }
})
