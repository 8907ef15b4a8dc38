import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Health from "../../src/watch/Health.ts"
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
