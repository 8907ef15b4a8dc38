/** History of a workflow's nodes and connections (n8n 2.x). */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../base/Errors.ts"
import { maxPage } from "./model/Limits.ts"
import * as Workflow from "./model/Workflow.ts"
import { checked, pageOf } from "./pages.ts"
import { pathOf } from "./paths.ts"
import { getJson, hasStatus, isUnknownParameter, type Requests } from "./requests.ts"
import { path, workflowTarget } from "./workflows.ts"

/** Entry of a workflow's history (2.x); `createdAt` is ISO 8601. */
export class Version extends Schema.Opaque<Version>()(Schema.Struct({
  versionId: Schema.String,
  authors: Schema.optionalKey(Schema.NullOr(Schema.String)),
  createdAt: Schema.String
})) {}

const Versions = pageOf(Version)

/** n8n's ids of versions are UUIDs. */
const versionId = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The nodes and connections of a workflow in one version. */
export class VersionContent extends Schema.Opaque<VersionContent>()(Schema.StructWithRest(
  Schema.Struct({
    nodes: Workflow.Workflow.schema.fields.nodes,
    connections: Workflow.Workflow.schema.fields.connections
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)) {}

export const make = (requests: Requests) => ({
  /** `GET /workflows/{id}/history`, newest first, at most 250; `undefined` before 2.40, where no API lists it. */
  workflowHistory: Effect.fn("N8nClient.workflowHistory")((
    id: string,
    options: { readonly limit?: number } = {}
  ) =>
    checked({ limit: options.limit ?? maxPage }).pipe(
      Effect.flatMap((query) =>
        getJson(requests, `${path(id)}/history`, Versions, workflowTarget(id, "read the history of workflow"), query)
      ),
      Effect.map(({ data }): ReadonlyArray<Version> | undefined => data),
      // 1.x has no such path: it reads `history` as the id of a version, and allows no query there.
      Effect.catchTag("NotFoundError", () => Effect.undefined),
      Effect.catchIf((error) => hasStatus(404, 405)(error) || isUnknownParameter(error), () => Effect.undefined)
    )
  ),
  /** `GET /workflows/{id}/versions/{version}`, or `/workflows/{id}/{version}` before 2.40. */
  workflowVersion: Effect.fn("N8nClient.workflowVersion")((id: string, version: string) => {
    const read = (folder: string) =>
      getJson(requests, path(id) + folder + pathOf`/${version}`, VersionContent, {
        operation: "read a version of workflow",
        resourceType: "Version",
        resourceId: version
      })
    const isMissing = (error: Errors.N8nError) => error._tag === "NotFoundError" || hasStatus(404, 405)(error)
    return read("/versions").pipe(
      // Anything but a version's id would be another path of the workflow, such as its tags.
      Effect.catchIf((error) => isMissing(error) && versionId.test(version), () => read(""))
    )
  })
})
