/** Differences of items: paths to ignore, fingerprints, pairs, and their counts by path and kind. Pure. */
import type { Kind as ItemKind } from "../../base/Difference.ts"
import { defined, type Obj, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Redact from "../../base/Redact.ts"
import * as Execution from "../../executions/Execution.ts"
import * as FailureGroups from "../../executions/FailureGroups.ts"
import * as ItemDifferences from "../../executions/ItemDifferences.ts"

export { restPath } from "../../executions/ItemDifferences.ts"

/** Path at one node, or at all. */
export interface Ignored {
  readonly node?: string
  readonly steps: JsonPath.Path
}

const quotedName = /^\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(?:\.|(?=\[))/u

/** Reads a path; `undefined` if it cannot be parsed. */
export const parseIgnored = (text: string): Ignored | undefined => {
  const name = quotedName.exec(text)
  const path = text.slice(name?.[0].length ?? 0).replace(/^\s*\$json(?=[.[])\.?/, "")
  const steps = JsonPath.parse(path)
  const node = (name?.[1] ?? name?.[2])?.replace(/\\(.)/g, "$1")
  return steps === undefined ? undefined : node === undefined ? { steps } : { node, steps }
}

/** Mixes the bits of a number (Steele and Vigna). */
export const mix = (value: number): number => {
  const first = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
  const second = Math.imul(first ^ (first >>> 15), 0x735a2d97)
  return second ^ (second >>> 15)
}

/** Fingerprint of a text (FNV-1a). */
export const fingerprintOfText = (text: string, seed = 0x811c9dc5): number => {
  let hash = seed
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mix(hash)
}

/** Fingerprint of a JSON value without the paths to ignore. */
export const fingerprint = (value: unknown, ignore: ReadonlyArray<JsonPath.Path>): number => {
  if (typeof value === "string") return fingerprintOfText(value)
  if (typeof value !== "object" || value === null) return fingerprintOfText(String(value), 1)
  let sum = Array.isArray(value) ? 3 : 5
  const add = (step: string | number, inner: unknown) => {
    const rest = JsonPath.below(ignore, step)
    if (rest.some((steps) => steps.length === 0)) return
    const at = typeof step === "number" ? mix(step + 1) : fingerprintOfText(step)
    sum = (sum + mix(Math.imul(at, 31) ^ fingerprint(inner, rest))) | 0
  }
  if (Array.isArray(value)) { for (let index = 0; index < value.length; index++) add(index, value[index]) }
  else for (const key of Object.keys(value)) add(key, (value as Obj)[key])
  return mix(sum)
}

interface Place {
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
  const value = obj(stored)
  const json = value?.["json"] ?? {}
  if (isAbsent(value?.["binary"]) && isAbsent(value?.["error"])) return [["", json]]
  const { binary, error } = Execution.item(stored)
  return [
    ["", json],
    ["$binary", binary],
    ["$error", error && FailureGroups.withoutValues(error.message)]
  ]
}

const restOf = (ignore: ReadonlyArray<JsonPath.Path>, prefix: string) =>
  prefix === "" ? ignore : JsonPath.below(ignore, prefix)

/** Fingerprint of an item without the paths to ignore. */
export const fingerprintOfItem = (stored: unknown, ignore: ReadonlyArray<JsonPath.Path>): number =>
  parts(stored).reduce((sum, [prefix, value]) => {
    const rest = restOf(ignore, prefix)
    return value === undefined || rest.some((steps) => steps.length === 0)
      ? sum
      : (sum + mix(fingerprintOfText(prefix) ^ fingerprint(value, rest))) | 0
  }, 0)

/**
 * Returns whether a change is only that each run names its own execution, as `$execution.id` does: the texts are the same
 * without the ids of the executions.
 */
export const isOwnId = (before: string, after: string) => {
  const text = (value: unknown) => typeof value === "string" || typeof value === "number" ? String(value) : undefined
  const without = (value: unknown, id: string) =>
    text(value)?.replaceAll(new RegExp(String.raw`(?<!\d)${id}(?!\d)`, "g"), "\0")
  return ({ after: now, before: then, kind }: Pick<ItemDifferences.Change, "after" | "before" | "kind">): boolean => {
    const isNamed = kind === "altered" && text(then)?.includes(before) === true
    return isNamed && /^\d+$/.test(before) && /^\d+$/.test(after) &&
      without(then, before) === without(now, after)
  }
}

/** Differences of a pair by path, without the paths to ignore and without changes that `isSame` takes for none. */
export const differencesOf = (
  [before, after]: readonly [Place, Place],
  ignore: ReadonlyArray<JsonPath.Path>,
  redacts: boolean,
  isSame: (change: ItemDifferences.Change) => boolean = () => false
): ReadonlyArray<ItemDifferences.Change> => {
  const [left, right] = [new Map(parts(before.stored)), new Map(parts(after.stored))]
  const all = [...(left.size < right.size ? right : left).keys()].flatMap((prefix) => {
    const whole = (of: typeof left, { redactor }: Place) =>
      Redact.whole(of.get(prefix), (value) => redacts ? redactor()(value) : value)
    return ItemDifferences.changes(whole(left, before), whole(right, after), prefix).filter((each) => !isSame(each))
  })
  return ignore.length === 0 ? all : all.filter(({ path }) => !JsonPath.covers(ignore, JsonPath.parse(path) ?? []))
}

const maxPaths = 1_000

const collect = (value: unknown, path: string, into: Set<string>): void => {
  if (into.size >= maxPaths) return
  if (path !== "") into.add(path)
  if (Array.isArray(value)) { for (const inner of value) collect(inner, JsonPath.member(path, JsonPath.all), into) }
  else {for (const [key, inner] of Object.entries(obj(value) ?? {})) {
      collect(inner, JsonPath.member(path, key), into)
    }}
}

/** Items of a side without partners: how often each occurs, and how many have each path. */
export const census = (ignore: ReadonlyArray<JsonPath.Path>) => {
  const paths = new Map<string, number>()
  let items = 0
  return {
    add: (stored: unknown) => {
      items++
      const own = new Set<string>()
      collect(obj(stored)?.["json"], "", own)
      for (const path of own) if (paths.size < maxPaths || paths.has(path)) paths.set(path, (paths.get(path) ?? 0) + 1)
      return fingerprintOfItem(stored, ignore)
    },
    has: (path: string) => paths.has(path),
    inAll: () => [...paths].flatMap(([path, count]) => count === items ? [path] : [])
  }
}

/**
 * Kind of a difference; `succeeded` and `failed` describe the replay, `ran` and `notRun` too. `unknown`: the node did not
 * return what it would return, for the reason in `path`, so that nothing can be said of later nodes.
 */
export type Kind =
  | ItemKind
  | "count"
  | "order"
  | "output"
  | "ran"
  | "notRun"
  | "failed"
  | "succeeded"
  | "unknown"

/** Difference of a node: one for all items and runs of the node that differ in this way, with the first as example. */
export interface Difference {
  readonly node: string
  readonly run: number
  readonly item?: number
  /** Path in the item, elements of lists together; the output of a count; else empty. */
  readonly path: string
  readonly kind: Kind
  /** Values as shown to readers, shortened. */
  readonly before?: unknown
  readonly after?: unknown
  readonly count: number
  readonly isRounding?: boolean
  readonly isRetyped?: boolean
  /** Fingerprint of the replay's values and their places. */
  readonly digest: number
  /** Shapes of all values that were altered here. */
  readonly shapes?: ItemDifferences.Shapes
}

/** Maximum number of paths of a node; the rest is one difference at `restPath`. */
const maxDifferences = 500

const maxChars = 200

const brief = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  return text === undefined || text.length <= maxChars
    ? value
    : `${(typeof value === "string" ? value : text).slice(0, maxChars)}…`
}

export interface At extends Pick<Difference, "node" | "run" | "item"> {}

/** Differences of a node, or of one of its runs before it is known whether only the order differs. */
export const tally = () => {
  const all = ItemDifferences.tally<Kind, At>(1, maxDifferences, true)
  return {
    ...all,
    addItem: (place: At, changes: ReadonlyArray<ItemDifferences.Change>) =>
      all.addPair(
        place,
        changes,
        ({ after, path }) => mix(fingerprintOfText(`${place.run} ${place.item} ${path}`) ^ fingerprint(after, []))
      ),
    /** Adds a difference that is not one of values in items. */
    note: ({ after, before, count = 1, digest, item, kind, node, path = "", run }: Note) =>
      all.add({
        kind,
        path,
        count,
        digest,
        roundings: 0,
        isRetyped: false,
        shapes: undefined,
        samples: [defined({ node, run, item, path, before, after })]
      }),
    values: (): ReadonlyArray<Difference> =>
      all.rows().flatMap(({ roundings, samples: [first], ...row }) =>
        first === undefined ? [] : [defined({
          ...first,
          ...row,
          before: brief(first.before),
          after: brief(first.after),
          isRounding: roundings === row.count || undefined,
          isRetyped: row.isRetyped || undefined,
          shapes: row.shapes
        })]
      )
  }
}

/** Difference that is not one of values in items. */
export interface Note extends At, Pick<Difference, "kind" | "before" | "after" | "digest"> {
  readonly path?: string
  readonly count?: number
}
