/** What a write changed, in one line. */
import { equals } from "../../base/Json.ts"
import type * as Workflow from "../../n8n/model/Workflow.ts"

const few = (names: ReadonlyArray<string>) =>
  names.length <= 3 ? names.map((name) => `'${name}'`).join(", ") : `${names.length} nodes`

const watched = ["name", "settings", "pinData", "staticData", "nodeGroups", "description"] as const

/** Such as `added 'Slack', changed 3 nodes, connections, settings`; `nothing` when both are the same. */
export const describe = (before: Workflow.Workflow, after: Workflow.Workflow): string => {
  const old = new Map(before.nodes.map((node) => [node.name, node]))
  const now = new Map(after.nodes.map((node) => [node.name, node]))
  const added = [...now.keys()].filter((name) => !old.has(name))
  const removed = [...old.keys()].filter((name) => !now.has(name))
  const changed = [...now].filter(([name, node]) => old.has(name) && !equals(node, old.get(name)))
  const parts = [
    ...(added.length === 0 ? [] : [`added ${few(added)}`]),
    ...(removed.length === 0 ? [] : [`removed ${few(removed)}`]),
    ...(changed.length === 0 ? [] : [`changed ${few(changed.map(([name]) => name))}`]),
    ...(equals(before.connections, after.connections) ? [] : ["connections"]),
    ...watched.filter((key) => !equals(before[key], after[key]))
  ]
  return parts.length === 0 ? "nothing" : parts.join(", ")
}
