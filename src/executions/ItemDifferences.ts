/** Differences between items, as stored and as shown to readers, counted by path. Pure. */
import * as Equal from "effect/Equal"
import * as Schema from "effect/Schema"
import * as Differences from "../base/Difference.ts"
import type { Both } from "../base/Difference.ts"
import { defined } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"

export type Difference = Differences.Shown

export type Kind = "altered" | "added" | "removed"

export const kindOf = ({ after, before }: Difference): Kind =>
  before.stored === undefined ? "added" : after.stored === undefined ? "removed" : "altered"

/** Differences of two items, below a path; elements of lists are compared by their index. */
export const differences = (before: Both, after: Both, path: string): ReadonlyArray<Difference> =>
  Differences.shown(before, after, path, { pair: Differences.byIndex })

const decimals = (value: number) => /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0

/** Whether one number is the other rounded to its decimals, or they differ by floating-point error. */
export const isRounding = (a: unknown, b: unknown): boolean => {
  if (typeof a !== "number" || typeof b !== "number") return false
  const [short, long] = decimals(a) <= decimals(b) ? [a, b] : [b, a]
  const unit = 10 ** -decimals(short)
  return Math.abs(short - long) <= Math.max(unit / 2, Math.abs(short) * 1e-12) * (1 + 1e-9) && short !== long &&
    decimals(long) > decimals(short)
}

/**
 * Path at which items differ, and the number of pairs by kind; a kind without pairs is absent. Elements of lists are
 * counted together: `lines[].price`.
 */
export const PathCount = Schema.Struct({
  path: Schema.String,
  altered: Schema.optionalKey(Schema.Int),
  added: Schema.optionalKey(Schema.Int),
  removed: Schema.optionalKey(Schema.Int),
  roundingOnly: Schema.optionalKey(Schema.Int),
  by: Schema.optionalKey(Schema.Array(Schema.String))
})
export type PathCount = typeof PathCount.Type

/** Difference of one item; `index` is its position among the items of `to`. */
export const Example = Schema.Struct({
  index: Schema.Int,
  key: Schema.optionalKey(Schema.String),
  path: Schema.String,
  before: Schema.optionalKey(Schema.Json),
  after: Schema.optionalKey(Schema.Json)
})
export type Example = typeof Example.Type

interface Tally extends Record<"count" | "rounding" | Kind, number> {
  readonly examples: Array<Example>
  /** Values of a top-level field before and after, to detect values that only changed places. */
  readonly values: { readonly before: Set<unknown>; readonly after: Set<unknown> } | undefined
}

const maxValues = 2_000

const canBeKey = (value: unknown) => typeof value === "string" || Number.isSafeInteger(value)

const collectValues = ({ count, values }: Tally, { after, before }: Difference) => {
  if (values === undefined || count > maxValues) return
  if (canBeKey(before.stored)) values.before.add(before.stored)
  if (canBeKey(after.stored)) values.after.add(after.stored)
}

/** Whether a field has a unique value in each item, mostly one that another item had before: the pairs are crossed. */
const isCrossed = ({ count, values }: Tally): boolean => {
  if (values === undefined || count < 3) return false
  const { after, before } = values
  const looked = Math.min(count, maxValues)
  const moved = [...after].filter((value) => before.has(value)).length
  return before.size === looked && after.size === looked && moved * 2 >= looked
}

/** Takes some examples of each of the rarest changes, up to the limit. */
const spread = (rarest: ReadonlyArray<ReadonlyArray<Example>>, limit: number): ReadonlyArray<Example> => {
  const turns = [rarest.flatMap((examples) => examples.slice(0, 3)), rarest.flatMap((examples) => examples.slice(3))]
  const chosen = new Set(turns.flat().slice(0, limit))
  return rarest.flatMap((examples) => examples.filter((each) => chosen.has(each)))
}

/** Example for readers; secrets that differ look the same. */
export const example = ({ after, before, path }: Difference, index: number, key: string | undefined): Example => {
  const isHidden = after.stored !== undefined && Equal.equals(before.shown, after.shown)
  return defined({
    index,
    key,
    path,
    before: before.shown,
    after: isHidden ? "differs, redacted" : after.shown
  }) as Example
}

const addExample = (examples: Array<Example>, limit: number, more: Example) => {
  const isKnown = ({ after, before }: Example) => Equal.equals(before, more.before) && Equal.equals(after, more.after)
  if (examples.length < limit && !examples.some(isKnown)) examples.push(more)
}

/** Counts the differences of pairs of items by path, with up to `limit` examples of each. */
export const tally = (limit: number, isKeyed: boolean) => {
  const tallies = new Map<string, Tally>()
  const byPath = (path: string) => {
    const known = tallies.get(path)
    if (known !== undefined) return known
    const values = isKeyed || /[.[]/.test(path) ? undefined : { before: new Set(), after: new Set() }
    const fresh: Tally = { count: 0, altered: 0, added: 0, removed: 0, rounding: 0, examples: [], values }
    tallies.set(path, fresh)
    return fresh
  }
  const rarest = () => [...tallies].toSorted(([, a], [, b]) => a.count - b.count)
  return {
    add: (all: ReadonlyArray<Difference>, index: number, key: string | undefined) => {
      const seen = new Set<string>()
      const isFirst = (what: string) => seen.size < seen.add(what).size
      for (const difference of all) {
        const path = JsonPath.general(difference.path)
        const kind = kindOf(difference)
        const at = byPath(path)
        addExample(at.examples, limit, example(difference, index, key))
        if (isFirst(`${kind} ${path}`)) at[kind]++
        if (!isFirst(path)) continue
        at.count++
        collectValues(at, difference)
        if (isRounding(difference.before.stored, difference.after.stored)) at.rounding++
      }
    },
    /** Counts by path, rarest first, with the examples. */
    paths: (): ReadonlyArray<PathCount & { readonly examples: ReadonlyArray<Example> }> =>
      rarest().map(([path, { added, altered, examples, removed, rounding }]) =>
        defined({
          path,
          altered: altered || undefined,
          added: added || undefined,
          removed: removed || undefined,
          roundingOnly: rounding || undefined,
          examples
        })
      ),
    /** Examples of the changes, rarest first; one of each change that is in all pairs. */
    examples: (pairs: number): ReadonlyArray<Example> =>
      spread(
        rarest().map(([, { count, examples }]) => count < pairs ? examples : examples.slice(0, 1)),
        limit
      ),
    likelyKey: () => [...tallies].find(([, each]) => isCrossed(each))?.[0]
  }
}
