/** The endpoints that change something, and what n8n 1.x has instead of some. None is sent twice when it may have arrived. */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import type { Obj } from "../domain/Json.ts"
import * as Workflow from "../domain/Workflow.ts"
import * as N8nError from "../N8nError.ts"
import { executionTarget } from "./executions.ts"
import { getJson, type Requests, sendJson } from "./Requests.ts"
import { path, workflowTarget } from "./workflows.ts"

const Tag = Schema.Struct({ id: Schema.String, name: Schema.String })

const TagPage = Schema.Struct({
  data: Schema.Array(Tag),
  nextCursor: Schema.optionalKey(Schema.NullOr(Schema.String))
})

/** A version that n8n keeps of a workflow's nodes and connections (2.x). */
export const Version = Schema.Struct({
  versionId: Schema.String,
  authors: Schema.optionalKey(Schema.NullOr(Schema.String)),
  createdAt: Schema.String
})
export type Version = typeof Version.Type

const Versions = Schema.Struct({ data: Schema.Array(Version) })

/** What a version holds. */
export const VersionContent = Schema.StructWithRest(
  Schema.Struct({
    nodes: Workflow.Workflow.schema.fields.nodes,
    connections: Workflow.Workflow.schema.fields.connections
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
export type VersionContent = typeof VersionContent.Type

/** Which of its values a credential's secret is, n8n tells nobody. */
export const Credential = Schema.Struct({ id: Schema.String, name: Schema.String, type: Schema.String })
export type Credential = typeof Credential.Type

const CredentialPage = Schema.Struct({
  data: Schema.Array(Credential),
  nextCursor: Schema.optionalKey(Schema.NullOr(Schema.String))
})

const Started = Schema.Struct({
  id: Schema.Union([Schema.String, Schema.Finite]),
  status: Schema.optionalKey(Schema.NullOr(Schema.String))
})

const hasStatus = (...statuses: ReadonlyArray<number>) => (error: N8nError.N8nError) =>
  error._tag === "ApiError" && error.statusCode !== undefined && statuses.includes(error.statusCode)

/** n8n 1.x takes no such parameter; nothing has happened then. */
const isUnknownParameter = (error: N8nError.N8nError) =>
  error._tag === "ApiError" && error.statusCode === 400 &&
  (error.errorDetails ?? "").startsWith("Unknown query parameter")

export const make = Effect.fnUntraced(function*(requests: Requests) {
  const hasDrafts = yield* Ref.make(true)
  // 1.x on SQLite without a pool, as it is by default: transactions that overlap break its connection for good, or take
  // back with one what another has written.
  const alone = (yield* Semaphore.make(1)).withPermits(1)

  const createWorkflow = Effect.fn("N8nClient.createWorkflow")((body: Obj) =>
    alone(sendJson(requests, { method: "POST", path: "/workflows", body }, Workflow.Workflow, {
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
  }, alone)

  const deleteWorkflow = Effect.fn("N8nClient.deleteWorkflow")((id: string) =>
    alone(requests.send(
      { method: "DELETE", path: path(id) },
      workflowTarget(id, "delete workflow"),
      () => Effect.void
    ))
  )

  /** `/publish` and `/unpublish` are `/activate` and `/deactivate` on 1.x. */
  const switched = (id: string, now: string, before: string, operation: string, body: Obj) => {
    const target = workflowTarget(id, operation)
    const post = (action: string, body: Obj | undefined) =>
      sendJson(requests, { method: "POST", path: `${path(id)}/${action}`, body }, Workflow.Workflow, target)
    return alone(post(now, body).pipe(Effect.catchIf(hasStatus(404, 405), () => post(before, undefined))))
  }

  const history = Effect.fn("N8nClient.workflowHistory")((id: string) =>
    getJson(requests, `${path(id)}/history`, Versions, workflowTarget(id, "read the history of workflow")).pipe(
      Effect.map(({ data }): ReadonlyArray<Version> | undefined => data),
      // 1.x has no such path, and reads `history` as the id of a version.
      Effect.catchIf(
        (error) => hasStatus(404, 405)(error) || error._tag === "NotFoundError",
        () => Effect.succeed(undefined)
      )
    )
  )

  const tagIds = Effect.fn("N8nClient.tagIds")(function*(names: ReadonlyArray<string>) {
    if (names.length === 0) return []
    const known = new Map<string, string>()
    for (let cursor: string | undefined, more = true; more;) {
      const page = yield* getJson(requests, "/tags", TagPage, { operation: "list tags" }, { limit: 250, cursor })
      for (const tag of page.data) known.set(tag.name, tag.id)
      cursor = page.nextCursor ?? undefined
      more = cursor !== undefined
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
    createWorkflow,
    putWorkflow,
    deleteWorkflow,
    publishWorkflow: Effect.fn("N8nClient.publishWorkflow")((id: string, versionId?: string) =>
      switched(id, "publish", "activate", "publish workflow", versionId === undefined ? {} : { versionId })
    ),
    unpublishWorkflow: Effect.fn("N8nClient.unpublishWorkflow")((id: string) =>
      switched(id, "unpublish", "deactivate", "unpublish workflow", {})
    ),
    workflowHistory: history,
    workflowVersion: Effect.fn("N8nClient.workflowVersion")((id: string, version: string) =>
      getJson(requests, `${path(id)}/versions/${encodeURIComponent(version)}`, VersionContent, {
        operation: "read a version of workflow",
        resourceType: "Version",
        resourceId: version
      })
    ),
    setWorkflowTags: Effect.fn("N8nClient.setWorkflowTags")(function*(id: string, names: ReadonlyArray<string>) {
      const body = (yield* tagIds(names)).map((tag) => ({ id: tag }))
      yield* sendJson(
        requests,
        { method: "PUT", path: `${path(id)}/tags`, body },
        Schema.Unknown,
        workflowTarget(id, "set the tags of workflow")
      )
    }, alone),
    retryExecution: Effect.fn("N8nClient.retryExecution")((id: string, loadWorkflow: boolean) =>
      sendJson(
        requests,
        { method: "POST", path: `/executions/${encodeURIComponent(id)}/retry`, body: { loadWorkflow }, seconds: 180 },
        Started,
        executionTarget("retry execution", id)
      )
    ),
    stopExecution: Effect.fn("N8nClient.stopExecution")((id: string) =>
      sendJson(
        requests,
        { method: "POST", path: `/executions/${encodeURIComponent(id)}/stop` },
        Schema.Struct({ status: Schema.optionalKey(Schema.NullOr(Schema.String)) }),
        executionTarget("stop execution", id)
      )
    ),
    listCredentials: Effect.fn("N8nClient.listCredentials")((query: { limit: number; cursor?: string | undefined }) =>
      getJson(requests, "/credentials", CredentialPage, { operation: "list credentials" }, { ...query })
    )
  }
})
