/** Tree of the changes between two JSON values. Pure. */
import { diffArrays } from "diff"
import * as Equal from "effect/Equal"
import { canonical, type Obj, obj } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"

/** Change of one value; `undefined` on a side means that the value is missing. */
export type Change = Replace | ObjectChange | ArrayChange

/** Replacement of a value by another. */
export interface Replace {
  readonly _tag: "Replace"
  readonly before: unknown
  readonly after: unknown
}

/** Changes of some keys of an object. */
export interface ObjectChange {
  readonly _tag: "Object"
  readonly keys: ReadonlyArray<readonly [key: string, change: Change]>
}

/** Changed, removed and added elements of a list. */
export interface ArrayChange {
  readonly _tag: "Array"
  readonly elements: ReadonlyArray<ElementChange>
}

/** Change of an element with its index on each side; a removed element has only `before`, an added one only `after`. */
export interface ElementChange {
  readonly before: number | undefined
  readonly after: number | undefined
  readonly change: Change
}

/** Maximum number of insertions and deletions; beyond it two lists are compared index by index. */
const maxEdits = 500

const ids = (list: ReadonlyArray<unknown>): ReadonlyArray<string> | undefined => {
  const all = list.flatMap((element) => {
    const id = obj(element)?.["id"]
    return typeof id === "string" && id !== "" ? [id] : []
  })
  return all.length === list.length && new Set(all).size === list.length ? all : undefined
}

const elementKeys = (before: ReadonlyArray<unknown>, after: ReadonlyArray<unknown>) => {
  const [a, b] = [ids(before), ids(after)]
  return a !== undefined && b !== undefined
    ? { before: a, after: b, areIds: true }
    : { before: before.map(canonical), after: after.map(canonical), areIds: false }
}

const kind = (value: unknown) => Array.isArray(value) ? "array" : obj(value) === undefined ? "scalar" : "object"

const diffLists = (before: ReadonlyArray<unknown>, after: ReadonlyArray<unknown>): Change | undefined => {
  const keys = elementKeys(before, after)
  const elements: Array<ElementChange> = []
  const add = (old: number | undefined, now: number | undefined) => {
    const change = diff(old === undefined ? undefined : before[old], now === undefined ? undefined : after[now])
    if (change !== undefined) elements.push({ before: old, after: now, change })
  }
  const gap = { removed: [] as Array<number>, added: [] as Array<number> }
  /** Pairs the removed and added elements of a gap as changed; the rest are removed or added. */
  const closeGap = () => {
    for (let at = 0; at < Math.max(gap.removed.length, gap.added.length); at++) {
      const [old, now] = [gap.removed[at], gap.added[at]]
      const isPair = old !== undefined && now !== undefined && !keys.areIds && kind(before[old]) === kind(after[now])
      if (isPair) add(old, now)
      else {
        if (old !== undefined) add(old, undefined)
        if (now !== undefined) add(undefined, now)
      }
    }
    gap.removed = []
    gap.added = []
  }
  const steps = diffArrays([...keys.before], [...keys.after], { maxEditLength: maxEdits }) ??
    [{ removed: true, added: false, count: before.length }, { removed: false, added: true, count: after.length }]
  let [i, j] = [0, 0]
  for (const { added, count, removed } of steps) {
    if (!removed && !added) closeGap()
    for (let step = 0; step < count; step++) {
      if (removed) gap.removed.push(i++)
      else if (added) gap.added.push(j++)
      else add(i++, j++)
    }
  }
  closeGap()
  return elements.length === 0 ? undefined : { _tag: "Array", elements }
}

const diffObjects = (before: Obj, after: Obj): Change | undefined => {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    const own = (object: Obj) => Object.hasOwn(object, key) ? object[key] : undefined
    const change = diff(own(before), own(after))
    return change === undefined ? [] : [[key, change] as const]
  })
  return keys.length === 0 ? undefined : { _tag: "Object", keys }
}

/** Change from one value to the other, or `undefined` if they are equal. */
export const diff = (before: unknown, after: unknown): Change | undefined => {
  if (Array.isArray(before) && Array.isArray(after)) return diffLists(before, after)
  const [a, b] = [obj(before), obj(after)]
  if (a !== undefined && b !== undefined) return diffObjects(a, b)
  return Equal.equals(before, after) ? undefined : { _tag: "Replace", before, after }
}

/** One changed path; `undefined` on a side means that the value is missing. */
export interface FieldChange {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** Every change with its path; list elements have their index after the change, or before it if removed. */
export const fields = (change: Change, path = ""): ReadonlyArray<FieldChange> => {
  switch (change._tag) {
    case "Replace":
      return [{ path, before: change.before, after: change.after }]
    case "Object":
      return change.keys.flatMap(([key, inner]) => fields(inner, member(path, key)))
    case "Array":
      return change.elements.flatMap(({ after, before, change: inner }) =>
        fields(inner, member(path, after ?? before ?? 0))
      )
  }
}

/** Changed paths without an id that only one side has: handwritten nodes have none, and n8n gives them one. */
export const relevant = (change: Change): ReadonlyArray<FieldChange> =>
  fields(change).filter(({ after, before, path }) => path !== "id" || before !== undefined && after !== undefined)
