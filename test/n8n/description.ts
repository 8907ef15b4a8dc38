/** n8n's own description of its API (OpenAPI), the types of `Operations.ts` and the requests that the fake validates. */
import { fileURLToPath } from "node:url"
import { routes } from "../../src/testing/n8nApi/N8nApi.ts"

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly nullable?: boolean
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly oneOf?: ReadonlyArray<Schema>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly [keyword: string]: unknown
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>

interface Parameter {
  readonly $ref?: string
  readonly in?: string
  readonly name?: string
  readonly required?: boolean
  readonly schema?: Schema
}

interface Described {
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Content }>>
  /** Whether n8n validates the request by zod instead of by this description. */
  readonly "x-decorator-routed"?: boolean
}

/** The part of an OpenAPI document that is read here. */
export interface Document {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** The object that begins at a place in a script. */
const objectAt = (script: string, start: number) => {
  let depth = 0
  for (let at = start, isText = false; at < script.length; at++) {
    const sign = script[at]
    if (isText) {
      if (sign === "\\") at++
      else if (sign === "\"") isText = false
    } else if (sign === "\"") {
      isText = true
    } else if (sign === "{") {
      depth++
    } else if (sign === "}" && --depth === 0) {
      return script.slice(start, at + 1)
    }
  }
  return "{}"
}

/** The document in the page of n8n's API (`/api/v1/docs/swagger-ui-init.js`). */
export const documentIn = (script: string): Document =>
  JSON.parse(objectAt(script, script.indexOf("{", script.indexOf("\"swaggerDoc\""))))

/** An operation such as `GET /workflows/{id}`, and the query parameters that it takes. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly query: ReadonlyArray<string>
}

const methods = new Set(["get", "post", "put", "patch", "delete"])

const at = (document: Document, reference: string) =>
  reference.split("/").slice(1).reduce<unknown>(
    (at, key) => (at as Readonly<Record<string, unknown>>)[key.replaceAll("~1", "/")],
    document
  )

const resolve = (document: Document, parameter: Parameter): Parameter =>
  parameter.$ref === undefined ? parameter : resolve(document, at(document, parameter.$ref) as Parameter)

const described = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).filter(([method]) => methods.has(method)).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
      parameters: (operation.parameters ?? []).map((parameter) => resolve(document, parameter))
    }))
  ).toSorted((a, b) => `${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1)

/** The operations of a document, by path. */
export const operationsOf = (document: Document): ReadonlyArray<Operation> =>
  described(document).map(({ method, parameters, path }) => ({
    method,
    path,
    query: parameters.flatMap(({ in: place, name }) => place === "query" ? [name ?? ""] : [])
  }))

const keyOf = (name: string) => /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)

const nameOf = (schema: string) =>
  schema.replace(/(?:Public)?(?:Dto)?\.generated$/, "Dto").replace(
    /(?:^|[^A-Za-z0-9]+)([a-z])/gi,
    (_, sign: string) => sign.toUpperCase()
  )

/** `{ a?: string }` of its members. */
const object = (members: ReadonlyArray<readonly [name: string, isRequired: boolean, type: string]>) =>
  `{ ${members.map(([name, isRequired, type]) => `${keyOf(name)}${isRequired ? "" : "?"}: ${type}`).join("; ")} }`

const union = (types: ReadonlyArray<string>) =>
  types.includes("unknown")
    ? "unknown"
    : [...new Set(types)].map((type) => type.includes("&") ? `(${type})` : type).join(" | ")

const typeOf = (schema: Schema): string => {
  const type = plainTypeOf(schema)
  return schema.nullable === true && type !== "unknown" ? `${type} | null` : type
}

const plainTypeOf = ({ additionalProperties, properties, ...schema }: Schema): string => {
  if (schema.$ref !== undefined) return nameOf(schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1))
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  const several = schema.oneOf ?? schema.anyOf
  const parts = [
    ...(several ? [union(several.map(typeOf))] : []),
    ...(schema.allOf ?? []).map(typeOf),
    ...(properties
      ? [
        object(
          Object.entries(properties).map(([name, each]) =>
            [name, schema.required?.includes(name) === true, typeOf(each)] as const
          )
        )
      ]
      : [])
  ].filter((type) => type !== "unknown")
  if (parts.length > 0) return parts.length === 1 ? parts.join() : parts.map((part) => `(${part})`).join(" & ")
  switch (schema.type) {
    case "string":
    case "boolean":
      return schema.type
    case "integer":
    case "number":
      return "number"
    case "array":
      return `ReadonlyArray<${typeOf(schema.items ?? {})}>`
    case "object":
      return `{ [key: string]: ${typeof additionalProperties === "object" ? typeOf(additionalProperties) : "unknown"} }`
  }
  return "unknown"
}

const contentOf = (content: Content | undefined, absent: string): string => {
  const [[kind, { schema = {} }] = ["", {}]] = Object.entries(content ?? {})
  return kind === ""
    ? absent
    : kind.includes("json")
    ? typeOf(schema)
    : kind.startsWith("multipart")
    ? "FormData"
    : "Uint8Array"
}

/** The entry of an operation: what it takes, and what it answers. */
const entry = ({ method, operation, parameters, path }: ReturnType<typeof described>[number]) => {
  const of = (place: string) => parameters.filter((each) => each.in === place)
  const members = (place: string) =>
    of(place).map(({ name = "", required, schema = {} }) =>
      [name, place === "path" || required === true, place === "path" ? "string | number" : typeOf(schema)] as const
    )
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith("2"))?.[1]
  const body = operation.requestBody
  return `  ${JSON.stringify(`${method} ${path}`)}: ${
    object([
      ...(of("path").length > 0 ? [["path", true, object(members("path"))] as const] : []),
      ...(of("query").length > 0
        ? [["query", of("query").some(({ required }) => required === true), object(members("query"))] as const]
        : []),
      ...(body ? [["body", body.required === true, contentOf(body.content, "unknown")] as const] : []),
      ["result", true, contentOf(success?.content, "void")]
    ])
  }`
}

/** The module of types of a document. */
export const print = (document: Document): string => {
  const operations = described(document).map(entry).join("\n")
  const schemas = new Map(
    Object.entries(document.components.schemas).map(([name, schema]) => [nameOf(name), typeOf(schema)] as const)
      // Some are listed twice, under a name with a capital too.
      .filter(([name, type]) => name !== type)
  )
  const used = new Set<string>()
  const visit = (text: string) => {
    for (const [name] of text.replace(/"[^"]*"/g, "").matchAll(/\b[A-Z]\w+\b/g)) {
      const type = schemas.get(name)
      if (type === undefined || used.has(name)) continue
      used.add(name)
      visit(type)
    }
  }
  visit(operations)
  const types = [...used].toSorted().map((name) => `type ${name} = ${schemas.get(name)}\n`)
  return `/** Operations of n8n's public API by its own description, written by the n8n suite with \`-u\`. */
${types.join("")}
/** Input and result of each operation. */
export interface Operations {
${operations}
}
`
}

/** The file with the types, which are those of the newest n8n. */
export const generated: string = fileURLToPath(new URL("../../src/n8n/generated/Operations.ts", import.meta.url))

const keywords = "type nullable readOnly enum format pattern minimum maximum minLength maxLength minItems required"
  .split(" ")

/** Part of a schema that decides whether a value is valid; no value of a read-only one is. */
const validation = (document: Document, { $ref, ...schema }: Schema): Schema => {
  if ($ref !== undefined) return validation(document, at(document, $ref) as Schema)
  if (Object.keys(schema).join() === "nullable") return { type: "null" }
  const { additionalProperties, anyOf, items, properties, readOnly } = schema
  const used = readOnly === true ? ["type", "nullable", "readOnly"] : keywords
  const own = Object.fromEntries(used.flatMap((key) => schema[key] === undefined ? [] : [[key, schema[key]]]))
  const inner = (each: Schema) => validation(document, each)
  return {
    ...own,
    ...(anyOf && { anyOf: anyOf.map(inner) }),
    ...(items && { items: readOnly === true ? {} : inner(items) }),
    ...(properties && {
      properties: readOnly === true
        ? {}
        : Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, inner(each)]))
    }),
    ...(additionalProperties !== undefined && { additionalProperties: additionalProperties !== false })
  }
}

/** A parameter, whose numbers zod reads from texts. */
const parameter = ({ type = "", ...schema }: Schema, usesZod: boolean): Schema =>
  usesZod && ["number", "integer"].includes(type) ? { type: "string", format: type } : { type, ...schema }

/** The file of the requests of a document, with a line for each operation: null if the fake does not have it. */
export const printRequests = (document: Document): string => {
  const lines = described(document).flatMap(({ method, operation, parameters, path }) => {
    const name = `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`
    if (!routes.some((route) => route.name === name)) return [`${JSON.stringify(name)}: null`]
    const usesZod = operation["x-decorator-routed"] === true
    const of = (place: string) => {
      const all = parameters.filter((each) => each.in === place)
      const required = all.flatMap((each) => each.required === true && place === "query" ? [each.name] : [])
      return {
        ...(required.length > 0 && { required }),
        properties: Object.fromEntries(
          all.map(({ name = "", schema = {} }) => [name, parameter(validation(document, schema), usesZod)] as const)
            .toSorted(([a], [b]) => path.indexOf(`{${a}}`) - path.indexOf(`{${b}}`))
        )
      }
    }
    const places = (usesZod ? ["path", "query"] : ["query", "path"]).flatMap((place) => {
      const schema = of(place)
      return Object.values(schema.properties).every((each) =>
          place === "path" && each.type === "string" && !each.format
        )
        ? []
        : [[place === "path" ? "params" : place, schema]]
    })
    const schema = Object.values(operation.requestBody?.content ?? {})[0]?.schema
    return `${JSON.stringify(name)}: ${
      JSON.stringify({
        ...(usesZod && { usesZod }),
        ...(places.length > 0 && { parameters: { properties: Object.fromEntries(places) } }),
        ...(operation.requestBody?.required === true && { needsBody: true }),
        ...(schema && { body: validation(document, schema) })
      })
    }`
  })
  return `{\n${lines.join(",\n")}\n}\n`
}

/** The file with the requests that the fake of a major version validates. */
export const requests = (major: "1" | "2"): string =>
  fileURLToPath(new URL(`../../src/testing/n8nApi/generated/requests-${major}.json`, import.meta.url))
