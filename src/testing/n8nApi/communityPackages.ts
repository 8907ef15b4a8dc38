/** Installed community packages, which 2.x lists; nothing is downloaded. */
import * as Effect from "effect/Effect"
import { fields, flag, optional, strict, text } from "./body.ts"
import { refuse } from "./refusal.ts"
import { api, type Call, type Handler } from "./server.ts"
import { obj } from "./state.ts"

const listPackages: Handler = ({ state }) => Effect.succeed(Response.json(state.communityPackages))

const checkName = (name: unknown) =>
  /^(@[^/]+\/)?n8n-nodes-/.test(String(name))
    ? Effect.void
    : refuse(400, "Package name must start with n8n-nodes-")

const find = ({ id, state }: Call) => state.communityPackages.findIndex(({ packageName }) => packageName === id)

const install: Handler = Effect.fnUntraced(function*({ body, now, state }) {
  const { name, version } = obj(body)
  yield* checkName(name)
  if (state.communityPackages.some(({ packageName }) => packageName === name)) {
    return yield* refuse(400, `Package "${String(name)}" is already installed`)
  }
  const installed = {
    packageName: String(name),
    installedVersion: typeof version === "string" ? version : "1.0.0",
    installedNodes: [],
    createdAt: now,
    updatedAt: now
  }
  state.communityPackages.push(installed)
  return Response.json(installed)
})

const update: Handler = Effect.fnUntraced(function*(call) {
  yield* checkName(call.id)
  const at = find(call)
  const old = call.state.communityPackages[at]
  if (old === undefined) return yield* refuse(404, "Package not found")
  const { version } = obj(call.body)
  const updated = { ...old, installedVersion: typeof version === "string" ? version : old.installedVersion }
  call.state.communityPackages.splice(at, 1, updated)
  return Response.json(updated)
})

const uninstall: Handler = Effect.fnUntraced(function*(call) {
  yield* checkName(call.id)
  const at = find(call)
  if (at < 0) return yield* refuse(404, "Package not found")
  call.state.communityPackages.splice(at, 1)
  return new Response(null, { status: 204 })
})

const version = optional({ version: text, verify: flag })

/** The endpoints of community packages. */
export const routes = [
  api("GET", "/community-packages", { only2: true }, listPackages),
  api(
    "POST",
    "/community-packages",
    { body: strict(fields({ name: { check: text, required: true }, ...version })), only2: true },
    install
  ),
  api("PATCH", "/community-packages/:id", { body: strict(fields(version)), only2: true }, update),
  api("DELETE", "/community-packages/:id", { only2: true }, uninstall)
]
