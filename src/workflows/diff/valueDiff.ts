/** What changed in a JSON value: a tree that leads from one value to the other, and back. Pure. */
import { diffArrays } from "diff"
import * as Equal from "effect/Equal"
import { type Obj, obj } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"

/**
 * A change of one value; `undefined` on a side is a value that is not there.
 *
 * @category models
 * @since 0.1.0
 */
export type Change = Replace | ObjectChange | ArrayChange

/**
 * Another value altogether.
 *
 * @category models
 * @since 0.1.0
 */
export interface Replace {
  readonly _tag: "Replace"
  readonly before: unknown
  readonly after: unknown
}

/**
 * An object of which some keys changed.
 *
 * @category models
 * @since 0.1.0
 */
export interface ObjectChange {
  readonly _tag: "Object"
  readonly keys: ReadonlyArray<readonly [key: string, change: Change]>
}

/**
 * A list of which some elements changed, went or came.
 *
 * @category models
 * @since 0.1.0
 */
export interface ArrayChange {
  readonly _tag: "Array"
  readonly elements: ReadonlyArray<ElementChange>
}

/**
 * An element that changed has both places, one that went only `before`, one that came only `after`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ElementChange {
  readonly before: number | undefined
  readonly after: number | undefined
  readonly change: Change
}

/** Beyond so many insertions and deletions two lists are compared place by place. */
const maxEdits = 500

/** The value as text, the same whatever the order of keys. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => {
    const object = obj(inner)
    return object === undefined
      ? inner
      : Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => a < b ? -1 : 1))
  }) ?? ""

const ids = (list: ReadonlyArray<unknown>): ReadonlyArray<string> | undefined => {
  const found = list.flatMap((element) => {
    const id = obj(element)?.["id"]
    return typeof id === "string" && id !== "" ? [id] : []
  })
  return found.length === list.length && new Set(found).size === list.length ? found : undefined
}

/** What makes two elements the same one: their ids where all have one, else their content. */
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
  const gap = { removed: [] as Array<number>, added: [] as Array<number> }
  /** What stands in one gap on both sides changed; what is left over went or came. */
  const closeGap = () => {
    const pairs = Math.min(gap.removed.length, gap.added.length)
    gap.removed.forEach((index, at) => {
      const other = gap.added[at]
      if (keys.areIds || at >= pairs || other === undefined || kind(before[index]) !== kind(after[other])) {
        elements.push({ before: index, after: undefined, change: replace(before[index], undefined) })
        if (other !== undefined) {
          elements.push({ before: undefined, after: other, change: replace(undefined, after[other]) })
        }
        return
      }
      const change = diff(before[index], after[other])
      if (change !== undefined) elements.push({ before: index, after: other, change })
    })
    gap.added.slice(gap.removed.length).forEach((index) =>
      elements.push({ before: undefined, after: index, change: replace(undefined, after[index]) })
    )
    gap.removed.length = 0
    gap.added.length = 0
  }
  const steps = diffArrays([...keys.before], [...keys.after], { maxEditLength: maxEdits }) ??
    [{ removed: true, added: false, count: before.length }, { removed: false, added: true, count: after.length }]
  let [i, j] = [0, 0]
  for (const { added, count, removed } of steps) {
    for (let step = 0; step < count; step++) {
      if (removed) gap.removed.push(i++)
      else if (added) gap.added.push(j++)
      else {
        if (step === 0) closeGap()
        const change = diff(before[i], after[j])
        if (change !== undefined) elements.push({ before: i, after: j, change })
        i++
        j++
      }
    }
  }
  closeGap()
  return elements.length === 0 ? undefined : { _tag: "Array", elements }
}

const replace = (before: unknown, after: unknown): Replace => ({ _tag: "Replace", before, after })

const diffObjects = (before: Obj, after: Obj): Change | undefined => {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    const own = (object: Obj) => Object.hasOwn(object, key) ? object[key] : undefined
    const change = diff(own(before), own(after))
    return change === undefined ? [] : [[key, change] as const]
  })
  return keys.length === 0 ? undefined : { _tag: "Object", keys }
}

/** What leads from one value to the other; `undefined` where they are equal. */
export const diff = (before: unknown, after: unknown): Change | undefined => {
  if (Array.isArray(before) && Array.isArray(after)) return diffLists(before, after)
  const [a, b] = [obj(before), obj(after)]
  if (a !== undefined && b !== undefined) return diffObjects(a, b)
  return Equal.equals(before, after) ? undefined : replace(before, after)
}

/** The change that takes the other one back. */
export const invert = (change: Change): Change => {
  switch (change._tag) {
    case "Replace":
      return replace(change.after, change.before)
    case "Object":
      return { _tag: "Object", keys: change.keys.map(([key, inner]) => [key, invert(inner)] as const) }
    case "Array":
      return {
        _tag: "Array",
        elements: change.elements.map(({ after, before, change: inner }) => ({
          before: after,
          after: before,
          change: invert(inner)
        }))
      }
  }
}

const applyToList = (list: ReadonlyArray<unknown>, elements: ReadonlyArray<ElementChange>) => {
  const changed = new Map(
    elements.flatMap((element) => element.before === undefined ? [] : [[element.before, element]])
  )
  const result = list.flatMap((value, index) => {
    const element = changed.get(index)
    if (element === undefined) return [value]
    return element.after === undefined ? [] : [apply(value, element.change)]
  })
  elements.flatMap(({ after, before, change }) =>
    before === undefined && after !== undefined ? [{ after, change }] : []
  )
    .toSorted((a, b) => a.after - b.after)
    .forEach(({ after, change }) => result.splice(after, 0, apply(undefined, change)))
  return result
}

/** The value with the change made. It must be the one that the change was made from. */
export const apply = (value: unknown, change: Change): unknown => {
  switch (change._tag) {
    case "Replace":
      return change.after
    case "Object": {
      const entries = new Map(Object.entries(obj(value) ?? {}))
      for (const [key, inner] of change.keys) {
        const next = apply(entries.get(key), inner)
        if (next === undefined) entries.delete(key)
        else entries.set(key, next)
      }
      return Object.fromEntries(entries)
    }
    case "Array":
      return applyToList(Array.isArray(value) ? value : [], change.elements)
  }
}

/** One place that changed; `undefined` on a side is a value that is not there. */
export interface FieldChange {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** Every place that changed, with its path; of a list's element its place after the change, or before where it went. */
export const fields = (change: Change, path = ""): ReadonlyArray<FieldChange> => {
  switch (change._tag) {
    case "Replace":
      return [{ path, before: change.before, after: change.after }]
    case "Object":
      return change.keys.flatMap(([key, inner]) => fields(inner, member(path, key)))
    case "Array":
      return change.elements.flatMap(({ after, before, change: inner }) =>
        fields(inner, `${path}[${after ?? before ?? 0}]`)
      )
  }
}
