/** State of a simulated n8n, and its generated ids and dates. */
import * as Json from "../../base/Json.ts"
import blankWorkflow from "./blankWorkflow.json" with { type: "json" }

/** Workflow as `GET /workflows/{id}` returns it, with the types of the fields that the API itself reads. */
export interface Workflow {
  readonly id: string
  readonly name: string
  readonly active?: boolean
  readonly tags?: ReadonlyArray<{ readonly name: string; readonly [key: string]: unknown }>
  readonly shared?: ReadonlyArray<{ readonly projectId?: string; readonly [key: string]: unknown }>
  readonly activeVersion?: object | null
  readonly [key: string]: unknown
}

/** Execution that is not stored yet. */
export interface NewExecution {
  /** Default: the next free one. */
  readonly id?: string
  readonly workflowId: string
  readonly status: string
  /** ISO 8601. Default: now. */
  readonly startedAt?: string
  readonly [key: string]: unknown
}

/** Execution as `GET /executions/{id}?includeData=true` returns it. */
export interface Execution extends NewExecution {
  readonly id: string
  readonly startedAt: string
}

/** Credential as `GET /credentials` lists it: its secrets never leave n8n. */
export interface Credential {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly [key: string]: unknown
}

/** Data table with its rows; missing values are null, and ids count from 1. */
export interface DataTable {
  readonly id: string
  readonly name: string
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: "string" | "number" | "boolean" | "date" }>
  readonly rows?: ReadonlyArray<Obj>
}

/** Project with its folders, as n8n lists them. */
export interface Project {
  readonly id: string
  readonly name: string
  readonly type: "personal" | "team"
  readonly folders?: ReadonlyArray<{ readonly id: string; readonly name: string; readonly [key: string]: unknown }>
}

/** Installed package as `GET /community-packages` lists it. */
export interface CommunityPackage {
  readonly packageName: string
  readonly installedVersion: string
  readonly installedNodes: ReadonlyArray<
    { readonly name: string; readonly type: string; readonly latestVersion: number }
  >
  readonly [key: string]: unknown
}

/**
 * Initial state of n8n.
 *
 * The tags are those of the workflows. Credentials are listed in this order, newest first.
 *
 * **Gotchas**
 *
 * An execution whose workflow is not in the seed is listed too. The real n8n deletes executions with their workflow,
 * but tests need the moment in between.
 */
export interface Seed {
  readonly workflows?: ReadonlyArray<Workflow>
  /** Executions, also those of `FakeN8n.failedExecution`, which get the next free ids and the current time. */
  readonly executions?: ReadonlyArray<NewExecution>
  readonly credentials?: ReadonlyArray<Credential>
  readonly dataTables?: ReadonlyArray<DataTable>
  readonly communityPackages?: ReadonlyArray<CommunityPackage>
  /** Projects, which imply the licence for them. The first is the owner's own. */
  readonly projects?: ReadonlyArray<Project>
}

/** Any JSON object. */
export type Obj = Json.Obj

/** Node; a stored one always has an id. */
export interface Node extends Obj {
  readonly id?: string
  readonly name?: string
  readonly type?: string
}

interface Dated {
  readonly createdAt: string
  readonly updatedAt: string
}

/** Part of a workflow that has versions. */
export interface Content {
  readonly nodes: ReadonlyArray<Node>
  readonly connections: Obj
  readonly nodeGroups: ReadonlyArray<Obj>
}

/** Workflow with all fields that the API needs. */
export interface Stored extends Workflow, Content {
  readonly active: boolean
  readonly activeVersionId: string | null
  readonly versionId: string
  readonly versionCounter: number
  readonly settings: Obj
}

export interface Version extends Content, Dated {
  readonly versionId: string
  readonly workflowId: string
  readonly authors: string
  readonly name: string | null
  readonly description: string | null
  readonly autosaved: boolean
}

export interface Tag extends Dated {
  readonly id: string
  readonly name: string
}

export interface Column extends Dated {
  readonly id: string
  readonly name: string
  readonly type: string
}

export interface Table extends Dated {
  readonly id: string
  readonly name: string
  readonly projectId: string
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<Obj & { readonly id: number }>
  readonly nextRow: number
}

export interface Webhook {
  readonly node: string | undefined
  readonly method: string
  readonly path: string
}

/** The `current` webhooks of a workflow, which `next` replaces after `lag` more requests. */
interface Registration {
  readonly current: ReadonlyArray<Webhook>
  readonly next: ReadonlyArray<Webhook>
  readonly lag: number
}

export interface State {
  readonly workflows: Map<string, Workflow>
  readonly executions: Map<string, Execution>
  readonly credentials: Array<Credential>
  readonly tables: Map<string, Table>
  readonly communityPackages: Array<CommunityPackage>
  readonly projects: ReadonlyArray<Project> | undefined
  readonly tags: Map<string, Tag>
  /** Versions of each workflow, oldest first. */
  readonly versions: Map<string, ReadonlyArray<Version>>
  readonly publications: Array<Obj & { readonly versionId: string }>
  readonly webhooks: Map<string, Registration>
  /** Number of further attempts to delete each workflow that fail. */
  readonly deletionLag: Map<string, number>
  /** Next UUID; the sequence is the same at every start, so that failures are reproducible. */
  readonly uuid: () => string
  readonly nanoid: () => string
  /** Later time on each call, even if the test clock stands still. */
  readonly timestamp: (clock: number) => string
}

export const owner = { project: "fakeOwnerProject", user: "00000000-0000-4000-8000-00000000feed", name: "Test Owner" }

/** Settings that 1.x fills in before merging: a change that does not name them resets them. */
export const defaultSettings: Readonly<Record<"1" | "2", Obj>> = {
  "1": { callerPolicy: "workflowsFromSameOwner", availableInMCP: false },
  "2": {}
}

const share = (workflowId: string, projectId: string, now: string) => {
  const dates = { createdAt: now, updatedAt: now }
  const details = { creatorId: owner.user, icon: null, description: null, customTelemetryTags: [] }
  const project = { id: projectId, name: `${owner.name} <owner@example.com>`, type: "personal", ...details, ...dates }
  return { role: "workflow:owner", workflowId, projectId, project, ...dates }
}

/** Workflow without content, as n8n stores a new one. */
export const blank = ({ id, name, now, projectId = owner.project, versionId }: {
  readonly id: string
  readonly name: string
  readonly versionId: string
  readonly projectId?: string
  readonly now: string
}): Stored => ({
  ...blankWorkflow,
  id,
  name,
  createdAt: now,
  updatedAt: now,
  versionId,
  shared: [share(id, projectId, now)]
})

export const without = (value: object, ...keys: ReadonlyArray<string>): Obj =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))

export const only = (value: object, ...keys: ReadonlyArray<string>): Obj =>
  Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)))

export const obj = (value: unknown): Obj => Json.obj(value) ?? {}

export const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value

export const list = <A = unknown>(value: unknown): ReadonlyArray<A> => Array.isArray(value) ? value : []

export const isInProject = (project: string, workflow: Workflow | undefined): boolean =>
  (workflow?.shared ?? []).some((share) => share.projectId === project)

export const addVersion = (state: State, workflow: Stored, authors: string, now: string): void => {
  const { connections, id, nodeGroups, nodes, versionId } = workflow
  const labels = { authors, name: null, description: null, autosaved: false }
  const version = {
    versionId,
    workflowId: id,
    nodes,
    connections,
    nodeGroups,
    ...labels,
    createdAt: now,
    updatedAt: now
  }
  state.versions.set(id, [...state.versions.get(id) ?? [], version])
}

export const findVersion = (state: State, id: string, versionId: unknown): Version | undefined =>
  state.versions.get(id)?.find((version) => version.versionId === versionId)

/** Version as in `activeVersion`, with the history of its publications. */
export const activeVersion = (state: State, id: string, versionId: string): object | null => {
  const version = findVersion(state, id, versionId)
  if (version === undefined) return null
  return { ...version, workflowPublishHistory: state.publications.filter((event) => event.versionId === versionId) }
}

export const complete = (state: State, workflow: Workflow): Stored => {
  const versionId = Json.str(workflow["versionId"]) ?? state.uuid()
  const active = workflow.active ?? false
  const counter = workflow["versionCounter"]
  const full: Stored = {
    ...workflow,
    active,
    versionId,
    activeVersionId: active ? Json.str(workflow["activeVersionId"]) ?? versionId : null,
    versionCounter: typeof counter === "number" ? counter : 1,
    nodes: list<Node>(workflow["nodes"]),
    connections: obj(workflow["connections"]),
    nodeGroups: list<Obj>(workflow["nodeGroups"]),
    settings: obj(workflow["settings"])
  }
  const createdAt = Json.str(workflow["updatedAt"]) ?? state.timestamp(0)
  const live = obj(workflow.activeVersion)
  const isDraft = full.activeVersionId !== null && full.activeVersionId !== versionId
  if (isDraft && findVersion(state, full.id, full.activeVersionId) === undefined) {
    const content = {
      nodes: list<Node>(live["nodes"]),
      connections: obj(live["connections"]),
      nodeGroups: list<Obj>(live["nodeGroups"])
    }
    addVersion(state, { ...full, ...content, versionId: full.activeVersionId ?? "" }, owner.name, createdAt)
  }
  if (findVersion(state, full.id, versionId) === undefined) addVersion(state, full, owner.name, createdAt)
  state.workflows.set(full.id, full)
  return full
}

const isStored = (execution: NewExecution): execution is Execution =>
  execution.id !== undefined && execution.startedAt !== undefined

export const addExecution = (state: State, execution: NewExecution, clock: number): Execution => {
  const now = state.timestamp(clock)
  const isOver = execution.status !== "running" && execution.status !== "new" && execution.status !== "waiting"
  const stored: Execution = {
    createdAt: now,
    stoppedAt: isOver ? now : null,
    ...execution,
    startedAt: execution.startedAt ?? now,
    id: execution.id ?? String(Math.max(0, ...[...state.executions.keys()].map(Number)) + 1)
  }
  state.executions.set(stored.id, stored)
  return stored
}

export const webhooksOf = (nodes: ReadonlyArray<Node>): ReadonlyArray<Webhook> =>
  nodes.flatMap((node) => {
    const { httpMethod = "GET", path } = obj(node["parameters"])
    const isOne = node.type === "n8n-nodes-base.webhook" && node["disabled"] !== true && typeof path === "string"
    return isOne ? [{ node: node.name, method: String(httpMethod), path }] : []
  })

/** Latest date in a seed, which all later writes must exceed. */
const latestDate = ({ executions = [], workflows = [] }: Seed) =>
  [...workflows, ...executions]
    .flatMap((each) => [each["createdAt"], each["updatedAt"], each["startedAt"], each["stoppedAt"]])
    .reduce<number>((latest, date) => Math.max(latest, Date.parse(Json.str(date) ?? "") || 0), 0)

/** Creates the state of an n8n with this seed; missing fields of workflows have n8n's defaults. */
export const make = (seed: Seed, major: "1" | "2", clock: number): State => {
  const { executions = [], workflows = [] } = seed
  let last = latestDate(seed)
  let count = 0
  const next = () => String(++count)
  const state: State = {
    workflows: new Map(workflows.map((workflow) => [workflow.id, workflow])),
    executions: new Map(executions.filter(isStored).map((execution) => [execution.id, execution])),
    credentials: [...seed.credentials ?? []],
    tables: new Map(),
    communityPackages: [...seed.communityPackages ?? []],
    projects: seed.projects,
    tags: new Map(),
    versions: new Map(),
    publications: [],
    webhooks: new Map(),
    deletionLag: new Map(),
    uuid: () => `00000000-0000-4000-8000-${next().padStart(12, "0")}`,
    nanoid: () => `fake${next().padStart(12, "0")}`,
    timestamp: (clock) => new Date(last = Math.max(clock, last + 1)).toISOString()
  }
  for (const { columns, id, name, rows = [] } of seed.dataTables ?? []) {
    const now = state.timestamp(0)
    const dates = { createdAt: now, updatedAt: now }
    const blankRow = Object.fromEntries(columns.map((column) => [column.name, null]))
    state.tables.set(id, {
      id,
      name,
      projectId: owner.project,
      ...dates,
      columns: columns.map((column) => ({ ...column, id: state.nanoid(), ...dates })),
      rows: rows.map((row, index) => ({ ...blankRow, ...row, id: index + 1, ...dates })),
      nextRow: rows.length + 1
    })
  }
  for (const execution of executions) if (!isStored(execution)) addExecution(state, execution, clock)
  for (const workflow of workflows) {
    const { id, name } = workflow
    const now = Json.str(workflow["updatedAt"]) ?? Json.str(workflow["createdAt"]) ?? state.timestamp(0)
    const versionId = Json.str(workflow["versionId"]) ?? state.uuid()
    const stored = complete(state, {
      ...blank({ id, name, versionId, now }),
      settings: defaultSettings[major],
      ...Object.fromEntries(Object.entries(workflow).filter(([, value]) => value !== undefined))
    } as Workflow)
    if (stored.activeVersionId !== null && !stored.activeVersion) {
      state.workflows.set(id, { ...stored, activeVersion: activeVersion(state, id, stored.activeVersionId) })
    }
    for (const { name, ...tag } of workflow.tags ?? []) {
      const id = Json.str(tag["id"]) ?? `tag-${name}`
      const date = "2026-01-01T00:00:00.000Z"
      state.tags.set(id, { id, name, createdAt: date, updatedAt: date, ...only(tag, "createdAt", "updatedAt") })
    }
    if (workflow.active === true) {
      const live = obj(workflow.activeVersion)["nodes"] ?? workflow["nodes"]
      const webhooks = webhooksOf(list<Node>(live))
      state.webhooks.set(workflow.id, { current: webhooks, next: webhooks, lag: 0 })
    }
  }
  return state
}
