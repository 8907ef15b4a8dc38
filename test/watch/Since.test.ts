import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as Since from "../../src/watch/Since.ts"
import { cron, hour, iso, layer, minute, published } from "./simulation.ts"

const now = Date.parse("2026-03-02T12:00:00Z")
const unsaved = { settings: { saveDataSuccessExecution: "none" } }
const [late, lost, silent] = [
  published("late", cron("*/5 * * * *")),
  published("lost", cron("*/5 * * * *")),
  published("silent", cron("*/5 * * * *"), unsaved)
]

it.effect("starts are missed from a publication on, not since the version was saved", () =>
  Effect.gen(function*() {
    const fake = yield* FakeN8n.FakeN8n
    for (const [id, at] of [["lost", now - 3 * hour], ["late", now - 20 * minute]] as const) {
      yield* TestClock.setTime(at)
      yield* N8nClient.use((n8n) => Effect.andThen(n8n.unpublishWorkflow(id), n8n.publishWorkflow(id)))
    }
    for (let at = now - 3 * hour; at < now - hour; at += 5 * minute) {
      const run = { ...FakeN8n.succeededExecution({ workflow: lost }), startedAt: iso(at), stoppedAt: iso(at + 1) }
      yield* fake.addExecution({ ...run, mode: "trigger" })
    }
    yield* TestClock.setTime(now)
    const asked = [yield* Since.incidents(now - 2 * hour), yield* Since.incidents(now - 2 * hour)] as const
    assert.deepStrictEqual(asked[0], asked[1])
    assert.deepStrictEqual(
      asked[0].incidents.map(({ at, cause, count, kind, workflowId }) => [kind, workflowId, at, count, cause]),
      [
        [
          "missed",
          "lost",
          iso(now - hour),
          12,
          "n8n started it last at 2026-03-02 10:55 UTC, and it is still published: n8n may have been down or lost the schedule"
        ],
        ["missed", "late", iso(now - 15 * minute), 3, "no start of its published version was seen"]
      ]
    )
    const { incidents } = yield* Since.incidents(now - 4 * hour)
    assert.deepStrictEqual(incidents.map(({ workflowId }) => workflowId), ["lost", "late"])
    assert.deepStrictEqual(asked[0].unknown, [
      "Whether 1 scheduled workflow started: n8n does not save its successful runs."
    ])
  }).pipe(Effect.provide(layer({ workflows: [late, lost, silent], executions: [] }))))
