/** Shapes, texts and colours of pictures as SVG, after the editor of n8n. Pure. */
import { xml } from "../base/Xml.ts"
import colours from "./colours.json" with { type: "json" }
import type * as geometry from "./geometry.ts"
import type { Glyph } from "./glyphs.ts"
import type { Status } from "./Picture.ts"
import paths from "./signs.json" with { type: "json" }
import rules from "./style.json" with { type: "json" }

const { base, links, marks, nodes, page } = rules

const declare = (mode: 0 | 1) => Object.entries(colours).map(([name, modes]) => `--${name}:${modes[mode]}`).join(";")

/** CSS variables of the light and the dark palette; `data-theme` on the element overrides the system's preference. */
export const variables = (element: string): string =>
  `${element}{${declare(0)}}` +
  `@media(prefers-color-scheme:dark){${element}:not([data-theme=light]){${declare(1)}}}` +
  `${element}[data-theme=dark]{${declare(1)}}`

/** Style of every picture, constant so that a page can allow it by its hash; the order of the rules matters. */
export const style: string = [
  variables(".wf"),
  ...base,
  ...["plain", "orange", "pink", "green", "blue", "violet", "red"].map((hue) =>
    `.wf .h-${hue}{stroke:var(--${hue})}.wf text.h-${hue}{fill:var(--${hue});stroke:none}`
  ),
  ...nodes,
  ...["off", "idle", "s-removed", "missed"].map((state) =>
    `.wf .${state} .glyph{stroke:var(--dim)}.wf .${state} .initials,.wf .${state} .name{fill:var(--dim)}`
  ),
  ...Object.entries(marks).map(([status, colour]) =>
    `.wf .s-${status} .box{stroke:var(--${colour});stroke-width:3}.wf .s-${status} .mark{fill:var(--${colour})}` +
    `.wf .s-${status} .figures{fill:var(--${colour})}`
  ),
  ...links,
  ...[1, 2, 3, 4, 5, 6, 7].map((colour) => `.wf .note${colour}{fill:var(--note${colour});stroke:var(--line)}`),
  ...page
].join("")

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** Grapheme clusters: an emoji of several code points or a letter with its accents is one. */
const graphemes = (text: string): ReadonlyArray<string> => [...segmenter.segment(text)].map(({ segment }) => segment)

const full = /^[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303F\uFF00-\uFF60]/u

/** Approximate width of a character in em, slightly more than in most fonts. */
const widthOf = (grapheme: string): number =>
  /^[\uE000\uE001]/.test(grapheme) ? // Marks of emphasis.
    0 :
    full.test(grapheme) ?
    1 :
    /^[ijl.,:;'|!]/.test(grapheme) ?
    0.3 :
    /^[ \-()[\]{}tfr/\\]/.test(grapheme) ?
    0.38 :
    /^[mwMW@%&]/.test(grapheme) ?
    0.9 :
    /^[A-Z_#]/.test(grapheme) ?
    0.68 :
    0.57

/** Width of bold text in relation to that of plain text. */
export const boldness = 1.2

export const textWidth = (text: string, size: number): number =>
  size * graphemes(text).reduce((sum, grapheme) => sum + widthOf(grapheme), 0)

/** Text shortened with an ellipsis to fit the width in pixels. */
export const ellipsis = (text: string, size: number, room: number): string => {
  if (textWidth(text, size) <= room) return text
  let [shortened, used] = ["", size]
  for (const grapheme of graphemes(text)) {
    used += size * widthOf(grapheme)
    if (used > room) break
    shortened += grapheme
  }
  return `${shortened.trimEnd()}…`
}

const words = (text: string, size: number, room: number): ReadonlyArray<string> =>
  text.split(/(?<=\s)/).flatMap((word) => textWidth(word, size) <= room ? [word] : graphemes(word))

/** Text wrapped to a width in pixels and a maximum number of lines; the last line is shortened if needed. */
export const wrap = (text: string, size: number, room: number, most: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  const pieces = words(text.trim(), size, room)
  for (const [index, piece] of pieces.entries()) {
    if (line !== "" && textWidth((line + piece).trimEnd(), size) > room) {
      if (lines.length === most - 1) {
        return [...lines, ellipsis(line + pieces.slice(index).join(""), size, room)]
      }
      lines.push(line.trimEnd())
      line = piece.trimStart()
    } else line += piece
  }
  return line.trim() === "" ? lines : [...lines, line.trimEnd()]
}

/** Number with at most one decimal. */
export const n = (value: number) => String(Math.round(value * 10) / 10)

export const text = (x: number, y: number, content: string, classes: string) =>
  `<text x="${n(x)}" y="${n(y)}" class="${classes}">${xml(content)}</text>`

export const titled = (content: string) => `<title>${xml(content)}</title>`

export const glyphAt = ({ d, hue, initials }: Glyph, x: number, y: number, scale: number) =>
  d === undefined
    ? `<text x="${n(x)}" y="${n(y + 5 * scale)}" font-size="${n(14 * scale)}" class="mid initials h-${hue}">${
      xml(initials ?? "")
    }</text>`
    : `<path class="glyph h-${hue}" transform="translate(${n(x - 12 * scale)} ${
      n(y - 12 * scale)
    }) scale(${scale})" d="${d}"/>`

/** Paths of the signs of statuses. */
export const signs: { readonly [S in Status]?: string } = paths

export const markAt = (status: Status, x: number, y: number) => {
  const d = signs[status]
  return d === undefined
    ? ""
    : `<g transform="translate(${n(x)} ${n(y)})"><circle class="mark" r="10"/><path class="sign" d="${d}"/></g>`
}

/** Link with an arrow that ends before `tip`. */
export const arrow = (d: string, tip: geometry.Point, classes: string, title = "") =>
  `<path class="edge${classes}" d="${d}"${title === "" ? "/>" : `>${titled(title)}</path>`}` +
  `<path class="tip${classes}" d="M${n(tip.x)} ${n(tip.y)}l-10 -6v12z"/>`

/** Legend in lines of at most a width: signs of the width `room`, each with its words. */
export const legend = (
  entries: ReadonlyArray<readonly [draw: (x: number, y: number) => string, words: string]>,
  { most = Infinity, room }: { readonly room: number; readonly most?: number }
): { readonly svg: string; readonly width: number; readonly height: number } => {
  let [x, y, width] = [0, 0, 0]
  const svg = entries.map(([draw, words]) => {
    const wide = room + 26 + textWidth(words, 12)
    if (x > 0 && x + wide > most) [x, y] = [0, y + 24]
    const entry = draw(x, y - 4) + text(x + room + 8, y, words, "small")
    x += wide
    width = Math.max(width, x)
    return entry
  })
  return { svg: svg.join(""), width, height: y }
}

const [margin, headerHeight, titleSize, titleHeight] = [48, 76, 20, 26]

/** SVG document around drawings, with a title, a subtitle and a legend unless it is bare. */
export const sheet = (
  { body, bounds, isBare, key = { svg: "", width: 0, height: 0 }, style, subtitle, title }: {
    readonly title: string
    readonly subtitle: string
    readonly style: string
    readonly bounds: geometry.Box
    readonly isBare: boolean
    readonly key?: ReturnType<typeof legend>
    readonly body: ReadonlyArray<string>
  }
): string => {
  const least = isBare ? 0 : Math.max(360, Math.min(900, textWidth(subtitle, 14) + key.width + 40))
  const width = Math.max(bounds.width, least) + 2 * margin
  const titles = isBare ? [] : wrap(title, titleSize * boldness, width - 64, 4)
  const header = isBare ? 0 : headerHeight + Math.max(0, titles.length - 1) * titleHeight
  const height = bounds.height + 2 * margin + header
  const [left, top] = [bounds.x - margin - Math.max(0, least - bounds.width) / 2, bounds.y - margin - header]
  const area = `x="${n(left)}" y="${n(top)}" width="${n(width)}" height="${n(height)}"`
  const summary = xml(`${title}: ${subtitle}`)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="wf" role="group" aria-label="${summary}" width="${
      n(width)
    }" height="${n(height)}" viewBox="${n(left)} ${n(top)} ${n(width)} ${n(height)}">`,
    `<title>${summary}</title><style>${style}</style>`,
    `<defs><pattern id="dots" width="16" height="16" patternUnits="userSpaceOnUse"><circle class="dot" cx="8" cy="8" r=".8"/></pattern></defs>`,
    `<rect class="bg" ${area}/>`,
    `<rect fill="url(#dots)" ${area}/>`,
    ...body,
    ...isBare ? [] : [
      titles.map((line, index) => text(left + 32, top + 42 + index * titleHeight, line, "title")).join("") +
      text(left + 32, top + header - 10, ellipsis(subtitle, 14, width - 96 - key.width), "dim") +
      `<g transform="translate(${n(left + width - 24 - key.width)} ${n(top + header - 10)})">${key.svg}</g>`
    ],
    "</svg>"
  ].filter(Boolean).join("\n")
}
