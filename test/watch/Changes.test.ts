import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as Traffic from "../../src/n8n/Traffic.ts"
import type { Change } from "../../src/watch/Health.ts"
import * as reading from "../../src/watch/reading.ts"
import { cron, hour, iso, layer, minute, published } from "./simulation.ts"

const now = Date.parse("2026-03-02T12:00:00Z")
const workflow = published("w", cron("0 * * * *"), { updatedAt: iso(now - hour) })

/** Changes, and the number of requests that they took. */
const read = (id: string) =>
  Effect.gen(function*() {
    const traffic = Traffic.make(10, 1)
    const changes = yield* Effect.provideService(reading.changesOf(id), Traffic.Current, traffic)
    return { changes, sent: traffic.sent }
  })

it.effect("publications and versions are read in two requests", () =>
  Effect.gen(function*() {
    const n8n = yield* N8nClient
    yield* TestClock.setTime(now)
    yield* n8n.unpublishWorkflow("w")
    yield* TestClock.setTime(now + minute)
    yield* n8n.publishWorkflow("w")
    const { changes, sent } = yield* read("w")
    assert.strictEqual(sent, 2)
    const [{ version = "" } = {}] = changes
    assert.isNotEmpty(version)
    assert.deepStrictEqual(changes.map(({ event, version }) => [event, version]), [
      ["saved", version],
      ["unpublished", version],
      ["published", version]
    ])
    assert.isAtLeast(Date.parse(changes[2]?.at ?? ""), now + minute)
  }).pipe(Effect.provide(layer({ workflows: [workflow], executions: [] }))))

it.effect("a deleted workflow has no changes, and that takes one request", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* read("gone"), { changes: [], sent: 1 })
  }).pipe(Effect.provide(layer({ workflows: [workflow], executions: [] }))))

it.effect("n8n 1 reports only when a workflow was saved last", () =>
  Effect.gen(function*() {
    const { changes, sent } = yield* read("w")
    assert.strictEqual(sent, 2)
    assert.deepStrictEqual(changes.map(({ at, event }) => ({ at, event })), [{ at: iso(now - hour), event: "saved" }])
  }).pipe(Effect.provide(layer({ workflows: [workflow] }, { version: "1" }))))

const change = (minutes: number, event: Change["event"], version = "v1"): Change => ({
  at: iso(now + minutes * minute),
  event,
  version
})

it("changes near a beginning are those of six hours before to one after, and the last before it in any case", () => {
  const all = [
    change(-3000, "published", "v1"),
    change(-2000, "published", "v2"),
    change(-300, "saved", "v3"),
    change(30, "published", "v3"),
    change(90, "published", "v4")
  ]
  assert.deepStrictEqual(reading.changesNear(all.toReversed(), [now]), all.slice(2, 4))
  assert.deepStrictEqual(reading.changesNear(all, [now - 1000 * minute]), all.slice(1, 2))
  assert.deepStrictEqual(reading.changesNear(all, [now, now - 1000 * minute]), all.slice(1, 4))
  assert.deepStrictEqual(reading.changesNear(all, []), [])
})

it("a version that is saved and published, or published again, within a minute is one change", () => {
  const saved = [
    change(-10, "saved"),
    change(-9, "published"),
    change(-5, "saved", "v2"),
    change(-3, "published", "v2")
  ]
  assert.deepStrictEqual(reading.changesNear(saved, [now]), saved.slice(1))
  const again = [change(-10, "published"), change(-9.5, "unpublished"), change(-9.5, "published")]
  const all = [...again, change(-3, "unpublished"), change(-1, "published")]
  assert.deepStrictEqual(reading.changesNear(all, [now]), all.slice(2))
})
