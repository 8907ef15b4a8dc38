/**
 * Expected and actual values. Pure.
 *
 * Only the expected keys of an object are compared; a list must be as long as expected. The text `*` matches any
 * existing value, `/regular expression/` (with the flags `i`, `m`, `s` and `u`) a text, and a text that begins with a
 * backslash the rest of it literally.
 */
import { arr, obj, own } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"
import { marker } from "../../base/Redact.ts"

/** Value, and its form without secrets. */
export interface Seen {
  readonly value: unknown
  readonly shown: unknown
}

/** Place where the actual value is not as expected, without secrets; `undefined` is a missing value. */
export interface Difference {
  /** Path in the case: `expect.nodes.Sum.items[0].total`. */
  readonly path: string
  readonly expected: unknown
  /** Of an object or list, only the part that is expected. */
  readonly actual: unknown
}

const any = "*"

const patternParts = /^\/(.+)\/([imsu]*)$/s

/** Regular expression of an expected text, if it is one; throws a SyntaxError if it is invalid. */
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

/** Expectation of exactly this text. */
const asExpected = (text: string): string =>
  text === any || text.startsWith("\\") || patternParts.test(text) ? `\\${text}` : text

const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

/** Part under a key; if the key itself is a secret, the part is shown as one. */
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

/** Expectation of exactly this value; parts that are not shown, such as secrets, may have any value. */
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
 * Expectation changed so that the value meets it: parts that are met stay, including wildcards; keys that are not
 * expected are not added, and missing keys are removed.
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

/** Part of the value that the expectation covers. */
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

/** Places where the value is not as expected. */
export const differences = (expected: Seen, actual: Seen, path: string): ReadonlyArray<Difference> => {
  if (matches(expected.value, actual.value)) return []
  const keys = keysOf(expected.value, actual.value)
  return keys === undefined
    ? [{ path, expected: expected.shown, actual: concerned(expected.value, actual) }]
    : keys.flatMap((key) => differences(at(expected, key), at(actual, key), member(path, key)))
}

/** Faults in an expectation: invalid regular expressions. */
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
        message: `${(error as Error).message}; put a backslash before a text that only looks like a regular expression`
      }]
    }
  }
  if (isList(expected)) return expected.flatMap((each, index) => faults(each, member(path, index)))
  return Object.entries(obj(expected) ?? {}).flatMap(([key, each]) => faults(each, member(path, key)))
}
