/** Positions of workflows on a map: callers before callees, and similar callers in one frame. Pure. */
import type { Edge } from "../fleet/Map.ts"
import * as Arrangement from "../workflow/edit/Arrangement.ts"
import * as Graph from "../workflow/Graph.ts"
import type { Box } from "./geometry.ts"

export const size = { width: 204, height: 56 }

/** Frame around workflows without callers that are linked to the same workflows in the same way. */
export interface Frame extends Box {
  readonly ids: ReadonlyArray<string>
  /** Absent for workflows without links. */
  readonly edges: ReadonlyArray<Edge>
}

const [gap, padding, heading] = [12, 16, 28]
const gaps = { columns: 150, rows: 28, isCentred: true }
const leastInFrame = 3

/** Room for a link that leads back, below what it passes. */
const roomToReturn = 120

const frameOf = (ids: ReadonlyArray<string>, edges: ReadonlyArray<Edge>) => {
  const columns = Math.max(1, Math.round(Math.sqrt(ids.length * 0.7)))
  return {
    ids,
    edges,
    columns,
    width: 2 * padding + columns * (size.width + gap) - gap,
    height: heading + padding + Math.ceil(ids.length / columns) * (size.height + gap) - gap
  }
}

/** Places boxes in rows of about this width, the tallest first. */
const shelve = <A extends { readonly width: number; readonly height: number }>(all: ReadonlyArray<A>, most: number) => {
  let [x, y, tallest] = [0, 0, 0]
  return all.toSorted((a, b) => b.height - a.height).map((each) => {
    if (x > 0 && x + each.width > most) [x, y, tallest] = [0, y + tallest + 2 * gaps.rows, 0]
    const placed = { each, x, y }
    x += each.width + gaps.columns / 2
    tallest = Math.max(tallest, each.height)
    return placed
  })
}

/** Positions of workflows by id, and frames; those in `apart` are in no frame. */
export const layOut = (ids: ReadonlyArray<string>, edges: ReadonlyArray<Edge>, apart: ReadonlySet<string>) => {
  const graph = Graph.of(edges)
  const alike = Map.groupBy(
    ids.filter((id) => graph.into(id).length === 0 && !apart.has(id)),
    (id) => JSON.stringify(graph.out(id).map(({ kind, state, to }) => [to, kind, state ?? ""]).toSorted())
  )
  const framed = new Map(
    [...alike].flatMap(([key, [first = "", ...others]]) => {
      const edges = graph.out(first)
      return others.length + 1 >= leastInFrame || edges.length === 0
        ? [[key, frameOf([first, ...others], edges)] as const]
        : []
    })
  )
  const keyOf = new Map([...framed].flatMap(([key, { ids }]) => ids.map((id) => [id, key] as const)))
  const boxes = new Map<string, Pick<Box, "width" | "height">>([
    ...framed,
    ...ids.flatMap((id) => keyOf.has(id) ? [] : [[id, size] as const])
  ])
  const links = edges.map(({ from, to }) => ({ from: keyOf.get(from) ?? from, to }))
  const islands = Arrangement.islands([...boxes].map(([id, box]) => ({ id, ...box })), Graph.of(links), gaps).map(
    (island) => {
      const xOf = (key: string) => island.places.get(key)?.[0] ?? NaN
      const widthOf = (key: string) => boxes.get(key)?.width ?? 0
      // Only callers without callers are in frames: links to the right of a narrow box would cross them.
      const widest = Math.max(...[...island.places].map(([key, [x]]) => x === 0 ? widthOf(key) : 0))
      return {
        places: [...island.places].map(([key, [x, y]]) => [key, x === 0 ? widest - widthOf(key) : x, y] as const),
        width: island.width,
        height: island.height + (links.some(({ from, to }) => xOf(from) >= xOf(to)) ? roomToReturn : 0)
      }
    }
  )
  const area = islands.reduce(
    (sum, { height, width }) => sum + (width + gaps.columns / 2) * (height + 2 * gaps.rows),
    0
  )
  const most = Math.max(1_400, ...islands.map(({ width }) => width), Math.sqrt(area * 1.8))
  const corners = new Map(
    shelve(islands, most).flatMap(({ each: { places }, x, y }) =>
      places.map(([key, dx, dy]) => [key, { x: x + dx, y: y + dy }] as const)
    )
  )
  const frames = [...framed].map(([key, frame]) => ({ ...frame, ...corners.get(key) ?? { x: 0, y: 0 } }))
  const inFrames = frames.flatMap(({ columns, ids, x, y }) =>
    ids.map((id, index) =>
      [id, {
        x: x + padding + index % columns * (size.width + gap),
        y: y + heading + Math.floor(index / columns) * (size.height + gap)
      }] as const
    )
  )
  const alone = [...corners].filter(([key]) => !framed.has(key))
  return { places: new Map([...alone, ...inFrames]), frames: frames as ReadonlyArray<Frame> }
}
