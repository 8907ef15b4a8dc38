/**
 * One execution as n8n keeps it: for each node the runs it made, each with a source, outputs and perhaps an error.
 *
 * All knowledge of run data is here. `data.resultData.runData` is `{[nodeName]: run[]}`: a node in a loop has many runs.
 * A run names neither its node's type nor its parameters (these are in `workflowData`) nor its input (that is the
 * output of the nodes its `source` names).
 */
import * as Schema from "effect/Schema"
import { arr, defined, int, num, obj, str } from "../base/Json.ts"
import * as Connections from "../n8n/model/Connections.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { plain } from "./errorText.ts"

/**
 * Where a run's input came from.
 *
 * @category models
 * @since 0.1.0
 */
export interface Source {
  readonly node: string
  readonly output: number
  readonly run: number
}

/**
 * One output of a run: how many items left it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Output extends Connections.Port {
  readonly count: number
}

/**
 * One run of one node. `order` is the position among all runs of the execution.
 *
 * @category models
 * @since 0.1.0
 */
export interface Run {
  readonly index: number
  /** Epoch milliseconds. */
  readonly startTime: number
  /** Milliseconds. */
  readonly executionTime: number
  readonly order: number
  readonly status: string
  /** By input index; `undefined` where n8n names none. */
  readonly sources: ReadonlyArray<Source | undefined>
  readonly outputs: ReadonlyArray<Output>
  /** A sub-node's input; sub-nodes have no source to read it from. */
  readonly override: ReadonlyArray<Output>
  readonly error: unknown
}

/**
 * A list of items: one of a run's outputs, or of the input that n8n noted itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface Slot {
  readonly node: string
  readonly run: number
  readonly side: "output" | "override"
  readonly port: Connections.Port
}

/**
 * An execution, ready to be queried.
 *
 * @category models
 * @since 0.1.0
 */
export interface Execution {
  readonly id: string
  readonly workflowId: string
  readonly status: string
  readonly mode: string | undefined
  readonly startedAt: string | undefined
  readonly stoppedAt: string | undefined
  readonly waitTill: string | undefined
  /** Milliseconds. */
  readonly duration: number | undefined
  /** The workflow as it ran; absent where n8n kept no data. */
  readonly workflow: RanWorkflow | undefined
  readonly runs: ReadonlyMap<string, ReadonlyArray<Run>>
  readonly error: unknown
  readonly lastNode: string | undefined
  /**
   * The items of one slot from `offset`, at most `limit`; whole, as n8n stored them. Fewer where they are so large that
   * no answer could hold more.
   */
  readonly items: (slot: Slot, offset: number, limit: number) => ReadonlyArray<unknown>
  /** All items of one slot in order, some at a time: for one pass over them, of which nothing stays. */
  readonly segments: (slot: Slot, from?: number) => Iterable<Segment>
}

/**
 * Some items of a slot that lie together: the position of the first, their JSON with commas between, and the items.
 *
 * @category models
 * @since 0.1.0
 */
export interface Segment {
  readonly first: number
  readonly text: string
  readonly items: () => ReadonlyArray<unknown>
}

/**
 * `workflowData`: nodes and connections as they ran.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RanWorkflow = Schema.Struct({
  name: Schema.String,
  nodes: Schema.Array(Workflow.Node),
  connections: Connections.Connections
})
export type RanWorkflow = typeof RanWorkflow.Type

/**
 * Which of two runs came first; older executions know only the time.
 *
 * @category functions
 * @since 0.1.0
 */
export const byOrder = (a: Run | undefined, b: Run | undefined): number =>
  (a?.order ?? -1) - (b?.order ?? -1) || (a?.startTime ?? 0) - (b?.startTime ?? 0)

/**
 * The name a person sees on an output of a run; a run with more outputs than there are names has others.
 *
 * @category functions
 * @since 0.1.0
 */
export const outputName = (
  node: Connections.NodeShape,
  run: Run,
  port: Connections.Port,
  namesOf: Connections.OutputNames
): string | undefined => {
  const count = run.outputs.filter((output) => output.type === "main").length
  const names = namesOf(node)
  const isNamed = names !== undefined && names.length + Number(Connections.hasErrorOutput(node)) >= count
  return Connections.outputName(node, port, () => isNamed ? names : undefined, count)
}

/**
 * The node whose last run began last.
 *
 * @category functions
 * @since 0.1.0
 */
export const lastToRun = ({ runs }: Execution): string | undefined =>
  [...runs].toSorted(([, a], [, b]) => byOrder(b.at(-1), a.at(-1)))[0]?.[0]

/**
 * A node's items over all its runs and outputs.
 *
 * @category functions
 * @since 0.1.0
 */
export const itemCount = (runs: ReadonlyArray<Run>): number =>
  runs.reduce((sum, run) => sum + run.outputs.reduce((all, output) => all + output.count, 0), 0)

/**
 * `error` when any run failed, else what the last run says.
 *
 * @category functions
 * @since 0.1.0
 */
export const nodeStatus = (runs: ReadonlyArray<Run>): string =>
  runs.some((run) => run.status === "error") ? "error" : runs.at(-1)?.status ?? "unknown"

/**
 * The execution as if these nodes, which have not failed, were not in the workflow.
 *
 * @category functions
 * @since 0.1.0
 */
export const without = (execution: Execution, names: ReadonlyArray<string>): Execution => {
  const gone = new Set(names.filter((name) => nodeStatus(execution.runs.get(name) ?? []) !== "error"))
  const { runs, workflow } = execution
  return {
    ...execution,
    workflow: workflow && { ...workflow, nodes: workflow.nodes.filter(({ name }) => !gone.has(name)) },
    runs: new Map([...runs].filter(([name]) => !gone.has(name)))
  }
}

/**
 * An error of n8n's, reduced to its informative keys, in plain text: no stacks, request dumps or node copies.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ErrorDetail = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  message: Schema.String,
  description: Schema.optionalKey(Schema.String),
  httpCode: Schema.optionalKey(Schema.String),
  messages: Schema.optionalKey(Schema.Array(Schema.String)),
  itemIndex: Schema.optionalKey(Schema.Int),
  /** The node that an expression names. */
  nodeCause: Schema.optionalKey(Schema.String),
  lineNumber: Schema.optionalKey(Schema.Int)
})
export type ErrorDetail = typeof ErrorDetail.Type

/**
 * Reads an error of a run or of the whole execution.
 *
 * @category functions
 * @since 0.1.0
 */
export const errorDetail = (error: unknown): ErrorDetail => {
  const value = obj(error) ?? {}
  const context = obj(value["context"])
  const message = plain(str(value["message"]) ?? str(error) ?? "unknown error")
  const description = plain(str(value["description"]) ?? str(context?.["descriptionKey"]) ?? "")
  const lines = arr(value["messages"]).flatMap((line) => typeof line === "string" ? plain(line) : [])
  const messages = [...new Set(lines)].filter((line) => line !== message)
  const httpCode = str(value["httpCode"]) ?? num(value["httpCode"])
  return defined({
    name: str(value["name"]),
    message,
    description: description === message || description === "" ? undefined : description,
    httpCode: httpCode === undefined ? undefined : String(httpCode),
    messages: messages.length === 0 ? undefined : messages,
    itemIndex: int(context?.["itemIndex"] ?? value["itemIndex"]),
    nodeCause: str(context?.["nodeCause"]),
    lineNumber: int(value["lineNumber"])
  })
}

/**
 * Where and why an execution failed: `run` is absent when no node's run shows the error.
 *
 * @category models
 * @since 0.1.0
 */
export interface Failure {
  readonly node: string | undefined
  readonly run: Run | undefined
  readonly error: unknown
}

/**
 * The failing node and run: the last run with an error, else what n8n notes about the execution itself.
 *
 * @category functions
 * @since 0.1.0
 */
export const failure = (execution: Execution): Failure | undefined => {
  const failed = [...execution.runs].flatMap(([node, runs]) =>
    runs.filter((run) => run.error !== undefined).map((run) => ({ node, run }))
  ).toSorted((a, b) => byOrder(a.run, b.run)).at(-1)
  if (execution.error === undefined && (failed === undefined || execution.status !== "error")) return undefined
  return {
    node: failed?.node ?? str(obj(obj(execution.error)?.["node"])?.["name"]) ?? execution.lastNode,
    run: failed?.run,
    error: failed?.run.error ?? execution.error
  }
}

/**
 * One part of what a run received.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputPart {
  /** Input index of the node. */
  readonly input: number
  readonly type: string
  /** Absent where n8n noted the input itself (sub-nodes). */
  readonly source: Source | undefined
  readonly count: number
  readonly slot: Slot
}

/**
 * What a run really received: through its `source`, the named output of the named run; for a sub-node the input that
 * n8n noted (`inputOverride`).
 *
 * @category functions
 * @since 0.1.0
 */
export const inputs = (execution: Execution, node: string, run: Run): ReadonlyArray<InputPart> => {
  if (run.override.length > 0) {
    return run.override.map(({ count, index, type }) => ({
      input: index,
      type,
      source: undefined,
      count,
      slot: { node, run: run.index, side: "override", port: { type, index } }
    }))
  }
  return run.sources.flatMap((source, input) => {
    const from = source === undefined ? undefined : execution.runs.get(source.node)?.[source.run]
    const output = from?.outputs.find((candidate) => candidate.type === "main" && candidate.index === source?.output)
    if (source === undefined) return []
    const port: Connections.Port = { type: "main", index: source.output }
    return [{
      input,
      type: "main",
      source,
      count: output?.count ?? 0,
      slot: { node: source.node, run: source.run, side: "output", port }
    }]
  })
}

/**
 * One item as a reader wants it: binary data as a stub, without the pairing that n8n keeps for its editor.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Item = Schema.Struct({
  json: Schema.Json,
  binary: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Struct({
        mimeType: Schema.optionalKey(Schema.String),
        fileName: Schema.optionalKey(Schema.String),
        fileSize: Schema.optionalKey(Schema.String)
      })
    )
  ),
  error: Schema.optionalKey(ErrorDetail)
})
export type Item = typeof Item.Type

const binaryStub = (file: unknown) => {
  const stub = obj(file) ?? {}
  return defined({
    mimeType: str(stub["mimeType"]),
    fileName: str(stub["fileName"]),
    fileSize: str(stub["fileSize"]) ?? (num(stub["bytes"]) === undefined ? undefined : `${num(stub["bytes"])} B`)
  })
}

/**
 * Makes a stored item readable.
 *
 * @category functions
 * @since 0.1.0
 */
export const item = (stored: unknown): Item => {
  const value = obj(stored) ?? {}
  const binary = obj(value["binary"])
  return defined({
    json: (value["json"] ?? {}) as Schema.Json,
    binary: binary === undefined || Object.keys(binary).length === 0
      ? undefined
      : Object.fromEntries(Object.entries(binary).map(([name, file]) => [name, binaryStub(file)])),
    error: value["error"] === undefined || value["error"] === null ? undefined : errorDetail(value["error"])
  })
}

/**
 * Items of several slots as one list: `offset` and `limit` count over all of them, in order.
 *
 * @category functions
 * @since 0.1.0
 */
export const slice = (
  execution: Execution,
  parts: ReadonlyArray<{ readonly count: number; readonly slot: Slot }>,
  offset: number,
  limit: number
): ReadonlyArray<Item> => {
  const items: Array<Item> = []
  let skip = offset
  for (const { count, slot } of parts) {
    const wanted = Math.min(limit - items.length, count - skip)
    if (wanted > 0) {
      const page = execution.items(slot, skip, wanted)
      items.push(...page.map(item))
      if (page.length < wanted) break
    }
    skip = Math.max(0, skip - count)
  }
  return items
}
