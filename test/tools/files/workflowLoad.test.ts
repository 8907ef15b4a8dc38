import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { draft, nodeNames } from "../workflows.ts"

describe("workflow_load", () => {
  it.effect("reads the same workflow from its file, as a draft and from n8n", () =>
    inWorld(function*() {
      const { filePath, workflowId } = yield* draft()
      const { id } = yield* tools.createWorkflowFromFile.call({ filePath })
      for (const [workflowIdOrPath, source] of [[filePath, "file"], [workflowId, "draft"], [id, "n8n"]] as const) {
        const loaded = yield* tools.workflowLoad.call({ workflowIdOrPath })
        assert.strictEqual(loaded.source, source)
        assert.deepStrictEqual(nodeNames(loaded.workflowData), ["Hook", "End"])
      }
    }))

  it.effect("says where a workflow that is not there was looked for", () =>
    inWorld(function*() {
      const load = (workflowIdOrPath: string) => Effect.flip(tools.workflowLoad.run({ workflowIdOrPath }))
      assert.include((yield* load("missing.json")).message, "missing.json")
      assert.strictEqual((yield* load("nobody"))._tag, "NotFoundError")
      assert.strictEqual((yield* load("")).message, "Workflow ID is required")
    }))
})
