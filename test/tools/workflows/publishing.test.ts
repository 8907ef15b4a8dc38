import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"

const hook = node("Hook", "webhook", 2, { path: "in" })

const changes = [
  { name: "activate_workflow", tool: tools.activateWorkflow, active: true },
  { name: "deactivate_workflow", tool: tools.deactivateWorkflow, active: false }
]

for (const version of ["2", "1"] as const) {
  describe.each(changes)(`$name on n8n ${version}`, ({ active, tool }) => {
    it.effect("changes whether a workflow is published, twice without harm", () =>
      inWorld(function*() {
        const { id } = yield* tools.createWorkflow.call({
          name: "Orders",
          nodes: [hook],
          connections: {},
          active: !active
        })
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

  it.effect(`activate_workflow on n8n ${version} says in n8n's words why a workflow cannot be published`, () =>
    inWorld(function*() {
      const { id } = yield* tools.createWorkflow.call({ name: "Idle", nodes: [], connections: {} })
      const error = yield* Effect.flip(tools.activateWorkflow.run({ id }))
      assert.match(JSON.stringify(error), /trigger/)
      assert.isFalse((yield* tools.getWorkflow.call({ id })).active)
    }, version))
}
