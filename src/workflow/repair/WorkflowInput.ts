/** Turns input into a workflow that n8n accepts, the only place that repairs; `Refusal` finds refused keys. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { type Obj, obj, without } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"
import type { Connections } from "../../n8n/model/Connections.ts"
import { nameFault, sizeFault } from "../../n8n/model/Limits.ts"
import { nodes } from "../../n8n/model/Workflow.ts"
import { readNode } from "../check/CheckedWorkflow.ts"
import * as Contents from "../Contents.ts"
import { connectionsOf, type Scope } from "./connectionsInput.ts"
import keys from "./keys.json" with { type: "json" }
import { nodesOf, type Supply } from "./nodesInput.ts"
import { type Checked, isNull, note, objectOf, refuse, type Repairs, sentences, type Source } from "./Repairs.ts"

export type { Problem, Source } from "./Repairs.ts"

export type Prepared = {
  readonly workflow: Obj & {
    readonly name: string
    readonly nodes: ReadonlyArray<Obj>
    readonly connections: Connections
    readonly settings: Obj
  }
  /** Repairs and removed parts: one sentence for each kind, naming nodes or paths. */
  readonly warnings: ReadonlyArray<string>
}

/** Options of a repair. */
export interface Options extends Supply {
  /** Source of all parts, or of each. */
  readonly source: Source | { readonly nodes: Source; readonly connections: Source }
  /** Whether the workflow is new, and gets what n8n's editor gives new ones. */
  readonly isNew?: boolean
}

/** Keys that n8n's editor, API or export writes at the root and that no n8n takes back (`shared` is ignored). */
export const readOnly: ReadonlySet<string> = new Set(keys.readOnly)

/**
 * Turns any value into a workflow that n8n accepts, or reports the problem before anything is written. Everything is
 * preserved except read-only keys at the root, nulls, and empty settings. Repaired, each with a warning: wrappers, ids,
 * positions, duplicate names, unambiguous values of the wrong kind, connections by node id or of the wrong shape, node
 * groups. A connection to a node that does not exist is a problem in a caller's input, and removed from a file's. Valid
 * parts are unchanged. A missing `typeVersion` of a type unknown to `versionOf` is a problem: n8n would store none, and
 * the node would behave as its oldest version.
 */
export const prepare = (input: unknown, options: Options): Checked<Prepared> =>
  Result.gen(function*() {
    const repairs: Repairs = new Map()
    const { at, workflow: json } = yield* Result.mapError(
      Contents.one(Contents.of(input)),
      (why) => ({ path: "", message: `This is not an n8n workflow: ${why}.` })
    )
    const fault = sizeFault(json)
    if (fault !== undefined) return yield* refuse("nodes", fault)
    if (at.flat().length > 0) note(repairs, "Unwrapped the workflow")
    const name = yield* checkName(json["name"])
    const settings = objectOf(json["settings"] ?? {})
    if (settings === undefined) return yield* refuse("settings", "'settings' must be an object.")
    const source = Predicate.isString(options.source)
      ? { nodes: options.source, connections: options.source }
      : options.source
    const { byId, names, nodes } = yield* nodesOf(json["nodes"], source.nodes, options, repairs)
    if (source.connections === "file" && isNull(json["connections"])) note(repairs, "The file has no connections")
    const outputs = (name: string) => {
      const node = options.lookups && nodes.find((node) => node.name === name)
      return node && options.lookups && readNode(node, options.lookups)?.outputs
    }
    const scope: Scope = { byId, names, outputs, repairs, source: source.connections }
    const connections = yield* connectionsOf(json["connections"] ?? {}, scope)
    const workflow = {
      ...without(json, (value, key) => isNull(value) || readOnly.has(key)),
      name,
      nodes,
      connections,
      settings: settingsOf(settings, options.isNew === true ? source.nodes : "stored", repairs)
    }
    return { workflow: groupsPruned(workflow, repairs), warnings: sentences(repairs) }
  })

/** Settings of a new workflow, with the order of execution that n8n's editor sets and its API does not. */
export const newSettings = (settings: Obj): Obj => ({ executionOrder: "v1", ...settings })

const settingsOf = (input: Obj, source: Source, repairs: Repairs): Obj => {
  const settings = without(input, (value, key) => isNull(value) || value === "" && key !== "errorWorkflow")
  if (source === "stored" || "executionOrder" in settings) return settings
  if (source === "file") note(repairs, "Set executionOrder to 'v1', as n8n's editor does for new workflows")
  return newSettings(settings)
}

export const typesToLookUp = (input: unknown) =>
  nodes(Result.getOrUndefined(Contents.one(Contents.of(input)))?.workflow ?? {}).flatMap(({ type, typeVersion }) =>
    Predicate.isString(type) ? [{ type, needsVersion: isNull(typeVersion) }] : []
  )

const checkName = (name: unknown): Checked<string> => {
  if (isNull(name) || name === "") {
    return refuse("name", "The workflow has no name: add a 'name' (what is copied from n8n's editor has none).")
  }
  if (!Predicate.isString(name)) return refuse("name", "The workflow's name must be a string.")
  const fault = nameFault(name)
  return fault === undefined ? Result.succeed(name) : refuse("name", fault)
}

/** Removes missing nodes from groups, and groups that become empty: n8n refuses both. */
const groupsPruned = <W extends Obj & { readonly nodes: ReadonlyArray<Obj> }>(workflow: W, repairs: Repairs): W => {
  const groups = workflow["nodeGroups"]
  if (!Array.isArray(groups)) return workflow
  const ids = new Set(workflow.nodes.map((node) => node["id"]))
  const nodeGroups = groups.flatMap((group, index) => {
    const members = obj(group)?.["nodeIds"]
    if (!Array.isArray(members) || members.length === 0) return [group]
    const nodeIds = members.filter((id) => ids.has(id))
    if (nodeIds.length === members.length) return [group]
    note(repairs, "Removed nodes that do not exist from node groups", member("nodeGroups", index))
    return nodeIds.length === 0 ? [] : [{ ...group, nodeIds }]
  })
  return { ...workflow, nodeGroups }
}

/**
 * Completes rewritten nodes with values that a caller cannot know, from the current nodes. A node inherits from the
 * current node with its id, else from the one with its name unless another node has that one's id; each current node is
 * used once. `id` and `position` are inherited and, if the type is the same, `credentials`, `webhookId` and
 * `typeVersion`. Everything else that is absent is removed, including `parameters`. `credentials: {}` removes the
 * credentials; `credentials: null` counts as absent.
 */
export const inherit = (nodes: ReadonlyArray<unknown>, current: ReadonlyArray<Obj>): ReadonlyArray<unknown> => {
  const by = (key: string) => new Map(current.flatMap((node) => isMissing(node[key]) ? [] : [[node[key], node]]))
  const [byId, byName] = [by("id"), by("name")]
  const claimed = new Set(nodes.map((node) => byId.get(obj(node)?.["id"])))
  const used = new Set<Obj>()
  return nodes.map((value) => {
    const node = obj(value)
    const namesake = byName.get(node?.["name"])
    const from = byId.get(node?.["id"]) ?? (claimed.has(namesake) ? undefined : namesake)
    if (node === undefined || from === undefined || used.has(from)) return value
    used.add(from)
    const isSameType = isNull(node["type"]) || node["type"] === from["type"]
    const keys = isSameType ? ["id", "position", "credentials", "webhookId", "typeVersion"] : ["id", "position"]
    const left = keys.filter((key) => isMissing(node[key]) && !isMissing(from[key]))
    return left.length === 0 ? value : { ...node, ...Object.fromEntries(left.map((key) => [key, from[key]])) }
  })
}

const isMissing = (value: unknown) => isNull(value) || value === ""
