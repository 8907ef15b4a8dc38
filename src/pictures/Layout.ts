/**
 * Positions for the nodes of a picture that have none or that hide each other.
 *
 * **Details**
 *
 * A few nodes are moved to free positions. If many have no position, all are laid out from left to right with sub-nodes
 * below their parents, like "Tidy up" in n8n's editor; the layout library is loaded only then.
 */
import * as Effect from "effect/Effect"
import * as geometry from "./geometry.ts"
import type { Link, Node, Picture } from "./Picture.ts"

/** Distances between nodes, as in the editor. */
const [across, along, beside, under] = [128, 96, 48, 128]

/** Height of the text under a node. */
const labelRoom = 64

const boxOf = (node: Node, place: geometry.Point): geometry.Box => ({ ...place, ...geometry.size(node) })

/** Box including the text under the node. */
const withLabel = (box: geometry.Box): geometry.Box => ({ ...box, height: box.height + labelRoom })

/** Whether a node has to move: close nodes may stay, but a removed node yields to any other. */
const collides = ({ status }: Node, box: geometry.Box, other: geometry.Box): boolean =>
  status === "removed"
    ? geometry.overlap(withLabel(other), withLabel(box), 0)
    : geometry.overlap(other, box, 1 / 3)

/** Nodes without a position, and nodes hidden by an earlier one. */
const unplaced = (nodes: ReadonlyArray<Node>): ReadonlySet<Node> => {
  const boxes: Array<geometry.Box> = []
  return new Set(nodes.filter((node) => {
    const box = node.place && boxOf(node, node.place)
    if (box === undefined || boxes.some((each) => collides(node, box, each))) return true
    boxes.push(box)
    return false
  }))
}

/** Largest share of nodes that are moved individually. */
const few = 0.34

/** Moves single nodes down to a free position, from their own or a neighbour's position. */
const nudge = ({ links, nodes, ...picture }: Picture, moved: ReadonlySet<Node>): Picture => {
  const places = new Map(
    nodes.flatMap((node) => node.place !== undefined && !moved.has(node) ? [[node.id, node.place]] : [])
  )
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const boxes = [...places].flatMap(([id, place]) => {
    const node = byId.get(id)
    return node === undefined ? [] : [boxOf(node, place)]
  })
  const besideNeighbour = (node: Node): geometry.Point => {
    const link = links.find(({ from, to }) => to === node.id && places.has(from) || from === node.id && places.has(to))
    const other = places.get(link?.to === node.id ? link.from : link?.to ?? "")
    if (link === undefined || other === undefined) {
      return { x: Math.max(0, ...boxes.map(({ width, x }) => x + width)) + across, y: boxes[0]?.y ?? 0 }
    }
    if (link.output.type !== "main") return { x: other.x, y: other.y + under + along }
    return { x: other.x + (link.to === node.id ? 1 : -1) * (across + along), y: other.y }
  }
  for (const node of moved) {
    const { x, y } = node.place ?? besideNeighbour(node)
    let free = y
    while (boxes.some((each) => geometry.overlap(withLabel(each), withLabel(boxOf(node, { x, y: free })), 0))) {
      free += 2 * geometry.grid
    }
    boxes.push(boxOf(node, { x, y: free }))
    places.set(node.id, { x, y: free })
  }
  return { ...picture, links, nodes: nodes.map((node) => withPlace(node, places.get(node.id))) }
}

const withPlace = (node: Node, place: geometry.Point = { x: 0, y: 0 }): Node => ({ ...node, place })

/** Node of the main flow with the sub-nodes below it, and the position of each within the block. */
interface Block {
  readonly width: number
  readonly height: number
  readonly places: ReadonlyMap<string, geometry.Point>
}

/** Parent of each sub-node: the first, if it has several. */
const hostsOf = (nodes: ReadonlyArray<Node>, links: ReadonlyArray<Link>): ReadonlyMap<string, string> => {
  const subs = new Set(nodes.flatMap(({ id, kind }) => kind === "sub" ? [id] : []))
  const hosts = new Map<string, string>()
  for (const { from, output, to } of links) {
    const leadsBack = (id: string | undefined): boolean => id !== undefined && (id === from || leadsBack(hosts.get(id)))
    if (output.type !== "main" && subs.has(from) && !hosts.has(from) && !leadsBack(to)) hosts.set(from, to)
  }
  return hosts
}

const layOut = async ({ links, nodes, notes, ...picture }: Picture): Promise<Picture> => {
  const { default: dagre } = await import("@dagrejs/dagre")
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const hosts = hostsOf(nodes, links)
  const hanging = Map.groupBy(hosts.keys(), (id) => hosts.get(id) ?? "")
  const blockOf = (id: string): Block => {
    const node = byId.get(id)
    const { height, width } = node === undefined ? { width: 0, height: 0 } : geometry.size(node)
    const below = (hanging.get(id) ?? []).map(blockOf)
    const places = new Map<string, geometry.Point>([[id, { x: 0, y: 0 }]])
    let x = 0
    for (const block of below) {
      for (const [inner, place] of block.places) {
        places.set(inner, { x: x + place.x, y: height + under + place.y })
      }
      x += block.width + beside
    }
    return {
      places,
      width: Math.max(width, x - beside),
      height: height + labelRoom + Math.max(0, ...below.map((block) => block.height + under))
    }
  }
  const blocks = new Map(nodes.flatMap(({ id }) => hosts.has(id) ? [] : [[id, blockOf(id)]]))
  const graph = new dagre.graphlib.Graph()
    .setGraph({ rankdir: "LR", nodesep: along - labelRoom, ranksep: across, edgesep: along / 2 })
    .setDefaultEdgeLabel(() => ({}))
  for (const [id, { height, width }] of blocks) graph.setNode(id, { width, height })
  for (const { from, to } of links) {
    if (from !== to && blocks.has(from) && blocks.has(to)) graph.setEdge(from, to)
  }
  dagre.layout(graph)
  const places = new Map([...blocks].flatMap(([id, block]) => {
    const { x, y } = graph.node(id)
    const corner = { x: x - block.width / 2, y: y - block.height / 2 }
    return [...block.places].map(([inner, place]) =>
      [
        inner,
        { x: Math.round(corner.x + place.x), y: Math.round(corner.y + place.y) }
      ] as const
    )
  }))
  const noteHeight = Math.max(0, ...notes.map(({ height }) => height))
  let x = 0
  return {
    ...picture,
    links,
    nodes: nodes.map(({ formerPlace: _, ...node }) => withPlace(node, places.get(node.id))),
    notes: notes.map((note) => {
      const placed = { ...note, x, y: -noteHeight - across }
      x += note.width + beside
      return placed
    })
  }
}

/** Picture with a position for every node. */
export const place = (picture: Picture): Effect.Effect<Picture> => {
  const moved = unplaced(picture.nodes)
  if (moved.size === 0) return Effect.succeed(picture)
  // A removed node often lies under its replacement.
  const missing = [...moved].filter(({ status }) => status !== "removed")
  return missing.length > few * picture.nodes.length
    ? Effect.promise(() => layOut(picture))
    : Effect.succeed(nudge(picture, moved))
}
