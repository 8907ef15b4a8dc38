/** Tools as a `Toolkit` of `effect/ai`, for language models that Effect calls itself. */
import * as AiTool from "effect/ai/Tool"
import * as AiToolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Rows from "../base/Rows.ts"
import * as Envelope from "./Envelope.ts"
import * as Hints from "./Hints.ts"
import { answerOf } from "./jsonSchemas.ts"
import * as Tool from "./Tool.ts"

/** Failed call as a model sees it; `hint`, if there is one, says what to do next. */
export const Failure = Schema.Struct({
  name: Schema.String,
  message: Schema.String,
  statusCode: Schema.optionalKey(Schema.Int),
  context: Schema.Record(Schema.String, Schema.String),
  hint: Schema.optionalKey(Schema.String)
})

/** Encoded answer of a tool, as a model sees it. */
export type Success<T extends Tool.Any> = Schema.Codec<Tool.Answer<T["output"]["Encoded"]>>

/** Tool of `effect/ai`. */
export type Ai<T extends Tool.Any> = T extends Tool.Any ? AiTool.Dynamic<
    T["name"],
    {
      readonly parameters: Tool.JsonSchema
      readonly success: Success<T>
      readonly failure: typeof Failure
      readonly failureMode: "return"
    }
  >
  : never

/** Tools by name. */
export type ByName<Tools extends ReadonlyArray<Tool.Any>> = {
  readonly [T in Tools[number] as T["name"]]: Ai<T>
}

const convert = (tool: Tool.Any): AiTool.Any =>
  AiTool.dynamic(tool.name, {
    description: tool.description,
    parameters: tool.inputSchema,
    success: Schema.toEncoded(answerOf(tool.output)),
    failure: Failure,
    failureMode: "return"
  })
    .annotate(AiTool.Title, tool.title)
    .annotate(AiTool.Readonly, tool.annotations.readOnlyHint)
    .annotate(AiTool.Destructive, tool.annotations.destructiveHint)
    .annotate(AiTool.Idempotent, tool.annotations.idempotentHint)
    .annotate(AiTool.OpenWorld, tool.annotations.openWorldHint)

/**
 * Makes a `Toolkit` of tools, and the layer of its handlers.
 *
 * A model sees the same as over MCP: the same schemas, lenient decoding of arguments, answers within the budget. A
 * failure is a result with a hint and does not end the conversation. Advice names only tools of this kit.
 *
 * `middleware` is around every call, as in `McpServer.serve`. Two tools of one name are an error that is thrown.
 *
 * **Example** (Asking a model why a run failed)
 *
 * ```ts
 * import { Toolkit } from "effect-n8n-mcp/mcp"
 * import { getExecution, listExecutions } from "effect-n8n-mcp/tools/executions/index"
 * import * as Effect from "effect/Effect"
 * import * as LanguageModel from "effect/ai/LanguageModel"
 *
 * const n8n = Toolkit.make([listExecutions, getExecution])
 *
 * export const program = LanguageModel.generateText({
 *   prompt: "Why did the last run fail?",
 *   toolkit: n8n.toolkit
 * }).pipe(Effect.provide(n8n.layer))
 * ```
 */
export const make = <const Tools extends ReadonlyArray<Tool.Any>, M extends Tool.Middleware = never>(
  tools: Tools,
  { middleware }: { readonly middleware?: ReadonlyArray<M> } = {}
): {
  readonly toolkit: AiToolkit.Toolkit<ByName<Tools>>
  readonly layer: Layer.Layer<AiTool.HandlersFor<ByName<Tools>>, never, Tool.Services<Tools[number] | M>>
} => {
  // TypeScript knows the names and schemas of the tools only one by one.
  const toolkit = AiToolkit.make(
    ...Rows.distinct("tools", tools, ({ name }) => name).map(convert)
  ) as unknown as AiToolkit.Toolkit<ByName<Tools>>
  const names = new Set(tools.map(({ name }) => name))
  const handlers = Effect.map(
    Effect.context<Tool.Services<Tools[number] | M>>(),
    (context: Context.Context<never>) =>
      Object.fromEntries(
        tools.map((tool) => [
          tool.name,
          (args: unknown) =>
            tool.run(args).pipe(
              Effect.map((answer) => ({ ...answer, data: Hints.naming(answer.data, names) })),
              Effect.mapError((error) => Envelope.fromError(error, names)),
              Tool.serving(tools, middleware),
              Effect.provideContext(context as never)
            )
        ])
      )
  )
  return { toolkit, layer: toolkit.toLayer(handlers as never) as never }
}
