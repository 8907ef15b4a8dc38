/** Workflows as n8n's public API returns them. */
import * as Schema from "effect/Schema"
import { arr, equals, type Obj, obj, str } from "../../base/Json.ts"
import * as Connections from "./Connections.ts"
import keys from "./workflowKeys.json" with { type: "json" }

/** The keys at the top of a workflow, as in n8n's API, exports and files. */
export const workflowKeys: ReadonlySet<string> = new Set(keys)

/** Parts of a workflow that n8n keeps with each version; all others take effect immediately. */
export const versionedKeys = ["nodes", "connections", "nodeGroups"] as const

const versioned: ReadonlySet<string> = new Set(versionedKeys)

/** Whether n8n keeps a part of a workflow with each version, so that it can wait as a draft. */
export const isVersioned = (key: string): boolean => versioned.has(key)

/** Reference to a credential; one that was stored before 2022 may have a name only. */
export interface CredentialReference {
  readonly id?: string | null
  readonly name?: string
}

/** Settings of a workflow; those that are not set have n8n's defaults. */
export interface Settings {
  /** `v0` or `v1`. */
  readonly executionOrder?: string
  readonly timezone?: string
  /** Id of the workflow that starts when this one fails. */
  readonly errorWorkflow?: string
  readonly callerPolicy?: string
  readonly callerIds?: string
  /** In seconds. */
  readonly executionTimeout?: number
  /** `all` or `none`. */
  readonly saveDataErrorExecution?: string
  /** `all` or `none`. */
  readonly saveDataSuccessExecution?: string
  readonly saveExecutionProgress?: boolean
  readonly saveManualExecutions?: boolean
  readonly [setting: string]: unknown
}

/** Part of a workflow as n8n stores it, with the type that n8n's editor gives it, unchecked. */
const unchecked = <A>() => Schema.Unknown as unknown as Schema.Codec<A>

/** One node, with any further keys that n8n adds; `onError` is `stopWorkflow` when absent. */
export class Node extends Schema.Opaque<Node>()(Schema.StructWithRest(
  Schema.Struct({
    id: Schema.optionalKey(Schema.String),
    name: Schema.String,
    type: Schema.String,
    typeVersion: Schema.optionalKey(Schema.Finite),
    position: Schema.optionalKey(Schema.Array(Schema.Finite)),
    disabled: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
    parameters: Schema.optionalKey(unchecked<Obj>()),
    /** By type. */
    credentials: Schema.optionalKey(unchecked<{ readonly [type: string]: CredentialReference }>()),
    onError: Schema.optionalKey(Schema.NullOr(Schema.String))
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)) {}

/** Workflow to create, without what n8n decides itself; it gives nodes ids, too. */
export interface New {
  readonly name: string
  readonly nodes: ReadonlyArray<Node>
  readonly connections: Connections.Connections
  readonly settings?: Settings
  readonly id?: never
  readonly active?: never
  readonly versionId?: never
  readonly createdAt?: never
  readonly updatedAt?: never
  readonly [part: string]: unknown
}

/** A node with other credentials, in any form that n8n has stored them in; one for which `to` returns nothing stays. */
export const mapNodeCredentials = <N extends { readonly credentials?: unknown }>(
  node: N,
  to: (reference: CredentialReference & { readonly type: string }) => CredentialReference | undefined
): N => {
  const credentials = obj(node.credentials)
  if (credentials === undefined) return node
  const mapped = Object.entries(credentials).map(([type, value]) => {
    const name = str(value)
    return [type, to({ ...(name === undefined ? obj(value) : { name }), type }) ?? value]
  })
  return { ...node, credentials: Object.fromEntries(mapped) }
}

/** A workflow whose nodes have other credentials, such as those of another n8n. */
export const mapCredentials = <W extends { readonly nodes: ReadonlyArray<{ readonly credentials?: unknown }> }>(
  workflow: W,
  to: Parameters<typeof mapNodeCredentials>[1]
): W => ({ ...workflow, nodes: workflow.nodes.map((node) => mapNodeCredentials(node, to)) })

const Tag = Schema.Struct({ name: Schema.String })

const head = {
  id: Schema.String,
  name: Schema.String,
  active: Schema.Boolean,
  isArchived: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  createdAt: Schema.optionalKey(Schema.String),
  updatedAt: Schema.optionalKey(Schema.String),
  tags: Schema.optionalKey(Schema.NullOr(Schema.Array(Tag)))
}

/** The answer of `GET /workflows/{id}`. Keys that this schema does not name are kept: a write must not lose them. */
export class Workflow extends Schema.Opaque<Workflow>()(Schema.StructWithRest(
  Schema.Struct({
    ...head,
    versionId: Schema.optionalKey(Schema.NullOr(Schema.String)),
    activeVersionId: Schema.optionalKey(Schema.NullOr(Schema.String)),
    settings: Schema.optionalKey(unchecked<Settings>()),
    nodes: Schema.Array(Node),
    connections: Connections.Connections
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)) {}

/** Nodes as n8n stores them, unchecked: that would take as long as parsing. */
const StoredNodes = Schema.Array(Schema.Unknown) as unknown as Schema.Codec<ReadonlyArray<Node>>

/** An entry of `GET /workflows`; its nodes and connections are not checked. */
export class Listed extends Schema.Opaque<Listed>()(Schema.Struct({
  ...head,
  versionId: Schema.optionalKey(Schema.NullOr(Schema.String)),
  activeVersionId: Schema.optionalKey(Schema.NullOr(Schema.String)),
  settings: Schema.optionalKey(unchecked<Settings>()),
  staticData: Schema.optionalKey(Schema.Unknown),
  nodes: StoredNodes,
  connections: Schema.optionalKey(Schema.Unknown),
  nodeGroups: Schema.optionalKey(Schema.Unknown),
  activeVersion: Schema.optionalKey(Schema.Unknown)
})) {}

/** Names of a workflow's tags; in a file a tag may be its name alone. */
export const tagNames = ({ tags }: { readonly tags?: unknown }): ReadonlyArray<string> =>
  arr(tags).flatMap((tag) => str(tag) ?? str(obj(tag)?.["name"]) ?? [])

/** Nodes of a workflow of unknown shape, by index; an element that is not an object is `{}`. */
export const nodes = ({ nodes }: { readonly nodes?: unknown }): ReadonlyArray<Obj> =>
  arr(nodes).map((node) => obj(node) ?? {})

/** Nodes that are not disabled. */
export const enabledNodes = (workflow: { readonly nodes?: unknown }): ReadonlyArray<Obj> =>
  nodes(workflow).filter(({ disabled }) => disabled !== true)

/** Nodes that have a name. */
export const namedNodes = (workflow: { readonly nodes?: unknown }): ReadonlyArray<Obj> =>
  nodes(workflow).filter((node) => str(node["name"]) !== undefined)

/** Name of a node; empty if it has none. */
export const nameOf = (node: unknown): string => str(obj(node)?.["name"]) ?? ""

/** Type of a node; empty if it has none. */
export const typeOf = (node: unknown): string => str(obj(node)?.["type"]) ?? ""

/** Types of a workflow's nodes, one for each node that has a type. */
export const typesOf = (workflow: { readonly nodes?: unknown }): ReadonlyArray<string> =>
  nodes(workflow).flatMap((node) => typeOf(node) || [])

/** Parameters of a node. */
export const parametersOf = (node: unknown): Obj => obj(obj(node)?.["parameters"]) ?? {}

/** Whether a node is a sticky note, which n8n does not run. */
export const isNote = (node: unknown): boolean => typeOf(node) === "n8n-nodes-base.stickyNote"

/** Whether a node's type sounds like that of a trigger, as those of all of n8n's own triggers do. */
export const isTrigger = (node: unknown): boolean =>
  /(trigger|\.webhook|\.start|\.cron|\.interval|\.emailReadImap)$/i.test(typeOf(node))

const Published = Schema.Struct({ nodes: Schema.Array(Node), connections: Connections.Connections })

/** Whether the content of the workflow differs from its published version, on 2.x only. */
export const hasDraft = (workflow: Listed): boolean => {
  if (!workflow.active || !awaitsPublishing(workflow)) return false
  const { connections, nodes } = workflow
  const runs = obj(workflow.activeVersion)
  return runs === undefined || !equals([runs["nodes"], runs["connections"]], [nodes, connections])
}

/** Whether publishing the workflow would change which version runs: it is not published, or another version is. */
export const awaitsPublishing = ({ active, activeVersionId, versionId }: Listed): boolean =>
  !active || typeof activeVersionId === "string" && activeVersionId !== versionId

/** The workflow with the nodes and connections that run; `undefined` where n8n does not say what does. */
export const running = (workflow: Workflow): Workflow | undefined => {
  const version = Schema.decodeUnknownOption(Published)(workflow["activeVersion"])
  return version._tag === "None" ? undefined : { ...workflow, ...version.value }
}

/** The settings that every write must repeat: n8n merges settings, but 1.x resets these unless they are named. */
export const settingsToName = ({ settings }: Workflow): Obj =>
  Object.fromEntries(
    Object.entries(obj(settings) ?? {}).filter(([key]) => key === "callerPolicy" || key === "availableInMCP")
  )

/** Whether it has an error trigger. */
export const isErrorWorkflow = (workflow: { readonly nodes?: unknown }): boolean =>
  enabledNodes(workflow).some((node) => typeOf(node) === "n8n-nodes-base.errorTrigger")

/** Id of the error workflow in the settings; n8n does not evaluate an expression there. */
export const errorWorkflowId = ({ settings }: { readonly settings?: unknown }): string | undefined => {
  const id = str(obj(settings)?.["errorWorkflow"])?.trim() ?? ""
  return id === "" || id === "DEFAULT" || id.startsWith("=") ? undefined : id
}

/** Whether a workflow names an error workflow or is one. */
export const hasErrorWorkflow = (workflow: { readonly nodes?: unknown; readonly settings?: unknown }): boolean =>
  isErrorWorkflow(workflow) || errorWorkflowId(workflow) !== undefined
