import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Tool from "../../src/answer/Tool.ts"
import * as Toolkit from "../../src/answer/Toolkit.ts"
import { getExecution, getExecutionByNode, listExecutions } from "../../src/tools/executions/index.ts"
import * as tools from "../../src/tools/index.ts"
import { document, failed, holding, node } from "../executions/runData.ts"

const execution = document({ Pay: [failed(0, { message: "card declined" })] }, {
  status: "error",
  nodes: [node("Pay")]
})

/** A model that calls one tool; `told` is what it was told of tools. */
const modelThatCalls = (name: string, params: unknown, told: Array<unknown> = []) =>
  Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({
      generateText: (options) =>
        Effect.sync((): Array<Response.PartEncoded> => {
          told.push(...options.tools)
          return [{ type: "tool-call", id: "1", name, params }]
        }),
      streamText: () => Stream.empty
    })
  )

const resultOf = <const Tools extends ReadonlyArray<Tool.Any>>(
  some: Tools,
  model: ReturnType<typeof modelThatCalls>
) => {
  const { layer, toolkit } = Toolkit.make(some)
  return LanguageModel.generateText({ prompt: "Why did it fail?", toolkit }).pipe(
    Effect.map(({ toolResults }) => toolResults.map(({ isFailure, name, result }) => ({ isFailure, name, result }))),
    Effect.provide([layer, model])
  )
}

describe("a toolkit of tools", () => {
  it.effect("describes and answers to a model as MCP does", () =>
    Effect.gen(function*() {
      const told: Array<{ readonly name: string; readonly description?: string }> = []
      const model = modelThatCalls("get_execution", { id: 77, nodeOffset: "0" }, told)
      const [call] = yield* resultOf([getExecution, getExecutionByNode, listExecutions], model)
      const answer = yield* getExecution.answer({ id: "77" })
      assert.deepStrictEqual<unknown>(call, { isFailure: false, name: "get_execution", result: answer })
      assert.deepStrictEqual(
        told.map(({ description, name }) => [name, description]),
        [getExecution, getExecutionByNode, listExecutions].map(({ description, name }) => [name, description])
      )
      const { _guidance, ...data } = answer.data
      assert.include(_guidance?.example, "get_execution_by_node")
      const [alone] = yield* resultOf([getExecution], model)
      assert.deepStrictEqual<unknown>(alone?.result, { ...answer, data })
      const [unknown] = yield* resultOf([getExecution], modelThatCalls("get_execution", { id: "78" }))
      assert.match(JSON.stringify(unknown?.result), /"NotFoundError".*"hint":"n8n prunes old executions\."/)
    }).pipe(Effect.provide(holding(execution))))

  it.effect("returns failures with what to do next, those of a policy too", () =>
    Effect.gen(function*() {
      class Denied extends Schema.TaggedError<Denied>()("Denied", { hint: Schema.String }) {
        override readonly message = "policy: no"
      }
      const closed = Tool.wrap(listExecutions, () => Effect.fail(new Denied({ hint: "Ask a person." })))
      const some = [getExecution, closed] as const
      const refused = (name: string, params: unknown) =>
        Effect.map(resultOf(some, modelThatCalls(name, params)), ([call]) => [call?.isFailure, call?.result])
      assert.deepStrictEqual<unknown>(yield* refused("list_executions", {}), [
        true,
        { name: "Denied", message: "policy: no", context: {}, hint: "Ask a person." }
      ])
      const [isFailure, unknown] = yield* refused("get_execution", { idd: "77" })
      assert.isTrue(isFailure)
      assert.include(JSON.stringify(unknown), "Did you mean 'id'?")
      const [, missing] = yield* refused("get_execution", { id: "78" })
      assert.match(JSON.stringify(missing), /"NotFoundError".*"hint":"list_executions lists the executions/)
    }).pipe(Effect.provide(holding(execution))))

  it("has every tool, with its hints", () => {
    const { toolkit } = Toolkit.make(tools.all)
    assert.sameMembers(Object.keys(toolkit.tools), tools.all.map(({ name }) => name))
  })
})
