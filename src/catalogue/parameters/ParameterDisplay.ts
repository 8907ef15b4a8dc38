/** Visibility of parameters: n8n ignores hidden ones. */
import * as Predicate from "effect/Predicate"
import { arr, equals, type Obj, obj, own } from "../../base/Json.ts"
import type { DisplayOptions } from "../types/NodeType.ts"

export interface Scope {
  /** Parameters beside the one in question, with defaults. */
  readonly values: unknown
  /** Parameters of the node, for rules such as `/resource`. */
  readonly root: unknown
  readonly version: number
  readonly isTool: boolean
}

/** Value at a path such as `options.pages[0].url`, unless the path is itself a property's name. */
export const at = (value: unknown, path: string): unknown => {
  const direct = own(value, path)
  if (direct !== undefined || !/[.[]/.test(path)) return direct
  return path.split(/[.[\]]+/).filter((key) => key !== "").reduce<unknown>(own, value)
}

export const text = (value: unknown, depth = 20): string =>
  Array.isArray(value)
    ? depth === 0 ? "" : value.map((item) => Predicate.isNullish(item) ? "" : text(item, depth - 1)).join(",")
    : obj(value) !== undefined
    ? "[object Object]"
    : String(value)

/** Whether n8n treats the value as an expression. */
export const isExpression = (value: unknown): value is string => Predicate.isString(value) && value.startsWith("=")

/** Maximum length of a text that a pattern is tried on. */
const longest = 2_000

/** Whether a text matches a regular expression of a node type; `undefined` for an invalid pattern or a long text. */
export const matches = (pattern: string, text: string): boolean | undefined => {
  if (text.length > longest) return undefined
  try {
    return new RegExp(pattern).test(text)
  } catch {
    return undefined
  }
}

const valuesOf = (name: string, scope: Scope): ReadonlyArray<unknown> => {
  if (name === "@version") return [scope.version]
  if (name === "@tool") return [scope.isTool]
  if (name === "@feature") return []
  const parameter = name.startsWith("/") ? at(scope.root, name.slice(1)) : at(scope.values, name)
  const value = own(parameter, "__rl") ? own(parameter, "value") : parameter
  return Array.isArray(value) ? value : [value]
}

type Comparable = string | number

const comparable = (value: unknown): Comparable => Predicate.isObjectOrArray(value) ? text(value) : value as Comparable

const operators: Record<string, (value: unknown, target: unknown) => boolean> = {
  eq: equals,
  not: (value, target) => !equals(value, target),
  gte: (value, target) => comparable(value) >= comparable(target),
  lte: (value, target) => comparable(value) <= comparable(target),
  gt: (value, target) => comparable(value) > comparable(target),
  lt: (value, target) => comparable(value) < comparable(target),
  between: (value, target) =>
    comparable(value) >= comparable(own(target, "from")) && comparable(value) <= comparable(own(target, "to")),
  includes: (value, target) => Predicate.isString(value) && value.includes(text(target)),
  startsWith: (value, target) => Predicate.isString(value) && value.startsWith(text(target)),
  endsWith: (value, target) => Predicate.isString(value) && value.endsWith(text(target)),
  regex: (value, target) => Predicate.isString(value) && matches(text(target), value) === true,
  exists: (value) => !Predicate.isNullish(value) && value !== ""
}

/** Whether one of the conditions (values, or `{_cnd: {gte: 2}}`) is met; a `_cnd` must be met by all values. */
const isMet = (conditions: ReadonlyArray<unknown>, values: ReadonlyArray<unknown>): boolean =>
  conditions.some((condition) => {
    const rule = obj(own(condition, "_cnd"))
    if (rule === undefined || Object.keys(condition as Obj).length !== 1) return values.includes(condition)
    const [key = "", target] = Object.entries(rule)[0] ?? []
    if (values.length === 0) return key === "not"
    const operator = Object.hasOwn(operators, key) ? operators[key] : undefined
    return operator !== undefined && values.every((value) => operator(value, target))
  })

/**
 * Whether n8n shows an element with these display options.
 *
 * **Gotchas**
 *
 * Expressions are not evaluated: if `show` depends on one, the parameter is shown, whatever the other rules are.
 */
export const isShown = (options: DisplayOptions | undefined, scope: Scope): boolean => {
  for (const [name, conditions] of Object.entries(options?.show ?? {})) {
    const values = valuesOf(name, scope)
    if (values.some(isExpression)) return true
    if (!isMet(arr(conditions), values)) return false
  }
  return Object.entries(options?.hide ?? {}).every(([name, conditions]) => {
    const values = valuesOf(name, scope)
    return values.length === 0 || !isMet(arr(conditions), values)
  })
}
