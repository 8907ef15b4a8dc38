import { assert, describe, it } from "@effect/vitest"
import * as tools from "../../../src/tools/index.ts"
import { node, workflow } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"

const hook = (path: string) => node("Hook", "webhook", 2, { path })
const call = (more = {}) => node("Call", "executeWorkflow", 1.2, { workflowId: { mode: "id", value: "sub" } }, more)
const sub = workflow("sub", [node("Called", "executeWorkflowTrigger")], { active: true })
const caller = (id: string, more = {}) =>
  workflow(id, [hook(id), call()], { active: true, name: `発注 ${id}`, ...more })

const seed = {
  workflows: [
    sub,
    caller("a"),
    caller("off", { active: false }),
    workflow("disabled", [hook("d"), call({ disabled: true })], { active: true }),
    workflow("e", [hook("e")], { active: true, settings: { errorWorkflow: "sub" } })
  ],
  executions: []
}

const needed = "Published workflows still need it: '発注 a' (a, caller), 'e' (e, error workflow)."

describe("published workflows that need one that is taken away", () => {
  it.effect("are named by deactivate_workflow, once each", () =>
    inWorld(function*({ api }) {
      assert.strictEqual((yield* tools.deactivateWorkflow.call({ id: "sub" })).hint, needed)
      const lists = (yield* api.requests).filter(({ url }) => /\/workflows\?/.test(url))
      assert.lengthOf(lists, 1)
      assert.notProperty(yield* tools.deactivateWorkflow.call({ id: "a" }), "hint")
    }, { seed }))

  it.effect("are named when it is archived, and counted if there are many", () =>
    inWorld(function*() {
      const { hint } = yield* tools.deleteWorkflow.call({ id: "sub", archive: true })
      assert.include(hint, "'発注 w4' (w4, caller) and 2 more: workflow_map(kind: 'broken') lists them.")
    }, { seed: { workflows: [sub, ...Array.from({ length: 7 }, (_, index) => caller(`w${index}`))], executions: [] } }))
})
