/** Methods of MCP for prompts and completions. */
import * as Effect from "effect/Effect"
import type * as Prompt from "../answer/Prompt.ts"
import type * as Resource from "../answer/Resource.ts"
import * as Deadline from "../base/Deadline.ts"
import { obj } from "../base/Json.ts"
import { suggestion } from "../base/Nearest.ts"
import { shorten, text } from "./handling.ts"
import type { Request } from "./Methods.ts"
import * as Rpc from "./Rpc.ts"

const find = <R>(prompts: ReadonlyArray<Prompt.Prompt<R>>, name: string) => {
  const prompt = prompts.find((prompt) => prompt.name === name)
  if (prompt !== undefined) return Effect.succeed(prompt)
  const names = prompts.map((prompt) => prompt.name)
  return Effect.fail(
    Rpc.invalidParams(`There is no prompt '${shorten(name)}'. ${suggestion(shorten(name), names)}`)
  )
}

const render = (prompt: Prompt.Prompt, values: { readonly [name: string]: unknown }) => {
  const args: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== "string") {
      return Effect.fail(Rpc.invalidParams(`Argument '${shorten(name)}' of ${prompt.name} is a string`))
    }
    if (value.trim() !== "") args[name] = value
  }
  const missing = prompt.arguments.find(({ name, required }) => required && args[name] === undefined)
  if (missing !== undefined) {
    return Effect.fail(Rpc.invalidParams(`${prompt.name} needs ${missing.name}: ${missing.description}`))
  }
  return Effect.succeed({
    description: prompt.description,
    messages: [{ role: "user" as const, content: { type: "text" as const, text: prompt.text(args) } }]
  })
}

export const list = (prompts: ReadonlyArray<Prompt.Prompt>) => ({
  prompts: prompts.map(({ arguments: args, description, name, title }) => ({
    name,
    title,
    description,
    arguments: args.map(({ description, name, required }) => ({ name, description, required }))
  }))
})

export const get = Effect.fnUntraced(function*<R>(prompts: ReadonlyArray<Prompt.Prompt<R>>, { params }: Request) {
  const prompt = yield* find(prompts, yield* text(params, "name"))
  return yield* render(prompt, obj(params["arguments"]) ?? {})
})

/** Maximum of the protocol. */
const maxCompletions = 100

/** `completion/complete`; failures have no completions. */
export const complete = Effect.fnUntraced(function*<R>(
  prompts: ReadonlyArray<Prompt.Prompt<R>>,
  resources: ReadonlyArray<Resource.Resource<R>>,
  { params }: Request
) {
  const argument = obj(params["argument"]) ?? {}
  const ref = obj(params["ref"]) ?? {}
  const name = yield* text(argument, "name")
  const value = yield* text(argument, "value")
  const complete = ref["type"] === "ref/prompt"
    ? (yield* find(prompts, yield* text(ref, "name"))).arguments.find((each) => each.name === name)?.complete
    : resources.find(({ uriTemplate }) => uriTemplate === ref["uri"])?.complete
  const completions = complete?.(value) ?? Effect.succeed<ReadonlyArray<string>>([])
  const values = yield* Deadline.bounded(completions, false).pipe(
    Effect.catchCause((cause) => Effect.as(Effect.logDebug("no completions", cause), []))
  )
  return {
    completion: {
      values: values.slice(0, maxCompletions),
      total: values.length,
      hasMore: values.length > maxCompletions
    }
  }
})
