/** Gives a node another type: what fits of its parameters, credentials and connections stays, all else is listed. */
import * as Result from "effect/Result"
import { defined, equals, type Obj, obj, str, without } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as ParameterRules from "../../catalogue/parameters/ParameterRules.ts"
import type * as NodeType from "../../catalogue/types/NodeType.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { parametersOf, typeOf } from "../../n8n/model/Workflow.ts"
import * as Connection from "../check/Connection.ts"
import * as Graph from "../Graph.ts"
import * as Placeholders from "../Placeholders.ts"
import * as PortNames from "../PortNames.ts"
import { type Kind, kindOf } from "./add.ts"
import { matchPorts } from "./rewire.ts"
import * as Step from "./step.ts"

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
