/** Draws the bench's table: bars of each row, the longest of which is as wide as there is room. */
import * as Svg from "../../src/pictures/Svg.ts"
import { framed } from "./frame.ts"

/** A row of the table that is drawn. */
export interface Row {
  readonly what: string
  /** In the order of the legend; a contender that was not measured has none. */
  readonly bars: ReadonlyArray<{ readonly value: number; readonly text: string } | undefined>
}

const [labelWidth, barWidth, valueWidth, barHeight, gap, top] = [440, 380, 90, 9, 16, 84]
const width = labelWidth + barWidth + valueWidth + 40

const hues = ["green", "violet", "dim"]

const style = hues.map((hue) => `.c-${hue}{fill:var(--${hue})}`)

/** The chart; shorter bars are better in every row. */
export const draw = (
  { legend, note, rows, title }: {
    readonly title: string
    readonly note: string
    readonly legend: ReadonlyArray<string>
    readonly rows: ReadonlyArray<Row>
  }
): string => {
  const rowHeight = hues.length * (barHeight + 2) + gap
  const height = top + rows.length * rowHeight + 16
  const bars = rows.map(({ bars, what }, row) => {
    const most = Math.max(...bars.map((bar) => bar?.value ?? 0), Number.MIN_VALUE)
    const y = top + row * rowHeight
    return [
      `<text x="${labelWidth}" y="${y + 21}" text-anchor="end">${Svg.xml(what)}</text>`,
      ...bars.map((bar, index) => {
        if (bar === undefined) return ""
        const long = Math.max(1, Math.round(barWidth * bar.value / most))
        const at = y + index * (barHeight + 2)
        return `<rect class="c-${hues[index]}" x="${
          labelWidth + 12
        }" y="${at}" width="${long}" height="${barHeight}" rx="2"/>` +
          `<text class="small" x="${labelWidth + 18 + long}" y="${at + 8}">${Svg.xml(bar.text)}</text>`
      })
    ].join("")
  })
  const key = legend.map((name, index) =>
    `<rect class="c-${hues[index]}" x="${24 + index * 190}" y="52" width="12" height="12" rx="2"/>` +
    `<text x="${42 + index * 190}" y="63">${Svg.xml(name)}</text>`
  )
  const better = `<text class="small" x="${width - 24}" y="34" text-anchor="end">shorter is better</text>`
  return framed({ title, note, width, height, style }, [better, ...key, ...bars])
}
