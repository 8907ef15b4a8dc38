/**
 * Paths into a JSON value, as people write them: `customer.id`, `rules.values[2]`, `["order no"]`, and `lines[].price` for
 * all elements of a list. The one place that reads and writes them. Pure.
 */
import { mapValues, obj, own } from "./Json.ts"

/** A key of an object, or an index into an array. */
export type Step = string | number

/** Steps from a value to one inside of it. */
export type Path = ReadonlyArray<Step>

/** Step that stands for all elements of a list, `[]`. */
export const all = -1

const token =
  /\s*(?:\.?([\p{ID_Start}$_@-][\p{ID_Continue}$@-]*)|\.?(\d+)(?=\.|\[|$)|\[\s*(?:(\d*)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*\])/suy

/** The steps of a path; `undefined` if it cannot be parsed. */
export const parse = (path: string): Path | undefined => {
  const steps: Array<Step> = []
  const text = path.trim()
  token.lastIndex = 0
  while (token.lastIndex < text.length) {
    const at = token.lastIndex
    const match = token.exec(text)
    if (match === null || at > 0 && !/[.[]/.test(text.charAt(at)) || at === 0 && text.startsWith(".")) return undefined
    const [, name, digits, index, double, single] = match
    if (name !== undefined) steps.push(name)
    else if (index !== undefined) steps.push(index === "" ? all : Number(index))
    else if (digits !== undefined) steps.push(Number(digits))
    else steps.push((double ?? single ?? "").replace(/\\(.)/gs, "$1"))
  }
  return steps.length === 0 ? undefined : steps
}

/** Value at a path, through own properties only, or `undefined`; `[]` collects the values of all elements. */
export const get = (value: unknown, path: Path): unknown => {
  const at = path.indexOf(all)
  if (at < 0) return path.reduce<unknown>(own, value)
  const inner = expand(value, path).map((each) => get(value, each)).filter((each) => each !== undefined)
  return inner.length > 0 ? inner : undefined
}

/** The paths in a value that a path with `[]` stands for. */
export const expand = (value: unknown, path: Path): ReadonlyArray<Path> => {
  const at = path.indexOf(all)
  if (at < 0) return [path]
  const list = get(value, path.slice(0, at))
  return Array.isArray(list) ? list.flatMap((_, index) => expand(value, path.with(at, index))) : []
}

/** Changes values from the outside in, each with its steps below `path`; what is inside a changed value is left. */
export const walk = (value: unknown, path: Path, change: (value: unknown, path: Path) => unknown): unknown => {
  const changed = change(value, path)
  if (changed !== value) return changed
  if (Array.isArray(value)) return value.map((element, index) => walk(element, [...path, index], change))
  const object = obj(value)
  return object === undefined ? value : mapValues(object, (inner, key) => walk(inner, [...path, key], change))
}

/** Changes all texts inside a value. */
export const mapStrings = (value: unknown, change: (text: string) => unknown): unknown =>
  walk(value, [], (inner) => typeof inner === "string" ? change(inner) : inner)

interface Frame {
  readonly value: unknown
  readonly step?: Step
  readonly outer?: Frame
}

const pathTo = ({ outer, step }: Frame): Path => {
  const steps = step === undefined ? [] : [step]
  for (let at = outer; at?.step !== undefined; at = at.outer) steps.push(at.step)
  return steps.toReversed()
}

/** All texts inside a value, with their paths in their order; depth is bounded by memory, not by the stack. */
export const strings = (value: unknown): ReadonlyArray<readonly [path: Path, text: string]> => {
  const texts: Array<readonly [Path, string]> = []
  const stack: Array<Frame> = [{ value }]
  for (let outer = stack.pop(); outer !== undefined; outer = stack.pop()) {
    const { value } = outer
    if (typeof value === "string") texts.push([pathTo(outer), value])
    else if (typeof value === "object" && value !== null) {
      const isList = Array.isArray(value)
      for (const [key, inner] of Object.entries(value).toReversed()) {
        stack.push({ value: inner, step: isList ? Number(key) : key, outer })
      }
    }
  }
  return texts
}

/** Changes the value at the end of a path; `undefined` removes its key or element. A missing key is added. */
export const modify = (value: unknown, [step, ...rest]: Path, change: (value: unknown) => unknown): unknown => {
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

const name = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

/** Appends a step to a path, a key quoted if needed: `a.b`, `a[0]`, `a[]`, or `a["odd key"]`. */
export const member = (path: string, step: Step): string =>
  typeof step === "number"
    ? `${path}[${step === all ? "" : step}]`
    : name.test(step)
    ? path === "" ? step : `${path}.${step}`
    : `${path}["${step.replace(/["\\]/g, "\\$&")}"]`

/** Writes a path, below another if one is given. */
export const print = (path: Path, outer = ""): string => path.reduce(member, outer)

/** Writes a path below another. */
export const join = (outer: string, inner: string): string =>
  outer === "" || inner === "" || inner.startsWith("[") ? outer + inner : `${outer}.${inner}`

/** The path with `[]` for every index: `lines[].price`. */
export const general = (path: string): string => {
  const steps = path.includes("[") ? parse(path) : undefined
  return steps === undefined ? path : print(steps.map((step) => typeof step === "number" ? all : step))
}

/** Whether a path is another one, or below it. */
export const isWithin = (path: string, outer: string): boolean =>
  path === outer || path.startsWith(outer) && /^[.[]/.test(path.slice(outer.length))

/** Remainders of these paths after a step; `[]` is any index. */
export const below = (paths: ReadonlyArray<Path>, step: Step): ReadonlyArray<Path> =>
  paths.length === 0 ?
    paths :
    paths.flatMap(([head, ...rest]) =>
      String(head) === String(step) || head === all && typeof step === "number" ? [rest] : []
    )

/** Whether a path is one of these, or below it. */
export const covers = (paths: ReadonlyArray<Path>, [step, ...rest]: Path): boolean =>
  paths.some((each) => each.length === 0) ||
  step !== undefined && paths.length > 0 && covers(below(paths, step), rest)

/** Name of a field in an expression over its item: `amount`, or `$json["order no"]`. */
export const inExpression = (key: string): string => {
  const path = member("", key)
  return path.startsWith("[") ? `$json${path}` : path
}
