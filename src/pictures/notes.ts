/** Sticky notes as SVG. Pure. */
import { xml } from "../base/Xml.ts"
import type { Note } from "./Picture.ts"
import { n, titled } from "./shapes.ts"
import { boldness, ellipsis, wrap } from "./text.ts"

interface Line {
  readonly line: string
  readonly size: number
  readonly isHeading: boolean
  readonly y: number
}

const [textSize, padding] = [14, 14]
const headingSizes = [20, 18, 16]

/** Marks around emphasized text, without a width; text of a note has none of its own. */
const [begin, end] = ["\uE000", "\uE001"]

/** Text of a line of Markdown, without the marks of headings and links, and with marks of its own for emphasis. */
const plain = (line: string) =>
  line.replace(/[\uE000\uE001]/g, "").replace(/^#{1,6}\s+/, "").replace(/^(\s*)[-*+]\s+/, "$1• ")
    .replace(/\*\*|__|`/g, "").replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/(?<![\p{L}\p{N}_*])([_*])(?=\S)([^_*]*[^_*\s])\1(?![\p{L}\p{N}_*])/gu, `${begin}$2${end}`).trimEnd()

/** Line as SVG, with its emphasized parts in italics; `goesOn` if it begins within one. */
const emphasized = (line: string, goesOn: boolean) =>
  `${goesOn ? begin : ""}${line}`.split(begin).map((part, index) => {
    const [inner = "", after] = index === 0 ? ["", part] : part.split(end)
    return (inner === "" ? "" : `<tspan font-style="italic">${xml(inner)}</tspan>`) + xml(after ?? "")
  }).join("")

/** Lines as SVG; emphasis that a line break divides goes on. */
const allEmphasized = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  let goesOn = false
  return lines.map((line) => {
    const svg = emphasized(line, goesOn)
    goesOn = line.includes(begin) || line.includes(end) ? line.lastIndexOf(begin) > line.lastIndexOf(end) : goesOn
    return svg
  })
}

/** Lines that fit into a note. As in Markdown, any number of blank lines is one small gap. */
const linesOf = ({ height, text, width }: Note): { readonly lines: ReadonlyArray<Line>; readonly isCut: boolean } => {
  const lines: Array<Line> = []
  const room = width - 2 * padding
  let [y, gap] = [10, 0]
  for (const raw of text.split(/\r?\n/)) {
    const level = /^#{1,6}(?=\s)/.exec(raw)?.[0].length
    const size = level === undefined ? textSize : headingSizes[level - 1] ?? textSize
    const measured = level === undefined ? size : size * boldness
    const wrapped = wrap(plain(raw), measured, room, 1 + Math.ceil(height / size))
    if (wrapped.length === 0) gap = lines.length === 0 ? 0 : 8
    for (const line of wrapped) {
      y += gap + Math.round(size * 1.3)
      gap = 0
      const last = lines.at(-1)
      if (last !== undefined && y > height - 6) {
        const shortened = ellipsis(`${last.line} …`, last.isHeading ? last.size * boldness : last.size, room)
        return { lines: [...lines.slice(0, -1), { ...last, line: shortened }], isCut: true }
      }
      lines.push({ line, size, isHeading: level !== undefined, y })
    }
  }
  return { lines, isCut: false }
}

/** Note with the text that fits; the pointer shows all of a longer one. */
export const drawNote = (note: Note): string => {
  const { isCut, lines } = linesOf(note)
  const texts = allEmphasized(lines.map(({ line }) => line))
  return [
    `<g>${isCut ? titled(note.text) : ""}<rect class="note${note.colour}" x="${n(note.x)}" y="${n(note.y)}" width="${
      n(note.width)
    }" height="${n(note.height)}" rx="6"/>`,
    ...lines.map(({ isHeading, size, y }, index) =>
      `<text x="${n(note.x + padding)}" y="${n(note.y + y)}" font-size="${size}"${
        isHeading ? ` font-weight="600"` : ""
      }>${texts[index]}</text>`
    ),
    "</g>"
  ].join("")
}
