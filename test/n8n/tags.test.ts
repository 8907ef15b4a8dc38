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

  it.effect("takes names as n8n does: without spaces around them, each once, and by case", () =>
    Effect.gen(function*() {
      const { n8n } = yield* memoryClient({ workflows: [webhookWorkflow] }, version)
      const heart = "❤️".repeat(24)
      yield* n8n.setWorkflowTags("w", ["orders", " orders ", "Orders", "x".repeat(24), "😀".repeat(24), heart])
      assert.deepStrictEqual(
        (yield* n8n.getWorkflow("w")).tags?.map(({ name }) => name),
        ["orders", "Orders", "x".repeat(24), "😀".repeat(24), heart]
      )
      for (const [name, reason] of [["x".repeat(25), "has 25 characters"], [" ", "has no name"]] as const) {
        const error = yield* Effect.flip(n8n.setWorkflowTags("w", ["new", name]))
        assert.include(error.message, reason)
        assert.include(String("hint" in error ? error.hint : ""), "1 to 24 characters")
      }
      // Not even the tag that n8n would have taken is created.
      const { data } = yield* n8n.request("GET /tags")
      assert.notInclude(data?.map(({ name }) => name) ?? [], "new")
    }))

  it.effect("fails for a missing workflow", () =>
    Effect.gen(function*() {
      const { n8n } = yield* memoryClient({}, version)
      assert.strictEqual((yield* Effect.flip(n8n.setWorkflowTags("nobody", [])))._tag, "NotFoundError")
    }))
})
