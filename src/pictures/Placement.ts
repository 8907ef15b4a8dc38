/**
 * Positions for the nodes of a picture that have none or that hide each other. Pure.
 *
 * **Details**
 *
 * A few nodes are moved to free positions. If many have no position, all are arranged as by "Tidy up" in n8n's editor.
 */
import { arrange } from "../workflow/edit/Arrangement.ts"
import * as Graph from "../workflow/Graph.ts"
import * as geometry from "./geometry.ts"
import type { Node, Picture } from "./Picture.ts"

const [across, along, beside, under] = [128, 96, 48, 128]

const labelRoom = 64

const boxOf = (node: Node, place: geometry.Point): geometry.Box => ({ ...place, ...geometry.size(node) })

const withLabel = (box: geometry.Box): geometry.Box => ({ ...box, height: box.height + labelRoom })

/** Whether a node has to move: close nodes may stay, but a removed node yields to any other. */
const collides = ({ status }: Node, box: geometry.Box, other: geometry.Box): boolean =>
  status === "removed" ? geometry.overlap(withLabel(other), withLabel(box), 0) : geometry.overlap(other, box, 1 / 3)

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

const few = 0.34

/** Moves single nodes down to a free position, from their own or a neighbour's position. */
const nudge = ({ links, nodes, ...picture }: Picture, moved: ReadonlySet<Node>): Picture => {
  const boxes = new Map(
    nodes.flatMap((node) => node.place === undefined || moved.has(node) ? [] : [[node.id, boxOf(node, node.place)]])
  )
  const besideNeighbour = ({ id }: Node): geometry.Point => {
    const link = links.find(({ from, to }) => to === id && boxes.has(from) || from === id && boxes.has(to))
    const other = boxes.get(link?.to === id ? link.from : link?.to ?? "")
    if (link === undefined || other === undefined) {
      const all = [...boxes.values()]
      return { x: Math.max(0, ...all.map(({ width, x }) => x + width)) + across, y: all[0]?.y ?? 0 }
    }
    if (link.output.type !== "main") return { x: other.x, y: other.y + under + along }
    return { x: other.x + (link.to === id ? 1 : -1) * (across + along), y: other.y }
  }
  for (const node of moved) {
    const box = boxOf(node, node.place ?? besideNeighbour(node))
    let y = box.y
    while ([...boxes.values()].some((each) => geometry.overlap(withLabel(each), withLabel({ ...box, y }), 0))) {
      y += 2 * geometry.grid
    }
    boxes.set(node.id, { ...box, y })
  }
  return {
    ...picture,
    links,
    nodes: nodes.map((node) => {
      const { x, y } = boxes.get(node.id) ?? { x: 0, y: 0 }
      return { ...node, place: { x, y } }
    })
  }
}

const layOut = ({ links, nodes, notes, ...picture }: Picture): Picture => {
  const places = arrange(
    nodes.map((node) => ({ id: node.id, ...geometry.size(node) })),
    Graph.of(links)
  )
  const noteHeight = Math.max(0, ...notes.map(({ height }) => height))
  let x = 0
  return {
    ...picture,
    links,
    nodes: nodes.map(({ formerPlace: _, ...node }) => {
      const [x, y] = places.get(node.id) ?? [0, 0]
      return { ...node, place: { x, y } }
    }),
    notes: notes.map((note) => {
      const placed = { ...note, x, y: -noteHeight - across }
      x += note.width + beside
      return placed
    })
  }
}

export const place = (picture: Picture): Picture => {
  const moved = unplaced(picture.nodes)
  if (moved.size === 0) return picture
  // A removed node often lies under its replacement.
  const missing = [...moved].filter(({ status }) => status !== "removed")
  return missing.length > few * picture.nodes.length ? layOut(picture) : nudge(picture, moved)
}
