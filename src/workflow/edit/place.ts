/** Positions of new nodes on the canvas, and the arrangement of all from left to right along their links. */
import * as Result from "effect/Result"
import { arr, equals, num, type Obj, obj, own } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Graph from "../Graph.ts"
import { arrange } from "./Arrangement.ts"
import type { Edit, Lookups } from "./step.ts"

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
}

/** Distances: between the left sides of two nodes in a row, between rows, between sub-nodes. */
const [right, down, beside] = [220, 200, 160]
const [narrow, wide] = [96, 256]
export const height = 96
const room = 32

/** Largest coordinate; beyond it floating-point steps get too coarse. */
const farthest = 1e9

/** Width of a node; n8n draws nodes with sub-nodes wider. */
export const widthOf = (type: string, { find }: Lookups): number => {
  const inputs = find(type)?.descriptions[0]?.inputs
  return inputs !== undefined && JSON.stringify(inputs).includes("ai_") ? wide : narrow
}

const boxOf = (node: Obj, lookups: Lookups): Box | undefined => {
  const [x, y] = arr(node["position"]).map(num)
  return x === undefined || y === undefined || Math.max(Math.abs(x), Math.abs(y)) >= farthest || Workflow.isNote(node)
    ? undefined
    : { x, y, width: widthOf(Workflow.typeOf(node), lookups) }
}

export const corner = (nodes: ReadonlyArray<Obj>, lookups: Lookups): readonly [x: number, y: number] => {
  const boxes = nodes.flatMap((node) => boxOf(node, lookups) ?? [])
  const least = (key: "x" | "y") => Math.round(boxes.reduce((least, box) => Math.min(least, box[key]), Infinity))
  return boxes.length === 0 ? [0, 0] : [least("x"), least("y")]
}

const overlap = (a: Box, b: Box) =>
  a.x < b.x + b.width + room && b.x < a.x + a.width + room && Math.abs(a.y - b.y) < height + room

/** Free position: right of the anchor, below it for a sub-node, without an anchor to the right of all. */
export const find = (
  workflow: Obj,
  { anchor, isSub, type }: { readonly type: string; readonly anchor: Obj | undefined; readonly isSub: boolean },
  lookups: Lookups
): readonly [number, number] => {
  const boxes = Workflow.nodes(workflow).flatMap((node) => boxOf(node, lookups) ?? [])
  const width = widthOf(type, lookups)
  const last = boxes.reduce<Box | undefined>(
    (most, box) => most === undefined || box.x > most.x ? box : most,
    undefined
  )
  const atAnchor = anchor && boxOf(anchor, lookups)
  const from = atAnchor ?? last
  if (from === undefined) return [0, 0]
  const isBelow = isSub && atAnchor !== undefined
  let [x, y] = [
    Math.round(isBelow ? from.x : from.x + from.width + right - narrow),
    Math.round(isBelow ? from.y + down : from.y)
  ]
  while (boxes.some((box) => overlap({ x, y, width }, box))) {
    if (isBelow) x += beside
    else y += down
  }
  return [x, y]
}

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
      width: widthOf(Workflow.typeOf(node), lookups),
      height: height
    })),
    Graph.of(Connections.links(workflow["connections"]).filter(({ from, to }) => byName.has(from) && byName.has(to)))
  )
  const [left, top] = corner([...byName.values()], lookups)
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
