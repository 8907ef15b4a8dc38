/** Batches: conditions, whole words, rebased plans, publications, extractions, and what is proven. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { leftOut, reasons } from "../support/batches.ts"
import { orders, post, seed } from "../support/scenarios/orders.ts"
import { joined, node, workflow } from "../support/workflows.ts"
import { inMemory } from "../support/world.ts"

const dryRun = (operations: ReadonlyArray<Obj>, select: Obj, more: Obj = {}) =>
  tools.bulkEdit.call({ select, operations: operations as never, dryRun: true, ...more })

const call = (plan: string | undefined, more: Obj = {}) => tools.bulkEdit.call({ plan: plan ?? "", ...more })

const restore = (batch: string | undefined) => tools.workflowRestore.call({ batch: batch ?? "" })

const replace = { op: "replace", find: "https://old.example.com", with: "https://new.example.com" }

const nodeOf = (api: N8nApi.N8nApi, id: string, name: string) =>
  Effect.map(
    api.workflows,
    (all) => obj(arr(all.find((each) => each.id === id)?.nodes).find((each) => obj(each)?.["name"] === name)) ?? {}
  )

const urlOf = (api: N8nApi.N8nApi, id: string) =>
  Effect.map(nodeOf(api, id, "送信"), ({ parameters }) => obj(parameters)?.["url"])

/** Whether each workflow is published (`*`), and whether a draft waits (`!`). */
const states = (api: N8nApi.N8nApi) =>
  Effect.map(api.workflows, (all) =>
    Object.fromEntries(all.map((each) => {
      const { active, activeVersionId, versionId } = each as Obj
      return [each.id, active !== true ? "" : activeVersionId === versionId ? "*" : "*!"]
    })))

const edited = (change: (node: Obj) => Obj, name = "送信") => (now: N8nApi.Workflow) =>
  ({
    ...now,
    nodes: arr(now.nodes).map((each) => obj(each)?.["name"] === name ? change(obj(each) ?? {}) : each)
  }) as N8nApi.Workflow

describe("an operation of a batch", () => {
  it.effect("has conditions of its own", () =>
    inMemory(function*(api) {
      const operations = [
        { ...replace, only: { active: true } },
        { op: "settings", settings: { executionTimeout: 9 }, only: { active: false, name: "b" } },
        { op: "disable", node: "Hook", only: { uses: "example.com/c" } }
      ]
      const { changes, plan } = yield* dryRun(operations, { ids: ["a", "b", "c"] })
      assert.deepStrictEqual(changes?.map(({ change, names }) => [change, names]), [
        ["httpRequest url: 'https://old.example.com' → 'https://new.example.com'", ["注文 a"]],
        ["settings.executionTimeout = 9", ["注文 b"]],
        ["disable webhook", ["注文 c"]]
      ])
      assert.deepInclude(yield* call(plan), { done: 3 })
      assert.strictEqual(yield* urlOf(api, "a"), "https://new.example.com/a")
      assert.strictEqual(yield* urlOf(api, "c"), "https://old.example.com/c")
      assert.match(
        String(
          (yield* Effect.flip(tools.bulkEdit.run({
            select: { ids: ["a"] },
            operations: [{ ...replace, only: { tag: "x" } }]
          }))).message
        ),
        /only takes active, tags, name, uses/
      )
    }, { seed: seed([orders("a", { active: true }), orders("b"), orders("c")]) }))

  it.effect("replaces whole words and hosts, and says where a text is part of a longer one", () =>
    inMemory(function*(api) {
      const operation = { op: "replace", find: "legacy.example.com", with: "new.example.com" }
      const select = { uses: "legacy.example.com" }
      const { changes } = yield* dryRun([operation], select)
      assert.deepStrictEqual(
        changes?.[0]?.values?.map((values) => values.replace(/ →.*?(?= \(|$)/, "")),
        [
          "2 × legacy.example.com",
          "notlegacy.example.com (inside a longer word)",
          "api.legacy.example.com (inside a longer word)",
          "legacy.example.com.au (inside a longer word)"
        ]
      )
      const { nodes, plan } = yield* dryRun([{ ...operation, word: true }], select)
      assert.strictEqual(nodes, 2)
      yield* call(plan)
      assert.strictEqual(yield* urlOf(api, "a"), "https://new.example.com/x")
      assert.strictEqual(yield* urlOf(api, "b"), "https://notlegacy.example.com/x")
    }, {
      seed: seed([
        orders("a", {}, "https://legacy.example.com/x"),
        orders("b", {}, "https://notlegacy.example.com/x"),
        orders("c", {}, "https://api.legacy.example.com/x"),
        orders("d", {}, "https://legacy.example.com.au/x"),
        orders("e", {}, "https://legacy.example.com/x")
      ])
    }))

  it.effect("publishes and unpublishes, and the undo makes that what it was", () =>
    inMemory(function*(api) {
      const operations = [{ op: "publish", only: { name: "b" } }, { op: "unpublish", only: { name: "a" } }]
      const before = yield* states(api)
      const { changes, plan, published } = yield* dryRun(operations, { ids: ["a", "b", "c"] })
      assert.deepStrictEqual(changes?.map(({ change, names }) => [change, names]), [
        ["unpublish", ["注文 a"]],
        ["publish", ["注文 b"]]
      ])
      assert.strictEqual(published, 1)
      assert.deepInclude(yield* call(plan), { done: 2, published: 1 })
      assert.deepStrictEqual(yield* states(api), { a: "", b: "*", c: "*" })
      assert.deepInclude(yield* restore(plan), { restored: 2 })
      assert.deepStrictEqual(yield* states(api), before)
    }, { seed: seed([orders("a", { active: true }), orders("b"), orders("c", { active: true })]) }))
})

describe("the plan of a batch", () => {
  it.effect("is made good elsewhere: other places may have changed since, and another plan may have changed them", () =>
    inMemory(function*(api) {
      const { plan } = yield* dryRun([replace], { ids: ["a", "b"] })
      const other = yield* dryRun([{ op: "set", node: "送信", path: "options.timeout", value: 9 }], { ids: ["a", "b"] })
      yield* api.edit("a", (now) => ({
        ...now,
        name: "mine",
        nodes: [node("Note", "stickyNote", 1, { content: "x" }), ...arr(now.nodes)] as never
      }))
      assert.deepInclude(yield* call(other.plan), { done: 1 })
      yield* tools.activateWorkflow.call({ id: "a" })
      assert.deepInclude(yield* call(other.plan), { done: 2 })
      assert.deepInclude(yield* call(plan), { done: 2 })
      for (const id of ["a", "b"]) {
        const { parameters } = yield* nodeOf(api, id, "送信")
        assert.deepInclude(obj(parameters), { url: `https://new.example.com/${id}`, options: { timeout: 9 } })
      }
      // What is as it was written goes back, with what others had changed before.
      assert.deepInclude(yield* restore(plan), { restored: 2 })
      assert.deepInclude(obj((yield* nodeOf(api, "a", "送信"))["parameters"]), {
        url: "https://old.example.com/a",
        options: { timeout: 9 }
      })
      assert.strictEqual((yield* nodeOf(api, "a", "Note"))["name"], "Note")
    }, { seed: seed([orders("a", { active: true }), orders("b")]) }))

  it.effect("leaves out what would now change another place, and is applied once that is as planned", () =>
    inMemory(function*(api) {
      const { plan } = yield* dryRun([replace], { ids: ["b"] })
      yield* api.edit("b", (now) => ({
        ...now,
        nodes: [...arr(now.nodes), post("Other", "https://old.example.com/other")] as never
      }))
      const cut = yield* call(plan)
      assert.match(reasons(cut.refused)[0] ?? "", /would now also change 'Other' url/)
      yield* api.edit("b", edited((each) => ({ ...each, parameters: { url: "https://x.example" } }), "Other"))
      assert.deepInclude(yield* call(plan), { done: 1 })
    }, { seed: seed([orders("a"), orders("b")]) }))
})

describe("an extraction from many workflows", () => {
  const chain = (id: string, factor = 2, more: Obj = {}) =>
    workflow(id, [
      node("Hook", "webhook", 2, { path: id, httpMethod: "POST" }, { webhookId: `hook-${id}` }),
      node("Net", "code", 2, {
        jsCode: `return $input.all().map((item) => ({ json: { net: item.json.a * ${factor} } }))`
      }),
      node("Tax", "set", 3.4, { mode: "raw", jsonOutput: "={{ { tax: $json.net * 0.2 } }}", options: {} }),
      post("Send", "https://shop.example")
    ], { name: `Order ${id}`, connections: joined(["Hook", "Net"], ["Net", "Tax"], ["Tax", "Send"]), ...more })

  const extract = { op: "extract", nodes: ["Net", "Tax"], name: "Net" }

  it.effect("makes one sub-workflow of equal chains, names those that differ, and is continued with the same", () =>
    inMemory(function*(api) {
      const { changes, created, plan, refused, workflows } = yield* dryRun([extract], { name: "Order" })
      assert.deepStrictEqual([workflows, created, changes?.length], [3, [{ name: "Net", published: true }], 1])
      assert.deepStrictEqual(leftOut(refused), ["d"])
      assert.match(reasons(refused)[0] ?? "", /'Net' differs: jsCode/)
      const done = yield* call(plan)
      assert.deepInclude(done, { done: 3 })
      const all = yield* api.workflows
      const subs = all.filter(({ name }) => name === "Net")
      assert.lengthOf(subs, 1)
      assert.deepStrictEqual(done.created, [{ name: "Net", id: subs[0]?.id ?? "", published: true }])
      assert.strictEqual(subs[0]?.active, true)
      for (const id of ["a", "b", "c"]) {
        // Its name is not that of a removed node.
        const { parameters } = yield* nodeOf(api, id, "Net1")
        assert.strictEqual(obj(obj(parameters)?.["workflowId"])?.["value"], subs[0]?.id)
      }
      assert.deepInclude(yield* call(plan), { done: 3 })
      assert.lengthOf((yield* api.workflows).filter(({ name }) => name === "Net"), 1)
      assert.deepInclude(yield* restore(plan), { restored: 3 })
      assert.strictEqual((yield* nodeOf(api, "a", "Net"))["name"], "Net")
    }, { seed: seed([chain("a", 2, { active: true }), chain("b"), chain("c"), chain("d", 3), orders("e")]) }))

  it.effect("does not create the sub-workflow again whose answer was lost", () => {
    let isLost = true
    const after = ({ method, url }: N8nApi.RecordedRequest) =>
      Effect.suspend(() => {
        const isCreation = method === "POST" && url.endsWith("/workflows")
        if (!isCreation || !isLost) return Effect.void
        isLost = false
        return Effect.fail(new N8nApi.Disconnected())
      })
    return inMemory(function*(api) {
      const { plan } = yield* dryRun([extract], { ids: ["a", "b"] })
      yield* Effect.exit(call(plan))
      assert.deepInclude(yield* call(plan), { done: 2 })
      assert.lengthOf((yield* api.workflows).filter(({ name }) => name === "Net"), 1)
    }, { seed: seed([chain("a"), chain("b")]), after })
  })
})
