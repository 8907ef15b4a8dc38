/** Adds nodes: chooses version, name and position, and connects them. */
import * as Result from "effect/Result"
import { num, type Obj, obj, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Parameters from "../../catalogue/parameters/Parameters.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { nodes, parametersOf, typeOf } from "../../n8n/model/Workflow.ts"
import * as Checked from "../check/CheckedWorkflow.ts"
import * as Connection from "../check/Connection.ts"
import { isCommunity } from "../check/TypeProblems.ts"
import * as Graph from "../Graph.ts"
import * as Arrangement from "./Arrangement.ts"
import * as Connect from "./connect.ts"
import * as Patch from "./patch.ts"
import { unique } from "./rename.ts"
import { matchPorts } from "./rewire.ts"
import * as Step from "./step.ts"
import { update } from "./update.ts"

export interface Kind {
  readonly type: string
  readonly typeVersion: number
  readonly description: NodeType.Description | undefined
  readonly name: string
  readonly hasWebhook: boolean
}

/** Properties by the node type or, for an unknown type, by the workflow's other nodes of that type. */
export const kindOf = (workflow: Obj, named: string, field: string, lookups: Step.Lookups): Step.Attempt<Kind> => {
  const type = NodeType.withPackage(named, lookups.types)
  const nodeType = lookups.find(type)
  if (nodeType !== undefined) {
    const typeVersion = lookups.newest(type) ?? NodeType.defaultVersion(nodeType)
    const description = NodeType.at(nodeType, typeVersion)
    const known = description ?? nodeType.descriptions[0]
    return Result.succeed({
      type,
      typeVersion,
      description,
      name: known?.defaults?.name || known?.displayName || type,
      hasWebhook: (known?.webhooks ?? []).length > 0
    })
  }
  const alike = nodes(workflow).filter((node) => node["type"] === type)
  const [version] = alike.flatMap((node) => num(node["typeVersion"]) ?? []).toSorted((a, b) => b - a)
  if (version !== undefined) {
    return Result.succeed({
      type,
      typeVersion: version,
      description: undefined,
      name: NodeType.shortName(type) || type,
      hasWebhook: alike.some((node) => str(node["webhookId"]) !== undefined)
    })
  }
  const near = Checked.either(NodeType.nearestTypes(type, lookups))
  return Step.refuse(
    field,
    `There is no node type '${type.slice(0, 100)}'.`,
    isCommunity(type)
      ? { _tag: "LoadPackage" }
      : [near === "" ? "" : `Did you mean ${near}?`, { _tag: "SearchNodeTypes" }]
  )
}

const freshId = (workflow: Obj, { newId }: Step.Lookups): string => {
  const ids = new Set(nodes(workflow).map(({ id }) => id))
  let id = newId()
  while (ids.has(id)) id = newId()
  return id
}

/** Name of a new node; by default one without connections or pinned data of a removed node. */
const nameOf = (workflow: Obj, kind: Kind, wanted: string | undefined): string => {
  const taken = new Set([...Step.names(workflow), ...Object.keys(obj(workflow["pinData"]) ?? {})])
  if (wanted !== undefined && wanted.trim() !== "") return unique(wanted, taken, kind.name)
  for (const { from, to } of Connections.links(workflow["connections"])) taken.add(from).add(to)
  return unique(kind.name, taken)
}

export const add: Step.Edit<"add"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const { after, name: wanted, op: _, parameters = {}, position, type: __, ...properties } = operation
    const before = workflow["nodes"] ?? []
    if (!Array.isArray(before)) {
      return yield* Step.refuse("op", "The workflow's 'nodes' is not a list.", "Fix it first.")
    }
    const kind = yield* kindOf(workflow, operation.type, "type", lookups)
    const anchor = after === undefined ? undefined : yield* Step.locate(workflow, after, "after", lookups)
    const { type } = kind
    const typeVersion = num(properties["typeVersion"]) ?? kind.typeVersion
    const nodeType = lookups.find(type)
    const description = nodeType && NodeType.at(nodeType, typeVersion)
    const keys = Object.keys(parameters)
    const shape = { description, typeVersion, parameters }
    yield* Patch.refuseUnknown(shape, keys, lookups)
    const [id, name] = [freshId(workflow, lookups), nameOf(workflow, kind, wanted)]
    const repaired = Patch.repaired(shape, keys, name, lookups)
    const bare = { parameters: repaired.parameters, type, typeVersion, position: [0, 0], id, name }
    const checked = Step.read({ node: bare }, lookups)
    const isSub = checked !== undefined && Checked.isSubNode(checked)
    const node = {
      ...bare,
      position: position === undefined
        ? Arrangement.freePlace(workflow, { type, anchor: anchor?.node, isSub }, lookups)
        : [Math.round(position.x), Math.round(position.y)],
      ...(kind.hasWebhook ? { webhookId: lookups.newId() } : {})
    }
    const { workflow: added } = yield* update(
      { ...workflow, nodes: [...before, node] },
      { op: "update", node: id, ...properties },
      lookups
    )
    const extra = Object.keys(properties).filter((key) => key !== "typeVersion")
    const what = `added '${name}' (${Step.typed(type, typeVersion)}${
      extra.length === 0 ? "" : `, ${extra.join(", ")}`
    })`
    if (anchor === undefined) return { workflow: added, changes: [what, ...repaired.lines], added: id }
    const self = { index: before.length, node, name }
    const [source, target] = isSub ? [self, anchor] : [anchor, self]
    const ends: Connect.Ends = isSub ? {} : { sourceOutput: "main", targetInput: "main" }
    const linked = yield* Result.mapError(
      Connect.link(added, source, target, ends, lookups),
      (refusal): Step.Refusal => ({ ...refusal, field: "after" })
    )
    return {
      workflow: linked.workflow,
      changes: [`${what} ${isSub ? "for" : "after"} '${anchor.name}'`, ...repaired.lines],
      added: id
    }
  })

export interface Replacement {
  readonly node: string
  readonly type: string
  readonly parameters?: Obj
}

const topOf = (path: string, names: Iterable<string>) =>
  [...names].find((name) => JsonPath.isWithin(path, JsonPath.member("", name)))

const fittingParameters = (
  before: Obj,
  overrides: Obj,
  description: NodeType.Description,
  typeVersion: number,
  { suggest }: Step.Lookups
): Obj => {
  let left = Object.fromEntries(Object.entries(before).filter(([key]) => !Object.hasOwn(overrides, key)))
  for (;;) {
    const node = { typeVersion, parameters: { ...left, ...overrides } }
    const shown = new Set(Parameters.applying(description, node).map(({ name }) => name))
    const wrong = new Set(
      Parameters.problems(description, node, suggest).flatMap(({ path }) => topOf(path, Object.keys(left)) ?? [])
    )
    // Removing a wrong operation may show others.
    const fits = (key: string) => wrong.size > 0 ? !wrong.has(key) : shown.has(key)
    const next = Object.entries(left).filter(([key]) => fits(key))
    if (next.length === Object.keys(left).length) return left
    left = Object.fromEntries(next)
  }
}

const credentialsOf = (node: Obj, parameters: Obj, description: NodeType.Description): Obj | undefined => {
  const names = new Set([
    ...(description.credentials ?? []).map(({ name }) => name),
    ...["nodeCredentialType", "genericAuthType"].flatMap((key) => str(parameters[key]) ?? [])
  ])
  const left = Object.entries(obj(node["credentials"]) ?? {}).filter(([name]) => names.has(name))
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

const makeNode = (node: Obj, kind: Kind, overrides: Obj, lookups: Step.Lookups) => {
  const { description, type, typeVersion } = kind
  const before = parametersOf(node)
  const carried = node["type"] === type
    ? before
    : description === undefined
    ? {}
    : fittingParameters(before, overrides, description, typeVersion, lookups)
  const { lines, parameters } = Patch.repaired(
    { description, typeVersion, parameters: { ...carried, ...overrides } },
    Object.keys(overrides),
    str(node["name"]) ?? "",
    lookups
  )
  const credentials: unknown = node["type"] === type
    ? node["credentials"]
    : description && credentialsOf(node, parameters, description)
  const next = new Map<string, unknown>(Object.entries({ ...node, type, typeVersion, parameters }))
  if (credentials === undefined) next.delete("credentials")
  else next.set("credentials", credentials)
  if (!kind.hasWebhook) next.delete("webhookId")
  else if (str(node["webhookId"]) === undefined) next.set("webhookId", lookups.newId())
  return { next: Object.fromEntries(next), lines }
}

/** Gives a node another type, and preserves everything that fits it: parameters, credentials, connections, settings. */
export const replace = (
  workflow: Obj,
  { node: word, parameters: overrides = {}, type }: Replacement,
  lookups: Step.Lookups
) =>
  Result.gen(function*() {
    const entry = yield* Step.locate(workflow, word, "node", lookups)
    const { index, name, node } = entry
    const kind = yield* kindOf(workflow, type, "type", lookups)
    const { description, typeVersion } = kind
    yield* Patch.refuseUnknown({ description, typeVersion, parameters: overrides }, Object.keys(overrides), lookups)
    const { lines, next } = makeNode(node, kind, overrides, lookups)
    const [before, after] = [Step.read(entry, lookups), Step.read({ node: next }, lookups)]
    const words = Step.wordsFor(workflow, entry)
    const maintained: Array<string> = []
    const removed: Array<string> = []
    const outputs = before && after && matchPorts(before, after, "output")
    const moved = new Map<Connections.PlacedLink, Connections.Link | undefined>()
    const other = (word: string) => {
      const entry = Step.peek(workflow, word)
      return entry && Step.read(entry, lookups)
    }
    for (const link of Graph.around(Graph.make(workflow["connections"]), words)) {
      const from = words.has(link.from) ? after : other(link.from)
      const to = words.has(link.to) ? after : other(link.to)
      if (from === undefined || to === undefined || before === undefined || after === undefined) continue
      const port = words.has(link.from) ? Connection.portAt(outputs?.keys(), link.output) : undefined
      const { index, type } = port && outputs?.get(port) || link.output
      const output = { type, index }
      const [start, end] = [Connections.portLabel(output), Connections.portLabel(link.input)]
      const line = words.has(link.from)
        ? `${start} → '${to.name}' ${end}`
        : `'${from.name}' ${start} → ${end}`
      const wrong = Connection.misfit({ ...link, output }, from, to)
      if (wrong === undefined) {
        if (!Connections.samePort(output, link.output)) moved.set(link, { ...link, output })
        maintained.push(line)
      } else {
        moved.set(link, undefined)
        removed.push(`${line}: ${wrong.message}`)
      }
    }
    const connections = obj(workflow["connections"])
    const edited: Obj = {
      ...Step.withNode(workflow, index, next),
      ...(connections === undefined ? {} : { connections: Connections.move(connections, moved) })
    }
    return {
      workflow: edited,
      changes: [changeLine(name, node, next), ...lines],
      nodeId: str(node["id"]) ?? "",
      report: { maintainedConnections: maintained, removedConnections: removed }
    }
  })

const changeLine = (name: string, before: Obj, after: Obj) => {
  const old = Object.keys(parametersOf(before))
  const dropped = old.filter((key) => !Object.hasOwn(parametersOf(after), key))
  return `replaced '${name}' (${Step.typed(typeOf(before), before["typeVersion"])} → ` +
    `${Step.typed(typeOf(after), after["typeVersion"])})` +
    (dropped.length === 0 ? "" : `; dropped the parameters ${dropped.slice(0, 8).join(", ")}`)
}
