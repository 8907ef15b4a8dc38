import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { CallContext } from "../../../src/base/CallContext.ts"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"

const hook = node("Hook", "webhook", 2, { path: "in" }, { id: "hook" })

const create = tools.createWorkflow.call({ name: "Orders", nodes: [hook], connections: {}, active: true })

describe("delete_workflow", () => {
  for (const version of ["2", "1"] as const) {
    it.effect(`deletes a published one on ${version}, and its snapshot brings it back`, () =>
      inWorld(function*({ api }) {
        const { id } = yield* create
        assert.deepStrictEqual(yield* tools.deleteWorkflow.call({ id, confirm: true }), { id })
        assert.isEmpty(yield* api.workflows)
        const { versions } = yield* tools.workflowHistory.call({ id, limit: 20 })
        const [snapshot] = versions
        assert.strictEqual(snapshot?.operation, "before delete_workflow")
        yield* tools.workflowRestore.call({ id, version: snapshot?.version ?? "", confirm: true })
        assert.deepStrictEqual((yield* api.workflows).map(({ name }) => name), ["Orders"])
      }, version))
  }

  it.effect("archives instead, without a question, what is published too", () =>
    inWorld(function*({ api }) {
      const { id } = yield* create
      assert.deepStrictEqual(yield* tools.deleteWorkflow.call({ id, archive: true }), { id, archived: true })
      const [kept] = yield* api.workflows
      assert.deepInclude(kept, { id, isArchived: true, active: false })
      assert.deepStrictEqual(yield* tools.deleteWorkflow.call({ id, archive: true }), { id, archived: true })
    }))

  it.effect("archives nothing on n8n 1, and says what to do", () =>
    inWorld(function*({ api }) {
      const { id } = yield* create
      const error = yield* Effect.flip(tools.deleteWorkflow.run({ id, archive: true }))
      assert.include("hint" in error ? JSON.stringify(error.hint) : "", "cannot archive")
      assert.lengthOf(yield* api.workflows, 1)
    }, "1"))

  it.effect("asks the person first, and deletes nothing on a no", () =>
    inWorld(function*({ api }) {
      const { id } = yield* create
      const call = node("Call", "executeWorkflow", 1.2, { workflowId: { __rl: true, mode: "id", value: id } })
      const other = node("Hook", "webhook", 2, { path: "call" }, { id: "other" })
      yield* tools.createWorkflow.call({ name: "Caller", nodes: [other, call], connections: {}, active: true })
      const questions: Array<string> = []
      const caller = {
        progress: () => Effect.void,
        confirm: (question: string) => Effect.sync(() => (questions.push(question), "no" as const))
      }
      const error = yield* Effect.flip(tools.deleteWorkflow.run({ id })).pipe(
        Effect.provideService(CallContext, caller)
      )
      assert.deepInclude(error, { _tag: "ValidationError", field: "confirm" })
      assert.match(questions.join(), /'Orders'.* Published workflows still need it: 'Caller'/)
      assert.lengthOf(yield* api.workflows, 2)
    }))
})
