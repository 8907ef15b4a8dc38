/** The map of linked workflows on a real n8n, compared with another reading of them and with what n8n does. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import * as WorkflowMap from "../../../src/fleet/Map.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { call, locator, request, start } from "../../support/scenarios/company.ts"
import * as fixtures from "../../support/scenarios/recorded.ts"
import { node } from "../../support/workflows.ts"
import { chain, code, happened, made, manual, webhook } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

const langchain = "@n8n/n8n-nodes-langchain."

/** Workflows that are linked in every way, and the links, as they were made. */
const company = Effect.fnUntraced(function*(v2: boolean) {
  const { url } = yield* RealN8n
  const path = `orders-${crypto.randomUUID()}`
  const edges: Array<string> = []
  const expect = (from: string, kind: string, to: string, node: string) => edges.push([from, kind, to, node].join(" "))
  const callee = (name: string, inputs?: ReadonlyArray<Obj>) =>
    made(name, [start(inputs), code("Done", "return $input.all()")], chain("Start", "Done"))
  const errors = yield* made("エラー通知", [node("On error", "errorTrigger")], [])
  const stock = yield* callee("在庫確認", [{ name: "sku" }, { name: "qty", type: "number" }])
  const unpublished = yield* callee("請求書")
  const unused = yield* callee("使われない")
  const regional = yield* callee("地域別")
  const settings = { executionOrder: "v1", errorWorkflow: errors }
  const orders = yield* made(
    "注文受付",
    [webhook(path), call("Stock", stock, { sku: "A", old: 1 })],
    chain("Orders", "Stock"),
    { settings }
  )
  expect(orders, "error", errors, "settings.errorWorkflow")
  expect(orders, "calls", stock, "Stock")
  // n8n 1 neither publishes nor needs published callees.
  if (v2) { for (const id of [errors, stock]) yield* scenarios.publish(id) }
  yield* scenarios.publish(orders)
  const credential = obj(
    (yield* scenarios.request("POST", "credentials", {
      name: "社内API",
      type: "httpHeaderAuth",
      data: { name: "x", value: "y" }
    })).body
  )
  const credentials = { httpHeaderAuth: { id: str(credential?.["id"]) ?? "", name: "社内API" } }
  const agent = yield* made("問い合わせ", [
    node("Chat", `${langchain}chatTrigger`, 1.1, {}, { webhookId: crypto.randomUUID() }),
    node("Agent", `${langchain}agent`, 1.7),
    node("New tool", `${langchain}toolWorkflow`, 2, { workflowId: locator(stock, "list") }),
    node("Old tool", `${langchain}toolWorkflow`, 1.1, { name: "s", workflowId: stock }),
    request("HTTP tool", `${url.href}webhook/${path}`, "POST", "httpRequestTool")
  ], chain("Chat", "Agent"))
  expect(agent, "tool", stock, "New tool")
  expect(agent, "tool", stock, "Old tool")
  expect(agent, "http", orders, "HTTP tool")
  const tasks = [
    request("Send", `={{ $env.BASE }}/webhook/${path}`),
    request("Wrong method", `${url.href}webhook/${path}`, "DELETE"),
    request("No webhook", `${url.href}webhook/none-${path}`),
    request("Elsewhere", `https://example.com/webhook/${path}`),
    call("Invoice", unpublished),
    call("By region", `={{ $json.far ? '${regional}' : $json.id }}`),
    call("Gone", "goneGoneGoneGone"),
    node("Version 1", "executeWorkflow", 1, { workflowId: stock }),
    node("File", "executeWorkflow", 1, { source: "localFile", workflowPath: "/a.json" }),
    call("Off", unused, undefined, { disabled: true })
  ]
  const daily = yield* made("日次", [manual, ...tasks], chain("T", ...tasks.map(({ name }) => String(name))))
  expect(daily, "http", orders, "Send")
  expect(daily, "http", orders, "Wrong method")
  expect(daily, "calls", unpublished, "Invoice")
  expect(daily, "calls", "goneGoneGoneGone", "Gone")
  expect(daily, "calls", stock, "Version 1")
  expect(daily, "calls", unused, "Off")
  const branches: Array<string> = []
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.forEach(branches, scenarios.remove, { discard: true })))
  for (let index = 0; index < 18; index++) {
    const { connections, nodes } = fixtures.workflow(fixtures.names[index % fixtures.names.length] ?? "branch")
    const calls = index % 2 === 0
    const step = calls ? call("支店から", stock) : { ...request("支店から", "https://example.com"), credentials }
    const id = yield* scenarios.create(Object.assign({ name: `支店 ${index}` }, {
      nodes: [...arr(nodes), step],
      connections: connections ?? {},
      settings: index % 3 === 0 ? settings : {}
    }))
    branches.push(id)
    if (calls) expect(id, "calls", stock, "支店から")
    if (index % 3 === 0) expect(id, "error", errors, "settings.errorWorkflow")
  }
  return { agent, branches, credentials, daily, edges, errors, orders, path, regional, stock, unpublished, unused }
})

/** Text of every workflow, as n8n lists it. */
const texts = Effect.map(
  scenarios.allWorkflows,
  (all) =>
    all.filter((each) => each["isArchived"] !== true).map(({ id, nodes, settings }) => ({
      id: str(id) ?? "",
      text: JSON.stringify([nodes, obj(settings)?.["errorWorkflow"]])
    }))
)

/** Tests of the map of workflows. */
export const mapping = (it: It, { v2 }: { readonly v2: boolean }) => {
  it.effect("maps linked workflows as another reading of n8n has them", () =>
    Effect.gen(function*() {
      const made = yield* company(v2)
      const own = new Set([made.agent, made.daily, made.orders, ...made.branches])
      const map = yield* WorkflowMap.read
      const edges = map.edges.filter(({ from }) => own.has(from))
      assert.deepStrictEqual(
        edges.map(({ from, kind, node, to }) => [from, kind, to, node].join(" ")).toSorted(),
        made.edges.toSorted()
      )
      // Every id that occurs in another workflow is a link or named as undecided, and every link's id occurs.
      const all = yield* texts
      const known = new Set(map.edges.map(({ from, to }) => `${from} ${to}`))
      const mentioned = new Set(
        map.unresolved.flatMap(({ from, mentions = [] }) => mentions.map((id) => `${from} ${id}`))
      )
      for (const { id, text } of all) {
        for (const other of all.filter((each) => each.id !== id && text.includes(each.id))) {
          assert.isTrue(known.has(`${id} ${other.id}`) || mentioned.has(`${id} ${other.id}`), `${id} → ${other.id}`)
        }
      }
      const textOf = new Map(all.map(({ id, text }) => [id, text]))
      for (const { from, kind, to } of map.edges) {
        if (kind !== "http") assert.include(textOf.get(from) ?? "", to)
      }
      assert.deepInclude(map.unresolved.map(({ from, mentions, node }) => [from, node, mentions]), [
        made.daily,
        "By region",
        [made.regional]
      ])
      const users = all.flatMap(({ id, text }) => text.includes(made.credentials.httpHeaderAuth.id) ? [id] : [])
      const shared = map.shared.find(({ id }) => id === made.credentials.httpHeaderAuth.id)
      assert.deepStrictEqual(shared?.workflows.toSorted(), users.toSorted())
      assert.isTrue(map.orphans.some(({ id, mentionedBy }) => id === made.regional && mentionedBy[0] === made.daily))
      assert.isTrue(map.orphans.some(({ id }) => id === made.unused))
      assert.isFalse(map.orphans.some(({ id }) => id === made.stock))

      const { affected } = yield* tools.workflowMap.call({ id: made.stock })
      const direct = new Set(made.edges.flatMap((edge) => {
        const [from, kind, to] = edge.split(" ")
        return to === made.stock && kind !== "error" ? [from] : []
      }))
      assert.strictEqual(affected?.direct, direct.size)
    }))

  it.effect("names as broken what n8n refuses, and as mismatched what the callee does not get", () =>
    Effect.gen(function*() {
      const { daily, orders, path, stock, unpublished } = yield* company(v2)
      const broken = (map: WorkflowMap.WorkflowMap, id: string) =>
        map.broken.flatMap(({ from, node, why }) => from === id ? [`${node}: ${why}`] : []).toSorted()
      const always = ["Gone: missing", "No webhook: no such webhook", "Wrong method: does not take DELETE"]
      const before = yield* WorkflowMap.read
      assert.deepStrictEqual(broken(before, daily), always)
      const { url } = yield* RealN8n
      const refusal = yield* Effect.promise(() => fetch(new URL(`webhook/${path}`, url), { method: "DELETE" }))
      assert.strictEqual(refusal.status, 404)

      // A published caller of a workflow that is unpublished afterwards.
      const caller = yield* made("呼び出し", [
        node("Hourly", "scheduleTrigger", 1.2, { rule: { interval: [{ field: "hours" }] } }),
        call("Invoice", unpublished)
      ], chain("Hourly", "Invoice"))
      if (v2) {
        const refused = yield* scenarios.request("POST", `workflows/${caller}/activate`)
        assert.strictEqual(refused.status, 400)
        assert.include(refused.text, "not published")
        yield* scenarios.publish(unpublished)
      }
      yield* scenarios.publish(caller)
      assert.deepStrictEqual(broken(yield* WorkflowMap.read, caller), [])
      if (v2) yield* scenarios.unpublish(unpublished)
      assert.deepStrictEqual(broken(yield* WorkflowMap.read, caller), v2 ? ["Invoice: unpublished"] : [])

      const { contracts } = yield* WorkflowMap.read
      assert.deepStrictEqual(contracts.filter(({ from }) => from === orders), [
        { from: orders, to: stock, node: "Stock", missing: ["qty"], unknown: ["old"] }
      ])
      const { executionId } = yield* happened(orders, path, {})
      const run = yield* tools.getExecutionByNode.call({ id: executionId, nodeName: "Stock" })
      assert.deepInclude(run.output.items[0]?.json, { sku: "A", qty: null })
      assert.notProperty(run.output.items[0]?.json, "old")
    }))
}
