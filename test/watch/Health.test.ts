import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as Health from "../../src/watch/Health.ts"
import * as week from "../support/scenarios/week.ts"
import { node } from "../support/workflows.ts"
import { day, hour, iso, layer, minute, published, webhook } from "./simulation.ts"

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

for (const [minutes, isNamed] of [[62, true], [240, false]] as const) {
  it.effect(`slow runs name the version ${isNamed ? "that they came with" : "only if none was as usual with it"}`, () =>
    Effect.gen(function*() {
      const { now } = week.november
      const changedAt = now - minutes * minute
      const trigger = node("In", "webhook", 2, { path: "slow" })
      const plan: week.Plan = {
        key: "w",
        name: "W",
        tags: [],
        trigger,
        changedAt,
        code: { 1: "return []", 2: "return" }
      }
      const runs = Array.from({ length: 200 }, (_, index): week.Planned => {
        const at = now - 20 * hour + index * 6 * minute
        const fetch = at < now - hour ? 2_000 : 60_000
        return {
          workflow: "w",
          version: at < changedAt ? 1 : 2,
          at,
          before: 100,
          fetch,
          work: 100,
          after: 10,
          items: 1
        }
      })
      const world = week.make(week.november)
      const { installed } = yield* week.simulate({ ...world, plans: [plan], runs, planted: [] })
      const { rows } = yield* Health.read({ since: world.since })
      const [slow] = rows.flatMap(({ incidents }) => incidents)
      const version = installed.get("w")?.versions[2]?.slice(0, 8)
      assert.strictEqual(slow?.kind, "slow")
      assert.strictEqual(slow?.cause?.includes(`version ${version} runs since`), isNamed, slow?.cause)
    }).pipe(Effect.provide(week.layer)))
}

it.effect("a workflow that ran in the span and is no longer published is an incident, with its last run", () =>
  Effect.gen(function*() {
    const at = Date.parse("2026-03-20T08:00:00Z")
    yield* TestClock.setTime(at + hour)
    const { healthy, rows } = yield* Health.read({ since: at - hour })
    assert.deepStrictEqual(healthy.map(({ workflowId }) => workflowId), ["by hand"])
    assert.deepStrictEqual(
      rows.map(({ incidents: [first], workflowId }) => [workflowId, first?.kind, first?.at, first?.cause]),
      [["stopped", "unpublished", iso(at), undefined]]
    )
  }).pipe(Effect.provide(layer({
    workflows: ["stopped", "by hand"].map((id) => published(id, webhook, { active: false })),
    executions: [["stopped", "webhook"], ["by hand", "manual"]].map(([id = "", mode = ""], index) => ({
      ...FakeN8n.succeededExecution({ workflow: published(id, webhook), items: { Work: [{ a: 1 }] } }),
      id: String(index + 1),
      mode,
      startedAt: "2026-03-20T08:00:00.000Z",
      stoppedAt: "2026-03-20T08:00:01.000Z"
    }))
  }))))

it.effect("a key that may list runs but not read them still shows what failed, and says what it could not read", () =>
  Effect.gen(function*() {
    yield* TestClock.setTime(Date.parse("2026-03-20T12:00:00Z"))
    const { rows, unknown } = yield* Health.read({ since: Date.parse("2026-03-20T00:00:00Z") })
    assert.deepStrictEqual(rows.map(({ incidents: [first] }) => [first?.kind, first?.what]), [
      ["failed", "'w0' failed: its error was not read"]
    ])
    assert.include(unknown, "Why 1 run failed: not all failed runs were read.")
  }).pipe(Effect.provide(layer({ workflows: workflows.slice(0, 1), executions: executions.slice(0, 1) }, {
    before: ({ url }) =>
      Effect.sync(() =>
        /executions\/\d|workflows\/w/.test(url) ? Response.json({ message: "Forbidden" }, { status: 403 }) : undefined
      )
  }))))
