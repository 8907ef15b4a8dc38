import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { day, instance, layer, minute, player, pollUntil } from "./simulation.ts"

const start = Date.parse("2026-03-02T00:00:30Z")

describe("a simulated day", () => {
  it.effect("of a mixed instance has no false alarm", () => {
    const { runs, workflows } = instance(7, start - day, start + day)
    return Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const reports = yield* pollUntil(start + day, player(runs))
      assert.strictEqual(reports.length, day / minute)
      const incidents = reports.flatMap(({ incidents, time }) => incidents.map((each) => ({ ...each, time })))
      const failed = incidents.filter(({ kind }) => kind === "failed")
      assert.deepStrictEqual(incidents.filter(({ kind }) => kind !== "failed"), [])
      assert.deepStrictEqual(reports.flatMap(({ unknown }) => unknown), [])
      const causeOf = (id: string, text = "") => `${id} ${/card|address/.exec(text)?.[0] ?? text}`
      const causes = runs.flatMap(({ at, message, mode, ms, workflow }) =>
        at > start && at + ms < start + day - 2 * minute && message !== undefined && mode !== "manual"
          ? [causeOf(workflow.id, message)]
          : []
      )
      assert.deepStrictEqual(
        failed.map(({ what, workflowId = "" }) => causeOf(workflowId, what)).toSorted(),
        [...new Set(causes)].toSorted()
      )
      assert.isAtMost(Math.max(...reports.slice(1).map(({ requests }) => requests)), 8)
      console.log(reports.slice(1).reduce((sum, { requests }) => sum + requests, 0) / reports.length)
    }).pipe(Effect.provide(layer({ workflows, executions: [] })))
  }, 120_000)
})
