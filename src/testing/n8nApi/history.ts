/** The versions that 2.x keeps of a workflow. */
import * as Effect from "effect/Effect"
import { paged, pageQuery } from "./query.ts"
import { refuse } from "./refusal.ts"
import { api, type Handler } from "./server.ts"
import { found } from "./shown.ts"
import { findVersion, without } from "./state.ts"

const listVersions: Handler = Effect.fnUntraced(function*(call) {
  const { id } = yield* found(call)
  const page = yield* paged((call.state.versions.get(id) ?? []).toReversed(), call.query)
  const told = page.data.map((version) => without(version, "nodes", "connections", "nodeGroups", "autosaved"))
  return Response.json({ ...page, data: told })
})

/** By its older path, which is 1.x's only one, n8n does not say what is missing. */
const getVersion = (noWorkflow: string): Handler =>
  Effect.fnUntraced(function*(call) {
    const { id } = yield* found(call, noWorkflow)
    const version = findVersion(call.state, id, call.versionId)
    if (version === undefined) return yield* refuse(404, "Version not found")
    return Response.json(without(version, "autosaved", ...(call.version === "1" ? ["nodeGroups"] : [])))
  })

/** The history endpoints. By its last path a version is found on 1.x too; there what matches first decides. */
export const routes = [
  api("GET", "/workflows/:id/history", { query: pageQuery, only2: true }, listVersions),
  api("GET", "/workflows/:id/versions/:version", { only2: true }, getVersion("Workflow not found")),
  api("GET", "/workflows/:id/:version", {}, getVersion("Version not found"))
]
