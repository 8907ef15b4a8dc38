/**
 * The stage that keeps an answer inside its budget, whatever n8n holds. Pure.
 *
 * What is cut says so where it was cut: a string ends in `… [+N chars]`; an object whose list or keys were cut has a
 * `_truncated` mark; a list inside a list ends in one.
 */
import * as Context from "effect/Context"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Mark, type Next } from "./domain/Truncated.ts"

/**
 * The most one answer may hold, in characters of its JSON; tokens are bounded with it (see {@link cost}).
 * Default 40,000: Claude Code moves results above 50,000 characters or 25,000 tokens to a file.
 */
export const MaxResultChars = Context.Reference<number>("effect-n8n-mcp/MaxResultChars", {
  defaultValue: () => 40_000
})

/** Below this an answer could not keep its shape. */
export const minResultChars = 4_000

/** No more than 25,000 tokens in 40,000 units. */
const unitsPerToken = 1.6
/** Deeper JSON is replaced by a note: it would overflow a reader's stack too. */
const maxDepth = 64
/** No string shorter than this is cut, and no value gets less room. */
const floor = 80

const nonAscii = (code: number) => {
  if (code < 0x0e80) return 1.2 * unitsPerToken
  if (code >= 0x3041 && code <= 0x30ff) return 1.2 * unitsPerToken
  if (code >= 0x4e00 && code <= 0x9fff) return 1.95 * unitsPerToken
  return 3 * unitsPerToken
}

const letters = 1
const digits = 2
const signs = 3

const textCost = (text: string, cap: number): number => {
  let sum = 0
  let previous = 0
  for (let at = 0; at < text.length && sum <= cap; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) {
      sum += nonAscii(code)
      previous = 0
    } else {
      const lower = code | 0x20
      const kind = lower >= 0x61 && lower <= 0x7a
        ? letters
        : code >= 0x30 && code <= 0x39
        ? digits
        : code === 0x20
        ? 0
        : signs
      sum += kind !== previous && kind !== 0 ? unitsPerToken : 1.06
      previous = kind
    }
  }
  return sum
}

const stringCost = (text: string, cap: number): number =>
  text.length > cap ? Infinity : textCost(JSON.stringify(text), cap)

/**
 * What a JSON value takes of a budget: at least its length in characters, and at least 1.6 for each token that the
 * o200k tokenizer makes of it (other models' tokenizers differ by some percent; the bound is pessimistic).
 *
 * **Gotchas**
 *
 * Counting stops once the sum is above `cap`; the result is then only known to be above it.
 */
export const cost = (value: unknown, cap = Infinity, depth = 0): number => {
  if (Predicate.isString(value)) return stringCost(value, cap)
  if (!Predicate.isObjectOrArray(value)) return textCost(String(value), cap)
  if (depth >= maxDepth) return Infinity
  let sum = 2 * unitsPerToken
  const add = (more: number) => {
    sum += more
    return sum <= cap
  }
  if (Array.isArray(value)) {
    for (const inner of value) if (!add(cost(inner, cap - sum, depth + 1) + unitsPerToken)) break
  } else {
    for (const key in value) {
      if (!add(stringCost(key, cap - sum) + 2 * unitsPerToken)) break
      if (!add(cost(value[key as keyof typeof value], cap - sum, depth + 1))) break
    }
  }
  return sum
}

const isMark = Schema.is(Mark)

interface Cutter {
  readonly next: Next
}

/** Room for one mark. */
const markRoom = (next: string | undefined) => 90 + (next === undefined ? 0 : stringCost(next, Infinity) + 12)

const makeMark = (path: string, kept: number, total: number, next: string | undefined): Mark => ({
  path,
  kept,
  total,
  ...(next === undefined ? {} : { next })
})

/** The longest beginning of `text` that fits with its note; a surrogate pair stays whole. */
const clip = (text: string, budget: number): string => {
  const note = (kept: number) => `… [+${text.length - kept} chars]`
  let low = 0
  let high = Math.min(text.length, Math.floor(budget))
  const room = budget - stringCost(note(0), Infinity)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (stringCost(text.slice(0, middle), room) <= room) low = middle
    else high = middle - 1
  }
  if (/[\uD800-\uDBFF]/.test(text.charAt(low - 1))) low--
  return text.slice(0, low) + note(low)
}

const join = (path: string, key: string) => path === "" ? key : `${path}.${key}`

const shrink = (value: unknown, budget: number, path: string, depth: number, cutter: Cutter): unknown => {
  if (cost(value, budget, depth) <= budget) return value
  if (Predicate.isString(value)) return value.length < floor / 4 ? value : clip(value, budget)
  if (!Predicate.isObjectOrArray(value)) return value
  if (depth >= maxDepth) return `[nested deeper than ${maxDepth} levels]`
  if (Array.isArray(value)) {
    const { kept, mark } = shorten(value, budget - markRoom(undefined), path, depth, cutter)
    return mark === undefined ? kept : [...kept, { _truncated: mark }]
  }
  return shrinkObject(value as Record<string, unknown>, budget, path, depth, cutter)
}

/** Whole elements from the front while they fit; if not even the first does, the first, shrunk. */
const shorten = (list: ReadonlyArray<unknown>, budget: number, path: string, depth: number, cutter: Cutter) => {
  const kept: Array<unknown> = []
  let left = budget - 2 * unitsPerToken
  for (const element of list) {
    const needed = cost(element, left, depth + 1) + unitsPerToken
    if (needed > left) break
    left -= needed
    kept.push(element)
  }
  if (kept.length === 0 && list.length > 0 && left > floor) {
    kept.push(shrink(list[0], left - unitsPerToken, join(path, "0"), depth + 1, cutter))
  }
  const mark = kept.length === list.length
    ? undefined
    : makeMark(path, kept.length, list.length, cutter.next(path, kept.length))
  return { kept, mark }
}

/** Small values stay whole; what is left of the budget is shared by the large ones. */
const shrinkObject = (
  value: Record<string, unknown>,
  budget: number,
  path: string,
  depth: number,
  cutter: Cutter
): Record<string, unknown> => {
  // A list that a tool has paged itself is marked already: its total stands, its count may shrink.
  const { _truncated: paged, ...rest } = value
  const earlier = new Map([paged].flat().filter(isMark).map((mark) => [mark.path, mark]))
  const all = Object.keys(rest)
  const marks: Array<Mark> = []
  let left = budget - 2 * unitsPerToken
  for (const mark of earlier.values()) left -= markRoom(mark.next)

  const keys: Array<string> = []
  let least = markRoom(undefined)
  for (const key of all) {
    least += stringCost(key, left) + 2 * unitsPerToken + Math.min(floor, cost(value[key], floor, depth + 1))
    if (least > left) break
    keys.push(key)
  }
  if (keys.length < all.length) {
    left -= markRoom(undefined)
    marks.push(makeMark(path, keys.length, all.length, undefined))
  }
  for (const key of keys) left -= stringCost(key, Infinity) + 2 * unitsPerToken

  const costs = new Map(keys.map((key) => [key, cost(value[key], left, depth + 1)]))
  const bySize = [...keys].toSorted((a, b) => (costs.get(a) ?? 0) - (costs.get(b) ?? 0))
  const result = new Map<string, unknown>()
  bySize.forEach((key, done) => {
    const share = Math.max(left / (keys.length - done), floor / 2)
    const inner = value[key]
    const at = join(path, key)
    if ((costs.get(key) ?? 0) <= share) {
      result.set(key, inner)
      left -= costs.get(key) ?? 0
      return
    }
    if (Array.isArray(inner)) {
      const room = markRoom(cutter.next(at, inner.length))
      const { kept, mark } = shorten(inner, share - room, at, depth + 1, cutter)
      if (mark !== undefined) {
        marks.push({ ...mark, total: earlier.get(at)?.total ?? mark.total })
        earlier.delete(at)
      }
      result.set(key, kept)
      left -= cost(kept, share, depth + 1) + (mark === undefined ? 0 : room)
    } else {
      const smaller = shrink(inner, share, at, depth + 1, cutter)
      result.set(key, smaller)
      left -= cost(smaller, share, depth + 1)
    }
  })
  marks.push(...earlier.values())
  return {
    ...Object.fromEntries(keys.map((key) => [key, result.get(key)])),
    ...(marks.length === 0 ? {} : { _truncated: marks.length === 1 ? marks[0] : marks })
  }
}

/**
 * Cuts `value` to at most `budget` units of {@link cost}, keeping its shape.
 *
 * **Details**
 *
 * `next` names the call that fetches the rest of a list; without it the mark only counts. Small values stay whole,
 * lists keep whole elements from the front, long strings keep their beginning.
 *
 * **Gotchas**
 *
 * The type stays true where the output schema admits `_truncated` (`truncated` of `domain/Truncated`) in each object that holds a
 * list; free JSON (`Schema.Json`) admits it anyway.
 */
export const fit = <A>(value: A, budget: number, next: Next = () => undefined): A =>
  shrink(value, budget, "", 0, { next }) as A
