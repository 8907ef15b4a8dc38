import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { before240, memoryClient, webhookWorkflow } from "./clients.ts"

describe("workflowHistory", () => {
  it.effect("lists the versions on 2.x, newest first, and reads each of them", () =>
    Effect.gen(function*() {
      const { n8n } = yield* memoryClient({ workflows: [webhookWorkflow] })
      yield* n8n.putWorkflow("w", { name: "Orders", nodes: [], connections: {}, settings: {} })
      const [newest, oldest] = (yield* n8n.workflowHistory("w")) ?? []
      assert.isDefined(oldest)
      assert.deepStrictEqual((yield* n8n.workflowVersion("w", newest?.versionId ?? "")).nodes, [])
      assert.strictEqual((yield* n8n.workflowVersion("w", oldest?.versionId ?? "")).nodes[0]?.name, "Hook")
      const error = yield* Effect.flip(n8n.workflowVersion("w", "none"))
      assert.deepInclude(error, { _tag: "NotFoundError", resourceType: "Version", resourceId: "none" })
    }))

  it.effect("is undefined before 2.40, where a version can still be read and published", () =>
    Effect.gen(function*() {
      const { n8n } = yield* memoryClient({ workflows: [webhookWorkflow] }, "2", { before: before240 })
      const { versionId: first = "" } = yield* n8n.getWorkflow("w")
      yield* n8n.putWorkflow("w", { name: "Orders", nodes: [], connections: {}, settings: {} })
      assert.isUndefined(yield* n8n.workflowHistory("w"))
      assert.strictEqual((yield* n8n.workflowVersion("w", first ?? "")).nodes[0]?.name, "Hook")
      assert.strictEqual((yield* Effect.flip(n8n.workflowVersion("w", "tags")))._tag, "NotFoundError")
      const { activeVersionId } = yield* n8n.publishWorkflow("w", first ?? "")
      assert.strictEqual(activeVersionId, first)
      assert.isFalse((yield* n8n.unpublishWorkflow("w")).active)
    }))

  it.effect("is undefined on 1.x, which has no history", () =>
    Effect.gen(function*() {
      const { n8n } = yield* memoryClient({ workflows: [webhookWorkflow] }, "1")
      assert.isUndefined(yield* n8n.workflowHistory("w"))
    }))
})
