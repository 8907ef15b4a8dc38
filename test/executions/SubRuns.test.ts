import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RunReport from "../../src/app/report/RunReport.ts"
import * as Executions from "../../src/executions/Executions.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { catalogue } from "../support/catalogue.ts"
import * as TestTime from "../support/TestTime.ts"
import { document, failed, from, items, node, run } from "./runData.ts"

const calling = (name: string, workflowId: string, mode: "once" | "each") =>
  node(name, "n8n-nodes-base.executeWorkflow", {
    typeVersion: 1.2,
    parameters: { mode, workflowId: { __rl: true, mode: "id", value: workflowId } }
  })

const at = (id: number, more: object): N8nApi.Execution => ({
  ...document({}, {}),
  id: String(id),
  startedAt: new Date(Date.UTC(2026, 10, 20, 0, 0, id)).toISOString(),
  stoppedAt: new Date(Date.UTC(2026, 10, 20, 0, 0, id + (id % 10 === 0 ? 5 : 0))).toISOString(),
  ...more
})

const runs = (status: "success" | "error", runData: object, nodes: ReadonlyArray<object> = []) => {
  const { data, status: ended, workflowData } = document(runData, { status, nodes })
  return { data, status: ended, workflowData }
}

/** A run whose second item failed in the workflow that it calls; n8n names neither of both runs. */
const caller = (id: number) => [
  at(id, {
    workflowId: "shop",
    ...runs("error", {
      Rows: [run(0, { main: [items({ n: 1 }, { n: 2 })] })],
      Pack: [failed(1, { message: "Error executing workflow with item at index 1" }, { source: [from("Rows")] })]
    }, [node("Rows"), calling("Pack", "pack", "each")])
  }),
  ...[1, 2].map((item) => {
    const result = item === 1
      ? runs("success", { Box: [run(0, { main: [items({ label: `box ${id}` })] })] }, [node("Box")])
      : runs("error", { Box: [failed(0, { message: "No warehouse 17" })] }, [node("Box")])
    return at(id + item, {
      workflowId: "pack",
      mode: "integrated",
      ...result,
      data: { ...result.data as object, parentExecution: { executionId: String(id), workflowId: "shop" } }
    })
  }),
  // Another run of the called workflow at the same time.
  at(id + 3, {
    workflowId: "pack",
    mode: "integrated",
    ...runs("success", { Box: [run(0, { main: [items({ label: "of another" })] })] }, [node("Box")])
  })
]

const world = (executions: ReadonlyArray<N8nApi.Execution>, version: "1" | "2" = "2") =>
  Effect.provide(
    Layer.mergeAll(FakeN8n.layer({ workflows: [], executions }, { version }), Executions.layer(), catalogue)
  )

describe("runs of sub-workflows that n8n does not name", () => {
  it.effect.each(["2", "1"] as const)("are found by their caller, on n8n %s", (version) =>
    Effect.gen(function*() {
      const summary = yield* tools.getExecution.call({ id: "10" })
      const pack = summary.availableNodes.find(({ nodeName }) => nodeName === "Pack")
      assert.deepStrictEqual(pack?.calls, { count: 2, ids: ["11", "12"] })
      const { data } = yield* tools.getExecution.answer({ id: "10" })
      assert.strictEqual(data._guidance?.example, "get_execution(id: '12')")

      const { executions, note, runs } = yield* tools.searchExecution.call({ workflowId: "shop", text: "box " })
      assert.deepStrictEqual([runs?.searched, executions?.map(({ id }) => id), note], [2, ["20", "10"], undefined])
      const other = yield* tools.searchExecution.call({ workflowId: "shop", text: "of another" })
      assert.strictEqual(other.matched, 0)

      const { groups = [] } = yield* tools.listExecutions.call({ workflowId: "shop", groupBy: "failure" })
      assert.deepStrictEqual(
        groups.map((group) => "message" in group ? [group.message, group.node, group.subWorkflow, group.count] : []),
        [["No warehouse 17", "Pack", "pack", 2]]
      )
    }).pipe(world([...caller(10), ...caller(20)], version)))

  it.effect("are said to be missing where n8n saved none", () =>
    Effect.gen(function*() {
      const { note } = yield* tools.searchExecution.call({ workflowId: "shop", text: "box" })
      assert.include(note, "The sub-workflow's runs of a failed node were not found in 1 run: search")
    }).pipe(world(caller(10).slice(0, 1))))
})

describe("an execution whose data n8n cannot deliver", () => {
  const broken = [
    at(30, { workflowId: "shop", status: "error", data: "undeliverable" }),
    at(31, { workflowId: "shop", ...runs("success", { Take: [run(0, { main: [items({ n: 1 })] })] }, [node("Take")]) })
  ]
  it.effect("has its row, and a note that says so", () =>
    Effect.gen(function*() {
      const summary = yield* tools.getExecution.call({ id: "30" })
      assert.deepInclude(summary, { id: "30", workflowId: "shop", status: "error", duration: 5_000 })
      assert.include(summary.note, "n8n cannot deliver the data of this execution: ")
      const lines = RunReport.why(summary, { width: 100, isColoured: false })
      assert.include(lines.join("\n"), "n8n cannot deliver the data of this execution: ")
      const { matched, note, runs } = yield* tools.searchExecution.call({ workflowId: "shop", where: "n === 1" })
      assert.deepStrictEqual([matched, runs, note], [
        1,
        { searched: 2, matched: 1, complete: true },
        "n8n cannot deliver the data of 1 run."
      ])
      for (const groupBy of ["failure", "node", "version", "workflow"] as const) {
        const { complete, groups, scanned } = yield* tools.listExecutions.call({ workflowId: "shop", groupBy })
        assert.deepStrictEqual([scanned, complete], [2, true], groupBy)
        if (groupBy === "failure") {
          assert.include(JSON.stringify(groups), "n8n cannot deliver the data of the run (HTTP 500)")
        }
      }
      const refused = yield* Effect.flip(tools.getExecutionByNode.call({ id: "30", nodeName: "Take" }))
      assert.include(refused.message, "n8n cannot deliver the data of execution '30'")
    }).pipe(TestTime.run, world(broken)))
})
