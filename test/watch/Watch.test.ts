import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as Watch from "../../src/watch/Watch.ts"
import { main, node, workflow } from "../support/workflows.ts"
import { iso, layer, minute, poll } from "./simulation.ts"

const start = Date.parse("2026-03-02T08:00:00Z")

const orders = workflow("orders", [node("Call", "webhook", 2), node("Pay", "code", 2)], {
  active: true,
  connections: { Call: main("Pay") }
})

const fail = (at: number, message: string) =>
  FakeN8n.failedExecution({ workflow: orders, node: "Pay", message, startedAt: iso(at) })

describe("the cause of a failure", () => {
  const succeed = (at: number) => ({
    ...FakeN8n.succeededExecution({ workflow: orders, items: { Pay: [{ a: 1 }] } }),
    startedAt: iso(at),
    stoppedAt: iso(at + 1)
  })

  /** Runs of a version published five minutes before, in the second poll. */
  const causeOf = (runs: ReadonlyArray<readonly [at: number, message?: string]>) =>
    Effect.gen(function*() {
      const fake = yield* FakeN8n.FakeN8n
      yield* TestClock.setTime(start - 5 * minute)
      yield* N8nClient.use((n8n) => Effect.andThen(n8n.unpublishWorkflow("orders"), n8n.publishWorkflow("orders")))
      const version = (yield* N8nClient.use((n8n) => n8n.getWorkflow("orders"))).activeVersionId
      const add = (at: number, message?: string) =>
        fake.addExecution({
          ...message === undefined ? succeed(at) : fail(at, message),
          mode: "webhook",
          workflowVersionId: version
        })
      for (const [at, message] of runs.filter(([at]) => at < start)) yield* add(at, message)
      yield* TestClock.setTime(start)
      yield* poll()
      for (const [at, message] of runs.filter(([at]) => at > start)) yield* add(at, message)
      yield* TestClock.adjust(minute)
      return (yield* poll()).incidents.map(({ at, cause, count, look }) => [
        at.slice(11, 19),
        count,
        cause?.replace(/version [\da-f]+/, "version …"),
        look?.arguments["id"]
      ])
    }).pipe(Effect.provide(layer({ workflows: [orders], executions: [] })))

  it.effect("is a new version only if it has not worked", () =>
    Effect.gen(function*() {
      const closed = "the ledger is closed"
      const first = "its first failure since version …, published at 2026-03-02 07:55 UTC"
      assert.deepStrictEqual(yield* causeOf([[start + 5_000, closed]]), [["08:00:05", 1, first, "1"]])
      // For a moment n8n still runs the version before.
      assert.deepStrictEqual(yield* causeOf([[start - 5 * minute + 1_000], [start + 5_000, closed]]), [
        ["08:00:05", 1, `${first}; the run before, at 2026-03-02 07:55 UTC, succeeded`, "2"]
      ])
      const worked = (at: string) =>
        `its version, published at 2026-03-02 07:55 UTC, still worked at 2026-03-02 ${at} UTC`
      assert.deepStrictEqual(yield* causeOf([[start - 2 * minute], [start + 5_000, closed], [start + 9_000]]), [
        ["08:00:05", 1, worked("07:58"), "2"]
      ])
      assert.deepStrictEqual(yield* causeOf([[start + 1_000], [start + 5_000, closed], [start + 6_000, closed]]), [
        ["08:00:05", 2, worked("08:00"), "3"]
      ])
    }))

  it.effect("is the end of n8n itself for a run that crashed, not its version", () =>
    Effect.gen(function*() {
      const fake = yield* FakeN8n.FakeN8n
      yield* TestClock.setTime(start)
      yield* N8nClient.use((n8n) => Effect.andThen(n8n.unpublishWorkflow("orders"), n8n.publishWorkflow("orders")))
      const version = (yield* N8nClient.use((n8n) => n8n.getWorkflow("orders"))).activeVersionId
      yield* poll()
      const lost = { ...fail(start + 1_000, "lost"), status: "crashed", mode: "webhook", workflowVersionId: version }
      yield* fake.addExecution(lost)
      const found: Array<ReadonlyArray<string | undefined>> = []
      for (let polls = 0; polls < 3; polls++) {
        yield* TestClock.adjust(minute)
        found.push((yield* poll()).incidents.map(({ cause }) => cause))
      }
      assert.deepStrictEqual(found, [[], ["n8n was restarted or ran out of memory while it ran"], []])
    }).pipe(Effect.provide(layer({ workflows: [orders], executions: [] }))))
})

describe("a look", () => {
  it.effect("says of a deleted workflow what is left, and asks nothing of it", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      yield* poll()
      yield* N8nClient.use((n8n) => Effect.andThen(n8n.unpublishWorkflow("orders"), n8n.deleteWorkflow("orders")))
      yield* TestClock.adjust(minute)
      const { incidents } = yield* poll()
      assert.deepStrictEqual(incidents.map(({ cause, look, what }) => [what, cause, look]), [
        ["'orders' was deleted", "n8n deleted its versions and runs with it: only a backup has it now", undefined]
      ])
    }).pipe(Effect.provide(layer({ workflows: [orders], executions: [] }))))

  it.effect("says once which names in the thresholds no workflow has, already the first time", () =>
    Effect.gen(function*() {
      const rules = { orders: "silent 2h", Orderz: "off" }
      yield* TestClock.setTime(start)
      const said = [(yield* poll({ rules })).unknown]
      yield* TestClock.adjust(minute)
      said.push((yield* poll({ rules })).unknown)
      assert.deepStrictEqual(said, [
        ["Which workflow 'Orderz' in the thresholds file means: none has this id or name."],
        []
      ])
      yield* N8nClient.use((n8n) => Effect.andThen(n8n.unpublishWorkflow("orders"), n8n.deleteWorkflow("orders")))
      for (let polls = 0; polls < 2; polls++) {
        yield* TestClock.adjust(minute)
        said.push((yield* poll({ rules })).unknown)
      }
      assert.match(said.flat().slice(1).join(), /^Which workflow 'orders' in the thresholds file/)
    }).pipe(Effect.provide(layer({ workflows: [orders], executions: [] }))))

  it.effect("misses no start of which n8n saves only the failed ones, and takes no webhook for a start", () => {
    const tick = node("Tick", "scheduleTrigger", 1.2, {
      rule: { interval: [{ field: "minutes", minutesInterval: 1 }] }
    })
    const onlyFailed = workflow("failing", [tick], { active: true })
    const both = workflow("both", [tick, node("Call", "webhook", 2)], {
      active: true,
      settings: { saveDataSuccessExecution: "all" }
    })
    return Effect.gen(function*() {
      const fake = yield* FakeN8n.FakeN8n
      const [found, unknown]: [Array<ReadonlyArray<string | undefined>>, Array<string>] = [[], []]
      for (let at = start; at < start + 10 * minute; at += minute) {
        yield* TestClock.setTime(at + 30_000)
        const times = { startedAt: iso(at), stoppedAt: iso(at + 1) }
        const succeeded = FakeN8n.succeededExecution({ workflow: both })
        yield* fake.addExecution({ ...succeeded, ...times, mode: at < start + 3 * minute ? "trigger" : "webhook" })
        if (at === start + minute) {
          const failed = FakeN8n.failedExecution({ workflow: onlyFailed, node: "Tick", message: "closed" })
          yield* fake.addExecution({ ...failed, ...times, mode: "trigger" })
        }
        const report = yield* poll({ zone: "UTC" })
        found.push(...report.incidents.map(({ kind, workflowId }) => [kind, workflowId]))
        unknown.push(...report.unknown)
      }
      assert.deepStrictEqual(found, [["failed", "failing"], ["missed", "both"]])
      assert.match(
        unknown.join(),
        /^Whether 1 workflow started as scheduled \('failing'\): it is not known whether n8n/
      )
    }).pipe(Effect.provide(layer({ workflows: [onlyFailed, both], executions: [] })))
  })

  it.effect("takes a workflow whose successful runs n8n does not save neither for silent nor for watched", () => {
    const unsaved = { ...orders, settings: { saveDataSuccessExecution: "none" }, tags: [{ name: "watch: silent 5m" }] }
    return Effect.gen(function*() {
      const reports: Array<Watch.Report> = []
      for (let at = start; at < start + 15 * minute; at += minute) {
        yield* TestClock.setTime(at)
        reports.push(yield* poll())
      }
      assert.deepStrictEqual(reports.flatMap(({ incidents }) => incidents), [])
      assert.deepStrictEqual(reports.flatMap(({ unknown }) => unknown), [
        "Whether 'orders' is silent: n8n does not save its successful runs."
      ])
    }).pipe(Effect.provide(layer({ workflows: [unsaved], executions: [] })))
  })

  it.effect("reports schedules that stop together as one incident, without those that are off", () => {
    const ticking = ["a", "b", "c", "d"].map((id) =>
      workflow(id, [
        node("Tick", "scheduleTrigger", 1.2, { rule: { interval: [{ field: "minutes", minutesInterval: 1 }] } })
      ], { active: true })
    )
    return Effect.gen(function*() {
      const fake = yield* FakeN8n.FakeN8n
      const options = { rules: { d: "off" }, zone: "UTC" }
      const found: Array<Watch.Report["incidents"][number]> = []
      for (let at = start; at < start + 20 * minute; at += minute) {
        yield* TestClock.setTime(at + 30_000)
        for (const workflow of at < start + 5 * minute ? ticking : []) {
          const run = { ...FakeN8n.succeededExecution({ workflow }), startedAt: iso(at), stoppedAt: iso(at + 1) }
          yield* fake.addExecution({ ...run, mode: "trigger" })
        }
        found.push(...(yield* poll(options)).incidents)
      }
      assert.deepStrictEqual(found.map(({ kind, look, what, workflowId }) => [kind, what, workflowId, look?.tool]), [
        [
          "missed",
          "3 workflows did not start as scheduled from 2026-03-02 08:05 UTC on: 'a', 'b', 'c'",
          undefined,
          "list_executions"
        ]
      ])
    }).pipe(Effect.provide(layer({ workflows: ticking, executions: [] })))
  })
})
