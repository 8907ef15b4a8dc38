import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { marksIn } from "../../../src/answer/Truncated.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import * as company from "../../support/scenarios/company.ts"
import { workflow } from "../../support/workflows.ts"

const seed = { workflows: company.workflows, executions: [] }

const branches = ["東京", "大阪", "名古屋", "福岡"]

/** The company with branches that call one of two sub-workflows and have an error workflow. */
const fleet = (count: number) => [
  ...company.workflows,
  ...Array.from({ length: count - company.workflows.length }, (_, index) =>
    workflow(
      `${String(index).padStart(3, "0")}aBcDeFgHiJkLm`,
      [
        index % 3 === 0
          ? company.request("送信", `${company.host}/webhook/orders`)
          : company.call("計算", index % 3 === 1 ? "stock" : "price"),
        ...index % 9 === 0 ? [company.call("消えた", `gone${index}`)] : []
      ],
      { active: true, name: `${branches[index % 4]}支店の日次処理 ${index}`, settings: { errorWorkflow: "errors" } }
    ))
]

const seedOf = (count: number) => ({ workflows: fleet(count), executions: [] })

const map = (args: Parameters<typeof tools.workflowMap.call>[0]) => tools.workflowMap.call(args)

layer(FakeN8n.layer(seed))("workflow_map", (it) => {
  it.effect("gives an overview with the name of every id", () =>
    Effect.gen(function*() {
      const { broken = [], counts, cycles, edges = [], orphans = [], total, workflows = [] } = yield* map({})
      assert.deepStrictEqual(counts, { calls: 12, tool: 2, http: 6, error: 3 })
      assert.strictEqual(total, company.workflows.length - 1)
      assert.lengthOf(cycles ?? [], 2)
      assert.deepInclude(broken[0], { from: "daily", kind: "error", to: "stock", why: "has no Error Trigger" })
      const named = new Set(
        [...broken, ...edges].map(({ from }) => from).concat([...orphans, ...workflows].map(({ id }) => String(id)))
      )
      for (const { to } of edges) assert.isTrue(named.has(to) || to === "gone", to)
      assert.isTrue(orphans.every(({ name }) => typeof name === "string"))
    }))

  it.effect("says whom a change of one reaches, with its inputs and its own links", () =>
    Effect.gen(function*() {
      const { affected, contracts = [], edges = [], inputs, uses = [] } = yield* map({ id: "price" })
      assert.deepStrictEqual(affected, { direct: 1, all: 4, published: 3 })
      assert.deepStrictEqual(edges[0], {
        from: "orders",
        name: "orders",
        kind: "calls",
        to: "price",
        node: "Price",
        steps: 1
      })
      assert.deepStrictEqual(uses.map(({ node, to }) => [node, to]), [["Stock", "stock"]])
      assert.deepStrictEqual(contracts.map(({ from }) => from), ["price"])
      assert.isUndefined(inputs)
      assert.deepStrictEqual((yield* map({ id: "stock" })).inputs, ["sku: string", "qty: number"])
      const { message } = yield* tools.workflowMap.answer({ id: "price" })
      assert.strictEqual(message, "4 workflows depend on 'price', 1 directly; 3 published")
    }))

  it.effect("lists only one kind", () =>
    Effect.gen(function*() {
      const { edges = [], ...rest } = yield* map({ kind: "tool" })
      assert.deepStrictEqual(
        edges.map(({ node }) => node),
        ["Weather", "Stock tool"].toSorted((a, b) => a < b ? 1 : -1)
      )
      assert.doesNotHaveAnyKeys(rest, ["broken", "orphans", "contracts", "shared", "unresolved"])
      const shared = (yield* map({ kind: "credential" })).shared ?? []
      assert.deepStrictEqual(shared.map(({ name, workflows }) => [name, workflows]), [["社内API", [
        "orders",
        "table 1"
      ]]])
      assert.lengthOf((yield* map({ kind: "unresolved" })).unresolved ?? [], 7)
    }))

  it.effect("fails for an unknown workflow as every tool does", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(tools.workflowMap.run({ id: "nothing" }))
      assert.strictEqual(error.message, "Workflow 'nothing' not found")
      const version = yield* Effect.flip(tools.workflowMap.run({ id: "stock@published" }))
      assert.deepInclude(version, { _tag: "ValidationError", field: "id" })
    }))
})

describe("workflow_map of many workflows", () => {
  it.effect("takes at most 1,500 tokens for 100, and names the calls that reach every row", () =>
    Effect.gen(function*() {
      const answer = yield* tools.workflowMap.answer({})
      assert.isAtMost(countTokens(JSON.stringify(answer)), 1_500)
      const all = new Set<string>()
      const total = answer.data.counts
      // As a model would: each call is one that an answer has named.
      const calls: Array<string> = ["calls", "tool", "http", "error"].map((kind) => `workflow_map(kind: '${kind}')`)
      for (let call = calls.shift(); call !== undefined; call = calls.shift()) {
        const [, kind, offset = "0"] = /^workflow_map\(kind: '(\w+)'(?:, offset: (\d+))?\)$/.exec(call) ?? []
        const { data } = yield* tools.workflowMap.answer({ kind: kind as "calls", offset: Number(offset) })
        assert.isAtMost(countTokens(JSON.stringify(data)), 3_500)
        for (const { from, node, to } of data.edges ?? []) all.add(JSON.stringify([from, node, to]))
        for (const { next, path } of marksIn(data)) {
          assert.strictEqual(path, "edges")
          calls.push(next ?? "")
        }
      }
      assert.strictEqual(all.size, total.calls + total.tool + total.http + total.error)
      const shown = answer.data.broken?.length ?? 0
      const marks = marksIn(answer.data).map(({ next }) => next)
      assert.includeMembers(marks, [`workflow_map(kind: 'broken', offset: ${shown})`])
      const whole = yield* tools.workflowMap.call({})
      assert.strictEqual(whole.edges?.length, all.size)
    }).pipe(Effect.provide(FakeN8n.layer(seedOf(100)))))

  it.effect("reaches every workflow that depends on one of 300", () =>
    Effect.gen(function*() {
      const dependents = new Set<string>()
      let affected: { readonly all: number } | undefined
      for (let offset = 0, pages = 0; !isNaN(offset) && pages < 30; pages++) {
        const { data } = yield* tools.workflowMap.answer({ id: "stock", offset })
        affected = data.affected
        for (const { from } of data.edges ?? []) dependents.add(from)
        const { next = "" } = marksIn(data).find(({ path }) => path === "edges") ?? {}
        offset = Number(/^workflow_map\(id: 'stock', offset: (\d+)\)$/.exec(next)?.[1])
      }
      assert.strictEqual(dependents.size, affected?.all)
      assert.isAbove(dependents.size, 200)
    }).pipe(Effect.provide(FakeN8n.layer(seedOf(300)))))
})
