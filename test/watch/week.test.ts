import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Health from "../../src/watch/Health.ts"
import * as week from "../support/scenarios/week.ts"
import { hour } from "./simulation.ts"

const world = week.make(week.november)

it("the week is the same each time, with about 800 runs of twelve workflows", () => {
  assert.deepStrictEqual(week.make(week.november), world)
  assert.strictEqual(world.plans.length, 12)
  assert.approximately(world.runs.filter(({ at }) => at >= world.since).length, 800, 30)
  assert.isTrue(world.runs.every(({ at }) => at < world.now))
})

it("at any time of an hour the last start is past, and the next one is to come, by some minutes", () => {
  for (let minute = 0; minute < 60; minute += 13) {
    const { now, planted, runs } = week.make({ now: week.november.now + minute * 60_000, zone: "UTC" })
    assert.isAtMost(Math.max(...runs.map(({ at }) => at)), now - 6 * 60_000)
    assert.deepStrictEqual(planted.filter(({ from, to = from }) => !(from <= to)), [])
    assert.strictEqual(planted.length, 11)
  }
})

it.effect("the week is judged as it was planted: each incident, its times and cause; what is not as planted is named", () =>
  Effect.gen(function*() {
    const { expected } = yield* week.simulate(world)
    const health = yield* Health.read({ since: world.since })
    assert.deepStrictEqual(week.compare(health, expected), [])
    assert.strictEqual(health.clock.zone, world.zone)
    assert.strictEqual(health.runs, world.runs.filter(({ at }) => at >= world.since).length)
    const broken = expected.find(({ name }) => name === "請求書の送信") ?? assert.fail("no broken workflow")
    const others = expected.filter((each) => each !== broken)
    const changed = { ...broken, from: broken.from - hour, count: 1, isOver: true, version: null }
    const sentences = (all: typeof expected) => week.compare(health, all).map((each) => each.replace(/ of '.*?'.*/, ""))
    assert.deepStrictEqual(sentences(others), ["false: failed"])
    assert.deepStrictEqual(sentences([...expected, broken]), ["missing: failed"])
    assert.deepStrictEqual(sentences([...others, changed]), Array.from({ length: 4 }, () => "wrong: failed"))
  }).pipe(Effect.provide(week.layer)))
