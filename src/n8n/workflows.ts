/** Workflows: list, read, write and publish; filters that the API lacks are applied here. */
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import { defined, type Obj, obj } from "../base/Json.ts"
import { maxPage } from "./model/Limits.ts"
import * as NameSearch from "./model/NameSearch.ts"
import * as TestMark from "./model/TestMark.ts"
import * as Workflow from "./model/Workflow.ts"
import { checking, encodePosition, maxPages, pageOf, pages } from "./pages.ts"
import { pathOf } from "./paths.ts"
import * as Requests from "./requests.ts"

/** Conditions of workflows, which must meet all of them: part of the `name`, ignoring case and accents, and every tag. */
export interface Conditions {
  readonly active?: boolean | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  readonly name?: string | undefined
  /** Exactly this name. */
  readonly fullName?: string | undefined
  /** Of this project (needs a licence). */
  readonly projectId?: string | undefined
  /** A condition that n8n does not have. */
  readonly filter?: ((workflow: Workflow.Listed) => boolean) | undefined
  /** Whether archived ones are included. Default: no. */
  readonly archived?: boolean | undefined
  /** Whether test copies are included. Default: no. */
  readonly copies?: boolean | undefined
}

/** A query for a page of workflows. */
export interface Query extends Conditions {
  /** 1 to 10,000, in as many requests as it takes. Default: 100. */
  readonly limit?: number | undefined
  /** Number of matching workflows to skip. */
  readonly offset?: number | undefined
  /** The `nextCursor` of an earlier page; `offset` then counts from there. */
  readonly cursor?: string | undefined
}

/** Name and description of a version. */
export interface VersionLabels {
  readonly name?: string | undefined
  readonly description?: string | undefined
}

const Page = pageOf(Workflow.Listed)

/** Checks the query of a list, which may take several pages. */
const checkList = checking(10_000)

/** Page size of a list with a filter on contents, and the time limit in milliseconds. */
const scanPage = 50
const scanTime = 20_000

const byCode = (a: string, b: string) => a < b ? -1 : a > b ? 1 : 0

/** Orders in which n8n's database sorts ids, by their mark in a cursor: SQLite by code, PostgreSQL by its locale. */
const orders: Readonly<Record<string, (a: string, b: string) => number>> = {
  "-": byCode,
  // Small letters before capital ones, where nothing else differs: an id has letters and digits only.
  "~": (a, b) => byCode(a.toLowerCase(), b.toLowerCase()) || byCode(b, a)
}

/** Position in n8n's list, the id of the row before it, and the marks of the orders that the rows so far are in. */
interface Place {
  readonly position: number
  readonly after?: string | undefined
  readonly marks: ReadonlyArray<string>
}

const encodeCursor = ({ after = "", marks: [mark = ".", other], position }: Place) =>
  `${position}${other === undefined ? mark : "."}${after}`

const decodeCursor = (cursor: string) => {
  const { after, mark = "", position } = /^(?<position>\d{1,9})(?<mark>[-~.])(?<after>.+)$/.exec(cursor)?.groups ?? {}
  const marks = Object.keys(orders)
  return after === undefined
    ? Errors.invalid(
      "cursor",
      "cursor is not a nextCursor of this list",
      "Pass nextCursor of the previous page unchanged, or leave it out to start from the beginning."
    )
    : Effect.succeed<Place>({ position: Number(position), after, marks: mark === "." ? marks : [mark] })
}

/** The name that n8n shows for executions of a deleted workflow. */
export const deletedWorkflow = "Deleted Workflow"

const listTarget: Errors.Target = { operation: "list workflows" }

export const workflowTarget = (id: string, operation = "get workflow"): Errors.ResourceTarget => ({
  operation,
  resourceType: "Workflow",
  resourceId: id
})

export const path = (id: string): string => pathOf`/workflows/${id}`

const Deleted = Schema.Struct({ id: Schema.String })

const wouldPublish = (id: string) =>
  Errors.invalid(
    "id",
    `Workflow '${id}' has unpublished changes of someone else, and this n8n's API publishes whatever it writes`,
    "Nothing was written. Publish or discard those changes first, then write again. (n8n 2.40 and later can.)"
  )

const mayBeDeleted = "It may have been deleted anyway: check whether it still exists before you delete it again."

/** Reads n8n's list by id in pages that overlap by one row, and goes back where rows have left it meanwhile. */
const reader = (
  { after: first, marks, position }: Place,
  read: (position: number, size: number) => Effect.Effect<typeof Page.Type, Errors.RequestError>
) => {
  let after = first
  const seen = new Set(first === undefined ? [] : [first])
  const readFrom = Effect.fnUntraced(function*(start: number, size: number) {
    const page = yield* read(start, size)
    const rows = page.data
    marks = marks.filter((mark) =>
      rows.every(({ id }, index) => index === 0 || (orders[mark]?.(rows[index - 1]?.id ?? "", id) ?? 0) < 0)
    )
    const last = rows.findLastIndex(({ id }) => seen.has(id))
    const known = last !== -1 || first === undefined || marks.length === 0
      ? last
      : rows.findLastIndex(({ id }) => marks.every((mark) => (orders[mark]?.(id, first) ?? 0) <= 0))
    return { start, known, page }
  })
  return Effect.fnUntraced(function*(size: number) {
    const overlap = position > 0 && size > 1 ? 1 : 0
    let { known, page, start } = yield* readFrom(position - overlap, Math.min(maxPage, size + overlap))
    for (let step = scanPage * overlap; step > 0 && known === -1 && start > 0; step = Math.min(maxPage, 2 * step)) {
      ;({ known, page, start } = yield* readFrom(Math.max(0, start - step), step))
    }
    const rows = page.data.slice(known + 1)
    const before = page.data[known]?.id ?? after
    const place = (index: number): Place => ({
      position: start + known + 1 + index,
      after: rows[index - 1]?.id ?? before,
      marks
    })
    position = start + page.data.length
    after = page.data.at(-1)?.id ?? after
    for (const { id } of rows) seen.add(id)
    return { rows, place, isLast: page.data.length === 0 || typeof page.nextCursor !== "string" }
  })
}

/** Returns a function that checks a workflow against the conditions, except the project. */
export const matcher = ({ active, archived, copies, filter, fullName, name = "", tags = [] }: Conditions) => {
  const isNamed = fullName === undefined ? NameSearch.contains(name) : (name: string) => name === fullName
  return (workflow: Workflow.Listed): boolean =>
    isNamed(workflow.name) &&
    (active === undefined || workflow.active === active) &&
    (archived === true || workflow.isArchived !== true) &&
    (copies === true || !TestMark.isCopy(workflow)) &&
    tags.every((tag) => Workflow.tagNames(workflow).includes(tag)) &&
    filter?.(workflow) !== false
}

/** Lists workflows page by page: n8n's own filters narrow, ours decide. */
const list = (requests: Requests.Requests) =>
  Effect.fn("N8nClient.listWorkflows")(function*(
    query: Query = {}
  ): Effect.fn.Return<
    {
      readonly workflows: ReadonlyArray<Workflow.Listed>
      /** Cursor that continues after each of the workflows. */
      readonly cursors: ReadonlyArray<string>
      readonly nextCursor?: string
    },
    Errors.RequestError
  > {
    const { fullName, limit = 100, name = "" } = query
    yield* checkList({ ...query, limit })
    const matches = matcher(query)
    // n8n splits at commas, so only the filter above handles a tag with a comma in its name.
    const tags = (query.tags ?? []).filter((tag) => !tag.includes(","))
    const results: Array<Workflow.Listed> = []
    const cursors: Array<string> = []
    const from = query.cursor === undefined
      ? { position: 0, marks: Object.keys(orders) }
      : yield* decodeCursor(query.cursor)
    let skip = query.offset ?? 0
    let most = query.filter === undefined ? maxPage : scanPage
    const read = (position: number, size: number): Effect.Effect<typeof Page.Type, Errors.RequestError> =>
      Requests.getJson(requests, "/workflows", Page, listTarget, {
        limit: size,
        cursor: encodePosition({ limit: size, offset: position }),
        active: query.active,
        // n8n 1.x refuses an empty name; wildcards in a full name also match themselves.
        name: (fullName ?? NameSearch.pattern(name)) || undefined,
        tags: tags.length === 0 ? undefined : tags.join(","),
        projectId: query.projectId,
        excludePinnedData: true
      }).pipe(
        // n8n lists whole workflows, and some are large.
        Effect.catchIf(
          (error) => size > 1 && Requests.isTooLarge(error),
          () => Effect.suspend(() => read(position, most = Math.ceil(size / 4)))
        )
      )
    const next = reader(from, read)
    const until = (yield* Clock.currentTimeMillis) + scanTime
    // The page size doubles, since any number of archived workflows may follow.
    let end: Place = from
    for (let size = 0, pages = 0; pages < maxPages; pages++) {
      const needed = query.filter === undefined ? skip + limit - results.length + 1 : scanPage
      size = Math.min(most, Math.max(2 * size, needed))
      const { isLast, place, rows } = yield* next(size)
      for (const [index, workflow] of rows.entries()) {
        if (!matches(workflow)) continue
        if (skip > 0) {
          skip--
        } else if (results.length < limit) {
          results.push(workflow)
          cursors.push(encodeCursor(place(index + 1)))
        } else {
          return { workflows: results, cursors, nextCursor: encodeCursor(place(index)) }
        }
      }
      if (isLast) return { workflows: results, cursors }
      end = place(rows.length)
      if ((query.filter !== undefined || name !== "") && (yield* Clock.currentTimeMillis) > until) break
    }
    return { workflows: results, cursors, nextCursor: encodeCursor(end) }
  })

/** Publishes or unpublishes; `/publish` and `/unpublish` were `/activate` and `/deactivate` before 2.40. */
const switchTo = (requests: Requests.Requests) => (id: string, action: string, earlierAction: string, body: Obj) => {
  const target = workflowTarget(id, `${action} workflow`)
  const post = (action: string, body: Obj | undefined) =>
    Requests.postJson(requests, `${path(id)}/${action}`, Workflow.Workflow, target, { body })
  return requests.serializeWrite(
    post(action, body).pipe(
      // Without a version the body is empty, and 1.x accepts none here.
      Effect.catchIf(
        (error) => Requests.hasStatus(404, 405)(error) && !("name" in body || "description" in body),
        () => post(earlierAction, "versionId" in body ? body : undefined)
      )
    )
  )
}

/** Nodes of a workflow to create, at a place, which n8n requires as it does settings. */
const placed = (nodes: unknown): unknown =>
  Array.isArray(nodes) ? nodes.map((node) => obj(node) ? { position: [0, 0], ...node } : node) : nodes

/** The workflow endpoints. A write is never sent again if it may have arrived. */
export const make = Effect.fnUntraced(function*(requests: Requests.Requests) {
  const listWorkflows = list(requests)

  // Names change rarely, and each takes a request for the whole workflow.
  const names = yield* Cache.makeWith(
    Effect.fn("N8nClient.workflowName")((id: string) =>
      Requests.getJson(requests, path(id), Schema.Struct({ name: Schema.String }), workflowTarget(id)).pipe(
        Effect.map(({ name }) => name),
        Effect.catchTag("NotFoundError", () => Effect.succeed(deletedWorkflow))
      )
    ),
    { capacity: 1_000, timeToLive: (exit) => Exit.isSuccess(exit) ? "1 minute" : 0 }
  )

  const supportsDrafts = yield* Ref.make(true)

  const putWorkflow = Effect.fn("N8nClient.putWorkflow")(function*(
    id: string,
    body: Obj,
    options: { readonly publishes?: boolean | undefined } = {}
  ) {
    const target = workflowTarget(id, "update workflow")
    const put = (query: { readonly publishIfActive?: boolean }) =>
      Requests.sendJson(requests, { method: "PUT", path: path(id), query, body }, Workflow.Workflow, target)
    const putAndPublish = Effect.suspend(() => options.publishes === false ? wouldPublish(id) : put({}))
    if (!(yield* Ref.get(supportsDrafts))) return yield* putAndPublish
    return yield* put({ publishIfActive: false }).pipe(
      Effect.catchIf(Requests.isUnknownParameter, () => Effect.andThen(Ref.set(supportsDrafts, false), putAndPublish))
    )
  }, requests.serializeWrite)

  /** n8n answers with the deleted workflow: after another answer with status 200 (a login page) it may still exist. */
  const deleteWorkflow = Effect.fn("N8nClient.deleteWorkflow")(function*(id: string) {
    const target = workflowTarget(id, "delete workflow")
    yield* requests.send(
      { method: "DELETE", path: path(id) },
      target,
      (response) => response.status === 404 ? Effect.void : Requests.readJson(response, Deleted, target)
    ).pipe(
      Effect.catchIf(
        Errors.isUncertain,
        (error) =>
          Requests.getJson(requests, path(id), Schema.Unknown, workflowTarget(id)).pipe(
            Effect.matchEffect({
              onSuccess: () => Effect.fail(error),
              onFailure: ({ _tag }) =>
                _tag === "NotFoundError"
                  ? Effect.void
                  : Effect.fail(new Errors.ApiError({ ...error, hint: mayBeDeleted }))
            })
          )
      )
    )
  }, requests.serializeWrite)

  return {
    /**
     * `GET /workflows`, page by page until `limit` workflows match or 40 pages are read; `nextCursor` then continues.
     * With a `filter` a page is 50 workflows; with one, or a `name`, it also ends after 20 seconds. `offset` and `tags`
     * work on every n8n version.
     */
    listWorkflows,
    /**
     * All workflows that meet the conditions, without archived ones unless asked, a page at a time as they are asked for.
     * One that is created meanwhile may be missing; none is listed twice or hidden by another that is deleted.
     */
    streamWorkflows: ({ archived = false, ...query }: Conditions = {}) =>
      pages(listTarget, (cursor) =>
        Effect.map(
          // One request reads them, with the row before them and the one after.
          listWorkflows({ ...query, archived, limit: maxPage - 2, cursor }),
          ({ nextCursor, workflows }) => [workflows, nextCursor] as const
        )),
    /** `GET /workflows/{id}`. */
    getWorkflow: Effect.fn("N8nClient.getWorkflow")((
      id: string,
      options: { readonly excludePinnedData?: boolean } = {}
    ) => Requests.getJson(requests, path(id), Workflow.Workflow, workflowTarget(id), { ...options })),
    /** `GET /workflows/{id}`: its name, cached for a minute; {@link deletedWorkflow} if it no longer exists. */
    workflowName: (id: string) => Cache.get(names, id),
    /** `POST /workflows`; returns it as stored. `projectId` and `parentFolderId` place it (2.x, with a licence). */
    createWorkflow: Effect.fn("N8nClient.createWorkflow")((body: Workflow.New) =>
      requests.serializeWrite(
        Requests.postJson(requests, "/workflows", Workflow.Workflow, { operation: "create workflow" }, {
          body: { settings: {}, ...body, nodes: placed(body.nodes) }
        })
      )
    ),
    /**
     * `PUT /workflows/{id}`; since 2.40 a change of a published workflow is a draft, before it is published. With
     * `publishes: false` it fails with a `ValidationError` if it would be published: someone's draft would be, too.
     */
    putWorkflow,
    /** `DELETE /workflows/{id}`. */
    deleteWorkflow,
    /** `POST /workflows/{id}/archive` (2.x): it is unpublished, and nothing but `POST …/unarchive` changes it. */
    archiveWorkflow: Effect.fn("N8nClient.archiveWorkflow")((id: string) =>
      requests.serializeWrite(
        Requests.postJson(requests, `${path(id)}/archive`, Workflow.Workflow, workflowTarget(id, "archive workflow"))
      )
    ),
    /**
     * `POST /workflows/{id}/publish`, or `/activate` before 2.40; asynchronous on 2.x. Only 2.40 and later take labels of
     * the version.
     */
    publishWorkflow: Effect.fn("N8nClient.publishWorkflow")((
      id: string,
      versionId?: string,
      labels: VersionLabels = {}
    ) => switchTo(requests)(id, "publish", "activate", defined({ ...labels, versionId }))),
    /** `POST /workflows/{id}/unpublish`, or `/deactivate` before 2.40; asynchronous on 2.x. */
    unpublishWorkflow: Effect.fn("N8nClient.unpublishWorkflow")((id: string) =>
      switchTo(requests)(id, "unpublish", "deactivate", {})
    )
  }
})
