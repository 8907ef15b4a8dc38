/**
 * Items of nodes over all their runs, and their pairs: by a key, by n8n's links, or by their places. Pure, but yields to
 * other fibers.
 *
 * Items are read from the cached bytes as needed; only keys or positions of one side stay in memory.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { identity } from "effect/Function"
import { sumAll } from "effect/Number"
import * as Schema from "effect/Schema"
import { obj } from "../base/Json.ts"
import type * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import * as Graph from "../workflow/Graph.ts"
import * as Execution from "./Execution.ts"
import * as Lineage from "./Lineage.ts"

/** Items of a node: of one output or of several, in all runs. */
export interface Side {
  readonly node: string
  readonly parts: ReadonlyArray<Execution.Part>
  readonly count: number
}

/** Way in which items of both sides were paired; `none`: one side aggregates the other, so that they are not comparable. */
export const PairedBy = Schema.Literals(["key", "pairedItem", "place", "none"])
export type PairedBy = typeof PairedBy.Type

/** Sides whose items to pair. */
export interface Sides {
  readonly from: Side
  readonly to: Side
  /** Path of the values that pair items. Default: n8n's links, else the places. */
  readonly key?: JsonPath.Path | undefined
  /** Execution of `to`, if it is another one. */
  readonly other?: Execution.Execution | undefined
  readonly redacts: boolean
}

export const offsets = ({ parts }: Pick<Side, "parts">) => {
  let next = 0
  return parts.map((part) => {
    const first = next
    next += part.count
    return { first, part }
  })
}

type Read = () => Redact.Whole

const itemsOf = (segment: Execution.Segment, redacts: boolean): ReadonlyArray<Read> => {
  const redact = <A>(value: A): A => redacts ? segment.redactor()(value) : value
  return segment.items().map((stored) => () => Redact.whole(obj(stored)?.["json"] ?? {}, redact))
}

const yieldEvery = 2_000

const absent = Redact.whole(undefined, identity)

/** Reads items by their position; of what it has read it retains the last segments. */
export const reader = (execution: Execution.Execution, side: Pick<Side, "parts">, redacts: boolean) => {
  const places = offsets(side)
  const recent: Array<{ readonly first: number; readonly items: ReadonlyArray<Read> }> = []
  return (index: number): Redact.Whole => {
    const known = recent.find(({ first, items }) => index >= first && index < first + items.length)
    if (known !== undefined) return known.items[index - known.first]?.() ?? absent
    const place = places.findLast(({ first }) => first <= index)
    if (place === undefined) return absent
    for (const segment of execution.segments(place.part.slot, index - place.first)) {
      const read = { first: place.first + segment.first, items: itemsOf(segment, redacts) }
      recent.unshift(read)
      if (recent.length > 4) recent.pop()
      return read.items[index - read.first]?.() ?? absent
    }
    return absent
  }
}

type Partner = (index: number) => number | undefined

const asKey = (value: unknown) =>
  value === undefined || value === null ? undefined : typeof value === "string" ? value : JSON.stringify(value)

/** Value at a path if readers may see it. */
export const labelAt = (json: Redact.Whole, path: JsonPath.Path) => {
  const { at, value } = json.inner(path)
  return Equal.equals(value, at([])) ? asKey(value) : undefined
}

const each = Effect.fnUntraced(function*<A>(
  execution: Execution.Execution,
  parts: ReadonlyArray<Execution.Part>,
  read: (segment: Execution.Segment) => ReadonlyArray<A>,
  visit: (item: A, index: number) => void
) {
  let sinceYield = 0
  for (const { first, part } of offsets({ parts })) {
    for (const segment of execution.segments(part.slot)) {
      for (const [place, item] of read(segment).entries()) {
        visit(item, first + segment.first + place)
        sinceYield++
      }
      if (sinceYield > yieldEvery) {
        sinceYield = 0
        yield* Effect.yieldNow
      }
    }
  }
})

export const eachItem = (
  execution: Execution.Execution,
  parts: ReadonlyArray<Execution.Part>,
  redacts: boolean,
  visit: (json: Read, index: number) => void
) => each(execution, parts, (segment) => itemsOf(segment, redacts), visit)

const byKey = Effect.fnUntraced(function*(
  execution: Execution.Execution,
  { from, other = execution, redacts, to }: Sides,
  key: JsonPath.Path
) {
  const waiting = new Map<string, Array<number>>()
  const withoutKey = { from: 0, to: 0 }
  yield* eachItem(execution, from.parts, redacts, (json, index) => {
    const value = asKey(json().inner(key).value)
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
  yield* eachItem(other, to.parts, redacts, (json, index) => {
    const value = asKey(json().inner(key).value)
    if (value === undefined) withoutKey.to++
    partners[index] = value === undefined ? undefined : waiting.get(value)?.pop()
  })
  return {
    partner: (index: number) => partners[index],
    withoutKey: withoutKey.from + withoutKey.to > 0 ? withoutKey : undefined,
    sharedKeys: sharedKeys || undefined
  }
})

/** Position of the first origin of each item, and whether it was made from several. */
interface Positions {
  readonly first: Int32Array
  readonly merged: Uint8Array
}

const unlinked = -1

/** Outputs with items, and those with their origins. */
export interface Ends {
  readonly from: Pick<Side, "parts">
  readonly to: Pick<Side, "parts">
}

/** Follows n8n's own links from items to their origins, over any number of nodes. */
const byLinks = Effect.fnUntraced(
  function*(execution: Execution.Execution, { from, to }: Ends) {
    const resolved = new Map<string, Positions>()
    const starts = new Map(offsets(from).map(({ first, part }) => [Lineage.slotKey(part.slot), first]))
    const resolve: (part: Execution.Part) => Effect.Effect<Positions> = Effect.fnUntraced(
      function*({ count, slot }: Execution.Part) {
        const key = Lineage.slotKey(slot)
        const known = resolved.get(key)
        if (known !== undefined) return known
        const positions: Positions = { first: new Int32Array(count).fill(unlinked), merged: new Uint8Array(count) }
        const { first, merged } = positions
        resolved.set(key, positions)
        const start = starts.get(key)
        if (start !== undefined) {
          first.forEach((_, index) => (first[index] = start + index))
          return positions
        }
        const run = execution.runs.get(slot.node)?.[slot.run]
        if (run === undefined) return positions
        const inputs = new Map<number, Positions>()
        for (const part of Execution.inputs(execution, slot.node, run)) {
          if (part.source !== undefined) inputs.set(part.input, yield* resolve({ slot: part.slot, count: part.count }))
        }
        const elsewhere: Array<{ readonly index: number; readonly item: number; readonly part: Execution.Part }> = []
        const add = (index: number, item: number, origins: Positions | undefined) => {
          const origin = origins?.first[item] ?? unlinked
          if (origin === unlinked) return
          if (origins?.merged[item] === 1 || first[index] !== unlinked && first[index] !== origin) merged[index] = 1
          if (first[index] === unlinked) first[index] = origin
        }
        yield* each(execution, [{ slot, count }], ({ values }) => values("pairedItem"), (paired, index) => {
          for (const { input, item, source } of Lineage.linksOf(paired)) {
            if (source === undefined) add(index, item, inputs.get(input))
            else {
              const other = Execution.slotOf(source)
              const count = Execution.portAt(execution, other)?.count ?? 0
              elsewhere.push({ index, item, part: { slot: other, count } })
            }
          }
        })
        for (const { index, item, part } of elsewhere) add(index, item, yield* resolve(part))
        return positions
      }
    )
    const all = yield* Effect.forEach(to.parts, resolve)
    const first = all.flatMap((positions) => [...positions.first])
    return {
      partner: (index: number) => (first[index] ?? unlinked) < 0 ? undefined : first[index],
      /** Number of items with a partner, and of those that were made from several. */
      count: first.filter((position) => position >= 0).length,
      merged: sumAll(all.flatMap((positions) => [...positions.merged]))
    }
  }
)

type Linked = Effect.Success<ReturnType<typeof byLinks>>

/** Position in `from` of the origin of each item of `to` by n8n's links; `undefined` without one. */
export const origins = (execution: Execution.Execution, ends: Ends) =>
  Effect.map(
    byLinks(execution, ends),
    ({ partner }) =>
      Array.from({ length: sumAll(ends.to.parts.map(({ count }) => count)) }, (_, index) => partner(index))
  )

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
  { from, to }: Sides,
  pair: (index: number) => ReadonlyArray<Redact.Whole>,
  linked: Linked | undefined,
  isPairing: boolean
): boolean => {
  if (from.count === to.count || from.count === 0 || to.count === 0) return false
  if (linked !== undefined && isMerging(linked, to)) return to.count < from.count
  if (Math.max(from.count, to.count) < 2 * Math.min(from.count, to.count)) return false
  let [shared, most] = [0, 0]
  for (let index = 0; index < Math.min(to.count, maxSamples); index++) {
    const [a, b] = pair(index).map(({ value }) => shapeOf(value))
    if (a === undefined || b === undefined) continue
    shared += [...a].filter((key) => b.has(key)).length
    // Items that were split out may keep the fields of their origin.
    most += isPairing ? Math.min(a.size, b.size) : Math.max(a.size, b.size)
  }
  return shared * 2 < most
}

/** Pairs the items: by the key, by n8n's links, or by their place; `none` if one side aggregates the other. */
export const paired = Effect.fnUntraced(function*(
  execution: Execution.Execution,
  options: Sides,
  [before, after]: readonly [(index: number) => Redact.Whole, (index: number) => Redact.Whole]
) {
  const { from, key, other = execution, to } = options
  if (key !== undefined) return { pairedBy: "key" as const, ...yield* byKey(execution, options, key) }
  const links = other === execution ? yield* byLinks(execution, options) : undefined
  const isPairing = links !== undefined && links.count * 2 >= Math.min(from.count, to.count) && links.count > 0 &&
    !isMerging(links, to)
  const partner: Partner = isPairing ? links.partner : (index) => index < from.count ? index : undefined
  const pair = (index: number) => {
    const origin = partner(index)
    return origin === undefined ? [] : [before(origin), after(index)]
  }
  const isNone = other === execution && isAggregated(options, pair, links, isPairing)
  return { pairedBy: isNone ? "none" as const : isPairing ? "pairedItem" as const : "place" as const, partner }
})

const sideFrom = (node: string, parts: ReadonlyArray<Execution.Part>): Side => ({
  node,
  parts,
  count: sumAll(parts.map(({ count }) => count))
})

/** Sides of {@link sideOf}. */
export interface SideOptions {
  /** Whether the items are those of the node's first input. */
  readonly isInput?: boolean
  /** Node to which the outputs have to lead. */
  readonly towards?: string | undefined
}

/**
 * Items of a node in all its runs: of the outputs that lead to another node, else of the first one with items in the last
 * run; or of the first input.
 */
export const sideOf = (
  execution: Execution.Execution,
  node: string,
  { isInput = false, towards }: SideOptions = {}
): Side | undefined => {
  const runs = execution.runs.get(node) ?? []
  if (isInput) {
    const parts = runs.flatMap((run) => Execution.inputs(execution, node, run).slice(0, 1))
    return parts[0] && sideFrom(parts[0].slot.node, parts)
  }
  const graph = towards === undefined ? undefined : Graph.make(execution.workflow?.connections)
  const leads = ({ index, type }: Execution.Output) =>
    graph !== undefined && towards !== undefined && type === "main" && towards !== node &&
    Graph.after(graph, Graph.next(graph, node, index), node).has(towards)
  const ports = [
    ...runs.flatMap(({ outputs }) => outputs).reduce(
      (all, port) => port.count > 0 ? all.set(`${port.type} ${port.index}`, port) : all,
      new Map<string, Execution.Output>()
    ).values()
  ]
  const leading = ports.filter(leads)
  const outputs = runs.toReversed().map(({ outputs }) => outputs)
  const first = outputs.flat().find(({ count }) => count > 0) ?? outputs.flat()[0]
  if (first === undefined) return undefined
  const chosen = leading.length > 0 ? leading : [first]
  const parts = runs.flatMap((run): ReadonlyArray<Execution.Part> =>
    run.outputs.filter(({ index, type }) => chosen.some((port) => port.index === index && port.type === type))
      .map((port) => ({ slot: { node, run: run.index, side: "output", port }, count: port.count }))
  )
  const filled = parts.filter(({ count }) => count > 0)
  return sideFrom(node, filled.length > 0 ? filled : parts.slice(-1))
}
