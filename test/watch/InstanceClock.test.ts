import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import type { Obj } from "../../src/base/Json.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as reading from "../../src/watch/reading.ts"
import { node } from "../support/workflows.ts"
import { cron, day, hour, iso, layer, minute, poll, published } from "./simulation.ts"

const now = Date.parse("2026-03-02T12:00:00Z")
const runOf = (id: string, workflowId: string, at: number, mode = "trigger") => ({
  id,
  workflowId,
  status: "success",
  mode,
  startedAt: at,
  stoppedAt: at + 100
})

/** Run of a workflow whose trigger recorded this zone. */
const stored = (id: string, workflow: FakeN8n.Workflow, at: number, item: Obj) => ({
  ...FakeN8n.succeededExecution({ workflow, id, startedAt: iso(at), items: { Schedule: [item] } }),
  id
})

const zoneOf = (text: string) => ({ timestamp: "2026-03-02T07:00:00.004-05:00", Timezone: text })

const own = published("own", cron("0 * * * *"))
const [tokyo, unset] = ["Asia/Tokyo", ""].map((timezone) =>
  published(`zone ${timezone}`, cron("0 * * * *"), { settings: { timezone } })
)
const old = published("old", node("Schedule", "cron"))

const asked = (
  workflows: ReadonlyArray<FakeN8n.Workflow>,
  executions: ReadonlyArray<ReturnType<typeof stored>>,
  runs: ReadonlyArray<ReturnType<typeof runOf>>
) =>
  Effect.gen(function*() {
    const fake = yield* FakeN8n.FakeN8n
    const found = yield* reading.instanceZone(
      workflows.map(({ id, nodes, settings }) => ({ id, nodes: nodes as ReadonlyArray<Obj>, settings })),
      runs
    )
    return { found, read: (yield* fake.requests).length }
  }).pipe(Effect.provide(layer({ workflows, executions })))

it.effect("the newest run of a Schedule Trigger without a zone of its own names n8n's zone", () =>
  Effect.gen(function*() {
    const { found, read } = yield* asked(
      [own, tokyo, unset, old].flatMap((each) => each ?? []),
      [
        stored("1", own, now - 2 * hour, zoneOf("Europe/Berlin (UTC+01:00)")),
        stored("2", own, now - hour, zoneOf("America/New_York (UTC-05:00)")),
        ...tokyo === undefined ? [] : [stored("3", tokyo, now, zoneOf("Asia/Tokyo (UTC+09:00)"))],
        ...unset === undefined ? [] : [stored("4", unset, now, zoneOf(" (UTC+00:00)"))],
        stored("5", old, now, {})
      ],
      [
        runOf("1", "own", now - 2 * hour),
        runOf("2", "own", now - hour),
        runOf("3", "zone Asia/Tokyo", now),
        runOf("4", "zone ", now),
        runOf("5", "old", now),
        // A person's run may have pinned items.
        runOf("6", "own", now, "manual")
      ]
    )
    assert.deepStrictEqual(found, { zone: "America/New_York", run: "2" })
    assert.strictEqual(read, 1)
  }))

it.effect("a run before the workflow lost its own zone names nothing, nor does an unknown zone", () =>
  Effect.gen(function*() {
    const before = published("own", cron("0 * * * *"), { settings: { timezone: "Asia/Tokyo" } })
    const { found, read } = yield* asked(
      [own],
      [
        stored("1", before, now, zoneOf("Asia/Tokyo (UTC+09:00)")),
        stored("2", own, now - 1, zoneOf("DEFAULT (UTC+00:00)")),
        stored("3", own, now - 2, {})
      ],
      ["1", "2", "3", "4"].map((id, index) => runOf(id, "own", now - index))
    )
    assert.deepStrictEqual({ found, read }, { found: undefined, read: 3 })
  }))

it.effect("a run that n8n has pruned names nothing, and one of another workflow does", () =>
  Effect.gen(function*() {
    const other = published("other", cron("0 * * * *"))
    const { found } = yield* asked(
      [own, other],
      [stored("9", other, now - hour, zoneOf("Asia/Kathmandu (UTC+05:45)"))],
      [runOf("10", "own", now), runOf("11", "own", now), runOf("12", "own", now), runOf("9", "other", now - hour)]
    )
    assert.deepStrictEqual(found, { zone: "Asia/Kathmandu", run: "9" })
  }))

it.effect("a watch that is not given n8n's zone judges by the one that a run names", () =>
  Effect.gen(function*() {
    const daily = published("daily", cron("0 9 * * *"))
    const nine = Date.parse("2026-03-02T00:00:00Z")
    const stop = { mode: "trigger", stoppedAt: iso(nine + 3_000) }
    const run = { ...stored("1", daily, nine + 2_000, zoneOf("Asia/Tokyo (UTC+09:00)")), ...stop }
    const looks = Effect.gen(function*() {
      yield* TestClock.setTime(now)
      yield* poll({ zone: undefined })
      yield* TestClock.setTime(nine + day + 5 * minute)
      return (yield* poll({ zone: undefined })).incidents
    })
    const [incident, ...others] = yield* Effect.provide(looks, layer({ workflows: [daily], executions: [run] }))
    assert.deepStrictEqual(others, [])
    assert.deepInclude(incident, { kind: "missed", at: iso(nine + day) })
  }))
