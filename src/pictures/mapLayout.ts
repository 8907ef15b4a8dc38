/** Positions of workflows on a map: callers before callees, and what is alike in one frame. Pure. */
import { arrange } from "../workflows/edit/Arrangement.ts"
import type { Edge } from "../workflows/fleet/Map.ts"
import type { Box } from "./geometry.ts"

/** Size of a workflow. */
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

const columnsFor = (count: number) => Math.max(1, Math.min(6, Math.round(Math.sqrt(count * 0.7))))

const sizeOfFrame = (count: number, columns: number) => ({
  width: 2 * padding + columns * (size.width + gap) - gap,
  height: heading + padding + Math.ceil(count / columns) * (size.height + gap) - gap
})

/** Groups of boxes that no link connects. */
const islands = (keys: ReadonlyArray<string>, links: ReadonlyArray<readonly [string, string]>) => {
  const parent = new Map(keys.map((key) => [key, key]))
  const root = (key: string): string => {
    let at = key
    for (let next = parent.get(at); next !== undefined && next !== at; next = parent.get(at)) at = next
    return at
  }
  for (const [from, to] of links) parent.set(root(from), root(to))
  return [...Map.groupBy(keys, root).values()]
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

/** Room for a link that leads back, below what it passes. */
const roomToReturn = 120

/** Positions of workflows by id, and frames; those in `apart` are in no frame. */
export const layOut = (ids: ReadonlyArray<string>, edges: ReadonlyArray<Edge>, apart: ReadonlySet<string>) => {
  const outgoing = Map.groupBy(edges, ({ from }) => from)
  const isTarget = new Set(edges.map(({ to }) => to))
  const alike = Map.groupBy(
    ids.filter((id) => !isTarget.has(id) && !apart.has(id)),
    (id) => JSON.stringify((outgoing.get(id) ?? []).map(({ kind, state, to }) => [to, kind, state ?? ""]).toSorted())
  )
  const framed = [...alike].flatMap(([key, members]) =>
    members.length >= leastInFrame || key === "[]" ? [{ key, members }] : []
  )
  const keyOf = new Map(framed.flatMap(({ key, members }) => members.map((id) => [id, key] as const)))
  const loose = ids.filter((id) => !keyOf.has(id))
  const unlinked = framed.find(({ key }) => key === "[]")
  const columns = new Map(framed.map(({ key, members }) => [key, columnsFor(members.length)]))
  const boxes = [
    ...framed.filter((frame) => frame !== unlinked).map(({ key, members }) => ({
      id: key,
      ...sizeOfFrame(members.length, columns.get(key) ?? 1)
    })),
    ...loose.map((id) => ({ id, ...size }))
  ]
  const links = [...new Map(edges.map(({ from, to }) => {
    const key = keyOf.get(from) ?? from
    return [JSON.stringify([key, to]), [key, to] as const]
  })).values()]
  const byId = new Map(boxes.map((box) => [box.id, box]))
  const groups = islands(boxes.map(({ id }) => id), links).map((keys) => {
    const within = new Set(keys)
    const own = links.filter(([from]) => within.has(from))
    const arranged = arrange(
      keys.flatMap((key) => byId.get(key) ?? []),
      own.map(([from, to]) => ({ from, to, isMain: true })),
      gaps
    )
    const xOf = (key: string) => arranged.get(key)?.[0] ?? 0
    const widthOf = (key: string) => byId.get(key)?.width ?? 0
    // Only callers without callers are in frames: links to the right of a narrow box would cross them.
    const widest = Math.max(...keys.map((key) => xOf(key) === 0 ? widthOf(key) : 0))
    const places = new Map(
      [...arranged].map(([key, [x, y]]) => [key, [x === 0 ? widest - widthOf(key) : x, y] as const])
    )
    const returns = own.some(([from, to]) => xOf(from) >= xOf(to))
    const ends = [...places].map(([key, [x, y]]) => ({
      right: x + (byId.get(key)?.width ?? 0),
      bottom: y + (byId.get(key)?.height ?? 0)
    }))
    return {
      places,
      width: Math.max(...ends.map(({ right }) => right)),
      height: Math.max(...ends.map(({ bottom }) => bottom)) + (returns ? roomToReturn : 0)
    }
  })
  const area = groups.reduce((sum, { height, width }) => sum + (width + gaps.columns / 2) * (height + 2 * gaps.rows), 0)
  const most = Math.max(1_400, ...groups.map(({ width }) => width), Math.sqrt(area * 1.8))
  const shelved = shelve(groups, most)
  const corners = new Map(
    shelved.flatMap(({ each: { places }, x, y }) =>
      [...places].map(([key, [dx, dy]]) => [key, { x: x + dx, y: y + dy }] as const)
    )
  )
  const bottom = Math.max(0, ...shelved.map(({ each: { height }, y }) => y + height + 2 * gaps.rows))
  if (unlinked !== undefined) {
    corners.set(unlinked.key, { x: 0, y: bottom })
    columns.set(unlinked.key, Math.max(1, Math.floor((most + gap - 2 * padding) / (size.width + gap))))
  }
  const frames = framed.map(({ key, members }): Frame => ({
    ids: members,
    edges: outgoing.get(members[0] ?? "") ?? [],
    ...corners.get(key) ?? { x: 0, y: 0 },
    ...sizeOfFrame(members.length, Math.min(members.length, columns.get(key) ?? 1))
  }))
  const inFrames = frames.flatMap(({ ids, width, x, y }) => {
    const across = Math.floor((width - 2 * padding + gap) / (size.width + gap))
    return ids.map((id, index) =>
      [id, {
        x: x + padding + index % across * (size.width + gap),
        y: y + heading + Math.floor(index / across) * (size.height + gap)
      }] as const
    )
  })
  const alone = loose.flatMap((id) => {
    const corner = corners.get(id)
    return corner === undefined ? [] : [[id, corner] as const]
  })
  return { places: new Map([...inFrames, ...alone]), frames }
}
