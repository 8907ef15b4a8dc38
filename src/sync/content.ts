/** Synced content of a workflow: equal on n8n and in a file, whatever the order of keys. Pure. */
import * as Schema from "effect/Schema"
import { sha256 } from "../base/Hash.ts"
import { arr, equals, isEmpty, mapValues, type Obj, obj, own } from "../base/Json.ts"
import { redact } from "../base/Redact.ts"
import { isVersioned, tagNames, type Workflow } from "../n8n/model/Workflow.ts"
import * as WorkflowDiff from "../workflow/diff/WorkflowDiff.ts"
import { cleared } from "../workflows/store/Outcome.ts"

/** Parts that are synced only on request. */
export const Extra = Schema.Literals(["pinData", "staticData"])
export type Extra = typeof Extra.Type

/** Parts of workflows that are synced with this n8n. */
export interface Scope {
  readonly extras: ReadonlyArray<Extra>
  /** n8n 1.x supports fewer parts. */
  readonly isV1: boolean
  /** Whether a change of an active workflow waits as a draft. */
  readonly writesDrafts: boolean
}

export const keysOf = ({ extras, isV1 }: Scope): ReadonlyArray<string> => [
  "name",
  ...(isV1 ? [] : ["description"]),
  "nodes",
  "connections",
  "settings",
  ...(isV1 ? [] : ["nodeGroups"]),
  ...extras,
  "tags"
]

const parsed = (value: unknown): unknown => {
  if (typeof value !== "string") return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

const normalized = (workflow: Obj, key: string) => {
  if (key === "tags") return [...new Set(tagNames(workflow))].toSorted()
  return key === "staticData" ? parsed(workflow[key]) : workflow[key]
}

/** Content of a workflow, without empty parts; tags are sorted names. */
export const of = (workflow: Obj, scope: Scope): Obj =>
  Object.fromEntries(
    keysOf(scope).flatMap((key) => {
      const value = normalized(workflow, key)
      const isNeeded = key === "name" || key === "nodes" || key === "connections"
      return isEmpty(value) && !(isNeeded && value !== undefined) ? [] : [[key, value]]
    })
  )

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  const object = obj(value)
  return object === undefined ? value : { "": Object.keys(object).toSorted().map((key) => [key, sorted(object[key])]) }
}

export const hash = (content: Obj): string => sha256(JSON.stringify(sorted(content))).slice(0, 32)

const twin = (element: unknown, index: number, old: ReadonlyArray<unknown>): unknown => {
  const of = (key: string) => {
    const value = own(element, key)
    return typeof value === "string" && obj(element) !== undefined
      ? old.find((other) => own(other, key) === value)
      : undefined
  }
  return of("id") ?? of("name") ?? old[index]
}

/** Sorts the keys of a value as in the old one, so that a file's diff shows only changes. */
const inOrderOf = (old: unknown, value: unknown): unknown => {
  if (equals(old, value)) return old
  if (Array.isArray(value)) {
    return Array.isArray(old) ? value.map((element, index) => inOrderOf(twin(element, index, old), element)) : value
  }
  const [before, after] = [obj(old), obj(value)]
  if (before === undefined || after === undefined) return value
  const known = Object.keys(before).filter((key) => Object.hasOwn(after, key))
  const added = Object.keys(after).filter((key) => !Object.hasOwn(before, key))
  return mapValues(
    Object.fromEntries([...known, ...added].map((key) => [key, after[key]])),
    (inner, key) => inOrderOf(own(before, key), inner)
  )
}

const inFile = (content: Obj, key: string) =>
  key === "tags" ? arr(content[key]).map((name) => ({ name })) : content[key]

/** Keys of a file that name what n8n has saved: a version in a file is that of its nodes. */
const stamps = new Set(["id", "versionId", "updatedAt"])

/** JSON of a file with this content of a workflow; everything else in the file stays in its place. */
export const toFile = (workflow: Workflow, content: Obj, old: Obj | undefined, scope: Scope): Obj => {
  const { id } = workflow
  const keys = keysOf(scope)
  if (old === undefined) {
    return {
      id,
      ...Object.fromEntries(keys.flatMap((key) => Object.hasOwn(content, key) ? [[key, inFile(content, key)]] : []))
    }
  }
  const before = of(old, scope)
  const own = Object.entries(old).flatMap(([key, value]): ReadonlyArray<[string, unknown]> => {
    if (stamps.has(key)) return [[key, workflow[key] ?? value]]
    if (!keys.includes(key) || equals(before[key], content[key])) return [[key, value]]
    return Object.hasOwn(content, key) ? [[key, inOrderOf(value, inFile(content, key))]] : []
  })
  const added = keys.filter((key) => Object.hasOwn(content, key) && !Object.hasOwn(old, key))
  return {
    ...(Object.hasOwn(old, "id") ? {} : { id }),
    ...Object.fromEntries(own),
    ...Object.fromEntries(added.map((key) => [key, inFile(content, key)]))
  }
}

/** Hash of the parts that a version of n8n holds. */
export const nodesHash = (content: Obj, scope: Scope): string => hash(withRest(content, {}, scope))

const clearedParts: Obj = { ...cleared, settings: {}, staticData: {}, tags: [] }

/** Parts of `target` that n8n does not have; parts that the file no longer has are cleared. */
export const patch = (current: Obj, target: Obj, scope: Scope): Obj =>
  Object.fromEntries(
    keysOf(scope).flatMap((key) => equals(current[key], target[key]) ? [] : [[key, target[key] ?? clearedParts[key]]])
  )

/** Content whose nodes are those of one state, and all that a version does not hold those of another. */
export const withRest = (nodes: Obj, rest: Obj, scope: Scope): Obj =>
  Object.fromEntries(
    keysOf(scope).flatMap((key) => {
      const value = (isVersioned(key) ? nodes : rest)[key]
      return value === undefined ? [] : [[key, value]]
    })
  )

/** Summary of the changes in one line, without secrets. */
export const changedLine = (before: Obj, after: Obj): string => {
  const clean = WorkflowDiff.summary(redact(before), redact(after))
  return clean === "nothing" ? WorkflowDiff.line(WorkflowDiff.make(before, after)) : clean
}
