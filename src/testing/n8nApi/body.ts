/** Validators for request bodies: they return the first error, in the wording of each n8n version. */
import type { Major } from "./refusal.ts"

export type Check = (value: unknown, path: string, version: Major) => string | undefined

/**
 * Valid values: a kind (`text`, `readOnly text`, `nullable text`), alternatives (`a|b`), a list, an object by fields, or
 * a check. The key of a field ends in `!` if the field is required, in `@2` if 1.x lacks it; `...` admits other fields.
 */
export type Shape = string | Check | ReadonlyArray<Shape> | { readonly [field: string]: Shape }

export const kindOf = (value: unknown) => value === null ? "null" : Array.isArray(value) ? "array" : typeof value

const is = (kind: string): Check => (value, path, version) => {
  if (kindOf(value) === kind) return undefined
  return version === "2" ? `${path} Expected ${kind}, received ${kindOf(value)}` : `${path} must be ${kind}`
}

const kinds: { readonly [kind: string]: Check } = {
  text: is("string"),
  number: is("number"),
  flag: is("boolean"),
  record: is("object"),
  any: () => undefined
}

const oneOf = (values: ReadonlyArray<string>): Check => (value, path, version) => {
  if (typeof value === "string" && values.includes(value)) return undefined
  if (version === "1") {
    return is("string")(value, path, version) ??
      `${path} must be equal to one of the allowed values: ${values.join(", ")}`
  }
  const expected = values.map((each) => `'${each}'`).join(" | ")
  return typeof value === "string"
    ? `${path} Invalid enum value. Expected ${expected}, received '${value}'`
    : `${path} Expected ${expected}, received ${kindOf(value)}`
}

/** Refuses a read-only field; 1.x checks simple types first, and has another message for null without a type. */
const readOnly = (check: Check | undefined): Check => (value, path, version) => {
  if (version === "2") return `${path} is read-only`
  if (check === undefined && value === null) return `${path} must pass "readOnly" keyword validation`
  return check?.(value, path, version) ?? `${path} is read-only`
}

const ofWords = (words: string): Check | undefined => {
  const [modifier, kind = ""] = words.split(" ")
  if (words.includes("|")) return oneOf(words.split("|"))
  if (modifier === "readOnly") return readOnly(kinds[kind])
  return modifier === "nullable"
    ? (value, ...where) => value === null ? undefined : kinds[kind]?.(value, ...where)
    : kinds[words]
}

const firstOf = (problems: ReadonlyArray<string | undefined>) => problems.find((problem) => problem !== undefined)

/** Accepts an object. 2.x checks fields in order, then unknown keys; 1.x missing fields, unknown keys, then values. */
const fields = ({ "...": others, ...shapes }: { readonly [field: string]: Shape }): Check => {
  const all = Object.entries(shapes).map(([field, shape]) => {
    const [name = "", version] = field.split("@")
    const isRequired = name.endsWith("!")
    // On 2.x a check judges a missing value too.
    return { key: name.replace("!", ""), version, isRequired, check: of(shape), isChecked: typeof shape === "function" }
  })
  return (value, path, version) => {
    if (kindOf(value) !== "object") return is("object")(value, path, version)
    const input = value as Readonly<Record<string, unknown>>
    const known = all.filter((field) => field.version === undefined || field.version === version)
    const unknown = Object.keys(input).filter((name) => others === undefined && !known.some(({ key }) => key === name))
    const missing = known.map(({ isRequired, key }) =>
      isRequired && input[key] === undefined ? `${path} must have required property '${key}'` : undefined
    )
    const wrong = known.map(({ check, isChecked, isRequired, key }, index) =>
      input[key] !== undefined || isRequired && isChecked && version === "2"
        ? check(input[key], `${path}/${key}`, version)
        : missing[index]
    )
    const unknownKeyFault = unknown.length === 0
      ? undefined
      : version === "2"
      ? `${path} Unrecognized key(s) in object: ${unknown.map((key) => `'${key}'`).join(", ")}`
      : `${path} must NOT have additional properties`
    return firstOf(version === "2" ? [...wrong, unknownKeyFault] : [...missing, unknownKeyFault, ...wrong])
  }
}

const isList = (shape: Shape): shape is ReadonlyArray<Shape> => Array.isArray(shape)

/** Check of a shape. */
export const of = (shape: Shape): Check => {
  if (typeof shape === "function") return shape
  if (typeof shape === "string") return ofWords(shape) ?? of("any")
  if (!isList(shape)) return fields(shape)
  const [item = "any"] = shape
  const check = of(item)
  return (value, path, version) =>
    Array.isArray(value)
      ? firstOf(value.map((each, index) => check(each, `${path}/${index}`, version)))
      : is("array")(value, path, version)
}

/** Check in the words of 1.x, which some endpoints of 2.x still have. */
export const strict = (shape: Shape): Check => {
  const check = of(shape)
  return (value, path) => check(value, path, "1")
}
