/** Arranges nodes from left to right along their links. */
import * as Result from "effect/Result"
import { arr, equals, type Obj, obj, own } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { arrange } from "./Arrangement.ts"
import * as Place from "./place.ts"
import type { Edit } from "./step.ts"

export const tidy: Edit<"tidy"> = (workflow, _, lookups) => {
  const nodes = arr(workflow["nodes"])
  const byName = new Map<string, Obj>()
  for (const node of Workflow.nodes(workflow)) {
    const name = Workflow.nameOf(node)
    if (name !== "" && !byName.has(name) && !Workflow.isNote(node)) byName.set(name, node)
  }
  const places = arrange(
    [...byName].map(([id, node]) => ({
      id,
      width: Place.widthOf(Workflow.typeOf(node), lookups),
      height: Place.height
    })),
    Connections.links(workflow["connections"]).flatMap(({ from, output, to }) =>
      byName.has(from) && byName.has(to) ? [{ from, to, isMain: output.type === "main" }] : []
    )
  )
  const [left, top] = Place.corner([...byName.values()], lookups)
  const positions = new Map<unknown, readonly [x: number, y: number]>(
    [...places].map(([name, [x, y]]) => [byName.get(name), [left + x, top + y]])
  )
  let count = 0
  const placed = nodes.map((node) => {
    const position = positions.get(node)
    if (position === undefined || equals(own(node, "position"), position)) return node
    count++
    return { ...obj(node), position }
  })
  return Result.succeed(
    count === 0
      ? { workflow, changes: ["every node is already in place"] }
      : { workflow: { ...workflow, nodes: placed }, changes: [`tidied: moved ${counted(count, "node")}`] }
  )
}
