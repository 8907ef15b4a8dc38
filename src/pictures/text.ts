/** Text in a picture: measured without a font, and broken into lines. */

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

export const width = (text: string, size: number): number =>
  size * graphemes(text).reduce((sum, grapheme) => sum + widthOf(grapheme), 0)

/** Text shortened with an ellipsis to fit the width in pixels. */
export const ellipsis = (text: string, size: number, room: number): string => {
  if (width(text, size) <= room) return text
  let [shortened, used] = ["", size]
  for (const grapheme of graphemes(text)) {
    used += size * widthOf(grapheme)
    if (used > room) break
    shortened += grapheme
  }
  return `${shortened.trimEnd()}…`
}

const words = (text: string, size: number, room: number): ReadonlyArray<string> =>
  text.split(/(?<=\s)/).flatMap((word) => width(word, size) <= room ? [word] : graphemes(word))

/** Text wrapped to a width in pixels and a maximum number of lines; the last line is shortened if needed. */
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
