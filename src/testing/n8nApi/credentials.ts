/** Credentials, whose values are checked by the types of n8n 2.41.1 and not stored. */
import * as Effect from "effect/Effect"
import { json } from "./answers.ts"
import * as credentialTypes from "./credentialTypes.ts"
import { api, type Call, type Handler, paginate, refuse } from "./server.ts"
import { type Credential, type Obj, obj, only, owner } from "./state.ts"

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
  if (!credentialTypes.isKnown(type)) return yield* refuse(400, "req.body.type is not a known type")
  const fault = credentialTypes.fault(type, data, version)
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
  credentialTypes.isKnown(id)
    ? Effect.succeed(json(credentialTypes.schemaOf(id, version)))
    : refuse(404, "Not Found")

export const routes = [
  api("GET", "/credentials", listCredentials),
  api("POST", "/credentials", createCredential),
  api("GET", "/credentials/schema/:id", getSchema),
  api("POST", "/credentials/:id/test", testCredential),
  api("DELETE", "/credentials/:id", deleteCredential)
]
