/** Differences between two JSON values. Pure. */
import { diffArrays } from "diff"
import { canonical, equals, obj, own } from "./Json.ts"
import * as JsonPath from "./JsonPath.ts"
import * as Redact from "./Redact.ts"

/** A place at which two values differ; `undefined` on a side means that the value is missing there. */
export interface Difference {
  /** Steps to the place after the change, or before it for an element that was removed. */
  readonly steps: ReadonlyArray<string | number>
  /** Steps before the change: elements of a list may have had another index. */
  readonly former: ReadonlyArray<string | number>
  readonly before: unknown
  readonly after: unknown
}

/** Indexes of elements that belong together in two lists, in order; an element without a partner stands alone. */
export type Pairs = ReadonlyArray<readonly [before: number | undefined, after: number | undefined]>

type List = ReadonlyArray<unknown>

/** Options of a comparison. */
export interface Options {
  /** Pairs the elements of two lists; `undefined` compares the lists as a whole. Default: {@link aligned}. */
  readonly pair?: (before: List, after: List) => Pairs | undefined
  /** Whether two values count as equal. Default: equal JSON. */
  readonly matches?: (before: unknown, after: unknown) => boolean
  /** Whether only the keys of the first value count. */
  readonly isPartial?: boolean
}

/** Pairs elements by their index. */
export const byIndex = (before: List, after: List): Pairs =>
  Array.from({ length: Math.max(before.length, after.length) }, (_, index) => [
    index < before.length ? index : undefined,
    index < after.length ? index : undefined
  ])

/** Maximum number of insertions and deletions; beyond it two lists are paired index by index. */
const maxEdits = 500

const ids = (list: List): ReadonlyArray<string> | undefined => {
  const all = list.flatMap((element) => {
    const id = own(element, "id")
    return typeof id === "string" && id !== "" ? [id] : []
  })
  return all.length === list.length && new Set(all).size === list.length ? all : undefined
}

const kind = (value: unknown) => Array.isArray(value) ? "list" : obj(value) === undefined ? "scalar" : "object"

/**
 * Pairs elements by their ids if all have one, else equal ones in their order; of those between, the first removed with
 * the first added one of the same kind, and so on.
 */
export const aligned = (before: List, after: List): Pairs => {
  const [a, b] = [ids(before), ids(after)]
  const haveIds = a !== undefined && b !== undefined
  const steps = diffArrays(
    [...haveIds ? a : before.map(canonical)],
    [...haveIds ? b : after.map(canonical)],
    { maxEditLength: maxEdits }
  ) ?? [{ removed: true, added: false, count: before.length }, { removed: false, added: true, count: after.length }]
  const pairs: Array<Pairs[number]> = []
  let [removed, added]: [Array<number>, Array<number>] = [[], []]
  const closeGap = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      const [old, now] = [removed[at], added[at]]
      const isPair = old !== undefined && now !== undefined && !haveIds && kind(before[old]) === kind(after[now])
      if (isPair) pairs.push([old, now])
      else {
        if (old !== undefined) pairs.push([old, undefined])
        if (now !== undefined) pairs.push([undefined, now])
      }
    }
    removed = []
    added = []
  }
  let [i, j] = [0, 0]
  for (const step of steps) {
    if (!step.removed && !step.added) closeGap()
    for (let count = 0; count < step.count; count++) {
      if (step.removed) removed.push(i++)
      else if (step.added) added.push(j++)
      else pairs.push([i++, j++])
    }
  }
  closeGap()
  return pairs
}

/** Lists the places at which two values differ, in the order of keys and elements; none if they are equal. */
export const between = (
  before: unknown,
  after: unknown,
  { isPartial = false, matches, pair = aligned }: Options = {}
): ReadonlyArray<Difference> => {
  if (matches === undefined && equals(before, after)) return []
  const all: Array<Difference> = []
  const [former, steps]: [Array<JsonPath.Step>, Array<JsonPath.Step>] = [[], []]
  const enter = (old: JsonPath.Step, now: JsonPath.Step, before: unknown, after: unknown) => {
    former.push(old)
    steps.push(now)
    visit(before, after)
    former.pop()
    steps.pop()
  }
  const visit = (before: unknown, after: unknown): void => {
    if (before === after || matches?.(before, after) === true) return
    const pairs = Array.isArray(before) && Array.isArray(after) ? pair(before, after) : undefined
    if (pairs !== undefined) {
      for (const [old, now] of pairs) {
        const at = (list: unknown, index: number | undefined) => index === undefined ? undefined : own(list, index)
        enter(old ?? now ?? 0, now ?? old ?? 0, at(before, old), at(after, now))
      }
      return
    }
    const [a, b] = [obj(before), obj(after)]
    if (a !== undefined && b !== undefined) {
      for (const key of Object.keys(a)) enter(key, key, a[key], own(b, key))
      if (!isPartial) {
        for (const key of Object.keys(b)) if (!Object.hasOwn(a, key)) enter(key, key, undefined, b[key])
      }
    } else if (matches !== undefined || !equals(before, after)) {
      all.push({ steps: [...steps], former: [...former], before, after })
    }
  }
  visit(before, after)
  return all
}

/** A difference with its path, for readers. */
export interface Field {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** Differences with their paths, below the path of the values that were compared. */
export const fields = (differences: ReadonlyArray<Difference>, path = ""): ReadonlyArray<Field> =>
  differences.map(({ after, before, steps }) => ({ path: JsonPath.print(steps, path), before, after }))

/** Way in which a value differs. */
export type Kind = "altered" | "added" | "removed"

/** A difference of stored values as readers see it: secrets are redacted by the whole values that they are in. */
export interface Change extends Field {
  readonly kind: Kind
  /** Value that readers see on a side. */
  readonly shown: (side: "before" | "after") => unknown
}

/** Lists the places at which stored values differ; what readers see is looked up for the differences that are shown. */
export const changes = (
  before: Redact.Whole,
  after: Redact.Whole,
  path = "",
  options?: Options
): ReadonlyArray<Change> =>
  between(before.value, after.value, options).map((difference) => ({
    path: JsonPath.print(difference.steps.map(Redact.step), path),
    before: difference.before,
    after: difference.after,
    kind: difference.before === undefined ? "added" : difference.after === undefined ? "removed" : "altered",
    shown: (side) => {
      if (difference[side] === undefined) return undefined
      return side === "before" ? before.at(difference.former) : after.at(difference.steps)
    }
  }))
