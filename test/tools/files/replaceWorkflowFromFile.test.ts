import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { draft, inWorld } from "../world.ts"

describe("replace_workflow_from_file", () => {
  for (const version of ["2", "1"] as const) {
    it.live(`replaces nodes on n8n ${version}; id, state and tags stay`, () =>
      inWorld(({ api }) =>
        Effect.gen(function*() {
          const { filePath, workflowId } = yield* draft()
          const { id } = yield* tools.createWorkflowFromFile.call({ filePath, raw: false })
          yield* tools.updateWorkflow.call({ id, tags: ["shop"], active: true, raw: false })
          yield* tools.nodeAdd.call({ workflowId, nodeType: "n8n-nodes-base.noOp", name: "More", raw: false })
          const replaced = yield* tools.replaceWorkflowFromFile.call({ id, filePath, confirm: true, raw: false })
          assert.deepInclude(replaced, { id, active: true })
          const read = yield* tools.getWorkflow.call({ id, raw: false })
          assert.deepInclude(read, { active: true, nodeCount: 3, tags: ["shop"] })
          assert.lengthOf(yield* api.workflows, 1)
        }), version))
  }
})
