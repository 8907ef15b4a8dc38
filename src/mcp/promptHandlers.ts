/** Prompts behind the SDK's server, and the completion of arguments and ids. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js"
import {
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  McpError
} from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import type * as Prompt from "../answer/Prompt.ts"
import type * as Resource from "../answer/Resource.ts"
import * as Deadline from "../base/Deadline.ts"
import { suggestion } from "../base/Nearest.ts"
import { type RunFor, shorten } from "./handling.ts"

const find = <R>(prompts: ReadonlyArray<Prompt.Prompt<R>>, name: string) => {
  const prompt = prompts.find((prompt) => prompt.name === name)
  if (prompt !== undefined) return prompt
  const names = prompts.map((prompt) => prompt.name)
  throw new McpError(
    ErrorCode.InvalidParams,
    `There is no prompt '${shorten(name)}'. ${suggestion(shorten(name), names)}`
  )
}

const render = (prompt: Prompt.Prompt, values: Readonly<Record<string, string>>) => {
  const args = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ""))
  const missing = prompt.arguments.find(({ name, required }) => required && args[name] === undefined)
  if (missing !== undefined) {
    throw new McpError(ErrorCode.InvalidParams, `${prompt.name} needs ${missing.name}: ${missing.description}`)
  }
  return {
    description: prompt.description,
    messages: [{ role: "user" as const, content: { type: "text" as const, text: prompt.text(args) } }]
  }
}

/** Handles what concerns prompts. */
export const handle = <R>(server: Server, prompts: ReadonlyArray<Prompt.Prompt<R>>): void => {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: prompts.map(({ arguments: args, description, name, title }) => ({
      name,
      title,
      description,
      arguments: args.map(({ description, name, required }) => ({ name, description, required }))
    }))
  }))
  server.setRequestHandler(
    GetPromptRequestSchema,
    ({ params }) => render(find(prompts, params.name), params.arguments ?? {})
  )
}

/** The protocol's maximum. */
const maxCompletions = 100

/** Completes prompts' arguments and resources' ids; what fails has no completions. */
export const handleCompletion = <R>(
  server: Server,
  prompts: ReadonlyArray<Prompt.Prompt<R>>,
  resources: ReadonlyArray<Resource.Resource<R>>,
  runFor: RunFor<R>
): void => {
  server.setRequestHandler(CompleteRequestSchema, ({ params: { argument, ref } }, extra) => {
    const complete = ref.type === "ref/prompt"
      ? find(prompts, ref.name).arguments.find(({ name }) => name === argument.name)?.complete
      : resources.find(({ uriTemplate }) => uriTemplate === ref.uri)?.complete
    const completions = complete?.(argument.value) ?? Effect.succeed<ReadonlyArray<string>>([])
    return runFor(
      Deadline.bounded(completions, false).pipe(
        Effect.catchCause((cause) => Effect.as(Effect.logDebug("no completions", cause), [])),
        Effect.map((values) => ({
          completion: {
            values: values.slice(0, maxCompletions),
            total: values.length,
            hasMore: values.length > maxCompletions
          }
        }))
      ),
      extra
    )
  })
}
