import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { text } from "../../support/folders.ts"
import { inWorld } from "../../support/world.ts"

describe("workflow_create", () => {
  it.effect("is a file from its first moment, under a free and readable name", () =>
    inWorld(function*({ folder }) {
      const first = yield* tools.workflowCreate.call({ name: "請求書 Export!", description: "monthly" })
      const second = yield* tools.workflowCreate.call({ name: "請求書 export" })
      assert.strictEqual(first.workflowId, "draft-請求書-export")
      assert.strictEqual(first.filePath, `${folder}/請求書-export.json`)
      assert.strictEqual(second.workflowId, "draft-請求書-export-2")
      assert.deepStrictEqual(JSON.parse(yield* text(first.filePath)), {
        name: "請求書 Export!",
        description: "monthly",
        nodes: [],
        connections: {},
        settings: { executionOrder: "v1" }
      })
      const elsewhere = yield* tools.workflowCreate.call({ name: "x", filePath: "sub/x.json" })
      assert.strictEqual(elsewhere.workflowId, "sub/x.json")
      const taken = yield* Effect.flip(tools.workflowCreate.call({ name: "x", filePath: "sub/x.json" }))
      assert.strictEqual(taken._tag, "ValidationError")
    }))
})
