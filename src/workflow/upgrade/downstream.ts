/** Uses of a node's items by the rest of a workflow. */
import type { Obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Graph from "../Graph.ts"
import * as Webhooks from "../Webhooks.ts"
import types from "./downstream.json" with { type: "json" }
import type { Old } from "./mapping.ts"

const textsOf = (node: Obj) => JsonPath.strings(node["parameters"]).map(([, text]) => text)

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")

type Place = Pick<Old, "graph" | "name" | "workflow">

/** Nodes after or before a node; in a loop, itself as well. */
export const connected = ({ graph, name, workflow }: Place, direction: "after" | "before"): ReadonlyArray<Obj> => {
  const names = direction === "after"
    ? Graph.after(graph, Graph.next(graph, name))
    : Graph.before(graph, Graph.previous(graph, name))
  return Workflow.nodes(workflow).filter((node) => names.has(Workflow.nameOf(node)))
}

const shortOf = (node: Obj) => Workflow.typeOf(node).replace(/^.*\./, "")

const ownBodies = new Set(["json", "text", "noData", "redirect", "binary", "jwt"])

const isAnswer = (node: Obj) =>
  shortOf(node) === "respondToWebhook" && ownBodies.has(String(Workflow.parametersOf(node)["respondWith"]))

const passes = (node: Obj): boolean => {
  const parameters = Workflow.parametersOf(node)
  if (node["disabled"] === true) return true
  if (shortOf(node) === "set") {
    const { include, includeOtherFields, keepOnlySet } = parameters
    return Number(node["typeVersion"] ?? 1) < 3
      ? keepOnlySet !== true
      : includeOtherFields === true || include !== undefined && include !== "none"
  }
  return isAnswer(node) || types.passing.includes(shortOf(node)) ||
    JSON.stringify(parameters).includes(`"responseFormat":"file"`)
}

/** Whether a node reads only the fields that its parameters name. */
const isClosed = (node: Obj): boolean =>
  node["disabled"] === true || isAnswer(node) ||
  (["set", ...types.closed, ...types.passing].includes(shortOf(node)) &&
    !/autoMap|addAllFields|sendInputData|"defineBelow":false|convertToHtmlTable|"mode":"combine|usesAllFields/i
      .test(JSON.stringify(Workflow.parametersOf(node))))

/** Reads of whole items, `$json` without a field. */
const whole =
  /(?:\$json|\bjson|\$input\.item|\.item|\.all\(\)|\.first\(\)|\.last\(\))(?!\w|\??\.?\[|\??\.\w)|\$items\(|\$binary\b(?!\.|\[)/

/**
 * Whether a later node may notice an additional field of a node's items: it uses all their fields, or reads that one.
 * Nodes of unknown kinds use all.
 */
export const seesMore = ({ graph, name, workflow }: Place, field: string, output?: number): boolean => {
  const isReturned = Webhooks.returnsItems(workflow)
  const reads = new RegExp(`(?:\\.|["'])${field}(?:["']\\])?(?![\\w.?\\[])`)
  const byName = Map.groupBy(Workflow.nodes(workflow), Workflow.nameOf)
  const reached = new Set(Graph.next(graph, name, output).flatMap((each) => byName.get(each) ?? []))
  if (reached.size === 0 && output === undefined && isReturned) return true
  for (const node of reached) {
    const expressions = textsOf(node).filter((text) => text.startsWith("=")).join("\n")
    if (!isClosed(node) || whole.test(expressions) || reads.test(expressions)) return true
    if (!passes(node)) continue
    const next = Graph.next(graph, Workflow.nameOf(node)).flatMap((each) => byName.get(each) ?? [])
    if (next.length === 0 && isReturned) return true
    for (const each of next) reached.add(each)
  }
  const names = [name, ...[...reached].filter(passes).map(Workflow.nameOf)].map(escaped).join("|")
  const reference = new RegExp(`(?:\\$node\\[|\\$\\(|\\$items\\()["'\`](?:${names})["'\`]`)
  return Workflow.nodes(workflow).some((node) =>
    textsOf(node).some((text) => reference.test(text) && (!text.startsWith("=") || whole.test(text)))
  )
}

/** Kind of response that later nodes expect. */
export type Shape = "object" | "text" | "unknown"

const isListMember = (key: string) => /^\d+$/.test(key) || key === "length" || key in Array.prototype

const key = String.raw`(?:\??\.([A-Za-z_$][\w$]*)|\??\.?\[["']([^"'\]]+)["']\]|\[(\d+)\])`

const readers = new Set(["htmlExtract", "html", "xml", "markdown"].map((name) => `n8n-nodes-base.${name}`))
const textMembers = new Set(["split", "match", "matchAll", "replace", "replaceAll", "trim", "toLowerCase", "substring"])

/** Shape of a node's response by the fields that other nodes read of it. */
export const shapeOf = ({ graph, name, parameters, workflow }: Old, isFull: boolean): Shape => {
  const next = new Set(Graph.next(graph, name))
  const isText = parameters["responseFormat"] === "string"
  const field = escaped(String(parameters["dataPropertyName"] ?? "data"))
  const by = `(?:\\$node\\[["']${escaped(name)}["']\\]|\\$\\(["']${escaped(name)}["']\\)(?:\\.\\w+(?:\\(\\))?)?|` +
    `\\$items\\(["']${escaped(name)}["']\\)\\[0\\])\\.json`
  const direct = String
    .raw`(?:\$json|items\[0\]\.json|\$input\.(?:first|last)\(\)\.json|\$input\.item\.json|item\.json)`
  const keys: Array<string> = []
  for (const node of Workflow.nodes(workflow)) {
    const isNext = next.has(Workflow.nameOf(node))
    if (isNext && isText && readers.has(Workflow.typeOf(node))) return "text"
    const split = Workflow.parametersOf(node)["fieldToSplitOut"]
    if (isNext && typeof split === "string" && !split.startsWith("=") && split !== "") keys.push(split)
    const inner = isText ? `(?:\\.${field}|\\[["']${field}["']\\])` : isFull ? "\\.body" : ""
    const pattern = new RegExp(`(?:${isNext ? `${by}|${direct}` : by})${inner}${key}`, "g")
    for (const text of textsOf(node)) {
      for (const [, dotted, quoted, index] of text.matchAll(pattern)) keys.push(dotted ?? quoted ?? index ?? "")
    }
  }
  if (isText) return keys.length > 0 && keys.every((each) => textMembers.has(each)) ? "text" : "unknown"
  return keys.length > 0 && !keys.some(isListMember) ? "object" : "unknown"
}
