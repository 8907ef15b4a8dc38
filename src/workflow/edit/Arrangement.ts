/** Positions of nodes from left to right along their links, sub-nodes below the node that they serve. Pure. */
import * as Graph from "../Graph.ts"

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
const subNodesOf = ({ into, links, out }: Graph.Graph<Graph.Edge>): Targets => {
  const isInFlow = (id: string) => out(id).some(Graph.isMain) || into(id).some(Graph.isMain)
  const host = new Map<string, string>()
  for (const link of links) {
    const { from, to } = link
    const leadsBack = (id: string | undefined): boolean => id !== undefined && (id === from || leadsBack(host.get(id)))
    if (!Graph.isMain(link) && !isInFlow(from) && !host.has(from) && !leadsBack(to)) host.set(from, to)
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
