/** Contents of a file, a text or a value: workflows, a broken one, or something else; and the ids in it. Pure. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Hint } from "../base/Advice.ts"
import { arr, type Obj, obj, str, without } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as JsonText from "../base/JsonText.ts"
import { counted } from "../base/Plural.ts"
import * as Rows from "../base/Rows.ts"
import { workflowKeys } from "../n8n/model/Workflow.ts"
import { isNull, objectOf } from "./repair/Repairs.ts"

/** A workflow in a value. */
export interface Inside {
  /** As it is there; without a name it has that of its wrapper or file, and an empty list of connections is an object. */
  readonly workflow: Obj
  /** Steps to it; each further list begins in the JSON that is the text at the end of the list before. */
  readonly at: ReadonlyArray<ReadonlyArray<JsonPath.Step>>
}

/** Contents of a text or a value. */
export type Contents =
  | {
    readonly _tag: "Workflows"
    readonly value: unknown
    readonly all: Arr.NonEmptyReadonlyArray<Inside>
    /** Repairs of the text and of the form. */
    readonly repairs: ReadonlyArray<string>
  }
  /** Text that cannot be read; `isLikely` if it looks like a workflow. */
  | { readonly _tag: "Broken"; readonly why: string; readonly hint?: Hint; readonly isLikely: boolean }
  | { readonly _tag: "Other"; readonly value: unknown; readonly what: string; readonly repairs: ReadonlyArray<string> }

const hasKey = (value: unknown, ...keys: ReadonlyArray<string>) => keys.some((key) => key in (obj(value) ?? {}))

const isNode = (value: unknown) =>
  str(obj(value)?.["type"])?.includes(".") === true && hasKey(value, "typeVersion", "parameters", "position")

const wrappers: ReadonlySet<JsonPath.Step> = new Set(["data", "workflow", "workflows", "workflowData"])

/** Whether a value is a workflow, or was to be one, where one is expected; other places need a node that is one. */
const isWorkflow = (value: unknown, at: Inside["at"]): value is Obj => {
  const { connections, nodes } = obj(value) ?? {}
  if (!hasKey(value, "nodes") || Array.isArray(nodes) && nodes.some(isNode)) return Array.isArray(nodes)
  if (!at.flat().every((step) => typeof step === "number" || wrappers.has(step))) return false
  return Array.isArray(nodes)
    ? (nodes.length === 0 ? objectOf : obj)(connections) !== undefined
    : obj(connections) !== undefined || Object.keys(obj(value) ?? {}).every((key) => workflowKeys.has(key))
}

/** Part of a workflow that it lacks, or that has another form; n8n has no such workflow. */
export const faultOf = ({ connections, name, nodes }: Obj): string | undefined =>
  !Array.isArray(nodes)
    ? "its 'nodes' are not a list"
    : isNull(connections)
    ? "it has no 'connections'"
    : obj(connections) === undefined
    ? "its 'connections' are not an object"
    : typeof name === "string"
    ? undefined
    : "its 'name' is not a text"

/** Whether a value is the record of a run, whose workflow is that of the time. */
const isRun = (value: unknown) => hasKey(value, "workflowData") && hasKey(value, "id", "data", "mode", "startedAt")

const withKey = (workflow: Obj, key: string, value: unknown): Obj =>
  isNull(workflow[key]) && !isNull(value)
    ? { [key]: value, ...without(workflow, (_, each) => each === key) }
    : workflow

const linked = (workflow: Obj): Obj =>
  Array.isArray(workflow["connections"]) && workflow["connections"].length === 0
    ? { ...workflow, connections: {} }
    : workflow

/** Id of a workflow that is in an object by its id. */
const idIn = (key: unknown) => typeof key === "string" && /^[a-z0-9]{16}$/i.test(key) ? key : undefined

/** Maximum number of lists, wrappers and texts around a workflow. */
const maxDepth = 4

const find = (value: unknown, at: Inside["at"] = [[]], wrapper?: unknown, depth = 0): ReadonlyArray<Inside> => {
  if (isWorkflow(value, at)) {
    return [{ workflow: withKey(withKey(linked(value), "name", wrapper), "id", idIn(at.at(-1)?.at(-1))), at }]
  }
  if (depth === maxDepth || isRun(value)) return []
  if (typeof value === "string") {
    const json = /^\s*[[{"]/.test(value) ? Result.getOrUndefined(JsonText.strictly(value)) : undefined
    return json === undefined ? [] : find(json, [...at, []], wrapper, depth + 1)
  }
  const stepsTo = (key: string) => [...at.at(-1) ?? [], Array.isArray(value) ? Number(key) : key]
  return Object.entries(obj(value) ?? arr(value)).flatMap(([key, inner]) =>
    find(inner, [...at.slice(0, -1), stepsTo(key)], obj(value)?.["name"], depth + 1)
  )
}

const whatOf = (value: unknown): string => {
  const object = obj(value)
  if (isRun(value)) return "it is the record of a run; store its 'workflowData' in a file of its own"
  if (object !== undefined && Object.keys(object).length === 0) {
    return "it is empty ({}); write {name, nodes, connections}"
  }
  if (object !== undefined) return `it has no 'nodes'; its keys are: ${Object.keys(object).slice(0, 8).join(", ")}`
  if (!Array.isArray(value)) return `it is ${value === null ? "null" : `a ${typeof value}`}, not a JSON object`
  if (value.length === 0) return "it is an empty list; write {name, nodes, connections}"
  return value.every(isNode)
    ? "it is a list of nodes alone; write {name, nodes, connections}"
    : `it is a list of ${counted(value.length, "other thing")}`
}

/** Contents of a value; `name` is for a workflow without one. */
export const of = (value: unknown, name?: string, repairs: ReadonlyArray<string> = []): Contents => {
  const places = find(value)
  if (!Arr.isReadonlyArrayNonEmpty(places)) return { _tag: "Other", value, what: whatOf(value), repairs }
  const [{ at, workflow }, ...more] = places
  const notes = [
    ...(at.flat().length === 0 ? [] : ["Unwrapped the workflow."]),
    ...(name === undefined || !isNull(workflow["name"]) ? [] : ["Named it after its file."])
  ]
  const nameOf = (index: number) => name === undefined || more.length === 0 ? name : `${name} ${index + 1}`
  return {
    _tag: "Workflows",
    value,
    all: Arr.map(places, (each, at) => ({ ...each, workflow: withKey(each.workflow, "name", nameOf(at)) })),
    repairs: [...repairs, ...notes]
  }
}

/** Block of Markdown with the workflow, where no line of JSON begins like a fence; else the whole text. */
const partsOf = (text: string) => {
  const parts = text.split(/(^ {0,3}(?:`{3,}|~{3,}).*$)/m)
  const blocks = [...parts.keys()].filter((at) => {
    const parsed = at % 4 === 2 ? JsonText.parse(parts[at] ?? "") : undefined
    return parsed?._tag === "Success" && find(parsed.success.value).length > 0
  })
  const [at = 0] = blocks
  const isBlock = blocks.length === 1
  return {
    blocks: blocks.length,
    head: isBlock ? parts.slice(0, at).join("") : "",
    json: isBlock ? parts[at] ?? "" : text,
    tail: isBlock ? parts.slice(at + 1).join("") : ""
  }
}

/** JSON of a text, at its place; the Markdown around it is blank. */
export const jsonIn = (text: string): string => {
  const { head, json, tail } = partsOf(text)
  return `${head.replace(/[^\r\n]/g, " ")}${json}${tail.replace(/[^\r\n]/g, " ")}`
}

/** Whether a text that cannot be parsed looks like a workflow. */
export const isLikely = (text: string): boolean => /"(?:nodes|connections)\\?"\s*:/.test(text)

/** Contents of a text; `name` is for a workflow without one. */
export const read = (text: string, name?: string): Contents => {
  const broken = (why: string, hint: string): Contents => ({ _tag: "Broken", why, hint, isLikely: isLikely(text) })
  if (text.replace(/^\uFEFF/, "").trim() === "") return broken("is empty", "Export the workflow from n8n again.")
  const { blocks } = partsOf(text)
  if (blocks > 1) return broken(`has ${blocks} blocks with workflows`, "Store each in a file of its own.")
  return Result.match(JsonText.parse(jsonIn(text)), {
    onFailure: (fault) => broken(`is not JSON: ${fault}`, "Fix the file there, or export the workflow from n8n again."),
    onSuccess: ({ repairs, value }) =>
      of(value, name, blocks === 0 ? repairs : [...repairs, "Took the workflow out of Markdown."])
  })
}

const several = (all: ReadonlyArray<Inside>) => {
  const labels = all.map(({ workflow: { id, name } }) => `'${String(name)}'${str(id) === undefined ? "" : ` (${id})`}`)
  return `it contains ${all.length} workflows: ${Rows.listed(labels, 5)}; ` +
    "choose one by its id or name: FILE.json#ID"
}

/**
 * The workflow of contents that are meant to be one, also if it is far from right; of several that with the id, or else
 * the name, of the selector. Fails with what they are instead.
 */
export const one = (contents: Contents, selector?: string): Result.Result<Inside, string> => {
  if (contents._tag === "Broken") return Result.fail(`it ${contents.why}`)
  if (contents._tag === "Other") {
    const { value, what } = contents
    return hasKey(value, "nodes") ? Result.succeed({ workflow: obj(value) ?? {}, at: [[]] }) : Result.fail(what)
  }
  const { all } = contents
  const byId = all.filter(({ workflow }) => String(workflow["id"]) === selector)
  const byName = all.filter(({ workflow }) => workflow["name"] === selector)
  const [first, ...more] = selector === undefined ? all : byId.length > 0 ? byId : byName
  if (first !== undefined && more.length === 0) return Result.succeed(first)
  return Result.fail(
    `${selector === undefined ? "" : `it has ${first ? "several" : "no"} '${selector}'; `}${several(all)}`
  )
}

const put = (value: unknown, [steps = [], ...inner]: Inside["at"], next: unknown): unknown =>
  JsonPath.modify(
    value,
    steps,
    (at) => inner.length === 0 ? next : JsonText.rewrite(String(at), put(JSON.parse(String(at)), inner, next))
  )

/** The text with another value at a place, and everything else as it is. */
export const rewriting = (text: string, at: Inside["at"], next: unknown): Effect.Effect<string> => {
  const { head, json, tail } = partsOf(text)
  const parsed = JsonText.parse(json)
  return Effect.map(
    JsonText.rewriting(json, Result.isSuccess(parsed) ? put(parsed.success.value, at, next) : next),
    (rewritten) => `${head}${rewritten}${tail}`
  )
}

/** Whether nothing but this workflow is in a text: no prose, no other members of lists and wrappers around it. */
export const isAlone = (text: string, { at }: Inside): boolean =>
  Result.match(JsonText.parse(text), {
    onFailure: () => false,
    onSuccess: ({ value }) => /^(?:[[{]|"\w+":)*null[\]}]*$/.test(JSON.stringify(put(value, at, null)))
  })

// Repetitions have bounds, so that the time grows with the text alone.
/** A value of a key `id`: of JSON, also as a string in JSON, of YAML, of code. */
const values = /(?<![\w$-])id\\{0,9}["'`]?\s{0,99}[:=]\s{0,99}\\{0,9}["'`]?([\w-]{1,64})/g

/** A key whose object has nodes: workflows by their ids. */
const keys = /["']([\w-]{1,64})\\{0,9}["']\s{0,99}:\s{0,99}\{[^{}]{0,999}["']nodes\\{0,9}["']\s{0,99}:/g

/** Ids of workflows in a text of any format, broken or not; ids of other things may be among them. */
export const ids = (text: string): ReadonlySet<string> => {
  const plain = text.replaceAll(/\\u0022|&quot;/g, "\"")
  return new Set([...plain.matchAll(values), ...plain.matchAll(keys)].map(([, id = ""]) => id))
}
