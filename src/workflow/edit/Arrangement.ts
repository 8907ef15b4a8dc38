/** Positions of nodes: from left to right along their links, sub-nodes below the node that they serve, new ones where there is room. */
import * as Result from "effect/Result"
import { arr, equals, num, type Obj, obj, own } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Graph from "../Graph.ts"
import type { Edit, Lookups } from "./step.ts"

export interface Box {
  readonly id: string
  readonly width: number
  readonly height: number
}

export type Place = readonly [x: number, y: number]

/** A node of the main flow with its sub-nodes, placed relative to its upper left corner. */
interface Block {
  readonly width: number
  readonly height: number
  readonly places: ReadonlyMap<string, Place>
}

type Targets = ReadonlyMap<string, ReadonlyArray<string>>

export interface Gaps {
  readonly columns: number
  readonly rows: number
  /** Whether linked nodes are aligned by their middles instead of their upper edges. */
  readonly isCentred?: boolean
}

const [usual, betweenBeside]: readonly [Gaps, number] = [{ columns: 124, rows: 104 }, 64]

/** Sub-nodes of each node; one that serves several belongs to the first. */
const subNodesOf = ({ links }: Graph.Graph<Graph.Edge>): Targets => {
  const inFlow = new Set(links.filter(Graph.isMain).flatMap(({ from, to }) => [from, to]))
  const host = new Map<string, string>()
  for (const link of links) {
    const { from, to } = link
    const leadsBack = (id: string | undefined): boolean => id !== undefined && (id === from || leadsBack(host.get(id)))
    if (!Graph.isMain(link) && !inFlow.has(from) && !host.has(from) && !leadsBack(to)) host.set(from, to)
  }
  return Map.groupBy(host.keys(), (id) => host.get(id) ?? "")
}

const blockOf = ({ height, id, width }: Box, subNodes: Targets, boxes: ReadonlyMap<string, Box>): Block => {
  const below = (subNodes.get(id) ?? []).flatMap((each) => boxes.get(each) ?? [])
    .map((box) => blockOf(box, subNodes, boxes))
  const places = new Map<string, Place>([[id, [0, 0]]])
  let x = 0
  for (const block of below) {
    for (const [inner, [dx, dy]] of block.places) places.set(inner, [x + dx, height + usual.rows + dy])
    x += block.width + betweenBeside
  }
  return {
    places,
    width: Math.max(width, x - betweenBeside),
    height: height + Math.max(0, ...below.map((block) => block.height + usual.rows))
  }
}

const layOut = (
  ids: ReadonlyArray<string>,
  forward: Targets,
  columns: ReadonlyMap<string, number>,
  blocks: ReadonlyMap<string, Block>,
  gaps: Gaps
) => {
  const edges = [...forward].flatMap(([from, all]) => all.map((to) => ({ from, to })))
  const sources = Map.groupBy(edges, ({ to }) => to)
  // Branches keep the order of their outputs.
  const turn = new Map(edges.map(({ to }, index) => [to, index]))
  const byColumn = Map.groupBy(ids, (id) => columns.get(id) ?? 0)
  const rows = new Map<string, number>()
  const places = new Map<string, Place>()
  let [x, height] = [0, 0]
  for (let column = 0; byColumn.has(column); column++) {
    const wish = (id: string) => {
      const from = (sources.get(id) ?? []).map(({ from }) => rows.get(from) ?? 0)
      return from.length === 0 ? 0 : from.reduce((sum, row) => sum + row, 0) / from.length
    }
    const inOrder = (byColumn.get(column) ?? []).toSorted((a, b) =>
      wish(a) - wish(b) || (turn.get(a) ?? 0) - (turn.get(b) ?? 0)
    )
    let [free, width] = [0, 0]
    for (const id of inOrder) {
      const block = blocks.get(id)
      if (block === undefined) continue
      const middle = gaps.isCentred === true ? block.height / 2 : 0
      const y = Math.max(free, Math.round(wish(id) - middle))
      rows.set(id, y + middle)
      for (const [inner, [dx, dy]] of block.places) places.set(inner, [x + dx, y + dy])
      free = y + block.height + gaps.rows
      width = Math.max(width, block.width)
      height = Math.max(height, y + block.height)
    }
    x += width + gaps.columns
  }
  return { places, width: Math.max(0, x - gaps.columns), height }
}

/** Groups of nodes that no link connects: positions, each relative to its group's upper left corner. */
export const islands = (boxes: ReadonlyArray<Box>, graph: Graph.Graph<Graph.Edge>, gaps: Gaps = usual) => {
  const byId = new Map(boxes.map((box) => [box.id, box]))
  const subNodes = subNodesOf(graph)
  const hanging = new Set([...subNodes.values()].flat())
  const blocks = new Map(
    boxes.flatMap((box) => hanging.has(box.id) ? [] : [[box.id, blockOf(box, subNodes, byId)] as const])
  )
  const ids = [...blocks.keys()]
  const { columns, forward, islands } = Graph.layers(graph, ids)
  return islands.map((island) => layOut(ids.filter((id) => island.has(id)), forward, columns, blocks, gaps))
}

/** Position of each node, relative to the upper left corner; groups that no link connects are below each other. */
export const arrange = (boxes: ReadonlyArray<Box>, graph: Graph.Graph<Graph.Edge>): ReadonlyMap<string, Place> => {
  let y = 0
  return new Map(
    islands(boxes, graph).flatMap(({ height, places }) => {
      const top = y
      y += height + usual.rows
      return [...places].map(([id, [dx, dy]]) => [id, [dx, top + dy]] as const)
    })
  )
}

interface Spot {
  readonly x: number
  readonly y: number
  readonly width: number
}

/** Distances of new nodes: between the left sides of two nodes in a row, between rows, between sub-nodes. */
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

const boxOf = (node: Obj, lookups: Lookups): Spot | undefined => {
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

const overlap = (a: Spot, b: Spot) =>
  a.x < b.x + b.width + room && b.x < a.x + a.width + room && Math.abs(a.y - b.y) < height + room

/** Free position: right of the anchor, below it for a sub-node, without an anchor to the right of all. */
export const freePlace = (
  workflow: Obj,
  { anchor, isSub, type }: { readonly type: string; readonly anchor: Obj | undefined; readonly isSub: boolean },
  lookups: Lookups
): readonly [number, number] => {
  const boxes = Workflow.nodes(workflow).flatMap((node) => boxOf(node, lookups) ?? [])
  const width = widthOf(type, lookups)
  const last = boxes.reduce<Spot | undefined>(
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
