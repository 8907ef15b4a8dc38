/**
 * Keeps answers of any size within their budget. Pure.
 *
 * Every cut is marked: a string has `… [+N chars] …` instead of its middle; an object with a shortened list or without
 * some of its keys has a `_truncated` mark; a list inside a list ends in one.
 */
import * as Context from "effect/Context"
import * as Predicate from "effect/Predicate"
import { mapValues, obj } from "../base/Json.ts"
import { mapStrings, member, parse, type Path } from "../base/JsonPath.ts"
import * as Omission from "../base/Omission.ts"
import { cost, countTokens, fits, maxDepth, unitsPerToken } from "../base/TokenBound.ts"
import { isMark, type Mark, marksIn, type Next, type Totals } from "./Truncated.ts"

/** Budget of one answer in characters of its JSON, 40,000 by default: Claude Code moves more than 50,000 to a file. */
export const MaxResultChars = Context.Reference<number>("effect-n8n-mcp/MaxResultChars", { defaultValue: () => 40_000 })

/** Smallest budget that lets an answer keep its shape. */
export const minResultChars = 4_000

/** Cost up to which a value is never cut, and minimum room of any larger value. */
const floor = 80

const keyCost = (key: string, cap: number) => cost(key, cap, 1) + 2

const brackets = 2 * unitsPerToken
const comma = 1

const maxPath = 80

/** Shortens a path at its beginning, since its end is more informative. */
const shortenPath = (path: string) =>
  path.length > maxPath ? `…${path.slice(-maxPath).replace(/^[\uDC00-\uDFFF]/, "")}` : path

const makeMark = (path: string, count: number, total: number, next: Next | undefined): Mark => {
  const call = next?.(path, count)
  return { path: shortenPath(path), kept: count, total, ...(call === undefined ? {} : { next: call }) }
}

/** Calls that fetch the rest of lists and of texts. */
interface Calls {
  readonly list?: Next | undefined
  readonly text?: Next | undefined
}

const markCost = (mark: Mark) => cost({ _truncated: mark }) + comma

const markRoom = (path: string, total: number, next?: Next) => markCost(makeMark(path, total, total, next))

/** Marks that an object already has, from `markPages` or an earlier cut. */
const marksOf = (value: Record<string, unknown>, room: number): ReadonlyArray<Mark> => {
  const marks = [value["_truncated"] ?? []].flat()
  if (cost(marks, 2 * room) > 2 * room || !marks.every(isMark)) return []
  const choices = [marks, marks.map(({ next: _, ...mark }) => mark)]
  return choices.find((some) => some.reduce((sum, mark) => sum + markCost(mark), 0) <= room) ?? []
}

const withMarks = (marks: ReadonlyArray<Mark>) =>
  marks.length === 0 ? {} : { _truncated: marks.length === 1 ? marks[0] : marks }

/**
 * Cuts the middle of a text to what fits beside its note, a third of it from the end, without splitting a surrogate
 * pair. A text whose beginning is left out already is read page by page, and cut at its end.
 */
const clip = (text: string, room: number, depth: number): { readonly text: string; readonly head: number } => {
  const ends = Omission.start(text) === 0 ? 1 / 3 : 0
  const left = room - cost(Omission.note(text.length, ends === 0), Infinity, 1)
  const parts = (size: number) => {
    const tail = Math.floor(size * ends)
    const head = size - tail
    const end = text.length - tail
    return [
      text.slice(0, Omission.splitsPair(text, head) ? head - 1 : head),
      text.slice(Omission.splitsPair(text, end) ? end + 1 : end)
    ] as const
  }
  const costOf = ([head, tail]: readonly [string, string]) =>
    cost(head, left, depth) + (tail === "" ? 0 : cost(tail, left, 1))
  let low = 0
  let high = Math.min(text.length, Math.floor(room))
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (costOf(parts(middle)) <= left) low = middle
    else high = middle - 1
  }
  const [head, tail] = parts(low)
  const note = Omission.note(text.length - head.length - tail.length, tail === "")
  return { text: head + note + tail, head: head.length }
}

/** Least room of a text whose mark names a call. */
const markedText = 1_000

/** Cuts a text, with a mark if a call fetches the rest. */
const clipMarked = (text: string, room: number, path: string, depth: number, next: Next | undefined) => {
  const withMark = room - (room < markedText ? 0 : markRoom(path, text.length, next))
  const { head, text: shown } = clip(text, withMark, depth)
  if (room < markedText || next?.(path, 1) === undefined) return { shown, mark: undefined }
  // A note for the beginning of the text stands for its characters.
  const omitted = Omission.start(text)
  const shift = omitted === 0 ? 0 : omitted - Omission.note(omitted, false).length
  return { shown, mark: makeMark(path, head + shift, text.length + shift, next) }
}

/** Minimum room for a value: a small value whole, or a larger one shortened to its mark. */
const leastRoom = (value: unknown, path: string, depth: number): number => {
  const all = cost(value, floor, depth)
  if (all <= floor || !Predicate.isObjectOrArray(value)) return Math.min(all, floor)
  return floor + markRoom(path, Object.keys(value).length)
}

/** Minimum room for an object with all of its keys, which its schema may require. */
const roomForKeys = (value: object, path: string, depth: number, cap: number): number => {
  let sum = brackets + markRoom(path, Object.keys(value).length)
  for (const [key, inner] of Object.entries(value)) {
    if (sum > cap) break
    sum += keyCost(key, cap) + leastRoom(inner, member(path, key), depth + 1)
  }
  return sum
}

const shrink = (value: unknown, room: number, path: string, depth: number, next: Calls): unknown => {
  if (fits(value, room, depth)) return value
  if (Predicate.isString(value)) return clip(value, room, depth).text
  if (!Predicate.isObjectOrArray(value)) return value
  if (depth >= maxDepth) return `[nested deeper than ${maxDepth} levels]`
  if (Array.isArray(value)) {
    const { elements, mark } = shorten(value, room, path, depth, next)
    return mark === undefined ? elements : [...elements, { _truncated: mark }]
  }
  return shrinkObject(value as Record<string, unknown>, room, path, depth, next)
}

/** Keeps the elements that fit beside the mark; shrinks the next one if it is the first, or if no call can fetch it. */
const shorten = (list: ReadonlyArray<unknown>, room: number, path: string, depth: number, next: Calls) => {
  const withCall = room - markRoom(path, list.length, next.list)
  const call = withCall >= floor ? next.list : undefined
  const elements: Array<unknown> = []
  let left = (withCall >= floor ? withCall : room - markRoom(path, list.length)) - brackets
  for (const element of list) {
    const needed = cost(element, left, depth + 1) + comma
    if (needed > left) break
    left -= needed
    elements.push(element)
  }
  const at = elements.length
  if (at < list.length && (at === 0 || next.list?.(path, at) === undefined)) {
    const inner = member(path, at)
    const element = list[at]
    const least = at > 0 && Predicate.isObject(element)
      ? roomForKeys(element, inner, depth + 1, left)
      : leastRoom(element, inner, depth + 1)
    if (left >= least + comma) {
      elements.push(shrink(element, left - comma, inner, depth + 1, next))
    }
  }
  const count = elements.length
  return { elements, mark: count === list.length ? undefined : makeMark(path, count, list.length, call) }
}

/** Keeps small values unchanged and divides the remaining room among the large ones. */
const shrinkObject = (value: Record<string, unknown>, room: number, path: string, depth: number, next: Calls) => {
  const size = Object.keys(value).length
  const roomForMark = markRoom(path, size, next.list)
  let left = room - brackets
  const earlier = new Map(marksOf(value, (left - roomForMark) / 2).map((mark) => [mark.path, mark]))
  for (const mark of earlier.values()) left -= markCost(mark)
  // A `_truncated` key that is not a mark of ours is dropped and counts as cut.
  const total = earlier.size === 0 ? size : size - 1
  const all = Object.keys(value).filter((key) => key !== "_truncated")

  const take = () => {
    const entries: Array<{ readonly key: string; readonly at: string; readonly least: number }> = []
    for (const key of all) {
      const at = member(path, key)
      const keyRoom = keyCost(key, left)
      if (keyRoom > left) continue
      const least = leastRoom(value[key], at, depth + 1)
      if (keyRoom + least > left) continue
      left -= keyRoom + least
      entries.push({ key, at, least })
    }
    return entries
  }
  const whole = left
  let entries = take()
  const marks: Array<Mark> = []
  if (entries.length < total) {
    left = whole - roomForMark
    entries = take()
    marks.push(makeMark(path, entries.length, earlier.get(shortenPath(path))?.total ?? total, next.list))
    earlier.delete(shortenPath(path))
  }

  // From here on `left` is the spare room; each value takes its share of it, smallest first.
  const bySize = entries.map((entry) => ({ ...entry, size: cost(value[entry.key], room, depth + 1) }))
    .toSorted((a, b) => (a.size - a.least) - (b.size - b.least))
  const result = new Map<string, unknown>()
  bySize.forEach(({ at, key, least, size }, done) => {
    const share = least + left / (bySize.length - done)
    const inner = value[key]
    if (size <= share) {
      result.set(key, inner)
      left -= size - least
    } else if (Array.isArray(inner) && depth + 1 < maxDepth) {
      const { elements, mark } = shorten(inner, share, at, depth + 1, next)
      if (mark !== undefined) {
        marks.push({ ...mark, total: earlier.get(shortenPath(at))?.total ?? mark.total })
        earlier.delete(shortenPath(at))
      }
      result.set(key, elements)
      left -= cost(elements, share, depth + 1) + (mark === undefined ? 0 : markCost(mark)) - least
    } else if (Predicate.isString(inner)) {
      const { mark, shown } = clipMarked(inner, share, at, depth + 1, next.text)
      if (mark !== undefined) marks.push(mark)
      result.set(key, shown)
      left -= cost(shown, share, depth + 1) + (mark === undefined ? 0 : markCost(mark)) - least
    } else {
      const smaller = shrink(inner, share, at, depth + 1, next)
      result.set(key, smaller)
      left -= cost(smaller, share, depth + 1) - least
    }
  })
  marks.push(...earlier.values())
  return { ...Object.fromEntries(entries.map(({ key }) => [key, result.get(key)])), ...withMarks(marks) }
}

const markPage = (
  value: unknown,
  [key = "", ...rest]: Path,
  total: number,
  mark: (count: number) => Mark
): unknown => {
  if (!Predicate.isObject(value)) return value
  const holder = value as Record<string, unknown>
  const inner = holder[key]
  if (rest.length > 0) return { ...holder, [key]: markPage(inner, rest, total, mark) }
  return Array.isArray(inner) && inner.length < total
    ? { ...holder, ...withMarks([...marksIn(holder), mark(inner.length)]) } :
    value
}

/** Marks each list that is a page of a longer one. */
export const markPages = <A>(value: A, totals: Totals, next?: Next): A =>
  Object.entries(totals).reduce<unknown>(
    (marked, [path, total]) =>
      markPage(marked, parse(path) ?? [], total, (count) => makeMark(path, count, total, next)),
    value
  ) as A

/**
 * Cuts `value` to at most `budget` units of {@link cost} and keeps its shape.
 *
 * `next` names the calls that fetch the rest of a list or a text; without one the mark only has counts. Small values stay
 * whole, lists keep whole elements from the front, long strings keep their beginning and their end.
 *
 * **Gotchas**
 *
 * The result has type `A` only if the output schema allows `_truncated` (`Truncated.markable`); free JSON
 * (`Schema.Json`) always does.
 */
export const fit = <A>(value: A, budget: number, next: Calls = {}): A => shrink(value, budget, "", 0, next) as A

/** Bounds by the path of a part, where `[]` is every element and `*` every key: `groups[].names`. */
export interface Bounds {
  readonly [path: string]: number | ReadonlyArray<number>
}

/**
 * Bounds of an answer. A part with several bounds gets the first with which the whole answer fits; what is still too
 * large is cut at the end of its lists.
 */
export interface Budget {
  /** Maximum cost: its characters, or 1.6 for a token if that is more. Default: only the general budget. */
  readonly total?: number
  /** Tokens of the answer's JSON (o200k); no bound by default. */
  readonly tokens?: number
  /** Numbers of elements; a list of texts ends in `… [+N more]`, and one mark counts the elements of other lists. */
  readonly lists?: Bounds
  /** Maximum costs of parts. */
  readonly rooms?: Bounds
  /** Character from which texts are shown, if they are longer, and the call that fetches the rest of a text. */
  readonly texts?: { readonly from?: number; readonly next: Next }
}

const pattern = (path: string) => path.replaceAll("[]", ".[]").split(".")

/** Changes the parts at a pattern, each with its path. */
const changeAt = (
  value: unknown,
  [step, ...rest]: ReadonlyArray<string>,
  path: string,
  change: (part: unknown, path: string) => unknown
): unknown => {
  if (step === undefined) return change(value, path)
  if (step === "[]") {
    return Array.isArray(value)
      ? value.map((element, index) => changeAt(element, rest, member(path, index), change))
      : value
  }
  const object = obj(value)
  if (object === undefined) return value
  if (step === "*") return mapValues(object, (inner, key) => changeAt(inner, rest, member(path, key), change))
  if (!Object.hasOwn(object, step)) return value
  const part = changeAt(object[step], rest, member(path, step), change)
  return part === object[step] ? value : { ...object, [step]: part }
}

const isIn = (value: unknown, total: number, tokens = Infinity) =>
  fits(value, total) && (tokens === Infinity || countTokens(JSON.stringify(value), tokens) <= tokens)

/** Ends the lists at a pattern after so many elements; one mark counts those of all holders. */
const withFirst = (value: unknown, at: string, most: number, next: Next | undefined): unknown => {
  const steps = pattern(at)
  const key = steps.at(-1) ?? ""
  const count = { kept: 0, total: 0 }
  const cut = changeAt(value, steps.slice(0, -1), "", (holder) => {
    const object = obj(holder)
    const list = object?.[key]
    if (object === undefined || !Array.isArray(list)) return holder
    const some = list.slice(0, most)
    const isText = list.length > most && list.every(Predicate.isString)
    if (isText) some.push(`… [+${list.length - most} more]`)
    count.kept += isText ? list.length : some.length
    count.total += list.length
    return list.length <= most ? holder : { ...object, [key]: some }
  })
  if (count.kept === count.total || !Predicate.isObject(cut)) return cut
  return { ...cut, ...withMarks([...marksIn(cut), makeMark(at, count.kept, count.total, next)]) }
}

/** Brings the parts of an answer into their bounds; `room` is what {@link fit} then has to keep. */
const bounded = <A>(
  value: A,
  { lists = {}, rooms = {}, tokens, total = Infinity }: Budget,
  max: number,
  next: Calls
) => {
  const levels = Math.max(1, ...[...Object.values(lists), ...Object.values(rooms)].map((each) => [each].flat().length))
  const at = (bounds: number | ReadonlyArray<number>, level: number) => {
    const all = [bounds].flat()
    return all[Math.min(level, all.length - 1)] ?? Infinity
  }
  let [smallest, room]: [unknown, number] = [value, Math.min(total, max)]
  for (let level = 0; level < levels; level++) {
    smallest = Object.entries(lists).reduce<unknown>(
      (whole, [path, bounds]) => withFirst(whole, path, at(bounds, level), next.list),
      value
    )
    for (const [path, bounds] of Object.entries(rooms)) {
      smallest = changeAt(smallest, pattern(path), "", (part, path) => shrink(part, at(bounds, level), path, 0, next))
    }
    if (level + 1 < levels && isIn(smallest, room, tokens)) break
  }
  if (tokens !== undefined) {
    while (room > floor && !isIn(shrink(smallest, room, "", 0, next), room, tokens)) room *= 0.8
  }
  return { value: smallest as A, room }
}

/** Answer before it is cut: its value, its bounds, and the calls that fetch the rest of its lists. */
export interface Draft<A> {
  readonly value: A
  readonly budget: Budget
  readonly next: Next
}

/**
 * Ends an answer that is a page of `size` elements where its budget ends, after at least one element, and cuts what is
 * still too large; `draft` makes the answer with the first elements.
 */
export const fitPage = <A>(size: number, max: number, draft: (count: number) => Draft<A>): A => {
  const drafted = (count: number) => {
    const { budget, next: list, value } = draft(count)
    const { from = 0, next: text } = budget.texts ?? {}
    const next = { list, text }
    return {
      ...bounded(from === 0 ? value : mapStrings(value, (each) => Omission.from(each, from)) as A, budget, max, next),
      next
    }
  }
  const isWhole = ({ room, value }: ReturnType<typeof drafted>) => fits(value, room)
  let best = drafted(size)
  if (size > 1 && !isWhole(best)) {
    let low = 1
    let high = size
    best = drafted(1)
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      const some = drafted(middle)
      if (isWhole(some)) {
        low = middle
        best = some
      } else high = middle
    }
  }
  return fit(best.value, best.room, best.next)
}
