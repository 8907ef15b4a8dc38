/** JSON Schemas of a tool's arguments and answers, as clients see them. Pure. */
import * as Schema from "effect/Schema"
import { mapValues, type Obj, without } from "../base/Json.ts"
import { markable } from "./Truncated.ts"

/** JSON Schema with an object at its root, as MCP requires. */
export interface JsonSchema {
  readonly type: "object"
  readonly properties?: { readonly [key: string]: object }
  readonly [key: string]: unknown
}

/** Replaces what Effect makes of `Struct({})`, anything but null, by an object without properties. */
const withEmptyObjects = (schema: unknown, isSchema = true): unknown => {
  if (Array.isArray(schema)) return schema.map((each) => withEmptyObjects(each))
  if (typeof schema !== "object" || schema === null) return schema
  if (isSchema && "not" in schema && JSON.stringify(schema.not) === `{"type":"null"}`) {
    const { not: _, ...rest } = schema
    return { ...rest, type: "object", properties: {}, additionalProperties: false }
  }
  return mapValues({ ...schema }, (value, key) => withEmptyObjects(value, !isSchema || key !== "properties"))
}

/** JSON Schema (2020-12) of a schema, without additional properties. */
export const jsonSchema = (schema: Schema.Constraint): JsonSchema => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  const $defs = mapValues(definitions, (each) => withEmptyObjects(each))
  return {
    ...withEmptyObjects(root) as object,
    type: "object",
    ...(Object.keys(definitions).length === 0 ? {} : { $defs })
  }
}

const isOpenObject = (schema: unknown) => JSON.stringify(schema) === `{"type":"object","additionalProperties":{}}`

/** Whether a schema of an object's other values allows anything, or is a union that the description explains. */
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

/** Schema of marks, an object or a list. Only the root of the data declares them; nested objects merely allow them. */
const mark = {}

const typesOf = (alternatives: unknown): ReadonlyArray<unknown> | undefined =>
  Array.isArray(alternatives) &&
    alternatives.every((each) => Object.keys(each).length === 1 && typeof each.type === "string")
    ? alternatives.map(({ type }) => type)
    : undefined

/** Effect's JSON Schema of `Schema.Literal(true)`, which every answer has. */
const alwaysTrue = `{"type":"boolean","enum":[true]}`

/** Reduces a JSON Schema to the parts that a model needs for arguments, and a program for answers. */
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

/** Shortens a schema of answers to the part that a program needs, without deep objects, unions and literals. */
const outline = (schema: unknown, level = 0): unknown => {
  if (Array.isArray(schema)) return schema.map((each) => outline(each, level))
  if (typeof schema !== "object" || schema === null) return schema
  const isObject = "properties" in schema || "additionalProperties" in schema
  if (isObject && level > maxLevel) return { type: "object" }
  if ("type" in schema && Array.isArray(schema.type)) return {}
  const [type, ...others] = objectTypes(schema)
  if (type !== undefined) return { type: others.length === 0 ? type : [type, ...others] }
  const visible = without(
    { ...schema },
    (_, key) => key === "required" ? level > 1 : key === "type" && "enum" in schema
  )
  return mapValues(visible, (value, key) =>
    key === "properties"
      ? mapValues(value as Obj, (each) => outline(each, level + 1))
      : key === "additionalProperties"
      ? outline(value, level + 1)
      : key === "items" || key === "anyOf"
      ? outline(value, level)
      : value)
}

const withMark = (schema: JsonSchema): JsonSchema => {
  const data = schema.properties?.["data"] as JsonSchema
  const properties = { ...data.properties, _truncated: mark }
  return { ...schema, properties: { ...schema.properties, data: { ...data, properties } }, required: ["data"] }
}

export const ofArguments = (input: Schema.Constraint): JsonSchema =>
  shortenSchema(jsonSchema(input), true) as JsonSchema

/** Schema of a successful answer with data of this schema, which may have marks. */
export const answerOf = (output: Parameters<typeof markable>[0]) =>
  Schema.Struct({ success: Schema.Literal(true), message: Schema.String, data: markable(output) })

export const ofAnswer = (output: Parameters<typeof markable>[0]): JsonSchema =>
  withMark(outline(shortenSchema(jsonSchema(answerOf(output)))) as JsonSchema)

export const withoutParameters = (schema: JsonSchema, names: ReadonlyArray<string>): JsonSchema => ({
  ...schema,
  properties: without(schema.properties ?? {}, (_, name) => names.includes(name)) as { [name: string]: object }
})
