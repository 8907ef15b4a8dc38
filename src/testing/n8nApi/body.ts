/** The grammar of what the API takes as a body: one fault an answer, in the words of each n8n. */
import type { Major } from "./refusal.ts"

/** Says what is wrong with a value; nothing when all is well. */
export type Check = (value: unknown, path: string, version: Major) => string | undefined

interface Field {
  readonly check: Check
  /** `"checked"`: 2.x does not look whether it is there, but what it is. */
  readonly required?: true | "checked"
  readonly in?: Major
}

/** The kind of a JSON value. */
export const kindOf = (value: unknown) => value === null ? "null" : Array.isArray(value) ? "array" : typeof value

const is = (kind: string): Check => (value, path, version) => {
  if (kindOf(value) === kind) return undefined
  return version === "2" ? `${path} Expected ${kind}, received ${kindOf(value)}` : `${path} must be ${kind}`
}

export const text = is("string")
export const number = is("number")
export const flag = is("boolean")
export const record = is("object")

/** One of these texts. */
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

/** A list of such items. */
export const listOf = (item: Check): Check => (value, path, version) => {
  if (!Array.isArray(value)) return is("array")(value, path, version)
  return firstOf(value.map((each, index) => item(each, `${path}/${index}`, version)))
}

/** The same, or null. */
export const nullable = (check: Check): Check => (value, ...where) =>
  value === null ? undefined : check(value, ...where)

/** 1.x looks at the type first where it is a simple one, and is at a loss for words when another is null. */
export const readOnly = (check?: Check): Check => (value, path, version) => {
  if (version === "2") return `${path} is read-only`
  if (check === undefined && value === null) return `${path} must pass "readOnly" keyword validation`
  return check?.(value, path, version) ?? `${path} is read-only`
}

const firstOf = (problems: ReadonlyArray<string | undefined>) => problems.find((problem) => problem !== undefined)

/** n8n 2 looks at the fields in its own order and at unknown keys last; n8n 1 at what lacks, what is unknown, the rest. */
export const fields = (all: Readonly<Record<string, Field>>, isOpen = false): Check => (value, path, version) => {
  if (kindOf(value) !== "object") return record(value, path, version)
  const given = value as Readonly<Record<string, unknown>>
  const known = Object.entries(all).filter(([, field]) => field.in === undefined || field.in === version)
  const unknown = isOpen ? [] : Object.keys(given).filter((key) => !known.some(([name]) => name === key))
  const missing = known.map(([key, { required }]) =>
    required !== undefined && given[key] === undefined ? `${path} must have required property '${key}'` : undefined
  )
  const wrong = known.map(([key, { check, required }], index) => {
    const isChecked = given[key] !== undefined || (required === "checked" && version === "2")
    return isChecked ? check(given[key], `${path}/${key}`, version) : missing[index]
  })
  const strange = unknown.length === 0
    ? undefined
    : version === "2"
    ? `${path} Unrecognized key(s) in object: ${unknown.map((key) => `'${key}'`).join(", ")}`
    : `${path} must NOT have additional properties`
  return firstOf(version === "2" ? [...wrong, strange] : [...missing, strange, ...wrong])
}

/** Fields that may be missing. */
export const optional = (checks: Readonly<Record<string, Check>>, version?: Major): Readonly<Record<string, Field>> =>
  Object.fromEntries(
    Object.entries(checks).map(([key, check]) => [key, { check, ...(version !== undefined && { in: version }) }])
  )

/** When something was made and changed, which n8n alone says. */
export const stamps = { createdAt: readOnly(text), updatedAt: readOnly(text) }
