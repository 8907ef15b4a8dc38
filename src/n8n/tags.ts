/** Tags, which n8n identifies by id and people by name. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../base/Errors.ts"
import { endless, getJson, maxPages, pageOf, type Requests, sendJson } from "./requests.ts"
import { path, workflowTarget } from "./workflows.ts"

const Tag = Schema.Struct({ id: Schema.String, name: Schema.String })

const Page = pageOf(Tag)

/** The tag endpoints. */
export interface Service {
  /** `PUT /workflows/{id}/tags`, by name; missing tags are created with `POST /tags`. */
  readonly setWorkflowTags: (id: string, names: ReadonlyArray<string>) => Effect.Effect<void, Errors.N8nError>
}

/** Implements them for one n8n. */
export const make = (requests: Requests): Service => {
  const tagIds = Effect.fn("N8nClient.tagIds")(function*(names: ReadonlyArray<string>) {
    if (names.length === 0) return []
    const known = new Map<string, string>()
    const target = { operation: "list tags" }
    for (let cursor: string | undefined, pages = 0;; pages++) {
      const page = yield* getJson(requests, "/tags", Page, target, { limit: 250, cursor })
      for (const tag of page.data) known.set(tag.name, tag.id)
      const next = page.nextCursor ?? undefined
      if (next === undefined || names.every((name) => known.has(name))) break
      if (next === cursor || pages >= maxPages) return yield* endless(target)
      cursor = next
    }
    return yield* Effect.forEach(names, (name) => {
      const id = known.get(name)
      if (id !== undefined) return Effect.succeed(id)
      return Effect.map(
        sendJson(requests, { method: "POST", path: "/tags", body: { name } }, Tag, {
          operation: "create tag",
          resourceType: "Tag",
          resourceId: name
        }),
        (tag) => tag.id
      )
    })
  })

  return {
    setWorkflowTags: Effect.fn("N8nClient.setWorkflowTags")(function*(id: string, names: ReadonlyArray<string>) {
      const body = (yield* tagIds(names)).map((tag) => ({ id: tag }))
      yield* sendJson(
        requests,
        { method: "PUT", path: `${path(id)}/tags`, body },
        Schema.Unknown,
        workflowTarget(id, "set the tags of workflow")
      )
    }, requests.serializeWrite)
  }
}
