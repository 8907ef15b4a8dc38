/** Searches in texts, in linear time, charged as they proceed. */
import { indexOf } from "../LinearSearch.ts"
import { charge, chargeText, elementCost, list, makeText, type Run } from "./Values.ts"

export const find = (run: Run, text: string, needle: string, from = 0): number => {
  const start = Math.min(Math.max(from, 0), text.length)
  chargeText(run, needle.length)
  const at = indexOf(text, needle, start)
  const length = (at < 0 ? text.length : at) - start
  chargeText(run, (needle.length > 200 ? 4 : 1) * length + 16)
  return at
}

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
