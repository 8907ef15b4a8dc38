import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { day, instance, layer, minute, player, pollUntil } from "./simulation.ts"

const start = Date.parse("2026-03-02T00:00:30Z")

describe("a simulated day", () => {
  it.effect("of a mixed instance has no false alarm", () => {
    const { runs, workflows } = instance(7, start - 5 * day, start + day)
    return Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const reports = yield* pollUntil(start + day / 8, player(runs))
      assert.strictEqual(reports.length, day / 8 / minute)
      const incidents = reports.flatMap(({ incidents, time }) => incidents.map((each) => ({ ...each, time })))
      const failed = incidents.filter(({ kind }) => kind === "failed")
      assert.deepStrictEqual(incidents.filter(({ kind }) => kind !== "failed"), [])
      assert.deepStrictEqual(reports.flatMap(({ unknown }) => unknown), [])
      const causes = new Set(
        runs.filter(({ at, message, mode }) => at > start && message !== undefined && mode !== "manual").map((
          { message = "", workflow }
        ) => `${workflow.id} ${message.split(" ")[0]}`)
      )
      assert.strictEqual(new Set(failed.map(({ key }) => key)).size, failed.length)
      assert.strictEqual(failed.length, causes.size)
      assert.isAtMost(Math.max(...reports.slice(1).map(({ requests }) => requests)), 8)
      console.log(reports.slice(1).reduce((sum, { requests }) => sum + requests, 0) / reports.length)
    }).pipe(Effect.provide(layer({ workflows, executions: [] })))
  }, 120_000)
})
