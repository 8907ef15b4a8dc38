/** Whether JSON text may hold a secret: looks only into the strings in which one could stand. */
import { isSecretName, root } from "./Names.ts"
import { indexOfLongWord } from "./Shapes.ts"
import { redactText } from "./Texts.ts"

/**
 * What a string has, in lower case, that redaction changes for another reason than a long word.
 *
 * **Gotchas**
 *
 * JSON writes the end of a line as `\n`: what begins a word in the text, stands behind a letter here.
 */
const suspect = new RegExp(`${root.source}|curl|basic(?:\\s|\\\\[fnrt])|://[^\\s/?#:@"'<>]*:[^\\s/?#"'<>]+@`, "g")

/** Keys and short values come over and over. */
const known = new Map<string, boolean>()
const maxKnown = 1_000
const longestKnown = 60

const isSuspect = (json: string): boolean => {
  const text: string = json.includes("\\") ? JSON.parse(json) : json.slice(1, -1)
  return isSecretName(text) || redactText(text) !== text
}

const isKnownSuspect = (json: string): boolean => {
  if (json.length > longestKnown) return isSuspect(json)
  const before = known.get(json)
  if (before !== undefined) return before
  const result = isSuspect(json)
  if (known.size >= maxKnown) known.clear()
  known.set(json, result)
  return result
}

const time = /^"\d{4}-\d\d-\d\dT[\d:.]{8,12}Z?"$/

const isEscaped = (json: string, at: number): boolean => {
  let slashes = 0
  while (json.charCodeAt(at - 1 - slashes) === 0x5c) slashes++
  return slashes % 2 === 1
}

/** The string around a place: where its quotes are. */
const around = (json: string, place: number) => {
  let start = json.lastIndexOf("\"", place)
  while (start > 0 && isEscaped(json, start)) start = json.lastIndexOf("\"", start - 1)
  let end = json.indexOf("\"", place)
  while (end > 0 && isEscaped(json, end)) end = json.indexOf("\"", end + 1)
  return { start, end }
}

/**
 * Whether redaction may change anything in a value with this JSON; `false` is certain. Faster than to parse and redact
 * the value.
 */
export const mayHold = (json: string): boolean => {
  const lower = json.toLowerCase()
  // Characters may be written otherwise; some letters are longer in lower case, so that places would differ.
  if (json.includes("\\u") || json.includes("\\/") || lower.length !== json.length) return true
  suspect.lastIndex = 0
  for (let match = suspect.exec(lower); match !== null; match = suspect.exec(lower)) {
    const { end, start } = around(json, match.index)
    if (start < 0 || end < 0 || isKnownSuspect(json.slice(start, end + 1))) return true
    suspect.lastIndex = end
  }
  for (let at = indexOfLongWord(json); at !== -1;) {
    const { end, start } = around(json, at)
    if (start < 0 || end < 0) return false
    const text = json.slice(start, end + 1)
    if (!time.test(text) && isSuspect(text)) return true
    at = indexOfLongWord(json, end)
  }
  return false
}
