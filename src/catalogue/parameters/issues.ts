/** Issues of parameters because of which n8n refuses to run or publish the workflow. */
import * as Predicate from "effect/Predicate"
import { arr, num, type Obj, obj, own, str } from "../../base/Json.ts"
import { member, print } from "../../base/JsonPath.ts"
import type * as Problem from "../../base/Problem.ts"
import { choices, type Description, type Group, groups, members, type Mode, type Property } from "../types/NodeType.ts"
import { plain } from "../types/ParameterView.ts"
import { at, isShown, matches, type Node, type Scope, scopeOf, text } from "./ParameterValues.ts"

interface Options {
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
const readJson = (value: unknown): unknown => {
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
  const fields = readJson(value)
  return Array.isArray(fields) && fields.every(isFormField)
}

const isList = (value: unknown): boolean =>
  Array.isArray(value) || [text(value), text(value).replaceAll("'", "\"")].some((json) => Array.isArray(parsed(json)))

const isObject = (value: unknown): boolean => {
  if (obj(value) !== undefined) return true
  const json = readJson(value)
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

const typeNamed = (type: string): Type | undefined => {
  const name = type.toLowerCase()
  return Object.hasOwn(types, name) ? types[name] : undefined
}

/** Whether n8n accepts the value for the type; it accepts null, absence, and any value for an unknown type. */
export const fits = (value: unknown, type: string, options: Options = {}): boolean =>
  Predicate.isNullish(value) || (typeNamed(type)?.accepts(value, options) ?? true)

export const typeInWords = (type: string): string => typeNamed(type)?.words ?? `a value of type ${type}`

/** Problem at a path below the node's `parameters`. */
export interface Remark extends Pick<Problem.Problem, "severity" | "path" | "message" | "fix"> {
  /** Present if n8n reads the value otherwise than it was meant, because of its shape. */
  readonly shape?: {
    /** Value of the right shape, if only one can be meant. */
    readonly repaired?: unknown
    /** Whether n8n cannot open the node. */
    readonly isUnreadable?: boolean
  }
}

/** Error of n8n, with the name under which n8n lists it. */
interface Issue extends Remark {
  readonly name: string
}

/** Suggestion for an invalid name or value: the nearest candidates, or the first ones. */
export type Suggest = (name: string, candidates: Iterable<string>) => string

export const inWords = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : `an array of ${value.length}`
  const keys = Object.keys(obj(value) ?? {})
  if (obj(value) !== undefined) {
    return keys.length === 0
      ? "an empty object"
      : `an object with ${keys.slice(0, 5).map((key) => key.slice(0, 40)).join(", ")}`
  }
  const string = str(value)
  if (string === undefined) return String(value)
  return string.length > 60 ? `'${string.slice(0, 60)}…'` : `'${string}'`
}

interface Place {
  readonly scope: Scope
  /** Place for items of the node's own fixed collections, where n8n looks for members of a collection beside it. */
  readonly kind: "root" | "item" | "nowhere"
  readonly path: string
}

/** Types whose values name a resource. */
export const locators = new Set(["resourceLocator", "workflowSelector", "agentSelector"])

const isFilled = (value: unknown): boolean => {
  const inner = obj(value) === undefined && !Array.isArray(value) ? value : own(value, "value")
  return typeof inner === "number" && inner !== value || Boolean(inner)
}

/** Whether n8n treats the value as missing where one is required. */
export const isMissing = ({ type }: Property, value: unknown): boolean =>
  type === "string" || type === "dateTime" || type === "options"
    ? value === "" || value === undefined
    : type === "multiOptions"
    ? Array.isArray(value) && value.length === 0
    : locators.has(type) && !isFilled(value)

const needed = (property: Property, suggest: Suggest): string => {
  const { description, hint, modes = [], name, placeholder, type } = property
  const values = choices(property).map(({ value }) => String(value))
  if (values.length > 0) return `Set '${name}'. ${suggest("", values)}`
  if (locators.has(type)) {
    const names = modes.map((mode) => mode.name).join(" | ")
    return `Set '${name}' to {__rl: true, mode: ${names === "" ? "…" : names}, value: …}.`
  }
  const example = placeholder === undefined || placeholder === "" ? "" : `, such as '${placeholder}'`
  const more = plain(hint ?? description, 150)
  return `Set '${name}'${example}${more === undefined ? "" : ` (${more})`}.`
}

const required = (property: Property, value: unknown, suggest: Suggest): ReadonlyArray<Finding> => {
  if (property.required !== true) return []
  const isList = property.typeOptions?.["multipleValues"] !== undefined
  const missing = isList ? arr(value).findIndex((one) => isMissing(property, one)) : isMissing(property, value) ? 0 : -1
  if (missing < 0) return []
  const message = `'${property.displayName}' (${property.name}) is required and is ${
    value === undefined ? "not set" : "empty"
  }.`
  return [{ message, fix: needed(property, suggest), at: isList ? [missing] : [] }]
}

interface Finding {
  readonly message: string
  readonly fix?: string
  readonly at?: ReadonlyArray<string | number>
  readonly name?: string
}

const invalidIn = ({ validation = [] }: Mode, value: string): ReadonlyArray<string> =>
  validation.flatMap(({ properties, type }) =>
    type === "regex" && properties?.regex !== undefined && matches(`^${properties.regex}$`, value) === false
      ? [`${properties.errorMessage ?? "It is not valid"}: it must match ${properties.regex.slice(0, 200)}`]
      : []
  )

const locator = ({ modes = [], name }: Property, value: unknown): ReadonlyArray<Finding> => {
  const object = obj(value)
  const mode = object && "value" in object ? modes.find((one) => one.name === object["mode"]) : undefined
  if (object === undefined || mode === undefined) return []
  const inner = text(object["value"] ?? "")
  if (inner.startsWith("=")) return []
  const example = mode.placeholder === undefined ? "" : `, such as '${mode.placeholder}'`
  const others = modes.filter((one) => one !== mode).map((one) => `'${one.name}'`).join(", ")
  return invalidIn(mode, inner).map((why) => ({
    message: `'${name}' is ${inWords(inner)} in mode '${mode.name}'. ${why}.`,
    fix: `Give a value for the mode '${mode.name}'${example}${
      others === "" ? "" : `, or use another mode: ${others}`
    }.`,
    at: ["value"]
  }))
}

const mapper = (property: Property, value: unknown): ReadonlyArray<Finding> => {
  const object = obj(value)
  if (object === undefined || object["mappingMode"] === "autoMapInputData") return []
  if (!["mappingMode", "schema", "value"].every((key) => Object.hasOwn(object, key))) return []
  const values = object["value"]
  const isAdding = own(property.typeOptions?.["resourceMapper"], "mode") === "add"
  return arr(object["schema"]).flatMap((field): ReadonlyArray<Finding> => {
    const id = text(own(field, "id"))
    const type = str(own(field, "type")) ?? ""
    const one = values ? own(values, id) : null
    const where = { at: ["value", id], name: id }
    if (isAdding && own(field, "required") && (values === null || one === undefined)) {
      return [{
        ...where,
        message: `'${id}' is required in '${property.name}' and is not set.`,
        fix: `Set it in 'value'.`
      }]
    }
    const options = arr(own(field, "options")).map((option) => own(option, "value"))
    if (text(one).startsWith("=") || fits(one, type, { choices: options })) return []
    const words = type === "options" ? `one of ${options.slice(0, 10).map(inWords).join(", ")}` : typeInWords(type)
    return [{
      ...where,
      message: `'${id}' is ${inWords(one)} and must be ${words}.`,
      fix: "Change it or give an expression."
    }]
  })
}

const typed = (property: Property, value: unknown): ReadonlyArray<Finding> => {
  const { name, validateType: type } = property
  const all = choices(property).map((choice) => choice.value)
  if (type === undefined || text(value).startsWith("=")) return []
  if (fits(value, type, { choices: type === "options" ? all : [] })) return []
  const words = type === "options" ? `one of ${all.slice(0, 10).map(inWords).join(", ")}` : typeInWords(type)
  const braces = text(value).includes("{{") ? " An expression must begin with '='." : ""
  return [{
    message: `'${name}' is ${inWords(value)} and must be ${words}.`,
    fix: `Change it or give an expression.${braces}`
  }]
}

const ofValue = (property: Property, value: unknown, shown: boolean): ReadonlyArray<Finding> =>
  shown && locators.has(property.type)
    ? locator(property, value)
    : shown && property.type === "resourceMapper"
    ? mapper(property, value)
    : shown && property.type === "filter"
    ? []
    : typed(property, value)

const count = ({ name, typeOptions }: Property, group: Group, value: unknown): ReadonlyArray<Finding> => {
  const { length } = arr(value)
  const least = num(typeOptions?.["minRequiredFields"]) ?? 0
  const most = num(typeOptions?.["maxAllowedFields"]) ?? Infinity
  return length >= least && (most === 0 || length <= most) ? [] : [{
    message: `'${name}.${group.name}' has ${length} items; n8n wants ${
      length < least ? `at least ${least}` : `at most ${most}`
    }.`,
    fix: `${length < least ? "Add" : "Remove"} items of '${print(["parameters", name, group.name])}'.`,
    at: [group.name]
  }]
}

const itemsOf = ({ name, typeOptions }: Property, { name: group }: Group, { kind, path, scope }: Place) => {
  if (kind !== "root") return []
  const value = own(own(scope.values, name), group)
  const root = name === "parameters" ? own(scope.values, name) : scope.root
  const place = (values: unknown, path: string): Place => ({ kind: "item", path, scope: { ...scope, values, root } })
  const at = print([name, group], path)
  if (value === undefined) return []
  if (typeOptions?.["multipleValues"] === undefined) return [place(value, at)]
  return arr(value).map((item, index) => place(item, member(at, index)))
}

const nowhere = (place: Place): Place => ({ ...place, kind: "nowhere", scope: { ...place.scope, values: undefined } })

const judge = (property: Property, place: Place, suggest: Suggest): ReadonlyArray<Issue> => {
  const { name, type } = property
  const shown = isShown(property.displayOptions, place.scope)
  const value = at(place.scope.values, name)
  const path = member(place.path, name)
  const issue = ({ at = [], fix, message, name: behind }: Finding): Issue => ({
    severity: "error",
    path: print(at, path),
    message,
    ...(fix === undefined ? {} : { fix }),
    name: behind === undefined ? name : `${name}.${behind}`
  })
  const direct = [...shown ? required(property, value, suggest) : [], ...ofValue(property, value, shown)].map(issue)
  if (type === "collection") {
    const inside = place.kind === "root" ? place : nowhere(place)
    return [...direct, ...members(property).flatMap((member) => judge(member, inside, suggest))]
  }
  if (type !== "fixedCollection" || !shown) return direct
  return [
    ...direct,
    ...groups(property).flatMap((group) => [
      ...count(property, group, place.kind === "root" ? at(value, group.name) : undefined).map(issue),
      ...itemsOf(property, group, place).flatMap((item) => group.values.flatMap((inner) => judge(inner, item, suggest)))
    ])
  ]
}

/** Issues that n8n itself reports; none for a disabled node. */
export const issues = (
  description: Description,
  node: Node,
  suggest: Suggest,
  scope: Scope = scopeOf(description, node)
): ReadonlyArray<Issue> =>
  node.disabled === true
    ? []
    : description.properties.flatMap((property) => judge(property, { kind: "root", path: "", scope }, suggest))
