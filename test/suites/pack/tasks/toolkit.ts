/** Our tools for a language model that Effect calls: failures are results with hints, advice names only these tools. */
import { Services, Tool, tools } from "effect-n8n-mcp"
import { Toolkit } from "effect-n8n-mcp/mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const reads = Tool.middleware((run, { tool }) => Effect.withLogSpan(run, tool.name))

const kit = Toolkit.make([tools.listExecutions, tools.getExecution], { middleware: [reads] })

const whyDidItFail = LanguageModel.generateText({ prompt: "Why did run 1 fail?", toolkit: kit.toolkit })

/** A model that calls get_execution; in production: `OpenAiLanguageModel.layer`. */
const model = (id: string) =>
  Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({
      generateText: () => Effect.succeed([{ type: "tool-call", id: "1", name: "get_execution", params: { id } }]),
      streamText: () => Stream.empty
    })
  )

const workflow = { id: "w1", name: "Orders", nodes: [{ name: "Pay", type: "n8n-nodes-base.code" }] }
const failed = FakeN8n.failedExecution({ workflow, node: "Pay", message: "card declined" })
const n8n = Layer.merge(FakeN8n.layer({ workflows: [workflow], executions: [failed] }), Services.layerMemory)

const resultOf = (id: string) =>
  whyDidItFail.pipe(
    Effect.map(({ toolResults }) =>
      JSON.stringify(toolResults.map(({ isFailure, result }) => ({ isFailure, result })))
    ),
    Effect.provide([model(id), Layer.provide(kit.layer, n8n)])
  )

export const test = Effect.gen(function*() {
  const [found, missing] = yield* Effect.all([resultOf("1"), resultOf("9")])
  return [found.includes("card declined"), found.includes("get_execution_by_node"), missing.includes("NotFoundError")]
})

export const expected = [true, false, true]
