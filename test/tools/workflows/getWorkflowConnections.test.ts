import { assert, describe, it } from "@effect/vitest"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { draft } from "../workflows.ts"

describe("get_workflow_connections", () => {
  it.effect("reads the graph of a workflow on n8n, and draws it with its address", () =>
    inWorld(function*() {
      const { filePath } = yield* draft()
      const { id } = yield* tools.createWorkflowFromFile.call({ filePath })
      const plain = yield* tools.getWorkflowConnections.call({ id, format: "graph", raw: true })
      assert.deepStrictEqual(plain.graph?.map(({ inputs, node, outputs }) => [node, inputs, outputs]), [
        ["Hook", [], ["End"]],
        ["End", ["Hook"], []]
      ])
      assert.deepStrictEqual(plain.rawConnections, { Hook: { main: [[{ node: "End", type: "main", index: 0 }]] } })
      assert.notProperty(plain, "url")
      const drawn = yield* tools.getWorkflowConnections.call({ id, format: "mermaid" })
      assert.match(drawn.mermaid ?? "", /^(flowchart|graph) /)
      assert.strictEqual(drawn.url, `http://n8n.test/workflow/${id}`)
    }))
})
