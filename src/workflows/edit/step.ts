/** What all edits share: finding nodes, and refusing what cannot be done. */
import * as Result from "effect/Result"
import type { Hint } from "../../base/Advice.ts"
import { arr, num, type Obj, str, without } from "../../base/Json.ts"
import { nameOf, nodes } from "../../n8n/model/Workflow.ts"
import * as Checked from "../check/CheckedWorkflow.ts"

/** What edits look up. */
export interface Lookups extends Checked.Lookups {
  readonly newId: () => string
  /** The version of the type that a new node gets. */
  readonly newest: (type: string) => number | undefined
}

/** A node that an edit made. */
export interface Added {
  readonly id: string
  readonly name: string
}

/** What an edit made of the workflow. */
export interface Step {
  readonly workflow: Obj
  /** Readable lines. */
  readonly changes: ReadonlyArray<string>
  /** The id of the node that it made. */
  readonly added?: string
  /** The name of the node that it removed; its line is the last of `changes`. */
  readonly removed?: string
}

/** Why it cannot be; `field` is that of the operation. */
export interface Refusal {
  readonly field: string
  readonly message: string
  readonly hint: Hint
}

/** A value, or why there is none. */
export type Attempt<A> = Result.Result<A, Refusal>

/** What cannot be, and what could. */
export const refuse = (field: string, message: string, hint: Hint) => Result.fail<Refusal>({ field, message, hint })

/** A node and its position in `nodes`. */
export interface NodeEntry {
  readonly index: number
  readonly node: Obj
  /** Empty where there is none. */
  readonly name: string
}

/** The node added under that id, if it still exists. */
export const addedOf = (workflow: Obj, id: string): ReadonlyArray<Added> => {
  const node = nodes(workflow).find((node) => node["id"] === id)
  return node === undefined ? [] : [{ id, name: nameOf(node) }]
}

/** Every name of a node. */
export const names = (workflow: Obj): ReadonlyArray<string> => nodes(workflow).flatMap((node) => nameOf(node) || [])

/** The node of that name, else of that id. */
export const peek = (workflow: Obj, wanted: string): NodeEntry | undefined => {
  const all = nodes(workflow)
  const by = (key: string) => wanted === "" ? -1 : all.findIndex((node) => node[key] === wanted)
  const byName = by("name")
  const index = byName >= 0 ? byName : by("id")
  const node = all[index]
  return node === undefined ? undefined : { index, node, name: nameOf(node) }
}

/** The node of that name or id; refuses where there is none. */
export const locate = (workflow: Obj, wanted: string, field: string, { suggest }: Lookups): Attempt<NodeEntry> => {
  const entry = peek(workflow, wanted)
  return entry === undefined
    ? refuse(field, `There is no node '${wanted.slice(0, 100)}'.`, suggest(wanted.slice(0, 100), names(workflow)))
    : Result.succeed(entry)
}

/** The node with its type and ports; `undefined` where it has no name. */
export const read = ({ node }: Pick<NodeEntry, "node">, lookups: Lookups): Checked.Node | undefined =>
  Checked.make({ nodes: [node] }, lookups).nodes[0]

/** The workflow with another node in that place. */
export const withNode = (workflow: Obj, index: number, node: Obj): Obj => ({
  ...workflow,
  nodes: arr(workflow["nodes"]).with(index, node)
})

/** Whether another node of the same name stands before it: connections and expressions mean that one. */
export const isNamesake = (workflow: Obj, { index, name }: NodeEntry): boolean =>
  nodes(workflow).findIndex((node) => node["name"] === name) !== index

/** Whether connections that go by this word mean the node: by its name or, though they must not, by its id. */
export const meaning = (workflow: Obj, entry: NodeEntry): (word: string) => boolean => {
  const id = str(entry.node["id"])
  const byId = id !== undefined && id !== "" && peek(workflow, id)?.index === entry.index ? id : undefined
  const byName = entry.name === "" || isNamesake(workflow, entry) ? undefined : entry.name
  return (word) => word === byName || word === byId
}

/** The object without that key. */
export const omit = (value: Obj, key: string): Obj => without(value, (_, each) => each === key)

/** The value in a few characters. */
export const brief = (value: unknown, most = 60): string => {
  if (value === undefined) return "none"
  const text = JSON.stringify(value)
  return text.length > most ? `${text.slice(0, most)}…` : text
}

/** `n8n-nodes-base.set 3.4` */
export const typed = (type: string, version: unknown): string =>
  num(version) === undefined ? type : `${type} ${num(version)}`
