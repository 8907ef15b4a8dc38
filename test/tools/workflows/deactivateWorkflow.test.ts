import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"

const hook = node("Hook", "webhook", 2, { path: "in" }, { id: "hook" })

for (const version of ["2", "1"] as const) {
  describe(`deactivate_workflow on n8n ${version}`, () => {
    it.effect("unpublishes, twice without harm", () =>
      inWorld(function*() {
        const { id } = yield* tools.createWorkflow.call({
          name: "Orders",
          nodes: [hook],
          connections: {},
          active: true
        })
        for (const _ of [1, 2]) {
          assert.deepInclude(yield* tools.deactivateWorkflow.call({ id }), { id, active: false })
          assert.strictEqual((yield* tools.getWorkflow.call({ id })).active, false)
        }
      }, version))

    it.effect("reports a missing workflow", () =>
      inWorld(function*() {
        assert.strictEqual((yield* Effect.flip(tools.deactivateWorkflow.run({ id: "nobody" })))._tag, "NotFoundError")
      }, version))
  })
}
