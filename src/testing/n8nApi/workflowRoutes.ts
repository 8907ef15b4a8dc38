/** Workflows and their tags: list, read, create, change and delete. */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { nameFault } from "../../n8n/model/Limits.ts"
import { versionedKeys } from "../../n8n/model/Workflow.ts"
import { answer, detail, findWorkflow, item, permissionDenied, publish, republish } from "./publishingRoutes.ts"
import { api, type Call, type Handler, json, type Major, paginate, refuse } from "./server.ts"
import { deprecationFault, groupFault, structureFault, wantsWebhookId } from "./workflowRules.ts"
import * as World from "./world.ts"
import { list, obj, type Tag } from "./world.ts"

const listTags: Handler = (call) => paginate(call, [...call.state.tags.values()])

/** Length of a name as n8n counts it: in whole characters, without those that only choose a form. */
const lengthOf = (name: string) => [...name.replaceAll(/[\uFE0E\uFE0F]/g, "")].length

/** Creates a tag; n8n reports every invalid name as an existing tag. */
const createTag: Handler = Effect.fnUntraced(function*({ body, now, state }) {
  const name = String(obj(body)["name"]).trim()
  const isTaken = [...state.tags.values()].some((tag) => tag.name === name)
  if (isTaken || name === "" || lengthOf(name) > 24) return yield* refuse(409, "Tag already exists")
  const tag: Tag = { id: state.nanoid(), name, createdAt: now, updatedAt: now }
  state.tags.set(tag.id, tag)
  return json(tag, { status: 201 })
})

const listWorkflowTags: Handler = (call) => Effect.map(findWorkflow(call), ({ tags = [] }) => json(tags))

/** Replaces a workflow's tags, which are listed in the order of their creation; `updatedAt` does not change. */
const setWorkflowTags: Handler = Effect.fnUntraced(function*(call) {
  const workflow = yield* findWorkflow(call)
  const ids = list<{ readonly id: string }>(call.body).map(({ id }) => id)
  const tags = [...call.state.tags.values()].filter((tag) => ids.includes(tag.id))
  if (tags.length < ids.length) return yield* refuse(404, "Some tags not found")
  call.state.workflows.set(workflow.id, { ...workflow, tags: tags.map((tag) => ({ ...tag })) })
  return json(tags)
})

const tagRoutes = [
  api("GET", "/workflows/:id/tags", listWorkflowTags),
  api("PUT", "/workflows/:id/tags", setWorkflowTags),
  api("GET", "/tags", listTags),
  api("POST", "/tags", createTag)
]

const hasTag = (workflow: World.Workflow, name: string) => (workflow.tags ?? []).some((tag) => tag.name === name)

const lowerAscii = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** SQLite's `LIKE '%pattern%'`: `_` is any character, `%` any text, and only ASCII letters ignore case. */
const like = (pattern: string) => {
  const wildcards: Readonly<Record<string, string>> = { "_": ".", "%": ".*" }
  const source = lowerAscii(pattern).replace(/[_%]|[$()*+.?[\\\]^{|}]/g, (each) => wildcards[each] ?? `\\${each}`)
  const whole = new RegExp(source, "su")
  return (name: string) => whole.test(lowerAscii(name))
}

const listWorkflows: Handler = Effect.fnUntraced(function*(call) {
  const { query, state, version } = call
  const stored = [...state.workflows.values()].toSorted((a, b) => a.id < b.id ? -1 : 1)
  const isNamed = like(query.get("name")?.trim() ?? "")
  const active = query.get("active")
  // An empty one counts as none.
  const project = query.get("projectId") || null
  const tags = query.get("tags")?.split(",").map((tag) => tag.trim()) ?? []
  // 1.x looks up the tags first, so an unknown tag counts only if no other exists.
  const existing = tags.filter((tag) => stored.some((workflow) => hasTag(workflow, tag)))
  const required = version === "1" && existing.length > 0 ? existing : tags.filter((tag) => tag !== "")
  return yield* paginate(
    call,
    stored.filter((workflow) =>
      isNamed(workflow.name) &&
      (active === null || (workflow.active ?? false) === (active === "true")) &&
      (project === null || World.isInProject(project, workflow)) &&
      required.every((tag) => hasTag(workflow, tag))
    ),
    (workflow) => item(workflow, call)
  )
})

const getWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const workflow = call.state.workflows.get(call.id)
  return workflow === undefined ? yield* refuse(404, "Not Found") : json(detail(workflow, call))
})

/**
 * Resolves credentials by id, or else by a unique name; the stored reference gets the credential's current name. Without
 * an id, which is not the same as the id `null`, n8n takes any of the type.
 */
const withCredentials = (nodes: ReadonlyArray<World.Node>, { credentials }: World.State): ReadonlyArray<World.Node> =>
  nodes.map((node) => {
    if (node["credentials"] === undefined || node["disabled"] === true) return node
    const resolved = Object.entries(World.obj(node["credentials"])).map(([type, reference]) => {
      const { id, name } = typeof reference === "string" ? { id: null, name: reference } : World.obj(reference)
      const ofType = credentials.filter((credential) => credential.type === type)
      const byName = ofType.filter((credential) => credential.name === name)
      const byId = id === undefined ? ofType.at(-1) : ofType.find((credential) => credential.id === id)
      const match = byId ?? (byName.length === 1 ? byName[0] : undefined)
      return [type, match === undefined ? reference : World.only(match, "id", "name")]
    })
    return { ...node, credentials: Object.fromEntries(resolved) }
  })

/** Adds missing node ids, on 2.x also webhook ids; each write generates new ones. */
const withIds = (nodes: ReadonlyArray<World.Node>, { state, version }: Call): ReadonlyArray<World.Node> =>
  nodes.map((node) => ({
    ...node,
    ...(!node.id && { id: state.uuid() }),
    ...(version === "2" && !node["webhookId"] && wantsWebhookId(node) && { webhookId: state.uuid() })
  }))

const parsed = (data: unknown): unknown => typeof data === "string" ? JSON.parse(data) : data

const contentKeys = ["name", "nodes", "connections", "nodeGroups", "staticData", "pinData", "description"]

/** Stored part of a body; 2.x silently drops three settings. */
const storedContent = ({ body, state, version }: Call) => {
  const { nodes, settings, staticData, ...rest } = World.only(World.obj(body), ...contentKeys, "settings")
  return {
    ...rest as World.Obj,
    ...(staticData !== undefined && { staticData: parsed(staticData) }),
    nodes: withCredentials(nodes as ReadonlyArray<World.Node>, state),
    settings: {
      ...World.defaultSettings[version],
      ...World.without(
        World.obj(settings),
        ...(version === "2" ? ["binaryMode", "credentialResolverId", "redactionPolicy"] : [])
      )
    }
  }
}

const refuseName = () => refuse(400, "Workflow name must be 1 to 128 characters long.")

const checkContent = (workflow: World.Stored) => {
  const fault = structureFault(workflow) ?? groupFault(workflow)
  return fault === undefined ? Effect.void : refuse(400, fault)
}

/** Refuses deprecated nodes, compared with those that are stored, if this n8n does. */
const checkDeprecated = (
  { options: { blockDeprecated }, version }: Call,
  nodes: ReadonlyArray<World.Node>,
  before?: ReadonlyArray<World.Node>
) => {
  const fault = blockDeprecated === true && version === "2" ? deprecationFault(nodes, before) : undefined
  return fault === undefined ? Effect.void : refuse(400, fault)
}

/** Refuses any folder, since the simulated n8n has no folders. */
const checkFolder = ({ body }: Call) => {
  const { parentFolderId: folder = null } = World.obj(body)
  return folder === null || folder === "0" ? Effect.void : refuse(404, `Could not find the folder: ${folder}`)
}

const createWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const { body, now, state, version } = call
  const { name, projectId = World.owner.project } = body as { readonly name: string; readonly projectId?: string }
  const { nodes, ...content } = storedContent(call)
  if (version === "2" && (name === "" || nameFault(name) !== undefined)) return yield* refuseName()
  const isKnown = projectId === World.owner.project ||
    [...state.workflows.values()].some((other) => World.isInProject(projectId, other))
  if (!isKnown) return yield* refuse(404, "Project not found")
  const id = state.nanoid()
  const workflow: World.Stored = {
    ...World.blank({ id, name, versionId: state.uuid(), projectId, now }),
    nodes: withIds(nodes, call),
    ...content
  }
  if (version === "2") yield* Effect.andThen(checkContent(workflow), checkFolder(call))
  yield* checkDeprecated(call, nodes)
  state.workflows.set(id, workflow)
  World.addVersion(state, workflow, World.owner.name, now)
  return version === "2"
    ? json({ ...workflow, parentFolder: null })
    : answer(call, workflow, "tags", "shared", "activeVersion")
})

const forget = (state: World.State, id: string) => {
  state.workflows.delete(id)
  state.versions.delete(id)
  state.webhooks.delete(id)
  state.deletionLag.delete(id)
}

const differs = (before: World.Obj, after: World.Obj, ...keys: ReadonlyArray<string>) =>
  keys.some((key) => after[key] !== undefined && !Equal.equals(before[key], after[key]))

const save = (
  { now, state, version }: Pick<Call, "now" | "state" | "version">,
  before: World.Stored,
  after: World.Stored,
  options: { readonly isNew: boolean; readonly author: string }
) => {
  const isCounted = version === "1" || differs(before, after, "nodes", "settings")
  const saved = {
    ...after,
    updatedAt: now,
    versionId: options.isNew ? state.uuid() : after.versionId,
    versionCounter: before.versionCounter + (isCounted ? 1 : 0)
  }
  state.workflows.set(saved.id, saved)
  if (options.isNew) World.addVersion(state, saved, options.author, now)
  return saved
}

/** Merges settings and drops values that equal the default. */
const mergeSettings = (before: World.Obj, after: World.Obj, version: Major): World.Obj => {
  const { errorWorkflow, executionTimeout, timezone } = { ...before, ...after }
  const defaultKeys = [
    ...(timezone === "DEFAULT" ? ["timezone"] : []),
    ...(executionTimeout === -1 ? ["executionTimeout"] : []),
    ...(errorWorkflow === "DEFAULT" && version === "2" ? ["errorWorkflow"] : [])
  ]
  return World.without({ ...before, ...after }, ...defaultKeys)
}

const updateWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const { query, version } = call
  const before = yield* findWorkflow(call, permissionDenied("update", version))
  if (before["isArchived"] === true) return yield* refuse(400, "Cannot update an archived workflow.")
  const change = storedContent(call)
  const isNew = differs(before, change, ...(version === "2" ? versionedKeys : [...contentKeys, "settings"]))
  const settings = mergeSettings(before.settings, change.settings, version)
  const after: World.Stored = { ...before, ...change, settings, nodes: withIds(change.nodes, call) }
  if (version === "2" && isNew) yield* checkContent(after)
  yield* checkDeprecated(call, change.nodes, before.nodes)
  if (nameFault(after.name) !== undefined) return yield* refuseName()
  yield* checkFolder(call)
  const saved = save(call, before, after, { isNew, author: World.owner.name })
  if (version === "1") {
    return answer(call, before.active ? yield* republish(call, before, saved) : saved, "shared", "activeVersion")
  }
  if (saved.activeVersionId !== null && query.get("publishIfActive") !== "false") {
    return answer(call, yield* publish(call, saved, saved.versionId), "shared")
  }
  // New settings apply to the published version immediately.
  if (saved.activeVersionId !== null && !Equal.equals(before.settings, settings)) {
    yield* publish(call, saved, saved.activeVersionId)
  }
  const published = saved.activeVersion && World.without(saved.activeVersion, "workflowPublishHistory")
  return answer(call, { ...saved, activeVersion: published ?? null }, "shared")
})

const deleteWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const { id, state, version } = call
  const workflow = yield* findWorkflow(call)
  if (version === "2" && workflow.activeVersionId !== null) {
    return yield* refuse(409, "Cannot delete a published workflow. Unpublish it before deleting.")
  }
  const lag = state.deletionLag.get(id) ?? 0
  if (lag > 0) {
    state.deletionLag.set(id, lag - 1)
    return yield* refuse(409, "Workflow is still being unpublished. Please try again in a few moments.")
  }
  forget(state, id)
  for (const execution of state.executions.values()) {
    if (execution.workflowId === id) state.executions.delete(execution.id)
  }
  return answer(call, workflow, "tags", "activeVersion")
})

/** Saves a workflow as another user in the editor: a draft on 2.x, effective immediately on 1.x. */
export const edit = (
  call: Pick<Call, "now" | "state" | "version">,
  id: string,
  change: (workflow: World.Stored) => World.Workflow,
  author: string
): void => {
  const { state, version } = call
  const workflow = state.workflows.get(id)
  if (workflow === undefined) throw new Error(`There is no workflow ${id} to edit`)
  const before = World.complete(state, workflow)
  const after = World.complete(state, { ...change(before), id })
  const isNew = before.versionId === after.versionId &&
    differs(before, after, ...versionedKeys, ...(version === "1" ? ["name", "settings"] : []))
  const saved = save(call, before, after, { isNew, author })
  if (version === "1" && saved.active) {
    const { versionId } = saved
    state.workflows.set(id, {
      ...saved,
      activeVersionId: versionId,
      activeVersion: World.activeVersion(state, id, versionId)
    })
  }
}

export const routes = [
  ...tagRoutes,
  api("GET", "/workflows", listWorkflows),
  api("POST", "/workflows", createWorkflow),
  api("GET", "/workflows/:id", getWorkflow),
  api("PUT", "/workflows/:id", updateWorkflow),
  api("DELETE", "/workflows/:id", deleteWorkflow)
]
