/** Frames of the benchmarks' charts: an SVG with its style, a title and a note. */
import * as Svg from "../../src/pictures/Svg.ts"

export interface Frame {
  readonly title: string
  readonly note: string
  readonly width: number
  readonly height: number
  /** Rules of what is drawn, below the chart's class. */
  readonly style: ReadonlyArray<string>
}

const common = [
  Svg.variables(".chart"),
  ".chart{font:13px Inter,system-ui,sans-serif;background:var(--bg)}.chart text{fill:var(--text)}",
  ".chart .bg{fill:var(--bg)}.chart .small{font-size:11px;fill:var(--dim)}.chart .title{font-size:18px;font-weight:600}"
]

/** A chart with these elements. */
export const framed = (
  { height, note, style, title, width }: Frame,
  elements: ReadonlyArray<string>
): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" aria-label="${
      Svg.xml(title)
    }" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${Svg.xml(`${title}: ${note}`)}</title><style>${
      [...common, ...style.map((rule) => `.chart ${rule}`)].join("")
    }</style>`,
    `<rect class="bg" width="${width}" height="${height}"/>`,
    `<text class="title" x="24" y="34">${Svg.xml(title)}</text>`,
    ...elements,
    "</svg>"
  ].join("\n")
