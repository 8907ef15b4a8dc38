import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import type * as Watch from "../../src/watch/Watch.ts"
import * as TestTime from "../support/TestTime.ts"
import { cron, iso, layer, minute, poll, published, webhook } from "./simulation.ts"

const start = Date.parse("2026-03-02T08:00:30Z")
const second = 1_000

/** n8n whose ids are in the order in which runs are added, with a record of its requests. */
const inWorld = <E>(
  workflows: ReadonlyArray<FakeN8n.Workflow>,
  use: (world: World) => Effect.Effect<void, E, FakeN8n.FakeN8n | N8nClient>
) => {
  let id = 0
  const requests: Array<string> = []
  const world = {
    requests,
    listTakes: 0,
    add: Effect.fnUntraced(function*(workflow, at, { message, ms = 100, status, ...more } = {}) {
      const fake = yield* FakeN8n.FakeN8n
      const { items, ...rest } = more
      yield* fake.addExecution({
        ...message === undefined
          ? FakeN8n.succeededExecution({
            workflow,
            items: { Work: Array.from({ length: items ?? 2 }, () => ({ a: 1 })) }
          })
          : FakeN8n.failedExecution({ workflow, node: "Work", message }),
        id: String(++id),
        mode: "webhook",
        startedAt: iso(at),
        stoppedAt: iso(at + ms),
        ...status === undefined ? {} : { status },
        ...status === "running" ? { stoppedAt: null, finished: false } : {},
        ...rest
      })
    }),
    look: Effect.fnUntraced(function*(at, options = {}) {
      yield* TestClock.setTime(at)
      requests.length = 0
      const report = yield* TestTime.run(poll(options))
      assert.isAtMost(requests.length, report.isFirst === true ? 200 : 8)
      return report
    })
  } as World
  const before: FakeN8n.Options["before"] = ({ method, url }) => {
    requests.push(`${method} ${new URL(url, "http://n8n").pathname.replace(/^.*\/api\/v1/, "")}`)
    return requests.at(-1) === "GET /workflows" ? Effect.sleep(world.listTakes) : Effect.void
  }
  return Effect.andThen(TestClock.setTime(start), Effect.suspend(() => use(world))).pipe(
    Effect.provide(layer({ workflows: [...workflows], executions: [] }, { before }))
  )
}

interface Added {
  readonly message?: string
  readonly status?: string
  readonly ms?: number
  readonly items?: number
  readonly mode?: string
  readonly workflowVersionId?: string | undefined
}

type Needs = FakeN8n.FakeN8n | N8nClient

interface World {
  /** Requests of the last look. */
  readonly requests: Array<string>
  /** Milliseconds that n8n takes for its list of workflows. */
  listTakes: number
  readonly add: (workflow: FakeN8n.Workflow, at: number, more?: Added) => Effect.Effect<void, never, FakeN8n.FakeN8n>
  readonly look: (at: number, options?: Partial<Watch.Options>) => Effect.Effect<Watch.Report, unknown, Needs>
}

const publish = (id: string) =>
  N8nClient.use((n8n) =>
    Effect.andThen(
      Effect.andThen(n8n.unpublishWorkflow(id), n8n.publishWorkflow(id)),
      Effect.map(n8n.getWorkflow(id), ({ activeVersionId }) => activeVersionId ?? undefined)
    )
  )

const kinds = ({ incidents }: Watch.Report) => incidents.map(({ count, kind, workflowId }) => [kind, workflowId, count])

const orders = published("orders", webhook)

describe("runs of a workflow that is newer than the list", () => {
  const added = published("added", { ...webhook, parameters: { path: "added" } })
  const scheduled = published("scheduled", cron("* * * * *"))

  it.effect("wait for the next list: no failure and no start is lost", () =>
    inWorld([orders], (world) =>
      Effect.gen(function*() {
        const create = Effect.fnUntraced(function*({ connections, name, nodes }: ReturnType<typeof published>) {
          const n8n = yield* N8nClient
          const workflow = yield* n8n.createWorkflow({ name, nodes: [...nodes], connections, settings: {} } as never)
          yield* n8n.publishWorkflow(workflow.id)
          return { id: workflow.id, name, nodes, connections }
        })
        world.listTakes = 4_900
        yield* world.look(start)
        const found: Array<ReadonlyArray<unknown>> = []
        const lists: Array<number> = []
        const [failing, missing] = [yield* create(added), yield* create(scheduled)]
        for (let minutes = 1; minutes <= 12; minutes++) {
          const at = start + minutes * minute
          if (minutes <= 3) yield* world.add(failing, at - 2 * second, { message: "the ledger is closed" })
          // The last start before the list is the last of all.
          if (minutes <= 2) yield* world.add(missing, at - 29 * second, { mode: "trigger" })
          const { incidents } = yield* world.look(at)
          if (world.requests.includes("GET /workflows")) lists.push(minutes)
          found.push(
            ...incidents.map(({ cause, count, kind, workflowName }) => [
              kind,
              workflowName,
              kind === "failed" ? [count, minutes] : cause?.slice(0, 46)
            ])
          )
        }
        assert.strictEqual(lists[0], 3)
        assert.deepStrictEqual(found, [
          ["failed", "added", [3, 3]],
          ["missed", "scheduled", "n8n started it last at 2026-03-02 08:02 UTC, a"]
        ])
      })))
})

describe("failures after a publication", () => {
  it.effect("are one incident with their number and its version, for one read of the workflow", () =>
    Effect.forEach([2, 5], (count) =>
      inWorld([orders], (world) =>
        Effect.gen(function*() {
          yield* world.add(orders, start - minute)
          yield* world.look(start)
          yield* TestClock.setTime(start + 10 * second)
          const version = yield* publish("orders")
          for (let index = 0; index < count; index++) {
            yield* world.add(orders, start + (20 + index) * second, {
              message: `card ${index} declined`,
              workflowVersionId: version
            })
          }
          const report = yield* world.look(start + minute)
          assert.deepStrictEqual(kinds(report), [["failed", "orders", count]])
          assert.match(
            report.incidents[0]?.cause ?? "",
            /its first failure since version [\da-f]+, published at 2026-03-02 08:00/
          )
          assert.strictEqual(world.requests.filter((each) => each.endsWith("/workflows/orders")).length, 1)
          assert.deepStrictEqual(kinds(yield* world.look(start + 2 * minute)), [])
        })), { discard: true }))

  it.effect("of an old cause do not blame a version that already worked", () =>
    inWorld([orders], (world) =>
      Effect.gen(function*() {
        yield* world.look(start)
        yield* world.add(orders, start + 5 * second, { message: "card 1 declined", workflowVersionId: "v0" })
        yield* world.look(start + minute)
        yield* TestClock.setTime(start + 25 * 60 * minute)
        const version = yield* publish("orders")
        const at = start + 25 * 60 * minute
        yield* world.add(orders, at + 20 * second, { workflowVersionId: version })
        yield* world.add(orders, at + 30 * second, { message: "card 2 declined", workflowVersionId: version })
        yield* world.add(orders, at + 40 * second, { message: "the ledger is closed", workflowVersionId: version })
        const { incidents } = yield* world.look(at + minute)
        assert.deepStrictEqual(incidents.map(({ cause }) => cause), [
          "it failed in the same way before, at 2026-03-02 08:00 UTC",
          "its version, published at 2026-03-03 09:00 UTC, still worked at 2026-03-03 09:00 UTC"
        ])
      })))
})

describe("the budget of a look", () => {
  const all = Array.from({ length: 9 }, (_, index) => ({
    ...published(`w${index}`, { ...webhook, parameters: { path: `w${index}` } }),
    versionId: "v1",
    activeVersionId: "v1"
  }))

  it.effect("is for failures and their versions before item counts", () =>
    inWorld(all, (world) =>
      Effect.gen(function*() {
        yield* world.look(start)
        yield* TestClock.setTime(start + second)
        for (const workflow of all) yield* world.add(workflow, start + 2 * second)
        for (const workflow of all.slice(0, 3)) {
          const workflowVersionId = yield* publish(workflow.id)
          yield* world.add(workflow, start + 20 * second, { message: "closed", workflowVersionId })
        }
        const { incidents } = yield* world.look(start + minute)
        assert.deepStrictEqual(incidents.map(({ cause }) => cause?.slice(0, 31)), [
          "its first failure since version",
          "its first failure since version",
          "its first failure since version"
        ])
      })))

  it.effect("holds although running executions are listed in each look, with single looks too", () =>
    Effect.forEach([false, true], (isOnce) =>
      inWorld(all, (world) =>
        Effect.gen(function*() {
          yield* world.look(start, { isOnce })
          for (let minutes = 1; minutes <= 12; minutes++) {
            const at = start + minutes * minute
            yield* world.add(all[0] as FakeN8n.Workflow, at - 50 * second, { status: "running" })
            for (const workflow of all) {
              yield* world.add(workflow, at - 40 * second)
              yield* world.add(workflow, at - 30 * second, { message: `closed ${"abcdefghijkl"[minutes]}` })
            }
            yield* world.look(at, { isOnce })
            // A running one is found in the fifth look at the latest.
            const least = minutes < 6 ? 1 : 2
            assert.isAtLeast(world.requests.filter((each) => each === "GET /executions").length, least)
          }
        })), { discard: true }))

  // Each run of them is worth a request: n8n still runs the version before.
  const others = all.map((each) => ({
    ...each,
    id: `other-${each.id}`,
    nodes: [{ ...webhook, parameters: { path: `other-${each.id}` } }, ...each.nodes.slice(1)]
  }))

  it.effect("finds an empty version in the second look after it, however many workflows there are", () =>
    inWorld([...all, ...others], (world) =>
      Effect.gen(function*() {
        yield* world.look(start)
        const found: Array<ReadonlyArray<unknown>> = []
        let version: string | undefined = "v1"
        for (let minutes = 1; minutes <= 32; minutes++) {
          const at = start + minutes * minute
          if (minutes === 30) {
            yield* TestClock.setTime(at - 30 * second)
            const fake = yield* FakeN8n.FakeN8n
            yield* fake.edit("w4", (workflow) => ({ ...workflow, nodes: workflow.nodes.toReversed() }))
            version = yield* publish("w4")
          }
          for (const workflow of minutes < 25 ? [] : others) {
            yield* world.add(workflow, at - 20 * second, { items: 3, workflowVersionId: "v0" })
          }
          for (const workflow of all) {
            const isNew = workflow.id === "w4" && version !== "v1"
            yield* world.add(workflow, at - 10 * second, {
              items: isNew ? 0 : 3,
              workflowVersionId: isNew ? version : "v1"
            })
          }
          found.push(...kinds(yield* world.look(at)).map((each) => [minutes, ...each]))
        }
        assert.deepStrictEqual(found, [[31, "empty", "w4", 2]])
      })))
})

describe("a look that n8n refuses", () => {
  it.effect("reports the error for a wrong key, and not for an n8n that is down", () =>
    Effect.gen(function*() {
      const denied: Array<string | undefined> = []
      for (const status of [401, 403, 500]) {
        const before = () => Effect.succeed(Response.json({ message: "no" }, { status }))
        const report = yield* TestTime.run(poll()).pipe(
          Effect.provide(layer({ workflows: [orders], executions: [] }, { before }))
        )
        assert.isString(report.fault)
        denied.push(report.denied?._tag)
      }
      assert.deepStrictEqual(denied, ["ApiError", "ApiError", undefined])
    }))
})
