/**
 * Expected values and real ones. Pure.
 *
 * **Details**
 *
 * Of an object the keys that are expected are compared and no others; a list has to be as long as expected. The text
 * `*` stands for any value that is there, `/regular expression/` (with the flags `i`, `m`, `s` and `u`) for a text that
 * it matches, and a text that begins with a backslash for what follows that, as it is.
 */
import { arr, obj, own } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"
import { marker } from "../../base/Redact.ts"

/** A value, and as it may be shown: without secrets. */
export interface Seen {
  readonly value: unknown
  readonly shown: unknown
}

/** One place where the real value is not as expected, without secrets; `undefined` is a value that is not there. */
export interface Difference {
  /** Where in the case: `expect.nodes.Sum.items[0].total`. */
  readonly path: string
  readonly expected: unknown
  /** Of an object or list only what the expectation is about. */
  readonly actual: unknown
}

const any = "*"

const patternParts = /^\/(.+)\/([imsu]*)$/s

/** The regular expression that an expected text is, if it is one; throws a SyntaxError where it is a wrong one. */
export const pattern = (text: string): RegExp | undefined => {
  const [, source, flags] = patternParts.exec(text) ?? []
  return source === undefined ? undefined : new RegExp(source, flags)
}

const matchesText = (expected: string, actual: unknown): boolean => {
  if (expected === any) return actual !== undefined
  if (expected.startsWith("\\")) return actual === expected.slice(1)
  const regExp = pattern(expected)
  return regExp === undefined ? actual === expected : typeof actual === "string" && regExp.test(actual)
}

/** What an expectation holds for exactly this text. */
const asExpected = (text: string): string =>
  text === any || text.startsWith("\\") || patternParts.test(text) ? `\\${text}` : text

const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

/** The part under a key; one whose key is itself a secret is shown as such. */
export const at = ({ shown, value }: Seen, key: string | number): Seen => {
  const inner = own(value, key)
  const isAbsent = inner === undefined || inner === null
  return { value: inner, shown: isAbsent ? inner : own(shown, key) ?? marker }
}

/** Whether the value is as expected. */
export const matches = (expected: unknown, actual: unknown): boolean => {
  if (typeof expected === "string") return matchesText(expected, actual)
  if (isList(expected)) {
    return isList(actual) && actual.length === expected.length &&
      expected.every((each, index) => matches(each, actual[index]))
  }
  const members = obj(expected)
  if (members === undefined) return expected === actual
  return obj(actual) !== undefined &&
    Object.entries(members).every(([key, each]) => matches(each, own(actual, key)))
}

/** What an expectation of exactly this value holds; what is not shown as it is, such as a secret, may be any value. */
export const exactly = (actual: Seen): unknown => {
  const { shown, value } = actual
  if (typeof value === "string") return shown === value ? asExpected(value) : any
  if (typeof value === "number") return shown === value ? value : any
  if (isList(value)) return value.map((_, index) => exactly(at(actual, index)))
  const members = obj(value)
  if (members === undefined) return value
  const keys = Object.keys(members).filter((key) => Object.hasOwn(obj(shown) ?? members, key))
  return Object.fromEntries(keys.map((key) => [key, exactly(at(actual, key))]))
}

/**
 * The expectation, changed so that it holds: what holds already stays as it is, wildcards included, and nothing is
 * expected of keys of which nothing was; a key that is not there goes.
 */
export const updated = (expected: unknown, actual: Seen): unknown => {
  const { value } = actual
  if (matches(expected, value)) return expected
  if (isList(expected) && isList(value)) {
    return value.map((_, index) =>
      index < expected.length ? updated(expected[index], at(actual, index)) : exactly(at(actual, index))
    )
  }
  const members = obj(expected)
  if (members === undefined || obj(value) === undefined) return exactly(actual)
  const keys = Object.keys(members).filter((key) => own(value, key) !== undefined)
  return Object.fromEntries(keys.map((key) => [key, updated(members[key], at(actual, key))]))
}

/** The value as far as the expectation is about it. */
const concerned = (expected: unknown, actual: Seen): unknown => {
  const { shown, value } = actual
  if (isList(expected) && isList(value)) {
    return value.map((_, index) =>
      index < expected.length ? concerned(expected[index], at(actual, index)) : arr(shown)[index]
    )
  }
  const members = obj(expected)
  if (members === undefined || obj(value) === undefined) return shown
  const keys = Object.keys(members).filter((key) => own(value, key) !== undefined)
  return Object.fromEntries(keys.map((key) => [key, concerned(members[key], at(actual, key))]))
}

const keysOf = (expected: unknown, actual: unknown): ReadonlyArray<string | number> | undefined => {
  if (isList(expected)) return isList(actual) && actual.length === expected.length ? [...expected.keys()] : undefined
  const members = obj(expected)
  return members === undefined || obj(actual) === undefined ? undefined : Object.keys(members)
}

/** Every place where the value is not as expected. */
export const differences = (expected: Seen, actual: Seen, path: string): ReadonlyArray<Difference> => {
  if (matches(expected.value, actual.value)) return []
  const keys = keysOf(expected.value, actual.value)
  return keys === undefined
    ? [{ path, expected: expected.shown, actual: concerned(expected.value, actual) }]
    : keys.flatMap((key) =>
      differences(at(expected, key), at(actual, key), typeof key === "number" ? `${path}[${key}]` : member(path, key))
    )
}

/** The faults in what is expected: regular expressions that are none. */
export const faults = (
  expected: unknown,
  path: string
): ReadonlyArray<{ readonly path: string; readonly message: string }> => {
  if (typeof expected === "string") {
    try {
      pattern(expected)
      return []
    } catch (error) {
      return [{
        path,
        message: `${(error as Error).message}; a text that only looks like one is written with a backslash before it`
      }]
    }
  }
  if (isList(expected)) return expected.flatMap((each, index) => faults(each, `${path}[${index}]`))
  return Object.entries(obj(expected) ?? {}).flatMap(([key, each]) => faults(each, member(path, key)))
}
