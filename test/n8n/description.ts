/** n8n's own description of its API (OpenAPI), and the types that `src/n8n/generated/Operations.ts` has of it. */
import { fileURLToPath } from "node:url"

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

const resolve = (document: Document, parameter: Parameter): Parameter =>
  parameter.$ref === undefined
    ? parameter
    : resolve(
      document,
      parameter.$ref.split("/").slice(1).reduce<unknown>(
        (at, key) => (at as Readonly<Record<string, unknown>>)[key.replaceAll("~1", "/")],
        document
      ) as Parameter
    )

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
  return `/** The operations of n8n's public API as its own description has them; written by the n8n suite with \`-u\`. */
${types.join("")}
/**
 * Input and result of each operation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Operations {
${operations}
}
`
}

/** The file with the types, which are those of the newest n8n. */
export const generated: string = fileURLToPath(new URL("../../src/n8n/generated/Operations.ts", import.meta.url))
