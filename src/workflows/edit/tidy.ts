/** Arranges nodes from left to right along their links. */
import * as Result from "effect/Result"
import { arr, equals, type Obj, obj, own } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Place from "./place.ts"
import type { Edit } from "./step.ts"

/** A node of the main flow with its sub-nodes. */
interface Block {
  readonly name: string
  readonly width: number
  readonly height: number
  /** Position of each node, relative to the upper left corner. */
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

/** Column of each node: right of the last node that leads to it; links that lead back do not count. */
const columnsOf = (names: ReadonlyArray<string>, targets: ReadonlyMap<string, ReadonlyArray<string>>) => {
  const state = new Map<string, "open" | "done">()
  const order: Array<string> = []
  const forward = new Map<string, ReadonlyArray<string>>()
  const starts = new Set([...targets.values()].flat())
  for (const root of [...names.filter((name) => !starts.has(name)), ...names]) {
    if (state.has(root)) continue
    // Without recursion, for chains of thousands of nodes.
    const stack = [{ name: root, next: 0 }]
    state.set(root, "open")
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const target = (targets.get(top.name) ?? [])[top.next++]
      if (target === undefined) {
        state.set(top.name, "done")
        order.push(top.name)
        stack.pop()
      } else if (state.get(target) !== "open") {
        forward.set(top.name, [...(forward.get(top.name) ?? []), target])
        if (!state.has(target)) {
          state.set(target, "open")
          stack.push({ name: target, next: 0 })
        }
      }
    }
  }
  const columns = new Map(names.map((name) => [name, 0]))
  for (const name of order.toReversed()) {
    for (const target of forward.get(name) ?? []) {
      columns.set(target, Math.max(columns.get(target) ?? 0, (columns.get(name) ?? 0) + 1))
    }
  }
  return { columns, forward }
}

/** Groups of connected nodes, each in the order of the nodes. */
const islandsOf = (names: ReadonlyArray<string>, targets: ReadonlyMap<string, ReadonlyArray<string>>) => {
  const neighbours = Map.groupBy(
    [...targets].flatMap(([from, all]) => all.flatMap((to) => [[from, to], [to, from]] as const)),
    ([name]) => name
  )
  const island = new Map<string, number>()
  let count = 0
  for (const name of names) {
    if (island.has(name)) continue
    const stack = [name]
    for (let each = stack.pop(); each !== undefined; each = stack.pop()) {
      if (island.has(each)) continue
      island.set(each, count)
      stack.push(...(neighbours.get(each) ?? []).map(([, other]) => other))
    }
    count++
  }
  return [...Map.groupBy(names, (name) => island.get(name) ?? 0).values()]
}

/** Positions of the nodes of one group, relative to its upper left corner, and its height. */
const layOut = (
  names: ReadonlyArray<string>,
  targets: ReadonlyMap<string, ReadonlyArray<string>>,
  blocks: ReadonlyMap<string, Block>
) => {
  const { columns, forward } = columnsOf(names, targets)
  const sources = Map.groupBy([...forward].flatMap(([from, all]) => all.map((to) => ({ from, to }))), ({ to }) => to)
  // Branches keep the order of their outputs.
  const turn = new Map([...forward.values()].flat().map((name, index) => [name, index]))
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
  for (const island of islandsOf(names, targets)) {
    const { height, places: inIsland } = layOut(island, targets, blocks)
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
