/** Uses of a node's items by the rest of a workflow. */
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Answering from "../Answering.ts"
import types from "./downstream.json" with { type: "json" }
import type { Old } from "./mapping.ts"

/** Nodes after an output of a node; `undefined` for all outputs. */
const after = (workflow: Obj, name: string, output?: number): ReadonlyArray<string> => {
  const id = Workflow.nodes(workflow).find((node) => Workflow.nameOf(node) === name)?.["id"]
  const connections = obj(workflow["connections"]) ?? {}
  return [name, ...(typeof id === "string" ? [id] : [])].flatMap((key) =>
    arr(obj(Object.hasOwn(connections, key) ? connections[key] : undefined)?.["main"])
      .filter((_, index) => output === undefined || index === output)
      .flatMap((targets) => arr(targets).map((target) => str(obj(target)?.["node"]) ?? ""))
  )
}

const textsOf = (node: Obj) => JsonPath.strings(node["parameters"]).map(([, text]) => text)

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")

const nodesAfter = (workflow: Obj, name: string, output?: number): ReadonlyArray<Obj> => {
  const targets = new Set(after(workflow, name, output))
  return Workflow.nodes(workflow).filter((node) =>
    targets.has(Workflow.nameOf(node)) || targets.has(str(node["id"]) ?? "-")
  )
}

/** Nodes after or before a node. */
export const connected = (workflow: Obj, name: string, direction: "after" | "before"): ReadonlyArray<Obj> => {
  const nodes = Workflow.nodes(workflow)
  const next = new Map(nodes.map((node) => [node, nodesAfter(workflow, Workflow.nameOf(node))]))
  const reached = new Set<Obj>()
  const work = nodes.filter((node) => Workflow.nameOf(node) === name)
  for (let node = work.pop(); node !== undefined; node = work.pop()) {
    const here = node
    const more = direction === "after"
      ? next.get(here) ?? []
      : nodes.filter((each) => next.get(each)?.includes(here) === true)
    for (const each of more) {
      if (reached.has(each)) continue
      reached.add(each)
      work.push(each)
    }
  }
  return [...reached]
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
export const seesMore = (workflow: Obj, name: string, field: string, output?: number): boolean => {
  const isReturned = Answering.returnsItems(workflow)
  const reads = new RegExp(`(?:\\.|["'])${field}(?:["']\\])?(?![\\w.?\\[])`)
  const reached = new Set<Obj>()
  const work = [...nodesAfter(workflow, name, output)]
  if (work.length === 0 && output === undefined && isReturned) return true
  for (let node = work.pop(); node !== undefined; node = work.pop()) {
    if (reached.has(node)) continue
    reached.add(node)
    const expressions = textsOf(node).filter((text) => text.startsWith("=")).join("\n")
    if (!isClosed(node) || whole.test(expressions) || reads.test(expressions)) return true
    if (!passes(node)) continue
    const next = nodesAfter(workflow, Workflow.nameOf(node))
    if (next.length === 0 && isReturned) return true
    work.push(...next)
  }
  const names = [name, ...[...reached].filter(passes).map(Workflow.nameOf)].map(escaped).join("|")
  const byName = new RegExp(`(?:\\$node\\[|\\$\\(|\\$items\\()["'\`](?:${names})["'\`]`)
  return Workflow.nodes(workflow).some((node) =>
    textsOf(node).some((text) => byName.test(text) && (!text.startsWith("=") || whole.test(text)))
  )
}

/** Kind of response that later nodes expect. */
export type Shape = "object" | "text" | "unknown"

const isListMember = (key: string) => /^\d+$/.test(key) || key === "length" || key in Array.prototype

const key = String.raw`(?:\??\.([A-Za-z_$][\w$]*)|\??\.?\[["']([^"'\]]+)["']\]|\[(\d+)\])`

const readers = new Set(["htmlExtract", "html", "xml", "markdown"].map((name) => `n8n-nodes-base.${name}`))
const textMembers = new Set(["split", "match", "matchAll", "replace", "replaceAll", "trim", "toLowerCase", "substring"])

/** Shape of a node's response by the fields that other nodes read of it. */
export const shapeOf = ({ name, parameters, workflow }: Old, isFull: boolean): Shape => {
  const next = new Set(after(workflow, name))
  const isText = parameters["responseFormat"] === "string"
  const field = escaped(String(parameters["dataPropertyName"] ?? "data"))
  const by = `(?:\\$node\\[["']${escaped(name)}["']\\]|\\$\\(["']${escaped(name)}["']\\)(?:\\.\\w+(?:\\(\\))?)?|` +
    `\\$items\\(["']${escaped(name)}["']\\)\\[0\\])\\.json`
  const direct = String
    .raw`(?:\$json|items\[0\]\.json|\$input\.(?:first|last)\(\)\.json|\$input\.item\.json|item\.json)`
  const keys: Array<string> = []
  for (const node of Workflow.nodes(workflow)) {
    const isNext = next.has(Workflow.nameOf(node)) || next.has(str(node["id"]) ?? "-")
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
