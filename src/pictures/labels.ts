/** Labels of ports: each in the first place that is free, shortened if necessary. Pure. */
import * as geometry from "./geometry.ts"
import type { Node, Port } from "./Picture.ts"
import { ellipsis, text, textWidth } from "./svgShapes.ts"

const [size, ascent, descent, gap] = [12, 10, 4, 4]

/** Line of text on the canvas. */
export interface Line extends geometry.Point {
  readonly line: string
  readonly size: number
}

/** Box around a line that is centred at `x`. */
export const boxAround = ({ line, size, x, y }: Line): geometry.Box => {
  const wide = textWidth(line, size)
  return { x: x - wide / 2, y: y - size * 0.8, width: wide, height: size }
}

interface Label {
  readonly node: Node
  readonly label: string
  readonly anchor: "start" | "mid" | "end"
  readonly places: ReadonlyArray<geometry.Point>
  /** Widths to try, the largest first. */
  readonly rooms: ReadonlyArray<number>
}

const labelsOf = ({ box, node }: { readonly node: Node; readonly box: geometry.Box }): ReadonlyArray<Label> => {
  const named = (ports: ReadonlyArray<Port>) => {
    const main = ports.filter(({ type }) => type === "main")
    return main.length > 1 ? main.filter(({ name = "" }) => name !== "") : []
  }
  const isMain = ({ type }: Port) => type === "main"
  return [
    ...node.inputs.filter((port) => !isMain(port)).map((port): Label => {
      const { x, y } = geometry.inputAt(node, box, port)
      const label = `${port.name ?? ""}${port.required === true ? "*" : ""}`
      return { node, label, anchor: "mid", places: [{ x, y: y + 24 }, { x, y: y + 38 }], rooms: [112, 84, 60, 42] }
    }).toSorted((a, b) => (a.places[0]?.x ?? 0) - (b.places[0]?.x ?? 0)),
    ...named(node.outputs).map((port): Label => {
      const { x, y } = geometry.outputAt(node, box, port)
      return {
        node,
        label: port.name ?? "",
        anchor: "start",
        places: [{ x: x + 11, y: y + 4 }],
        rooms: [96, 72, 44, 28]
      }
    }),
    ...named(node.inputs).map((port): Label => {
      const { x, y } = geometry.inputAt(node, box, port)
      return { node, label: port.name ?? "", anchor: "end", places: [{ x: x - 19, y: y + 4 }], rooms: [60, 44, 28] }
    }),
    ...node.outputs.filter((port) => !isMain(port)).map((port): Label => {
      const { x, y } = geometry.outputAt(node, box, port)
      return { node, label: port.name ?? "", anchor: "mid", places: [{ x, y: y - 14 }], rooms: [84, 60, 42] }
    })
  ]
}

/** Lazy, because most labels fit at their first attempt. */
function* attempts(label: string, places: ReadonlyArray<geometry.Point>, rooms: ReadonlyArray<number>) {
  for (const room of rooms) {
    const line = ellipsis(label, size, room)
    for (const at of places) yield { at, line }
  }
}

/** Labels of all ports as SVG by the ids of their nodes; labels without a free place are omitted. */
export const portLabels = (
  nodes: ReadonlyArray<{ readonly node: Node; readonly box: geometry.Box }>,
  obstacles: ReadonlyArray<geometry.Box>
): ReadonlyMap<string, string> => {
  const taken = [...nodes.map(({ box }) => box), ...obstacles]
  const drawn = new Map<string, string>()
  const origins = new Map(nodes.map(({ box, node }) => [node.id, box]))
  for (const { anchor, label, node, places, rooms } of nodes.flatMap(labelsOf)) {
    for (const { at, line } of attempts(label, places, rooms)) {
      const wide = textWidth(line, size)
      const left = anchor === "start" ? at.x : anchor === "end" ? at.x - wide : at.x - wide / 2
      const box = { x: left - gap / 2, y: at.y - ascent, width: wide + gap, height: ascent + descent }
      if (line.length < 2 || taken.some((other) => geometry.overlap(box, other, 0))) continue
      taken.push(box)
      const { x, y } = origins.get(node.id) ?? { x: 0, y: 0 }
      const classes = `${anchor === "start" ? "" : `${anchor} `}small halo dim`
      drawn.set(node.id, (drawn.get(node.id) ?? "") + text(at.x - x, at.y - y, line, classes))
      break
    }
  }
  return drawn
}
