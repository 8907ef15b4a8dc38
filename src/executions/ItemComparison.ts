/**
 * What a workflow did to its items between two nodes: the items of one paired with those of the other, and the places
 * in which they differ. Pure but for giving way to others.
 *
 * **Details**
 *
 * Items are read from the kept bytes as they are needed; of one side only keys or positions stay in memory.
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

/** How items of both sides were paired. */
export type PairedBy = "key" | "pairedItem" | "place"

/** Items that have no partner: how many, and the first of them by position or key. */
export interface Unpaired {
  readonly count: number
  readonly first: ReadonlyArray<number | string>
}

/** The comparison. `paths` has what changed rarest first, `examples` of the rarest. */
export interface Comparison {
  readonly pairedBy: PairedBy
  readonly same: number
  readonly changed: number
  readonly paths: ReadonlyArray<PathCount>
  readonly examples: ReadonlyArray<Example>
  readonly onlyInFrom: Unpaired
  readonly onlyInTo: Unpaired
  /** Items of `from` that have several partners. */
  readonly duplicated?: Unpaired
  /** Items that have no value at the key. */
  readonly withoutKey?: { readonly from: number; readonly to: number }
  /** Values of the key that several items of `from` share: these are paired in their order. */
  readonly sharedKeys?: number
  /** A field that would pair the items, where they are paired otherwise and it differs in many pairs. */
  readonly likelyKey?: string
  /** Which of the compared `fields` no item has, by their position. */
  readonly missing?: ReadonlyArray<number>
}

/** What is compared, and how. */
export interface Options {
  readonly from: Side
  readonly to: Side
  readonly key?: ReadonlyArray<JsonPath.Step> | undefined
  /** Paths that are compared; all where there are none. */
  readonly fields: ReadonlyArray<ReadonlyArray<JsonPath.Step>>
  /** Paths that are not compared. */
  readonly ignore: ReadonlyArray<ReadonlyArray<JsonPath.Step>>
  /** Examples to give. */
  readonly limit: number
  readonly redacts: boolean
}

/** An item as it is stored, and its JSON. */
interface Read {
  readonly stored: unknown
  readonly json: () => Both
}

/** The items of a segment; whether they may hold secrets is looked up once, when the first is shown. */
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

/** A pass lets others run every so many items. */
const breath = 2_000

const none: Both = { stored: undefined, shown: undefined }

/** Items of a slot by position; those that lie near each other are parsed once. */
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

// ---- which item is which

/** For each item of `to` the positions of its partners in `from`, none where there is none. */
type Partner = (index: number) => number | undefined

const asKey = (value: unknown) =>
  value === undefined || value === null ? undefined : typeof value === "string" ? value : JSON.stringify(value)

/** An item's key as it is shown; items whose key is redacted are named by their position. */
const labelOf = (key: Both) => key.stored === key.shown ? asKey(key.shown) : undefined

const eachItem = Effect.fnUntraced(function*(
  execution: Execution.Execution,
  slot: Execution.Slot,
  redacts: boolean,
  visit: (item: Read, index: number) => void
) {
  let unrested = 0
  for (const segment of execution.segments(slot)) {
    for (const [place, item] of itemsOf(segment, redacts).entries()) {
      visit(item, segment.first + place)
      unrested++
    }
    if (unrested > breath) {
      unrested = 0
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

/** Where a link leads that is not to the run's own input: a loop's later batches come from what entered it first. */
const sourceOf = (execution: Execution.Execution, overwrite: unknown): Side | undefined => {
  const { previousNode, previousNodeOutput = 0, previousNodeRun = 0 } = obj(overwrite) ?? {}
  const [node, index, run] = [str(previousNode), int(previousNodeOutput), int(previousNodeRun)]
  if (node === undefined || index === undefined || run === undefined) return undefined
  const output = execution.runs.get(node)?.[run]?.outputs.find((each) => each.type === "main" && each.index === index)
  return output === undefined
    ? undefined
    : { slot: { node, run, side: "output", port: { type: "main", index } }, count: output.count }
}

/** n8n's own links from an item to those it was made of, over any number of nodes; `undefined` where they lead nowhere. */
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

/** For each item of `to` the position of the item of `from` that n8n's links lead to, where they do. */
export const origins = (execution: Execution.Execution, sides: Pick<Options, "from" | "to">) =>
  Effect.map(
    byLinks(execution, sides),
    ({ partner }) => Array.from({ length: sides.to.count }, (_, index) => partner(index))
  )

// ---- what differs

const startsWith = (path: ReadonlyArray<JsonPath.Step>, steps: ReadonlyArray<JsonPath.Step>) =>
  steps.every((step, index) => String(path[index]) === String(step))

/** Maximum number of items without a partner that are named. */
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
    const found: Array<Difference> = []
    if (fields.length === 0) differences(a, b, "", found)
    for (const [position, field] of fields.entries()) {
      const [left, right] = [at(a, field), at(b, field)]
      if (left.stored === undefined && right.stored === undefined) continue
      missing.delete(position)
      differences(left, right, ItemFields.written(field), found)
    }
    return ignore.length === 0
      ? found
      : found.filter(({ path }) => !ignore.some((steps) => startsWith(JsonPath.parse(path) ?? [], steps)))
  }
  yield* eachItem(execution, to.slot, redacts, ({ json }, index) => {
    const label = keyed?.labels[index]
    const other = partner(index)
    if (other === undefined) return note(onlyInTo, label ?? index)
    partners[other] = (partners[other] ?? 0) + 1
    const found = differencesOf(before(other), json())
    if (found.length === 0) {
      counts.same++
      return
    }
    counts.changed++
    counted.add(found, index, label)
  })

  const onlyInFrom = unpaired()
  const duplicated = unpaired()
  for (const [index, count] of partners.entries()) {
    if (count !== 1) {
      const what = key === undefined ? index : labelOf(at(before(index), key)) ?? index
      note(count === 0 ? onlyInFrom : duplicated, what)
    }
    if (index % breath === 0) yield* Effect.yieldNow
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

/** The output of a node that a comparison looks at: of its last run the first that holds items. */
export const sideOf = (execution: Execution.Execution, node: string): Side | undefined => {
  const run = execution.runs.get(node)?.at(-1)
  const port = run?.outputs.find(({ count }) => count > 0) ?? run?.outputs[0]
  return run === undefined || port === undefined
    ? undefined
    : { slot: { node, run: run.index, side: "output", port }, count: port.count }
}
