import { assert, describe, it } from "@effect/vitest"
import { displayWidth } from "effect/cli/CliOutput"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RunReport from "../../../src/app/report/RunReport.ts"
import * as Services from "../../../src/app/Services.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"

const demo = Layer.merge(FakeN8n.layer(Demo.seed), Services.layerMemory)

describe("RunReport", () => {
  it.effect("explains a failed run: the node, its error and input, then the nodes in their order", () =>
    Effect.gen(function*() {
      const summary = yield* tools.getExecution.call({ id: "239" })
      const text = RunReport.why(summary, { width: 100, isColoured: false }).join("\n")
      for (
        const part of [
          "Run 239 of Sync orders to CRM: error",
          "✗ Upsert CRM contact failed (httpRequest)",
          "(HTTP 422)",
          "Its input, item 2:",
          "\"email\": null"
        ]
      ) assert.include(text, part)
      const table = text.slice(text.indexOf("NODE"))
      const order = ["New orders", "Fetch customers", "Agreed to marketing?", "Upsert CRM contact"].map((node) =>
        table.indexOf(node)
      )
      assert.deepStrictEqual(order, order.toSorted((a, b) => a - b))
      assert.notInclude(order, -1)
    }).pipe(Effect.provide(demo)))

  it.effect("calls only statuses HTTP, and counts items as a person does", () =>
    Effect.gen(function*() {
      const summary = yield* tools.getExecution.call({ id: "239" })
      const { failure } = summary
      assert.isDefined(failure)
      const shown = (itemIndex: number, httpCode: string, inputCount?: number) =>
        RunReport.why(
          {
            ...summary,
            failure: { ...failure, ...inputCount && { inputCount }, error: { ...failure.error, httpCode, itemIndex } }
          },
          { width: 100, isColoured: false }
        ).join("\n")
      assert.match(shown(0, "ECONNREFUSED"), /service \(ECONNREFUSED\)\n[^]*Its input, the first item:/)
      assert.include(shown(3, "404", 12), "service (HTTP 404)")
      assert.include(shown(3, "404", 12), "Its input, item 4 of 12:")
    }).pipe(Effect.provide(demo)))

  it.effect("lists published workflows first, then by the last run, with short triggers", () =>
    Effect.gen(function*() {
      const { workflows } = yield* tools.listWorkflows.call({ show: ["triggers", "lastRun", "draft"] })
      const [first] = workflows
      assert.isDefined(first)
      const row = (name: string, active: boolean, at?: string) => ({
        ...first,
        name,
        active,
        triggers: ["n8n-nodes-base.manualTrigger"],
        lastRun: at ?
          {
            at,
            status: "success"
          } :
          null
      })
      const rows = [
        row("Off", false, "2026-11-28T00:00:00Z"),
        row("Old", true, "2026-11-01T00:00:00Z"),
        row("Never", true),
        row("New", true, "2026-11-27T00:00:00Z")
      ] as typeof workflows
      const [, ...lines] = RunReport.workflows(rows, { width: 100, isColoured: false })
      assert.deepStrictEqual(lines.map((line) => line.split(/ {2,}/)[1]), ["New", "Old", "Never", "Off"])
      assert.match(lines[0] ?? "", / manual {2}/)
    }).pipe(Effect.provide(demo)))

  it.effect("fits narrow terminals, names in Japanese included", () =>
    Effect.gen(function*() {
      const { workflows } = yield* tools.listWorkflows.call({ show: ["triggers", "lastRun", "draft"] })
      const answers = yield* Effect.forEach(
        [undefined, "workflow", "failure", "node", "version"] as const,
        (groupBy) => tools.listExecutions.call({ ...(groupBy && { groupBy }) })
      )
      for (const width of [40, 60, 80, 200]) {
        const screen = { width, isColoured: true }
        const lines = [
          ...RunReport.workflows(workflows, screen),
          ...answers.flatMap(({ hint: _, ...answer }) => RunReport.executions(answer, screen))
        ]
        for (const line of lines) assert.isAtMost(displayWidth(line), width, line)
        assert.include(lines.join("\n"), "請求書")
      }
    }).pipe(Effect.provide(demo)))

  it.effect("of nothing say so", () =>
    Effect.gen(function*() {
      const none = yield* tools.listExecutions.call({ workflowId: "no-such-workflow" })
      const [first, , hint] = RunReport.executions(none, { width: 80, isColoured: false })
      assert.strictEqual(first, "No runs match.")
      assert.include(hint, "no-such-workflow")
    }).pipe(Effect.provide(demo)))
})
