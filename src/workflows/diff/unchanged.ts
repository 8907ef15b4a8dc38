/** Counts of what two states of a workflow have in common. */
import { equals, obj } from "../../base/Json.ts"
import { namedNodes, nameOf } from "../../n8n/model/Workflow.ts"
import { type Document, make } from "./changes.ts"

const same = (before: unknown, after: unknown): number =>
  Object.entries(obj(after) ?? {}).filter(([key, value]) => equals(obj(before)?.[key], value)).length

/** Numbers of nodes (apart from positions), credentials of nodes and settings that are equal before and after. */
export const unchanged = (before: Document, after: Document) => {
  const { nodes } = make(before, after)
  const changed = new Set(nodes.flatMap(({ change, name }) => change === "moved" || change === "removed" ? [] : [name]))
  const former = new Map(nodes.flatMap(({ formerName, name }) => formerName === undefined ? [] : [[name, formerName]]))
  const old = new Map(namedNodes(before).map((node) => [nameOf(node), node["credentials"]]))
  const all = namedNodes(after)
  return {
    nodes: all.filter((node) => !changed.has(nameOf(node))).length,
    credentials: all.reduce((sum, node) => {
      const name = nameOf(node)
      return sum + same(old.get(former.get(name) ?? name), node["credentials"])
    }, 0),
    settings: same(before["settings"], after["settings"])
  }
}
