/** Shapes of pictures as SVG. Pure. */
import type { Glyph } from "./glyphs.ts"
import type { Status } from "./model.ts"
import { xml } from "./text.ts"

/** Number with at most one decimal. */
export const n = (value: number) => String(Math.round(value * 10) / 10)

/** Text element. */
export const text = (x: number, y: number, content: string, classes: string) =>
  `<text x="${n(x)}" y="${n(y)}" class="${classes}">${xml(content)}</text>`

/** Tooltip. */
export const titled = (content: string) => `<title>${xml(content)}</title>`

/** Icon around a point. */
export const glyphAt = (
  { glyph: { d, hue, initials } }: { readonly glyph: Glyph },
  x: number,
  y: number,
  scale: number
) =>
  d === undefined
    ? text(x, y + 8, initials ?? "", `mid initials h-${hue}`)
    : `<path class="glyph h-${hue}" transform="translate(${n(x - 12 * scale)} ${
      n(y - 12 * scale)
    }) scale(${scale})" d="${d}"/>`

/** Strokes of the sign of each status. */
export const signs: { readonly [S in Status]?: string } = {
  success: "M-4 0l3 3 5-6",
  error: "M0 -4v4M0 4v.1",
  waiting: "M0 -4v4l3 2",
  running: "M-3 -4l6 4-6 4z",
  added: "M-4 0h8M0 -4v8",
  removed: "M-4 0h8",
  changed: "M-5 1q2.500-5 5-1t5-1",
  renamed: "M-4 0h8M1 -3l3 3-3 3",
  warning: "M0 -4v4M0 4v.1"
}

/** Sign of a status around a point. */
export const markAt = (status: Status, x: number, y: number) => {
  const d = signs[status]
  return d === undefined
    ? ""
    : `<g transform="translate(${n(x)} ${n(y)})"><circle class="mark" r="10"/><path class="sign" d="${d}"/></g>`
}
