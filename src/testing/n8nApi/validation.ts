/** n8n's validation of requests, by its own description, in the words of ajv (1.x and a part of 2.x) and of zod. */
import first from "./generated/requests-1.json" with { type: "json" }
import second from "./generated/requests-2.json" with { type: "json" }
import { kindOf, obj } from "./world.ts"

interface Schema {
  readonly type?: string
  readonly nullable?: boolean
  readonly readOnly?: boolean
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly items?: Schema
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
}

/** Description of an operation; without a `body`, what is sent as one is ignored. */
export interface Operation {
  readonly usesZod?: boolean
  /** Object of `params` and `query`, in the order in which they are checked. */
  readonly parameters?: Schema
  readonly body?: Schema
  readonly needsBody?: boolean
}

/** Operations of each major version, such as `GET /workflows/{}`; null for those that only n8n has. */
export const operations: { readonly [major in "1" | "2"]: { readonly [name: string]: Operation | null | undefined } } =
  {
    "1": first,
    "2": second
  }

/** First fault of a value. */
type Check = (schema: Schema, value: unknown, path: string) => string | undefined

const firstOf = <A>(values: Iterable<A>, check: (value: A) => string | undefined): string | undefined => {
  for (const value of values) {
    const fault = check(value)
    if (fault !== undefined) return fault
  }
  return undefined
}

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const isDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/

/** Faults of texts by format, in the words of zod and of n8n; zod reads the numbers of parameters from texts. */
const formats: { readonly [format: string]: (text: string, name: string) => string | undefined } = {
  jsonString: (text) => isJson(text) ? undefined : "must be a JSON string",
  nanoid: (text) => /^[a-zA-Z\d]{10,16}$/.test(text) ? undefined : "Invalid id",
  "date-time": (text) => isDate.test(text) ? undefined : "Invalid datetime",
  integer: (text) => /^[1-9]\d*$/.test(text) ? undefined : "must be a positive integer",
  number: (text, name) => {
    if (Number.isNaN(Number(text))) return `Param \`${name}\` must be a valid integer`
    return Number(text) < 0 ? `Param \`${name}\` must be a non-negative integer` : undefined
  }
}

const formatFault = ({ format = "" }: Schema, text: string, path: string) =>
  formats[format]?.(text, path.slice(path.lastIndexOf("/") + 1))

/** Fault of a text in the words of zod; only the id of a new credential has a pattern. */
const textFault = (schema: Schema, text: string, path: string) => {
  const { maxLength = Infinity, minLength = 0, pattern } = schema
  if (text.length < minLength) return `String must contain at least ${minLength} character(s)`
  if (text.length > maxLength) return `String must contain at most ${maxLength} character(s)`
  if (pattern !== undefined && !new RegExp(pattern).test(text)) {
    return "Use only letters, digits, underscores, and hyphens for the ID"
  }
  return formatFault(schema, text, path)
}

const isOf = ({ nullable, type }: Schema, value: unknown) =>
  type === undefined || kindOf(value) === type || type === "integer" && Number.isInteger(value) ||
  nullable === true && value === null

const limitFault = (schema: Schema, value: unknown) => {
  const { maxLength = Infinity, maximum = Infinity, minItems = 0, minLength = 0, minimum = -Infinity, pattern } = schema
  if (Array.isArray(value)) return value.length < minItems ? `must NOT have fewer than ${minItems} items` : undefined
  if (typeof value === "number") {
    return value > maximum ? `must be <= ${maximum}` : value < minimum ? `must be >= ${minimum}` : undefined
  }
  if (typeof value !== "string") return undefined
  if (value.length > maxLength) return `must NOT have more than ${maxLength} characters`
  if (value.length < minLength) return `must NOT have fewer than ${minLength} characters`
  if (pattern !== undefined && !new RegExp(pattern).test(value)) return `must match pattern "${pattern}"`
  return formatFault(schema, value, "") === undefined ? undefined : `must match format "${schema.format}"`
}

/** Fault of a missing property. */
const missing = (path: string) => path.replace(/\/(?=[^/]*$)/, " must have required property '") + "'"

const ajv: Check = (schema, value, path) => {
  const { additionalProperties, anyOf, enum: allowed, items, nullable, properties, readOnly, required = [] } = schema
  const wrongType = isOf(schema, value) ? undefined : `${path} must be ${schema.type}`
  // The type of a list or an object is looked at with its contents, after everything else.
  const isLate = nullable !== true && (items ?? properties) !== undefined
  if (wrongType !== undefined && !isLate) return wrongType
  if (readOnly === true) {
    return `${path} ${value === null ? "must pass \"readOnly\" keyword validation" : "is read-only"}`
  }
  if (allowed?.includes(value) === false) {
    return `${path} must be equal to one of the allowed values: ${allowed.join(", ")}`
  }
  const faults = anyOf?.map((each) => ajv(each, value, path)) ?? [undefined]
  if (!faults.includes(undefined)) return [...faults, `${path} must match a schema in anyOf`].join(", ")
  const limit = limitFault(schema, value)
  if (wrongType !== undefined || limit !== undefined) return wrongType ?? `${path} ${limit}`
  if (Array.isArray(value)) return firstOf(value.entries(), ([at, each]) => ajv(items ?? {}, each, `${path}/${at}`))
  if (kindOf(value) !== "object") return undefined
  const input = obj(value)
  const absent = required.find((name) => input[name] === undefined)
  if (absent !== undefined) return missing(`${path}/${absent}`)
  if (additionalProperties === false && Object.keys(input).some((name) => !Object.hasOwn(properties ?? {}, name))) {
    return `${path} must NOT have additional properties`
  }
  return firstOf(
    Object.entries(properties ?? {}),
    ([name, each]) => input[name] === undefined ? undefined : ajv(each, input[name], `${path}/${name}`)
  )
}

const quoted = (values: ReadonlyArray<unknown>, separator: string) => values.map((each) => `'${each}'`).join(separator)

const zod: Check = (schema, value, path) => {
  const { additionalProperties, anyOf, enum: allowed, items, properties, readOnly, required = [], type } = schema
  if (readOnly === true) return `${path} is read-only`
  if (anyOf !== undefined) {
    if (anyOf.some((each) => zod(each, value, path) === undefined)) return undefined
    return typeof value === "string" ? zod(anyOf[0] ?? {}, value, path) : `${path} Invalid input`
  }
  const expected = allowed === undefined ? type : quoted(allowed, " | ")
  if (!isOf(schema, value)) {
    // Connections have a check of their own.
    if (type === "object" && (properties ?? additionalProperties) === undefined) return `${path} must be object`
    return value === undefined ? missing(path) : `${path} Expected ${expected}, received ${kindOf(value)}`
  }
  if (allowed?.includes(value) === false) return `${path} Invalid enum value. Expected ${expected}, received '${value}'`
  if (typeof value === "string") {
    const fault = textFault(schema, value, path)
    return fault === undefined ? undefined : `${path} ${fault}`
  }
  if (Array.isArray(value)) return firstOf(value.entries(), ([at, each]) => zod(items ?? {}, each, `${path}/${at}`))
  if (kindOf(value) !== "object") return undefined
  const input = obj(value)
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(properties ?? {}, name))
  return firstOf(
    Object.entries(properties ?? {}),
    ([name, each]) =>
      input[name] === undefined && !required.includes(name) ? undefined : zod(each, input[name], `${path}/${name}`)
  ) ?? (additionalProperties === false && unknown.length > 0
    ? `${path} Unrecognized key(s) in object: ${quoted(unknown, ", ")}`
    : undefined)
}

/** Value of a parameter, with its type if it is of it. */
const typed = ({ type }: Schema = {}, texts: ReadonlyArray<string>) => {
  const [text = ""] = texts
  if (texts.length > 1) return texts
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true"
  return type === "number" && !Number.isNaN(Number(text)) ? Number(text) : text
}

/** Error message for a request: the first fault, of ajv the first one of the parameters and the first one of the body. */
export const requestFault = (
  { body: schema = {}, parameters = {}, usesZod }: Operation,
  request: { readonly params: ReadonlyArray<string>; readonly query: URLSearchParams; readonly body: unknown }
): string | undefined => {
  const { params: { properties: params = {} } = {}, query: { properties: query = {} } = {} } = parameters.properties ??
    {}
  const names = [...new Set(request.query.keys())]
  const unknown = names.find((name) => !Object.hasOwn(query, name))
  if (usesZod !== true && unknown !== undefined) return `Unknown query parameter '${unknown}'`
  const empty = names.find((name) => request.query.get(name) === "")
  if (usesZod !== true && empty !== undefined) return `Empty value found for query parameter '${empty}'`
  const values = {
    query: Object.fromEntries(names.map((name) => [name, typed(query[name], request.query.getAll(name))])),
    params: Object.fromEntries(
      Object.entries(params).map(([name, each], at) => [name, typed(each, request.params.slice(at, at + 1))])
    )
  }
  const check = usesZod === true ? zod : ajv
  const bodyFault = request.body === undefined ? undefined : check(schema, request.body, "request/body")
  const faults = [check(parameters, values, "request"), bodyFault].filter((fault) => fault !== undefined)
  return usesZod === true || faults.length === 0 ? faults[0] : faults.join(", ")
}
