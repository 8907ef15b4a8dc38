import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { memoryClient, versions, webhookWorkflow } from "./clients.ts"

describe.each(versions)("setWorkflowTags on n8n %s", (version) => {
  it.effect("sets tags by name, creates missing ones, and removes all", () =>
    Effect.gen(function*() {
      const { n8n } = yield* memoryClient(
        { workflows: [{ ...webhookWorkflow, tags: [{ id: "t", name: "old" }] }] },
        version
      )
      const names = Effect.map(n8n.getWorkflow("w"), ({ tags }) => (tags ?? []).map(({ name }) => name))
      yield* n8n.setWorkflowTags("w", ["old", "new"])
      assert.sameMembers(yield* names, ["old", "new"])
      yield* n8n.setWorkflowTags("w", ["new"])
      assert.deepStrictEqual(yield* names, ["new"])
      yield* n8n.setWorkflowTags("w", [])
      assert.deepStrictEqual(yield* names, [])
    }))

  it.effect("fails for a missing workflow", () =>
    Effect.gen(function*() {
      const { n8n } = yield* memoryClient({}, version)
      assert.strictEqual((yield* Effect.flip(n8n.setWorkflowTags("nobody", [])))._tag, "NotFoundError")
    }))
})
