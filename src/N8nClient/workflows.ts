/** The workflow endpoints, and what the API lacks of them. */
import * as Cache from "effect/Cache"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Workflow from "../domain/Workflow.ts"
import * as N8nError from "../N8nError.ts"
import { getJson, type Requests } from "./Requests.ts"

/** Which workflows. All conditions hold together; `name` is contained, ignoring case; every tag must be there. */
export interface Query {
  readonly active?: boolean | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  readonly name?: string | undefined
  /** Archived ones too. */
  readonly archived: boolean
  /** 1 to 100. */
  readonly limit: number
  /** How many matching workflows to skip. */
  readonly offset?: number | undefined
  /** From an earlier page; then `offset` counts from there. */
  readonly cursor?: string | undefined
}

const Page = Schema.Struct({
  data: Schema.Array(Workflow.Listed),
  nextCursor: Schema.optionalKey(Schema.NullOr(Schema.String))
})

/** n8n's own cursor, on 1.x and 2.x alike: base64 of `{limit, offset}`. Written by us it serves as `offset`. */
const Cursor = Schema.StringFromBase64.pipe(
  Schema.decodeTo(Schema.fromJsonString(Schema.Struct({ limit: Schema.Int, offset: Schema.Int })))
)

const encodeCursor = (offset: number, limit: number) => Schema.encodeSync(Cursor)({ limit, offset })

const decodeCursor = (cursor: string) =>
  Schema.decodeEffect(Cursor)(cursor).pipe(
    Effect.map(({ offset }) => offset),
    Effect.mapError(() =>
      new N8nError.Validation({
        reason: "cursor is not one that list_workflows gave",
        field: "cursor",
        hint: "Pass nextCursor of the page before, unchanged, or leave it out to start anew."
      })
    )
  )

/** The most n8n gives at once. */
const maxPage = 250

/** Names change rarely and cost a whole workflow each. */
const nameTtl = "1 minute"

/** What n8n shows for executions whose workflow is gone. */
export const deletedWorkflow = "Deleted Workflow"

/** What a request about one workflow is about. */
export const workflowTarget = (id: string, operation = "get workflow"): N8nError.Target => ({
  operation,
  resourceType: "Workflow",
  resourceId: id
})

/** Where one workflow is. */
export const path = (id: string): string => `/workflows/${encodeURIComponent(id)}`

export const make = Effect.fnUntraced(function*(requests: Requests) {
  const list = Effect.fn("N8nClient.listWorkflows")(function*(query: Query) {
    const wanted = (workflow: Workflow.Listed) =>
      (query.archived || workflow.isArchived !== true) &&
      (query.tags ?? []).every((tag) => Workflow.tagNames(workflow).includes(tag))
    // n8n splits at commas, so a tag with one in its name is left to the filter above.
    const tags = (query.tags ?? []).filter((tag) => !tag.includes(","))
    const kept: Array<Workflow.Listed> = []
    let position = query.cursor === undefined ? 0 : yield* decodeCursor(query.cursor)
    let skip = query.offset ?? 0
    // Twice as many each time: behind a page may lie any number of archived ones.
    for (let size = 0;;) {
      size = Math.min(maxPage, Math.max(2 * size, skip + query.limit - kept.length + 1))
      const page = yield* getJson(requests, "/workflows", Page, { operation: "list workflows" }, {
        limit: size,
        cursor: encodeCursor(position, size),
        active: query.active,
        // n8n 1.x refuses an empty one.
        name: query.name === "" ? undefined : query.name,
        tags: tags.length === 0 ? undefined : tags.join(","),
        excludePinnedData: true
      })
      for (const [index, workflow] of page.data.entries()) {
        if (!wanted(workflow)) continue
        if (skip > 0) {
          skip--
        } else if (kept.length < query.limit) {
          kept.push(workflow)
        } else {
          return { workflows: kept, nextCursor: encodeCursor(position + index, query.limit) }
        }
      }
      position += page.data.length
      if (page.data.length === 0 || typeof page.nextCursor !== "string") return { workflows: kept }
    }
  })

  const names = yield* Cache.makeWith(
    (id: string) =>
      getJson(requests, path(id), Schema.Struct({ name: Schema.String }), workflowTarget(id)).pipe(
        Effect.map(({ name }) => name),
        Effect.catchTag("NotFoundError", () => Effect.succeed(deletedWorkflow))
      ),
    { capacity: 1_000, timeToLive: (exit) => Exit.isSuccess(exit) ? nameTtl : 0 }
  )

  return {
    listWorkflows: list,
    getWorkflow: Effect.fn("N8nClient.getWorkflow")((id: string) =>
      getJson(requests, path(id), Workflow.Workflow, workflowTarget(id))
    ),
    workflowName: Effect.fn("N8nClient.workflowName")((id: string) => Cache.get(names, id))
  }
})
