import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Executions } from "../../src/executions/Executions.ts"
import * as Profile from "../../src/executions/Profile.ts"
import * as Changes from "../../src/watch/Changes.ts"
import type { Health, Row } from "../../src/watch/Health.ts"
import * as InstanceClock from "../../src/watch/InstanceClock.ts"
import * as Pace from "../../src/watch/Pace.ts"
import { hour, iso } from "./simulation.ts"
import * as week from "./week.ts"

const world = week.make(week.november)

/** Runs of a workflow with their ids on an n8n where the first has the id 1. */
const runsOf = (key: string, { runs }: week.Week = world) =>
  runs.map((run, index) => ({ ...run, id: String(index + 1) })).filter(({ workflow }) => workflow === key)

it("the week is the same each time, with about 800 runs of twelve workflows", () => {
  assert.deepStrictEqual(week.make(week.november), world)
  assert.strictEqual(world.plans.length, 12)
  assert.approximately(world.runs.filter(({ at }) => at >= world.since).length, 800, 30)
  assert.isTrue(world.runs.every(({ at }) => at < world.now))
})

it("at any time of an hour the last start is past, and the next one is to come, by some minutes", () => {
  for (let minute = 0; minute < 60; minute += 7) {
    const { now, planted, runs } = week.make({ now: week.november.now + minute * 60_000, zone: "UTC" })
    assert.isAtMost(Math.max(...runs.map(({ at }) => at)), now - 6 * 60_000)
    assert.deepStrictEqual(planted.filter(({ from, to = from }) => !(from <= to)), [])
    assert.strictEqual(planted.length, 11)
  }
})

it.effect("the planted week can be read on an n8n: zone, places of slowness, versions and items", () =>
  Effect.gen(function*() {
    const { installed, workflows } = yield* week.simulate(world)
    const runs = world.runs.map(({ at, workflow }, index) => ({
      id: String(index + 1),
      workflowId: installed.get(workflow)?.id ?? "",
      status: "success",
      mode: workflow === "webhook" ? "webhook" : "trigger",
      startedAt: at,
      stoppedAt: at + 1
    }))
    assert.strictEqual((yield* InstanceClock.zone(workflows, runs))?.zone, world.zone)
    for (const [key, place] of [["node", { node: "Fetch" }], ["queue", { outside: true }]] as const) {
      const own = runsOf(key).map(({ id }) => id)
      assert.deepInclude(yield* Pace.of(own.slice(0, 3), own.slice(-3)), place)
    }
    const broken = installed.get("broken")
    const changes = Changes.near(
      yield* Changes.of(broken?.id ?? ""),
      [world.planted.find(({ workflow }) => workflow === "broken")?.from ?? 0]
    )
    assert.deepStrictEqual(changes.map(({ event, version }) => ({ event, version })), [
      { event: "published", version: broken?.versions[2] }
    ])
    const { get } = yield* Executions
    const [empty, full] = [yield* get(runsOf("empty").at(-1)?.id ?? ""), yield* get(runsOf("empty")[0]?.id ?? "")]
    assert.deepStrictEqual(
      [full, empty].map((each) => [each.version, Profile.use(each).nodes.find(({ node }) => node === "Work")?.items]),
      [[installed.get("empty")?.versions[1], 3], [installed.get("empty")?.versions[2], 0]]
    )
  }).pipe(Effect.provide(week.layer)))

const expected: ReadonlyArray<week.Expected> = [
  {
    workflowId: "w",
    name: "W",
    kind: "failed",
    from: world.since,
    to: world.since + hour,
    count: 3,
    isOver: true,
    version: "12345678-a",
    versions: ["12345678-a", "87654321-b"]
  }
]

const healthWith = (...rows: ReadonlyArray<Pick<Row, "incidents">>): Health => ({
  since: iso(world.since),
  until: iso(world.now),
  clock: {},
  runs: 0,
  failed: 0,
  shared: [],
  rows: rows.map((row) => ({
    workflowId: "w",
    workflowName: "W",
    isPublished: true,
    runs: 0,
    failed: 0,
    changes: [],
    days: [],
    ...row
  })),
  healthy: [],
  idle: 0,
  off: 0,
  unknown: [],
  requests: 0
})

const incident = {
  kind: "failed",
  key: "failed:1",
  workflowId: "w",
  at: iso(world.since + 1_000),
  until: iso(world.since + hour),
  count: 3,
  isOver: true,
  what: "It failed.",
  cause: "first seen with version 12345678"
} as const

it("a comparison reports what is missing, false or wrong, in words", () => {
  assert.deepStrictEqual(week.compare(healthWith({ incidents: [incident] }), expected), [])
  assert.deepStrictEqual(week.compare(healthWith(), expected), ["missing: failed of 'W' from 2026-10-28T12:00"])
  assert.deepStrictEqual(
    week.compare(
      healthWith({
        incidents: [
          { ...incident, at: iso(world.since - hour), until: iso(world.since), count: 2, isOver: false, cause: "?" },
          { ...incident, kind: "slow" }
        ]
      }),
      expected
    ),
    [
      "wrong: failed of 'W' from 2026-10-28T12:00 begins at 2026-10-28T11:00",
      "wrong: failed of 'W' from 2026-10-28T12:00 ends at 2026-10-28T12:00, not 2026-10-28T13:00",
      "wrong: failed of 'W' from 2026-10-28T12:00 has 2 occurrences, not 3",
      "wrong: failed of 'W' from 2026-10-28T12:00 is over",
      "wrong: failed of 'W' from 2026-10-28T12:00 does not name its version: ?",
      "false: slow of 'W' from 2026-10-28T12:00: It failed."
    ]
  )
  const innocent = expected.map((each) => ({ ...each, version: null }))
  assert.deepStrictEqual(week.compare(healthWith({ incidents: [incident] }), innocent), [
    "wrong: failed of 'W' from 2026-10-28T12:00 blames a version: first seen with version 12345678"
  ])
})
