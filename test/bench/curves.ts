/** Draws measurements over sizes, both axes logarithmic: what costs the same for each item is as steep as the grid's diagonal. */
import * as Svg from "../../src/pictures/Svg.ts"
import { framed } from "./frame.ts"

/** A line through points of a size and a value. */
export interface Curve {
  readonly name: string
  readonly points: ReadonlyArray<readonly [size: number, value: number]>
}

interface Panel {
  readonly title: string
  readonly curves: ReadonlyArray<Curve>
}

const [decade, left, top, gap, labelWidth] = [110, 70, 90, 30, 190]

const hues = ["green", "violet", "blue", "orange", "pink", "red", "dim"]

const style = [
  ".grid{stroke:var(--line);stroke-width:1}",
  ".end{text-anchor:end}",
  ".mid{text-anchor:middle}",
  ...hues.flatMap((hue) => [
    `.c-${hue}{fill:none;stroke:var(--${hue});stroke-width:2}`,
    `.t-${hue}{fill:var(--${hue});font-size:11px}`
  ])
]

const decades = (values: ReadonlyArray<number>) => {
  const logs = values.filter((value) => value > 0).map(Math.log10)
  return [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))] as const
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

const label = (power: number) => (10 ** power).toLocaleString("en-US")

/** Places of labels, at least a line apart, nearest to where they belong. */
const spread = (places: ReadonlyArray<number>) => {
  const sorted = places.map((y, index) => ({ y, index })).toSorted((a, b) => a.y - b.y)
  const result: Array<number> = []
  let last = -Infinity
  for (const { index, y } of sorted) result[index] = last = Math.max(y, last + 13)
  return result
}

/** The chart: a panel for each kind of size, with the same scale of values. */
export const draw = (
  { note, panels, title }: { readonly title: string; readonly note: string; readonly panels: ReadonlyArray<Panel> }
): string => {
  const pointsOf = ({ curves }: Panel) => curves.flatMap(({ points }) => points)
  const [low, high] = decades(panels.flatMap(pointsOf).map(([, value]) => value))
  const height = top + (high - low) * decade + 50
  const yOf = (value: number) => top + (high - Math.max(low, Math.log10(value))) * decade
  let x = left
  const drawn = panels.map((panel) => {
    const [first, last] = decades(pointsOf(panel).map(([size]) => size))
    const start = x
    const width = (last - first) * decade
    x += width + labelWidth + gap
    const xOf = (size: number) => start + (Math.log10(size) - first) * decade
    const bottom = yOf(10 ** low)
    const places = spread(panel.curves.map(({ points }) => yOf(points.at(-1)?.[1] ?? 1) + 4))
    return [
      `<text x="${start}" y="${top - 14}">${Svg.xml(panel.title)}</text>`,
      ...range(first, last).map((power) =>
        `<path class="grid" d="M${xOf(10 ** power)} ${top}V${bottom}"/>` +
        `<text class="small mid" x="${xOf(10 ** power)}" y="${bottom + 18}">${label(power)}</text>`
      ),
      ...range(low, high).map((power) =>
        `<path class="grid" d="M${start} ${yOf(10 ** power)}H${start + width}"/>` +
        `<text class="small end" x="${start - 8}" y="${yOf(10 ** power) + 4}">${label(power)}</text>`
      ),
      ...panel.curves.map(({ name, points }, index) => {
        const hue = hues[index % hues.length]
        const line = points.map(([size, value]) => `${xOf(size).toFixed(1)} ${yOf(value).toFixed(1)}`).join("L")
        return `<path class="c-${hue}" d="M${line}"/>` +
          `<text class="t-${hue}" x="${start + width + 6}" y="${places[index]?.toFixed(1)}">${Svg.xml(name)}</text>`
      })
    ].join("\n")
  })
  return framed({ title, note, width: x, height, style }, drawn)
}
