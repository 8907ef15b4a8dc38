/** Puts a node of another type in the place of one. */
import * as Result from "effect/Result"
import * as Connections from "../Connections.ts"
import { type Obj, obj, str } from "../Json.ts"
import type { Description } from "../nodes/NodeType.ts"
import * as Parameters from "../parameters/Parameters.ts"
import * as Checked from "../problems/CheckedWorkflow.ts"
import { type Kind, kindOf } from "./EditAdd.ts"
import { misfit } from "./EditConnect.ts"
import * as Links from "./EditLinks.ts"
import * as Given from "./EditParameters.ts"
import * as Step from "./EditStep.ts"

/** What is put where. */
export interface Replacement {
  /** By name or id. */
  readonly node: string
  readonly type: string
  readonly parameters?: Obj
}

/** What became of the node and its connections. */
export interface Replaced {
  readonly workflow: Obj
  readonly changes: ReadonlyArray<string>
  readonly added: ReadonlyArray<Step.Added>
  readonly nodeId: string
  readonly name: string
  readonly report: {
    readonly maintainedConnections: ReadonlyArray<string>
    readonly removedConnections: ReadonlyArray<string>
  }
}

/** The name under which a problem of parameters stands. */
const topOf = (path: string, names: Iterable<string>) =>
  [...names].find((name) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`))

/** Of the parameters before, those that the type shows and takes. */
const kept = (
  before: Obj,
  given: Obj,
  description: Description,
  typeVersion: number,
  { suggest }: Step.Lookups
): Obj => {
  let left = Object.fromEntries(Object.entries(before).filter(([key]) => !Object.hasOwn(given, key)))
  for (;;) {
    const node = { typeVersion, parameters: { ...left, ...given } }
    const shown = new Set(Parameters.applying(description, node).map(({ name }) => name))
    const wrong = new Set(
      Parameters.problems(description, node, suggest).flatMap(({ path }) => topOf(path, Object.keys(left)) ?? [])
    )
    // Without a wrong operation others may be shown.
    const isKept = (key: string) => wrong.size > 0 ? !wrong.has(key) : shown.has(key)
    const next = Object.entries(left).filter(([key]) => isKept(key))
    if (next.length === Object.keys(left).length) return left
    left = Object.fromEntries(next)
  }
}

/** Credentials of types that the new type has, too. */
const credentialsOf = (node: Obj, parameters: Obj, description: Description): Obj | undefined => {
  const names = new Set([
    ...(description.credentials ?? []).map(({ name }) => name),
    ...["nodeCredentialType", "genericAuthType"].flatMap((key) => str(parameters[key]) ?? [])
  ])
  const left = Object.entries(obj(node["credentials"]) ?? {}).filter(([name]) => names.has(name))
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

const made = (
  node: Obj,
  kind: Kind,
  given: Obj,
  lookups: Step.Lookups
): Obj => {
  const { description, type, typeVersion } = kind
  const before = obj(node["parameters"]) ?? {}
  const carried = node["type"] === type
    ? before
    : description === undefined
    ? {}
    : kept(before, given, description, typeVersion, lookups)
  const parameters = Given.withFilters(
    { description, typeVersion, parameters: { ...carried, ...given } },
    Object.keys(given),
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

const errorIndex = ({ outputs }: Checked.Node) =>
  outputs?.findIndex(({ name, type }) => type === "main" && name === "error")

/** The output for errors stands after all others, wherever that is. */
const moved = (output: Connections.Port, before: Checked.Node, after: Checked.Node): Connections.Port => {
  if (output.type !== "main" || before.given["onError"] !== "continueErrorOutput") return output
  const [from, to] = [errorIndex(before), errorIndex(after)]
  return from === undefined || to === undefined || to < 0 || before.outputs?.[from]?.index !== output.index
    ? output
    : { type: "main", index: after.outputs?.[to]?.index ?? output.index }
}

/**
 * Gives a node another type, and keeps what fits it: id, name, place, notes, settings; parameters of the same name
 * that are valid there; credentials of the same type; connections whose ports it has.
 */
export const replace = (
  workflow: Obj,
  { node: word, parameters: given = {}, type }: Replacement,
  lookups: Step.Lookups
): Result.Result<Replaced, Step.Refusal & { readonly operation: number }> =>
  Result.mapError(replaced(workflow, word, type, given, lookups), (refusal) => ({ operation: 0, ...refusal }))

const replaced = (
  workflow: Obj,
  word: string,
  type: string,
  given: Obj,
  lookups: Step.Lookups
): Step.Attempt<Replaced> =>
  Result.gen(function*() {
    const found = yield* Step.locate(workflow, word, "node", lookups)
    const { index, name, node } = found
    const kind = yield* kindOf(workflow, type, "type", lookups)
    const { description, typeVersion } = kind
    yield* Given.known({ description, typeVersion, parameters: given }, Object.keys(given), lookups)
    const next = made(node, kind, given, lookups)
    const [before, after] = [Step.read(found, lookups), Step.read({ node: next }, lookups)]
    const means = Step.meaning(workflow, found)
    const maintained: Array<string> = []
    const removed: Array<string> = []
    const links = Links.all(workflow["connections"]).filter(({ from, to }) => means(from) || means(to))
    const stays = new Map<Connections.Link, Connections.Link>()
    const other = (word: string) => {
      const found = Step.peek(workflow, word)
      return found && Step.read(found, lookups)
    }
    for (const link of links) {
      const from = means(link.from) ? after : other(link.from)
      const to = means(link.to) ? after : other(link.to)
      if (from === undefined || to === undefined || before === undefined || after === undefined) {
        stays.set(link, link)
        continue
      }
      const output = means(link.from) ? moved(link.output, before, after) : link.output
      const [start, end] = [Connections.portLabel(output), Connections.portLabel(link.input)]
      const line = means(link.from)
        ? `${start} → '${to.name}' ${end}`
        : `'${from.name}' ${start} → ${end}`
      const wrong = misfit(from, output, to, link.input)
      if (wrong === undefined) {
        stays.set(link, { ...link, output })
        maintained.push(line)
      } else removed.push(`${line}: ${wrong.message}`)
    }
    const connections = obj(workflow["connections"])
    return {
      workflow: {
        ...Step.withNode(workflow, index, next),
        ...(connections === undefined || links.length === 0 ? {} : { connections: rewired(connections, links, stays) })
      },
      changes: [changed(name, node, next)],
      added: [],
      nodeId: str(node["id"]) ?? "",
      name,
      report: { maintainedConnections: maintained, removedConnections: removed }
    }
  })

/** The connections without those links that do not stay, and with those in another place that do. */
const rewired = (
  connections: Obj,
  links: ReadonlyArray<Connections.Link>,
  stays: ReadonlyMap<Connections.Link, Connections.Link>
): Obj => {
  const gone = links.filter((link) => stays.get(link)?.output !== link.output)
  const left = Links.remove(connections, (link) => gone.some((each) => Links.equal(each, link)))
  return gone.reduce((result, link) => {
    const there = stays.get(link)
    return there === undefined ? result : Links.add(result, there) ?? result
  }, left)
}

const changed = (name: string, before: Obj, after: Obj) => {
  const old = Object.keys(obj(before["parameters"]) ?? {})
  const dropped = old.filter((key) => !Object.hasOwn(obj(after["parameters"]) ?? {}, key))
  return `replaced '${name}' (${Step.typed(str(before["type"]) ?? "", before["typeVersion"])} → ` +
    `${Step.typed(str(after["type"]) ?? "", after["typeVersion"])})` +
    (dropped.length === 0 ? "" : `; dropped the parameters ${dropped.slice(0, 8).join(", ")}`)
}
