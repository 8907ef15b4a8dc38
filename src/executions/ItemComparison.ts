/**
 * What a workflow did to its items between two nodes: the items of one paired with those of the other, and the places
 * in which they differ. Pure but for giving way to others.
 *
 * **Details**
 *
 * Items are read from the kept bytes as they are needed; of one side only keys or positions stay in memory.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { defined, int, obj, str } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import * as Execution from "./Execution.ts"
import * as ItemFields from "./ItemFields.ts"

export type { Step } from "../base/JsonPath.ts"

/**
 * Items of one output.
 *
 * @category models
 * @since 0.1.0
 */
export interface Side {
  readonly slot: Execution.Slot
  readonly count: number
}

/**
 * How items of both sides were paired.
 *
 * @category models
 * @since 0.1.0
 */
export type PairedBy = "key" | "pairedItem" | "place"

/**
 * A place in items that differs, and in how many pairs.
 *
 * @category models
 * @since 0.1.0
 */
export interface PathCount {
  /** Elements of lists are counted together: `lines[].price`. */
  readonly path: string
  readonly count: number
  /** The place is only on one side, in all these pairs. */
  readonly kind?: "added" | "removed"
  /** In so many of these pairs the numbers differ by rounding alone. */
  readonly roundingOnly?: number
}

/**
 * One item's difference.
 *
 * @category models
 * @since 0.1.0
 */
export interface Example {
  /** The item's position among those of `to`. */
  readonly index: number
  readonly key?: string
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/**
 * Items that have no partner: how many, and the first of them by position or key.
 *
 * @category models
 * @since 0.1.0
 */
export interface Unpaired {
  readonly count: number
  readonly first: ReadonlyArray<number | string>
}

/**
 * The comparison. `paths` has what changed rarest first, `examples` of the rarest.
 *
 * @category models
 * @since 0.1.0
 */
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

/**
 * What is compared, and how.
 *
 * @category models
 * @since 0.1.0
 */
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

/** An item as it is stored, and its JSON as a reader is shown it. */
interface Read {
  readonly stored: unknown
  readonly json: () => unknown
}

/** The items of a segment; whether they may hold secrets is looked up once, when the first is shown. */
const itemsOf = (segment: Execution.Segment, redacts: boolean): ReadonlyArray<Read> => {
  let redact = redacts ? undefined : <A>(value: A) => value
  return segment.items().map((stored) => ({
    stored,
    json: () => (redact ??= Redact.forJson(segment.text))(obj(stored)?.["json"] ?? {})
  }))
}

/** A pass lets others run every so many items. */
const breath = 2_000

/** Items of a slot by position; those that lie near each other are parsed once. */
const reader = (execution: Execution.Execution, slot: Execution.Slot, redacts: boolean) => {
  const recent: Array<{ readonly first: number; readonly items: ReadonlyArray<Read> }> = []
  return (index: number): unknown => {
    const known = recent.find(({ first, items }) => index >= first && index < first + items.length)
    if (known !== undefined) return known.items[index - known.first]?.json()
    for (const segment of execution.segments(slot, index)) {
      const read = { first: segment.first, items: itemsOf(segment, redacts) }
      recent.unshift(read)
      if (recent.length > 4) recent.pop()
      return read.items[index - read.first]?.json()
    }
    return undefined
  }
}

// ---- which item is which

/** For each item of `to` the positions of its partners in `from`, none where there is none. */
type Partner = (index: number) => number | undefined

const keyOf = (json: unknown, key: ReadonlyArray<JsonPath.Step>) => {
  const value = JsonPath.get(json, key)
  return value === undefined || value === null ? undefined : typeof value === "string" ? value : JSON.stringify(value)
}

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
  const keys: Array<string | undefined> = []
  const withoutKey = { from: 0, to: 0 }
  yield* eachItem(execution, from.slot, redacts, ({ json }, index) => {
    const value = keyOf(json(), key)
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
    const value = keyOf(json(), key)
    keys[index] = value
    if (value === undefined) withoutKey.to++
    partners[index] = value === undefined ? undefined : waiting.get(value)?.pop()
  })
  return { partner: (index: number) => partners[index], keys, withoutKey, sharedKeys }
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

/**
 * For each item of `to` the position of the item of `from` that n8n's links lead to, where they do.
 *
 * @category functions
 * @since 0.1.0
 */
export const origins = (execution: Execution.Execution, sides: Pick<Options, "from" | "to">) =>
  Effect.map(
    byLinks(execution, sides),
    ({ partner }) => Array.from({ length: sides.to.count }, (_, index) => partner(index))
  )

// ---- what differs

interface Difference {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

const general = (path: string) => path.replace(/\[\d+\]/g, "[]")

const differences = (before: unknown, after: unknown, path: string, into: Array<Difference>): void => {
  if (Equal.equals(before, after)) return
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let index = 0; index < Math.max(before.length, after.length); index++) {
      differences(before[index], after[index], `${path}[${index}]`, into)
    }
    return
  }
  const [a, b] = [obj(before), obj(after)]
  if (a === undefined || b === undefined) {
    into.push({ path, before, after })
    return
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const own = (object: typeof a) => Object.hasOwn(object, key) ? object[key] : undefined
    differences(own(a), own(b), JsonPath.member(path, key), into)
  }
}

const decimals = (value: number) => /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0

/**
 * Whether one number is the other one rounded to its decimals, or they differ by what floating point loses.
 *
 * @category guards
 * @since 0.1.0
 */
export const isRounding = (a: unknown, b: unknown): boolean => {
  if (typeof a !== "number" || typeof b !== "number") return false
  const [short, long] = decimals(a) <= decimals(b) ? [a, b] : [b, a]
  const unit = 10 ** -decimals(short)
  return Math.abs(short - long) <= Math.max(unit / 2, Math.abs(short) * 1e-12) * (1 + 1e-9) && short !== long &&
    decimals(long) > decimals(short)
}

const startsWith = (path: ReadonlyArray<JsonPath.Step>, steps: ReadonlyArray<JsonPath.Step>) =>
  steps.every((step, index) => String(path[index]) === String(step))

interface Tally {
  count: number
  added: number
  removed: number
  rounding: number
  readonly examples: Array<Example>
  /** Values of a field before and after, to see whether they only changed places; not of places within fields. */
  readonly values: { readonly before: Set<string>; readonly after: Set<string> } | undefined
}

const first = 5

/** So many values tell whether a field is a key. */
const maxValues = 2_000

const collectValues = ({ count, values }: Tally, { after, before }: Difference) => {
  if (values === undefined || count > maxValues) return
  if (typeof before === "string") values.before.add(before)
  if (typeof after === "string") values.after.add(after)
}

/** Whether a field is different in each item, and mostly has values that other items had before: pairs are crossed. */
const isCrossed = ({ count, values }: Tally): boolean => {
  if (values === undefined || count < 3) return false
  const { after, before } = values
  const looked = Math.min(count, maxValues)
  const moved = [...after].filter((value) => before.has(value)).length
  return before.size === looked && after.size === looked && moved * 2 >= looked
}

/** Of each of the rarest changes some, as far as there is room. */
const spread = (rarest: ReadonlyArray<Tally>, limit: number): ReadonlyArray<Example> => {
  const shares = rarest.map(() => 0)
  let left = limit
  for (const share of [3, limit]) {
    for (const [index, { examples }] of rarest.entries()) {
      const more = Math.min(left, Math.min(share, examples.length) - (shares[index] ?? 0))
      if (more <= 0) continue
      shares[index] = (shares[index] ?? 0) + more
      left -= more
    }
  }
  return rarest.flatMap(({ examples }, index) => examples.slice(0, shares[index]))
}

const unpaired = () => ({ count: 0, first: [] as Array<number | string> })

const note = (into: { count: number; first: Array<number | string> }, what: number | string) => {
  into.count++
  if (into.first.length < first) into.first.push(what)
}

/**
 * Compares the items of two outputs.
 *
 * @category functions
 * @since 0.1.0
 */
export const compare = Effect.fnUntraced(function*(execution: Execution.Execution, options: Options) {
  const { fields, from, ignore, key, limit, redacts, to } = options
  const keyed = key === undefined ? undefined : yield* byKey(execution, options, key)
  const linked = key === undefined ? yield* byLinks(execution, options) : undefined
  const isLinked = linked !== undefined && linked.linked * 2 >= Math.min(from.count, to.count) && linked.linked > 0
  const pairedBy: PairedBy = keyed !== undefined ? "key" : isLinked ? "pairedItem" : "place"
  const partner: Partner = keyed?.partner ??
    (isLinked ? linked.partner : (index) => index < from.count ? index : undefined)

  const tallies = new Map<string, Tally>()
  const partners = new Uint32Array(from.count)
  const onlyInTo = unpaired()
  const counts = { same: 0, changed: 0 }
  const missing = new Set(fields.keys())
  const before = reader(execution, from.slot, redacts)
  yield* eachItem(execution, to.slot, redacts, ({ json }, index) => {
    const label = keyed?.keys[index]
    const other = partner(index)
    if (other === undefined) return note(onlyInTo, label ?? index)
    partners[other] = (partners[other] ?? 0) + 1
    const found: Array<Difference> = []
    const [a, b] = [before(other), json()]
    if (fields.length === 0) differences(a, b, "", found)
    for (const [position, field] of fields.entries()) {
      const [valueBefore, valueAfter] = [JsonPath.get(a, field), JsonPath.get(b, field)]
      if (valueBefore === undefined && valueAfter === undefined) continue
      missing.delete(position)
      differences(valueBefore, valueAfter, ItemFields.written(field), found)
    }
    const relevant = ignore.length === 0
      ? found
      : found.filter(({ path }) => !ignore.some((steps) => startsWith(JsonPath.parse(path) ?? [], steps)))
    if (relevant.length === 0) {
      counts.same++
      return
    }
    counts.changed++
    const seen = new Set<string>()
    for (const difference of relevant) {
      const path = general(difference.path)
      const isField = keyed === undefined && !/[.[]/.test(path)
      const tally = tallies.get(path) ?? {
        count: 0,
        added: 0,
        removed: 0,
        rounding: 0,
        examples: [],
        values: isField ? { before: new Set<string>(), after: new Set<string>() } : undefined
      }
      tallies.set(path, tally)
      if (tally.examples.length < limit) tally.examples.push(defined({ index, key: label, ...difference }))
      if (seen.has(path)) continue
      seen.add(path)
      tally.count++
      collectValues(tally, difference)
      if (difference.before === undefined) tally.added++
      if (difference.after === undefined) tally.removed++
      if (isRounding(difference.before, difference.after)) tally.rounding++
    }
  })

  const onlyInFrom = unpaired()
  const duplicated = unpaired()
  for (const [index, count] of partners.entries()) {
    if (count !== 1) {
      const what = key === undefined ? index : keyOf(before(index), key) ?? index
      note(count === 0 ? onlyInFrom : duplicated, what)
    }
    if (index % breath === 0) yield* Effect.yieldNow
  }
  const pairs = counts.same + counts.changed
  const rarest = [...tallies].toSorted(([, a], [, b]) => a.count - b.count)
  const result: Comparison = defined({
    pairedBy,
    ...counts,
    paths: rarest.map(([path, { added, count, removed, rounding }]) =>
      defined({
        path,
        count,
        kind: added === count ? "added" as const : removed === count ? "removed" as const : undefined,
        roundingOnly: rounding > 0 ? rounding : undefined
      })
    ),
    // What changed in every pair is the node's work; a few words of `paths` say it.
    examples: spread(
      rarest.filter(([, { count }], index) => index === 0 || count < pairs).map(([, tally]) => tally),
      limit
    ),
    onlyInFrom,
    onlyInTo,
    duplicated: duplicated.count > 0 ? duplicated : undefined,
    withoutKey: keyed !== undefined && keyed.withoutKey.from + keyed.withoutKey.to > 0 ? keyed.withoutKey : undefined,
    sharedKeys: keyed !== undefined && keyed.sharedKeys > 0 ? keyed.sharedKeys : undefined,
    likelyKey: [...tallies].find(([, tally]) => isCrossed(tally))?.[0],
    missing: missing.size > 0 && pairs > 0 ? [...missing] : undefined
  })
  return result
})

/**
 * The output of a node that a comparison looks at: of its last run the first that holds items.
 *
 * @category functions
 * @since 0.1.0
 */
export const sideOf = (execution: Execution.Execution, node: string): Side | undefined => {
  const run = execution.runs.get(node)?.at(-1)
  const port = run?.outputs.find(({ count }) => count > 0) ?? run?.outputs[0]
  return run === undefined || port === undefined
    ? undefined
    : { slot: { node, run: run.index, side: "output", port }, count: port.count }
}
