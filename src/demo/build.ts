/** The words the demo is written in: they give workflows and executions in the form that n8n's API returns. */
import * as Hash from "effect/Hash"
import type * as Schema from "effect/Schema"
import type * as N8nApi from "../testing/N8nApi.ts"

/** A JSON object. */
export type Json = Schema.JsonObject

/** What a node puts out, and the index of the input item it came from. */
export interface Item {
  readonly json: Json
  readonly binary?: Json
  readonly pairedItem: { readonly item: number }
}

/** Items made one for one of those that came in. */
export const items = (jsons: ReadonlyArray<Json>): ReadonlyArray<Item> =>
  jsons.map((json, item) => ({ json, pairedItem: { item } }))

/** Items that all came of the first one, as the entries of an HTTP answer do. */
export const spread = (jsons: ReadonlyArray<Json>): ReadonlyArray<Item> =>
  jsons.map((json) => ({ json, pairedItem: { item: 0 } }))

/** The item of a Webhook node; its headers hold a secret, as real ones do. */
export const webhookItem = (path: string, body: Json): ReadonlyArray<Item> => {
  const headers = { host: "n8n.acme.example", "user-agent": "acme/4.2", authorization: `Bearer demo_${hex(path, 3)}` }
  const webhookUrl = `https://${headers.host}/webhook/${path}`
  return items([{ headers, params: {}, query: {}, body, webhookUrl, executionMode: "production" }])
}

/** Stable hexadecimal digits, eight for each word: what n8n draws at random must not change from start to start. */
export const hex = (text: string, words: number): string => {
  const mixed = (i: number) => Math.imul(Hash.string(text) ^ Math.imul(i + 1, 0x9e3779b1), 0x85ebca6b) >>> 0
  return Array.from({ length: words }, (_, i) => mixed(i).toString(16).padStart(8, "0")).join("")
}

const uuid = (text: string) => hex(text, 4).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-a$4-$5")

/** A node; `credential` is its credential's type and name. Its id and place come from its workflow. */
export const node = (
  name: string,
  type: string,
  typeVersion: number,
  parameters: Json,
  credential?: readonly [type: string, name: string]
) => ({
  name,
  type,
  typeVersion,
  parameters,
  ...(credential && { credentials: { [credential[0]]: { id: hex(credential[1], 2), name: credential[1] } } }),
  ...(/\.(webhook|wait)$/.test(type) && { webhookId: uuid(name) })
})

/** A connection; its port is an output's index or a connection type. */
type Edge = readonly [from: string, to: string, port: number | string]

/** Connects each node's first output to the next node. */
export const chain = (...names: ReadonlyArray<string>): ReadonlyArray<Edge> =>
  names.slice(1).map((to, i) => [names[i] ?? "", to, 0])

const connect = (edges: ReadonlyArray<Edge>) => {
  const connections: Record<string, Record<string, Array<Array<object>>>> = {}
  for (const [from, to, port] of edges) {
    const [type, output] = typeof port === "number" ? ["main", port] : [port, 0]
    const outputs = (connections[from] ??= {})[type] ??= []
    while (outputs.length <= output) outputs.push([])
    outputs[output]?.push({ node: to, type, index: 0 })
  }
  return connections
}

const since = { createdAt: "2026-02-03T08:30:00.000Z", updatedAt: "2026-02-03T08:30:00.000Z" }

const unsaid = { sourceWorkflowId: null, staticData: null, pinData: null, meta: null, parentFolder: null }

/** A workflow as `GET /workflows/{id}` returns it, last changed on the day `edited`: published, unless archived. */
export const workflow = (
  id: string,
  name: string,
  edited: string,
  tags: ReadonlyArray<string>,
  drafts: ReadonlyArray<ReturnType<typeof node>>,
  edges: ReadonlyArray<Edge>,
  isArchived = false
) => {
  const updatedAt = `${edited}T10:05:19.866Z`
  const isSub = (sub: string) => edges.some(([from, , port]) => from === sub && typeof port === "string")
  const nodes = drafts.map((draft, i) => ({
    id: uuid(id + draft.name),
    ...draft,
    position: [i * 220, isSub(draft.name) ? 240 : 0]
  }))
  const versionId = uuid(id + updatedAt)
  const content = { nodes, connections: connect(edges), nodeGroups: [] }
  const author = { authors: "Mika Sato", name: null, description: null, autosaved: false }
  return {
    id,
    name,
    description: null,
    active: !isArchived,
    activeVersionId: isArchived ? null : versionId,
    createdAt: since.createdAt,
    updatedAt,
    isArchived,
    versionId,
    versionCounter: 4,
    triggerCount: 1,
    ...content,
    settings: { executionOrder: "v1", timezone: "UTC" },
    tags: tags.map((tag) => ({ id: hex(tag, 2), name: tag, ...since })),
    shared: [{ role: "workflow:owner", workflowId: id, projectId: "dEm0Pr0jectAcme1", ...since }],
    activeVersion: isArchived ? null : { versionId, workflowId: id, ...content, ...author, ...since },
    ...unsaid
  }
}

/** One run of one node. `from` is the node before it, with the output's index when that is not 0. */
export interface Step {
  readonly node: string
  readonly ms: number
  readonly from?: string | readonly [node: string, output: number]
  readonly out?: ReadonlyArray<ReadonlyArray<Item>>
  readonly error?: object
  readonly waits?: boolean
  /** The runs of an agent's sub-nodes. */
  readonly inside?: ReadonlyArray<readonly [node: string, port: `ai_${string}`, ms: number, input: Json, output: Json]>
}

/** Plays the steps one after the other, each a millisecond after the one before. */
const play = (steps: ReadonlyArray<Step>, start: number) => {
  const runData: Record<string, Array<object>> = {}
  const runsOf = (name: string) => runData[name] ??= []
  let clock = start
  let executionIndex = 0
  let failed: object | undefined
  for (const { error, from, inside = [], ms, node: name, out, waits } of steps) {
    const [previousNode, previousNodeOutput] = typeof from === "object" ? from : [from, 0]
    const source = previousNode === undefined
      ? []
      : [{ previousNode, previousNodeOutput, previousNodeRun: runsOf(previousNode).length - 1 }]
    const run = { startTime: clock, executionIndex: executionIndex++, source, hints: [], executionTime: ms }
    let startTime = clock
    for (const [sub, port, executionTime, input, output] of inside) {
      runsOf(sub).push({
        startTime,
        executionTime,
        executionIndex: executionIndex++,
        executionStatus: "success",
        source: [{ previousNode: name, previousNodeRun: 0 }],
        data: { [port]: [[{ json: output }]] },
        inputOverride: { [port]: [[{ json: input }]] },
        metadata: { subRun: [{ node: sub, runIndex: runsOf(sub).length }] }
      })
      startTime += executionTime
    }
    failed = error && { ...error, timestamp: clock + ms }
    // n8n writes an agent down when it has ended, which is after its sub-nodes.
    runsOf(name).push(
      failed
        ? { ...run, executionStatus: "error", error: failed }
        : { ...run, executionStatus: waits ? "waiting" : "success", data: { main: out } }
    )
    clock += ms + 1
  }
  return { runData, failed, end: clock }
}

const unchanged = { retryOf: null, retrySuccessId: null, deletedAt: null, tracingContext: null, deduplicationKey: null }

/**
 * An execution as `GET /executions/{id}?includeData=true` returns it. It is canceled or still running if that is said;
 * otherwise it waits till `waitTill`, or has failed with its last step, or has succeeded.
 *
 * **Gotchas** n8n saves the runs when an execution comes to rest: a running or canceled one has no steps.
 */
export const execution = (
  of: ReturnType<typeof workflow>,
  id: string,
  startedAt: string,
  steps: ReadonlyArray<Step>,
  otherwise: {
    readonly waitTill?: string | undefined
    readonly running?: true
    readonly canceled?: { readonly at: string; readonly error: object }
  } = {}
): N8nApi.Execution => {
  const { canceled, running, waitTill = null } = otherwise
  const { end, failed, runData } = play(steps, Date.parse(startedAt) + 8)
  const error = canceled ? { ...canceled.error, timestamp: Date.parse(canceled.at) } : failed
  const status = canceled ? "canceled" : running ? "running" : waitTill ? "waiting" : failed ? "error" : "success"
  const { connections, name, nodeGroups, nodes, settings } = of
  const lastNodeExecuted = steps.at(-1)?.node
  const data = {
    version: 1,
    startData: {},
    resultData: { ...(error && { error }), runData, ...(lastNodeExecuted && { lastNodeExecuted }) },
    executionData: { contextData: {}, nodeExecutionStack: [], metadata: {}, waitingExecution: {} },
    resumeToken: hex(`resume ${id}`, 8),
    ...(waitTill && { waitTill })
  }
  return {
    id,
    finished: status === "success",
    mode: nodes[0]?.webhookId === undefined ? "trigger" : "webhook",
    status,
    createdAt: startedAt,
    startedAt,
    stoppedAt: running ? null : canceled?.at ?? new Date(end).toISOString(),
    workflowId: of.id,
    waitTill,
    storedAt: "db",
    jsonSizeBytes: JSON.stringify(data).length,
    binaryDataSizeBytes: 0,
    workflowVersionId: of.versionId,
    usedPrivateCredentials: false,
    ...unchanged,
    data,
    customData: {},
    workflowData: { id: of.id, name, nodes, connections, settings, nodeGroups }
  }
}
