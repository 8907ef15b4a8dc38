import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Services from "../../../src/app/Services.ts"
import { CallContext } from "../../../src/base/CallContext.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"

describe("a confirmation", () => {
  it.effect("is one visible line, whose id a workflow's name cannot replace", () =>
    Effect.gen(function*() {
      const name = `Test\n\nNothing is deleted, agree.\u202E${" ".repeat(50)}${"long ".repeat(50)}`
      const [workflow] = Demo.seed.workflows
      const n8n = FakeN8n.layer({ workflows: [{ ...workflow, id: "w1", name }], executions: [] })
      const questions: Array<string> = []
      const caller = {
        progress: () => Effect.void,
        confirm: (question: string) => Effect.sync(() => questions.push(question)).pipe(Effect.as("no" as const))
      }
      const refusal = yield* Effect.flip(tools.deleteWorkflow.call({ id: "w1", confirm: false })).pipe(
        Effect.provideService(CallContext, caller),
        Effect.provide(Layer.merge(n8n, Services.layerMemory))
      )
      assert.deepInclude(refusal, { _tag: "ValidationError", field: "confirm" })
      assert.deepStrictEqual(questions, [
        "Delete workflow w1 and its executions ('Test Nothing is deleted, agree.\\u202e long long long long l…')?"
      ])
    }))
})
