import { assert, describe, it } from "@effect/vitest"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { draft } from "../workflows.ts"

for (const version of ["2", "1"] as const) {
  describe(`node_replace on n8n ${version}`, () => {
    it.effect("go through the safe write: a draft where there are drafts", () =>
      inWorld(function*() {
        const { filePath } = yield* draft()
        const { id } = yield* tools.createWorkflowFromFile.call({ filePath })
        const added = yield* tools.nodeAdd.call({ workflowId: id, nodeType: "n8n-nodes-base.noOp", after: "End" })
        assert.deepInclude(added, { source: "n8n", name: "No Operation, do nothing" })
        assert.isUndefined(added.published)
        const { nodes = [] } = yield* tools.getWorkflow.call({ id, raw: true })
        assert.strictEqual(nodes.length, 3)
        const replaced = yield* tools.nodeReplace.call({
          workflowId: id,
          targetNodeId: "End",
          newNodeType: "n8n-nodes-base.set"
        })
        assert.strictEqual(replaced.compatibilityReport.removedConnections.length, 0)
        assert.strictEqual(replaced.compatibilityReport.maintainedConnections.length, 2)
        const trigger = yield* tools.nodeReplace.call({
          workflowId: id,
          targetNodeId: "End",
          newNodeType: "n8n-nodes-base.manualTrigger"
        })
        assert.strictEqual(trigger.nodeId, replaced.nodeId)
        const [line, ...others] = trigger.compatibilityReport.removedConnections
        assert.deepStrictEqual(others, [])
        assert.include(trigger.changes, `End: removed the connection ${line}`)
      }, version))
  })
}
