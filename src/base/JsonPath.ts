/** Paths into a JSON value, as people write them: `customer.id`, `rules.values[2]`, `["order no"]`. Pure. */
import { mapValues, obj, own } from "./Json.ts"

/** A key of an object, or an index into an array. */
export type Step = string | number

const token =
  /\s*(?:\.?([\p{ID_Start}$_@-][\p{ID_Continue}$@-]*)|\.?(\d+)(?=\.|\[|$)|\[\s*(?:(\d+)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*\])/uy

/** The steps of a path; `undefined` if it cannot be parsed. */
export const parse = (path: string): ReadonlyArray<Step> | undefined => {
  const steps: Array<Step> = []
  const text = path.trim()
  token.lastIndex = 0
  while (token.lastIndex < text.length) {
    const at = token.lastIndex
    const match = token.exec(text)
    if (match === null || at > 0 && !/[.[]/.test(text.charAt(at)) || at === 0 && text.startsWith(".")) return undefined
    const [, name, digits, index, double, single] = match
    if (name !== undefined) steps.push(name)
    else if (index !== undefined) steps.push(Number(index))
    else if (digits !== undefined) steps.push(Number(digits))
    else steps.push((double ?? single ?? "").replace(/\\(.)/g, "$1"))
  }
  return steps.length === 0 ? undefined : steps
}

/** The value at the end of the steps, by own properties only; `undefined` if there is none. */
export const get = (value: unknown, steps: ReadonlyArray<Step>): unknown => steps.reduce<unknown>(own, value)

/** Changes values from the outside in, each with its steps below `path`; what is inside a changed value is left. */
export const walk = (
  value: unknown,
  path: ReadonlyArray<Step>,
  change: (value: unknown, path: ReadonlyArray<Step>) => unknown
): unknown => {
  const changed = change(value, path)
  if (changed !== value) return changed
  if (Array.isArray(value)) return value.map((element, index) => walk(element, [...path, index], change))
  const object = obj(value)
  return object === undefined ? value : mapValues(object, (inner, key) => walk(inner, [...path, key], change))
}

/** Changes the value at these steps; `undefined` removes its key or element. A missing key is added. */
export const modify = (
  value: unknown,
  [step, ...rest]: ReadonlyArray<Step>,
  change: (value: unknown) => unknown
): unknown => {
  if (step === undefined) return change(value)
  const inner = modify(own(value, step), rest, change)
  if (Array.isArray(value)) {
    return inner === undefined ? value.toSpliced(Number(step), 1) : value.with(Number(step), inner)
  }
  const entries = new Map(Object.entries(obj(value) ?? {}))
  if (inner === undefined) entries.delete(String(step))
  else entries.set(String(step), inner)
  return Object.fromEntries(entries)
}

/** Appends a step to a path, a key quoted if needed: `a.b`, `a[0]`, or `a["odd key"]`. */
export const member = (path: string, key: Step): string =>
  typeof key === "number"
    ? `${path}[${key}]`
    : /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key)
    ? path === "" ? key : `${path}.${key}`
    : `${path}["${key.replace(/["\\]/g, "\\$&")}"]`

/** Name of a field in an expression over its item: `amount`, or `$json["order no"]`. */
export const inExpression = (key: string): string => {
  const path = member("", key)
  return path.startsWith("[") ? `$json${path}` : path
}
