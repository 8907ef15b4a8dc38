/** Publishing on 2.x, activating on 1.x, the versions of a workflow, and the views in which it is returned. */
import * as Effect from "effect/Effect"
import { api, type Call, type Handler, json, paginate, type Refusal, refuse } from "./server.ts"
import { canStart, triggerCount, unknownType } from "./workflowRules.ts"
import {
  activeVersion,
  addVersion,
  complete,
  findVersion,
  type Obj,
  obj,
  only,
  owner,
  type Stored,
  webhooksOf,
  without,
  type Workflow
} from "./world.ts"

const withActiveVersion = (workflow: Workflow, ...omitted: ReadonlyArray<string>) =>
  workflow.activeVersion ? { ...workflow, activeVersion: without(workflow.activeVersion, ...omitted) } : workflow

export const detail = (workflow: Workflow, { query, version }: Call): Obj => {
  const result = query.get("excludePinnedData") === "true" ? without(workflow, "pinData") : workflow
  if (version === "2") return result
  const published = withActiveVersion(workflow, "nodeGroups", "autosaved", "workflowPublishHistory")
  return { ...without(result, "nodeGroups", "sourceWorkflowId", "parentFolder"), ...only(published, "activeVersion") }
}

export const item = (workflow: Workflow, call: Call): Obj => ({
  ...without(
    detail(withActiveVersion(workflow, "workflowPublishHistory"), call),
    "description",
    "versionCounter",
    "sourceWorkflowId",
    "parentFolder"
  ),
  ...(workflow.shared && { shared: workflow.shared.map((share) => without(share, "project")) })
})

/** Answer of a write: the workflow without some keys. */
export const answer = (call: Call, workflow: Workflow, ...omitted: ReadonlyArray<string>): Response =>
  json(without(detail(workflow, call), ...omitted))

/** Workflow of a call, completed; `otherwise` is the message of the 404. */
export const findWorkflow = ({ id, state }: Call, otherwise = "Not Found"): Effect.Effect<Stored, Refusal> => {
  const workflow = state.workflows.get(id)
  return workflow === undefined ? refuse(404, otherwise) : Effect.succeed(complete(state, workflow))
}

/** Message for a missing workflow: 2.x reports a missing permission, 1.x that it was not found. */
export const permissionDenied = (verb: string, version: Call["version"]): string =>
  version === "1"
    ? "Not Found"
    : `You do not have permission to ${verb} this workflow. Ask the owner to share it with you.`

const recordEvent = ({ now, state }: Call, workflowId: string, versionId: string, event: string) => {
  const id = state.publications.length + 1
  state.publications.push({ id, workflowId, versionId, event, userId: owner.user, createdAt: now })
}

/** Registers webhooks; on 2.x only after `webhookLag` requests, since the real n8n registers them asynchronously. */
const register = ({ options: { webhookLag = 0 }, state, version }: Call, id: string, nodes: Stored["nodes"]) => {
  const next = webhooksOf(nodes)
  const lag = version === "2" ? webhookLag : 0
  state.webhooks.set(id, { current: lag === 0 ? next : state.webhooks.get(id)?.current ?? [], next, lag })
}

const takenPath = ({ state }: Call, id: string, nodes: Stored["nodes"]) =>
  webhooksOf(nodes).find(({ method, path }) =>
    [...state.webhooks].some(([other, { next }]) =>
      other !== id && next.some((webhook) => webhook.path === path && webhook.method === method)
    )
  )

/** Refuses nodes that cannot be published. Parameters and credentials are not checked. */
const checkNodes = (call: Call, { id, name }: Stored, nodes: Stored["nodes"]) => {
  const unknown = unknownType(nodes)
  const taken = takenPath(call, id, nodes)
  const starts = canStart(nodes, call.version)
  if (unknown !== undefined) return refuse(400, `Unrecognized node type: ${unknown}`)
  if (call.version === "1") {
    const needs = "has no node to start the workflow - at least one trigger, poller or webhook node is required"
    if (!starts) return refuse(400, `Workflow "${name}" (ID: ${id}) ${needs}`)
    const advice = "node uses is already taken. Please change it to something else."
    return taken === undefined ? Effect.void : refuse(400, `The URL path that the "${taken.node}" ${advice}`)
  }
  if (taken !== undefined) return refuse(409, "There is a conflict with one of the webhooks.")
  const needs = "At least one trigger, webhook, or polling node is required."
  return starts ? Effect.void : refuse(400, `Workflow cannot be activated because it has no trigger node. ${needs}`)
}

/** Publishes a version; n8n's answer does not contain the new count of triggers yet. */
export const publish = Effect.fnUntraced(function*(call: Call, workflow: Stored, versionId: string) {
  const { state } = call
  if (workflow["isArchived"] === true) return yield* refuse(400, "Cannot activate an archived workflow.")
  const version = findVersion(state, workflow.id, versionId)
  if (version === undefined) return yield* refuse(404, "Version not found")
  yield* checkNodes(call, workflow, version.nodes)
  if (workflow.activeVersionId !== null) recordEvent(call, workflow.id, workflow.activeVersionId, "deactivated")
  recordEvent(call, workflow.id, versionId, "activated")
  register(call, workflow.id, version.nodes)
  const published = {
    ...workflow,
    active: true,
    activeVersionId: versionId,
    activeVersion: activeVersion(state, workflow.id, versionId)
  }
  state.workflows.set(workflow.id, { ...published, triggerCount: triggerCount(version.nodes) })
  return published
})

/** Publishes a change of an active workflow on 1.x; if refused, it is saved but inactive, with its old version id. */
export const republish = (call: Call, before: Stored, after: Stored) =>
  Effect.tapError(publish(call, after, after.versionId), () =>
    Effect.sync(() => {
      const { versionId } = before
      register(call, after.id, [])
      call.state.workflows.set(after.id, {
        ...after,
        versionId,
        active: false,
        activeVersionId: null,
        activeVersion: null
      })
    }))

const unpublish = (call: Call, workflow: Stored): Stored => {
  if (workflow.activeVersionId === null) return workflow
  recordEvent(call, workflow.id, workflow.activeVersionId, "deactivated")
  register(call, workflow.id, [])
  if (call.version === "2") call.state.deletionLag.set(workflow.id, call.options.deletionLag ?? 0)
  const unpublished = { ...workflow, active: false, activeVersionId: null, activeVersion: null }
  call.state.workflows.set(workflow.id, unpublished)
  return unpublished
}

/** Publishes a version; 1.x always publishes the stored workflow. */
const activateWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const workflow = yield* findWorkflow(call, permissionDenied("activate", call.version))
  if (call.version === "1") {
    return workflow.activeVersionId === workflow.versionId
      ? answer(call, workflow, "tags")
      : answer(call, yield* publish(call, workflow, workflow.versionId), "tags", "shared")
  }
  const options = obj(call.body)
  const versionId = typeof options["versionId"] === "string" ? options["versionId"] : workflow.versionId
  const published = yield* publish(call, workflow, versionId)
  const labels = only(options, "name", "description")
  const versions = call.state.versions.get(workflow.id) ?? []
  call.state.versions.set(
    workflow.id,
    versions.map((version) => version.versionId === versionId ? { ...version, ...labels } : version)
  )
  const result = { ...published, activeVersion: activeVersion(call.state, workflow.id, versionId) }
  call.state.workflows.set(workflow.id, {
    ...result,
    ...only(call.state.workflows.get(workflow.id) ?? {}, "triggerCount")
  })
  return answer(call, result, "tags", "shared")
})

/** Unpublishes a workflow; it also succeeds if the workflow is not published. */
const deactivateWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const workflow = yield* findWorkflow(call, permissionDenied("deactivate", call.version))
  return answer(call, unpublish(call, workflow), "tags")
})

/** Archives or unarchives a workflow, which creates a version. */
const setArchived = (isArchived: boolean): Handler =>
  Effect.fnUntraced(function*(call) {
    const workflow = yield* findWorkflow(call, "Workflow not found")
    if (isArchived && workflow["isArchived"] === true) return answer(call, workflow, "tags")
    if (!isArchived && workflow["isArchived"] !== true) return yield* refuse(400, "Workflow is not archived.")
    const changed = { ...unpublish(call, workflow), isArchived, versionId: call.state.uuid() }
    addVersion(call.state, changed, owner.name, call.now)
    call.state.workflows.set(workflow.id, { ...changed, updatedAt: call.now })
    return answer(call, changed, "tags")
  })

const listVersions: Handler = Effect.fnUntraced(function*(call) {
  const { id } = yield* findWorkflow(call)
  const versions = (call.state.versions.get(id) ?? []).toReversed()
  return yield* paginate(call, versions, (each) => without(each, "nodes", "connections", "nodeGroups", "autosaved"))
})

/** Reads a version; the older path, 1.x's only one, reports a missing workflow as a missing version. */
const getVersion = (noWorkflow: string): Handler =>
  Effect.fnUntraced(function*(call) {
    const { id } = yield* findWorkflow(call, noWorkflow)
    const version = findVersion(call.state, id, call.params["version"])
    if (version === undefined) return yield* refuse(404, "Version not found")
    return json(without(version, "autosaved", ...(call.version === "1" ? ["nodeGroups"] : [])))
  })

/** The last path exists on 1.x too, where the first match decides. */
export const routes = [
  api("POST", "/workflows/:id/activate", activateWorkflow),
  api("POST", "/workflows/:id/deactivate", deactivateWorkflow),
  api("POST", "/workflows/:id/publish", activateWorkflow),
  api("POST", "/workflows/:id/unpublish", deactivateWorkflow),
  api("POST", "/workflows/:id/archive", setArchived(true)),
  api("POST", "/workflows/:id/unarchive", setArchived(false)),
  api("GET", "/workflows/:id/history", listVersions),
  api("GET", "/workflows/:id/versions/:version", getVersion("Workflow not found")),
  api("GET", "/workflows/:id/:version", getVersion("Version not found"))
]
