/** Which port of a node is which, after its type, version, parameters or error handling changed. */
import { arr, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import type { Port } from "../../catalogue/types/Ports.ts"
import { hasErrorOutput } from "../../n8n/model/Connections.ts"
import type { Node } from "../check/CheckedWorkflow.ts"

/** The list of which each entry is one output, by type: the first one that the node has. */
const ruleLists: ReadonlyMap<string, ReadonlyArray<ReadonlyArray<string>>> = new Map([
  ["n8n-nodes-base.switch", [["rules", "values"], ["rules", "rules"]]],
  ["@n8n/n8n-nodes-langchain.textClassifier", [["categories", "categories"]]]
])

/** Keys that name an output, or that only n8n's editor needs. */
const labelKeys = new Set(["outputKey", "renameOutput", "category", "id", "name", "options", "singleValue"])

/** What an entry of a rule list says besides its label; the same text for the same rule. */
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

/** A port, and what a person knows it by. */
interface Known {
  readonly port: Port
  /** `rule` has an entry in the list of rules, `error` is the output for errors. */
  readonly kind: "rule" | "error" | "other"
  readonly rule: string | undefined
  /** The place among those of its kind and connection type. */
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

/** A name that is more than the port's place, such as the `0` of a Switch rule without a name. */
const label = ({ port: { index, name } }: Known) => name === String(index) ? undefined : name

const key = (...parts: ReadonlyArray<string | number | undefined>) =>
  parts.includes(undefined) ? undefined : JSON.stringify(parts)

/** What makes two ports the same one, the surest first; `growth` is how many more there are of a port's kind. */
const keys = (growth: (known: Known) => number): ReadonlyArray<Key> => [
  ({ kind, port }) => kind === "error" ? port.type : undefined,
  (known) => key(known.kind, known.port.type, label(known), known.rule),
  (known) => key(known.kind, known.port.type, label(known)),
  (known) => known.kind === "error" ? undefined : key(known.port.type, label(known)),
  ({ port, rule }) => key(port.type, rule),
  // Of rules without a name one that is changed in its place; where some are gone, it may be another.
  (known) =>
    known.kind === "rule" && growth(known) < 0
      ? undefined
      : key(known.port.type, known.port.index, known.port.name ?? ""),
  // Another name in the same place.
  (known) => known.rule === undefined && growth(known) === 0 ? key(known.kind, known.port.type, known.place) : undefined
]

/** The port after the change, where there is still one, of each port before it. */
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
