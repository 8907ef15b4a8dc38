/** Tags. */
import * as Effect from "effect/Effect"
import { json } from "./answers.ts"
import { api, type Handler, paginate, refuse } from "./server.ts"
import { list, obj, type Tag } from "./state.ts"
import { findWorkflow } from "./views.ts"

const listTags: Handler = (call) => paginate(call, [...call.state.tags.values()])

/** Length of a name as n8n counts it: in whole characters, without those that only choose a form. */
const lengthOf = (name: string) => [...name.replaceAll(/[\uFE0E\uFE0F]/g, "")].length

/** Creates a tag; n8n reports every invalid name as an existing tag. */
const createTag: Handler = Effect.fnUntraced(function*({ body, now, state }) {
  const name = String(obj(body)["name"]).trim()
  const isTaken = [...state.tags.values()].some((tag) => tag.name === name)
  if (isTaken || name === "" || lengthOf(name) > 24) return yield* refuse(409, "Tag already exists")
  const tag: Tag = { id: state.nanoid(), name, createdAt: now, updatedAt: now }
  state.tags.set(tag.id, tag)
  return json(tag, { status: 201 })
})

const listWorkflowTags: Handler = (call) => Effect.map(findWorkflow(call), ({ tags = [] }) => json(tags))

/** Replaces a workflow's tags, which are listed in the order of their creation; `updatedAt` does not change. */
const setWorkflowTags: Handler = Effect.fnUntraced(function*(call) {
  const workflow = yield* findWorkflow(call)
  const ids = list<{ readonly id: string }>(call.body).map(({ id }) => id)
  const tags = [...call.state.tags.values()].filter((tag) => ids.includes(tag.id))
  if (tags.length < ids.length) return yield* refuse(404, "Some tags not found")
  call.state.workflows.set(workflow.id, { ...workflow, tags: tags.map((tag) => ({ ...tag })) })
  return json(tags)
})

export const routes = [
  api("GET", "/workflows/:id/tags", listWorkflowTags),
  api("PUT", "/workflows/:id/tags", setWorkflowTags),
  api("GET", "/tags", listTags),
  api("POST", "/tags", createTag)
]
