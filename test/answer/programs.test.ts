import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Hints from "../../src/answer/Hints.ts"
import * as Errors from "../../src/base/Errors.ts"
import * as Triage from "../../src/executions/Triage.ts"
import * as tools from "../../src/tools/index.ts"
import { inMemory } from "../support/world.ts"

const explained = <A, E extends Hints.Explained, R>(call: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(call), (error) => Hints.explain(error))

describe("a program", () => {
  it.effect("reads why an argument is refused, without tools and lists of parameters", () =>
    inMemory(function*() {
      assert.strictEqual(
        yield* explained(tools.getExecution.call({ id: "abc" })),
        "Execution ID must be digits, or a link to the run: 'abc' is neither."
      )
      assert.strictEqual(
        yield* explained(tools.getWorkflow.call({ id: "https://n8n.example.test/executions/5" })),
        "The link is to execution 5, not to a workflow."
      )
    }))

  it.effect("reads notes on executions that name no tool", () =>
    inMemory(function*() {
      const { hint, note } = yield* Triage.byFailure({ workflowId: "zzz" })
      assert.strictEqual(note, "n8n has no workflow 'zzz'.")
      assert.deepStrictEqual(hint, { _tag: "ListWorkflows" })
      const unnamed = yield* Triage.byFailure({ workflowName: "zzz" })
      assert.strictEqual(unnamed.note, `No workflow has "zzz" in its name.`)
      const { hint: words } = yield* tools.listExecutions.call({ workflowName: "zzz" })
      assert.strictEqual(words, `No workflow has "zzz" in its name. list_workflows lists them.`)
    }))

  it("does not repeat what cannot pass", () => {
    const retryable = (code?: string) =>
      new Errors.Unreachable({ details: "", ...(code === undefined ? {} : { code }) }).isRetryable
    assert.deepStrictEqual(["bad port", "ENOTFOUND", "CERT_HAS_EXPIRED"].map(retryable), [false, false, false])
    assert.deepStrictEqual([undefined, "ECONNREFUSED", "EAI_AGAIN", "ECONNRESET"].map(retryable), [
      true,
      true,
      true,
      true
    ])
  })
})
