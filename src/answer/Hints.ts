/** Advice in words, and the texts of calls that answers suggest. */
import type { Advice, Hint } from "../base/Advice.ts"
import type { Failure } from "../base/Errors.ts"
import { mapValues, obj, str, without } from "../base/Json.ts"
import { literal, wording } from "./advice.ts"

export type { Advice, Hint } from "../base/Advice.ts"

/** Text about an address and a key that a person has just entered, instead of the settings that would have them. */
export const aboutEntered = (text: string): string =>
  text.replaceAll("N8N_URL (--n8n-url)", "the address you entered").replaceAll(
    "N8N_API_KEY (--api-key)",
    "the key you entered"
  )

/** Words of a program for pieces of advice, in place of the package's own; an empty text omits one. */
export type Words = {
  readonly [Tag in Advice["_tag"]]?: string | ((advice: Extract<Advice, { readonly _tag: Tag }>) => string)
}

/** Reader of a text, and the words for it. */
export interface Options {
  /**
   * Reader: a `program` and those who use it, who have neither our tools nor our command line (the default of `explain`);
   * a `model` that calls tools (the default of `text`); a `person` at a terminal.
   */
  readonly as?: "program" | "model" | "person"
  /** Names of the tools that the model has; advice that names another one is given as to a program. Default: all. */
  readonly offered?: ReadonlySet<string>
  readonly words?: Words
}

/** Error with advice, or its message and advice alone. */
export type Explained = Pick<Failure, "message" | "hint">

const sentence = (advice: Advice, { as, offered, words = {} }: Options): string => {
  const own: string | ((advice: never) => string) | undefined = words[advice._tag]
  if (own !== undefined) return typeof own === "string" ? own : own(advice as never)
  const { model, person, program = model, tools } = wording(advice)
  if (as === "person") return person ?? (tools === undefined ? model : program)
  return as === "program" || tools?.some((tool) => offered?.has(tool) === false) ? program : model
}

/** Text of a hint, by default for a model that has all tools; empty without a hint. */
export const text = (hint: Hint = "", options: Options = {}): string =>
  [hint].flat().map((part) => typeof part === "string" ? part : sentence(part, options))
    .filter((part) => part !== "").join(" ")

/** A message and the advice that follows it, as sentences. @internal */
export const followed = (message: string, advice: string): string =>
  `${message}${/[.!?…]$/.test(message) ? "" : "."} ${advice}`.trim()

/**
 * Message of an error with its next step, for logs and for those who use a program. It names neither tools nor options
 * of the command line, unless `as` asks for them; `words` has words of your own for what you can offer.
 *
 * **Example** (Printing an error at a terminal)
 *
 * ```ts
 * import { Hints, N8nClient } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 *
 * const words: Hints.Words = {
 *   ListWorkflows: "Our page 'Workflows' has all ids.",
 *   CheckConnection: ({ problem }) => `Look at the address in our settings (${problem}).`
 * }
 *
 * export const name = (id: string) =>
 *   N8nClient.N8nClient.use((n8n) => n8n.getWorkflow(id)).pipe(
 *     Effect.map((workflow) => workflow.name),
 *     Effect.catch((error) => Effect.succeed(Hints.explain(error, { words })))
 *   )
 *
 * export const test = name("gone").pipe(Effect.provide(FakeN8n.layer({ workflows: [], executions: [] })))
 * ```
 */
export const explain = ({ hint, message }: Explained, options: Options = {}): string =>
  followed(message, text(hint, { as: "program", ...options }))

const toolName = /\b[a-z]+(?:_[a-z]+)+\b/g

/** Note of an answer without the sentences that name tools that are not offered. */
const within = (text: string, offered: ReadonlySet<string>): string =>
  text.split(/(?<=[.!?]) (?=\S)/)
    .filter((sentence) => (sentence.replace(/'[^']*'/g, "").match(toolName) ?? []).every((name) => offered.has(name)))
    .join(" ")

/** Removes sentences of `hint`, and `_guidance`, that name tools that are not offered. */
const advising = (data: unknown, offered: ReadonlySet<string>): unknown => {
  const { _guidance, hint, ...rest } = obj(data) ?? {}
  if (_guidance === undefined && typeof hint !== "string") return data
  const text = typeof hint === "string" ? within(hint, offered) : ""
  const isOffered = within(String(obj(_guidance)?.["example"]), offered) !== ""
  return { ...rest, ...(text === "" ? {} : { hint: text }), ...(isOffered ? { _guidance } : {}) }
}

/** Data without `_guidance`, the next step for a model. */
export const withoutGuidance = <A>(data: A): A =>
  obj(data)?.["_guidance"] === undefined ? data : without(obj(data) ?? {}, (_, key) => key === "_guidance") as A

/** Data of an answer, whose advice and truncation marks then name only tools that are offered. */
export const naming = (data: unknown, offered: ReadonlySet<string>): unknown => {
  const isOffered = (mark: unknown) => within(str(obj(mark)?.["next"]) ?? "", offered) !== ""
  const bare = (mark: unknown) => isOffered(mark) ? mark : without(obj(mark) ?? {}, (_, key) => key === "next")
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    const marked = obj(value)
    if (marked === undefined) return value
    return marked &&
      mapValues(
        marked,
        (each, key) => key === "_truncated" ? Array.isArray(each) ? each.map(bare) : bare(each) : visit(each)
      )
  }
  return advising(visit(data), offered)
}

/** Arguments of a suggested call; `undefined` ones are omitted. */
export type Values = { readonly [name: string]: string | number | boolean | ReadonlyArray<string> | undefined }

const listed = (args: Values): string =>
  Object.entries(args).flatMap(([name, value]) => value === undefined ? [] : `${name}: ${literal(value)}`).join(", ")

/** Text of a call to a tool. @internal */
export const call = (tool: string, args: Values): string => `${tool}(${listed(args)})`

/** Text of a call that repeats one with other arguments. @internal */
export const again = (tool: string, args: object, changed: Values): string => {
  const all = Object.entries(args).filter(([, value]) => value !== undefined && value !== false)
  const isShort = all.every(([, value]) => typeof value !== "object" || Array.isArray(value))
  return isShort ? call(tool, { ...Object.fromEntries(all), ...changed }) : `the same call with ${listed(changed)}`
}

/** Text of a call to get_execution_by_node; `more` has further arguments. @internal */
export const executionByNode = (id: string, nodeName: string, more: Values = {}): string =>
  call("get_execution_by_node", { id, nodeName, ...more })

/** Next step after the summary of an execution: a message and an example call. @internal */
export const guidance = (
  step:
    | { readonly _tag: "Node"; readonly nodeName: string; readonly called?: string | undefined }
    | {
      readonly _tag: "FindItem"
      readonly nodeName: string
      readonly inputCount: number
      readonly where: string | undefined
    }
    | { readonly _tag: "ManyItems"; readonly nodeName: string; readonly from: string | undefined }
    | { readonly _tag: "Workflow"; readonly reason: "NoData" | "NoNodeRan" }
    | { readonly _tag: "SameAgain" },
  execution: { readonly id: string; readonly workflowId: string }
): { readonly message: string; readonly example: string } => {
  switch (step._tag) {
    case "Node":
      if (step.called !== undefined) {
        return { message: "A sub-workflow failed: its run shows why.", example: `get_execution(id: '${step.called}')` }
      }
      return {
        message: "get_execution_by_node shows a node's data.",
        example: executionByNode(execution.id, step.nodeName)
      }
    case "FindItem":
      return {
        message: `n8n does not say which of the ${step.inputCount} input items failed: ${
          step.where === undefined
            ? "use where with a condition from the error"
            : "suspects are those that fit the error"
        }.`,
        example: executionByNode(execution.id, step.nodeName, { where: step.where })
      }
    case "ManyItems":
      return step.from === undefined
        ? {
          message: "search_execution finds items by text or where.",
          example: call("search_execution", { id: execution.id, nodes: [step.nodeName], limit: 3 })
        }
        : {
          message: "compare_items shows what changed between two nodes; search_execution finds items.",
          example: call("compare_items", { id: execution.id, from: step.from, to: step.nodeName })
        }
    case "Workflow":
      return {
        message: step.reason === "NoData"
          ? "n8n has no data for this execution, because of the workflow's settings, pruning, or a cancellation before the first node. The workflow shows what it would have done."
          : "No node ran: the error is the only information about this run. Look at the workflow.",
        example: `get_workflow(id: '${execution.workflowId}', raw: true)`
      }
    case "SameAgain":
      return {
        message: "The execution has not ended, and n8n has no data of it yet: wait for its end.",
        example: `get_execution(id: '${execution.id}', wait: 30)`
      }
  }
}
