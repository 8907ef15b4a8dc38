/** Arranges nodes from left to right along their links. */
import * as Graph from "effect/Graph"
import * as Result from "effect/Result"
import { arr, equals, type Obj, obj, own } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Place from "./place.ts"
import type { Edit } from "./step.ts"

interface Block {
  readonly name: string
  readonly width: number
  readonly height: number
  readonly places: ReadonlyMap<string, readonly [x: number, y: number]>
}

const [betweenColumns, betweenRows, betweenBeside, levelHeight] = [124, 104, 64, 200]

/** Sub-nodes of each node; one that serves several belongs to the first. */
const subNodesOf = (links: ReadonlyArray<Connections.Link>) => {
  const isMain = new Set(links.flatMap(({ from, output, to }) => output.type === "main" ? [from, to] : []))
  const host = new Map<string, string>()
  for (const { from, output, to } of links) {
    const leadsBack = (name: string | undefined): boolean =>
      name !== undefined && (name === from || leadsBack(host.get(name)))
    if (output.type !== "main" && !isMain.has(from) && !host.has(from) && !leadsBack(to)) host.set(from, to)
  }
  return Map.groupBy(host.keys(), (name) => host.get(name) ?? "")
}

const blockOf = (
  name: string,
  subNodes: ReadonlyMap<string, ReadonlyArray<string>>,
  widthOf: (name: string) => number
): Block => {
  const below = (subNodes.get(name) ?? []).map((each) => blockOf(each, subNodes, widthOf))
  const places = new Map<string, readonly [number, number]>([[name, [0, 0]]])
  let x = 0
  for (const block of below) {
    for (const [inner, [dx, dy]] of block.places) places.set(inner, [x + dx, levelHeight + dy])
    x += block.width + betweenBeside
  }
  return {
    name,
    places,
    width: Math.max(widthOf(name), x - betweenBeside),
    height: Place.height + Math.max(0, ...below.map(({ height }) => height + levelHeight - Place.height))
  }
}

type Targets = ReadonlyMap<string, ReadonlyArray<string>>

/** Order in which no link leads back except in a loop, and the groups of connected nodes, each in the order of nodes. */
const orderOf = (names: ReadonlyArray<string>, targets: Targets) => {
  const graph = Graph.directed<string, undefined>((mutable) => {
    const indices = new Map(names.map((name) => [name, Graph.addNode(mutable, name)]))
    for (const [from, all] of targets) {
      for (const to of all) Graph.addEdge(mutable, indices.get(from) ?? 0, indices.get(to) ?? 0, undefined)
    }
    return undefined
  })
  const indices = [...names.keys()]
  const starts = indices.filter((index) => Graph.inDegree(graph, index) === 0)
  const order = [...Graph.values(Graph.dfsPostOrder(graph, { start: [...starts, ...indices] }))].toReversed()
  const islands = Graph.weaklyConnectedComponents(graph).map((island) =>
    island.toSorted((a, b) => a - b).map((index) => names[index] ?? "")
  )
  return { order, islands }
}

/** Column of each node, right of the last node that leads to it, and the links that do not lead back. */
const columnsOf = (order: ReadonlyArray<string>, targets: Targets) => {
  const rank = new Map(order.map((name, index) => [name, index]))
  const columns = new Map(order.map((name) => [name, 0]))
  const forward = order.flatMap((from) =>
    (targets.get(from) ?? []).flatMap((to) => (rank.get(to) ?? 0) > (rank.get(from) ?? 0) ? [{ from, to }] : [])
  )
  for (const { from, to } of forward) {
    columns.set(to, Math.max(columns.get(to) ?? 0, (columns.get(from) ?? 0) + 1))
  }
  return { columns, forward }
}

/** Positions of the nodes of one group, relative to its upper left corner, and its height. */
const layOut = (
  names: ReadonlyArray<string>,
  { columns, forward }: ReturnType<typeof columnsOf>,
  blocks: ReadonlyMap<string, Block>
) => {
  const sources = Map.groupBy(forward, ({ to }) => to)
  // Branches keep the order of their outputs.
  const turn = new Map(forward.map(({ to }, index) => [to, index]))
  const byColumn = Map.groupBy(names, (name) => columns.get(name) ?? 0)
  const rows = new Map<string, number>()
  const places = new Map<string, readonly [number, number]>()
  let [x, height] = [0, 0]
  for (let column = 0; byColumn.has(column); column++) {
    const wish = (name: string) => {
      const from = (sources.get(name) ?? []).map(({ from }) => rows.get(from) ?? 0)
      return from.length === 0 ? 0 : from.reduce((sum, row) => sum + row, 0) / from.length
    }
    const inOrder = (byColumn.get(column) ?? []).toSorted((a, b) =>
      wish(a) - wish(b) || (turn.get(a) ?? 0) - (turn.get(b) ?? 0)
    )
    let [free, width] = [0, 0]
    for (const name of inOrder) {
      const block = blocks.get(name)
      if (block === undefined) continue
      const y = Math.max(free, Math.round(wish(name)))
      rows.set(name, y)
      for (const [inner, [dx, dy]] of block.places) places.set(inner, [x + dx, y + dy])
      free = y + block.height + betweenRows
      width = Math.max(width, block.width)
      height = Math.max(height, y + block.height)
    }
    x += width + betweenColumns
  }
  return { places, height }
}

/** Arranges all nodes from left to right, sub-nodes below their node; sticky notes stay. */
export const tidy: Edit<"tidy"> = (workflow, _, lookups) => {
  const nodes = arr(workflow["nodes"])
  const byName = new Map<string, Obj>()
  for (const node of Workflow.nodes(workflow)) {
    const name = Workflow.nameOf(node)
    if (name !== "" && !byName.has(name) && !Workflow.isNote(node)) byName.set(name, node)
  }
  const links = Connections.links(workflow["connections"]).filter(({ from, to }) => byName.has(from) && byName.has(to))
  const subNodes = subNodesOf(links)
  const hanging = new Set([...subNodes.values()].flat())
  const names = [...byName.keys()].filter((name) => !hanging.has(name))
  const flow = links.filter(({ from, output, to }) => output.type === "main" && from !== to)
  const targets = new Map(
    [...Map.groupBy(flow, ({ from }) => from)].map(([from, all]) => [from, [...new Set(all.map(({ to }) => to))]])
  )
  const widthOf = (name: string) => Place.widthOf(Workflow.typeOf(byName.get(name)), lookups)
  const blocks = new Map(names.map((name) => [name, blockOf(name, subNodes, widthOf)]))
  const [left, top] = Place.corner([...byName.values()], lookups)
  const places = new Map<unknown, readonly [x: number, y: number]>()
  let y = top
  const { islands, order } = orderOf(names, targets)
  const columns = columnsOf(order, targets)
  for (const island of islands) {
    const { height, places: inIsland } = layOut(island, columns, blocks)
    for (const [name, [dx, dy]] of inIsland) places.set(byName.get(name), [left + dx, y + dy])
    y += height + betweenRows
  }
  let count = 0
  const placed = nodes.map((node) => {
    const place = places.get(node)
    if (place === undefined || equals(own(node, "position"), place)) return node
    count++
    return { ...obj(node), position: place }
  })
  return Result.succeed(
    count === 0
      ? { workflow, changes: ["every node is already in place"] }
      : { workflow: { ...workflow, nodes: placed }, changes: [`tidied: moved ${counted(count, "node")}`] }
  )
}
