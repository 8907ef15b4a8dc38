/** Tags, which n8n identifies by id and people by name. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as Errors from "../base/Errors.ts"
import { elements, endless, maxPages, type Page, pageOf, type PageQuery } from "./pages.ts"
import { getJson, type Requests, sendJson, sendOnly } from "./requests.ts"
import { path as workflowPath, workflowTarget } from "./workflows.ts"

const Tag = Schema.Struct({ id: Schema.String, name: Schema.String })

/**
 * A tag of workflows.
 *
 * @category models
 * @since 0.1.0
 */
export type Tag = typeof Tag.Type

const Tags = pageOf(Tag)

/** The tag endpoints. */
export interface Service {
  /** `GET /tags`. */
  readonly listTags: (query: PageQuery) => Effect.Effect<Page<Tag>, Errors.RequestError>
  /** All tags, a page at a time as they are asked for. */
  readonly streamTags: Stream.Stream<Tag, Errors.RequestError>
  /** `GET /tags/{id}`. */
  readonly getTag: (id: string) => Effect.Effect<Tag, Errors.N8nError>
  /** `POST /tags`; 409 if there is one of this name, or the name is empty or longer than 24 characters. */
  readonly createTag: (name: string) => Effect.Effect<Tag, Errors.N8nError>
  /** `PUT /tags/{id}`. */
  readonly renameTag: (id: string, name: string) => Effect.Effect<Tag, Errors.N8nError>
  /** `DELETE /tags/{id}`: it is taken off every workflow. */
  readonly deleteTag: (id: string) => Effect.Effect<void, Errors.N8nError>
  /** `GET /workflows/{id}/tags`. */
  readonly workflowTags: (id: string) => Effect.Effect<ReadonlyArray<Tag>, Errors.N8nError>
  /** `PUT /workflows/{id}/tags`, by name; missing tags are created with `POST /tags`. */
  readonly setWorkflowTags: (id: string, names: ReadonlyArray<string>) => Effect.Effect<void, Errors.N8nError>
  /** `GET /executions/{id}/tags` (2.x). */
  readonly executionTags: (id: string) => Effect.Effect<ReadonlyArray<Tag>, Errors.N8nError>
  /** `PUT /executions/{id}/tags` (2.x), by name; missing tags are created with `POST /tags`. */
  readonly setExecutionTags: (id: string, names: ReadonlyArray<string>) => Effect.Effect<void, Errors.N8nError>
}

const listTarget: Errors.Target = { operation: "list tags" }

const target = (operation: string, id: string): Errors.ResourceTarget => ({
  operation,
  resourceType: "Tag",
  resourceId: id
})

const executionTarget = (operation: string, id: string): Errors.ResourceTarget => ({
  operation,
  resourceType: "Execution",
  resourceId: id
})

const path = (id: string) => `/tags/${encodeURIComponent(id)}`

const ofWorkflow = (id: string) => `${workflowPath(id)}/tags`

const ofExecution = (id: string) => `/executions/${encodeURIComponent(id)}/tags`

/** Implements them for one n8n. */
export const make = (requests: Requests): Service => {
  const listTags: Service["listTags"] = Effect.fn("N8nClient.listTags")((query) =>
    getJson(requests, "/tags", Tags, listTarget, { ...query })
  )

  const createTag = (name: string) =>
    sendJson(requests, { method: "POST", path: "/tags", body: { name } }, Tag, target("create tag", name))

  const tagIds = Effect.fn("N8nClient.tagIds")(function*(names: ReadonlyArray<string>) {
    if (names.length === 0) return []
    const known = new Map<string, string>()
    for (let cursor: string | undefined, pages = 0;; pages++) {
      const page = yield* getJson(requests, "/tags", Tags, listTarget, { limit: 250, cursor })
      for (const tag of page.data) known.set(tag.name, tag.id)
      const next = page.nextCursor ?? undefined
      if (next === undefined || names.every((name) => known.has(name))) break
      if (next === cursor || pages >= maxPages) return yield* endless(listTarget)
      cursor = next
    }
    return yield* Effect.forEach(names, (name) => {
      const id = known.get(name)
      return id === undefined ? Effect.map(createTag(name), (tag) => tag.id) : Effect.succeed(id)
    })
  })

  /** Replaces the tags at a path. */
  const setTags = Effect.fnUntraced(
    function*(path: string, target: Errors.ResourceTarget, names: ReadonlyArray<string>) {
      const body = (yield* tagIds(names)).map((id) => ({ id }))
      yield* sendJson(requests, { method: "PUT", path, body }, Schema.Unknown, target)
    },
    requests.serializeWrite
  )

  return {
    listTags,
    streamTags: elements(listTarget, listTags),
    getTag: Effect.fn("N8nClient.getTag")((id) => getJson(requests, path(id), Tag, target("get tag", id))),
    createTag: Effect.fn("N8nClient.createTag")((name) => requests.serializeWrite(createTag(name))),
    renameTag: Effect.fn("N8nClient.renameTag")((id, name) =>
      requests.serializeWrite(
        sendJson(requests, { method: "PUT", path: path(id), body: { name } }, Tag, target("rename tag", id))
      )
    ),
    deleteTag: Effect.fn("N8nClient.deleteTag")((id) =>
      requests.serializeWrite(sendOnly(requests, { method: "DELETE", path: path(id) }, target("delete tag", id)))
    ),
    workflowTags: Effect.fn("N8nClient.workflowTags")((id) =>
      getJson(requests, ofWorkflow(id), Schema.Array(Tag), workflowTarget(id, "read the tags of workflow"))
    ),
    setWorkflowTags: Effect.fn("N8nClient.setWorkflowTags")((id, names) =>
      setTags(ofWorkflow(id), workflowTarget(id, "set the tags of workflow"), names)
    ),
    executionTags: Effect.fn("N8nClient.executionTags")((id) =>
      getJson(requests, ofExecution(id), Schema.Array(Tag), executionTarget("read the tags of execution", id))
    ),
    setExecutionTags: Effect.fn("N8nClient.setExecutionTags")((id, names) =>
      setTags(ofExecution(id), executionTarget("set the tags of execution", id), names)
    )
  }
}
