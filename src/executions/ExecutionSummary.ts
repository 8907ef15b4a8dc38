/** Step one of debugging: an execution node by node, in a few hundred tokens. */
import * as Schema from "effect/Schema"
import { defined, obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Connections from "../n8n/model/Connections.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import * as Execution from "./Execution.ts"
import * as Noise from "./Noise.ts"

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
 * Why an execution failed, and of which item.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Failure = Schema.Struct({
  node: Schema.optionalKey(Schema.String),
  nodeType: Schema.optionalKey(Schema.String),
  /** Only when the node ran more than once. */
  runIndex: Schema.optionalKey(Schema.Int),
  error: Execution.ErrorDetail,
  /** The item that failed: the one that n8n blames, or the only one that the failing run received. */
  inputItem: Schema.optionalKey(Schema.Json),
  /** Where n8n does not say which item failed: how many the failing run received. */
  inputCount: Schema.optionalKey(Schema.Int),
  itemUnknown: Schema.optionalKey(Schema.Literal(true))
})
export type Failure = typeof Failure.Type

/**
 * The summary. `duration` is in milliseconds, times are ISO 8601.
 *
 * **Details**
 *
 * `statistics.totalNodes` counts the workflow's nodes as it ran, `executedNodes` those that ran. `availableNodes` has
 * the failed nodes first, then the last to run; the rest is fetched by `nodeOffset`.
 *
 * @category schemas
 * @since 0.1.0
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

/**
 * The nodes whose outputs a summary needs names of: those that send errors on.
 *
 * @category functions
 * @since 0.1.0
 */
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

/**
 * Why it failed, as a summary shows it.
 *
 * @category functions
 * @since 0.1.0
 */
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

/**
 * What a reader of the summary should look at next.
 *
 * @category models
 * @since 0.1.0
 */
export type NextStep =
  | { readonly _tag: "Node"; readonly nodeName: string }
  | {
    readonly _tag: "FindItem"
    readonly nodeName: string
    readonly inputCount: number
    /** A field that some items lack: of an error about null the one that fewest do, else one that the error names. */
    readonly field: string | undefined
  }
  | { readonly _tag: "Workflow"; readonly reason: "NoData" | "NoNodeRan" }
  | { readonly _tag: "SameAgain" }

/** How many items are read to see which field sets the failed one apart. */
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

/**
 * The failing node, else the last one to run; where none ran, the workflow or the same execution later.
 *
 * @category functions
 * @since 0.1.0
 */
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

/**
 * Summarises an execution; `workflowName` for one that n8n kept no data of, `nodeOffset` skips that many rows.
 *
 * @category functions
 * @since 0.1.0
 */
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
    failure: failureOf(execution),
    availableNodes: rows
  })
}
