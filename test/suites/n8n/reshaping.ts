/** Workflows in shapes that n8n cannot run: after our repair it runs them, and we name what it cannot read. */
import { assert, type Vitest } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import type { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { branches, misshapenNodes, misshapenOutputs, outputs, unreadable } from "../../support/scenarios/misshapen.ts"
import { joined, main, node } from "../../support/workflows.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const hook = (path: string) =>
  node("Start", "webhook", 2, { path, httpMethod: "POST", options: {} }, { webhookId: path })

const settings = { executionOrder: "v1" }

const stored = (id: string) => Effect.map(scenarios.fetchJson(`workflows/${id}`), (workflow) => obj(workflow) ?? {})

/** Publishes the workflow on n8n, calls it, and removes it; the items that left each node by each output, in order. */
const ran = Effect.fnUntraced(function*(id: string, path: string) {
  yield* scenarios.publish(id)
  const before = yield* scenarios.newestExecution()
  yield* scenarios.callWebhook(path)
  const { executionId } = yield* scenarios.awaitExecution(id, before)
  // n8n 1.x shows the end of a run before its data.
  const runs = yield* scenarios.fetchJson(`executions/${executionId}?includeData=true`).pipe(
    Effect.map((execution) =>
      Object.entries(obj(obj(obj(obj(execution)?.["data"])?.["resultData"])?.["runData"]) ?? {})
    ),
    Effect.filterOrFail(Arr.isReadonlyArrayNonEmpty),
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 100 }),
    scenarios.live
  )
  yield* scenarios.unpublish(id)
  yield* scenarios.remove(id)
  const indexOf = ([, all]: readonly [string, unknown]) => Number(obj(arr(all)[0])?.["executionIndex"] ?? 0)
  return runs.toSorted((a, b) => indexOf(a) - indexOf(b)).map(([name, all]) => ({
    name,
    leaves: arr(obj(obj(arr(all)[0])?.["data"])?.["main"]).map((items) => arr(items).length)
  }))
})

const newPath = () => `m-${crypto.randomUUID()}`

/** Creates a workflow by n8n's own API, without our repairs. */
const raw = (body: Obj) =>
  Effect.map(scenarios.request("POST", "workflows", { settings: {}, ...body }), ({ body, status }) => ({
    status,
    id: String(obj(body)?.["id"])
  }))

/** Adds the tests of repaired shapes to a suite; the releases do not differ in them. */
export const reshaping = (it: It) => {
  for (const each of misshapenNodes.filter(({ leaves }) => leaves !== undefined)) {
    it.effect(`reshaping: ${each.name}`, () =>
      Effect.gen(function*() {
        const path = newPath()
        const { id } = yield* tools.createWorkflow.call({
          name: each.name,
          nodes: [hook(path), node("N", each.type, each.version, each.parameters)],
          connections: { Start: main("N") }
        })
        const now = yield* stored(id)
        const parameters = obj(arr(now["nodes"]).map(obj).find((one) => one?.["name"] === "N"))?.["parameters"]
        assert.deepStrictEqual(parameters, each.meant)
        const runs = yield* ran(id, path)
        assert.deepStrictEqual(runs.find(({ name }) => name === "N")?.leaves, each.leaves)
      }))
  }

  for (const [name, connections] of Object.entries(misshapenOutputs)) {
    it.effect(`reshaping: connections, ${name}`, () =>
      Effect.gen(function*() {
        const path = newPath()
        const { id } = yield* tools.createWorkflow.call({ name, ...branches(hook(path), connections), settings })
        assert.deepStrictEqual(obj((yield* stored(id))["connections"])?.["Check"], outputs)
        assert.deepStrictEqual((yield* ran(id, path)).map((run) => run.name), ["Start", "Check", "No"])
      }))
  }

  it.effect("reshaping: n8n follows no connections under the number of an output, and validation says so", () =>
    Effect.gen(function*() {
      const path = newPath()
      const connections = {
        0: [[{ node: "Yes", type: "main", index: 0 }]],
        1: [[{ node: "No", type: "main", index: 0 }]]
      }
      const { id, status } = yield* raw({ name: "Numbers", ...branches(hook(path), connections) })
      assert.strictEqual(status, 200)
      const { problems } = yield* tools.validateWorkflow.call({ workflowId: id })
      assert.includeMembers(problems.map((problem) => problem.path), [
        "connections.Check[\"0\"]",
        "connections.Check[\"1\"]"
      ])
      assert.deepStrictEqual((yield* ran(id, path)).map((run) => run.name), ["Start", "Check"])
    }))

  it.effect("reshaping: text where n8n reads a list is not written", () =>
    Effect.gen(function*() {
      const { parameters, type, version } = unreadable
      const name = `Unreadable ${newPath()}`
      const error = yield* Effect.flip(
        tools.createWorkflow.call({ name, nodes: [node("N", type, version, parameters)], connections: {} })
      )
      assert.include(error.message, "takes each character for an item")
      const { workflows } = yield* tools.listWorkflows.call({ name })
      assert.isEmpty(workflows)
    }))

  it.effect("reshaping: a new workflow runs branch by branch, as those of n8n's editor", () =>
    Effect.gen(function*() {
      const order = (path: string) => ({
        nodes: [
          hook(path),
          ...[["A1", 200, -100], ["A2", 400, -100], ["B1", 200, 100], ["B2", 400, 100]].map(([name, x, y]) => ({
            ...node(String(name), "noOp"),
            position: [x, y]
          }))
        ],
        connections: joined(["Start", "A1"], ["Start", "B1"], ["A1", "A2"], ["B1", "B2"])
      })
      const [ours, bare] = [newPath(), newPath()]
      const { id } = yield* tools.createWorkflow.call({ name: "Order", ...order(ours), settings: { timezone: "UTC" } })
      const names = (runs: ReadonlyArray<{ readonly name: string }>) => runs.map(({ name }) => name).join(" ")
      assert.strictEqual(names(yield* ran(id, ours)), "Start A1 A2 B1 B2")
      const { id: other } = yield* raw({ name: "Order of the API", ...order(bare) })
      assert.strictEqual(names(yield* ran(other, bare)), "Start A1 B1 A2 B2")
    }))
}
