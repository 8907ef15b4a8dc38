/** Size of a JSON text, known before it is parsed: a parser cannot be interrupted. */
import { digits } from "./Plural.ts"

/** Maximum number of values of a JSON text: those of two thousand nodes with 150 values each. */
export const maxValues = 300_000

/** Maximum number of names in an object: each new name costs a parser as much as a hundred values. */
export const maxNames = 10_000

const [quote, backslash, comma, list, listEnd, object, objectEnd] = [..."\"\\,[]{}"].map((sign) => sign.charCodeAt(0))

/** End of the string that begins at `from`. */
const endOfString = (text: string, from: number): number => {
  let at = from + 1
  for (let code = text.charCodeAt(at); at < text.length && code !== quote; code = text.charCodeAt(at)) {
    at += code === backslash ? 2 : 1
  }
  return at
}

/** A scanned text: whether it is too large, and the text of its own `id` before that. */
export interface Size {
  readonly isOver: boolean
  readonly id: string | undefined
}

/** Scans a text, JSON or not. */
export const scan = (text: string): Size => {
  /** Names of each open object, and `NaN` for each open list. */
  const open: Array<number> = []
  let values = 1
  let id: string | undefined
  let isOver = false
  for (let at = 0; at < text.length && !isOver; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = endOfString(text, at)
      if (open.length === 1 && end - at === 3 && text.startsWith("id", at + 1)) {
        id = /^\s*:\s*("[^"\\]{0,200}"|-?\d{1,16})/.exec(text.slice(end + 1, end + 300))?.[1]
      }
      at = end
    } else if (code === comma) {
      const names = (open.pop() ?? Number.NaN) + 1
      open.push(names)
      isOver = ++values > maxValues || names > maxNames
    } else if (code === list || code === object) {
      isOver = ++values > maxValues
      open.push(code === object ? 1 : Number.NaN)
    } else if (code === listEnd || code === objectEnd) open.pop()
  }
  return { isOver, id }
}

/** The reason why a text that is too large is refused, after its name. */
export const reason = () => `has more than ${digits(maxValues)} values, or an object with more than ${digits(maxNames)}`

/** The reason why a text is not parsed, after its name; `undefined` if it may be. */
export const fault = (text: string): string | undefined =>
  text.length > maxNames && scan(text).isOver ? reason() : undefined
