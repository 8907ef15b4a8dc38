/** Workflows: listed, read, written, published, and what the API lacks of that. */
import * as Cache from "effect/Cache"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import type { Obj } from "../base/Json.ts"
import * as Workflow from "./model/Workflow.ts"
import { getJson, hasStatus, isUnknownParameter, maxPages, pageOf, type Requests, sendJson } from "./requests.ts"

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

/** The workflow endpoints. None that writes is sent twice when it may have arrived. */
export interface Service {
  /** `GET /workflows`, paged until `limit` that match are found, or 40 pages read: `nextCursor` then goes on; on every n8n version with `offset` and `tags`. */
  readonly listWorkflows: (
    query: Query
  ) => Effect.Effect<
    { readonly workflows: ReadonlyArray<Workflow.Listed>; readonly nextCursor?: string },
    Errors.N8nError
  >
  /** `GET /workflows/{id}`. */
  readonly getWorkflow: (id: string) => Effect.Effect<Workflow.Workflow, Errors.N8nError>
  /** A workflow's name, kept for a minute; {@link deletedWorkflow} when n8n has it no more. */
  readonly workflowName: (id: string) => Effect.Effect<string, Errors.N8nError>
  /** `POST /workflows`; the answer is the workflow as n8n stored it. */
  readonly createWorkflow: (body: Obj) => Effect.Effect<Workflow.Workflow, Errors.N8nError>
  /** `PUT /workflows/{id}`; on 2.x the result of writing to a published workflow is a draft. */
  readonly putWorkflow: (id: string, body: Obj) => Effect.Effect<Workflow.Workflow, Errors.N8nError>
  /** `DELETE /workflows/{id}`. */
  readonly deleteWorkflow: (id: string) => Effect.Effect<void, Errors.N8nError>
  /** `POST /workflows/{id}/publish` (2.x) or `/activate`; asynchronous on 2.x. */
  readonly publishWorkflow: (id: string, versionId?: string) => Effect.Effect<Workflow.Workflow, Errors.N8nError>
  /** `POST /workflows/{id}/unpublish` (2.x) or `/deactivate`; asynchronous on 2.x. */
  readonly unpublishWorkflow: (id: string) => Effect.Effect<Workflow.Workflow, Errors.N8nError>
}

const Page = pageOf(Workflow.Listed)

/** n8n's own cursor, on 1.x and 2.x alike: base64 of `{limit, offset}`. Written by us it serves as `offset`. */
const Cursor = Schema.StringFromBase64.pipe(
  Schema.decodeTo(Schema.fromJsonString(Schema.Struct({ limit: Schema.Int, offset: Schema.Int })))
)

const encodeCursor = (offset: number, limit: number) => Schema.encodeSync(Cursor)({ limit, offset })

const decodeCursor = (cursor: string) =>
  Schema.decodeEffect(Cursor)(cursor).pipe(
    Effect.map(({ offset }) => offset),
    Effect.mapError(() =>
      new Errors.ValidationError({
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
export const workflowTarget = (id: string, operation = "get workflow"): Errors.Target => ({
  operation,
  resourceType: "Workflow",
  resourceId: id
})

/** Where one workflow is. */
export const path = (id: string): string => `/workflows/${encodeURIComponent(id)}`

/** The workflow endpoints of one n8n. */
export const make = Effect.fnUntraced(function*(requests: Requests) {
  const listWorkflows = Effect.fn("N8nClient.listWorkflows")(function*(query: Query) {
    const wanted = (workflow: Workflow.Listed) =>
      (query.archived || workflow.isArchived !== true) &&
      (query.tags ?? []).every((tag) => Workflow.tagNames(workflow).includes(tag))
    // n8n splits at commas, so a tag with one in its name is left to the filter above.
    const tags = (query.tags ?? []).filter((tag) => !tag.includes(","))
    const kept: Array<Workflow.Listed> = []
    let position = query.cursor === undefined ? 0 : yield* decodeCursor(query.cursor)
    let skip = query.offset ?? 0
    // Twice as many each time: behind a page may lie any number of archived ones.
    for (let size = 0, pages = 0; pages < maxPages; pages++) {
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
    return { workflows: kept, nextCursor: encodeCursor(position, query.limit) }
  })

  const names = yield* Cache.makeWith(
    (id: string) =>
      getJson(requests, path(id), Schema.Struct({ name: Schema.String }), workflowTarget(id)).pipe(
        Effect.map(({ name }) => name),
        Effect.catchTag("NotFoundError", () => Effect.succeed(deletedWorkflow))
      ),
    { capacity: 1_000, timeToLive: (exit) => Exit.isSuccess(exit) ? nameTtl : 0 }
  )

  const hasDrafts = yield* Ref.make(true)

  const createWorkflow = Effect.fn("N8nClient.createWorkflow")((body: Obj) =>
    requests.inTurn(sendJson(requests, { method: "POST", path: "/workflows", body }, Workflow.Workflow, {
      operation: "create workflow"
    }))
  )

  /** A draft where there are drafts: what runs stays what it is until it is published. */
  const putWorkflow = Effect.fn("N8nClient.putWorkflow")(function*(id: string, body: Obj) {
    const target = workflowTarget(id, "update workflow")
    const put = (query: { readonly publishIfActive?: boolean }) =>
      sendJson(requests, { method: "PUT", path: path(id), query, body }, Workflow.Workflow, target)
    if (!(yield* Ref.get(hasDrafts))) return yield* put({})
    return yield* put({ publishIfActive: false }).pipe(
      Effect.catchIf(isUnknownParameter, () => Effect.andThen(Ref.set(hasDrafts, false), put({})))
    )
  }, requests.inTurn)

  const deleteWorkflow = Effect.fn("N8nClient.deleteWorkflow")((id: string) =>
    requests.inTurn(requests.send(
      { method: "DELETE", path: path(id) },
      workflowTarget(id, "delete workflow"),
      () => Effect.void
    ))
  )

  /** `/publish` and `/unpublish` are `/activate` and `/deactivate` on 1.x. */
  const switchTo = (id: string, action: string, actionOn1: string, body: Obj) => {
    const target = workflowTarget(id, `${action} workflow`)
    const post = (action: string, body: Obj | undefined) =>
      sendJson(requests, { method: "POST", path: `${path(id)}/${action}`, body }, Workflow.Workflow, target)
    return requests.inTurn(
      post(action, body).pipe(Effect.catchIf(hasStatus(404, 405), () => post(actionOn1, undefined)))
    )
  }

  return {
    listWorkflows,
    getWorkflow: Effect.fn("N8nClient.getWorkflow")((id: string) =>
      getJson(requests, path(id), Workflow.Workflow, workflowTarget(id))
    ),
    workflowName: Effect.fn("N8nClient.workflowName")((id: string) => Cache.get(names, id)),
    createWorkflow,
    putWorkflow,
    deleteWorkflow,
    publishWorkflow: Effect.fn("N8nClient.publishWorkflow")((id: string, versionId?: string) =>
      switchTo(id, "publish", "activate", versionId === undefined ? {} : { versionId })
    ),
    unpublishWorkflow: Effect.fn("N8nClient.unpublishWorkflow")((id: string) =>
      switchTo(id, "unpublish", "deactivate", {})
    )
  } satisfies Service
})
