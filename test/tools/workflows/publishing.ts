/** Tests of the tools that publish and unpublish. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"

const hook = node("Hook", "webhook", 2, { path: "in" })

/** Registers the tests of a tool after which a workflow is published or not. */
export const changesPublication = (
  tool: typeof tools.activateWorkflow | typeof tools.deactivateWorkflow,
  active: boolean
) => {
  describe.each(["2", "1"] as const)(`${tool.name} on n8n %s`, (version) => {
    it.effect(`${active ? "publishes" : "unpublishes"}, twice without harm`, () =>
      inWorld(function*() {
        const workflow = { name: "Orders", nodes: [hook], connections: {}, active: !active }
        const { id } = yield* tools.createWorkflow.call(workflow)
        for (const _ of [1, 2]) {
          assert.deepInclude(yield* tool.call({ id }), { id, active })
          assert.strictEqual((yield* tools.getWorkflow.call({ id })).active, active)
        }
      }, version))

    it.effect("reports a missing workflow", () =>
      inWorld(function*() {
        assert.strictEqual((yield* Effect.flip(tool.run({ id: "missing" })))._tag, "NotFoundError")
      }, version))
  })
}
