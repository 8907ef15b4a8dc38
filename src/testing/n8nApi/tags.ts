/** Tags, and the credentials that nodes name. */
import * as Effect from "effect/Effect"
import { paged } from "./query.ts"
import { type Handler, refuse } from "./server.ts"
import { found } from "./shown.ts"
import { list, obj, owner, type Tag } from "./state.ts"

export const listTags: Handler = Effect.fnUntraced(function*({ query, state }) {
  return Response.json(yield* paged([...state.tags.values()], query))
})

/** Whatever is wrong with a name, n8n says that it is there already. */
export const createTag: Handler = Effect.fnUntraced(function*({ body, now, state }) {
  const name = String(obj(body)["name"]).trim()
  const isTaken = [...state.tags.values()].some((tag) => tag.name === name)
  if (isTaken || name === "" || name.length > 24) return yield* refuse(409, "Tag already exists")
  const tag: Tag = { id: state.nanoid(), name, createdAt: now, updatedAt: now }
  state.tags.set(tag.id, tag)
  return Response.json(tag, { status: 201 })
})

export const listWorkflowTags: Handler = Effect.fnUntraced(function*(call) {
  const { tags = [] } = yield* found(call)
  return Response.json(tags)
})

/** The workflow's tags are shown in the order in which they were made, and its `updatedAt` stays. */
export const setWorkflowTags: Handler = Effect.fnUntraced(function*(call) {
  const workflow = yield* found(call)
  const ids = list<{ readonly id: string }>(call.body).map(({ id }) => id)
  const tags = [...call.state.tags.values()].filter((tag) => ids.includes(tag.id))
  if (tags.length < ids.length) return yield* refuse(404, "Some tags not found")
  call.state.workflows.set(workflow.id, { ...workflow, tags: tags.map((tag) => ({ ...tag })) })
  return Response.json(tags)
})

export const listCredentials: Handler = Effect.fnUntraced(function*({ query, state }) {
  return Response.json(yield* paged(state.credentials, query))
})

/** The answer tells more of a credential than the list does. */
export const createCredential: Handler = ({ body, now, state, version }) => {
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
