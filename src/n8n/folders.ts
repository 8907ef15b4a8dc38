/** Folders of a project (n8n 2.x, need a licence). n8n does not tell which folder a workflow is in. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Errors from "../base/Errors.ts"
import { maxPage } from "./pages.ts"
import { path as projectPath, projectTarget } from "./projects.ts"
import { getJson, type Requests, sendJson, sendOnly } from "./requests.ts"

/** A folder; one at the top of its project has no `parentFolderId`. `path` is the names from the top to it. */
const Folder = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  parentFolderId: Schema.optionalKey(Schema.NullOr(Schema.String)),
  workflowCount: Schema.optionalKey(Schema.Int),
  subFolderCount: Schema.optionalKey(Schema.Int),
  path: Schema.optionalKey(Schema.Array(Schema.String))
})

/**
 * A folder of workflows and folders, without what is in it.
 *
 * @category models
 * @since 0.1.0
 */
export type Folder = typeof Folder.Type

/** How much is in a folder, at any depth. */
const Details = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  parentFolderId: Schema.NullOr(Schema.String),
  totalSubFolders: Schema.Int,
  totalWorkflows: Schema.Int
})

/**
 * A folder, with how much is in it.
 *
 * @category models
 * @since 0.1.0
 */
export type FolderDetails = typeof Details.Type

const Folders = Schema.Struct({ count: Schema.Int, data: Schema.Array(Folder) })

/**
 * Which folders: `name` is a part of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface FolderFilter {
  readonly name?: string
  readonly parentFolderId?: string
  readonly tags?: ReadonlyArray<string>
}

/**
 * A query for folders: how many to skip and to take (1 to 250), and in which order.
 *
 * @category models
 * @since 0.1.0
 */
export interface FolderQuery {
  readonly filter?: FolderFilter | undefined
  readonly sortBy?: "name:asc" | "name:desc" | "createdAt:asc" | "createdAt:desc" | "updatedAt:asc" | "updatedAt:desc"
  readonly skip?: number
  readonly take?: number
}

/** The folder endpoints (2.x); without the licence they fail with an error that `isUnlicensed` knows. */
export interface Service {
  /** `GET /projects/{projectId}/folders`, with how many there are; `personal` is the project of the key's owner. */
  readonly listFolders: (
    projectId: string,
    query?: FolderQuery
  ) => Effect.Effect<{ readonly count: number; readonly data: ReadonlyArray<Folder> }, Errors.N8nError>
  /** All folders that meet the conditions, a page at a time as they are asked for. */
  readonly streamFolders: (projectId: string, filter?: FolderFilter) => Stream.Stream<Folder, Errors.N8nError>
  /** `GET /projects/{projectId}/folders/{folderId}`. */
  readonly getFolder: (projectId: string, folderId: string) => Effect.Effect<FolderDetails, Errors.N8nError>
  /** `POST /projects/{projectId}/folders`. */
  readonly createFolder: (
    projectId: string,
    folder: { readonly name: string; readonly parentFolderId?: string }
  ) => Effect.Effect<Folder, Errors.N8nError>
  /** `PATCH /projects/{projectId}/folders/{folderId}`: renames or moves it. */
  readonly updateFolder: (
    projectId: string,
    folderId: string,
    change: { readonly name?: string; readonly parentFolderId?: string }
  ) => Effect.Effect<Folder, Errors.N8nError>
  /**
   * `DELETE /projects/{projectId}/folders/{folderId}`: what is in it moves to `transferToFolderId`; without that, its
   * workflows move to the top of the project and are archived, and its folders are deleted.
   */
  readonly deleteFolder: (
    projectId: string,
    folderId: string,
    options?: { readonly transferToFolderId?: string }
  ) => Effect.Effect<void, Errors.N8nError>
}

const fields = ["id", "name", "parentFolder", "workflowCount", "subFolderCount", "path"]

const path = (projectId: string, folderId: string) =>
  `${projectPath(projectId)}/folders/${encodeURIComponent(folderId)}`

const target = (operation: string, folderId: string): Errors.ResourceTarget => ({
  operation,
  resourceType: "Folder",
  resourceId: folderId
})

/** Implements them for one n8n. */
export const make = (requests: Requests): Service => {
  const listFolders: Service["listFolders"] = Effect.fn("N8nClient.listFolders")((projectId, query = {}) =>
    getJson(
      requests,
      `${projectPath(projectId)}/folders`,
      Folders,
      projectTarget("list the folders of project", projectId),
      {
        ...query,
        filter: query.filter === undefined ? undefined : JSON.stringify(query.filter),
        select: JSON.stringify(fields)
      }
    )
  )
  return {
    listFolders,
    streamFolders: (projectId, filter) =>
      Stream.paginate(0, (skip) =>
        Effect.map(
          listFolders(projectId, { filter, skip, take: maxPage, sortBy: "name:asc" }),
          ({ count, data }) => {
            const next = skip + data.length
            return [data, data.length > 0 && next < count ? Option.some(next) : Option.none()] as const
          }
        )),
    getFolder: Effect.fn("N8nClient.getFolder")((projectId, folderId) =>
      getJson(requests, path(projectId, folderId), Details, target("get folder", folderId))
    ),
    createFolder: Effect.fn("N8nClient.createFolder")((projectId, body) =>
      sendJson(
        requests,
        { method: "POST", path: `${projectPath(projectId)}/folders`, body },
        Folder,
        projectTarget("create a folder in project", projectId)
      )
    ),
    updateFolder: Effect.fn("N8nClient.updateFolder")((projectId, folderId, body) =>
      sendJson(
        requests,
        { method: "PATCH", path: path(projectId, folderId), body },
        Folder,
        target("update folder", folderId)
      )
    ),
    deleteFolder: Effect.fn("N8nClient.deleteFolder")((projectId, folderId, query = {}) =>
      sendOnly(
        requests,
        { method: "DELETE", path: path(projectId, folderId), query: { ...query } },
        target("delete folder", folderId)
      )
    )
  }
}
