import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Obj } from "../../src/base/Json.ts"
import * as WorkflowMap from "../../src/fleet/Map.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as company from "../support/scenarios/company.ts"
import { node, workflow } from "../support/workflows.ts"
import { inMemory, type Options } from "../support/world.ts"

const seed = {
  workflows: company.workflows,
  executions: [],
  dataTables: [{ id: "t1", name: "顧客", columns: [{ name: "name", type: "string" as const }] }]
}

const mapOf = (workflows: ReadonlyArray<Obj>, version: "1" | "2" = "2") =>
  inMemory(function*() {
    return yield* WorkflowMap.read
  }, { seed: { workflows: workflows as typeof company.workflows, executions: [] }, version })

const theCompany = (options: Options = {}) =>
  inMemory(function*() {
    return yield* WorkflowMap.read
  }, { seed, ...options })

const short = ({ from, kind, node, state, to }: WorkflowMap.Edge) =>
  [from, kind, to, node, ...state === undefined ? [] : [state]].join(" | ")

const caller = (node: Obj) => workflow("caller", [node])
const takes = (inputs: ReadonlyArray<Obj>) => workflow("callee", [company.start(inputs)])

const mismatch = Effect.fnUntraced(function*(call: Obj, callee: Obj) {
  const { contracts } = yield* mapOf([caller(call), callee])
  return contracts.map(({ from: _, node: __, to: ___, ...rest }) => rest)
})

describe("WorkflowMap", () => {
  it.effect("has every link between workflows, and no other", () =>
    Effect.gen(function*() {
      const map = yield* theCompany()
      assert.deepStrictEqual(map.edges.map(short).toSorted(), [
        "agent | error | errors | settings.errorWorkflow",
        "agent | http | orders | HTTP tool",
        "agent | tool | stock | Stock tool",
        "agent | tool | weather | Weather",
        "daily | calls | invoice | Invoice",
        "daily | calls | unused | Off | disabled",
        "daily | error | stock | settings.errorWorkflow",
        "daily | http | order | One order",
        "daily | http | orders | Joined",
        "daily | http | orders | Send",
        "daily | http | orders | Test",
        "daily | http | orders | Wrong method",
        "itself | calls | itself | Again",
        "old | calls | archived | Archived",
        "old | calls | gone | Gone",
        "old | calls | orders | Nothing to call",
        "old | calls | private | Private",
        "old | calls | stock | Plain",
        "orders | calls | price | Price",
        "orders | error | errors | settings.errorWorkflow",
        "ping | calls | pong | Pong",
        "pong | calls | ping | Ping",
        "price | calls | stock | Stock"
      ])
      assert.deepStrictEqual(map.unresolved.map(({ by, from, mentions = [], node }) => [from, node, by, ...mentions]), [
        ["daily", "Any", `=${company.host}/webhook/{{ $json.path }}`],
        ["daily", "Elsewhere", "https://example.com/webhook/orders"],
        ["daily", "By region", "={{ $json.far ? 'regional' : $json.id }}", "regional"],
        ["old", "JSON", "parameter: JSON in the node"],
        ["old", "File", "localFile: /a.json"],
        ["old", "URL", "url: https://a.b/c"],
        ["table 2", "Any", "={{ $json.t }}"]
      ])
    }))

  it.effect("names the links that fail, by the rules of each n8n", () =>
    Effect.gen(function*() {
      const always = [
        "daily | Gone | /webhook/gone | no such webhook",
        "daily | Test | orders | test address: answers only while the editor listens",
        "daily | Wrong method | orders | does not take GET",
        "daily | settings.errorWorkflow | stock | has no Error Trigger",
        "old | Archived | archived | archived",
        "old | Gone | gone | missing",
        "old | Nothing to call | orders | has no Execute Workflow Trigger",
        "old | Private | private | does not allow this caller"
      ]
      const failing = ({ broken }: WorkflowMap.WorkflowMap) =>
        broken.map(({ from, node, to, why }) => [from, node, to, why].join(" | ")).toSorted()
      assert.deepStrictEqual(
        failing(yield* theCompany()),
        [...always, "daily | Invoice | invoice | unpublished", "table 3 | Read | t9 | missing"].toSorted()
      )
      // 1.x runs unpublished sub-workflows, and has no data tables.
      assert.deepStrictEqual(failing(yield* theCompany({ version: "1" })), always)
    }))

  it.effect("finds sub-workflows that nothing calls, and cycles", () =>
    Effect.gen(function*() {
      const { cycles, orphans } = yield* theCompany()
      assert.deepStrictEqual(orphans.toSorted((a, b) => a.id < b.id ? -1 : 1), [
        { id: "itself", hasOwnTrigger: false, mentionedBy: [] },
        { id: "regional", hasOwnTrigger: true, mentionedBy: ["daily"] },
        { id: "unused", hasOwnTrigger: false, mentionedBy: [] }
      ])
      assert.deepStrictEqual(cycles.map((ids) => ids.toSorted()).toSorted(), [["itself"], ["ping", "pong"]])
    }))

  it.effect("groups what many share", () =>
    Effect.gen(function*() {
      const { shared } = yield* theCompany()
      assert.deepStrictEqual(shared.map(({ id, kind, name, workflows }) => [kind, id, name, ...workflows]), [
        ["credential", "cred", "社内API", "orders", "table 1"],
        ["table", "t1", "顧客", "table 1", "table 2"]
      ])
    }))

  it.effect("compares declared inputs with those that are passed", () =>
    Effect.gen(function*() {
      const { contracts } = yield* theCompany()
      assert.deepStrictEqual(
        contracts,
        [
          {
            from: "price",
            to: "stock",
            node: "Stock",
            unknown: ["old"],
            wrongType: ["qty: passes string, takes number"]
          },
          { from: "agent", to: "stock", node: "Stock tool", missing: ["sku", "qty"], unknown: ["query"] }
        ].toSorted((a, b) => a.from < b.from ? -1 : 1)
      )

      const callee = takes([{ name: "n", type: "number" }, { name: "s" }, { name: "a", type: "array" }, {
        name: "x",
        type: "any"
      }])
      const passed: ReadonlyArray<readonly [value: Obj, expected: ReadonlyArray<Obj>]> = [
        [{ n: 1, s: "s", a: [1], x: {} }, []],
        [{ n: "={{ 1 }}", s: 1, a: "[1]", x: null, y: undefined }, [{ missing: ["x"] }]],
        [{ n: "12", s: "={{ 1 }}", a: "={{ [] }}", x: "" }, []],
        [{ n: "abc", a: {}, z: 1 }, [{
          missing: ["s", "x"],
          unknown: ["z"],
          wrongType: ["n: passes string, takes number", "a: passes object, takes array"]
        }]]
      ]
      for (const [value, expected] of passed) {
        assert.deepStrictEqual<unknown>(yield* mismatch(company.call("C", "callee", value), callee), expected)
      }
      // Old callers and those without a mapping pass their items as they are.
      for (const call of [company.call("C", "callee"), company.call("C", "callee", {})]) {
        assert.deepStrictEqual(yield* mismatch(call, callee), [])
      }
      const cached = node("C", "executeWorkflow", 1.2, {
        workflowId: company.locator("callee"),
        workflowInputs: { value: { n: "={{ $json.n }}" }, schema: [{ id: "n", type: "string" }] }
      })
      assert.deepStrictEqual(yield* mismatch(cached, takes([{ name: "n", type: "number" }])), [{
        wrongType: ["n: passes string, takes number"]
      }])
    }))

  it.effect("reads inputs of a JSON example, of items as they are, and of older tools", () =>
    Effect.gen(function*() {
      const start = (version: number, parameters: Obj) =>
        workflow("callee", [node("Start", "executeWorkflowTrigger", version, parameters)])
      const call = company.call("C", "callee", { a: 1, b: "text" })
      const example = start(1.1, { inputSource: "jsonExample", jsonExample: `{"a":"","b":2,"c":null}` })
      assert.deepStrictEqual(yield* mismatch(call, example), [{
        missing: ["c"],
        wrongType: ["b: passes string, takes number"]
      }])
      for (const any of [start(1, {}), start(1.1, { inputSource: "passthrough" })]) {
        assert.deepStrictEqual(yield* mismatch(call, any), [])
      }
      const tool = (parameters: Obj) =>
        node("Tool", "@n8n/n8n-nodes-langchain.toolWorkflow", 1.1, { workflowId: "callee", ...parameters })
      const callee = takes([{ name: "city" }, { name: "day" }])
      assert.deepStrictEqual(
        yield* mismatch(tool({ fields: { values: [{ name: "day", stringValue: "x" }] } }), callee),
        [{ missing: ["city"], unknown: ["query"] }]
      )
      const schemas = [
        { specifyInputSchema: true, jsonSchemaExample: `{"city":"x","day":"y"}` },
        { specifyInputSchema: true, schemaType: "manual", inputSchema: `{"properties":{"city":{},"day":{}}}` }
      ]
      for (const parameters of schemas) assert.deepStrictEqual(yield* mismatch(tool(parameters), callee), [])
    }))

  it.effect("distinguishes what runs from a draft that waits, and what was deleted meanwhile", () =>
    inMemory(function*(api) {
      const n8n = yield* N8nClient
      const before = yield* n8n.getWorkflow("orders")
      yield* n8n.putWorkflow("orders", {
        name: before.name,
        connections: {},
        settings: {},
        nodes: [...before.nodes.slice(0, 1), company.call("Other", "weather")]
      })
      const { edges } = yield* WorkflowMap.read
      assert.deepStrictEqual(edges.filter(({ from, kind }) => from === "orders" && kind === "calls").map(short), [
        "orders | calls | weather | Other | draft",
        "orders | calls | price | Price | live"
      ])
      yield* n8n.deleteWorkflow("invoice")
      const after = yield* WorkflowMap.read
      assert.deepInclude(after.broken.map(({ to, why }) => [to, why]), ["invoice", "missing"])
      assert.isDefined(api)
    }, { seed }))

  it.effect("follows a change to all that it reaches", () =>
    Effect.gen(function*() {
      const map = yield* theCompany()
      const steps = WorkflowMap.affected(map, "stock").map(({ from, steps, to }) => `${steps} ${from} → ${to}`)
      assert.deepStrictEqual(steps.slice(0, 4).toSorted(), [
        "1 agent → stock",
        "1 daily → stock",
        "1 old → stock",
        "1 price → stock"
      ])
      assert.includeMembers(steps, ["2 orders → price", "3 daily → orders", "3 agent → orders", "3 old → orders"])
      assert.deepStrictEqual(WorkflowMap.affected(map, "errors").map(({ from, steps }) => [from, steps]).toSorted(), [
        ["agent", 1],
        ["orders", 1]
      ])
      assert.deepStrictEqual(WorkflowMap.affected(map, "unused"), [])
      const around = WorkflowMap.around(map, "price")
      assert.deepStrictEqual(
        [...around.workflows.keys()].toSorted(),
        ["agent", "daily", "old", "orders", "price", "stock"]
      )
      assert.isTrue(around.edges.every(({ from, to }) => around.workflows.has(from) && around.workflows.has(to)))
    }))

  it.effect("is a flowchart with broken links in red and unpublished workflows dashed", () =>
    Effect.gen(function*() {
      const map = yield* theCompany()
      const edges = map.edges.filter(({ from }) => from === "daily" || from === "orders")
      const lines = WorkflowMap.flowchart(map, edges).split("\n")
      assert.include(lines.find((line) => line.includes("請求書")) ?? "", "[\"請求書\"]")
      const arrows = lines.filter((line) => /^ {2}n\d+ [-=]/.test(line))
      assert.strictEqual(arrows.length, edges.length)
      const red = /linkStyle ([\d,]+)/.exec(lines.at(-1) ?? "")?.[1]?.split(",").map(Number) ?? []
      const broken = new Set(map.broken.map(({ from, node }) => `${from} ${node}`))
      assert.deepStrictEqual(
        red,
        edges.flatMap(({ from, node }, index) => broken.has(`${from} ${node}`) ? [index] : [])
      )
    }))
})
