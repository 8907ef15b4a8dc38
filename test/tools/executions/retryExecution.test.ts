import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Services from "../../../src/app/Services.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"

const demo = Layer.merge(FakeN8n.layer(Demo.seed), Services.layerMemory)

layer(demo)("retry_execution", (it) => {
  it.effect("runs a failed execution again, as another", () =>
    Effect.gen(function*() {
      const { id = "", status } = yield* tools.retryExecution.call({ id: "239", latest: true })
      assert.notStrictEqual(id, "239")
      assert.strictEqual(status, "success")
      assert.strictEqual((yield* tools.getExecution.call({ id, nodeOffset: 0 })).id, id)
    }))

  it.effect("refuses unknown executions and invalid ids", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(tools.retryExecution.run({ id: "99999" })))._tag, "NotFoundError")
      const error = yield* Effect.flip(tools.retryExecution.run({ id: "abc" }))
      assert.include(error.message, "must be digits")
      const named = yield* Effect.flip(tools.getExecution.run({ id: "T5 Parcels" }))
      assert.include(named.message, "a link to the run")
      assert.include(Hints.text(named.hint), "list_executions(workflowName: 'T5 Parcels')")
    }))

  it.effect("refuses an empty choice in each form, and says what it is", () =>
    Effect.gen(function*() {
      for (const ids of [[], "[]", "null"]) {
        const error = yield* Effect.flip(tools.retryExecution.run({ id: "", ids, workflowName: "X", dryRun: true }))
        assert.strictEqual(error.message, "ids is empty: name the runs, or leave it out")
      }
    }))
})
