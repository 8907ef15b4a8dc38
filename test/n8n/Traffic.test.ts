import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Traffic from "../../src/n8n/Traffic.ts"
import { type Answer, answers, says, scriptedClient, workflow } from "./clients.ts"

const now = Date.parse("2026-03-02T12:00:00.400Z")

/** Answers after some milliseconds, with the time of a clock that is ahead. */
const dated = (ahead: number, took = 0, headers: Record<string, string> = {}): Answer => (request, url) =>
  Effect.gen(function*() {
    yield* TestClock.adjust(took)
    const date = new Date((yield* Effect.clockWith((clock) => clock.currentTimeMillis)) + ahead).toUTCString()
    return yield* says(workflow, { headers: { date, ...headers } })(request, url)
  })

/** What the traffic of these answers knows of n8n's clock. */
const aheadAfter = Effect.fnUntraced(function*(...script: readonly [Answer, ...ReadonlyArray<Answer>]) {
  yield* TestClock.setTime(now)
  const { n8n } = yield* scriptedClient(script)
  const traffic = Traffic.make(10, 1)
  yield* Effect.provideService(Effect.forEach(script, () => n8n.getWorkflow("1")), Traffic.Current, traffic)
  return Traffic.ahead(traffic)
})

it.effect("n8n's clock is read from the dates of its answers, from two seconds on", () =>
  Effect.gen(function*() {
    for (const ahead of [-90_000, -3_600_000, 4_000, 86_400_000]) {
      assert.approximately((yield* aheadAfter(dated(ahead))) ?? 0, ahead, 500)
    }
    for (const ahead of [0, 600, -900, 1_400, -1_300]) assert.isUndefined(yield* aheadAfter(dated(ahead)))
  }))

it.effect("the fastest answer counts: a slow one tells less", () =>
  Effect.gen(function*() {
    assert.isUndefined(yield* aheadAfter(dated(0, 10_000)))
    assert.approximately((yield* aheadAfter(dated(9_000, 30_000), dated(9_000), dated(9_000, 8_000))) ?? 0, 9_000, 500)
  }))

it.effect("answers without a date, with a wrong one, and a proxy's copies tell nothing", () =>
  Effect.gen(function*() {
    assert.isUndefined(yield* aheadAfter(answers))
    assert.isUndefined(yield* aheadAfter(says(workflow, { headers: { date: "yesterday" } })))
    assert.isUndefined(yield* aheadAfter(dated(-90_000, 0, { age: "90" })))
  }))
