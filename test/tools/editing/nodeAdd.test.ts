import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Hints from "../../../src/answer/Hints.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as tools from "../../../src/tools/index.ts"
import { text } from "../../support/folders.ts"
import { inWorld } from "../../support/world.ts"
import { draft, nodeNames } from "../workflows.ts"

describe("node_add", () => {
  it.effect("builds a draft node by node, and every step is in the file", () =>
    inWorld(function*() {
      const { filePath, workflowId } = yield* draft()
      const built = obj(JSON.parse(yield* text(filePath))) ?? {}
      assert.deepStrictEqual(nodeNames(built), ["Hook", "End"])
      const [hook] = arr(built["nodes"])
      assert.strictEqual(obj(hook)?.["typeVersion"], 2.1)
      assert.isString(obj(hook)?.["webhookId"])
      assert.deepStrictEqual(built["connections"], { Hook: { main: [[{ node: "End", type: "main", index: 0 }]] } })
      const { counts, valid } = yield* tools.validateWorkflow.call({ workflowId })
      assert.deepStrictEqual([valid, counts.errors], [true, 0])
      const { graph } = yield* tools.getWorkflowConnections.call({ id: workflowId, format: "graph" })
      assert.deepStrictEqual(graph?.map(({ node, outputs }) => [node, outputs]), [["Hook", ["End"]], ["End", []]])
      const loaded = yield* tools.workflowLoad.call({ workflowIdOrPath: filePath })
      assert.deepInclude(loaded, { source: "file", workflowData: built as never })
      const { total, workflows } = yield* tools.workflowList.call({ limit: 20, offset: 0 })
      assert.deepStrictEqual([total, workflows[0]?.name], [1, "Orders"])
    }))

  it.effect("names what there is instead of what there is not", () =>
    inWorld(function*() {
      const { workflowId } = yield* draft()
      const add = (more: Obj) =>
        Effect.flip(tools.nodeAdd.run({ workflowId, nodeType: "n8n-nodes-base.noOp", ...more }))
      assert.include(Hints.text((yield* add({ nodeType: "n8n-nodes-base.slak" })).hint), "n8n-nodes-base.slack")
      assert.include(Hints.text((yield* add({ after: "Hok" })).hint), "'Hook'")
      const unknown = yield* add({ nodeType: "n8n-nodes-base.httpRequest", parameters: { ulr: "x" } })
      assert.include(Hints.text(unknown.hint), "url")
      const nobody = yield* Effect.flip(
        tools.nodeAdd.run({ workflowId: "draft-nothing", nodeType: "n8n-nodes-base.noOp" })
      )
      assert.include(nobody.message, "draft-nothing")
      assert.include(Hints.text(nobody.hint), "workflow_list")
    }))
})

for (const version of ["2", "1"] as const) {
  describe(`node_add on n8n ${version}`, () => {
    it.effect("loses no node when several are added concurrently", () =>
      inWorld(function*() {
        const { filePath } = yield* draft()
        const { id } = yield* tools.createWorkflowFromFile.call({ filePath })
        yield* Effect.forEach(
          ["A", "B", "C"],
          (name) => tools.nodeAdd.call({ workflowId: id, nodeType: "n8n-nodes-base.noOp", name }),
          {
            concurrency: "unbounded"
          }
        )
        const { nodes = [] } = yield* tools.getWorkflow.call({ id, raw: true })
        assert.sameMembers(nodes.map(({ name }) => name), ["Hook", "End", "A", "B", "C"])
      }, version))
  })
}
