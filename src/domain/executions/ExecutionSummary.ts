/** Step one of debugging: what an execution did, node by node, in a few hundred tokens. */
import * as Schema from "effect/Schema"
import * as Connections from "../Connections.ts"
import { defined } from "../Json.ts"
import { truncated } from "../Truncated.ts"
import * as Execution from "./Execution.ts"

const NodeRow = Schema.Struct({
  nodeName: Schema.String,
  nodeType: Schema.String,
  status: Schema.String,
  /** All items it put out, over all runs and outputs. */
  items: Schema.Int,
  /** Only when it ran more than once. */
  runs: Schema.optionalKey(Schema.Int),
  /** Items that left by the error output: the node counts as successful, these did not succeed. */
  errorItems: Schema.optionalKey(Schema.Int)
})
type NodeRow = typeof NodeRow.Type

/**
 * The summary. `duration` is in milliseconds, times are ISO 8601.
 *
 * **Details**
 *
 * `statistics.totalNodes` counts the workflow's nodes as it ran, `executedNodes` those that ran. `availableNodes` has
 * the failed nodes first, then the last to run; the rest is fetched by `nodeOffset`.
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
  failure: Schema.optionalKey(
    Schema.Struct({
      node: Schema.optionalKey(Schema.String),
      nodeType: Schema.optionalKey(Schema.String),
      /** Only when the node ran more than once. */
      runIndex: Schema.optionalKey(Schema.Int),
      error: Execution.ErrorDetail,
      /** First item the failing run received, or the one that n8n blames. */
      inputItem: Schema.optionalKey(Schema.Json)
    })
  ),
  availableNodes: Schema.Array(NodeRow),
  ...truncated,
  _guidance: Schema.Struct({ message: Schema.String, example: Schema.optionalKey(Schema.String) })
})
export type ExecutionSummary = typeof ExecutionSummary.Type

const errorItems = (runs: ReadonlyArray<Execution.Run>, shape: Connections.NodeShape | undefined): number =>
  shape === undefined || !Connections.hasErrorOutput(shape)
    ? 0
    : runs.flatMap((run) => run.outputs.filter((output) => Execution.outputName(shape, run, output) === "error"))
      .reduce((sum, output) => sum + output.count, 0)

/** Failed nodes first, then the last to run. */
const byInterest = (execution: Execution.Execution) =>
  [...execution.runs].map(([name, runs]) => ({
    name,
    runs,
    failed: Execution.nodeStatus(runs) === "error",
    last: runs.at(-1)
  })).toSorted((a, b) => Number(b.failed) - Number(a.failed) || Execution.byOrder(b.last, a.last))

const failureOf = (execution: Execution.Execution, typeOf: (node: string) => string | undefined) => {
  const failure = Execution.failure(execution)
  if (failure === undefined) return undefined
  const { node, run } = failure
  const error = Execution.errorDetail(failure.error)
  const parts = node === undefined || run === undefined ? [] : Execution.inputs(execution, node, run)
  const [first] = Execution.slice(execution, parts, error.itemIndex ?? 0, 1)
  return defined({
    node,
    nodeType: node === undefined ? undefined : typeOf(node),
    runIndex: node === undefined || (execution.runs.get(node)?.length ?? 0) < 2 ? undefined : run?.index,
    error,
    inputItem: first?.json
  })
}

/** A call as a model writes it. */
export const byNodeCall = (id: string, node: string, more = ""): string =>
  `get_execution_by_node(id: '${id}', nodeName: '${node.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'${more})`

const guidance = (execution: Execution.Execution, focus: string | undefined) => {
  if (focus !== undefined) {
    return {
      message: "Use get_execution_by_node tool to fetch detailed data for a specific node",
      example: byNodeCall(execution.id, focus)
    }
  }
  if (Execution.isOver(execution.status)) {
    return {
      message: execution.error === undefined
        ? "n8n kept no data of this execution: the workflow's settings, pruning or a cancellation before the first node may be why. Its workflow shows what it would have done."
        : "No node ran: the error above is the whole story. Look at the workflow.",
      example: `get_workflow(id: '${execution.workflowId}', raw: true)`
    }
  }
  return {
    message: "The execution has not ended and n8n shows no data yet: call again in a while.",
    example: `get_execution(id: '${execution.id}')`
  }
}

/** Summarises an execution; `workflowName` for one that n8n kept no data of, `nodeOffset` skips that many rows. */
export const summarize = (execution: Execution.Execution, options: {
  readonly nodeOffset: number
  readonly workflowName: string
  readonly url: string | undefined
}): ExecutionSummary => {
  const shapes = new Map((execution.workflow?.nodes ?? []).map((node) => [node.name, node]))
  const typeOf = (node: string) => shapes.get(node)?.type
  const ranked = byInterest(execution)
  const failedNodes = ranked.filter((row) => row.failed).length
  const failure = failureOf(execution, typeOf)
  const lastToRun = ranked.toSorted((a, b) => Execution.byOrder(b.last, a.last))[0]?.name
  const focus = failure?.node !== undefined && execution.runs.has(failure.node) ? failure.node : lastToRun
  const rows = ranked.slice(options.nodeOffset).map(({ name, runs }): NodeRow => {
    const blamed = errorItems(runs, shapes.get(name))
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
    status: execution.status,
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
    failure,
    availableNodes: rows,
    _guidance: guidance(execution, focus)
  })
}
