/** Test whether JSON text may contain a secret, which parses only strings that could be one. */
import { memoize } from "./memoize.ts"
import { foreignRoot, isSecretName, root } from "./Names.ts"
import { indexOfLongWord } from "./Shapes.ts"
import { redactText } from "./Texts.ts"

/**
 * Texts, in lower case, one of which every string that redaction changes contains, unless it contains a long word.
 *
 * **Gotchas**
 *
 * JSON writes a line end as `\n`, so a word at the start of a line follows the letter `n` here.
 */
const suspect = new RegExp(
  `${root.source}|curl|identified|basic(?:\\s|\\\\[fnrt])|://[^\\s/?#:@"'<>]*:[^\\s/?#"'<>]+@`,
  "g"
)

const isSuspect = (json: string): boolean => {
  const text: string = json.includes("\\") ? JSON.parse(json) : json.slice(1, -1)
  return isSecretName(text) || redactText(text) !== text
}

const isKnownSuspect = memoize(isSuspect)
const longestKnown = 60

const time = /^"\d{4}-\d\d-\d\dT[\d:.]{8,12}Z?"$/

const isEscaped = (json: string, at: number): boolean => {
  let slashes = 0
  while (json.charCodeAt(at - 1 - slashes) === 0x5c) slashes++
  return slashes % 2 === 1
}

const quotesAround = (json: string, at: number) => {
  let start = json.lastIndexOf("\"", at)
  while (start > 0 && isEscaped(json, start)) start = json.lastIndexOf("\"", start - 1)
  let end = json.indexOf("\"", at)
  while (end > 0 && isEscaped(json, end)) end = json.indexOf("\"", end + 1)
  return { start, end }
}

/** Whether redaction may change a value with this JSON (`false` is certain), faster than by redacting it. */
export const mayHold = (json: string): boolean => {
  const lower = json.toLowerCase()
  // Escapes can hide characters, and some letters are longer in lower case, which would shift positions.
  if (json.includes("\\u") || json.includes("\\/") || lower.length !== json.length || foreignRoot.test(json)) {
    return true
  }
  suspect.lastIndex = 0
  for (let match = suspect.exec(lower); match !== null; match = suspect.exec(lower)) {
    const { end, start } = quotesAround(json, match.index)
    if (start < 0 || end < 0) return true
    const text = json.slice(start, end + 1)
    if (text.length > longestKnown ? isSuspect(text) : isKnownSuspect(text)) return true
    suspect.lastIndex = end
  }
  for (let at = indexOfLongWord(json); at !== -1;) {
    const { end, start } = quotesAround(json, at)
    if (start < 0 || end < 0) return false
    const text = json.slice(start, end + 1)
    if (!time.test(text) && isSuspect(text)) return true
    at = indexOfLongWord(json, end)
  }
  return false
}
