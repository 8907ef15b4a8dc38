/** Projects and their folders (need a licence). n8n does not report which folder a workflow is in. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Errors from "../base/Errors.ts"
import { maxPage } from "./model/Limits.ts"
import { elements, pageOf } from "./pages.ts"
import { pathOf } from "./paths.ts"
import { getJson, type Requests } from "./requests.ts"

/** A project: `personal`, which is one user's, or `team`. */
export class Project extends Schema.Opaque<Project>()(Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  type: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.NullOr(Schema.String))
})) {}

/** Folder of workflows and folders; without `parentFolderId` at the top of its project. `path`: names from the top to it. */
export class Folder extends Schema.Opaque<Folder>()(Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  parentFolderId: Schema.optionalKey(Schema.NullOr(Schema.String)),
  workflowCount: Schema.optionalKey(Schema.Int),
  subFolderCount: Schema.optionalKey(Schema.Int),
  path: Schema.optionalKey(Schema.Array(Schema.String))
})) {}

const Projects = pageOf(Project)
const Folders = Schema.Struct({ count: Schema.Int, data: Schema.Array(Folder) })

const listTarget: Errors.Target = { operation: "list projects" }

const select = JSON.stringify(["id", "name", "parentFolder", "workflowCount", "subFolderCount", "path"])

/** The project endpoints; without the licence they fail with an error that `isUnlicensed` recognizes. */
export const make = (requests: Requests) => ({
  /** All projects, a page at a time as they are asked for. */
  streamProjects: elements(
    listTarget,
    (page) =>
      Effect.withSpan(getJson(requests, "/projects", Projects, listTarget, { ...page }), "N8nClient.listProjects")
  ),
  /** All folders of a project (2.x), by pages as asked for; `personal` is the project of the key's owner. */
  streamFolders: (projectId: string) =>
    Stream.paginate(0, (skip) =>
      getJson(
        requests,
        pathOf`/projects/${projectId}/folders`,
        Folders,
        { operation: "list the folders of project", resourceType: "Project", resourceId: projectId },
        { skip, take: maxPage, sortBy: "name:asc", select }
      ).pipe(
        Effect.withSpan("N8nClient.listFolders"),
        Effect.map(({ count, data }) => {
          const next = skip + data.length
          return [data, data.length > 0 && next < count ? Option.some(next) : Option.none()] as const
        })
      ))
})
