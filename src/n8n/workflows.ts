/** Workflows: list, read, write and publish; filters that the API lacks are applied here. */
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as Errors from "../base/Errors.ts"
import type { Obj } from "../base/Json.ts"
import { maxPage } from "./model/Limits.ts"
import * as NameSearch from "./model/NameSearch.ts"
import * as TestMark from "./model/TestMark.ts"
import * as Workflow from "./model/Workflow.ts"
import { maxPages, pageOf, pages } from "./pages.ts"
import {
  getJson,
  hasStatus,
  isTooLarge,
  isUnknownParameter,
  postJson,
  readJson,
  type Requests,
  sendJson
} from "./requests.ts"

/**
 * A query for workflows, which must meet all conditions: `name` as a part, ignoring case and accents, and every tag.
 */
export interface Query {
  readonly active?: boolean | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  readonly name?: string | undefined
  /** Exactly this name. */
  readonly fullName?: string | undefined
  /** Of this project (needs a licence). */
  readonly projectId?: string | undefined
  /** A condition that n8n does not have. */
  readonly filter?: ((workflow: Workflow.Listed) => boolean) | undefined
  /** Whether archived ones are included. */
  readonly archived: boolean
  /** Whether test copies are included. Default: no. */
  readonly copies?: boolean | undefined
  /** 1 to 100. */
  readonly limit: number
  /** Number of matching workflows to skip. */
  readonly offset?: number | undefined
  /** The `nextCursor` of an earlier page; `offset` then counts from there. */
  readonly cursor?: string | undefined
}

/** The workflow endpoints. A write is never sent again if it may have arrived. */
export interface Service {
  /**
   * `GET /workflows`, page by page until `limit` workflows match or 40 pages are read; `nextCursor` then continues.
   * With a `filter` a page is 50 workflows; with one, or a `name`, it also ends after 20 seconds. `offset` and `tags`
   * work on every n8n version.
   */
  readonly listWorkflows: (
    query: Query
  ) => Effect.Effect<
    { readonly workflows: ReadonlyArray<Workflow.Listed>; readonly nextCursor?: string },
    Errors.RequestError
  >
  /**
   * All workflows that meet the conditions, without archived ones unless asked, a page at a time as they are asked for.
   * A workflow that is created or deleted meanwhile may shift others across a page.
   */
  readonly streamWorkflows: (
    query?: Partial<Omit<Query, "limit" | "offset" | "cursor">>
  ) => Stream.Stream<Workflow.Listed, Errors.RequestError>
  /** `GET /workflows/{id}`. */
  readonly getWorkflow: (
    id: string,
    options?: { readonly excludePinnedData?: boolean }
  ) => Effect.Effect<Workflow.Workflow, Errors.N8nError>
  /** `GET /workflows/{id}`: its name, cached for a minute; {@link deletedWorkflow} if it no longer exists. */
  readonly workflowName: (id: string) => Effect.Effect<string, Errors.RequestError>
  /**
   * `POST /workflows`; returns the workflow as stored. On 2.x `projectId` and `parentFolderId` place it (with the
   * licence for it).
   */
  readonly createWorkflow: (body: Obj) => Effect.Effect<Workflow.Workflow, Errors.RequestError>
  /**
   * `PUT /workflows/{id}`; since 2.40 a change of a published workflow is a draft, before it is published.
   *
   * **Details**
   *
   * With `publishes: false` it fails with a `ValidationError` if it would be published: someone's draft would be, too.
   */
  readonly putWorkflow: (
    id: string,
    body: Obj,
    options?: { readonly publishes?: boolean | undefined }
  ) => Effect.Effect<Workflow.Workflow, Errors.N8nError>
  /** `DELETE /workflows/{id}`. */
  readonly deleteWorkflow: (id: string) => Effect.Effect<void, Errors.N8nError>
  /** `POST /workflows/{id}/archive` (2.x): it is unpublished, and nothing but `POST …/unarchive` changes it. */
  readonly archiveWorkflow: (id: string) => Effect.Effect<Workflow.Workflow, Errors.N8nError>
  /** `POST /workflows/{id}/publish`, or `/activate` before 2.40; asynchronous on 2.x. */
  readonly publishWorkflow: (id: string, versionId?: string) => Effect.Effect<Workflow.Workflow, Errors.N8nError>
  /** `POST /workflows/{id}/unpublish`, or `/deactivate` before 2.40; asynchronous on 2.x. */
  readonly unpublishWorkflow: (id: string) => Effect.Effect<Workflow.Workflow, Errors.N8nError>
}

const Page = pageOf(Workflow.Listed)

/** n8n's own cursor, base64 of `{limit, offset}`. Our cursors set the offset, for which 1.x has no parameter. */
const Cursor = Schema.StringFromBase64.pipe(
  Schema.decodeTo(Schema.fromJsonString(Schema.Struct({ limit: Schema.Int, offset: Schema.Int })))
)

/** Page size of a list with a filter on contents, and the time limit in milliseconds. */
const scanPage = 50
const scanTime = 20_000

const encodeCursor = (offset: number, limit: number) => Schema.encodeSync(Cursor)({ limit, offset })

const decodeCursor = (cursor: string) =>
  Schema.decodeEffect(Cursor)(cursor).pipe(
    Effect.map(({ offset }) => offset),
    Effect.mapError(() =>
      new Errors.ValidationError({
        reason: "cursor is not a nextCursor of this list",
        field: "cursor",
        hint: "Pass nextCursor of the previous page unchanged, or leave it out to start from the beginning."
      })
    )
  )

/** Names change rarely, and each takes a request for the whole workflow. */
const nameTtl = "1 minute"

/** The name that n8n shows for executions of a deleted workflow. */
export const deletedWorkflow = "Deleted Workflow"

const listTarget: Errors.Target = { operation: "list workflows" }

/** The target of a request about one workflow. */
export const workflowTarget = (id: string, operation = "get workflow"): Errors.ResourceTarget => ({
  operation,
  resourceType: "Workflow",
  resourceId: id
})

export const path = (id: string): string => `/workflows/${encodeURIComponent(id)}`

const Deleted = Schema.Struct({ id: Schema.String })

/** Whether it is unknown if the request had its effect. */
const isUnclear = (error: Errors.N8nError): error is Errors.ApiError =>
  error._tag === "ApiError" && (error.statusCode === undefined || error.statusCode >= 500)

const wouldPublish = (id: string) =>
  new Errors.ValidationError({
    reason: `Workflow '${id}' has unpublished changes of someone else, and this n8n's API publishes whatever it writes`,
    field: "id",
    hint: "Nothing was written. Publish or discard those changes first, then write again. (n8n 2.40 and later can.)"
  })

const mayBeDeleted = "It may have been deleted anyway: check whether it still exists before you call again."

/** Lists workflows page by page: n8n's own filters narrow, ours decide. */
const list = (requests: Requests) =>
  Effect.fn("N8nClient.listWorkflows")(function*(query: Query) {
    const { fullName, name = "" } = query
    const isNamed = fullName === undefined ? NameSearch.contains(name) : (name: string) => name === fullName
    const matches = (workflow: Workflow.Listed) =>
      isNamed(workflow.name) &&
      (query.archived || workflow.isArchived !== true) &&
      (query.copies === true || !TestMark.isCopy(workflow)) &&
      (query.tags ?? []).every((tag) => Workflow.tagNames(workflow).includes(tag)) &&
      query.filter?.(workflow) !== false
    // n8n splits at commas, so only the filter above handles a tag with a comma in its name.
    const tags = (query.tags ?? []).filter((tag) => !tag.includes(","))
    const results: Array<Workflow.Listed> = []
    let position = query.cursor === undefined ? 0 : yield* decodeCursor(query.cursor)
    let skip = query.offset ?? 0
    let most = query.filter === undefined ? maxPage : scanPage
    const read = (size: number): Effect.Effect<typeof Page.Type, Errors.RequestError> =>
      getJson(requests, "/workflows", Page, listTarget, {
        limit: size,
        cursor: encodeCursor(position, size),
        active: query.active,
        // n8n 1.x refuses an empty name; wildcards in a full name also match themselves.
        name: (fullName ?? NameSearch.pattern(name)) || undefined,
        tags: tags.length === 0 ? undefined : tags.join(","),
        projectId: query.projectId,
        excludePinnedData: true
      }).pipe(
        // n8n lists whole workflows, and some are large.
        Effect.catchIf(
          (error) => size > 1 && isTooLarge(error),
          () => Effect.suspend(() => read(most = Math.ceil(size / 4)))
        )
      )
    const until = (yield* Clock.currentTimeMillis) + scanTime
    // The page size doubles, since any number of archived workflows may follow.
    for (let size = 0, pages = 0; pages < maxPages; pages++) {
      const needed = query.filter === undefined ? skip + query.limit - results.length + 1 : scanPage
      size = Math.min(most, Math.max(2 * size, needed))
      const page = yield* read(size)
      for (const [index, workflow] of page.data.entries()) {
        if (!matches(workflow)) continue
        if (skip > 0) {
          skip--
        } else if (results.length < query.limit) {
          results.push(workflow)
        } else {
          return { workflows: results, nextCursor: encodeCursor(position + index, query.limit) }
        }
      }
      position += page.data.length
      if (page.data.length === 0 || typeof page.nextCursor !== "string") return { workflows: results }
      if ((query.filter !== undefined || name !== "") && (yield* Clock.currentTimeMillis) > until) break
    }
    return { workflows: results, nextCursor: encodeCursor(position, query.limit) }
  })

/** Implements the operations for one n8n. */
export const make = Effect.fnUntraced(function*(requests: Requests) {
  const listWorkflows = list(requests)

  const names = yield* Cache.makeWith(
    (id: string) =>
      getJson(requests, path(id), Schema.Struct({ name: Schema.String }), workflowTarget(id)).pipe(
        Effect.map(({ name }) => name),
        Effect.catchTag("NotFoundError", () => Effect.succeed(deletedWorkflow))
      ),
    { capacity: 1_000, timeToLive: (exit) => Exit.isSuccess(exit) ? nameTtl : 0 }
  )

  const supportsDrafts = yield* Ref.make(true)

  const createWorkflow = Effect.fn("N8nClient.createWorkflow")((body: Obj) =>
    requests.serializeWrite(
      postJson(requests, "/workflows", Workflow.Workflow, { operation: "create workflow" }, { body })
    )
  )

  /** Saves a draft where the API can: the published version keeps running. */
  const putWorkflow = Effect.fn("N8nClient.putWorkflow")(function*(
    id: string,
    body: Obj,
    { publishes = true }: { readonly publishes?: boolean | undefined } = {}
  ) {
    const target = workflowTarget(id, "update workflow")
    const put = (query: { readonly publishIfActive?: boolean }) =>
      sendJson(requests, { method: "PUT", path: path(id), query, body }, Workflow.Workflow, target)
    const putAndPublish = Effect.suspend(() => publishes ? put({}) : Effect.fail(wouldPublish(id)))
    if (!(yield* Ref.get(supportsDrafts))) return yield* putAndPublish
    return yield* put({ publishIfActive: false }).pipe(
      Effect.catchIf(isUnknownParameter, () => Effect.andThen(Ref.set(supportsDrafts, false), putAndPublish))
    )
  }, requests.serializeWrite)

  /** n8n answers with the deleted workflow: after another answer with status 200 (a login page) it may still exist. */
  const deleteWorkflow = Effect.fn("N8nClient.deleteWorkflow")(function*(id: string) {
    const target = workflowTarget(id, "delete workflow")
    yield* requests.send(
      { method: "DELETE", path: path(id) },
      target,
      (response) => response.status === 404 ? Effect.void : readJson(response, Deleted, target)
    ).pipe(
      Effect.catchIf(isUnclear, (error) =>
        getJson(requests, path(id), Schema.Unknown, workflowTarget(id)).pipe(
          Effect.matchEffect({
            onSuccess: () => Effect.fail(error),
            onFailure: ({ _tag }) =>
              _tag === "NotFoundError"
                ? Effect.void
                : Effect.fail(new Errors.ApiError({ ...error, hint: mayBeDeleted }))
          })
        ))
    )
  }, requests.serializeWrite)

  /** Publishes or unpublishes; `/publish` and `/unpublish` were `/activate` and `/deactivate` before 2.40. */
  const switchTo = (id: string, action: string, earlierAction: string, body: Obj) => {
    const target = workflowTarget(id, `${action} workflow`)
    const post = (action: string, body: Obj | undefined) =>
      postJson(requests, `${path(id)}/${action}`, Workflow.Workflow, target, { body })
    return requests.serializeWrite(
      post(action, body).pipe(
        // Without a version the body is empty, and 1.x accepts none here.
        Effect.catchIf(hasStatus(404, 405), () => post(earlierAction, "versionId" in body ? body : undefined))
      )
    )
  }

  return {
    listWorkflows,
    streamWorkflows: ({ archived = false, ...query } = {}) =>
      pages(listTarget, (cursor) =>
        Effect.map(
          listWorkflows({ ...query, archived, limit: maxPage, cursor }),
          ({ nextCursor, workflows }) => [workflows, nextCursor] as const
        )),
    getWorkflow: Effect.fn("N8nClient.getWorkflow")((
      id: string,
      options: { readonly excludePinnedData?: boolean } = {}
    ) => getJson(requests, path(id), Workflow.Workflow, workflowTarget(id), { ...options })),
    workflowName: Effect.fn("N8nClient.workflowName")((id: string) => Cache.get(names, id)),
    createWorkflow,
    putWorkflow,
    deleteWorkflow,
    archiveWorkflow: Effect.fn("N8nClient.archiveWorkflow")((id: string) =>
      requests.serializeWrite(
        postJson(requests, `${path(id)}/archive`, Workflow.Workflow, workflowTarget(id, "archive workflow"))
      )
    ),
    publishWorkflow: Effect.fn("N8nClient.publishWorkflow")((id: string, versionId?: string) =>
      switchTo(id, "publish", "activate", versionId === undefined ? {} : { versionId })
    ),
    unpublishWorkflow: Effect.fn("N8nClient.unpublishWorkflow")((id: string) =>
      switchTo(id, "unpublish", "deactivate", {})
    )
  } satisfies Service
})
