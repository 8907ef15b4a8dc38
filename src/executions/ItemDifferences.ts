/** Differences between items, counted by path. Pure. */
import * as Equal from "effect/Equal"
import * as Schema from "effect/Schema"
import * as Differences from "../base/Difference.ts"
import { defined } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import type * as Redact from "../base/Redact.ts"
import * as Shape from "../base/Shape.ts"

export type Change = Differences.Change

/** Differences of two items; elements of lists are compared by their index. */
export const changes = (before: Redact.Whole, after: Redact.Whole, path = ""): ReadonlyArray<Change> =>
  Differences.changes(before, after, path, { pair: Differences.byIndex })

const decimals = (value: number) => /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0

/** Whether one number is the other rounded to its decimals, or they differ by floating-point error. */
export const isRounding = (a: unknown, b: unknown): boolean => {
  if (typeof a !== "number" || typeof b !== "number") return false
  const [short, long] = decimals(a) <= decimals(b) ? [a, b] : [b, a]
  const unit = 10 ** -decimals(short)
  return Math.abs(short - long) <= Math.max(unit / 2, Math.abs(short) * 1e-12) * (1 + 1e-9) && short !== long &&
    decimals(long) > decimals(short)
}

const typeOf = (value: unknown) => value === null ? "null" : Array.isArray(value) ? "list" : typeof value

const isRetyped = ({ after, before, kind }: Change) => kind === "altered" && typeOf(before) !== typeOf(after)

/** Values as readers see them; secrets that differ look the same. */
const shownValues = ({ kind, shown }: Change) => {
  const [before, after] = [shown("before"), shown("after")]
  const isHidden = kind !== "removed" && Equal.equals(before, after)
  return defined({ before, after: isHidden ? "differs, redacted" : after })
}

/** Place of a difference, with the values that readers see there. */
export type Sample<P> = P & { readonly path: string; readonly before?: unknown; readonly after?: unknown }

/** Shapes of values before and after. */
export interface Shapes {
  readonly before: Shape.Shape
  readonly after: Shape.Shape
}

const shapesOf = ({ after, before }: Change): Shapes => ({ before: Shape.of(before), after: Shape.of(after) })

const mergedShapes = (one: Shapes | undefined, other: Shapes | undefined): Shapes | undefined =>
  one === undefined || other === undefined
    ? one ?? other
    : { before: Shape.merge(one.before, other.before), after: Shape.merge(one.after, other.after) }

/** Pairs that differ in one way at one path. */
export interface Row<K extends string, P> {
  readonly kind: K
  /** Elements of lists together: `lines[].price`. */
  readonly path: string
  count: number
  /** Number of pairs in which numbers were rounded only. */
  roundings: number
  isRetyped: boolean
  /** Sum of the digests of all differences. */
  digest: number
  /** Shapes of all values on each side, where they are asked for. */
  shapes: Shapes | undefined
  /** First distinct examples. */
  readonly samples: Array<Sample<P>>
}

/**
 * Counts differences by kind and path, with up to `limit` examples of each; beyond `most` rows they are one at `…`.
 * `hasShapes` asks for the shapes of values that were altered.
 */
export const tally = <K extends string, P extends object>(limit: number, most = Infinity, hasShapes = false) => {
  const rows = new Map<string, Row<K | Differences.Kind, P>>()
  const at = (kind: K | Differences.Kind, path: string): Row<K | Differences.Kind, P> => {
    const key = `${kind} ${path}`
    const known = rows.get(key)
    if (known !== undefined) return known
    if (rows.size >= most && path !== restPath) return at("altered", restPath)
    const fresh = { kind, path, count: 0, roundings: 0, isRetyped: false, digest: 0, shapes: undefined, samples: [] }
    rows.set(key, fresh)
    return fresh
  }
  const addSample = ({ path, samples }: Row<K | Differences.Kind, P>, sample: () => Sample<P>) => {
    if (samples.length >= limit) return
    const more = path === restPath ? { ...sample(), before: undefined, after: undefined } : sample()
    const isKnown = samples.some(({ after, before }) =>
      Equal.equals(before, more.before) && Equal.equals(after, more.after)
    )
    if (!isKnown) samples.push(more)
  }
  return {
    /** Adds the differences of a pair. */
    addPair: (place: P, all: ReadonlyArray<Change>, digestOf: (change: Change) => number = () => 0) => {
      const own = new Map<string, { readonly row: Row<K | Differences.Kind, P>; isRounded: boolean }>()
      for (const change of all) {
        const path = JsonPath.general(change.path)
        const row = at(change.kind, path)
        const isRounded = isRounding(change.before, change.after)
        const known = own.get(`${change.kind} ${path}`)
        if (known === undefined) own.set(`${change.kind} ${path}`, { row, isRounded })
        else known.isRounded &&= isRounded
        row.isRetyped ||= isRetyped(change)
        row.digest = (row.digest + digestOf(change)) | 0
        if (hasShapes && change.kind === "altered") row.shapes = mergedShapes(row.shapes, shapesOf(change))
        addSample(row, () => ({ ...place, path: change.path, ...shownValues(change) }))
      }
      for (const { isRounded, row } of own.values()) {
        row.count++
        if (isRounded) row.roundings++
      }
    },
    /** Adds what a row counts. */
    add: (
      { count, digest, isRetyped, kind, path, roundings, samples: [first], shapes }: Row<K | Differences.Kind, P>
    ) => {
      const row = at(kind, path)
      row.count += count
      row.digest = (row.digest + digest) | 0
      row.isRetyped ||= isRetyped
      row.roundings += roundings
      row.shapes = mergedShapes(row.shapes, shapes)
      if (first !== undefined) addSample(row, () => first)
    },
    rows: (): ReadonlyArray<Row<K | Differences.Kind, P>> => [...rows.values()]
  }
}

/** Path of the row for all differences beyond the maximum number of rows. */
export const restPath = "…"

/**
 * Path at which items differ, and the number of pairs by kind; a kind without pairs is absent. Elements of lists are
 * counted together: `lines[].price`. `by` are the nodes that changed it in the examples.
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

/**
 * Difference of one item: its position among the items of `to`, the value that names it, and the node on the way that made
 * the difference.
 */
export const Example = Schema.Struct({
  index: Schema.Int,
  key: Schema.optionalKey(Schema.String),
  path: Schema.String,
  before: Schema.optionalKey(Schema.Json),
  after: Schema.optionalKey(Schema.Json),
  by: Schema.optionalKey(Schema.String)
})
export type Example = typeof Example.Type
