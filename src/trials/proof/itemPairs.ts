/** Items of two outputs read side by side, each parsed once and none stored. Pure. */
import * as Json from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Execution from "../../executions/Execution.ts"
import * as FailureGroups from "../../executions/FailureGroups.ts"
import * as ItemDifferences from "../../executions/ItemDifferences.ts"
import * as fingerprint from "./fingerprint.ts"
import { below, covers, type Steps } from "./ignored.ts"

/** Stored item at its position. */
export interface Place {
  readonly index: number
  readonly stored: unknown
  readonly redactor: Execution.Segment["redactor"]
}

const cursor = (segments: Iterable<Execution.Segment>) => {
  const rest = segments[Symbol.iterator]()
  const advance = () => {
    const next = rest.next()
    return next.done === true ? undefined : next.value
  }
  let segment = advance()
  let items: ReadonlyArray<unknown> | undefined
  let at = 0
  const skip = () => {
    segment = advance()
    items = undefined
    at = 0
  }
  return {
    /** JSON of a segment of which nothing was taken. */
    text: () => items === undefined ? segment?.text : undefined,
    skip,
    take: (): Place | undefined => {
      const current = segment
      if (current === undefined) return undefined
      items ??= current.items()
      const place = { index: current.first + at, stored: items[at], redactor: current.redactor }
      at++
      if (at >= items.length) skip()
      return place
    }
  }
}

/** Pairs by position until one side ends; equal segments are passed over. */
export function* pairs(then: Iterable<Execution.Segment>, now: Iterable<Execution.Segment>) {
  const [left, right] = [cursor(then), cursor(now)]
  for (;;) {
    const text = left.text()
    if (text !== undefined && text === right.text()) {
      left.skip()
      right.skip()
      continue
    }
    const [before, after] = [left.take(), right.take()]
    if (before === undefined || after === undefined) return
    yield [before, after] as const
  }
}

/** Items of an output in order. */
export function* places(segments: Iterable<Execution.Segment>) {
  const rest = cursor(segments)
  for (let place = rest.take(); place !== undefined; place = rest.take()) yield place
}

const isAbsent = (value: unknown) => value === undefined || value === null

/** Parts of an item to compare, by the prefix of their paths: its JSON, its files without content, its error. */
const parts = (stored: unknown): ReadonlyArray<readonly [prefix: string, value: unknown]> => {
  const value = Json.obj(stored)
  const json = value?.["json"] ?? {}
  if (isAbsent(value?.["binary"]) && isAbsent(value?.["error"])) return [["", json]]
  const { binary, error } = Execution.item(stored)
  return [
    ["", json],
    ["$binary", binary],
    ["$error", error && FailureGroups.withoutValues(error.message)]
  ]
}

const restOf = (ignore: ReadonlyArray<Steps>, prefix: string) => prefix === "" ? ignore : below(ignore, prefix)

/** Fingerprint of an item without the paths to ignore. */
export const ofItem = (stored: unknown, ignore: ReadonlyArray<Steps>): number =>
  parts(stored).reduce((sum, [prefix, value]) => {
    const rest = restOf(ignore, prefix)
    return value === undefined || rest.some((steps) => steps.length === 0)
      ? sum
      : (sum + fingerprint.mix(fingerprint.ofText(prefix) ^ fingerprint.of(value, rest))) | 0
  }, 0)

/** Differences of a pair by path, without the paths to ignore. */
export const differencesOf = (
  [before, after]: readonly [Place, Place],
  ignore: ReadonlyArray<Steps>,
  redacts: boolean
) => {
  const [left, right] = [new Map(parts(before.stored)), new Map(parts(after.stored))]
  const all: Array<ItemDifferences.Difference> = []
  for (const prefix of left.size < right.size ? right.keys() : left.keys()) {
    const [old, current] = [left.get(prefix), right.get(prefix)]
    if (Json.equals(old, current)) continue
    const both = (stored: unknown, { redactor }: Place) => ({ stored, shown: redacts ? redactor()(stored) : stored })
    ItemDifferences.differences(both(old, before), both(current, after), prefix, all)
  }
  return ignore.length === 0 ? all : all.filter(({ path }) => !covers(ignore, JsonPath.parse(path) ?? []))
}

/** Maximum number of paths of a shape. */
const maxPaths = 1_000

/** Collects the paths of an item, elements of lists together. */
const collect = (value: unknown, path: string, into: Set<string>): void => {
  if (into.size >= maxPaths) return
  if (path !== "") into.add(path)
  if (Array.isArray(value)) { for (const inner of value) collect(inner, `${path}[]`, into) }
  else {for (const [key, inner] of Object.entries(Json.obj(value) ?? {})) {
      collect(inner, JsonPath.member(path, key), into)
    }}
}

/** Items of a side without partners: how often each occurs, and how many have each path. */
export const census = (ignore: ReadonlyArray<Steps>) => {
  const paths = new Map<string, number>()
  let items = 0
  return {
    add: (stored: unknown) => {
      items++
      const own = new Set<string>()
      collect(Json.obj(stored)?.["json"], "", own)
      for (const path of own) if (paths.size < maxPaths || paths.has(path)) paths.set(path, (paths.get(path) ?? 0) + 1)
      return ofItem(stored, ignore)
    },
    has: (path: string) => paths.has(path),
    /** Paths that all items have. */
    inAll: () => [...paths].flatMap(([path, count]) => count === items ? [path] : [])
  }
}
