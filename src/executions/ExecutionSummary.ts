/** First step of debugging: a summary of an execution by node, in a few hundred tokens. */
import * as Schema from "effect/Schema"
import { defined, obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Visible from "../base/Visible.ts"
import * as Connections from "../n8n/model/Connections.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import * as Execution from "./Execution.ts"
import * as Noise from "./Noise.ts"

const NodeRow = Schema.Struct({
  nodeName: Schema.String,
  nodeType: Schema.String,
  status: Schema.String,
  /** Number of items over all runs and outputs. */
  items: Schema.Int,
  /** Number of runs, if more than one. */
  runs: Schema.optionalKey(Schema.Int),
  /** Number of items on the error output of a node that counts as successful. */
  errorItems: Schema.optionalKey(Schema.Int)
})
type NodeRow = typeof NodeRow.Type

/** Reason why an execution failed, and the failing item. */
export const Failure = Schema.Struct({
  node: Schema.optionalKey(Schema.String),
  nodeType: Schema.optionalKey(Schema.String),
  /** Index of the run, if the node ran more than once. */
  runIndex: Schema.optionalKey(Schema.Int),
  error: Execution.ErrorDetail,
  /** Failing item: the one that n8n names, or the only input item of the run. */
  inputItem: Schema.optionalKey(Schema.Json),
  /** Number of input items of the failing run, if n8n does not name the failing item. */
  inputCount: Schema.optionalKey(Schema.Int),
  itemUnknown: Schema.optionalKey(Schema.Literal(true))
})
export type Failure = typeof Failure.Type

/**
 * Summary of an execution. `duration` is in milliseconds, times are ISO 8601.
 *
 * **Details**
 *
 * `statistics.totalNodes` counts the nodes of the workflow as it ran, `executedNodes` those that ran. `availableNodes`
 * lists failed nodes first, then the last to run; `nodeOffset` returns the rest.
 */
export const ExecutionSummary = Schema.Struct({
  id: Schema.String,
  workflowId: Schema.String,
  workflowName: Schema.String,
  status: Schema.String,
  mode: Schema.optionalKey(Schema.String),
  startedAt: Schema.optionalKey(Schema.String),
  stoppedAt: Schema.optionalKey(Schema.String),
  waitTill: Schema.optionalKey(Schema.String),
  duration: Schema.optionalKey(Schema.Finite),
  url: Schema.optionalKey(Schema.String),
  statistics: Schema.Struct({
    totalNodes: Schema.Int,
    executedNodes: Schema.Int,
    successfulNodes: Schema.Int,
    failedNodes: Schema.Int,
    totalItemsProcessed: Schema.Int
  }),
  failure: Schema.optionalKey(Failure),
  availableNodes: Schema.Array(NodeRow)
})
export type ExecutionSummary = typeof ExecutionSummary.Type

const errorItems = (
  runs: ReadonlyArray<Execution.Run>,
  shape: Connections.NodeShape | undefined,
  namesOf: Connections.OutputNames
): number =>
  shape === undefined || !Connections.hasErrorOutput(shape)
    ? 0
    : runs.flatMap((run) =>
      run.outputs.filter((output) => Execution.outputName(shape, run, output, namesOf) === "error")
    )
      .reduce((sum, output) => sum + output.count, 0)

/** Nodes whose output names a summary needs: those with an error output. */
export const namedNodes = ({ workflow }: Execution.Execution) =>
  (workflow?.nodes ?? []).filter(Connections.hasErrorOutput)

/** Failed nodes first, then the last to run. */
const byInterest = (execution: Execution.Execution) =>
  [...execution.runs].map(([name, runs]) => ({
    name,
    runs,
    failed: Execution.nodeStatus(runs) === "error",
    last: runs.at(-1)
  })).toSorted((a, b) => Number(b.failed) - Number(a.failed) || Execution.byOrder(b.last, a.last))

/** Failure for a summary. */
export const failureOf = (execution: Execution.Execution): Failure | undefined => {
  const failure = Execution.failure(execution)
  if (failure === undefined) return undefined
  const { node, run } = failure
  const error = Execution.errorDetail(failure.error)
  const parts = node === undefined || run === undefined ? [] : Execution.inputs(execution, node, run)
  const inputCount = parts.reduce((sum, part) => sum + part.count, 0)
  const itemIndex = error.itemIndex ?? (inputCount === 1 ? 0 : undefined)
  const [item] = itemIndex === undefined ? [] : Execution.slice(execution, parts, itemIndex, 1)
  return defined({
    node,
    nodeType: execution.workflow?.nodes.find(({ name }) => name === node)?.type,
    runIndex: node === undefined || (execution.runs.get(node)?.length ?? 0) < 2 ? undefined : run?.index,
    error,
    inputItem: item && Noise.without(item).json,
    ...(itemIndex === undefined && inputCount > 1 ? { inputCount, itemUnknown: true as const } : {})
  })
}

/** Recommended next step after the summary. */
export type NextStep =
  | { readonly _tag: "Node"; readonly nodeName: string }
  | {
    readonly _tag: "FindItem"
    readonly nodeName: string
    readonly inputCount: number
    /**
     * Field that some items lack: for an error about null the one that the fewest lack, else one that the error names.
     */
    readonly field: string | undefined
  }
  | { readonly _tag: "Workflow"; readonly reason: "NoData" | "NoNodeRan" }
  | { readonly _tag: "SameAgain" }

/** Number of items read to find the field that distinguishes the failing item. */
const maxRead = 1_000

/** Fields that some items lack and others have, those that the fewest lack first. */
const rarelyEmpty = (items: ReadonlyArray<Execution.Item>): ReadonlyArray<string> => {
  const objects = items.map(({ json }) => obj(json) ?? {})
  return [...new Set(objects.flatMap((json) => Object.keys(json)))]
    .map((name) => ({ name, count: objects.filter((json) => (json[name] ?? null) === null).length }))
    .filter(({ count }) => count > 0 && count < objects.length)
    .toSorted((a, b) => a.count - b.count)
    .map(({ name }) => name)
}

const fieldToAsk = (execution: Execution.Execution, nodeName: string, { error }: Failure): string | undefined => {
  const run = execution.runs.get(nodeName)?.findLast((candidate) => candidate.error !== undefined)
  const parts = run === undefined ? [] : Execution.inputs(execution, nodeName, run)
  const fields = rarelyEmpty(Execution.slice(execution, parts, 0, maxRead))
  const words = new Set(`${error.message} ${error.description ?? ""}`.toLowerCase().split(/[^\p{L}\p{N}_]+/u))
  const field = words.has("null") || words.has("undefined")
    ? fields[0]
    : fields.find((name) => words.has(name.toLowerCase()))
  return field === undefined ? undefined : JsonPath.inExpression(field)
}

/** Failing node, else the last one to run; if none ran, the workflow, or the same execution later. */
export const nextStep = (execution: Execution.Execution, failure: Failure | undefined): NextStep => {
  const failed = failure?.node
  const nodeName = failed !== undefined && execution.runs.has(failed) ? failed : Execution.lastToRun(execution)
  if (nodeName !== undefined) {
    return failure?.inputCount === undefined
      ? { _tag: "Node", nodeName }
      : {
        _tag: "FindItem",
        nodeName,
        inputCount: failure.inputCount,
        field: fieldToAsk(execution, nodeName, failure)
      }
  }
  if (!ExecutionHead.isOver(execution.status)) return { _tag: "SameAgain" }
  return { _tag: "Workflow", reason: execution.error === undefined ? "NoData" : "NoNodeRan" }
}

/** Summarises an execution; `workflowName` is its workflow's name, `nodeOffset` skips rows. */
export const summarize = (execution: Execution.Execution, options: {
  readonly nodeOffset: number
  readonly workflowName: string
  readonly url: string | undefined
  readonly namesOf: Connections.OutputNames
}): ExecutionSummary => {
  const shapes = new Map((execution.workflow?.nodes ?? []).map((node) => [node.name, node]))
  const typeOf = (node: string) => shapes.get(node)?.type
  const ranked = byInterest(execution)
  const failedNodes = ranked.filter((row) => row.failed).length
  const rows = ranked.slice(options.nodeOffset).map(({ name, runs }): NodeRow => {
    const blamed = errorItems(runs, shapes.get(name), options.namesOf)
    return defined({
      nodeName: name,
      nodeType: typeOf(name) ?? "unknown",
      status: Execution.nodeStatus(runs),
      items: Execution.itemCount(runs),
      runs: runs.length > 1 ? runs.length : undefined,
      errorItems: blamed > 0 ? blamed : undefined
    })
  })
  return defined({
    id: execution.id,
    workflowId: execution.workflowId,
    workflowName: options.workflowName,
    status: Visible.label(execution.status),
    mode: execution.mode,
    startedAt: execution.startedAt,
    stoppedAt: execution.stoppedAt,
    waitTill: execution.status === "waiting" ? execution.waitTill : undefined,
    duration: execution.duration,
    url: options.url,
    statistics: {
      totalNodes: Math.max(shapes.size, execution.runs.size),
      executedNodes: execution.runs.size,
      successfulNodes: ranked.filter(({ runs }) => Execution.nodeStatus(runs) === "success").length,
      failedNodes,
      totalItemsProcessed: ranked.reduce((sum, { runs }) => sum + Execution.itemCount(runs), 0)
    },
    failure: failureOf(execution),
    availableNodes: rows
  })
}
