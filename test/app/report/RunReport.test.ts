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
