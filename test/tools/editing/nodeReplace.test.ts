import { assert, describe, it } from "@effect/vitest"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { draft } from "../workflows.ts"

describe("node_replace", () => {
  it.effect.each(["2", "1"] as const)(
    "goes through the safe write on n8n %s: a draft where there are drafts",
    (version) =>
      inWorld(function*() {
        const { filePath } = yield* draft()
        const { id } = yield* tools.createWorkflowFromFile.call({ filePath })
        const added = yield* tools.nodeAdd.call({ workflowId: id, nodeType: "n8n-nodes-base.noOp", after: "End" })
        assert.deepInclude(added, { source: "n8n", name: "No Operation, do nothing" })
        assert.isUndefined(added.published)
        assert.lengthOf((yield* tools.getWorkflow.call({ id, raw: true })).nodes ?? [], 3)
        const replace = (type: string) =>
          tools.nodeReplace.call({ workflowId: id, targetNodeId: "End", newNodeType: `n8n-nodes-base.${type}` })
        const { compatibilityReport: report, nodeId } = yield* replace("set")
        assert.deepStrictEqual([report.removedConnections.length, report.maintainedConnections.length], [0, 2])
        const trigger = yield* replace("manualTrigger")
        assert.strictEqual(trigger.nodeId, nodeId)
        const [line, ...others] = trigger.compatibilityReport.removedConnections
        assert.deepStrictEqual(others, [])
        assert.include(trigger.changes, `End: removed the connection ${line}`)
      }, version)
  )
})
