/** Matches the ports of a node before and after its type, version, parameters or error handling changed. */
import { arr, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import type { Port } from "../../catalogue/types/Ports.ts"
import { hasErrorOutput } from "../../n8n/model/Connections.ts"
import type { Node } from "../check/CheckedWorkflow.ts"

/** Parameters, by node type, whose entries are one output each; the first that the node has counts. */
const ruleLists: ReadonlyMap<string, ReadonlyArray<ReadonlyArray<string>>> = new Map([
  ["n8n-nodes-base.switch", [["rules", "values"], ["rules", "rules"]]],
  ["@n8n/n8n-nodes-langchain.textClassifier", [["categories", "categories"]]]
])

/** Keys that label an output, or that only n8n's editor needs. */
const labelKeys = new Set(["outputKey", "renameOutput", "category", "id", "name", "options", "singleValue"])

/** Canonical text of a rule without its label; `undefined` for an empty rule. */
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

/** A port with the properties that identify it for a person. */
interface Known {
  readonly port: Port
  /** `rule`: has an entry in the list of rules; `error`: the output for errors. */
  readonly kind: "rule" | "error" | "other"
  readonly rule: string | undefined
  /** Rank among the ports of its kind and connection type. */
  readonly place: number
}

const known = (node: Node, side: "input" | "output"): ReadonlyArray<Known> => {
  const ports = (side === "input" ? node.inputs : node.outputs) ?? []
  const rules = side === "input"
    ? []
    : (ruleLists.get(node.type) ?? []).map((path) => arr(JsonPath.get(node.parameters, path)))
      .find(({ length }) => length > 0) ?? []
  const mains = ports.filter(({ type }) => type === "main").length
  const hasError = side === "output" && hasErrorOutput({ type: node.type, onError: String(node.json["onError"]) })
  const counts = new Map<string, number>()
  return ports.map((port) => {
    const isMain = port.type === "main"
    const kind = hasError && isMain && port.index === mains - 1
      ? "error"
      : isMain && port.index < rules.length
      ? "rule"
      : "other"
    const place = counts.get(`${kind} ${port.type}`) ?? 0
    counts.set(`${kind} ${port.type}`, place + 1)
    return { port, kind, place, rule: kind === "rule" ? ruleText(rules[port.index]) : undefined }
  })
}

type Key = (known: Known) => string | undefined

/** Name of the port unless it is only its index, as the `0` of an unnamed Switch rule. */
const label = ({ port: { index, name } }: Known) => name === String(index) ? undefined : name

const key = (...parts: ReadonlyArray<string | number | undefined>) =>
  parts.includes(undefined) ? undefined : JSON.stringify(parts)

/** Criteria by which two ports are the same, the most certain first; `growth` is the increase of a port's kind. */
const keys = (growth: (known: Known) => number): ReadonlyArray<Key> => [
  ({ kind, port }) => kind === "error" ? port.type : undefined,
  (known) => key(known.kind, known.port.type, label(known), known.rule),
  (known) => key(known.kind, known.port.type, label(known)),
  (known) => known.kind === "error" ? undefined : key(known.port.type, label(known)),
  ({ port, rule }) => key(port.type, rule),
  // An unnamed rule that was changed in place; if rules were removed, it may be a different one.
  (known) =>
    known.kind === "rule" && growth(known) < 0
      ? undefined
      : key(known.port.type, known.port.index, known.port.name ?? ""),
  // Renamed in place.
  (known) => known.rule === undefined && growth(known) === 0 ? key(known.kind, known.port.type, known.place) : undefined
]

/** Maps each port before the change to its counterpart after it, if there is one. */
export const matchPorts = (
  before: Node,
  after: Node,
  side: "input" | "output"
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
