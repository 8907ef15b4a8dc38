import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../world.ts"

const hook = {
  id: "hook",
  name: "Hook",
  type: "n8n-nodes-base.webhook",
  typeVersion: 2,
  position: [0, 0],
  parameters: { path: "in" }
}

const create = tools.createWorkflow.call({ name: "Orders", nodes: [hook], connections: {}, tags: ["shop"], raw: false })

for (const version of ["2", "1"] as const) {
  describe(`update_workflow on n8n ${version}`, () => {
    it.effect("changes what is given, and keeps the rest", () =>
      inWorld(() =>
        Effect.gen(function*() {
          const { id } = yield* create
          yield* tools.updateWorkflow.call({ id, name: "Orders, renamed", raw: false })
          const read = yield* tools.getWorkflow.call({ id, raw: false })
          assert.deepInclude(read, { name: "Orders, renamed", nodeCount: 1, tags: ["shop"] })
          yield* tools.updateWorkflow.call({ id, tags: [], raw: false })
          assert.deepInclude(yield* tools.getWorkflow.call({ id, raw: false }), { name: "Orders, renamed", tags: [] })
          const { versions } = yield* tools.workflowHistory.call({ id, limit: 20 })
          assert.isTrue(versions.some(({ operation }) => operation === "before update_workflow"))
        }), version))

    it.effect("fails when somebody else has changed the workflow meanwhile", () =>
      inWorld(({ api }) =>
        Effect.gen(function*() {
          const { id, versionId } = yield* create
          yield* api.edit(id, (workflow) => ({ ...workflow, nodes: [{ ...hook, name: "Moved" }] }))
          const error = yield* Effect.flip(tools.updateWorkflow.run({ id, name: "X", expectedVersionId: versionId }))
          assert.notStrictEqual(error._tag, "NotFoundError")
          assert.strictEqual((yield* tools.getWorkflow.call({ id, raw: false })).name, "Orders")
        }), version))
  })
}
