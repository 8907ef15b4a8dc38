/** History of a workflow on 2.x. */
import * as Effect from "effect/Effect"
import { pageQuery, paginate } from "./query.ts"
import { refuse } from "./refusal.ts"
import { api, type Handler } from "./server.ts"
import { findVersion, without } from "./state.ts"
import { findWorkflow } from "./views.ts"

const listVersions: Handler = Effect.fnUntraced(function*(call) {
  const { id } = yield* findWorkflow(call)
  const page = yield* paginate((call.state.versions.get(id) ?? []).toReversed(), call.query)
  const entries = page.data.map((version) => without(version, "nodes", "connections", "nodeGroups", "autosaved"))
  return Response.json({ ...page, data: entries })
})

/** Reads a version; the older path, 1.x's only one, reports a missing workflow as a missing version. */
const getVersion = (noWorkflow: string): Handler =>
  Effect.fnUntraced(function*(call) {
    const { id } = yield* findWorkflow(call, noWorkflow)
    const version = findVersion(call.state, id, call.versionId)
    if (version === undefined) return yield* refuse(404, "Version not found")
    return Response.json(without(version, "autosaved", ...(call.version === "1" ? ["nodeGroups"] : [])))
  })

/** History endpoints; the last path exists on 1.x too, where the first match decides. */
export const routes = [
  api("GET", "/workflows/:id/history", { query: pageQuery, only2: true }, listVersions),
  api("GET", "/workflows/:id/versions/:version", { only2: true }, getVersion("Workflow not found")),
  api("GET", "/workflows/:id/:version", {}, getVersion("Version not found"))
]
