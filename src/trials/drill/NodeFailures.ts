/**
 * Failures of nodes as recorded on real n8ns, and nodes that repeat them on a copy, where nothing is sent.
 *
 * Types that were not recorded fail like their family in `failures.json`. Pure.
 */
import { type Obj, obj, str } from "../../base/Json.ts"
import type { Node } from "../../n8n/model/Workflow.ts"
import * as pins from "../pins.ts"
import failures from "./failures.json" with { type: "json" }

/** Failure of the service that a node calls. */
export type Kind = "401" | "429" | "500" | "timeout" | "empty"

/** Name in answers: most nodes make one item of an empty body, a 204 or {}, and no item only of an empty list. */
export const labelOf = (kind: Kind): string => kind === "empty" ? "empty list" : kind

export const kinds: ReadonlyArray<Kind> = ["401", "429", "500", "timeout", "empty"]

/** Whether a failure of this kind can pass before the next try. */
export const isTransient = (kind: Kind): boolean => kind === "429" || kind === "500" || kind === "timeout"

/** Form of the items of a failed node that continues; `$says` stands for the error. */
interface Form {
  readonly json?: unknown
  readonly error?: string
  /** Whether n8n adds the input item's fields at the error output. */
  readonly isMerged?: boolean
  /** Whether all input items result in one. */
  readonly isOnce?: boolean
  /** Whether the items leave by the regular output in spite of an error output. */
  readonly isRegular?: boolean
  /** Whether the node's input leaves instead. */
  readonly isInput?: boolean
  readonly isUnnoticed?: boolean
  /** Whether n8n does not try again, because the items have no `json.error`. */
  readonly isUnseenByRetry?: boolean
}

type Texts = { readonly [kind: string]: unknown }

/** Effect of an empty answer: nothing leaves, the same item for each input item, or an error. */
type Empty = string | { readonly json?: unknown; readonly throws?: string; readonly isInput?: boolean }

interface Shape {
  readonly form?: string
  readonly forms?: Texts
  /** Messages of the errors that stop a run, or the family that they are taken from. */
  readonly throws?: Texts | string
  /** Errors in items, where they differ from those that stop a run. */
  readonly says?: Texts
  /** Absent where no answer can be empty. */
  readonly empty?: Empty
}

interface Type extends Shape {
  readonly type: string
  readonly family: string
  readonly from?: number
  readonly to?: number
  readonly n8n?: number
  readonly operation?: string
}

const forms: { readonly [name: string]: Form } = failures.forms
const families: { readonly [name: string]: Shape & { readonly why: string } } = failures.families
const types: ReadonlyArray<Type> = failures.types
const unrecorded = Object.entries(failures.unrecorded).map(([family, names]) => [family, names.split(" ")] as const)

const base = "n8n-nodes-base."
const langchain = "@n8n/n8n-nodes-langchain."

const parametersOf = ({ parameters }: Node): Obj => obj(parameters) ?? {}

const typeOf = (node: Node, isV1: boolean): Type => {
  const name = node.type.startsWith(base) ? node.type.slice(base.length) : node.type
  const version = node.typeVersion ?? 1
  const type = types.find((each) =>
    each.type === name && version >= (each.from ?? 0) && version < (each.to ?? Infinity) + 1 &&
    (each.n8n === undefined || each.n8n === (isV1 ? 1 : 2)) &&
    (each.operation === undefined || each.operation === parametersOf(node)["operation"])
  )
  if (type !== undefined) return type
  const [family] = unrecorded.find(([, names]) => names.includes(name)) ?? []
  return {
    type: name,
    family: family ?? (name.startsWith(langchain) ? "ai" : /(email|smtp)send/i.test(name) ? "mail" : "api")
  }
}

/** Item that HTTP Request makes of `[]` where its options say that the whole answer is one; otherwise it makes none. */
const emptyHttp = (response: Obj | undefined): Empty | undefined =>
  response?.["fullResponse"] === true
    ? { json: { body: [], headers: {}, statusCode: 200, statusMessage: "OK" } }
    : response?.["responseFormat"] === "text"
    ? { json: { [str(response["outputPropertyName"]) || "data"]: "[]" } }
    : response?.["responseFormat"] === "file"
    ? { isInput: true }
    : undefined

const shapeOf = (node: Node, isV1: boolean) => {
  const type = typeOf(node, isV1)
  const family = families[type.family]
  const options = obj(parametersOf(node)["options"])
  const response = obj(obj(options?.["response"])?.["response"])
  const isHttp = type.family === "http"
  const answers = isHttp && response?.["neverError"] === true
  const throwsOf = (shape: Shape | undefined) =>
    typeof shape?.throws === "string" ? families[shape.throws]?.throws : shape?.throws
  const texts = { ...obj(throwsOf(family)), ...obj(throwsOf(type)) }
  return {
    formOf: (kind: Kind): Form =>
      forms[answers && kind !== "timeout" ? "answer" : str(type.forms?.[kind]) ?? type.form ?? family?.form ?? ""] ??
        {},
    texts,
    says: {
      ...texts,
      ...family?.says,
      ...type.says,
      ...(answers ? { 401: "Bad credentials", 429: "Too many requests", 500: "Internal error" } : {})
    } as Texts,
    empty: (isHttp ? emptyHttp(response) : undefined) ?? type.empty ?? family?.empty
  }
}

/** Kinds of failures that a node can meet: a mail has no empty answer, a sub-workflow no status. */
export const kindsOf = (node: Node, isV1: boolean): ReadonlyArray<Kind> => {
  const { empty, texts } = shapeOf(node, isV1)
  return kinds.filter((kind) => kind === "empty" ? empty !== undefined : texts[kind] !== undefined)
}

/** Behaviour of a failed node. */
export type Failure =
  | { readonly does: "stops"; readonly message: string; readonly isSeenByRetry: boolean }
  | {
    readonly does: "continues"
    readonly output: number
    readonly jsCode: string
    readonly isUnnoticed: boolean
    readonly isSeenByRetry: boolean
  }
  | { readonly does: "nothing"; readonly isSeenByRetry: false }

const inputs = "$input.all()"

/** JavaScript that returns an item with this JSON for each input item; `$says` and `$item` are replaced. */
const returning = (form: Form, says: unknown, isMerged: boolean) => {
  if (form.isInput === true) return `return ${inputs}.map((input, item) => ({ ...input, pairedItem: { item } }))`
  // The position of the item is part of some messages.
  const fill = (value: unknown): string =>
    JSON.stringify(value).replaceAll("\"$says\"", () => JSON.stringify(says)).replaceAll(
      /"([^"]*)\$item([^"]*)"/g,
      (_, before: string, after: string) => `"${before}" + item + "${after}"`
    )
  const json = isMerged ? `{ ...input.json, ...${fill(form.json ?? {})} }` : fill(form.json ?? {})
  const error = form.error === undefined ? "" : `, error: ${fill(form.error)}`
  const all = form.isOnce === true ? `${inputs}.slice(0, 1)` : inputs
  return `return ${all}.map((input, item) => ({ json: ${json}${error}, pairedItem: { item } }))`
}

const hasErrorOutput = ({ onError }: Node) => onError === "continueErrorOutput"

const continues = (node: Node) =>
  hasErrorOutput(node) || node.onError === "continueRegularOutput" ||
  node["continueOnFail"] === true && (node.onError ?? undefined) === undefined

/** Behaviour of a node when its service fails; `undefined` if the node cannot meet a failure of this kind. */
export const of = (
  node: Node,
  kind: Kind,
  { isV1, outputs }: { readonly isV1: boolean; readonly outputs: number }
): Failure | undefined => {
  const shape = shapeOf(node, isV1)
  const form = shape.formOf(kind === "empty" ? "500" : kind)
  const failing = (says: unknown, message: string): Failure => {
    const isSeenByRetry = form.isUnseenByRetry !== true
    const isUnnoticed = form.isUnnoticed === true
    if (!isUnnoticed && !continues(node)) return { does: "stops", message, isSeenByRetry: true }
    const output = hasErrorOutput(node) && form.isRegular !== true ? outputs : 0
    const jsCode = returning(form, says, output > 0 && form.isMerged === true)
    return { does: "continues", output, jsCode, isUnnoticed, isSeenByRetry: isSeenByRetry && !isUnnoticed }
  }
  if (kind !== "empty") {
    const message = str(shape.texts[kind])
    return message === undefined ? undefined : failing(shape.says[kind], message)
  }
  const { empty } = shape
  if (empty === undefined) return undefined
  if (typeof empty === "string") return { does: "nothing", isSeenByRetry: false }
  if (empty.throws !== undefined) return failing(empty.throws, empty.throws)
  // Old nodes return items whose JSON is a list, which a Code node cannot; expressions find no fields in either.
  // An item without JSON breaks n8n's search for errors, so that the input leaves instead.
  const isInput = empty.isInput === true || empty.json === null && hasErrorOutput(node)
  return {
    does: "continues",
    output: 0,
    jsCode: returning(isInput ? { isInput: true } : { json: obj(empty.json) ?? {} }, undefined, false),
    isUnnoticed: true,
    isSeenByRetry: false
  }
}

/** Naming of added nodes, and whether a Set node must copy the items of Code nodes. */
export type Naming = pins.Naming & Pick<pins.Added, "isCopied">

/** Row of nodes that repeats a failure; the last has the node's name. */
export const nodes = (node: Node, failure: Failure, added: Naming): ReadonlyArray<Node> => {
  const { alwaysOutputData, executeOnce, id, name, position } = node
  const place = { ...(id === undefined ? {} : { id }), name, position: position ?? [0, 0] }
  if (failure.does === "stops") {
    const parameters = { errorType: "errorMessage", errorMessage: failure.message }
    return [{ ...place, type: `${base}stopAndError`, typeVersion: 1, parameters }]
  }
  const code = {
    type: `${base}code`,
    typeVersion: 2,
    parameters: { jsCode: failure.does === "nothing" ? "return []" : failure.jsCode },
    ...(executeOnce === true ? { executeOnce } : {}),
    ...(alwaysOutputData === true ? { alwaysOutputData } : {})
  }
  const output = failure.does === "nothing" ? 0 : failure.output
  const copies = added.isCopied && failure.does !== "nothing" ? [pins.copying] : []
  const parameters = { mode: "expression", numberOutputs: output + 1, output: `={{ ${output} }}` }
  const switches = output === 0 ? [] : [{ type: `${base}switch`, typeVersion: 3, parameters }]
  const row = [code, ...copies, ...switches]
  return row.map((each, index) => ({
    ...(index === row.length - 1 ? place : { ...added(`failure of ${name}`), position: place.position }),
    ...each
  }))
}
