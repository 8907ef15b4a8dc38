/** Workflows: listed, read, created, changed and deleted. */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { nameFault } from "../../n8n/model/Limits.ts"
import { goOn, publish } from "./publishing.ts"
import { flag, only2, paged, pageQuery, text, whole } from "./query.ts"
import { type Major, refuse } from "./refusal.ts"
import { groupFault, structureFault, wantsWebhookId } from "./rules.ts"
import { api, type Call, type Handler } from "./server.ts"
import { answer, denied, detail, found, item } from "./shown.ts"
import {
  activeVersion,
  addVersion,
  complete,
  type Node,
  type Obj,
  obj,
  only,
  owner,
  type State,
  type Stored,
  without,
  type Workflow
} from "./state.ts"
import { changedWorkflow, newWorkflow } from "./workflowBody.ts"

const isIn = (project: string, workflow: Workflow | undefined) =>
  (workflow?.shared ?? []).some((share) => share.projectId === project)

const has = (workflow: Workflow, name: string) => (workflow.tags ?? []).some((tag) => tag.name === name)

const listWorkflows: Handler = Effect.fnUntraced(function*(call) {
  const { query, state, version } = call
  const stored = [...state.workflows.values()].toSorted((a, b) => a.id < b.id ? -1 : 1)
  const named = query.get("name")?.trim().toLowerCase() ?? ""
  const active = query.get("active")
  const project = query.get("projectId")
  const tags = query.get("tags")?.split(",").map((tag) => tag.trim()) ?? []
  // n8n 1 looks the tags up first, so a tag that nobody has counts only when it stands alone.
  const existing = tags.filter((tag) => stored.some((workflow) => has(workflow, tag)))
  const wanted = version === "1" && existing.length > 0 ? existing : tags.filter((tag) => tag !== "")
  const page = yield* paged(
    stored.filter((workflow) =>
      workflow.name.toLowerCase().includes(named) &&
      (active === null || (workflow.active ?? false) === (active === "true")) &&
      (project === null || isIn(project, workflow)) &&
      wanted.every((tag) => has(workflow, tag))
    ),
    query
  )
  return Response.json({ ...page, data: page.data.map((workflow) => item(workflow, call)) })
})

const getWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const workflow = call.state.workflows.get(call.id)
  return workflow === undefined ? yield* refuse(404, "Not Found") : Response.json(detail(workflow, call))
})

// ---- writing

/** A credential is found by its id, else by its name if that is the only one; then it is called what it is called. */
const withCredentials = (nodes: ReadonlyArray<Node>, { credentials }: State): ReadonlyArray<Node> =>
  nodes.map((node) => {
    if (node["credentials"] === undefined || node["disabled"] === true) return node
    const resolved = Object.entries(obj(node["credentials"])).map(([type, reference]) => {
      const { id, name } = typeof reference === "string" ? { id: null, name: reference } : obj(reference)
      const ofType = credentials.filter((credential) => credential.type === type)
      const byName = ofType.filter((credential) => credential.name === name)
      const found = ofType.find((credential) => credential.id === id) ?? (byName.length === 1 ? byName[0] : undefined)
      return [type, found === undefined ? reference : only(found, "id", "name")]
    })
    return { ...node, credentials: Object.fromEntries(resolved) }
  })

/** Whoever sends a node without an id gets a new one, each time. */
const withIds = (nodes: ReadonlyArray<Node>, { state, version }: Call): ReadonlyArray<Node> =>
  nodes.map((node) => ({
    ...node,
    ...(!node.id && { id: state.uuid() }),
    ...(version === "2" && !node["webhookId"] && wantsWebhookId(node) && { webhookId: state.uuid() })
  }))

const parsed = (data: unknown): unknown => typeof data === "string" ? JSON.parse(data) : data

/** 1.x fills these two in before it merges: a change that does not name them resets them. */
const defaults: Record<Major, Obj> = {
  "1": { callerPolicy: "workflowsFromSameOwner", availableInMCP: false },
  "2": {}
}

const contentKeys = ["name", "nodes", "connections", "nodeGroups", "staticData", "pinData", "description"]

/** What of a body is stored, as it is compared with what is there. 2.x drops three settings without a word. */
const given = ({ body, state, version }: Call) => {
  const { nodes, settings, staticData, ...rest } = only(obj(body), ...contentKeys, "settings")
  return {
    ...rest as Obj,
    ...(staticData !== undefined && { staticData: parsed(staticData) }),
    nodes: withCredentials(nodes as ReadonlyArray<Node>, state),
    settings: {
      ...defaults[version],
      ...without(obj(settings), ...(version === "2" ? ["binaryMode", "credentialResolverId", "redactionPolicy"] : []))
    }
  }
}

const badName = () => refuse(400, "Workflow name must be 1 to 128 characters long.")

const checkContent = (workflow: Stored) => {
  const fault = structureFault(workflow) ?? groupFault(workflow)
  return fault === undefined ? Effect.void : refuse(400, fault)
}

/** There are no folders here. */
const checkFolder = ({ body }: Call) => {
  const { parentFolderId: folder = null } = obj(body)
  return folder === null || folder === "0" ? Effect.void : refuse(404, `Could not find the folder: ${folder}`)
}

const share = (workflowId: string, projectId: string, now: string) => {
  const dates = { createdAt: now, updatedAt: now }
  const whose = { creatorId: owner.user, icon: null, description: null, customTelemetryTags: [] }
  const project = { id: projectId, name: `${owner.name} <owner@example.com>`, type: "personal", ...whose, ...dates }
  return { role: "workflow:owner", workflowId, projectId, project, ...dates }
}

const createWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const { body, now, state, version } = call
  const { name, projectId = owner.project } = body as { readonly name: string; readonly projectId?: string }
  const { nodes, ...content } = given(call)
  if (version === "2" && (name === "" || nameFault(name) !== undefined)) return yield* badName()
  const isKnown = projectId === owner.project || [...state.workflows.values()].some((other) => isIn(projectId, other))
  if (!isKnown) return yield* refuse(404, "Project not found")
  const id = state.nanoid()
  const workflow: Stored = {
    id,
    name,
    description: null,
    active: false,
    activeVersionId: null,
    createdAt: now,
    updatedAt: now,
    isArchived: false,
    versionId: state.uuid(),
    versionCounter: 1,
    sourceWorkflowId: null,
    triggerCount: 0,
    nodes: withIds(nodes, call),
    connections: {},
    nodeGroups: [],
    staticData: null,
    pinData: null,
    meta: null,
    ...content,
    tags: [],
    shared: [share(id, projectId, now)],
    activeVersion: null
  }
  if (version === "2") yield* Effect.andThen(checkContent(workflow), checkFolder(call))
  state.workflows.set(id, workflow)
  addVersion(state, workflow, owner.name, now)
  return version === "2"
    ? Response.json({ ...workflow, parentFolder: null })
    : answer(call, workflow, "tags", "shared", "activeVersion")
})

const forget = (state: State, id: string) => {
  state.workflows.delete(id)
  state.versions.delete(id)
  state.webhooks.delete(id)
  state.unpublishing.delete(id)
}

const differs = (before: Obj, after: Obj, ...keys: ReadonlyArray<string>) =>
  keys.some((key) => after[key] !== undefined && !Equal.equals(before[key], after[key]))

/** Stores a workflow; one that does something else than before is a new version. */
const save = (
  { now, state, version }: Pick<Call, "now" | "state" | "version">,
  before: Stored,
  after: Stored,
  how: { readonly isNew: boolean; readonly author: string }
) => {
  const isCounted = version === "1" || differs(before, after, "nodes", "settings")
  const saved = {
    ...after,
    updatedAt: now,
    versionId: how.isNew ? state.uuid() : after.versionId,
    versionCounter: before.versionCounter + (isCounted ? 1 : 0)
  }
  state.workflows.set(saved.id, saved)
  if (how.isNew) addVersion(state, saved, how.author, now)
  return saved
}

/** Settings stay unless a change names them; what says no more than the default is not kept. */
const merged = (before: Obj, after: Obj, version: Major): Obj => {
  const { errorWorkflow, executionTimeout, timezone } = { ...before, ...after }
  const idle = [
    ...(timezone === "DEFAULT" ? ["timezone"] : []),
    ...(executionTimeout === -1 ? ["executionTimeout"] : []),
    ...(errorWorkflow === "DEFAULT" && version === "2" ? ["errorWorkflow"] : [])
  ]
  return without({ ...before, ...after }, ...idle)
}

const whatVersionsHold = ["nodes", "connections", "nodeGroups"]

const updateWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const { query, version } = call
  const before = yield* found(call, denied("update", version))
  if (before["isArchived"] === true) return yield* refuse(400, "Cannot update an archived workflow.")
  const change = given(call)
  const isNew = differs(before, change, ...(version === "2" ? whatVersionsHold : [...contentKeys, "settings"]))
  const settings = merged(before.settings, change.settings, version)
  const after: Stored = { ...before, ...change, settings, nodes: withIds(change.nodes, call) }
  if (version === "2" && isNew) yield* checkContent(after)
  if (nameFault(after.name) !== undefined) return yield* badName()
  yield* checkFolder(call)
  const saved = save(call, before, after, { isNew, author: owner.name })
  if (version === "1") {
    return answer(call, before.active ? yield* goOn(call, before, saved) : saved, "shared", "activeVersion")
  }
  if (saved.activeVersionId !== null && query.get("publishIfActive") !== "false") {
    return answer(call, yield* publish(call, saved, saved.versionId), "shared")
  }
  // What runs takes its new settings at once.
  if (saved.activeVersionId !== null && !Equal.equals(before.settings, settings)) {
    yield* publish(call, saved, saved.activeVersionId)
  }
  const live = saved.activeVersion && without(saved.activeVersion, "workflowPublishHistory")
  return answer(call, { ...saved, activeVersion: live ?? null }, "shared")
})

const deleteWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const { id, state, version } = call
  const workflow = yield* found(call)
  if (version === "2" && workflow.activeVersionId !== null) {
    return yield* refuse(409, "Cannot delete a published workflow. Unpublish it before deleting.")
  }
  const tooEarly = state.unpublishing.get(id) ?? 0
  if (tooEarly > 0) {
    state.unpublishing.set(id, tooEarly - 1)
    return yield* refuse(409, "Workflow is still being unpublished. Please try again in a few moments.")
  }
  forget(state, id)
  for (const execution of state.executions.values()) {
    if (execution.workflowId === id) state.executions.delete(execution.id)
  }
  return answer(call, workflow, "tags", "activeVersion")
})

/** Somebody else saves a workflow in the editor: on 2.x it stays a draft, on 1.x it takes effect. */
export const edit = (
  call: Pick<Call, "now" | "state" | "version">,
  id: string,
  change: (workflow: Stored) => Workflow,
  author: string
): void => {
  const { state, version } = call
  const workflow = state.workflows.get(id)
  if (workflow === undefined) throw new Error(`There is no workflow ${id} to edit`)
  const before = complete(state, workflow)
  const after = complete(state, { ...change(before), id })
  const isNew = before.versionId === after.versionId &&
    differs(before, after, ...whatVersionsHold, ...(version === "1" ? ["name", "settings"] : []))
  const saved = save(call, before, after, { isNew, author })
  if (version === "1" && saved.active) {
    const { versionId } = saved
    state.workflows.set(id, {
      ...saved,
      activeVersionId: versionId,
      activeVersion: activeVersion(state, id, versionId)
    })
  }
}

const listQuery = {
  ...pageQuery,
  offset: only2(whole),
  active: flag,
  tags: text,
  name: text,
  projectId: text,
  excludePinnedData: flag
}

/** The workflow endpoints. */
export const routes = [
  api("GET", "/workflows", { query: listQuery }, listWorkflows),
  api("POST", "/workflows", { body: newWorkflow }, createWorkflow),
  api("GET", "/workflows/:id", { query: { excludePinnedData: flag } }, getWorkflow),
  api("PUT", "/workflows/:id", { query: { publishIfActive: only2(flag) }, body: changedWorkflow }, updateWorkflow),
  api("DELETE", "/workflows/:id", {}, deleteWorkflow)
]
