/** Projects (need a licence); who is in them is only read. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as Errors from "../base/Errors.ts"
import { elements, type Page, pageOf, type PageQuery } from "./pages.ts"
import { getJson, type Requests, sendOnly } from "./requests.ts"

/** A project: `personal`, which is one user's, or `team`. */
const Project = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  type: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.NullOr(Schema.String))
})

/**
 * A project.
 *
 * @category models
 * @since 0.1.0
 */
export type Project = typeof Project.Type

/** A user in a project; `role` such as `project:editor`. */
const Member = Schema.Struct({
  id: Schema.String,
  email: Schema.String,
  firstName: Schema.optionalKey(Schema.NullOr(Schema.String)),
  lastName: Schema.optionalKey(Schema.NullOr(Schema.String)),
  role: Schema.optionalKey(Schema.NullOr(Schema.String))
})

/**
 * A member of a project, and the role there.
 *
 * @category models
 * @since 0.1.0
 */
export type ProjectMember = typeof Member.Type

const Projects = pageOf(Project)
const Members = pageOf(Member)

/** The project endpoints; without the licence they fail with an error that `isUnlicensed` knows. */
export interface Service {
  /** `GET /projects`. */
  readonly listProjects: (query: PageQuery) => Effect.Effect<Page<Project>, Errors.RequestError>
  /** All projects, a page at a time as they are asked for. */
  readonly streamProjects: Stream.Stream<Project, Errors.RequestError>
  /** `POST /projects`: a team's. */
  readonly createProject: (name: string) => Effect.Effect<void, Errors.RequestError>
  /** `PUT /projects/{id}`. */
  readonly renameProject: (id: string, name: string) => Effect.Effect<void, Errors.N8nError>
  /** `DELETE /projects/{id}`, with what is in it. */
  readonly deleteProject: (id: string) => Effect.Effect<void, Errors.N8nError>
  /** `GET /projects/{id}/users` (2.x). */
  readonly listProjectMembers: (
    id: string,
    query: PageQuery
  ) => Effect.Effect<Page<ProjectMember>, Errors.N8nError>
  /** All members of a project (2.x), a page at a time as they are asked for. */
  readonly streamProjectMembers: (id: string) => Stream.Stream<ProjectMember, Errors.N8nError>
}

const listTarget: Errors.Target = { operation: "list projects" }

/** The target of a request about one project. */
export const projectTarget = (operation: string, id: string): Errors.ResourceTarget => ({
  operation,
  resourceType: "Project",
  resourceId: id
})

/** The path of one project. */
export const path = (id: string): string => `/projects/${encodeURIComponent(id)}`

/** Implements them for one n8n. */
export const make = (requests: Requests): Service => {
  const listProjects: Service["listProjects"] = Effect.fn("N8nClient.listProjects")((query) =>
    getJson(requests, "/projects", Projects, listTarget, { ...query })
  )
  const listProjectMembers: Service["listProjectMembers"] = Effect.fn("N8nClient.listProjectMembers")((id, query) =>
    getJson(requests, `${path(id)}/users`, Members, projectTarget("list the members of project", id), { ...query })
  )
  return {
    listProjects,
    streamProjects: elements(listTarget, listProjects),
    createProject: Effect.fn("N8nClient.createProject")((name) =>
      sendOnly(requests, { method: "POST", path: "/projects", body: { name } }, { operation: "create project" })
    ),
    renameProject: Effect.fn("N8nClient.renameProject")((id, name) =>
      sendOnly(requests, { method: "PUT", path: path(id), body: { name } }, projectTarget("rename project", id))
    ),
    deleteProject: Effect.fn("N8nClient.deleteProject")((id) =>
      sendOnly(requests, { method: "DELETE", path: path(id) }, projectTarget("delete project", id))
    ),
    listProjectMembers,
    streamProjectMembers: (id) =>
      elements(projectTarget("list the members of project", id), (page) => listProjectMembers(id, page))
  }
}
