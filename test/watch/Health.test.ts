import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as Health from "../../src/watch/Health.ts"
import { day, iso, layer, published, webhook } from "./simulation.ts"
import * as week from "./week.ts"

it.effect("a week of an n8n is judged as it was planted: each incident, its times and cause, and nothing else", () =>
  Effect.gen(function*() {
    const world = week.make(week.november)
    const { expected } = yield* week.simulate(world)
    const health = yield* Health.read({ since: world.since })
    assert.deepStrictEqual(week.compare(health, expected), [])
    assert.strictEqual(health.clock.zone, world.zone)
    assert.strictEqual(health.runs, world.runs.filter(({ at }) => at >= world.since).length)
  }).pipe(Effect.provide(week.layer)))

it.effect("no workflow counts as healthy because its errors were too many to read", () =>
  Effect.gen(function*() {
    const now = Date.parse("2026-03-20T12:00:00Z")
    yield* TestClock.setTime(now)
    const health = yield* Health.read({ since: now - day })
    assert.strictEqual(health.rows.length, workflows.length)
    assert.deepStrictEqual(health.healthy, [])
    assert.include(health.unknown, `Why ${workflows.length - 300} runs failed: not all failed runs were read.`)
    assert.strictEqual(new Set(health.rows.map(({ incidents: [first] }) => first?.kind)).size, 1)
  }).pipe(Effect.provide(layer({ workflows, executions }))))

const workflows = Array.from({ length: 320 }, (_, index) => published(`w${index}`, webhook))
const executions = workflows.map((workflow, index) => ({
  ...FakeN8n.failedExecution({ workflow, node: "Work", message: "no" }),
  id: String(index + 1),
  mode: "webhook",
  startedAt: iso(Date.parse("2026-03-20T08:00:00Z") + index),
  stoppedAt: iso(Date.parse("2026-03-20T08:00:01Z") + index)
}))
