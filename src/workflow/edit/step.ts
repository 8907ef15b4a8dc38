/** Shared parts of all edits: finding nodes and refusing operations. */
import * as Result from "effect/Result"
import type { Hint } from "../../base/Advice.ts"
import { arr, num, type Obj, obj, str, without } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Turn from "../../base/Turn.ts"
import * as ParameterRules from "../../catalogue/parameters/ParameterRules.ts"
import { nameOf, nodes } from "../../n8n/model/Workflow.ts"
import * as Checked from "../check/CheckedWorkflow.ts"
import * as RepairedParameters from "../repair/RepairedParameters.ts"
import type { Left } from "../upgrade/Upgrade.ts"
import type { Of, Operation } from "./operation.ts"

export interface Lookups extends Checked.Lookups {
  readonly newId: () => string
  readonly newest: (type: string) => number | undefined
  /** Workflows that an extraction may call; absent where it may not create one. */
  readonly callee?: (id: string) => Obj | undefined
}

/** New workflow that others call; `id` is replaced in the caller by the id that n8n assigns. */
export interface Created {
  readonly id: string
  readonly workflow: Obj
}

export interface Added {
  readonly id: string
  readonly name: string
}

/** Connections of a node whose type was replaced, in words. */
export interface Report {
  readonly nodeId: string
  readonly maintainedConnections: ReadonlyArray<string>
  readonly removedConnections: ReadonlyArray<string>
}

export interface Step {
  readonly workflow: Obj
  readonly changes: ReadonlyArray<string>
  /** Whether `changes` are those of settings, of which n8n stores some in its own way. */
  readonly isOfSettings?: true
  readonly added?: string
  /** Name of the removed node; its line is the last of `changes`. */
  readonly removed?: string
  readonly created?: Created
  readonly left?: ReadonlyArray<Left>
  readonly report?: Report
}

export interface Refusal {
  readonly field: string
  readonly message: string
  readonly hint: Hint
}

export type Attempt<A> = Result.Result<A, Refusal>

export type Edit<Op extends Operation["op"]> = (workflow: Obj, operation: Of<Op>, lookups: Lookups) => Attempt<Step>

/** An edit that pauses between nodes. */
export type LongEdit<Op extends Operation["op"]> = (
  workflow: Obj,
  operation: Of<Op>,
  lookups: Lookups
) => Turn.Steps<Attempt<Step>>

export const refuse = (field: string, message: string, hint: Hint) => Result.fail<Refusal>({ field, message, hint })

export interface NodeEntry {
  readonly index: number
  readonly node: Obj
  readonly name: string
}

export const names = (workflow: Obj): ReadonlyArray<string> => nodes(workflow).flatMap((node) => nameOf(node) || [])

export const peek = (workflow: Obj, word: string): NodeEntry | undefined => {
  const all = nodes(workflow)
  const by = (key: string) => word === "" ? -1 : all.findIndex((node) => node[key] === word)
  const byName = by("name")
  const index = byName >= 0 ? byName : by("id")
  const node = all[index]
  return node === undefined ? undefined : { index, node, name: nameOf(node) }
}

export const locate = (workflow: Obj, word: string, field: string, { suggest }: Lookups): Attempt<NodeEntry> => {
  const entry = peek(workflow, word)
  return entry === undefined
    ? refuse(field, `There is no node '${word.slice(0, 100)}'.`, suggest(word.slice(0, 100), names(workflow)))
    : Result.succeed(entry)
}

export const read = ({ node }: Pick<NodeEntry, "node">, lookups: Lookups): Checked.Node | undefined =>
  Checked.readNode(node, lookups)

export const withNode = (workflow: Obj, index: number, node: Obj): Obj => ({
  ...workflow,
  nodes: arr(workflow["nodes"]).with(index, node)
})

/** Whether an earlier node has the same name: connections and expressions refer to that one. */
export const isNamesake = (workflow: Obj, { index, name }: NodeEntry): boolean =>
  nodes(workflow).findIndex((node) => node["name"] === name) !== index

/** Words in connections that refer to the node: its name, and its id (which n8n ignores). */
export const wordsFor = (workflow: Obj, entry: NodeEntry): ReadonlySet<string> => {
  const id = str(entry.node["id"])
  return new Set([
    ...(entry.name === "" || isNamesake(workflow, entry) ? [] : [entry.name]),
    ...(id !== undefined && peek(workflow, id)?.index === entry.index ? [id] : [])
  ])
}

export const omit = (value: Obj, key: string): Obj => without(value, (_, each) => each === key)

export const brief = (value: unknown, most = 60): string => {
  if (value === undefined) return "none"
  const text = JSON.stringify(value)
  return text.length > most ? `${text.slice(0, most)}…` : text
}

export const typed = (type: string, version: unknown): string =>
  num(version) === undefined ? type : `${type} ${num(version)}`

type For = RepairedParameters.For

/** Applies a merge patch (RFC 7396): objects are merged, null removes, any other value replaces. */
export const merge = (value: unknown, patch: unknown): unknown => {
  const changes = obj(patch)
  if (changes === undefined) return patch
  const result = new Map(Object.entries(obj(value) ?? {}))
  for (const [key, change] of Object.entries(changes)) {
    if (change === null) result.delete(key)
    else result.set(key, merge(result.get(key), change))
  }
  return Object.fromEntries(result)
}

/** Parameters repaired below the names, and lines that say so. */
export const repaired = (
  node: For,
  names: ReadonlyArray<string>,
  name: string,
  lookups: Lookups
): { readonly parameters: Obj; readonly lines: ReadonlyArray<string> } => {
  const { parameters, reshaped } = RepairedParameters.repaired(node, (each) => names.includes(each), lookups)
  return { parameters, lines: reshaped.map((path) => `repaired the shape of ${path} of '${name}'`) }
}

/** Refuses parameters at these paths on which the catalogue has a remark. */
export const refuseRemarked = (
  { description, parameters, typeVersion }: For,
  paths: ReadonlyArray<string>,
  { suggest }: Lookups,
  messageOf = ({ message }: { readonly path: string; readonly message: string }) => message
): Attempt<void> => {
  const remark = description === undefined || paths.length === 0
    ? undefined
    : ParameterRules.remarks(description, { typeVersion, parameters }, suggest).find(({ path }) => paths.includes(path))
  return remark === undefined
    ? Result.void
    : refuse(JsonPath.join("parameters", remark.path), messageOf(remark), remark.fix ?? { _tag: "ShowParameters" })
}

export const refuseUnknown = (node: For, keys: ReadonlyArray<string>, lookups: Lookups): Attempt<void> => {
  const { description, typeVersion } = node
  const unknown = keys.filter((key) => description?.properties.every(({ name }) => name !== key))
    .map((key) => JsonPath.member("", key))
  return refuseRemarked(
    node,
    unknown,
    lookups,
    ({ path }) => `${description?.displayName} ${typeVersion} has no parameter '${path.slice(0, 100)}'.`
  )
}
