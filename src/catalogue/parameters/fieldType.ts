/** Types of values (`validateType`, fields of resource mappers, filters), and the values that n8n accepts for them. */
import * as Predicate from "effect/Predicate"
import { arr, type Obj, obj, own, str } from "../../base/Json.ts"
import { text } from "./ParameterValues.ts"

export interface Options {
  /** Whether the value must have the type without conversion. */
  readonly isStrict?: boolean
  readonly choices?: ReadonlyArray<unknown>
}

const number = (value: unknown): number => Number(Predicate.isObjectOrArray(value) ? text(value) : value)

const isBoolean = (value: unknown): boolean =>
  Predicate.isBoolean(value) ||
  (Predicate.isString(value) && /^(?:true|false)$/i.test(value)) ||
  (!(Predicate.isString(value) && value.trim() === "") && [0, 1].includes(number(value)))

/** Dates that n8n accepts beyond `Date.parse`: weeks, days of the year, the basic format, times. */
const otherDates = [
  /^\d{4}-?W(?:0[1-9]|[1-4]\d|5[0-3])(?:-?[1-7])?(?:T.*)?$/,
  /^\d{4}-?(?:00[1-9]|0[1-9]\d|[12]\d\d|3[0-5]\d|36[0-6])(?:T.*)?$/,
  /^\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])?(?:T.*)?$/,
  /^(?:[01]\d|2[0-4])(?::?[0-5]\d(?::?[0-5]\d(?:[.,]\d{1,30})?)?)?(?: ?Z| ?[+-]\d\d(?::?\d\d)?)?$/,
  /^\d{4}-\d\d-\d\d[ T]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d{1,30})?)?)?(?: ?Z| ?[+-]\d\d(?::?\d\d)?)?$/
]

const isDateTime = (value: unknown): boolean => {
  const date = text(value).trim()
  return !Number.isNaN(Date.parse(date)) || otherDates.some((pattern) => pattern.test(date))
}

const literal =
  /"(?:[^"\\]|\\[^])*"|'((?:[^'\\]|\\[^])*)'|\/\/[^\n]*|\/\*[^]*?\*\/|([A-Za-z_$][\w$]*)(\s*:)?|,(?=\s*[}\]])|(\d+)(?=\s*:)/g

/** JSON of a JavaScript literal with unquoted names, single quotes, comments and trailing commas. */
const asJson = (source: string): string =>
  source.replace(
    literal,
    (whole, single: string | undefined, word: string | undefined, colon, digits) =>
      single !== undefined
        ? JSON.stringify(single.replace(/\\(['\n])/g, "$1"))
        : word !== undefined && colon !== undefined
        ? `"${word}"${colon}`
        : word !== undefined
        ? /^(?:true|false|null)$/.test(word) ? word : "null"
        : digits !== undefined
        ? `"${digits}"`
        : whole.startsWith("\"")
        ? whole
        : ""
  )

const parsed = (source: string): unknown => {
  try {
    return JSON.parse(source)
  } catch {
    return undefined
  }
}

/** Value of JSON or of a JavaScript object literal of limited length; otherwise `undefined`. */
const read = (value: unknown): unknown => {
  const source = text(value)
  const json = parsed(source)
  if (json !== undefined || !source.trim().startsWith("{")) return json
  return source.length > 10_000 ? {} : parsed(asJson(source))
}

const isUrl = (value: unknown): boolean => {
  const url = Predicate.isString(value) && !value.includes("://") ? `https://${value}` : text(value)
  return URL.canParse(url) && ["http:", "https:", "ftp:", "file:"].includes(new URL(url).protocol)
}

const formKeys = new Set(
  ("fieldLabel fieldType placeholder defaultValue fieldOptions multiselect multipleFiles acceptFileTypes formatDate " +
    "requiredField fieldValue elementName html fieldName limitSelection numberOfSelections minSelections maxSelections")
    .split(" ")
)
const formTypes = "date dropdown email file number password text textarea checkbox radio html hiddenField".split(" ")

const isChoice = (value: unknown): boolean =>
  Object.keys(obj(value) ?? {}).length === 1 && str(own(value, "option")) !== undefined

const isFormField = (field: unknown): boolean =>
  Object.entries(obj(field) ?? { "": field }).every(([key, value]) =>
    formKeys.has(key) &&
    (key !== "fieldType" || formTypes.includes(text(value))) &&
    (key !== "fieldOptions" || arr(own(value, "values") ?? value).every(isChoice) &&
        Array.isArray(Array.isArray(value) ? value : own(value, "values")))
  )

const isFormFields = (value: unknown): boolean => {
  const fields = read(value)
  return Array.isArray(fields) && fields.every(isFormField)
}

const isList = (value: unknown): boolean =>
  Array.isArray(value) || [text(value), text(value).replaceAll("'", "\"")].some((json) => Array.isArray(parsed(json)))

const isObject = (value: unknown): boolean => {
  if (obj(value) !== undefined) return true
  const json = read(value)
  return json === null || obj(json) !== undefined
}

interface Type {
  readonly words: string
  readonly accepts: (value: unknown, options: Options) => boolean
}

const types: Record<string, Type> = {
  string: { words: "a string", accepts: (value, { isStrict = false }) => !isStrict || Predicate.isString(value) },
  "string-alphanumeric": {
    words: "letters, digits and underscores, and not begin with a digit",
    accepts: (value) => /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(Array.isArray(value) ? "" : text(value))
  },
  number: {
    words: "a number",
    accepts: (value, { isStrict = false }) => isStrict ? Predicate.isNumber(value) : !Number.isNaN(number(value))
  },
  boolean: {
    words: "true or false",
    accepts: (value, { isStrict = false }) => isStrict ? Predicate.isBoolean(value) : isBoolean(value)
  },
  datetime: { words: "a date and time such as 2025-01-31T09:00:00Z", accepts: isDateTime },
  time: {
    words: "a time such as 09:30 or 09:30:00",
    accepts: (value) => /^\d{2}:\d{2}(?::\d{2})?(?:[-+]\d{4})?(?:[-+]\d{1,2}(?::\d{2})?)?$/.test(text(value))
  },
  binary: {
    words: "an object with 'mimeType' and 'data' or 'id'",
    accepts: (value) =>
      Object.hasOwn(obj(value) ?? {}, "mimeType") && ["data", "id"].some((key) => key in (value as Obj))
  },
  object: {
    words: "a JSON object",
    accepts: (value, { isStrict = false }) => (!isStrict || Predicate.isObjectOrArray(value)) && isObject(value)
  },
  array: {
    words: "a JSON array",
    accepts: (value, { isStrict = false }) => isStrict ? Array.isArray(value) : isList(value)
  },
  options: { words: "one of its options", accepts: (value, { choices = [] }) => choices.includes(value) },
  url: { words: "a URL", accepts: isUrl },
  jwt: {
    words: "a JSON Web Token",
    accepts: (value) => Boolean(value) && /^[A-Za-z0-9-_]+\.[A-Za-z0-9-_]+\.[A-Za-z0-9-_.+/=]*$/.test(text(value))
  },
  "form-fields": {
    words: `a JSON array of objects with the keys ${[...formKeys].join(", ")}; fieldType is one of ${
      formTypes.join(", ")
    }`,
    accepts: isFormFields
  }
}

const typeOf = (type: string): Type | undefined => {
  const name = type.toLowerCase()
  return Object.hasOwn(types, name) ? types[name] : undefined
}

/** Whether n8n accepts the value for the type; it accepts null, absence, and any value for an unknown type. */
export const fits = (value: unknown, type: string, options: Options = {}): boolean =>
  Predicate.isNullish(value) || (typeOf(type)?.accepts(value, options) ?? true)

export const words = (type: string): string => typeOf(type)?.words ?? `a value of type ${type}`
