/** JSON Schemas of a tool's arguments and answers, as clients see them. Pure. */
import * as Schema from "effect/Schema"
import { markable } from "./Truncated.ts"

/** JSON Schema with an object at its root, as MCP requires. */
export interface JsonSchema {
  readonly type: "object"
  readonly properties?: { readonly [key: string]: object }
  readonly [key: string]: unknown
}

/** JSON Schema (2020-12) of a schema, without additional properties. */
export const jsonSchema = (schema: Schema.Constraint): JsonSchema => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  return { ...root, type: "object", ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }) }
}

const isOpenObject = (schema: unknown) => JSON.stringify(schema) === `{"type":"object","additionalProperties":{}}`

/** Whether an object's other values are not restricted, or a union that its description explains. */
const isAnything = (values: unknown) =>
  values === false || JSON.stringify(values) === "{}" ||
  typeof values === "object" && values !== null && "anyOf" in values

/** Whether a keyword is omitted: obvious bounds and defaults, which decoding still checks. */
const isNoise = (key: string, value: unknown, isRoot: boolean) =>
  (key === "minLength" || key === "minItems") && value === 1 ||
  (key === "maxItems" || key === "maxLength") && typeof value === "number" ||
  key === "minimum" && (value === 0 || value === 1) ||
  key === "default" && value === 0 ||
  key === "maximum" && Number(value) >= 1_000_000 ||
  key === "minimum" && Number(value) <= -1_000_000 ||
  key === "additionalProperties" && !isRoot && isAnything(value) ||
  key === "allOf" && Array.isArray(value) && value.every(isOpenObject)

/** Schema of marks: an object or a list. Only the root of an answer's data declares them; others allow them. */
const mark = {}

const typesOf = (alternatives: unknown): ReadonlyArray<unknown> | undefined =>
  Array.isArray(alternatives) &&
    alternatives.every((each) => Object.keys(each).length === 1 && typeof each.type === "string")
    ? alternatives.map(({ type }) => type)
    : undefined

/** Effect's JSON Schema of `Schema.Literal(true)`, which every answer has. */
const alwaysTrue = `{"type":"boolean","enum":[true]}`

/** Reduces a JSON Schema to what a model needs to send arguments and a program to read answers. */
const shortenSchema = (schema: unknown, isRoot = false): unknown => {
  if (Array.isArray(schema)) return schema.map((each) => shortenSchema(each))
  if (typeof schema !== "object" || schema === null) return schema
  if (JSON.stringify(schema) === alwaysTrue) return { const: true }
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (isNoise(key, value, isRoot) || key === "_truncated") return []
      const shortened = shortenSchema(value)
      const types = key === "anyOf" ? typesOf(shortened) : undefined
      return [types === undefined ? [key, shortened] : ["type", types]]
    })
  )
}

/** Depth to which an answer's objects are described: `data`, its contents, and their elements. */
const maxLevel = 2

/** Types of a union of objects, with or without null. */
const objectTypes = (schema: object) => {
  if (!("anyOf" in schema) || !Array.isArray(schema.anyOf)) return []
  const types = [...new Set(schema.anyOf.map(({ type }) => type))]
  return types.includes("object") && types.every((type) => type === "object" || type === "null") ? types : []
}

/** Describes an answer as far as a program needs it: not its optional keys, deep objects, unions and literals. */
const outline = (schema: unknown, level = 0): unknown => {
  if (Array.isArray(schema)) return schema.map((each) => outline(each, level))
  if (typeof schema !== "object" || schema === null) return schema
  const isObject = "properties" in schema || "additionalProperties" in schema
  if (isObject && level > maxLevel) return { type: "object" }
  if ("type" in schema && Array.isArray(schema.type)) return {}
  const [type, ...others] = objectTypes(schema)
  if (type !== undefined) return { type: others.length === 0 ? type : [type, ...others] }
  const isShown = (key: string) => key === "required" ? level <= 1 : key !== "type" || !("enum" in schema)
  return Object.fromEntries(
    Object.entries(schema).filter(([key]) => isShown(key)).map(([key, value]) => [
      key,
      key === "properties"
        ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, outline(each, level + 1)]))
        : key === "additionalProperties"
        ? outline(value, level + 1)
        : key === "items" || key === "anyOf"
        ? outline(value, level)
        : value
    ])
  )
}

const withMark = (schema: JsonSchema): JsonSchema => {
  const data = schema.properties?.["data"] as JsonSchema
  const properties = { ...data.properties, _truncated: mark }
  return { ...schema, properties: { ...schema.properties, data: { ...data, properties } }, required: ["data"] }
}

export const ofArguments = (input: Schema.Constraint): JsonSchema =>
  shortenSchema(jsonSchema(input), true) as JsonSchema

export const ofAnswer = (output: Schema.Constraint & Parameters<typeof markable>[0]): JsonSchema => {
  const answer = Schema.Struct({ success: Schema.Literal(true), message: Schema.String, data: markable(output) })
  return withMark(outline(shortenSchema(jsonSchema(answer))) as JsonSchema)
}

export const withoutParameters = (schema: JsonSchema, names: ReadonlyArray<string>): JsonSchema =>
  names.length === 0
    ? schema
    : {
      ...schema,
      properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => !names.includes(name)))
    }
