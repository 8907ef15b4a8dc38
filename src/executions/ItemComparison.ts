/**
 * Comparison of the items of two nodes: pairs of items, and the paths at which they differ. Pure, but yields to other
 * fibers.
 *
 * Items are read from the cached bytes as needed; only keys or positions of one side stay in memory.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { identity } from "effect/Function"
import { sumAll } from "effect/Number"
import * as Schema from "effect/Schema"
import { at, type Both, nothing } from "../base/Difference.ts"
import { defined, obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Execution from "./Execution.ts"
import {
  type Difference,
  differences,
  type Example,
  type Kind,
  kindOf,
  type PathCount,
  tally
} from "./ItemDifferences.ts"
import * as Lineage from "./Lineage.ts"

export type { Path, Step } from "../base/JsonPath.ts"
export { Example, isRounding, PathCount } from "./ItemDifferences.ts"

/** Items of one output. */
export type Side = Execution.Part

/** Way in which items of both sides were paired; `none`: one side aggregates the other, so that they are not comparable. */
export const PairedBy = Schema.Literals(["key", "pairedItem", "place", "none"])
export type PairedBy = typeof PairedBy.Type

/** Items without a partner: their number, and the first ones by position or key. */
export const Unpaired = Schema.Struct({
  count: Schema.Int,
  first: Schema.Array(Schema.Union([Schema.Int, Schema.String]))
})
export type Unpaired = typeof Unpaired.Type

/**
 * Result of a comparison: the pairs that are equal, and those with altered values, with added and with removed keys. A
 * pair can have all three. `paths` begins with the rarest change, `examples` are of the rarest.
 */
export interface Comparison extends Readonly<Record<"same" | Kind, number>> {
  readonly pairedBy: PairedBy
  readonly paths: ReadonlyArray<PathCount>
  readonly examples: ReadonlyArray<Example>
  readonly onlyInFrom: Unpaired
  readonly onlyInTo: Unpaired
  /** Items of `from` with several partners. */
  readonly duplicated?: Unpaired
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
export interface Options {
  readonly from: Side
  readonly to: Side
  readonly key?: JsonPath.Path | undefined
  readonly fields: ReadonlyArray<JsonPath.Path>
  readonly ignore: ReadonlyArray<JsonPath.Path>
  readonly limit: number
  /** Whether to name the node that made a change, for the rarest paths. */
  readonly steps?: boolean | undefined
  /** Execution of `to`, if it is another one. */
  readonly other?: Execution.Execution | undefined
  readonly redacts: boolean
}

const itemsOf = (segment: Execution.Segment, redacts: boolean) => {
  const redact = redacts ? segment.redactor() : identity
  return segment.items().map((stored) => ({
    stored,
    json: (): Both => {
      const json = obj(stored)?.["json"] ?? {}
      let clean: unknown
      return {
        stored: json,
        get shown() {
          return clean ??= redact(json)
        }
      }
    }
  }))
}

type Read = ReturnType<typeof itemsOf>[number]

const yieldEvery = 2_000

const reader = (execution: Execution.Execution, slot: Execution.Slot, redacts: boolean) => {
  const recent: Array<{ readonly first: number; readonly items: ReadonlyArray<Read> }> = []
  return (index: number): Both => {
    const known = recent.find(({ first, items }) => index >= first && index < first + items.length)
    if (known !== undefined) return known.items[index - known.first]?.json() ?? nothing
    for (const segment of execution.segments(slot, index)) {
      const read = { first: segment.first, items: itemsOf(segment, redacts) }
      recent.unshift(read)
      if (recent.length > 4) recent.pop()
      return read.items[index - read.first]?.json() ?? nothing
    }
    return nothing
  }
}

type Partner = (index: number) => number | undefined

const asKey = (value: unknown) =>
  value === undefined || value === null ? undefined : typeof value === "string" ? value : JSON.stringify(value)

const labelOf = (key: Both) => key.stored === key.shown ? asKey(key.shown) : undefined

const eachItem = Effect.fnUntraced(function*(
  execution: Execution.Execution,
  slot: Execution.Slot,
  redacts: boolean,
  visit: (item: Read, index: number) => void
) {
  let sinceYield = 0
  for (const segment of execution.segments(slot)) {
    for (const [place, item] of itemsOf(segment, redacts).entries()) {
      visit(item, segment.first + place)
      sinceYield++
    }
    if (sinceYield > yieldEvery) {
      sinceYield = 0
      yield* Effect.yieldNow
    }
  }
})

const byKey = Effect.fnUntraced(function*(
  execution: Execution.Execution,
  { from, other = execution, redacts, to }: Options,
  key: JsonPath.Path
) {
  const waiting = new Map<string, Array<number>>()
  const labels: Array<string | undefined> = []
  const withoutKey = { from: 0, to: 0 }
  yield* eachItem(execution, from.slot, redacts, ({ json }, index) => {
    const value = asKey(at(json(), key).stored)
    if (value === undefined) {
      withoutKey.from++
      return
    }
    const list = waiting.get(value)
    if (list === undefined) waiting.set(value, [index])
    else list.push(index)
  })
  // Equal keys are paired in their order.
  let sharedKeys = 0
  for (const list of waiting.values()) {
    if (list.length > 1) sharedKeys++
    list.reverse()
  }
  const partners: Array<number | undefined> = []
  yield* eachItem(other, to.slot, redacts, ({ json }, index) => {
    const own = at(json(), key)
    const value = asKey(own.stored)
    labels[index] = labelOf(own)
    if (value === undefined) withoutKey.to++
    partners[index] = value === undefined ? undefined : waiting.get(value)?.pop()
  })
  return { partner: (index: number) => partners[index], labels, withoutKey, sharedKeys }
})

/** Position of the first origin of each item, and whether it was made from several. */
interface Positions {
  readonly first: Int32Array
  readonly merged: Uint8Array
}

const unlinked = -1

/** Follows n8n's own links from items to their origins, over any number of nodes. */
const byLinks = Effect.fnUntraced(
  function*(execution: Execution.Execution, { from, to }: Pick<Options, "from" | "to">) {
    const resolved = new Map<string, Positions>()
    const resolve: (side: Side) => Effect.Effect<Positions> = Effect.fnUntraced(
      function*({ count, slot }: Side) {
        const key = Lineage.slotKey(slot)
        const known = resolved.get(key)
        if (known !== undefined) return known
        const positions: Positions = { first: new Int32Array(count).fill(unlinked), merged: new Uint8Array(count) }
        const { first, merged } = positions
        resolved.set(key, positions)
        if (key === Lineage.slotKey(from.slot)) {
          first.forEach((_, index) => (first[index] = index))
          return positions
        }
        const run = execution.runs.get(slot.node)?.[slot.run]
        if (run === undefined) return positions
        const inputs = new Map<number, Positions>()
        for (const part of Execution.inputs(execution, slot.node, run)) {
          if (part.source !== undefined) inputs.set(part.input, yield* resolve({ slot: part.slot, count: part.count }))
        }
        const elsewhere: Array<{ readonly index: number; readonly item: number; readonly side: Side }> = []
        const add = (index: number, item: number, origins: Positions | undefined) => {
          const origin = origins?.first[item] ?? unlinked
          if (origin === unlinked) return
          if (origins?.merged[item] === 1 || first[index] !== unlinked && first[index] !== origin) merged[index] = 1
          if (first[index] === unlinked) first[index] = origin
        }
        yield* eachItem(execution, slot, false, ({ stored }, index) => {
          for (const { input, item, source } of Lineage.linksOf(stored)) {
            if (source === undefined) add(index, item, inputs.get(input))
            else {
              const other = Execution.slotOf(source)
              const count = Execution.portAt(execution, other)?.count ?? 0
              elsewhere.push({ index, item, side: { slot: other, count } })
            }
          }
        })
        for (const { index, item, side } of elsewhere) add(index, item, yield* resolve(side))
        return positions
      }
    )
    const { first, merged } = yield* resolve(to)
    return {
      partner: (index: number) => (first[index] ?? unlinked) < 0 ? undefined : first[index],
      /** Number of items with a partner, and of those that were made from several. */
      count: first.filter((position) => position >= 0).length,
      merged: sumAll(merged)
    }
  }
)

type Linked = Effect.Success<ReturnType<typeof byLinks>>

/** Position in `from` of the origin of each item of `to` by n8n's links; `undefined` without one. */
export const origins = (execution: Execution.Execution, sides: Pick<Options, "from" | "to">) =>
  Effect.map(
    byLinks(execution, sides),
    ({ partner }) => Array.from({ length: sides.to.count }, (_, index) => partner(index))
  )

const first = 5

const unpaired = () => ({ count: 0, first: [] as Array<number | string> })

const note = (into: { count: number; first: Array<number | string> }, what: number | string) => {
  into.count++
  if (into.first.length < first) into.first.push(what)
}

const isMerging = ({ merged }: Linked, to: Side) => merged * 2 > to.count

/** Keys of an item by the kind of their values: a list in place of a value is another field. */
const shapeOf = (json: unknown) =>
  new Set(Object.entries(obj(json) ?? {}).map(([key, value]) => `${Array.isArray(value)}${key}`))

const maxSamples = 20

/**
 * Whether one side aggregates the other: n8n's links merge items, or there are more items on one side and hardly a field
 * on both.
 */
const isAggregated = (
  { from, to }: Options,
  pair: (index: number) => readonly [Both, Both] | undefined,
  linked: Linked | undefined,
  isPairing: boolean
): boolean => {
  if (from.count === to.count || from.count === 0 || to.count === 0) return false
  if (linked !== undefined && isMerging(linked, to)) return to.count < from.count
  if (Math.max(from.count, to.count) < 2 * Math.min(from.count, to.count)) return false
  let [shared, most] = [0, 0]
  for (let index = 0; index < Math.min(to.count, maxSamples); index++) {
    const [a, b] = (pair(index) ?? []).map(({ stored }) => shapeOf(stored))
    if (a === undefined || b === undefined) continue
    shared += [...a].filter((key) => b.has(key)).length
    // Items that were split out may keep the fields of their origin.
    most += isPairing ? Math.min(a.size, b.size) : Math.max(a.size, b.size)
  }
  return shared * 2 < most
}

const maxFollowed = 5

/** Names the nodes that first changed the values at a path, on the ways of some examples. */
const changedBy = (
  execution: Execution.Execution,
  { from, redacts, to }: Options,
  partner: Partner,
  examples: ReadonlyArray<Example>,
  budget: Lineage.Budget
): ReadonlyArray<string> => {
  const fromKey = Lineage.slotKey(from.slot)
  const nodes = examples.slice(0, 3).flatMap(({ index, path }) => {
    const origin = partner(index)
    const [way] = Lineage.ways(
      execution,
      { slot: to.slot, index },
      (place) => place.index === origin && Lineage.slotKey(place.slot) === fromKey,
      budget
    ) ?? []
    const values = way?.map(({ index, slot }) =>
      at(reader(execution, slot, redacts)(index), JsonPath.parse(path) ?? []).stored
    )
    const step = values?.findIndex((value) => !Equal.equals(value, values[0])) ?? -1
    return way?.[step]?.slot.node ?? []
  })
  return [...new Set(nodes)]
}

/** Compares the items of two outputs. */
export const compare = Effect.fnUntraced(function*(execution: Execution.Execution, options: Options) {
  const { fields, from, ignore, key, limit, other = execution, redacts, steps = false, to } = options
  const keyed = key === undefined ? undefined : yield* byKey(execution, options, key)
  const links = key === undefined && other === execution ? yield* byLinks(execution, options) : undefined
  const isPairing = links !== undefined && links.count * 2 >= Math.min(from.count, to.count) && links.count > 0 &&
    !isMerging(links, to)
  const linked = isPairing ? links : undefined
  const pairedBy: PairedBy = keyed !== undefined ? "key" : linked !== undefined ? "pairedItem" : "place"
  const partner: Partner = keyed?.partner ?? linked?.partner ?? ((index) => index < from.count ? index : undefined)
  const before = reader(execution, from.slot, redacts)
  const after = reader(other, to.slot, redacts)
  const isNotPaired = keyed === undefined && other === execution && isAggregated(
    options,
    (index) => {
      const origin = partner(index)
      return origin === undefined ? undefined : [before(origin), after(index)]
    },
    links,
    isPairing
  )
  if (isNotPaired) return notPaired

  const counted = tally(limit, keyed !== undefined)
  const partners = new Uint32Array(from.count)
  const onlyInTo = unpaired()
  const counts = { same: 0, altered: 0, added: 0, removed: 0 }
  let pairs = 0
  const missing = new Set(fields.keys())
  const differencesOf = (a: Both, b: Both) => {
    const all: Array<Difference> = []
    if (fields.length === 0) all.push(...differences(a, b, ""))
    for (const [position, field] of fields.entries()) {
      const [left, right] = [JsonPath.expand(a.stored, field), JsonPath.expand(b.stored, field)]
      for (const path of left.length < right.length ? right : left) {
        const [left, right] = [at(a, path), at(b, path)]
        if (left.stored === undefined && right.stored === undefined) continue
        missing.delete(position)
        all.push(...differences(left, right, JsonPath.print(path)))
      }
    }
    return ignore.length === 0
      ? all
      : all.filter(({ path }) => !JsonPath.covers(ignore, JsonPath.parse(path) ?? []))
  }
  yield* eachItem(other, to.slot, redacts, ({ json }, index) => {
    const label = keyed?.labels[index]
    const origin = partner(index)
    if (origin === undefined) return note(onlyInTo, label ?? index)
    partners[origin] = (partners[origin] ?? 0) + 1
    pairs++
    const changes = differencesOf(before(origin), json())
    if (changes.length === 0) counts.same++
    for (const kind of new Set(changes.map(kindOf))) counts[kind]++
    counted.add(changes, index, label)
  })

  const onlyInFrom = unpaired()
  const duplicated = unpaired()
  for (const [index, count] of partners.entries()) {
    if (count !== 1) {
      const what = key === undefined ? index : labelOf(at(before(index), key)) ?? index
      note(count === 0 ? onlyInFrom : duplicated, what)
    }
    if (index % yieldEvery === 0) yield* Effect.yieldNow
  }
  const budget = Lineage.budget()
  const result: Comparison = defined({
    pairedBy,
    ...counts,
    paths: counted.paths().map(({ examples, ...path }, index) => {
      const by = steps && other === execution && index < maxFollowed
        ? changedBy(execution, options, partner, examples, budget)
        : []
      return by.length === 0 ? path : { ...path, by }
    }),
    examples: counted.examples(pairs),
    onlyInFrom,
    onlyInTo,
    duplicated: duplicated.count > 0 ? duplicated : undefined,
    withoutKey: keyed !== undefined && keyed.withoutKey.from + keyed.withoutKey.to > 0 ? keyed.withoutKey : undefined,
    sharedKeys: keyed !== undefined && keyed.sharedKeys > 0 ? keyed.sharedKeys : undefined,
    likelyKey: counted.likelyKey(),
    missing: missing.size > 0 && pairs > 0 ? [...missing] : undefined
  })
  return result
})

const notPaired: Comparison = {
  pairedBy: "none",
  same: 0,
  altered: 0,
  added: 0,
  removed: 0,
  paths: [],
  examples: [],
  onlyInFrom: unpaired(),
  onlyInTo: unpaired()
}

/** Output of a node to compare: the first one with items in its last run; or the first input of that run. */
export const sideOf = (execution: Execution.Execution, node: string, isInput = false): Side | undefined => {
  const run = execution.runs.get(node)?.at(-1)
  if (isInput) return run && Execution.inputs(execution, node, run)[0]
  const port = run?.outputs.find(({ count }) => count > 0) ?? run?.outputs[0]
  return run === undefined || port === undefined
    ? undefined
    : { slot: { node, run: run.index, side: "output", port }, count: port.count }
}
