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
import { suggestion } from "../Nearest.ts"
import type * as Prompt from "../Prompt.ts"
import type * as Resource from "../Resource.ts"
import type { RunFor } from "./Handling.ts"

const find = <R>(prompts: ReadonlyArray<Prompt.Prompt<R>>, name: string) => {
  const found = prompts.find((prompt) => prompt.name === name)
  if (found !== undefined) return found
  const names = prompts.map((prompt) => prompt.name)
  throw new McpError(ErrorCode.InvalidParams, `There is no prompt '${name}'. ${suggestion(name, names)}`)
}

const rendered = (prompt: Prompt.Prompt, given: Readonly<Record<string, string>>) => {
  const args = Object.fromEntries(Object.entries(given).filter(([, value]) => value.trim() !== ""))
  const missing = prompt.arguments.find(({ name, required }) => required && args[name] === undefined)
  if (missing !== undefined) {
    throw new McpError(ErrorCode.InvalidParams, `${prompt.name} needs ${missing.name}: ${missing.description}`)
  }
  return {
    description: prompt.description,
    messages: [{ role: "user" as const, content: { type: "text" as const, text: prompt.text(args) } }]
  }
}

/** Lets the server answer what concerns prompts. */
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
    ({ params }) => rendered(find(prompts, params.name), params.arguments ?? {})
  )
}

/** As many as the protocol allows. */
const most = 100

/** Lets the server propose values for prompts' arguments and resources' ids; where it cannot, it proposes none. */
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
    const proposed = complete?.(argument.value) ?? Effect.succeed<ReadonlyArray<string>>([])
    return runFor(
      proposed.pipe(
        Effect.catchCause((cause) => Effect.as(Effect.logDebug("nothing to propose", cause), [])),
        Effect.map((values) => ({
          completion: { values: values.slice(0, most), total: values.length, hasMore: values.length > most }
        }))
      ),
      extra
    )
  })
}
