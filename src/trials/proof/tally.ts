/** Differences of one node, counted by path and kind. Pure. */
import { defined } from "../../base/Json.ts"
import * as ItemDifferences from "../../executions/ItemDifferences.ts"
import { mix, ofText } from "./fingerprint.ts"

/** Kind of a difference; `succeeded` and `failed` describe the replay, `ran` and `notRun` too. */
export type Kind =
  | ItemDifferences.Kind
  | "count"
  | "order"
  | "output"
  | "ran"
  | "notRun"
  | "failed"
  | "succeeded"

/** Difference of a node: one for all items and runs of the node that differ in this way, with the first as example. */
export interface Difference {
  readonly node: string
  /** Index of the run. */
  readonly run: number
  /** Position of the item. */
  readonly item?: number
  /** Path in the item, elements of lists together; the output of a count; else empty. */
  readonly path: string
  readonly kind: Kind
  /** Values as shown to readers, shortened. */
  readonly before?: unknown
  readonly after?: unknown
  /** Number of items, or of runs, that differ in this way. */
  readonly count: number
  /** Whether all of these values differ by rounding only. */
  readonly isRounding?: boolean
  /** Whether a value has another JSON type. */
  readonly isRetyped?: boolean
  /** Fingerprint of the replay's values and their places. */
  readonly digest: number
}

/** Maximum number of paths of a node; the rest is one difference at `restPath`. */
const maxPaths = 500
export const restPath = "…"

const maxChars = 200

/** Value shortened for readers. */
const brief = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  return text === undefined || text.length <= maxChars
    ? value
    : `${(typeof value === "string" ? value : text).slice(0, maxChars)}…`
}

const typeOf = (value: unknown) => value === null ? "null" : Array.isArray(value) ? "list" : typeof value

const keyOf = ({ kind, path }: Pick<Difference, "kind" | "path">) => `${kind} ${path}`

type Changes = ReadonlyArray<ItemDifferences.Difference>

const nameOf = (change: Changes[number]) => ({
  kind: ItemDifferences.kindOf(change),
  path: ItemDifferences.general(change.path)
})

/** Differences of a node, or of one of its runs before it is known whether only the order differs. */
export const tally = () => {
  const all = new Map<string, Difference>()
  const add = (difference: Difference) => {
    const isFull = all.size >= maxPaths && !all.has(keyOf(difference))
    const { after: _, before: __, ...place } = difference
    const more: Difference = isFull ? { ...place, kind: "altered", path: restPath } : difference
    const key = keyOf(more)
    const known = all.get(key)
    all.set(
      key,
      known === undefined ? more : {
        ...known,
        count: known.count + more.count,
        digest: (known.digest + more.digest) | 0,
        ...(known.isRounding === true && more.isRounding !== true ? { isRounding: false } : {}),
        ...(more.isRetyped === true ? { isRetyped: true } : {})
      }
    )
  }
  return {
    add,
    /** Whether a change has a new path or kind, so that its values are shown. */
    isNew: (changes: Changes) => all.size < maxPaths && changes.some((change) => !all.has(keyOf(nameOf(change)))),
    /** Adds the changes of an item; a path counts once per item. */
    addItem: (
      place: Pick<Difference, "node" | "run"> & { readonly item: number },
      changes: Changes,
      ofValue: (value: unknown) => number
    ) => {
      const own = new Set<string>()
      for (const change of changes) {
        const name = nameOf(change)
        const key = keyOf(name)
        const { after, before } = all.has(key) ? {} : ItemDifferences.example(change, place.item, undefined)
        const [old, current] = [change.before.stored, change.after.stored]
        const at = ofText(`${place.run} ${place.item} ${change.path}`)
        add({
          ...place,
          ...name,
          ...defined({ before: brief(before), after: brief(after) }),
          count: own.size < own.add(key).size ? 1 : 0,
          digest: mix(at ^ ofValue(current)),
          isRounding: ItemDifferences.isRounding(old, current),
          isRetyped: name.kind === "altered" && typeOf(old) !== typeOf(current)
        })
      }
    },
    values: (): ReadonlyArray<Difference> => [...all.values()]
  }
}
