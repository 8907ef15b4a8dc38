/** Text in a picture: escaped, measured without a font, and broken into lines. */

/** What XML cannot hold, even escaped. */
const impossible = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu

const entities: { readonly [sign: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;"
}

/**
 * The text as content or attribute value of XML and HTML.
 *
 * @category functions
 * @since 0.1.0
 */
export const xml = (text: string): string =>
  text.toWellFormed().replace(impossible, "\uFFFD").replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** What a person sees as one character: an emoji of several code points, a letter with its accents. */
const graphemes = (text: string): ReadonlyArray<string> => [...segmenter.segment(text)].map(({ segment }) => segment)

const full = /^[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303F\uFF00-\uFF60]/u

/** The width of a character in sizes of the font; no two fonts agree, so it is a little more than most have. */
const widthOf = (grapheme: string): number =>
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

/** The approximate width of a line, in pixels. */
export const width = (text: string, size: number): number =>
  size * graphemes(text).reduce((sum, grapheme) => sum + widthOf(grapheme), 0)

/** The text, shortened with an ellipsis where it is wider. */
export const ellipsis = (text: string, size: number, room: number): string => {
  if (width(text, size) <= room) return text
  let [kept, used] = ["", size]
  for (const grapheme of graphemes(text)) {
    used += size * widthOf(grapheme)
    if (used > room) break
    kept += grapheme
  }
  return `${kept.trimEnd()}…`
}

/** Words, or the characters of a script that has none. */
const words = (text: string, size: number, room: number): ReadonlyArray<string> =>
  text.split(/(?<=\s)/).flatMap((word) => width(word, size) <= room ? [word] : graphemes(word))

/** The text in lines of this width; the last is shortened where there are more. */
export const wrap = (text: string, size: number, room: number, most: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  const pieces = words(text.trim(), size, room)
  for (const [index, piece] of pieces.entries()) {
    if (line !== "" && width((line + piece).trimEnd(), size) > room) {
      if (lines.length === most - 1) {
        return [...lines, ellipsis(line + pieces.slice(index).join(""), size, room)]
      }
      lines.push(line.trimEnd())
      line = piece.trimStart()
    } else line += piece
  }
  return line.trim() === "" ? lines : [...lines, line.trimEnd()]
}
