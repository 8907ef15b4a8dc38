/**
 * Credentials, whose values are not stored, but checked in the words of n8n's own validator (`jsonschema`) by the types
 * of n8n 2.41.1, also where 1.x requires less.
 */
import * as Effect from "effect/Effect"
import types from "./generated/credentialTypes.json" with { type: "json" }
import { api, type Call, type Handler, json, type Major, paginate, refuse } from "./server.ts"
import { type Credential, type Obj, obj, only, owner } from "./world.ts"

/** Type of a field, or the values that it may have. */
type Kind = string | ReadonlyArray<unknown>

interface Detailed {
  readonly type: Kind
  readonly required?: boolean
  /** Field and value with which n8n shows this field. */
  readonly show?: readonly [field: string, value: unknown]
  readonly doNotInherit?: boolean
}

interface Type {
  readonly extends?: ReadonlyArray<string>
  /** Whether n8n 2 adds the fields that limit the requests to domains. */
  readonly limitsDomains?: boolean
  readonly hides?: ReadonlyArray<string>
  readonly fields: { readonly [name: string]: Kind | Detailed }
}

const all = types as unknown as { readonly [name: string]: Type }

const isKnown = (name: string): boolean => Object.hasOwn(all, name)

const detailed = (field: Kind | Detailed): Detailed =>
  typeof field === "string" || Array.isArray(field) ? { type: field } : field as Detailed

const domains = {
  allowedHttpRequestDomains: ["all", "domains", "none"],
  allowedDomains: { type: "string", show: ["allowedHttpRequestDomains", "domains"] }
} as const

/** Fields of a type with those that it inherits, in n8n's order. */
const fieldsOf = (name: string, version: Major): Map<string, Detailed> => {
  const { extends: parents = [], fields = {}, hides = [], limitsDomains = false } = all[name] ?? {}
  const inherited = parents.flatMap((parent) => [...fieldsOf(parent, version)])
  const merged = new Map(inherited.filter(([, { doNotInherit }]) => doNotInherit !== true))
  for (const field of hides) merged.delete(field)
  const own = { ...fields, ...(limitsDomains && version === "2" && domains) }
  for (const [field, value] of Object.entries(own)) merged.set(field, detailed(value))
  if (name === "oAuth1Api" || name === "oAuth2Api") merged.set("oauthTokenData", { type: "json" })
  return merged
}

interface Schema {
  readonly additionalProperties?: boolean
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly properties?: { readonly [name: string]: Schema }
  readonly allOf?: ReadonlyArray<Schema>
  readonly required?: ReadonlyArray<string>
  readonly not?: Schema
  readonly if?: Schema
  readonly then?: Schema
  readonly else?: Schema
}

/** Conditions under which fields are required; 1.x refuses a field that is not shown, by the first value that shows one. */
const conditionsOf = (fields: ReadonlyMap<string, Detailed>, version: Major): ReadonlyArray<Schema> => {
  const shown = [...fields].flatMap(([name, { required = false, show }]) =>
    show === undefined ? [] : [{ name, required, by: show[0], value: show[1] }]
  )
  const groups = Map.groupBy(shown, ({ by, value }) => version === "2" ? JSON.stringify([by, value]) : by)
  return [...groups.values()].flatMap((group): ReadonlyArray<Schema> => {
    const [{ by, value } = { by: "", value: "" }] = group
    const properties = { [by]: { enum: [value] } }
    const needed = group.flatMap(({ name, required }): ReadonlyArray<Schema> =>
      required || version === "1" ? [{ required: [name] }] : []
    )
    if (needed.length === 0) return []
    const condition = new Map<string, Schema>([["if", { properties, ...(version === "2" && { required: [by] }) }]])
      .set("then", { allOf: needed })
    if (version === "1") condition.set("else", { allOf: needed.map((not) => ({ not })) })
    return [Object.fromEntries(condition)]
  })
}

/** JSON Schema of a type, as n8n describes it and as it checks values. */
const schemaOf = (name: string, version: Major): Schema => {
  const fields = fieldsOf(name, version)
  const conditions = conditionsOf(fields, version)
  return {
    additionalProperties: false,
    type: "object",
    properties: Object.fromEntries(
      [...fields].map(([field, { type }]): [string, Schema] =>
        typeof type === "string" ? [field, { type }] : [field, { type: "string", enum: type }]
      )
    ),
    ...(conditions.length > 0 && { allOf: conditions }),
    required: [...fields].flatMap(([field, { required, show }]) => required === true && show === undefined ? field : [])
  }
}

const isOf = (type: string, value: unknown) => {
  if (type === "object") return !Array.isArray(value) && typeof value === "object" && value !== null
  return ["string", "number", "boolean"].includes(type) ? typeof value === type : true
}

const nested = (schemas: ReadonlyArray<Schema>, value: unknown) =>
  schemas.flatMap((schema, at) => {
    const faults = faultsOf(schema, value)
    return faults.length === 0
      ? []
      : [`does not match allOf schema [subschema ${at}] with ${faults.length} error[s]:`, ...faults]
  })

/** Faults of a value, in the order in which the validator finds them. */
const faultsOf = (schema: Schema, value: unknown): ReadonlyArray<string> => {
  const { additionalProperties, allOf = [], enum: allowed, if: condition, not, properties = {}, required = [], type } =
    schema
  if (value === undefined) return []
  const fields: Obj = obj(value)
  const branch = condition === undefined
    ? undefined
    : faultsOf(condition, value).length === 0
    ? schema.then
    : schema.else
  return [
    ...(additionalProperties === false
      ? Object.keys(fields).filter((name) => !Object.hasOwn(properties, name))
        .map((name) => `is not allowed to have the additional property ${JSON.stringify(name)}`)
      : []),
    ...(type === undefined || isOf(type, value) ? [] : [`is not of a type(s) ${type}`]),
    ...(allowed === undefined || allowed.includes(value) ? [] : [`is not one of enum values: ${allowed.join(",")}`]),
    ...Object.entries(properties).flatMap(([name, each]) => faultsOf(each, fields[name])),
    ...nested(allOf, value),
    ...required.filter((name) => fields[name] === undefined).map((name) => `requires property ${JSON.stringify(name)}`),
    ...(not !== undefined && faultsOf(not, value).length === 0 ? ["is of prohibited type [object Object]"] : []),
    ...(branch === undefined ? [] : faultsOf(branch, value))
  ]
}

/** n8n's message for values that the type does not allow. */
const faultOf = (name: string, values: unknown, version: Major): string | undefined => {
  const faults = faultsOf(schemaOf(name, version), values)
  return faults.length === 0 ? undefined : faults.map((each) => `request.body.data ${each}`).join(",")
}

const listCredentials: Handler = (call) => paginate(call, call.state.credentials)

const detail = (credential: Credential, { version }: Call): Obj => ({
  ...only(credential, "id", "name", "type", "createdAt", "updatedAt"),
  isManaged: false,
  isGlobal: false,
  ...(version === "2" && { isResolvable: false, resolvableAllowFallback: false, resolverId: null })
})

const find = Effect.fnUntraced(function*({ id, state }: Call, otherwise: string) {
  const at = state.credentials.findIndex((credential) => credential.id === id)
  const credential = state.credentials[at]
  return credential === undefined ? yield* refuse(404, otherwise) : { at, credential }
})

interface NewCredential {
  readonly name: string
  readonly type: string
  readonly data: Obj
  readonly id?: string
  readonly projectId?: string
}

const createCredential: Handler = Effect.fnUntraced(function*(call) {
  const { body, now, state, version } = call
  const { data, id, name, projectId, type } = obj(body) as unknown as NewCredential
  if (!isKnown(type)) return yield* refuse(400, "req.body.type is not a known type")
  const fault = faultOf(type, data, version)
  if (fault !== undefined) return yield* refuse(400, fault)
  const projects = [owner.project, ...(state.projects ?? []).map((project) => project.id)]
  if (projectId !== undefined && !projects.includes(projectId)) return yield* refuse(404, "Project not found")
  if (id !== undefined && state.credentials.some((credential) => credential.id === id)) {
    return yield* refuse(409, "A credential with this ID already exists")
  }
  const dates = { createdAt: now, updatedAt: now }
  const credential = { id: id ?? state.nanoid(), name, type, ...dates }
  const share = { id: owner.project, name: `${owner.name} <owner@example.com>`, role: "credential:owner", ...dates }
  state.credentials.unshift({ ...credential, shared: [share] })
  return json(detail(credential, call))
})

const deleteCredential: Handler = Effect.fnUntraced(function*(call) {
  const { at, credential } = yield* find(call, "Not Found")
  call.state.credentials.splice(at, 1)
  const { id, ...rest } = detail(credential, call)
  return json(call.version === "2" ? { id, ...rest, usageScope: "project" } : rest)
})

/** Tests no service, like n8n for an unknown type. */
const testCredential: Handler = Effect.fnUntraced(function*(call) {
  yield* find(call, `Credential with ID "${call.id}" was not found.`)
  return json({ status: "Error", message: "No testing function found for this credential." })
})

const getSchema: Handler = ({ id, version }) =>
  isKnown(id)
    ? Effect.succeed(json(schemaOf(id, version)))
    : refuse(404, "Not Found")

export const routes = [
  api("GET", "/credentials", listCredentials),
  api("POST", "/credentials", createCredential),
  api("GET", "/credentials/schema/:id", getSchema),
  api("POST", "/credentials/:id/test", testCredential),
  api("DELETE", "/credentials/:id", deleteCredential)
]
