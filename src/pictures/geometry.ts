/** Sizes and ports of nodes as in n8n's editor, and the paths of links. */
import type { Port } from "../n8n/model/Connections.ts"

/** Point on n8n's canvas; y grows downwards. */
export interface Point {
  readonly x: number
  readonly y: number
}

export interface Box extends Point {
  readonly width: number
  readonly height: number
}

export interface Shape {
  readonly kind: "trigger" | "action" | "root" | "sub"
  readonly inputs: ReadonlyArray<Port & { readonly required?: boolean }>
  readonly outputs: ReadonlyArray<Port>
}

export const grid = 16
const side = 6 * grid
/** Radius of a sub-node's circle. */
export const radius = 2.5 * grid
const slot = 3 * grid
const leastSlots = 4

const isMain = ({ type }: Port) => type === "main"
const below = ({ inputs }: Shape) => inputs.filter((port) => !isMain(port))

export const size = (shape: Shape): { readonly width: number; readonly height: number } => {
  const ports = Math.max(shape.inputs.filter(isMain).length, shape.outputs.filter(isMain).length, 1)
  const height = shape.kind === "sub" ? 2 * radius : side + Math.max(0, ports - 2) * 2 * grid
  const hanging = below(shape).length
  return hanging > 0
    ? { width: 2 * radius + (Math.max(leastSlots, hanging) - 1) * slot, height }
    : { width: shape.kind === "sub" ? 2 * radius : side, height }
}

const spread = (ports: ReadonlyArray<Port>, port: Port, length: number) => {
  const main = ports.filter(isMain)
  const at = main.findIndex(({ index }) => index === port.index)
  return length * ((at === -1 ? Math.max(0, main.length - 1) : at) + 1) / (main.length + 1)
}

/** Slot of a port below a root node: required inputs from the left, the others at the right. */
const slotOf = (shape: Shape, { index, type }: Port): number => {
  const hanging = below(shape)
  const ordered = [
    ...hanging.filter(({ required }) => required === true),
    ...hanging.filter(({ required }) => !required)
  ]
  const at = Math.max(0, ordered.findIndex((port) => port.type === type && port.index === index))
  return ordered[at]?.required === true ? at : at + Math.max(0, leastSlots - ordered.length)
}

export const inputAt = (shape: Shape, box: Box, port: Port): Point =>
  isMain(port)
    ? { x: box.x, y: box.y + spread(shape.inputs, port, box.height) }
    : { x: box.x + radius + slot * slotOf(shape, port), y: box.y + box.height }

export const outputAt = (shape: Shape, box: Box, port: Port): Point =>
  isMain(port)
    ? { x: box.x + box.width, y: box.y + spread(shape.outputs, port, box.height) }
    : {
      x: box.x + radius +
        slot * shape.outputs.filter((each) => !isMain(each)).findIndex(({ type }) => type === port.type),
      y: box.y
    }

/** Path of a link, the position of its label, and its bounds. */
export interface Path {
  readonly d: string
  readonly label: Point
  readonly bounds: Box
}

const round = (value: number) => Math.round(value * 10) / 10
const at = ({ x, y }: Point) => `${round(x)} ${round(y)}`

export const around = (points: ReadonlyArray<Point>): Box => {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const [x, y] = [Math.min(...xs), Math.min(...ys)]
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y }
}

const reach = (distance: number) => distance >= 0 ? distance / 2 : 6.25 * Math.sqrt(-distance)

const curve = (from: Point, c1: Point, c2: Point, to: Point): Path => {
  // Past the middle, because the name of the output is before it.
  const t = 0.6
  const mid = (a: number, b: number, c: number, d: number) =>
    (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t ** 2 * c + t ** 3 * d
  return {
    d: `M${at(from)}C${at(c1)} ${at(c2)} ${at(to)}`,
    label: { x: mid(from.x, c1.x, c2.x, to.x), y: mid(from.y, c1.y, c2.y, to.y) },
    bounds: around([from, to])
  }
}

const upright = (x: number, top: number, bottom: number): Box => ({ x: x - 3, y: top, width: 6, height: bottom - top })

const corner = 16

const rounded = (points: ReadonlyArray<Point>): string =>
  points.map((point, index) => {
    const [before, after] = [points[index - 1], points[index + 1]]
    if (before === undefined) return `M${at(point)}`
    if (after === undefined) return `L${at(point)}`
    const towards = (other: Point) => {
      const length = Math.hypot(other.x - point.x, other.y - point.y)
      const part = length === 0 ? 0 : Math.min(corner, length / 2) / length
      return { x: point.x + (other.x - point.x) * part, y: point.y + (other.y - point.y) * part }
    }
    return `L${at(towards(before))}Q${at(point)} ${at(towards(after))}`
  }).join("")

const [down, aside] = [130, 40]

/** First of some lines, as boxes, that crosses no obstacle; the first of all if each does. */
const free = (count: number, step: number, boxAt: (by: number) => Box, obstacles: ReadonlyArray<Box>): number => {
  for (let by = 0; by < count * step; by += step) {
    if (!obstacles.some((each) => overlap(boxAt(by), each, 0))) return by
  }
  return 0
}

/** Path from an output to an input: a curve, or a line below the nodes, beside `obstacles`, for a backward link. */
export const path = (from: Point, to: Point, type: string, obstacles: ReadonlyArray<Box> = []): Path => {
  if (type !== "main") {
    const [up, drop] = [reach(from.y - to.y), reach(from.y - to.y)]
    return curve(from, { x: from.x, y: from.y - up }, { x: to.x, y: to.y + drop }, to)
  }
  if (from.x - 20 <= to.x) {
    const far = reach(to.x - from.x)
    return curve(from, { x: from.x + far, y: from.y }, { x: to.x - far, y: to.y }, to)
  }
  const width = from.x - to.x
  const lowest = Math.max(from.y, to.y) + down
  const y = lowest + free(16, 20, (by) => ({ x: to.x, y: lowest + by - 4, width, height: 8 }), obstacles)
  const right = from.x + aside + free(5, 12, (by) => upright(from.x + aside + by, from.y, y), obstacles)
  const left = to.x - aside - free(5, 12, (by) => upright(to.x - aside - by, to.y, y), obstacles)
  const points = [from, { x: right, y: from.y }, { x: right, y }, { x: left, y }, { x: left, y: to.y }, to]
  return { d: rounded(points), label: { x: (from.x + to.x) / 2, y }, bounds: around(points) }
}

/** Whether two boxes overlap by more than this share of the smaller one. */
export const overlap = (a: Box, b: Box, share: number): boolean => {
  const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const along = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  const least = Math.min(a.width * a.height, b.width * b.height)
  return across > 0 && along > 0 && across * along > least * share
}
