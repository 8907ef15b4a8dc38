/** Searches in texts, in linear time and charged as they advance. */
import { charge, chargeText, elementCost, list, makeText, type Run } from "./Values.ts"

/** The host's own search takes quadratic time beyond 250 characters of what is searched for. */
const maxNative = 200

/** For each beginning of the needle the length of the longest border, as in Knuth, Morris and Pratt's search. */
const bordersOf = (needle: string): Uint32Array => {
  const borders = new Uint32Array(needle.length)
  for (let at = 1, border = 0; at < needle.length; at++) {
    while (border > 0 && needle.charCodeAt(at) !== needle.charCodeAt(border)) border = borders[border - 1] ?? 0
    if (needle.charCodeAt(at) === needle.charCodeAt(border)) border++
    borders[at] = border
  }
  return borders
}

const findLong = (text: string, needle: string, from: number): number => {
  const borders = bordersOf(needle)
  for (let at = from, length = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    while (length > 0 && code !== needle.charCodeAt(length)) length = borders[length - 1] ?? 0
    if (code === needle.charCodeAt(length)) length++
    if (length === needle.length) return at - length + 1
  }
  return -1
}

/** As String.prototype.indexOf. */
export const find = (run: Run, text: string, needle: string, from = 0): number => {
  const start = Math.min(Math.max(from, 0), text.length)
  if (needle.length > text.length - start) return -1
  const isLong = needle.length > maxNative
  if (isLong) chargeText(run, 4 * (text.length - start + needle.length))
  const at = isLong ? findLong(text, needle, start) : text.indexOf(needle, start)
  chargeText(run, (at < 0 ? text.length : at) - start + 16)
  return at
}

/** As String.prototype.split. */
export const split = (run: Run, text: string, separator: string): Array<unknown> => {
  if (separator === "") {
    charge(run, elementCost * text.length)
    return list(run, text.split(""))
  }
  const parts: Array<unknown> = []
  let from = 0
  for (let at = find(run, text, separator); at >= 0; at = find(run, text, separator, from)) {
    parts.push(text.slice(from, at))
    charge(run, elementCost)
    from = at + separator.length
  }
  return list(run, [...parts, text.slice(from)])
}

/** As String.prototype.replace and replaceAll with two strings, the second one without `$`. */
export const replace = (run: Run, text: string, what: string, replacement: string, isAll: boolean): string => {
  const parts: Array<string> = []
  let from = 0
  let length = text.length
  for (let at = find(run, text, what); at >= 0; at = find(run, text, what, Math.max(from, at + 1))) {
    parts.push(text.slice(from, at), replacement)
    charge(run, elementCost)
    from = at + what.length
    length += replacement.length - what.length
    if (length > text.length) makeText(run, length)
    if (!isAll || at >= text.length) break
  }
  chargeText(run, length)
  return parts.join("") + text.slice(from)
}
