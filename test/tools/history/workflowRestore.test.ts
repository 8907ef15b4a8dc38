import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { draft, inWorld, text } from "../world.ts"

describe("workflow_restore", () => {
  it.effect("brings an edited file back byte for byte, as the opposite edits do", () =>
    inWorld(() =>
      Effect.gen(function*() {
        const { filePath, workflowId } = yield* draft()
        const before = yield* text(filePath)
        const edit = (...operations: Parameters<typeof tools.workflowEdit.call>[0]["operations"]) =>
          tools.workflowEdit.call({ workflowId, operations, dryRun: false, raw: false })
        yield* edit({ op: "disable", node: "End" }, { op: "rename", node: "Hook", to: "In" })
        yield* edit({ op: "enable", node: "End" }, { op: "rename", node: "In", to: "Hook" })
        assert.strictEqual(yield* text(filePath), before)
        yield* edit({ op: "remove", node: "Hook" })
        const { versions } = yield* tools.workflowHistory.call({ id: workflowId, limit: 20 })
        assert.deepInclude(versions[0], { source: "snapshot", operation: "before workflow_edit" })
        yield* tools.workflowRestore.call({ id: workflowId, version: versions[0]?.version ?? "", confirm: true })
        assert.strictEqual(yield* text(filePath), before)
      })
    ))
})
