/** Uses of a node's items by the rest of a workflow. */
import { arr, obj, type Obj, str } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
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

/** Whether an output of a node leads nowhere. */
export const endsHere = (workflow: Obj, name: string, output: number): boolean =>
  after(workflow, name, output).length === 0

/** Kind of response that what follows expects. */
export type Shape = "object" | "text" | "unknown"

const isListMember = (key: string) => /^\d+$/.test(key) || key === "length" || key in Array.prototype

const key = String.raw`(?:\??\.([A-Za-z_$][\w$]*)|\??\.?\[["']([^"'\]]+)["']\]|\[(\d+)\])`

const texts = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" ? [value] : typeof value === "object" && value !== null
    ? Object.values(value).flatMap(texts)
    : []

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")

const readers = ["htmlExtract", "html", "xml", "markdown"].map((name) => `n8n-nodes-base.${name}`)
const textMembers = ["split", "match", "matchAll", "replace", "replaceAll", "trim", "toLowerCase", "substring"]

/** Shape of a node's response by the fields that other nodes read of it. */
export const shapeOf = ({ name, parameters, workflow }: Old, isFull: boolean): Shape => {
  const next = new Set(after(workflow, name))
  const isText = parameters["responseFormat"] === "string"
  const field = escaped(String(parameters["dataPropertyName"] ?? "data"))
  const by = `(?:\\$node\\[["']${escaped(name)}["']\\]|\\$\\(["']${escaped(name)}["']\\)(?:\\.\\w+(?:\\(\\))?)?|` +
    `\\$items\\(["']${escaped(name)}["']\\)\\[0\\])\\.json`
  const direct = String.raw`(?:\$json|items\[0\]\.json|\$input\.(?:first|last)\(\)\.json|\$input\.item\.json|item\.json)`
  const keys: Array<string> = []
  for (const node of Workflow.nodes(workflow)) {
    const isNext = next.has(Workflow.nameOf(node)) || next.has(str(node["id"]) ?? "-")
    if (isNext && isText && readers.includes(Workflow.typeOf(node))) return "text"
    const split = Workflow.parametersOf(node)["fieldToSplitOut"]
    if (isNext && typeof split === "string" && !split.startsWith("=") && split !== "") keys.push(split)
    const inner = isText ? `(?:\\.${field}|\\[["']${field}["']\\])` : isFull ? "\\.body" : ""
    const pattern = new RegExp(`(?:${isNext ? `${by}|${direct}` : by})${inner}${key}`, "g")
    for (const text of texts(node["parameters"])) {
      for (const [, dotted, quoted, index] of text.matchAll(pattern)) keys.push(dotted ?? quoted ?? index ?? "")
    }
  }
  if (isText) return keys.length > 0 && keys.every((each) => textMembers.includes(each)) ? "text" : "unknown"
  return keys.length > 0 && !keys.some(isListMember) ? "object" : "unknown"
}
