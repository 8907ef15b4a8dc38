/** Projects and their folders, which need a licence: an n8n has it if its seed has projects. */
import * as Effect from "effect/Effect"
import { api, type Handler, paginate, refuse } from "./server.ts"

const unlicensed = (feature: string) =>
  refuse(
    403,
    `Your license does not allow for ${feature}. To enable ${feature}, please upgrade to a license that supports this feature.`
  )

const listProjects: Handler = Effect.fnUntraced(function*({ query, state }) {
  if (state.projects === undefined) return yield* unlicensed("feat:projectRole:admin")
  return Response.json(yield* paginate(state.projects.map(({ folders: _, ...project }) => project), query))
})

const listFolders: Handler = Effect.fnUntraced(function*({ id, query, state }) {
  if (state.projects === undefined) return yield* unlicensed("feat:folders")
  const [personal] = state.projects
  const project = id === "personal" ? personal : state.projects.find((project) => project.id === id)
  if (project === undefined) return yield* refuse(404, `Could not find the project with id "${id}"`)
  const { folders = [] } = project
  const skip = Number(query.get("skip") ?? 0)
  return Response.json({ count: folders.length, data: folders.slice(skip, skip + Number(query.get("take") ?? 100)) })
})

export const routes = [api("GET", "/projects", listProjects), api("GET", "/projects/:id/folders", listFolders)]
