/**
 * Comparison of the items of two nodes: pairs of items, and the paths at which they differ. Pure, but yields to other
 * fibers.
 *
 * **Details**
 *
 * Items are read from the cached bytes as needed; only keys or positions of one side stay in memory.
 */
import * as Effect from "effect/Effect"
import { defined, int, obj, str } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import * as Execution from "./Execution.ts"
import { at, type Both, type Difference, differences, type Example, type PathCount, tally } from "./itemDifferences.ts"
import * as ItemFields from "./ItemFields.ts"

export type { Step } from "../base/JsonPath.ts"
export { type Example, isRounding, type PathCount } from "./itemDifferences.ts"

/** Items of one output. */
export interface Side {
  readonly slot: Execution.Slot
  readonly count: number
}

/** Way in which items of both sides were paired. */
export type PairedBy = "key" | "pairedItem" | "place"

/** Items without a partner: their number, and the first ones by position or key. */
export interface Unpaired {
  readonly count: number
  readonly first: ReadonlyArray<number | string>
}

/** Result of a comparison. `paths` begins with the rarest change, `examples` are of the rarest. */
export interface Comparison {
  readonly pairedBy: PairedBy
  readonly same: number
  readonly changed: number
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
  readonly key?: ReadonlyArray<JsonPath.Step> | undefined
  /** Paths to compare; all if empty. */
  readonly fields: ReadonlyArray<ReadonlyArray<JsonPath.Step>>
  /** Paths to ignore. */
  readonly ignore: ReadonlyArray<ReadonlyArray<JsonPath.Step>>
  /** Maximum number of examples. */
  readonly limit: number
  readonly redacts: boolean
}

/** An item as stored, and its JSON. */
interface Read {
  readonly stored: unknown
  readonly json: () => Both
}

/** Items of a segment; whether they may contain secrets is checked once, when the first is shown. */
const itemsOf = (segment: Execution.Segment, redacts: boolean): ReadonlyArray<Read> => {
  let redact = redacts ? undefined : <A>(value: A) => value
  return segment.items().map((stored) => ({
    stored,
    json: () => {
      const json = obj(stored)?.["json"] ?? {}
      redact ??= Redact.forJson(segment.text)
      return { stored: json, shown: redact(json) }
    }
  }))
}

/** Number of items after which a pass yields. */
const yieldEvery = 2_000

const none: Both = { stored: undefined, shown: undefined }

/** Returns a reader of items by position, which parses neighbouring items once. */
const reader = (execution: Execution.Execution, slot: Execution.Slot, redacts: boolean) => {
  const recent: Array<{ readonly first: number; readonly items: ReadonlyArray<Read> }> = []
  return (index: number): Both => {
    const known = recent.find(({ first, items }) => index >= first && index < first + items.length)
    if (known !== undefined) return known.items[index - known.first]?.json() ?? none
    for (const segment of execution.segments(slot, index)) {
      const read = { first: segment.first, items: itemsOf(segment, redacts) }
      recent.unshift(read)
      if (recent.length > 4) recent.pop()
      return read.items[index - read.first]?.json() ?? none
    }
    return none
  }
}

/** Position in `from` of the partner of an item of `to`. */
type Partner = (index: number) => number | undefined

const asKey = (value: unknown) =>
  value === undefined || value === null ? undefined : typeof value === "string" ? value : JSON.stringify(value)

/** Key of an item for readers; `undefined` if it is redacted. */
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
  { from, redacts, to }: Options,
  key: ReadonlyArray<JsonPath.Step>
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
  yield* eachItem(execution, to.slot, redacts, ({ json }, index) => {
    const own = at(json(), key)
    const value = asKey(own.stored)
    labels[index] = labelOf(own)
    if (value === undefined) withoutKey.to++
    partners[index] = value === undefined ? undefined : waiting.get(value)?.pop()
  })
  return { partner: (index: number) => partners[index], labels, withoutKey, sharedKeys }
})

/**
 * Target of a link that leads elsewhere than to the run's own input: later batches of a loop come from its first input.
 */
const sourceOf = (execution: Execution.Execution, overwrite: unknown): Side | undefined => {
  const { previousNode, previousNodeOutput = 0, previousNodeRun = 0 } = obj(overwrite) ?? {}
  const [node, index, run] = [str(previousNode), int(previousNodeOutput), int(previousNodeRun)]
  if (node === undefined || index === undefined || run === undefined) return undefined
  const output = execution.runs.get(node)?.[run]?.outputs.find((each) => each.type === "main" && each.index === index)
  return output === undefined
    ? undefined
    : { slot: { node, run, side: "output", port: { type: "main", index } }, count: output.count }
}

/**
 * Follows n8n's own links from items to their origins, over any number of nodes.
 */
const byLinks = Effect.fnUntraced(
  function*(execution: Execution.Execution, { from, to }: Pick<Options, "from" | "to">) {
    const slotKey = ({ node, port, run }: Execution.Slot) => JSON.stringify([node, run, port.type, port.index])
    const resolved = new Map<string, Int32Array>()
    const resolve: (side: Side) => Effect.Effect<Int32Array> = Effect.fnUntraced(function*({ count, slot }: Side) {
      const key = slotKey(slot)
      const known = resolved.get(key)
      if (known !== undefined) return known
      const positions = new Int32Array(count).fill(-1)
      resolved.set(key, positions)
      if (key === slotKey(from.slot)) {
        positions.forEach((_, index) => (positions[index] = index))
        return positions
      }
      const run = execution.runs.get(slot.node)?.[slot.run]
      if (run === undefined) return positions
      const origins = new Map<number, Int32Array>()
      for (const part of Execution.inputs(execution, slot.node, run)) {
        if (part.source !== undefined) origins.set(part.input, yield* resolve({ slot: part.slot, count: part.count }))
      }
      const elsewhere: Array<{ readonly index: number; readonly place: number; readonly side: Side }> = []
      yield* eachItem(execution, slot, false, ({ stored }, index) => {
        const paired = obj(stored)?.["pairedItem"]
        for (const link of Array.isArray(paired) ? paired : [paired]) {
          const place = int(link) ?? int(obj(link)?.["item"])
          const side = sourceOf(execution, obj(link)?.["sourceOverwrite"])
          if (side !== undefined && place !== undefined) {
            elsewhere.push({ index, place, side })
            return
          }
          const origin = place === undefined ? undefined : origins.get(int(obj(link)?.["input"]) ?? 0)?.[place]
          if (origin !== undefined && origin >= 0) {
            positions[index] = origin
            return
          }
        }
      })
      for (const { index, place, side } of elsewhere) positions[index] = (yield* resolve(side))[place] ?? -1
      return positions
    })
    const positions = yield* resolve(to)
    const linked = positions.filter((position) => position >= 0).length
    const partner: Partner = (index) => {
      const position = positions[index]
      return position === undefined || position < 0 ? undefined : position
    }
    return { partner, linked }
  }
)

/** Position in `from` of the origin of each item of `to` by n8n's links; `undefined` without one. */
export const origins = (execution: Execution.Execution, sides: Pick<Options, "from" | "to">) =>
  Effect.map(
    byLinks(execution, sides),
    ({ partner }) => Array.from({ length: sides.to.count }, (_, index) => partner(index))
  )

const startsWith = (path: ReadonlyArray<JsonPath.Step>, steps: ReadonlyArray<JsonPath.Step>) =>
  steps.every((step, index) => String(path[index]) === String(step))

/** Maximum number of items without a partner to list. */
const first = 5

const unpaired = () => ({ count: 0, first: [] as Array<number | string> })

const note = (into: { count: number; first: Array<number | string> }, what: number | string) => {
  into.count++
  if (into.first.length < first) into.first.push(what)
}

/** Compares the items of two outputs. */
export const compare = Effect.fnUntraced(function*(execution: Execution.Execution, options: Options) {
  const { fields, from, ignore, key, limit, redacts, to } = options
  const keyed = key === undefined ? undefined : yield* byKey(execution, options, key)
  const linked = key === undefined ? yield* byLinks(execution, options) : undefined
  const isLinked = linked !== undefined && linked.linked * 2 >= Math.min(from.count, to.count) && linked.linked > 0
  const pairedBy: PairedBy = keyed !== undefined ? "key" : isLinked ? "pairedItem" : "place"
  const partner: Partner = keyed?.partner ??
    (isLinked ? linked.partner : (index) => index < from.count ? index : undefined)

  const counted = tally(limit, keyed !== undefined)
  const partners = new Uint32Array(from.count)
  const onlyInTo = unpaired()
  const counts = { same: 0, changed: 0 }
  const missing = new Set(fields.keys())
  const before = reader(execution, from.slot, redacts)
  const differencesOf = (a: Both, b: Both) => {
    const all: Array<Difference> = []
    if (fields.length === 0) differences(a, b, "", all)
    for (const [position, field] of fields.entries()) {
      const [left, right] = [at(a, field), at(b, field)]
      if (left.stored === undefined && right.stored === undefined) continue
      missing.delete(position)
      differences(left, right, ItemFields.written(field), all)
    }
    return ignore.length === 0
      ? all
      : all.filter(({ path }) => !ignore.some((steps) => startsWith(JsonPath.parse(path) ?? [], steps)))
  }
  yield* eachItem(execution, to.slot, redacts, ({ json }, index) => {
    const label = keyed?.labels[index]
    const other = partner(index)
    if (other === undefined) return note(onlyInTo, label ?? index)
    partners[other] = (partners[other] ?? 0) + 1
    const changes = differencesOf(before(other), json())
    if (changes.length === 0) {
      counts.same++
      return
    }
    counts.changed++
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
  const pairs = counts.same + counts.changed
  const result: Comparison = defined({
    pairedBy,
    ...counts,
    paths: counted.paths(),
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

/** Output of a node to compare: the first one with items in its last run. */
export const sideOf = (execution: Execution.Execution, node: string): Side | undefined => {
  const run = execution.runs.get(node)?.at(-1)
  const port = run?.outputs.find(({ count }) => count > 0) ?? run?.outputs[0]
  return run === undefined || port === undefined
    ? undefined
    : { slot: { node, run: run.index, side: "output", port }, count: port.count }
}
