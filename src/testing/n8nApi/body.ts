/** Validators for request bodies: they return the first error, in the wording of each n8n version. */
import type { Major } from "./refusal.ts"

export type Check = (value: unknown, path: string, version: Major) => string | undefined

interface Field {
  readonly check: Check
  /** With `"checked"`, 2.x validates the value instead of checking that the key is present. */
  readonly required?: true | "checked"
  readonly in?: Major
}

export const kindOf = (value: unknown) => value === null ? "null" : Array.isArray(value) ? "array" : typeof value

const is = (kind: string): Check => (value, path, version) => {
  if (kindOf(value) === kind) return undefined
  return version === "2" ? `${path} Expected ${kind}, received ${kindOf(value)}` : `${path} must be ${kind}`
}

export const text = is("string")
export const number = is("number")
export const flag = is("boolean")
export const record = is("object")

export const oneOf = (...values: ReadonlyArray<string>): Check => (value, path, version) => {
  if (typeof value === "string" && values.includes(value)) return undefined
  if (version === "1") {
    const allowed = `${path} must be equal to one of the allowed values: ${values.join(", ")}`
    return text(value, path, version) ?? allowed
  }
  const expected = values.map((each) => `'${each}'`).join(" | ")
  return typeof value === "string"
    ? `${path} Invalid enum value. Expected ${expected}, received '${value}'`
    : `${path} Expected ${expected}, received ${kindOf(value)}`
}

export const listOf = (item: Check): Check => (value, path, version) => {
  if (!Array.isArray(value)) return is("array")(value, path, version)
  return firstOf(value.map((each, index) => item(each, `${path}/${index}`, version)))
}

export const nullable = (check: Check): Check => (value, ...where) =>
  value === null ? undefined : check(value, ...where)

/** Refuses a read-only field; 1.x checks simple types first, and has another message for null without a type. */
export const readOnly = (check?: Check): Check => (value, path, version) => {
  if (version === "2") return `${path} is read-only`
  if (check === undefined && value === null) return `${path} must pass "readOnly" keyword validation`
  return check?.(value, path, version) ?? `${path} is read-only`
}

const firstOf = (problems: ReadonlyArray<string | undefined>) => problems.find((problem) => problem !== undefined)

/** Accepts an object. 2.x checks fields in order, then unknown keys; 1.x missing fields, unknown keys, then values. */
export const fields = (all: Readonly<Record<string, Field>>, isOpen = false): Check => (value, path, version) => {
  if (kindOf(value) !== "object") return record(value, path, version)
  const input = value as Readonly<Record<string, unknown>>
  const known = Object.entries(all).filter(([, field]) => field.in === undefined || field.in === version)
  const unknown = isOpen ? [] : Object.keys(input).filter((key) => !known.some(([name]) => name === key))
  const missing = known.map(([key, { required }]) =>
    required !== undefined && input[key] === undefined ? `${path} must have required property '${key}'` : undefined
  )
  const wrong = known.map(([key, { check, required }], index) => {
    const isChecked = input[key] !== undefined || (required === "checked" && version === "2")
    return isChecked ? check(input[key], `${path}/${key}`, version) : missing[index]
  })
  const unknownKeyFault = unknown.length === 0
    ? undefined
    : version === "2"
    ? `${path} Unrecognized key(s) in object: ${unknown.map((key) => `'${key}'`).join(", ")}`
    : `${path} must NOT have additional properties`
  return firstOf(version === "2" ? [...wrong, unknownKeyFault] : [...missing, unknownKeyFault, ...wrong])
}

export const required = (checks: Readonly<Record<string, Check>>): Readonly<Record<string, Field>> =>
  Object.fromEntries(Object.entries(checks).map(([key, check]) => [key, { check, required: true }]))

export const optional = (checks: Readonly<Record<string, Check>>, version?: Major): Readonly<Record<string, Field>> =>
  Object.fromEntries(
    Object.entries(checks).map(([key, check]) => [key, { check, ...(version !== undefined && { in: version }) }])
  )

export const timestamps = { createdAt: readOnly(text), updatedAt: readOnly(text) }

/** Check in the words of 1.x, which some endpoints of 2.x still have. */
export const strict = (check: Check): Check => (value, path) => check(value, path, "1")
