/**
 * Notes for characters that a shown text leaves out: `… [+N chars] …`, or `… [+N chars of image/png] …` for a file that
 * the text contains. Pure.
 */

/** Note for `count` characters; without `isEnd` more of the text follows it. */
export const note = (count: number, isEnd: boolean, type?: string) =>
  `… [+${count} chars${type === undefined ? "" : ` of ${type}`}]${isEnd ? "" : " …"}`

const notes = /… \[\+(\d+) chars(?: of [\w./+-]+)?\](?: …)?/
const first = new RegExp(`^(?:${notes.source})`)

/** Whether a text contains a note. */
export const isShortened = (text: string) => notes.test(text)

/** Number of characters that a text leaves out before its beginning. */
export const start = (text: string) => Number(first.exec(text)?.[1] ?? 0)

/** Whether a pair of surrogates would be split here. */
export const splitsPair = (text: string, at: number) => /[\uDC00-\uDFFF]/.test(text.charAt(at))

/** Text without its first `count` characters; a shorter text stays whole. */
export const from = (text: string, count: number) => {
  if (count === 0 || text.length <= count) return text
  const at = splitsPair(text, count) ? count - 1 : count
  return note(at, false) + text.slice(at)
}

/** Whether a text with notes is `whole`, of which each leaves out the correct number of characters. */
export const isFormOf = (text: string, whole: string) => {
  const pieces = text.split(notes)
  if (pieces.length < 3) return false
  let at = 0
  return pieces.every((piece, index) => {
    const begin = at
    at += index % 2 === 1 ? Number(piece) : piece.length
    return index % 2 === 1 || whole.startsWith(piece, begin)
  }) && at === whole.length
}

/** First characters of files in base64. */
const beginnings: ReadonlyArray<readonly [string, string]> = [
  ["iVBORw0KGg", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["PHN2Z", "image/svg+xml"],
  ["JVBERi", "application/pdf"],
  ["UEsDB", "application/zip"],
  ["SUQz", "audio/mpeg"]
]

/** Number of characters from which base64 counts as a file. */
const fileChars = 1_000

/** Base64 in one line or several, and the beginning of its data URI. */
const base64 =
  /(data:([\w.+-]+\/[\w.+-]+)[^,\s]{0,80};base64,)?([A-Za-z\d+/]{60,}(?:\r?\n[A-Za-z\d+/]{60,})*(?:\r?\n[A-Za-z\d+/]{1,59}(?=["'`=]|$))?={0,2})/g

const isMixed = (text: string) => /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text)

/** Text with a note instead of each file in base64 of 1,000 characters or more. */
export const files = (text: string) =>
  text.length < fileChars ? text : text.replace(
    base64,
    (all: string, uri: string | undefined, type: string | undefined, file: string) => {
      if (file.length < fileChars || uri === undefined && !isMixed(file.slice(0, 400))) return all
      const known = type ?? beginnings.find(([beginning]) => file.startsWith(beginning))?.[1] ?? "base64"
      return `${uri ?? ""}${note(file.length, false, known)}`
    }
  )

/** Cuts a piece of the text without splitting surrogate pairs; `…` marks omissions. */
export const piece = (text: string, start: number, end: number) => {
  const from = start > 0 && splitsPair(text, start) ? start - 1 : start
  const to = end < text.length && splitsPair(text, end) ? end + 1 : end
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`
}
