/** Turns input into a workflow that n8n accepts, the only place that repairs; `RefusedKeys` finds refused keys. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { type Obj, obj, str, without } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"
import type { Port as NamedPort } from "../../catalogue/types/Ports.ts"
import { type Connections, isType, type Port } from "../../n8n/model/Connections.ts"
import { nameFault, sizeFault } from "../../n8n/model/Limits.ts"
import { nodes } from "../../n8n/model/Workflow.ts"
import { readNode } from "../check/CheckedWorkflow.ts"
import * as Contents from "../Contents.ts"
import { resolvePort } from "../PortNames.ts"
import keys from "./keys.json" with { type: "json" }
import { type Nodes, nodesOf, type Supply } from "./nodesInput.ts"
import {
  type Checked,
  isNull,
  note,
  numeric,
  objectOf,
  refuse,
  type Repairs,
  sentences,
  type Source
} from "./Repairs.ts"

type Target = { readonly node: string; readonly type: string; readonly index: number }
interface Scope extends Omit<Nodes, "nodes"> {
  readonly source: Source
  readonly repairs: Repairs
  /** Outputs of a node by name; `undefined` if they are not known. */
  readonly outputs: (name: string) => ReadonlyArray<NamedPort> | undefined
}

/** Name of the node that a word refers to; `undefined` if a file names one that does not exist. */
const nodeNamed = (word: string, path: string, scope: Scope): Checked<string | undefined> => {
  const { byId, names, repairs, source } = scope
  const name = names.has(word) ? word : byId.get(word)
  if (name === undefined && source === "caller") {
    return Result.fail({ path, message: `There is no node '${word}'.`, name: word, candidates: [...names] })
  }
  if (name === undefined) note(repairs, "Left out connections of nodes that do not exist", `'${word}'`)
  else if (name !== word) note(repairs, "Connections named nodes by id; now they go by name", `'${name}'`)
  return Result.succeed(name)
}

const reshaped = "Repaired the shape of connections"

const targetOf = (value: unknown, type: string, path: string, scope: Scope): Checked<Target | undefined> =>
  Result.gen(function*() {
    const target = obj(Predicate.isString(value) ? { node: value } : value)
    const node = str(target?.["node"])
    if (node === undefined) return yield* refuse(path, `${path} must be {node, type, index}.`)
    const index = numeric(target?.["index"] ?? 0)
    if (index === undefined || index < 0 || !Number.isInteger(index)) {
      const at = member(path, "index")
      return yield* refuse(at, `${at} must be the number of an input: 0, 1, …`)
    }
    const written = str(target?.["type"]) || type
    const isPort = isType(written) || scope.source === "stored"
    const complete = { ...target, node, type: isPort ? written : type, index }
    if (complete.type !== target?.["type"] || index !== target["index"]) note(scope.repairs, reshaped, path)
    const name = yield* nodeNamed(node, member(path, "node"), scope)
    return name === undefined ? undefined : { ...complete, node: name }
  })

const isTarget = (value: unknown) => Predicate.isString(value) || obj(value) !== undefined

const outputsOf = (value: unknown, path: string, repairs: Repairs): Checked<ReadonlyArray<unknown>> => {
  const list: unknown = isNull(value) ? [] : isTarget(value) ? [value] : value
  if (!Array.isArray(list) || !list.every((each) => isNull(each) || Array.isArray(each) || isTarget(each))) {
    return refuse(path, `${path} must be a list of outputs, each a list of {node, type, index}.`)
  }
  const flat = list.filter(isTarget).length
  if (flat > 1 && flat === list.length) {
    return refuse(path, `${path} is one level too flat: [[a, b]] is two on the first output, [[a], [b]] one on each.`)
  }
  if (flat > 0 || list !== value) note(repairs, reshaped, path)
  return Result.succeed(list.map((each) => isTarget(each) ? [each] : each))
}

/** Links of one output, as a list of them or a list of outputs with one that is used; else the value. */
const linksOf = (value: unknown): unknown => {
  const lists = Array.isArray(value) ? value.filter((each) => Array.isArray(each) && each.length > 0) : []
  return Array.isArray(value) && value.every((each) => isNull(each) || Array.isArray(each))
    ? lists.length > 1 ? value : lists[0] ?? []
    : isTarget(value)
    ? [value]
    : value
}

/** Output that a key beside `main` means, with its links; a key that is an output's number or name carries nothing. */
const portOf = (
  key: string,
  outputs: unknown,
  from: string,
  path: string,
  scope: Scope
): Checked<{ readonly port: Port; readonly outputs: unknown }> => {
  // n8n refuses outputs that are not a list.
  const isWritten = isType(key) || scope.source === "stored" && !key.endsWith("]")
  if (isWritten || /^main$/i.test(key)) {
    if (!isWritten) note(scope.repairs, reshaped, path)
    return Result.succeed({ port: { type: isWritten ? key : "main", index: 0 }, outputs })
  }
  const port = Result.getOrUndefined(resolvePort({ name: from, outputs: scope.outputs(from) }, "output", key, "main"))
  const links = linksOf(outputs)
  const isClear = isNull(links) || Array.isArray(links) && links.every((each) => isNull(each) || isTarget(each))
  if (port === undefined || port.isNewError === true || !isClear) {
    return refuse(path, `${path} is not an output: write main: [[links of output 0], [links of output 1], …].`)
  }
  note(scope.repairs, "Moved connections to the outputs that they name", path)
  return Result.succeed({ port, outputs: [...Array.from({ length: port.index }, () => null), links ?? null] })
}

/** Outputs of a node by key; the numbers of outputs below a type are keys such as `main[1]`. */
const typesOf = (
  value: unknown,
  path: string,
  repairs: Repairs
): Checked<ReadonlyArray<readonly [string, unknown]>> => {
  const types = obj(value)
  if (types !== undefined && !Predicate.isString(types["node"])) {
    return Result.succeed(
      Object.entries(types).flatMap(([type, outputs]) => {
        const byNumber = Object.entries(obj(outputs) ?? {})
        return byNumber.length > 0 && byNumber.every(([key]) => /^\d{1,3}$/.test(key))
          ? byNumber.map(([key, links]) => [`${type}[${key}]`, links] as const)
          : [[type, outputs] as const]
      })
    )
  }
  if (!isNull(value) && !isTarget(value) && !Array.isArray(value)) return refuse(path, `${path} must be {main: [[…]]}.`)
  note(repairs, reshaped, path)
  return Result.succeed(isNull(value) ? [] : [["main", value]])
}

const isEmpty = (value: unknown, depth = 3): boolean =>
  isNull(value) || depth > 0 && Predicate.isObjectOrArray(value) &&
    Object.values(value).every((each) => isEmpty(each, depth - 1))

type Outputs = Array<Map<string, Target> | null>

const connectionsOf = (input: unknown, scope: Scope): Checked<Connections> =>
  Result.gen(function*() {
    const sources = objectOf(input)
    if (sources === undefined) return yield* refuse("connections", "'connections' must be {[node]: {main: [[…]]}}.")
    const connections = new Map<string, Map<string, Outputs>>()
    for (const [key, value] of Object.entries(sources)) {
      if (!scope.names.has(key) && !scope.byId.has(key) && isEmpty(value)) continue
      const at = member("connections", key)
      const from = yield* nodeNamed(key, at, scope)
      if (from === undefined) continue
      // A node can occur twice, by name and by id.
      const types = connections.get(from) ?? new Map<string, Outputs>()
      connections.set(from, types)
      for (const [word, written] of yield* typesOf(value, at, scope.repairs)) {
        const path = member(at, word)
        const { outputs, port: { type } } = yield* portOf(word, written, from, path, scope)
        const all = types.get(type) ?? []
        types.set(type, all)
        for (const [index, targets] of (yield* outputsOf(outputs, path, scope.repairs)).entries()) {
          all[index] ??= Array.isArray(targets) ? new Map() : null
          if (Array.isArray(targets)) yield* linked(targets, all[index] ?? new Map(), type, member(path, index), scope)
        }
      }
    }
    return Object.fromEntries(
      [...connections].map(([from, types]) => [
        from,
        Object.fromEntries([...types].map(([type, all]) => [type, all.map((links) => links && [...links.values()])]))
      ])
    )
  })

const linked = (
  targets: ReadonlyArray<unknown>,
  links: Map<string, Target>,
  type: string,
  path: string,
  scope: Scope
): Checked<void> =>
  Result.gen(function*() {
    for (const [index, value] of targets.entries()) {
      const target = isNull(value) ? undefined : yield* targetOf(value, type, member(path, index), scope)
      if (isNull(value)) note(scope.repairs, reshaped, path)
      if (target === undefined) continue
      const key = JSON.stringify([target.node, target.type, target.index])
      if (links.has(key)) note(scope.repairs, "Merged duplicate connections", path)
      links.set(key, target)
    }
  })

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
