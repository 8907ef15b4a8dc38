import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as UpgradeReport from "../../src/app/report/UpgradeReport.ts"
import { obj } from "../../src/base/Json.ts"
import * as Workflow from "../../src/n8n/model/Workflow.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { succeededExecution } from "../../src/testing/runs.ts"
import * as tools from "../../src/tools/index.ts"
import * as Upgrades from "../../src/trials/Upgrades.ts"
import { main, node, workflow } from "../support/workflows.ts"
import { inMemory, inWorld } from "../support/world.ts"

const options: Upgrades.Options = { timeout: 25_000, redacts: true }

const nodes = [
  node("Hook", "webhook", 2.1, { path: "orders", httpMethod: "POST" }),
  node("合計", "function", 1, { functionCode: "return items" }),
  node("Send", "httpRequest", 1, { requestMethod: "POST", url: "https://shop.example", options: {} })
]
const connections = { Hook: main("合計"), "合計": main("Send") }
const orders = workflow("w1", nodes, { active: true, connections })

const items = { Hook: [{ body: { no: 1 } }], "合計": [{ no: 1 }], Send: [{ ok: true }] }

const world = {
  seed: {
    workflows: [orders],
    executions: [{
      ...succeededExecution({ workflow: orders, items }),
      id: "101",
      startedAt: "2026-01-01T00:00:00.000Z",
      mode: "webhook"
    }]
  },
  runs: (copy: N8nApi.Workflow) => succeededExecution({ workflow: copy, items })
}

const nodesOf = (value: unknown) => Workflow.nodes(obj(value) ?? {})

const typesIn = (value: unknown) =>
  nodesOf(value).map(({ type, typeVersion }) => `${String(type)} ${String(typeVersion)}`)

describe("upgrades of many workflows", () => {
  it.effect("become drafts on n8n, each proven on its recorded runs; what is left has its decision", () =>
    inMemory(function*(api) {
      const report = yield* Upgrades.run(["w1", "gone"], options)
      assert.deepStrictEqual(
        report.upgraded.map(({ from, name, node, to, workflow }) => [workflow, name, node, from, to]),
        [
          ["w1", orders.name, "合計", "n8n-nodes-base.function 1", "n8n-nodes-base.code 2"]
        ]
      )
      assert.deepStrictEqual(report.left.map(({ node }) => node), ["Send"])
      assert.deepStrictEqual(report.proven, { runs: 1, same: 1, differ: 0 })
      assert.deepStrictEqual(report.failed.map(({ workflow }) => workflow), ["gone"])
      assert.strictEqual(Upgrades.exitCode(report), 1)
      const [stored, ...copies] = yield* api.workflows
      assert.lengthOf(copies, 0)
      assert.include(typesIn(stored), "n8n-nodes-base.code 2")
      // What runs is as it was.
      assert.include(typesIn(stored?.["activeVersion"]), "n8n-nodes-base.function 1")

      const again = yield* Upgrades.run(["w1"], options)
      assert.deepStrictEqual([again.upgraded, again.waiting, again.proven.runs], [[], [], 1])
      assert.deepStrictEqual(again.drafts, [{ workflow: "w1", name: orders.name }])
      assert.deepStrictEqual((yield* api.workflows)[0]?.versionId, stored?.versionId)
    }, world))

  it.effect("do not prove the drafts of other people", () =>
    inMemory(function*(api) {
      const [current] = (yield* Upgrades.run(["w1"], options)).upgraded
      assert.strictEqual(current?.node, "合計")
      yield* tools.activateWorkflow.call({ id: "w1" })
      yield* api.edit(
        "w1",
        (workflow) => ({ ...workflow, nodes: nodesOf(workflow).slice(0, 2), connections: { Hook: main("合計") } })
      )
      const report = yield* Upgrades.run(["w1"], options)
      assert.deepStrictEqual([report.upgraded, report.drafts, report.proven.runs], [[], [], 0])
    }, world))

  it.effect("write nothing in a dry run", () =>
    inMemory(function*(api) {
      const before = yield* api.workflows
      const report = yield* Upgrades.run(["w1"], { ...options, dryRun: true })
      assert.lengthOf(report.upgraded, 1)
      assert.deepStrictEqual(yield* api.workflows, before)
      assert.strictEqual(Upgrades.exitCode(report), 2)
    }, world))

  it.effect("leave a published workflow where n8n has no drafts: it would change before its proof", () =>
    inMemory(function*(api) {
      const before = yield* api.workflows
      const report = yield* Upgrades.run(["w1"], options)
      assert.deepStrictEqual(report.upgraded, [])
      assert.match(report.failed[0]?.error.message ?? "", /has no drafts/)
      assert.deepStrictEqual(yield* api.workflows, before)
    }, { ...world, version: "1" }))

  it.effect("change files in place: their layout stays, a broken one is named, a second time changes nothing", () =>
    inWorld(function*({ folder }) {
      const fs = yield* FileSystem.FileSystem
      const file = `${folder}/orders.json`
      const text = JSON.stringify({ ...orders, nodes, connections }, undefined, "\t").replace(
        "\"nodes\"",
        "\n\"nodes\""
      )
      yield* fs.writeFileString(file, text)
      yield* fs.writeFileString(`${folder}/broken.json`, "{\"nodes\": [")
      const report = yield* Upgrades.run(["orders.json", "broken.json"], { ...options, to: "2.41.1" })
      assert.deepStrictEqual(report.upgraded.map(({ workflow }) => workflow), ["orders.json"])
      assert.deepStrictEqual(report.failed.map(({ workflow }) => workflow), ["broken.json"])
      assert.strictEqual(report.proven.runs, 0)
      const after = yield* fs.readFileString(file)
      const lines = new Set(text.split("\n"))
      const fresh = after.split("\n").filter((line) => !lines.has(line))
      assert.isAtMost(fresh.length, 6, after)
      assert.include(after, "\t\n\"nodes\"")
      yield* Upgrades.run(["orders.json"], { ...options, to: "2.41.1" })
      assert.strictEqual(yield* fs.readFileString(file), after)
    }))

  it.effect("leave code in the file where it is, under its new parameter", () =>
    inWorld(function*({ folder }) {
      const fs = yield* FileSystem.FileSystem
      const sum = node("合計", "function", 1, { functionCode: { $file: "sum.js" } })
      yield* fs.writeFileString(`${folder}/orders.json`, JSON.stringify({ ...orders, nodes: [sum], connections: {} }))
      yield* fs.writeFileString(`${folder}/sum.js`, "return items\n")
      yield* Upgrades.run(["orders.json"], options)
      const [after] = Workflow.nodes(JSON.parse(yield* fs.readFileString(`${folder}/orders.json`)))
      assert.deepStrictEqual([after?.["type"], obj(after?.["parameters"])?.["jsCode"]], [
        "n8n-nodes-base.code",
        { $file: "sum.js" }
      ])
      assert.strictEqual(yield* fs.readFileString(`${folder}/sum.js`), "return items\n")
    }))

  it.effect("are reported with what changed by type, and what is left by reason", () =>
    Effect.sync(() => {
      const lines = UpgradeReport.lines(
        {
          workflows: 3,
          upgraded: ["a", "b"].map((name) => ({
            workflow: name,
            name,
            node: "Set",
            from: "n8n-nodes-base.set 2",
            to: "n8n-nodes-base.set 3.5"
          })),
          left: [{
            workflow: "b",
            name: "b",
            node: "X",
            type: "n8n-nodes-base.postgres 2.5",
            why: "Dates change.",
            decision: "Check them.",
            choices: []
          }],
          failed: [],
          waiting: [],
          drafts: [{ workflow: "c", name: "c" }],
          proven: { runs: 3, same: 2, differ: 1 },
          different: [{
            workflow: "b",
            name: "b",
            groups: [],
            runs: 3,
            same: 2,
            verdict: "2 same; 1 loses `x` at 'Y'"
          }],
          notProven: [{ workflow: "a", name: "a", error: "no runs" }]
        },
        false,
        false
      )
      assert.deepStrictEqual(lines, [
        "≠ Upgraded 2 nodes in 2 of 3 workflows; 1 node left; 2 of 3 replayed runs the same",
        "  set 2 → set 3.5: 2 nodes in 'a', 'b'",
        "",
        "left",
        "  postgres 2.5: Dates change. Check them.",
        "    'b: X'",
        "",
        "differ",
        "  'b': 2 same; 1 loses `x` at 'Y'",
        "",
        "upgraded before and not published yet",
        "  'c'",
        "",
        "not proven",
        "  'a': no runs"
      ])
    }))
})
