/** Replaces a node by one of another type. */
import * as Result from "effect/Result"
import { type Obj, obj, str } from "../../base/Json.ts"
import * as Parameters from "../../catalogue/parameters/Parameters.ts"
import type { Description } from "../../catalogue/types/NodeType.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { parametersOf, typeOf } from "../../n8n/model/Workflow.ts"
import * as Checked from "../check/CheckedWorkflow.ts"
import { type Kind, kindOf } from "./add.ts"
import { misfit } from "./connect.ts"
import * as Links from "./links.ts"
import * as Patch from "./patch.ts"
import { matchPorts } from "./rewire.ts"
import * as Step from "./step.ts"

export interface Replacement {
  readonly node: string
  readonly type: string
  readonly parameters?: Obj
}

const topOf = (path: string, names: Iterable<string>) =>
  [...names].find((name) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`))

const fittingParameters = (
  before: Obj,
  overrides: Obj,
  description: Description,
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

const credentialsOf = (node: Obj, parameters: Obj, description: Description): Obj | undefined => {
  const names = new Set([
    ...(description.credentials ?? []).map(({ name }) => name),
    ...["nodeCredentialType", "genericAuthType"].flatMap((key) => str(parameters[key]) ?? [])
  ])
  const left = Object.entries(obj(node["credentials"]) ?? {}).filter(([name]) => names.has(name))
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

const makeNode = (node: Obj, kind: Kind, overrides: Obj, lookups: Step.Lookups): Obj => {
  const { description, type, typeVersion } = kind
  const before = parametersOf(node)
  const carried = node["type"] === type
    ? before
    : description === undefined
    ? {}
    : fittingParameters(before, overrides, description, typeVersion, lookups)
  const parameters = Patch.withFilters(
    { description, typeVersion, parameters: { ...carried, ...overrides } },
    Object.keys(overrides),
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
  return Object.fromEntries(next)
}

/** The output with the same label, else the one in the same place. */
const outputOf = (output: Connections.Port, before: Checked.Node, after: Checked.Node): Connections.Port => {
  const matches = matchPorts(before, after, "output")
  const port = before.outputs?.find(({ index, type }) => type === output.type && index === output.index)
  const match = port && matches.get(port)
  return match === undefined ? output : { type: match.type, index: match.index }
}

/** Gives a node another type and keeps all that fits it: valid parameters, credentials, connections, settings. */
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
    const next = makeNode(node, kind, overrides, lookups)
    const [before, after] = [Step.read(entry, lookups), Step.read({ node: next }, lookups)]
    const means = Step.meaning(workflow, entry)
    const maintained: Array<string> = []
    const removed: Array<string> = []
    const links = Connections.links(workflow["connections"]).filter(({ from, to }) => means(from) || means(to))
    const moved = new Map<Connections.Link, Connections.Link | undefined>()
    const other = (word: string) => {
      const entry = Step.peek(workflow, word)
      return entry && Step.read(entry, lookups)
    }
    for (const link of links) {
      const from = means(link.from) ? after : other(link.from)
      const to = means(link.to) ? after : other(link.to)
      if (from === undefined || to === undefined || before === undefined || after === undefined) continue
      const output = means(link.from) ? outputOf(link.output, before, after) : link.output
      const [start, end] = [Connections.portLabel(output), Connections.portLabel(link.input)]
      const line = means(link.from)
        ? `${start} → '${to.name}' ${end}`
        : `'${from.name}' ${start} → ${end}`
      const wrong = misfit(from, output, to, link.input)
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
      ...(connections === undefined ? {} : { connections: Links.move(connections, moved) })
    }
    return {
      workflow: edited,
      changes: [changeLine(name, node, next)],
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
