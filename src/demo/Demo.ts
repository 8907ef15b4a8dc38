/**
 * Data of `--demo`: six workflows of a small shop, and last night's executions, one of which failed. Its n8n runs
 * nothing: `replays.json` has what a real n8n returned for exactly these copies and requests (`N8N_MCP_RECORD=1
 * pnpm test:n8n -t demo` records them again); all others are refused.
 */
import { sha256 } from "../base/Hash.ts"
import { arr, obj } from "../base/Json.ts"
import type * as N8nApi from "../testing/n8nApi/N8nApi.ts"
import replays from "./replays.json" with { type: "json" }
import json from "./seed.json" with { type: "json" }

/** Credentials, workflows and executions as n8n has stored them. */
interface Recording {
  readonly credentials: ReadonlyArray<N8nApi.Credential>
  readonly workflows: ReadonlyArray<N8nApi.Workflow>
  readonly executions: ReadonlyArray<N8nApi.Execution>
}

const recording: Recording = json

const pick = (object: N8nApi.Workflow, keys: ReadonlyArray<string>) =>
  Object.fromEntries(keys.map((key) => [key, object[key]]))

const withVersion = (workflow: N8nApi.Workflow): N8nApi.Workflow => {
  const { activeVersion = null, activeVersionId, id } = workflow
  const content = pick(workflow, ["nodes", "connections", "nodeGroups"])
  return {
    ...workflow,
    activeVersion: activeVersion && { ...content, ...activeVersion, versionId: activeVersionId, workflowId: id }
  }
}

const withWorkflow = (execution: N8nApi.Execution): N8nApi.Execution => {
  const workflow = recording.workflows.find(({ id }) => id === execution.workflowId)
  const keys = ["id", "name", "nodes", "connections", "settings", "nodeGroups"]
  return { ...execution, workflowData: workflow && pick(workflow, keys) }
}

/** Six workflows and twelve executions as they were recorded; 239 failed for want of a customer's email. */
export const seed: Recording = {
  credentials: recording.credentials,
  workflows: recording.workflows.map(withVersion),
  executions: recording.executions.map(withWorkflow)
}

const day = 86_400_000

const times = new Set(["createdAt", "updatedAt", "startedAt", "stoppedAt", "startTime"])

/** The same value with n8n's own times, but not those in items, moved by this many milliseconds. */
const moved = (value: unknown, by: number): unknown => {
  if (Array.isArray(value)) return value.map((item) => moved(item, by))
  const object = obj(value)
  if (object === undefined) return value
  return Object.fromEntries(
    Object.entries(object).map(([key, inner]) => {
      if (key === "json") return [key, inner]
      if (!times.has(key)) return [key, moved(inner, by)]
      if (typeof inner === "number") return [key, inner + by]
      return [key, typeof inner === "string" ? new Date(Date.parse(inner) + by).toISOString() : inner]
    })
  )
}

const newest = Math.max(...recording.executions.map(({ startedAt }) => Date.parse(String(startedAt))))

/** {@link seed} moved by whole days, so that its last execution has started in the day before `now` (milliseconds). */
export const asOf = (now: number): Recording =>
  // oxlint-disable-next-line no-unsafe-type-assertion -- only times differ
  moved(seed, Math.floor((now - newest) / day) * day) as Recording

/** Execution of a copy, without the request's headers. */
export interface RecordedRun {
  readonly status: string
  readonly last: string
  readonly runs: ReadonlyArray<{
    readonly node: string
    /** Name and output of the node before. */
    readonly from?: readonly [string, number] | undefined
    /** Milliseconds. */
    readonly time: number
    /** Items by output; absent for the nodes that return the request. */
    readonly outputs?: ReadonlyArray<ReadonlyArray<object>> | undefined
  }>
}

const recordings = new Map(Object.entries(replays as unknown as { readonly [key: string]: RecordedRun }))

/** Key of a copy and the request that starts it, without the path, which is random. */
export const keyOf = ({ connections, nodes }: Pick<N8nApi.Workflow, string>, body: unknown): string => {
  const parts = arr(nodes).map((node) => {
    const { disabled, name, parameters, type, typeVersion } = obj(node) ?? {}
    const { path: _, ...rest } = obj(parameters) ?? {}
    return [name, type, typeVersion, disabled === true, rest]
  })
  return sha256(JSON.stringify([parts, connections, body])).slice(0, 16)
}

/** Execution of a copy that is recorded, as of now. */
export const runs: Exclude<N8nApi.Options["runs"], undefined> = (workflow, body) => {
  const recording = recordings.get(keyOf(workflow, body))
  if (recording === undefined) {
    const message =
      "the n8n of --demo runs nothing. It has a recorded replay of execution 239, of the published version and with the condition of 'Agreed to marketing?' set to \"={{ $json.consent && Boolean($json.email) }}\""
    return Response.json({ message }, { status: 501 })
  }
  const startTime = Date.now()
  const request = [[{ json: { headers: {}, params: {}, query: {}, body } }]]
  return {
    workflowId: workflow.id,
    status: recording.status,
    finished: recording.status === "success",
    data: {
      version: 1,
      startData: {},
      resultData: {
        runData: Object.fromEntries(
          recording.runs.map(({ from, node, outputs = request, time }, executionIndex) => [node, [{
            startTime,
            executionIndex,
            source: from === undefined
              ? []
              : [{ previousNode: from[0], previousNodeOutput: from[1], previousNodeRun: 0 }],
            hints: [],
            executionTime: time,
            executionStatus: "success",
            data: { main: outputs }
          }]])
        ),
        lastNodeExecuted: recording.last
      },
      executionData: {
        contextData: {},
        nodeExecutionStack: [],
        metadata: {},
        waitingExecution: {},
        waitingExecutionSource: {}
      }
    },
    workflowData: workflow
  }
}
