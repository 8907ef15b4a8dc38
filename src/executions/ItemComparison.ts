/** Comparison of the items of two nodes: the paths at which pairs differ. Pure, but yields to other fibers. */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { sumAll } from "effect/Number"
import * as Schema from "effect/Schema"
import { defined, obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import type * as Redact from "../base/Redact.ts"
import * as Graph from "../workflow/Graph.ts"
import * as Execution from "./Execution.ts"
import * as ItemDifferences from "./ItemDifferences.ts"
import {
  eachItem,
  labelAt,
  offsets,
  paired,
  type PairedBy,
  reader,
  type Side,
  sideOf,
  type Sides
} from "./ItemPairs.ts"
import * as Lineage from "./Lineage.ts"

export type { Path, Step } from "../base/JsonPath.ts"
export { Example, isRounding, PathCount } from "./ItemDifferences.ts"
export { type Ends, origins, PairedBy, type Side, sideOf, type SideOptions, type Sides } from "./ItemPairs.ts"

/** Items without a partner: their number, and the first ones by position or by the value that names them. */
export const Unpaired = Schema.Struct({
  count: Schema.Int,
  first: Schema.Array(Schema.Union([Schema.Int, Schema.String]))
})
export type Unpaired = typeof Unpaired.Type

/**
 * Result of a comparison: the pairs that are equal, and those with altered values, with added and with removed keys. A
 * pair can have all three. `paths` begins with the rarest change, `examples` are of the rarest.
 */
export interface Comparison {
  readonly pairedBy: PairedBy
  /** Sides that were compared: the nearest ones that pair if a node between aggregates items or splits them. */
  readonly from: Side
  readonly to: Side
  readonly same: number
  readonly altered: number
  readonly added: number
  readonly removed: number
  readonly paths: ReadonlyArray<ItemDifferences.PathCount>
  readonly examples: ReadonlyArray<ItemDifferences.Example>
  readonly onlyInFrom: Unpaired
  readonly onlyInTo: Unpaired
  /** Items of `from` with several partners. */
  readonly duplicated?: Unpaired
  /** Path of the values that name the items: the key, or a field that looks like an id and is another in each item. */
  readonly namedBy?: string
  /** Number of items without a value at the key. */
  readonly withoutKey?: { readonly from: number; readonly to: number }
  /** Number of key values shared by several items of `from`, which are paired in order. */
  readonly sharedKeys?: number
  /** Field that would probably be a better key: it differs in most pairs, and its values only changed places. */
  readonly likelyKey?: string
  /** Positions in `fields` of the paths that no item has. */
  readonly missing?: ReadonlyArray<number>
}

/** Items to compare, and how. */
export interface Options extends Sides {
  readonly fields: ReadonlyArray<JsonPath.Path>
  readonly ignore: ReadonlyArray<JsonPath.Path>
  readonly limit: number
}

const maxValues = 2_000

const canBeKey = (value: unknown) => typeof value === "string" || Number.isSafeInteger(value)

/** Fields whose values only changed places: the pairs are crossed, and the field would be a better key. */
const crossings = () => {
  const fields = new Map<string, { count: number; readonly before: Set<unknown>; readonly after: Set<unknown> }>()
  return {
    add: (all: ReadonlyArray<ItemDifferences.Change>) => {
      for (const { after, before, path } of all) {
        if (/[.[]/.test(path)) continue
        const field = fields.get(path) ?? { count: 0, before: new Set(), after: new Set() }
        fields.set(path, field)
        if (field.count++ >= maxValues) continue
        if (canBeKey(before)) field.before.add(before)
        if (canBeKey(after)) field.after.add(after)
      }
    },
    likelyKey: () =>
      [...fields].find(([, { after, before, count }]) => {
        const looked = Math.min(count, maxValues)
        const moved = [...after].filter((value) => before.has(value)).length
        return count >= 3 && before.size === looked && after.size === looked && moved * 2 >= looked
      })?.[0]
  }
}

/** Names of fields that tell items apart, best first. */
const identifying = [
  /^(?:.*[_\s-])?(?:[iI][dD]|uuid|guid)$|[a-z]I[dD]$/,
  /^(?:.*[_\s-])?(?:no|nr|num|number|key|code|sku|ref)$|[a-z](?:No|Nr|Num|Number|Key|Code|Sku|Ref)$/,
  /(?:[eE]?mail|[nN]ame|[tT]itle|[sS]lug)$/
]

/** Finds the field by which readers recognize an item: it is the same on both sides of a pair, and another in each. */
const naming = () => {
  let fields: Map<string, Map<unknown, number>> | undefined
  let pairs = 0
  return {
    add: (origin: number, before: unknown, after: unknown) => {
      if (pairs++ >= maxValues) return
      const [old, now] = [obj(before) ?? {}, obj(after) ?? {}]
      fields ??= new Map(
        Object.keys(now).filter((key) => identifying.some((pattern) => pattern.test(key))).map((
          key
        ) => [key, new Map()])
      )
      for (const [key, values] of fields) {
        const value = now[key]
        const isName = canBeKey(value) && value === old[key] && (values.get(value) ?? origin) === origin
        if (isName) values.set(value, origin)
        else fields.delete(key)
      }
    },
    path: (): JsonPath.Path | undefined => {
      const names = [...fields?.keys() ?? []]
      const best = identifying.flatMap((pattern) => names.find((name) => pattern.test(name)) ?? [])[0]
      return best === undefined ? undefined : [best]
    }
  }
}

/** Takes some examples of each of the rarest changes, up to the limit. */
const spread = <A>(rarest: ReadonlyArray<ReadonlyArray<A>>, limit: number): ReadonlyArray<A> => {
  const turns = [rarest.flatMap((examples) => examples.slice(0, 3)), rarest.flatMap((examples) => examples.slice(3))]
  const chosen = new Set(turns.flat().slice(0, limit))
  return rarest.flatMap((examples) => examples.filter((each) => chosen.has(each)))
}

const maxUnpaired = 5

/** Names the node that first changed the value at a path on the way of an item; `undefined` without a node between. */
const changedBy = (
  execution: Execution.Execution,
  { from, redacts, to }: Options,
  { index, origin, path }: { readonly index: number; readonly origin: number | undefined; readonly path: string },
  budget: Lineage.Budget
): string | undefined => {
  const placeAt = (side: Side, index: number): Lineage.Place | undefined => {
    const place = offsets(side).findLast(({ first }) => first <= index)
    return place && { slot: place.part.slot, index: index - place.first }
  }
  const [start, end] = [origin === undefined ? undefined : placeAt(from, origin), placeAt(to, index)]
  if (start === undefined || end === undefined) return undefined
  const startKey = Lineage.slotKey(start.slot)
  const isStart = ({ index, slot }: Lineage.Place) => index === start.index && Lineage.slotKey(slot) === startKey
  const [way] = Lineage.ways(execution, end, isStart, budget) ?? []
  if (way === undefined || way.length < 3) return undefined
  const steps = JsonPath.parse(path) ?? []
  const values = way.map(({ index, slot }) =>
    reader(execution, { parts: [{ slot, count: index + 1 }] }, redacts)(index).inner(steps).value
  )
  return way[values.findIndex((value) => !Equal.equals(value, values[0]))]?.slot.node
}

/** Differences of a pair at the requested paths; `missing` loses the positions of those that a side has. */
const changesOf =
  ({ fields, ignore }: Options, missing: Set<number>) => (before: Redact.Whole, after: Redact.Whole) => {
    const all = fields.length === 0 ? ItemDifferences.changes(before, after) : fields.flatMap((field, position) => {
      const [left, right] = [JsonPath.expand(before.value, field), JsonPath.expand(after.value, field)]
      return (left.length < right.length ? right : left).flatMap((path) => {
        const [old, now] = [before.inner(path), after.inner(path)]
        if (old.value !== undefined || now.value !== undefined) missing.delete(position)
        return ItemDifferences.changes(old, now, JsonPath.print(path))
      })
    })
    return ignore.length === 0 ? all : all.filter(({ path }) => !JsonPath.covers(ignore, JsonPath.parse(path) ?? []))
  }

const compareSides = Effect.fnUntraced(function*(execution: Execution.Execution, options: Options) {
  const { fields, from, key, limit, other = execution, redacts, to } = options
  const [before, after] = [reader(execution, from, redacts), reader(other, to, redacts)]
  const { pairedBy, partner, ...keyed } = yield* paired(execution, options, [before, after])
  const tally = ItemDifferences.tally<never, { readonly index: number }>(limit)
  const [crossed, names] = [crossings(), naming()]
  const partners = new Uint32Array(from.count)
  const missing = new Set(fields.keys())
  const counts = { same: 0, altered: 0, added: 0, removed: 0 }
  const without = { from: [] as Array<number>, to: [] as Array<number>, duplicated: [] as Array<number> }
  let pairs = 0
  const between = changesOf(options, missing)
  if (pairedBy !== "none") {
    yield* eachItem(other, to.parts, redacts, (json, index) => {
      const origin = partner(index)
      if (origin === undefined) {
        without.to.push(index)
        return
      }
      partners[origin] = (partners[origin] ?? 0) + 1
      pairs++
      const [old, now] = [before(origin), json()]
      const changes = between(old, now)
      if (changes.length === 0) counts.same++
      for (const kind of new Set(changes.map(({ kind }) => kind))) counts[kind]++
      tally.addPair({ index }, changes)
      if (key !== undefined) return
      crossed.add(changes)
      names.add(origin, old.value, now.value)
    })
    partners.forEach((count, index) => {
      if (count === 0) without.from.push(index)
      else if (count > 1) without.duplicated.push(index)
    })
  }
  const name = key ?? names.path()
  const listed = (indexes: ReadonlyArray<number>, read: typeof before): Unpaired => ({
    count: indexes.length,
    first: indexes.slice(0, maxUnpaired).map((index) => (name && labelAt(read(index), name)) ?? index)
  })
  const rows = [...Map.groupBy(tally.rows(), ({ path }) => path)].map(([path, own]) => ({
    path,
    count: Math.max(...own.map(({ count }) => count)),
    ...Object.fromEntries(own.map(({ count, kind }) => [kind, count])),
    ...defined({ roundingOnly: sumAll(own.map(({ roundings }) => roundings)) || undefined }),
    samples: own.flatMap(({ samples }) => samples).toSorted((a, b) => a.index - b.index).slice(0, limit)
  })).toSorted((a, b) => a.count - b.count)
  const budget = Lineage.budget()
  const chosen = spread(rows.map(({ count, samples }) => count < pairs ? samples : samples.slice(0, 1)), limit)
  const examples = new Map(chosen.map((sample) => [
    sample,
    defined({
      ...sample,
      key: name && labelAt(after(sample.index), name),
      by: other === execution
        ? changedBy(execution, options, { ...sample, origin: partner(sample.index) }, budget)
        : undefined
    }) as ItemDifferences.Example
  ]))
  return defined({
    pairedBy,
    from,
    to,
    ...counts,
    paths: rows.map(({ count: _, samples, ...row }) => {
      const by = [...new Set(samples.flatMap((sample) => examples.get(sample)?.by ?? []))]
      return by.length === 0 ? row : { ...row, by }
    }),
    examples: [...examples.values()],
    onlyInFrom: listed(without.from, before),
    onlyInTo: listed(without.to, after),
    duplicated: without.duplicated.length > 0 ? listed(without.duplicated, before) : undefined,
    namedBy: name && JsonPath.print(name),
    ...keyed,
    likelyKey: crossed.likelyKey(),
    missing: missing.size > 0 && pairs > 0 ? [...missing] : undefined
  }) satisfies Comparison
})

/** Nodes that ran after a node and have an output, the first ones first; with `to` only those on the way there. */
export const nodesAfter = (execution: Execution.Execution, from: string, to?: string): ReadonlyArray<string> => {
  const graph = Graph.make(execution.workflow?.connections)
  const onTheWay = to === undefined ? undefined : Graph.before(graph, [to])
  return [...Graph.after(graph, [from])].filter((name) =>
    name !== from && name !== to && (onTheWay?.has(name) ?? true) && sideOf(execution, name) !== undefined
  ).toSorted((a, b) => Execution.byOrder(execution.runs.get(a)?.at(-1), execution.runs.get(b)?.at(-1)))
}

const maxTries = 10

/**
 * Compares the items of two sides; where a node on the way aggregates them, up to the last node that still pairs, and
 * where one splits them, from the first node that does.
 */
export const compare = Effect.fnUntraced(function*(execution: Execution.Execution, options: Options) {
  const { from, to } = options
  const whole: Comparison = yield* compareSides(execution, options)
  if (whole.pairedBy !== "none") return whole
  const isSplit = from.count < to.count
  const between = nodesAfter(execution, from.node, to.node)
  for (const name of (isSplit ? between : between.toReversed()).slice(0, maxTries)) {
    const nearer = sideOf(execution, name, isSplit ? { towards: to.node } : {})
    if (nearer === undefined || nearer.count === 0) continue
    const sides = isSplit ? { from: nearer, to } : { from, to: nearer }
    const result: Comparison = yield* compareSides(execution, { ...options, ...sides })
    if (result.pairedBy === "pairedItem" || result.pairedBy === "place" && sides.from.count === sides.to.count) {
      return result
    }
  }
  return whole
})
