import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"

const hook = node("Hook", "webhook", 2, { path: "in" }, { id: "hook" })

for (const version of ["2", "1"] as const) {
  describe(`activate_workflow on n8n ${version}`, () => {
    it.effect("publishes, twice without harm", () =>
      inWorld(function*() {
        const { id } = yield* tools.createWorkflow.call({
          name: "Orders",
          nodes: [hook],
          connections: {},
          active: false
        })
        for (const _ of [1, 2]) {
          assert.deepInclude(yield* tools.activateWorkflow.call({ id }), { id, active: true })
          assert.strictEqual((yield* tools.getWorkflow.call({ id })).active, true)
        }
      }, version))

    it.effect("says in n8n's words why a workflow cannot be published", () =>
      inWorld(function*() {
        const { id } = yield* tools.createWorkflow.call({ name: "Idle", nodes: [], connections: {} })
        const error = yield* Effect.flip(tools.activateWorkflow.run({ id }))
        assert.match(JSON.stringify(error), /trigger/)
        assert.isFalse((yield* tools.getWorkflow.call({ id })).active)
      }, version))

    it.effect("reports a missing workflow", () =>
      inWorld(function*() {
        assert.strictEqual((yield* Effect.flip(tools.activateWorkflow.run({ id: "nobody" })))._tag, "NotFoundError")
      }, version))
  })
}
