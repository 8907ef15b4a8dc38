/** Tags, which n8n identifies by id and people by name. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import { maxPage, tagsFault } from "./model/Limits.ts"
import { endless, maxPages, pageOf } from "./pages.ts"
import { getJson, postJson, type Requests, sendJson, targetOf } from "./requests.ts"
import { path as workflowPath, workflowTarget } from "./workflows.ts"

const Tag = Schema.Struct({ id: Schema.String, name: Schema.String })

const Tags = pageOf(Tag)

const listTarget: Errors.Target = { operation: "list tags" }

export const make = (requests: Requests) => {
  const createTag = (name: string) =>
    postJson(requests, "/tags", Tag, targetOf("Tag")("create tag", name), { body: { name } })

  const tagIds = Effect.fn("N8nClient.tagIds")(function*(wanted: ReadonlyArray<string>) {
    if (wanted.length === 0) return []
    // n8n takes names without the spaces around them, too.
    const names = [...new Set(wanted.map((name) => name.trim()))]
    const fault = tagsFault(names)
    if (fault !== undefined) return yield* Errors.invalid("tags", fault, "No tags were set.")
    const known = new Map<string, string>()
    for (let cursor: string | undefined, pages = 0;; pages++) {
      const page = yield* getJson(requests, "/tags", Tags, listTarget, { limit: maxPage, cursor })
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

  return {
    /** `PUT /workflows/{id}/tags`, by name; missing tags are created with `POST /tags`. */
    setWorkflowTags: Effect.fn("N8nClient.setWorkflowTags")(
      function*(id: string, names: ReadonlyArray<string>) {
        const body = (yield* tagIds(names)).map((id) => ({ id }))
        yield* sendJson(
          requests,
          { method: "PUT", path: `${workflowPath(id)}/tags`, body },
          Schema.Unknown,
          workflowTarget(id, "set the tags of workflow")
        )
      },
      requests.serializeWrite
    )
  }
}
