/** Credentials; their values are not stored. */
import * as Effect from "effect/Effect"
import { json } from "./answers.ts"
import schemas from "./credentialSchemas.json" with { type: "json" }
import { api, type Call, type Handler, paginate, refuse } from "./server.ts"
import { type Credential, type Obj, obj, only, owner, without } from "./state.ts"

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

const createCredential: Handler = (call) => {
  const { body, now, state } = call
  const dates = { createdAt: now, updatedAt: now }
  const { name, type } = obj(body) as { readonly name: string; readonly type: string }
  const credential = { id: state.nanoid(), name, type, ...dates }
  const share = { id: owner.project, name: `${owner.name} <owner@example.com>`, role: "credential:owner", ...dates }
  state.credentials.unshift({ ...credential, shared: [share] })
  return Effect.succeed(json(detail(credential, call)))
}

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

/** Fields of some types; n8n reports others as missing. */
const getSchema: Handler = ({ id, version }) => {
  const schema = Object.entries(schemas).find(([type]) => type === id)?.[1]
  if (schema === undefined) return refuse(404, "Not Found")
  const newer = version === "1" ? ["allowedHttpRequestDomains", "allowedDomains"] : []
  return Effect.succeed(json({ ...schema, properties: without(schema.properties, ...newer) }))
}

export const routes = [
  api("GET", "/credentials", listCredentials),
  api("POST", "/credentials", createCredential),
  api("GET", "/credentials/schema/:id", getSchema),
  api("POST", "/credentials/:id/test", testCredential),
  api("DELETE", "/credentials/:id", deleteCredential)
]
