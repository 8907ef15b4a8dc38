/** Changes a node; its links follow the ports that are the same before and after. */
import { arr, type Obj, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Rows from "../../base/Rows.ts"
import type { Port } from "../../catalogue/types/Ports.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { type Node } from "../check/CheckedWorkflow.ts"
import * as Connection from "../check/Connection.ts"
import * as WorkflowDiff from "../diff/WorkflowDiff.ts"
import * as Graph from "../Graph.ts"
import * as Placeholders from "../Placeholders.ts"
import * as PortName from "../PortNames.ts"
import * as Step from "./step.ts"

type Side = "input" | "output"

/** Parameters, by node type, whose entries are one output each; the first that the node has counts. */
const ruleLists: ReadonlyMap<string, ReadonlyArray<ReadonlyArray<string>>> = new Map([
  ["n8n-nodes-base.switch", [["rules", "values"], ["rules", "rules"]]],
  ["@n8n/n8n-nodes-langchain.textClassifier", [["categories", "categories"]]]
])

const labelKeys = new Set(["outputKey", "renameOutput", "category", "id", "name", "options", "singleValue"])

const ruleText = (entry: unknown): string | undefined => {
  let isEmpty = true
  const text = JSON.stringify(entry, (key, value: unknown) => {
    if (labelKeys.has(key)) return undefined
    const object = obj(value)
    if (object !== undefined) return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => a < b ? -1 : 1))
    if (!Array.isArray(value) && value !== "") isEmpty = false
    return value
  })
  return isEmpty ? undefined : text
}

const known = (node: Node, side: Side) => {
  const ports = (side === "input" ? node.inputs : node.outputs) ?? []
  const rules = side === "input"
    ? []
    : (ruleLists.get(node.type) ?? []).map((path) => arr(JsonPath.get(node.parameters, path)))
      .find(({ length }) => length > 0) ?? []
  const mains = ports.filter(({ type }) => type === "main").length
  const hasError = side === "output" &&
    Connections.hasErrorOutput({ type: node.type, onError: String(node.json["onError"]) })
  const counts = new Map<string, number>()
  return ports.map((port) => {
    const isMain = port.type === "main"
    /** `rule`: has an entry in the list of rules; `error`: the output for errors. */
    const kind = hasError && isMain && port.index === mains - 1
      ? "error" as const
      : isMain && port.index < rules.length
      ? "rule" as const
      : "other" as const
    const place = counts.get(`${kind} ${port.type}`) ?? 0
    counts.set(`${kind} ${port.type}`, place + 1)
    return { port, kind, place, rule: kind === "rule" ? ruleText(rules[port.index]) : undefined }
  })
}

type Known = ReturnType<typeof known>[number]
type Key = (known: Known) => string | undefined

/** Name of the port unless it is only its index, as the `0` of an unnamed Switch rule. */
const labelOf = ({ port: { index, name } }: Known) => name === String(index) ? undefined : name

const key = (...parts: ReadonlyArray<string | number | undefined>) =>
  parts.includes(undefined) ? undefined : JSON.stringify(parts)

/** Criteria by which two ports are the same, the most certain first; `growth` is the increase of a port's kind. */
const keys = (growth: (known: Known) => number): ReadonlyArray<Key> => [
  ({ kind, port }) => kind === "error" ? port.type : undefined,
  (known) => key(known.kind, known.port.type, labelOf(known), known.rule),
  (known) => key(known.kind, known.port.type, labelOf(known)),
  (known) => known.kind === "error" ? undefined : key(known.port.type, labelOf(known)),
  ({ port, rule }) => key(port.type, rule),
  // An unnamed rule that was changed in place; if rules were removed, it may be a different one.
  (known) =>
    known.kind === "rule" && growth(known) < 0
      ? undefined
      : key(known.port.type, known.port.index, known.port.name ?? ""),
  // Renamed in place.
  (known) => known.rule === undefined && growth(known) === 0 ? key(known.kind, known.port.type, known.place) : undefined
]

export const matchPorts = (
  before: Node,
  after: Node,
  side: Side
): ReadonlyMap<Port, Port | undefined> => {
  const [left, right] = [known(before, side), known(after, side)]
  const count = (all: ReadonlyArray<Known>, { kind, port }: Known) =>
    all.filter((each) => each.kind === kind && each.port.type === port.type).length
  const matches = new Map<Known, Known>()
  for (const keyOf of keys((each) => count(right, each) - count(left, each))) {
    const taken = new Set(matches.values())
    const free = Map.groupBy(right.filter((each) => !taken.has(each)), keyOf)
    for (const [key, same] of Map.groupBy(left.filter((each) => !matches.has(each)), keyOf)) {
      if (key === undefined) continue
      same.forEach((each, place) => {
        const match = free.get(key)?.[place]
        if (match !== undefined) matches.set(each, match)
      })
    }
  }
  return new Map(left.map((each) => [each.port, matches.get(each)?.port]))
}

interface PortChange {
  readonly before: Port
  readonly after: Port | undefined
  readonly others: Array<string>
}

const inWords = (name: string, side: Side, { after, before, others }: PortChange) => {
  const links = `with its link${others.length === 1 ? "" : "s"} ${side === "input" ? "from" : "to"} ${
    Rows.names(others)
  }`
  return after === undefined
    ? `${name}: ${side} ${PortName.label(before)} is gone, ${links}`
    : `${name}: ${side} '${after.name ?? before.name ?? ""}' moved from ${Connections.portLabel(before)} to ` +
      `${Connections.portLabel(after)}, ${links}`
}

const moveLinks = (workflow: Obj, entry: Step.NodeEntry, before: Node, after: Node) => {
  const connections = obj(workflow["connections"]) ?? {}
  const words = Step.wordsFor(workflow, entry)
  const sides = (["output", "input"] as const).map((side) => {
    const matches = (side === "input" ? before.inputs && after.inputs : before.outputs && after.outputs) === undefined
      ? new Map<Port, Port | undefined>()
      : matchPorts(before, after, side)
    return { side, matches, changes: new Map<Port, PortChange>() }
  })
  const moved = new Map<Connections.PlacedLink, Connections.Link | undefined>()
  for (const link of Graph.around(Graph.make(connections), words)) {
    let result: Connections.Link | undefined = link
    for (const { changes, matches, side } of sides) {
      const [name, other] = side === "output" ? [link.from, link.to] : [link.to, link.from]
      const port = words.has(name) ? Connection.portAt(matches.keys(), link[side]) : undefined
      const match = port && matches.get(port)
      if (port === undefined || match !== undefined && Connections.samePort(match, port)) continue
      const change = changes.get(port) ?? { before: port, after: match, others: [] }
      changes.set(port, change)
      change.others.push(other)
      result = result && match && { ...result, [side]: { type: match.type, index: match.index } }
    }
    if (result !== link) moved.set(link, result)
  }
  return {
    connections: Connections.move(connections, moved),
    changes: sides.flatMap(({ changes, side }) => [...changes.values()].map((each) => inWords(entry.name, side, each)))
  }
}

export const withNode = (workflow: Obj, entry: Step.NodeEntry, written: Obj, lookups: Step.Lookups): Step.Step => {
  // A caller may send back what an answer has left out or redacted.
  const node = Placeholders.filled(written, entry.node)
  const fields = WorkflowDiff.lines(entry.node, node).map((line) =>
    `${entry.name}: ${line.replace(/^parameters\./, "")}`
  )
  if (fields.length === 0) return { workflow, changes: [`'${entry.name}' already has these values`] }
  const next = Step.withNode(workflow, entry.index, node)
  const [before, after] = [Step.read(entry, lookups), Step.read({ node }, lookups)]
  if (before === undefined || after === undefined) return { workflow: next, changes: fields }
  const { changes, connections } = moveLinks(workflow, entry, before, after)
  return { workflow: changes.length === 0 ? next : { ...next, connections }, changes: [...fields, ...changes] }
}
