/** Credentials. */
import * as Effect from "effect/Effect"
import { type Check, fields, record, text } from "./body.ts"
import { pageQuery, paginate } from "./query.ts"
import { api, type Handler } from "./server.ts"
import { obj, owner } from "./state.ts"

const listCredentials: Handler = Effect.fnUntraced(function*({ query, state }) {
  return Response.json(yield* paginate(state.credentials, query))
})

/** Creates a credential; the answer has more fields than the list. */
const createCredential: Handler = ({ body, now, state, version }) => {
  const dates = { createdAt: now, updatedAt: now }
  const { name, type } = obj(body) as { readonly name: string; readonly type: string }
  const credential = { id: state.nanoid(), name, type, ...dates }
  const share = { id: owner.project, name: `${owner.name} <owner@example.com>`, role: "credential:owner", ...dates }
  state.credentials.unshift({ ...credential, shared: [share] })
  const resolving = { isResolvable: false, resolvableAllowFallback: false, resolverId: null }
  return Effect.succeed(
    Response.json({ ...credential, isManaged: false, isGlobal: false, ...(version === "2" && resolving) })
  )
}

/** The body of `POST /credentials`; whether the data fits the type is not checked. */
const newCredential: Check = fields({
  name: { check: text, required: true },
  type: { check: text, required: true },
  data: { check: record, required: true }
}, true)

/** The credential endpoints. */
export const routes = [
  api("GET", "/credentials", { query: pageQuery, only2: true }, listCredentials),
  api("POST", "/credentials", { body: newCredential }, createCredential)
]
