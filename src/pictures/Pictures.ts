/** Pictures with the catalogue's knowledge of node types and a position for every node. */
import * as Effect from "effect/Effect"
import { num, type Obj, str } from "../base/Json.ts"
import * as NodeCatalogue from "../catalogue/NodeCatalogue.ts"
import * as Parameters from "../catalogue/parameters/Parameters.ts"
import * as NodeType from "../catalogue/types/NodeType.ts"
import * as Ports from "../catalogue/types/Ports.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { arrange } from "../workflow/edit/Arrangement.ts"
import * as Graph from "../workflow/Graph.ts"
import * as geometry from "./geometry.ts"
import * as Picture from "./Picture.ts"

const [across, along, beside, under] = [128, 96, 48, 128]

const labelRoom = 64

const boxOf = (node: Picture.Node, place: geometry.Point): geometry.Box => ({ ...place, ...geometry.size(node) })

const withLabel = (box: geometry.Box): geometry.Box => ({ ...box, height: box.height + labelRoom })

/** Whether a node has to move: close nodes may stay, but a removed node yields to any other. */
const collides = ({ status }: Picture.Node, box: geometry.Box, other: geometry.Box): boolean =>
  status === "removed" ? geometry.overlap(withLabel(other), withLabel(box), 0) : geometry.overlap(other, box, 1 / 3)

/** Nodes without a position, and nodes hidden by an earlier one. */
const unplaced = (nodes: ReadonlyArray<Picture.Node>): ReadonlySet<Picture.Node> => {
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
const nudge = ({ links, nodes, ...picture }: Picture.Picture, moved: ReadonlySet<Picture.Node>): Picture.Picture => {
  const boxes = new Map(
    nodes.flatMap((node) => node.place === undefined || moved.has(node) ? [] : [[node.id, boxOf(node, node.place)]])
  )
  const besideNeighbour = ({ id }: Picture.Node): geometry.Point => {
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

const layOut = ({ links, nodes, notes, ...picture }: Picture.Picture): Picture.Picture => {
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

export const place = (picture: Picture.Picture): Picture.Picture => {
  const moved = unplaced(picture.nodes)
  if (moved.size === 0) return picture
  // A removed node often lies under its replacement.
  const missing = [...moved].filter(({ status }) => status !== "removed")
  return missing.length > few * picture.nodes.length ? layOut(picture) : nudge(picture, moved)
}

const subtitleOf = ({ operation, resource }: Obj) =>
  typeof operation === "string" && !operation.startsWith("=")
    ? { subtitle: typeof resource === "string" && !resource.startsWith("=") ? `${operation}: ${resource}` : operation }
    : {}

const lookBy =
  (find: (type: string) => NodeType.NodeType | undefined, evaluate: Ports.Evaluate): Picture.LookOf => (node) => {
    const nodeType = find(Workflow.typeOf(node))
    const version = num(node["typeVersion"]) ?? 1
    const description = nodeType && (NodeType.at(nodeType, version) ?? nodeType.descriptions[0])
    if (description === undefined) return undefined
    const own = Workflow.parametersOf(node)
    const parameters = Parameters.complete(description, { typeVersion: version, parameters: own })
    const shape = { parameters, own, version, onError: str(node["onError"]) }
    return {
      label: description.displayName,
      isTrigger: description.group.includes("trigger"),
      inputs: Ports.inputs(description, shape, evaluate),
      outputs: Ports.outputs(description, shape, evaluate),
      ...subtitleOf(parameters)
    }
  }

/** Picture of a workflow with an overlay, ready to be drawn. */
export const make = Effect.fn("Pictures.make")(function*(
  workflow: Picture.Document,
  options: Pick<Picture.Options, "overlay" | "showsSecrets"> = {}
): Effect.fn.Return<Picture.Picture, never, NodeCatalogue.NodeCatalogue> {
  const before = options.overlay?._tag === "Difference" ? [options.overlay.before] : []
  const lookOf = yield* Effect.all([
    NodeCatalogue.findAll([workflow, ...before].flatMap(Workflow.typesOf)),
    Ports.evaluator
  ]).pipe(
    Effect.map(([find, evaluate]) => lookBy(find, evaluate)),
    // Without the catalogue, nodes have no ports and labels of their own.
    Effect.orElseSucceed(() => undefined)
  )
  return place(Picture.make(workflow, { ...options, ...(lookOf && { lookOf }) }))
})
