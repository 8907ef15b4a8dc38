/** Origins of items by the links that n8n records (`pairedItem`): the items of earlier nodes that an item was made from. */
import { int, obj, str } from "../base/Json.ts"
import * as Execution from "./Execution.ts"

/** Links of an item (its `pairedItem`) to an input, or to another output (`source`): later batches of a loop come from its first input. */
export const linksOf = (paired: unknown) =>
  (Array.isArray(paired) ? paired : [paired]).flatMap((link) => {
    const item = int(link) ?? int(obj(link)?.["item"])
    const overwrite = obj(obj(link)?.["sourceOverwrite"])
    const node = str(overwrite?.["previousNode"])
    const output = int(overwrite?.["previousNodeOutput"] ?? 0)
    const run = int(overwrite?.["previousNodeRun"] ?? 0)
    if (item === undefined) return []
    const source = node === undefined || output === undefined || run === undefined ? undefined : { node, output, run }
    return [{ item, input: int(obj(link)?.["input"]) ?? 0, source }]
  })

export interface Place {
  readonly slot: Execution.Slot
  readonly index: number
}

export const slotKey = ({ node, port, run }: Execution.Slot): string =>
  JSON.stringify([node, run, port.type, port.index])

const placeKey = ({ index, slot }: Place) => `${index} ${slotKey(slot)}`

/** Items that an item was made from, one node back. */
const before = (execution: Execution.Execution, { index, slot }: Place): ReadonlyArray<Place> => {
  const run = execution.runs.get(slot.node)?.[slot.run]
  return linksOf(obj(execution.items(slot, index, 1)[0])?.["pairedItem"]).flatMap(({ input, item, source }) => {
    const from = source ?? run?.sources[input]
    if (from === undefined) return []
    const origin = Execution.slotOf(from)
    return item >= 0 && item < (Execution.portAt(execution, origin)?.count ?? 0) ? [{ slot: origin, index: item }] : []
  })
}

/** Number of items that several searches may read together. */
export interface Budget {
  items: number
}

/** Budget of one call: some hundreds of milliseconds. */
export const budget = (): Budget => ({ items: 2_000 })

/**
 * Follows an item's links back to the places for which `isEnd` is true; each result is a way from such a place to the
 * item. `undefined` if there are more items on the way than the budget allows.
 */
export const ways = (
  execution: Execution.Execution,
  place: Place,
  isEnd: (place: Place) => boolean,
  budget: Budget
): ReadonlyArray<ReadonlyArray<Place>> | undefined => {
  const ends: Array<ReadonlyArray<Place>> = []
  const next = new Map<string, Place | undefined>([[placeKey(place), undefined]])
  const queue = [place]
  for (const here of queue) {
    if (isEnd(here)) {
      const way: Array<Place> = []
      for (let at: Place | undefined = here; at !== undefined; at = next.get(placeKey(at))) way.push(at)
      ends.push(way)
      continue
    }
    if (budget.items-- <= 0) return undefined
    for (const origin of before(execution, here)) {
      const key = placeKey(origin)
      if (next.has(key)) continue
      next.set(key, here)
      queue.push(origin)
    }
  }
  return ends
}
