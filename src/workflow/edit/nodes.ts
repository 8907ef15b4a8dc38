/** Adds nodes, and gives a node another type: what fits of its parameters, credentials and connections stays, all else is listed. */
import * as Result from "effect/Result"
import { defined, equals, num, type Obj, obj, str, without } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as ParameterRules from "../../catalogue/parameters/ParameterRules.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { nodes, parametersOf, typeOf } from "../../n8n/model/Workflow.ts"
import * as Checked from "../check/CheckedWorkflow.ts"
import * as Connection from "../check/Connection.ts"
import { isCommunity } from "../check/TypeProblems.ts"
import * as Graph from "../Graph.ts"
import * as Placeholders from "../Placeholders.ts"
import * as PortNames from "../PortNames.ts"
import * as Arrangement from "./Arrangement.ts"
import * as Connect from "./connect.ts"
import { unique } from "./rename.ts"
import { matchPorts } from "./rewire.ts"
import * as Step from "./step.ts"
import { descriptionOf, update } from "./update.ts"

export interface Kind {
  readonly type: string
  readonly typeVersion: number
  readonly description: NodeType.Description | undefined
  readonly name: string
  readonly hasWebhook: boolean
}

/** Properties by the node type or, for an unknown type, by the workflow's other nodes of that type. */
export const kindOf = (
  workflow: Obj,
  named: string,
  version: number | undefined,
  lookups: Step.Lookups
): Step.Attempt<Kind> => {
  const type = NodeType.withPackage(named, lookups.types)
  const nodeType = lookups.find(type)
  if (nodeType !== undefined) {
    const typeVersion = version ?? lookups.newest(type) ?? NodeType.defaultVersion(nodeType)
    return Result.map(descriptionOf({ type, typeVersion }, version !== undefined, lookups), (description) => {
      const known = description ?? nodeType.descriptions[0]
      return {
        type,
        typeVersion,
        description,
        name: known?.defaults?.name || known?.displayName || type,
        hasWebhook: (known?.webhooks ?? []).length > 0
      }
    })
  }
  const ofType = nodes(workflow).filter((node) => node["type"] === type)
  const [highest] = ofType.flatMap((node) => num(node["typeVersion"]) ?? []).toSorted((a, b) => b - a)
  if (highest !== undefined) {
    return Result.succeed({
      type,
      typeVersion: version ?? highest,
      description: undefined,
      name: NodeType.shortName(type) || type,
      hasWebhook: ofType.some((node) => str(node["webhookId"]) !== undefined)
    })
  }
  const near = Checked.either(NodeType.nearestTypes(type, lookups))
  return Step.refuse(
    "type",
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
    const kind = yield* kindOf(workflow, operation.type, num(properties["typeVersion"]), lookups)
    const anchor = after === undefined ? undefined : yield* Step.locate(workflow, after, "after", lookups)
    const { description, type, typeVersion } = kind
    const keys = Object.keys(parameters)
    const shape = { description, typeVersion, parameters }
    yield* Step.refuseUnknown(shape, keys, lookups)
    const [id, name] = [freshId(workflow, lookups), nameOf(workflow, kind, wanted)]
    const repaired = Step.repaired(shape, keys, name, lookups)
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

const fittingParameters = (
  before: Obj,
  overrides: Obj,
  description: NodeType.Description,
  typeVersion: number,
  lookups: Step.Lookups
): Obj => {
  const node = { typeVersion, parameters: { ...before, ...overrides } }
  const shown = new Set(ParameterRules.applying(description, node).map(({ name }) => name))
  const paths = ParameterRules.problems(description, node, lookups.suggest).map(({ path }) => path)
  const isWrong = (_: unknown, key: string) => paths.some((path) => JsonPath.isWithin(path, JsonPath.member("", key)))
  const valid = without(before, isWrong)
  // Removing a wrong operation may show others.
  const isWhole = Object.keys(valid).length === Object.keys(before).length
  const next = isWhole ? without(before, (_, key) => !shown.has(key)) : valid
  return Object.keys(next).length === Object.keys(before).length
    ? before
    : fittingParameters(next, overrides, description, typeVersion, lookups)
}

/** The node with another type; null removes a parameter. */
const makeNode = (
  node: Obj,
  { description, hasWebhook, type, typeVersion }: Kind,
  patch: Obj,
  lookups: Step.Lookups
) => {
  const isSame = node["type"] === type
  const overrides = without(patch, (value) => value === null)
  const rest = without(parametersOf(node), (_, key) => Object.hasOwn(patch, key))
  const carried = isSame
    ? rest
    : description === undefined
    ? {}
    : fittingParameters(rest, overrides, description, typeVersion, lookups)
  const { lines, parameters } = Step.repaired(
    { description, typeVersion, parameters: { ...carried, ...overrides } },
    Object.keys(overrides),
    str(node["name"]) ?? "",
    lookups
  )
  const types = new Set([
    ...(description?.credentials ?? []).map(({ name }) => name),
    ...["nodeCredentialType", "genericAuthType"].flatMap((key) => str(parameters[key]) ?? [])
  ])
  const credentials = without(obj(node["credentials"]) ?? {}, (_, key) => !types.has(key))
  const next = defined({
    ...node,
    type,
    typeVersion,
    parameters,
    credentials: isSame ? node["credentials"] : Object.keys(credentials).length === 0 ? undefined : credentials,
    webhookId: hasWebhook ? str(node["webhookId"]) ?? lookups.newId() : undefined
  })
  // A caller may send back what an answer has left out or redacted.
  return { next: Placeholders.filled(next, node), lines }
}

/** Says what the node took to its new type, and what did not fit. */
const changeLine = (name: string, before: Obj, after: Obj, connections: number) => {
  if (equals(before, after)) return `'${name}' already has this type, version and parameters`
  const parts = [
    ["parameter", parametersOf(before), parametersOf(after)],
    ["credential", obj(before["credentials"]) ?? {}, obj(after["credentials"]) ?? {}]
  ] as const
  const list = (isLost: boolean) =>
    parts.flatMap(([what, old, next]) => {
      const keys = Object.keys(old).filter((key) =>
        Object.hasOwn(next, key) ? !isLost && equals(old[key], next[key]) : isLost
      )
      return keys.length === 0 ? [] : [`the ${what}${keys.length === 1 ? "" : "s"} ${Rows.listed(keys, 8)}`]
    })
  const stays = [...connections === 0 ? [] : [counted(connections, "connection")], ...list(false)].join(", ")
  const lost = list(true).join(", ")
  const [from, to] = [before, after].map((node) => Step.typed(typeOf(node), node["typeVersion"]))
  return `replaced '${name}' (${from} → ${to})${stays && `, with ${stays}`}${lost && `; dropped ${lost}`}`
}

/**
 * Keeps id, name, position, notes, what happens on errors and retries, and all that fits the new type. Links go to the
 * output that means the same, otherwise to the one with the same index.
 */
export const replaceNode: Step.Edit<"replaceNode"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const { node: word, parameters: overrides = {} } = operation
    const entry = yield* Step.locate(workflow, word, "node", lookups)
    const { index, name, node } = entry
    const kind = yield* kindOf(workflow, operation.type, operation.typeVersion, lookups)
    const keys = Object.keys(overrides).filter((key) => overrides[key] !== null)
    yield* Step.refuseUnknown({ ...kind, parameters: overrides }, keys, lookups)
    const { lines, next } = makeNode(node, kind, overrides, lookups)
    const [before, after] = [Step.read(entry, lookups), Step.read({ node: next }, lookups)]
    const words = Step.wordsFor(workflow, entry)
    const outputs = before && after && matchPorts(before, after, "output")
    const taken = new Set([...outputs?.values() ?? []].map((port) => port && Connections.portLabel(port)))
    const moved = new Map<Connections.PlacedLink, Connections.Link | undefined>()
    const maintained: Array<string> = []
    const removed: Array<string> = []
    const read = (word: string) => {
      const entry = words.has(word) ? undefined : Step.peek(workflow, word)
      return words.has(word) ? after : entry && Step.read(entry, lookups)
    }
    for (const link of Graph.around(Graph.make(workflow["connections"]), words)) {
      const [from, to] = [read(link.from), read(link.to)]
      if (from === undefined || to === undefined || outputs === undefined) continue
      const port = words.has(link.from) ? Connection.portAt(outputs.keys(), link.output) : undefined
      const match = port && outputs.get(port)
      const { index, type } = match ?? link.output
      const output = { type, index }
      const [start, end] = [Connections.portLabel(output), Connections.portLabel(link.input)]
      const line = words.has(link.from)
        ? `${start} → '${to.name}' ${end}`
        : `'${from.name}' ${start} → ${end}`
      const wrong = port !== undefined && match === undefined && taken.has(start)
        ? `the new type has no output for ${PortNames.label(port)}.`
        : Connection.misfit({ ...link, output }, from, to)?.message
      if (wrong === undefined) {
        if (!Connections.samePort(output, link.output)) moved.set(link, { ...link, output })
        maintained.push(line)
      } else {
        moved.set(link, undefined)
        removed.push(`${line}: ${wrong}`)
      }
    }
    const edited = Step.withNode(workflow, index, next)
    const connections = obj(workflow["connections"]) ?? {}
    return {
      workflow: moved.size === 0 ? edited : { ...edited, connections: Connections.move(connections, moved) },
      changes: [
        changeLine(name, node, next, maintained.length),
        ...lines,
        ...removed.map((line) => `${name}: removed the connection ${line}`)
      ],
      report: { nodeId: str(node["id"]) ?? "", maintainedConnections: maintained, removedConnections: removed }
    }
  })
