/** Publishing on 2.x, activating on 1.x. */
import * as Effect from "effect/Effect"
import { type Check, fields, optional, text } from "./body.ts"
import { refuse } from "./refusal.ts"
import { canStart, triggerCount, unknownType } from "./rules.ts"
import { api, type Call, type Handler } from "./server.ts"
import { answer, denied, found } from "./shown.ts"
import { activeVersion, addVersion, findVersion, obj, only, owner, type Stored, webhooksOf } from "./state.ts"

const recordEvent = (
  { now, state }: Call,
  workflowId: string,
  versionId: string,
  event: "activated" | "deactivated"
) => {
  state.publications.push({
    id: state.publications.length + 1,
    workflowId,
    versionId,
    event,
    userId: owner.user,
    createdAt: now
  })
}

/** Webhooks change only after some looks at them, as they do some time after the real n8n has answered. */
const register = ({ settling, state, version }: Call, id: string, nodes: Stored["nodes"]) => {
  const next = webhooksOf(nodes)
  const looks = version === "2" ? settling : 0
  state.webhooks.set(id, { now: looks === 0 ? next : state.webhooks.get(id)?.now ?? [], next, looks })
}

const takenPath = ({ state }: Call, id: string, nodes: Stored["nodes"]) =>
  webhooksOf(nodes).find(({ method, path }) =>
    [...state.webhooks].some(([other, { next }]) =>
      other !== id && next.some((webhook) => webhook.path === path && webhook.method === method)
    )
  )

/** Refuses what cannot go live. Parameters and credentials are not looked at. */
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

/** Puts a version live, or refuses to; what it then answers does not yet count the triggers. */
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

/** On 1.x a live workflow that cannot go on living is stopped, with what was written in it but its old version's name. */
export const goOn = (call: Call, before: Stored, after: Stored) =>
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
  if (call.version === "2") call.state.unpublishing.set(workflow.id, call.unpublishing)
  const unpublished = { ...workflow, active: false, activeVersionId: null, activeVersion: null }
  call.state.workflows.set(workflow.id, unpublished)
  return unpublished
}

/** On 1.x it is always what is stored that goes live. */
const activateWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const workflow = yield* found(call, denied("activate", call.version))
  if (call.version === "1") {
    return workflow.activeVersionId === workflow.versionId
      ? answer(call, workflow, "tags")
      : answer(call, yield* publish(call, workflow, workflow.versionId), "tags", "shared")
  }
  const wanted = obj(call.body)
  const versionId = typeof wanted["versionId"] === "string" ? wanted["versionId"] : workflow.versionId
  const published = yield* publish(call, workflow, versionId)
  const told = only(wanted, "name", "description")
  const versions = call.state.versions.get(workflow.id) ?? []
  call.state.versions.set(
    workflow.id,
    versions.map((version) => version.versionId === versionId ? { ...version, ...told } : version)
  )
  const named = { ...published, activeVersion: activeVersion(call.state, workflow.id, versionId) }
  call.state.workflows.set(workflow.id, {
    ...named,
    ...only(call.state.workflows.get(workflow.id) ?? {}, "triggerCount")
  })
  return answer(call, named, "tags", "shared")
})

/** What is not published stays so without a word. */
const deactivateWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const workflow = yield* found(call, denied("deactivate", call.version))
  return answer(call, unpublish(call, workflow), "tags")
})

/** Archiving and its opposite are versions of their own. */
const setArchived = (isArchived: boolean): Handler =>
  Effect.fnUntraced(function*(call) {
    const workflow = yield* found(call, "Workflow not found")
    if (isArchived && workflow["isArchived"] === true) return answer(call, workflow, "tags")
    if (!isArchived && workflow["isArchived"] !== true) return yield* refuse(400, "Workflow is not archived.")
    const changed = { ...unpublish(call, workflow), isArchived, versionId: call.state.uuid() }
    addVersion(call.state, changed, owner.name, call.now)
    call.state.workflows.set(workflow.id, { ...changed, updatedAt: call.now })
    return answer(call, changed, "tags")
  })

const ofVersion = fields(optional({ versionId: text, name: text, description: text }), true)

/** `POST /workflows/{id}/publish` and `/activate`, which on 1.x take no notice of a body. */
const publication: Check = (value, path, version) => version === "1" ? undefined : ofVersion(value, path, version)

const publishing = { body: publication, bodyIsOptional: true } as const

const only2 = { only2: true } as const

/** The endpoints that publish, unpublish and archive. */
export const routes = [
  api("POST", "/workflows/:id/activate", publishing, activateWorkflow),
  api("POST", "/workflows/:id/deactivate", {}, deactivateWorkflow),
  api("POST", "/workflows/:id/publish", { ...publishing, ...only2 }, activateWorkflow),
  api("POST", "/workflows/:id/unpublish", only2, deactivateWorkflow),
  api("POST", "/workflows/:id/archive", only2, setArchived(true)),
  api("POST", "/workflows/:id/unarchive", only2, setArchived(false))
]
