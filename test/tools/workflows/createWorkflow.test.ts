import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { main, node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"

const hook = node("Hook", "webhook", 2, { path: "in" }, { id: "hook" })

describe("create_workflow", () => {
  it.effect("refuses links to nodes that are not there, and creates nothing", () =>
    inWorld(function*({ api }) {
      const connections = { Hook: main("Nobody") }
      const error = yield* Effect.flip(tools.createWorkflow.run({ name: "Orders", nodes: [hook], connections }))
      assert.strictEqual(error._tag, "ValidationError")
      assert.include(JSON.stringify(error), "Nobody")
      assert.isEmpty(yield* api.workflows)
    }))

  it.effect("warns of a workflow that has its name, with the call that overwrites it", () =>
    inWorld(function*() {
      const create = tools.createWorkflow.call({ name: "Orders", nodes: [hook], connections: {} })
      const { id, warnings } = yield* create
      assert.isUndefined(warnings)
      assert.include((yield* create).warnings?.[0], `update_workflow(id: '${id}', nodes: […], connections: {…})`)
    }))
})
