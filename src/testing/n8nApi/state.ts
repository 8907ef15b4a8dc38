/** What one n8n holds, and how it numbers and dates what it stores. */

/** A workflow as `GET /workflows/{id}` returns it. Named here is only what the API itself looks at. */
export interface Workflow {
  readonly id: string
  readonly name: string
  readonly active?: boolean
  readonly tags?: ReadonlyArray<{ readonly name: string; readonly [key: string]: unknown }>
  readonly shared?: ReadonlyArray<{ readonly projectId?: string; readonly [key: string]: unknown }>
  readonly activeVersion?: object | null
  readonly [key: string]: unknown
}

/** An execution as `GET /executions/{id}?includeData=true` returns it. */
export interface Execution {
  readonly id: string
  readonly workflowId: string
  readonly status: string
  readonly startedAt: string
  readonly [key: string]: unknown
}

/** A credential as `GET /credentials` lists it: its secrets never leave n8n. */
export interface Credential {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly [key: string]: unknown
}

/**
 * What n8n holds when it starts.
 *
 * **Details** Tags are those of the workflows; credentials are listed in the order given, newest first.
 *
 * **Gotchas** An execution whose workflow is not in the seed is listed all the same. The real n8n deletes executions
 * with their workflow; a test needs the moment in between.
 */
export interface Seed {
  readonly workflows: ReadonlyArray<Workflow>
  readonly executions: ReadonlyArray<Execution>
  readonly credentials?: ReadonlyArray<Credential>
}

/** Any JSON object. */
export interface Obj {
  readonly [key: string]: unknown
}

/** A node as n8n stores it: it has an id by then. */
export interface Node extends Obj {
  readonly id?: string
  readonly name?: string
  readonly type?: string
}

/** What a workflow does, which is what n8n keeps versions of. */
export interface Content {
  readonly nodes: ReadonlyArray<Node>
  readonly connections: Obj
  readonly nodeGroups: ReadonlyArray<Obj>
}

/** A workflow about to be changed: nothing is missing any more. */
export interface Stored extends Workflow, Content {
  readonly active: boolean
  readonly activeVersionId: string | null
  readonly versionId: string
  readonly versionCounter: number
  readonly settings: Obj
}

/** One entry of a workflow's history. */
export interface Version extends Content {
  readonly versionId: string
  readonly workflowId: string
  readonly authors: string
  readonly name: string | null
  readonly description: string | null
  readonly autosaved: boolean
  readonly createdAt: string
  readonly updatedAt: string
}

/** A tag as the API shows it. */
export interface Tag {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** A production webhook of a published workflow. */
export interface Webhook {
  readonly node: string | undefined
  readonly method: string
  readonly path: string
}

/** Webhooks that answer; after `looks` more requests those of `next` do. */
interface Registration {
  readonly now: ReadonlyArray<Webhook>
  readonly next: ReadonlyArray<Webhook>
  readonly looks: number
}

/** The store behind the endpoints. Maps keep the order in which things came. */
export interface State {
  readonly workflows: Map<string, Workflow>
  readonly executions: Map<string, Execution>
  readonly credentials: Array<Credential>
  readonly tags: Map<string, Tag>
  /** Of each workflow, oldest first. */
  readonly versions: Map<string, ReadonlyArray<Version>>
  readonly publications: Array<Obj & { readonly versionId: string }>
  readonly webhooks: Map<string, Registration>
  /** How many more attempts to delete a workflow come too early. */
  readonly unpublishing: Map<string, number>
  /** The same numbers at every start, so that a failing test fails the same way twice. */
  readonly uuid: () => string
  readonly nanoid: () => string
  /** A later moment each time, even while a test's clock stands still. */
  readonly moment: (clock: number) => string
}

/** Who owns what is written through the API. */
export const owner = { project: "fakeOwnerProject", user: "00000000-0000-4000-8000-00000000feed", name: "Test Owner" }

/** Without some of its keys. */
export const without = (value: object, ...keys: ReadonlyArray<string>): Obj =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))

/** With some of its keys alone. */
export const only = (value: object, ...keys: ReadonlyArray<string>): Obj =>
  Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)))

/** An object, or an empty one. */
export const obj = (value: unknown): Obj =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value as Obj : {}

/** A list, or an empty one. */
export const list = <A = unknown>(value: unknown): ReadonlyArray<A> => Array.isArray(value) ? value : []

const string = (value: unknown) => typeof value === "string" ? value : undefined

/** Adds what the workflow does now to its history. */
export const addVersion = (state: State, workflow: Stored, authors: string, now: string): void => {
  const version: Version = {
    versionId: workflow.versionId,
    workflowId: workflow.id,
    nodes: workflow.nodes,
    connections: workflow.connections,
    nodeGroups: workflow.nodeGroups,
    authors,
    name: null,
    description: null,
    autosaved: false,
    createdAt: now,
    updatedAt: now
  }
  state.versions.set(workflow.id, [...list<Version>(state.versions.get(workflow.id)), version])
}

/** One version of a workflow. */
export const findVersion = (state: State, id: string, versionId: unknown): Version | undefined =>
  state.versions.get(id)?.find((version) => version.versionId === versionId)

/** A version as a published workflow carries it: with when it went live and when it ceased to. */
export const activeVersion = (state: State, id: string, versionId: string): object | null => {
  const version = findVersion(state, id, versionId)
  if (version === undefined) return null
  return { ...version, workflowPublishHistory: state.publications.filter((event) => event.versionId === versionId) }
}

/** The workflow with all that a seed may have left out, which the store then has too. */
export const complete = (state: State, workflow: Workflow): Stored => {
  const versionId = string(workflow["versionId"]) ?? state.uuid()
  const active = workflow.active ?? false
  const counter = workflow["versionCounter"]
  const full: Stored = {
    ...workflow,
    active,
    versionId,
    activeVersionId: active ? string(workflow["activeVersionId"]) ?? versionId : null,
    versionCounter: typeof counter === "number" ? counter : 1,
    nodes: list<Node>(workflow["nodes"]),
    connections: obj(workflow["connections"]),
    nodeGroups: list<Obj>(workflow["nodeGroups"]),
    settings: obj(workflow["settings"])
  }
  const createdAt = string(workflow["updatedAt"]) ?? state.moment(0)
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

/** Where the webhooks among some nodes answer once they are published. */
export const webhooksOf = (nodes: ReadonlyArray<Node>): ReadonlyArray<Webhook> =>
  nodes.flatMap((node) => {
    const { httpMethod = "GET", path } = obj(node["parameters"])
    const isOne = node.type === "n8n-nodes-base.webhook" && node["disabled"] !== true && typeof path === "string"
    return isOne ? [{ node: node.name, method: String(httpMethod), path }] : []
  })

/** The newest date that a seed names, so that whatever is written is newer. */
const newest = (seed: Seed) =>
  [...seed.workflows, ...seed.executions]
    .flatMap((each) => [each["createdAt"], each["updatedAt"], each["startedAt"], each["stoppedAt"]])
    .reduce<number>((latest, date) => Math.max(latest, Date.parse(string(date) ?? "") || 0), 0)

/** An n8n that holds the seed. */
export const make = (seed: Seed): State => {
  let last = newest(seed)
  let count = 0
  const next = () => String(++count)
  const state: State = {
    workflows: new Map(seed.workflows.map((workflow) => [workflow.id, workflow])),
    executions: new Map(seed.executions.map((execution) => [execution.id, execution])),
    credentials: [...seed.credentials ?? []],
    tags: new Map(),
    versions: new Map(),
    publications: [],
    webhooks: new Map(),
    unpublishing: new Map(),
    uuid: () => `00000000-0000-4000-8000-${next().padStart(12, "0")}`,
    nanoid: () => `fake${next().padStart(12, "0")}`,
    moment: (clock) => new Date(last = Math.max(clock, last + 1)).toISOString()
  }
  for (const workflow of seed.workflows) {
    for (const { name, ...tag } of workflow.tags ?? []) {
      const id = string(tag["id"]) ?? `tag-${name}`
      const date = "2026-01-01T00:00:00.000Z"
      state.tags.set(id, { id, name, createdAt: date, updatedAt: date, ...only(tag, "createdAt", "updatedAt") })
    }
    if (workflow.active === true) {
      const live = obj(workflow.activeVersion)["nodes"] ?? workflow["nodes"]
      const webhooks = webhooksOf(list<Node>(live))
      state.webhooks.set(workflow.id, { now: webhooks, next: webhooks, looks: 0 })
    }
  }
  return state
}
