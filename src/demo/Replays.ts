/**
 * Replays of `--demo`. Its n8n runs nothing: `replays.json` has what a real n8n returned for exactly these copies and
 * requests (`N8N_MCP_RECORD=1 pnpm test:n8n -t demo` records them again); all others are refused.
 */
import { sha256 } from "../base/Hash.ts"
import { arr, obj } from "../base/Json.ts"
import type * as N8nApi from "../testing/n8nApi/N8nApi.ts"
import json from "./replays.json" with { type: "json" }

/** Execution of a copy, without the request's headers. */
export interface Recording {
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

const recordings = new Map(Object.entries(json as unknown as { readonly [key: string]: Recording }))

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
