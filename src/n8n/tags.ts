/** Tags, which n8n identifies by id and people by name. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import { maxPage } from "./model/Limits.ts"
import { endless, maxPages, pageOf } from "./pages.ts"
import { getJson, postJson, type Requests, sendJson, targetOf } from "./requests.ts"
import { path as workflowPath, workflowTarget } from "./workflows.ts"

const Tag = Schema.Struct({ id: Schema.String, name: Schema.String })

const Tags = pageOf(Tag)

const listTarget: Errors.Target = { operation: "list tags" }

/** Maximum length of a tag's name, in characters as n8n counts them. */
const maxLength = 24

/** Characters of a name; one that chooses between a symbol and an emoji does not count. */
const lengthOf = (name: string) => [...name.replaceAll(/[\uFE0E\uFE0F]/g, "")].length

/** Refuses names of tags that n8n refuses: it says that they exist already. */
const checkNames = (names: ReadonlyArray<string>) => {
  const fault = names.find((name) => name === "" || lengthOf(name) > maxLength)
  return fault === undefined ? Effect.void : Errors.invalid(
    "tags",
    fault === "" ? "A tag has no name" : `The tag '${fault.slice(0, 60)}' has ${lengthOf(fault)} characters`,
    `No tags were set. n8n allows 1 to ${maxLength} characters, without spaces at either end.`
  )
}

export const make = (requests: Requests) => {
  const createTag = (name: string) =>
    postJson(requests, "/tags", Tag, targetOf("Tag")("create tag", name), { body: { name } })

  const tagIds = Effect.fn("N8nClient.tagIds")(function*(wanted: ReadonlyArray<string>) {
    if (wanted.length === 0) return []
    // n8n takes names without the spaces around them, too.
    const names = [...new Set(wanted.map((name) => name.trim()))]
    const known = new Map<string, string>()
    for (let cursor: string | undefined, pages = 0;; pages++) {
      const page = yield* getJson(requests, "/tags", Tags, listTarget, { limit: maxPage, cursor })
      for (const tag of page.data) known.set(tag.name, tag.id)
      const next = page.nextCursor ?? undefined
      if (next === undefined || names.every((name) => known.has(name))) break
      if (next === cursor || pages >= maxPages) return yield* endless(listTarget)
      cursor = next
    }
    yield* checkNames(names.filter((name) => !known.has(name)))
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
