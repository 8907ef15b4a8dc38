/** Outputs bear the names that connections are made by, in every tool that tells of them. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Services from "../../src/app/Services.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as tools from "../../src/tools/index.ts"
import { document, items, run } from "../executions/runData.ts"
import { node } from "../support/workflows.ts"

const ai = "@n8n/n8n-nodes-langchain."

const rules = { values: ["cheap", "dear"].map((outputKey) => ({ outputKey, renameOutput: true })) }
const categories = { categories: [{ category: "Bills" }, { category: "Spam" }] }

/** Each node that has several outputs, and one of these. */
const cases = [
  [node("Sort", `${ai}sentimentAnalysis`, 1.1), "Negative", 2],
  [node("Sort", "switch", 3.2, { rules }), "dear", 1],
  [node("Sort", "if", 2.2), "false", 1],
  [node("Sort", `${ai}textClassifier`, 1.1, { categories }), "Spam", 1]
] as const

const withWorkflow = FakeN8n.layer({ workflows: [], executions: [] })
const world = Layer.mergeAll(withWorkflow, Services.layerMemory.pipe(Layer.provide(NodeServices.layer)))

it.effect.each(cases)("$1 of $0.type", ([sort, name, index]) =>
  Effect.gen(function*() {
    const { id } = yield* tools.createWorkflow.call({
      name: "Sorted",
      nodes: [sort, node("Next", "noOp", 1)],
      connections: {},
      settings: {}
    })
    const ends = { workflowId: id, sourceNodeId: "Sort", targetNodeId: "Next" }
    const { changes } = yield* tools.connectionCreate.call({ ...ends, sourceOutput: name })
    assert.deepStrictEqual(changes, [`connected 'Sort' main[${index}] '${name}' → 'Next' main[0]`])

    const port = { output: `main[${index}]`, name, to: "Next", input: "main[0]" }
    const { graph } = yield* tools.getWorkflowConnections.call({ id, format: "graph" })
    assert.deepStrictEqual(graph?.[0]?.ports, [port])
    const { mermaid } = yield* tools.getWorkflowConnections.call({ id, format: "mermaid" })
    assert.include(mermaid, `n0 -->|"${name}"| n1`)
    const { connections } = yield* tools.getWorkflow.call({ id, raw: true })
    assert.deepStrictEqual<unknown>(connections, { Sort: [port] })
  }).pipe(Effect.provide(world)))

it.effect.each(cases)("$1 of a run of $0.type", ([sort, name, index]) => {
  const outputs = Array.from({ length: index + 1 }, (_, at) => at === index ? items({}) : [])
  const execution = document({ Sort: [run(0, { main: outputs })] }, { nodes: [sort] })
  return Effect.gen(function*() {
    const data = yield* tools.getExecutionByNode.call({
      id: execution.id,
      nodeName: "Sort",
      itemOffset: 0,
      itemLimit: 5
    })
    assert.deepStrictEqual(data.outputs.at(-1), { output: `main[${index}]`, name, items: 1 })
  }).pipe(
    Effect.provide(Layer.merge(
      FakeN8n.layer({ workflows: [], executions: [execution] }),
      Services.layerMemory.pipe(Layer.provide(NodeServices.layer))
    ))
  )
})
