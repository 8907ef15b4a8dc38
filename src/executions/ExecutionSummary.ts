/** First step of debugging: a summary of an execution by node, in a few hundred tokens. */
import { sumAll } from "effect/Number"
import * as Schema from "effect/Schema"
import { defined, obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import * as Visible from "../base/Visible.ts"
import * as Connections from "../n8n/model/Connections.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import * as Execution from "./Execution.ts"
import * as ItemView from "./ItemView.ts"

const NodeRow = Schema.Struct({
  nodeName: Schema.String,
  nodeType: Schema.String,
  status: Schema.String,
  /** Number of items over all runs and outputs. */
  items: Schema.Int,
  runs: Schema.optionalKey(Schema.Int),
  /** Whether its result is that of the retried execution: it did not run again. */
  reused: Schema.optionalKey(Schema.Literal(true)),
  /** Milliseconds, all runs together. */
  time: Schema.Finite,
  /** Executions of sub-workflows that it started: their number, and the first ids. */
  calls: Schema.optionalKey(Schema.Struct({ count: Schema.Int, ids: Schema.Array(Schema.String) })),
  /** Number of items on the error output of a node that counts as successful. */
  errorItems: Schema.optionalKey(Schema.Int)
})
type NodeRow = typeof NodeRow.Type

/** Reason why an execution failed, and the failing item. */
export const Failure = Schema.Struct({
  node: Schema.optionalKey(Schema.String),
  nodeType: Schema.optionalKey(Schema.String),
  runIndex: Schema.optionalKey(Schema.Int),
  error: Execution.ErrorDetail,
  /** Failing item: the one that n8n names, or the only input item of the run. */
  inputItem: Schema.optionalKey(Schema.Json),
  /** Number of input items of the failing run, if n8n does not name the failing item. */
  inputCount: Schema.optionalKey(Schema.Int),
  itemUnknown: Schema.optionalKey(Schema.Literal(true)),
  /** Input items that fit an error which names a property, if n8n does not name the failing item. */
  suspects: Schema.optionalKey(
    Schema.Struct({
      where: Schema.String,
      matched: Schema.Int,
      /** Number of items searched, if not all. */
      searched: Schema.optionalKey(Schema.Int),
      items: Schema.Array(Schema.Struct({ index: Schema.Int, json: Schema.Json }))
    })
  )
})
export interface Failure extends Schema.Schema.Type<typeof Failure> {}

/**
 * Summary of an execution. `duration` is in milliseconds, times are ISO 8601.
 *
 * `statistics.totalNodes` counts the nodes of the workflow as it ran, `executedNodes` those that ran. `availableNodes`
 * lists failed nodes first, then the last to run, or the slowest first; `nodeOffset` returns the rest.
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
  /** Version that ran, and whether it is the published one (n8n 2). */
  version: Schema.optionalKey(
    Schema.Struct({ id: Schema.String, published: Schema.optionalKey(Schema.Boolean) })
  ),
  /** Execution that called this one as a sub-workflow. */
  calledBy: Schema.optionalKey(Execution.Related),
  /** Whether n8n itself hid the items: there are only counts. */
  redacted: Schema.optionalKey(Schema.Literal(true)),
  /** Reason why there is nothing but the row of the execution. */
  note: Schema.optionalKey(Schema.String),
  url: Schema.optionalKey(Schema.String),
  statistics: Schema.Struct({
    totalNodes: Schema.Int,
    executedNodes: Schema.Int,
    successfulNodes: Schema.Int,
    failedNodes: Schema.Int,
    totalItemsProcessed: Schema.Int,
    /** Milliseconds of the whole run. */
    time: Schema.optionalKey(Schema.Finite)
  }),
  failure: Schema.optionalKey(Failure),
  availableNodes: Schema.Array(NodeRow)
})
export interface ExecutionSummary extends Schema.Schema.Type<typeof ExecutionSummary> {}

const errorItems = (
  runs: ReadonlyArray<Execution.Run>,
  shape: Connections.NodeShape | undefined,
  namesOf: Connections.OutputNames
): number =>
  shape === undefined || !Connections.hasErrorOutput(shape)
    ? 0
    : sumAll(runs.flatMap((run) =>
      run.outputs.flatMap((output) => Execution.outputName(shape, run, output, namesOf) === "error" ? output.count : [])
    ))

/** Nodes whose output names a summary needs: those with an error output. */
export const namedNodes = ({ workflow }: Execution.Execution) =>
  (workflow?.nodes ?? []).filter(Connections.hasErrorOutput)

/** Failed nodes first, then the last to run; by time, the slowest first. */
const ranked = (execution: Execution.Execution, sortBy: "time" | undefined) =>
  [...execution.runs].map(([name, runs]) => ({
    name,
    runs,
    failed: Execution.nodeStatus(runs) === "error",
    time: Execution.time(runs),
    last: runs.at(-1)
  })).toSorted((a, b) =>
    (sortBy === "time" ? b.time - a.time : Number(b.failed) - Number(a.failed)) || Execution.byOrder(b.last, a.last)
  )

const maxCalls = 3

const callsOf = (
  execution: Execution.Execution,
  node: string,
  runs: ReadonlyArray<Execution.Run>,
  subRuns: ReadonlyArray<Execution.SubRun>
) => {
  const all = subRuns.flatMap((run) => run.node === node ? [run.executionId] : [])
  const count = Math.max(all.length, sumAll(runs.map(({ callCount }) => callCount)))
  if (all.length > 0) return { count, ids: all.slice(0, maxCalls) }
  if (count === 0) return undefined
  const ids: Array<string> = []
  for (const run of runs) {
    if (ids.length >= maxCalls) break
    ids.push(...Execution.calls(execution, node, run, maxCalls - ids.length).map(({ executionId }) => executionId))
  }
  return { count, ids }
}

const maxRead = 1_000
const maxSuspects = 3

const maxDepth = 3
const maxFields = 500

const fieldsOf = (jsons: ReadonlyArray<unknown>): ReadonlyArray<ReadonlyArray<string>> => {
  const fields = new Map<string, ReadonlyArray<string>>()
  const add = (value: unknown, path: ReadonlyArray<string>) => {
    for (const [key, inner] of Object.entries(obj(value) ?? {})) {
      if (fields.size >= maxFields) return
      const field = [...path, key]
      fields.set(JSON.stringify(field), field)
      if (field.length < maxDepth) add(inner, field)
    }
  }
  for (const json of jsons) add(json, [])
  return [...fields.values()]
}

const isEmpty = (value: unknown) => value === undefined || value === null

const hasProperty = (value: unknown, name: string) => !isEmpty(value) && name in Object(value)

const mentioned = (values: ReadonlyArray<unknown>, name: string, text: string, words: ReadonlySet<string>): unknown => {
  const [value, ...more] = new Set(values.filter((value) => {
    const shown = typeof value === "string" || typeof value === "number" ? String(value) : ""
    return shown.length > 2 ? text.includes(shown) : words.has(shown.toLowerCase()) && shown !== ""
  }))
  return more.length > 0 || Redact.redact({ [name]: value })[name] !== value ? undefined : value
}

/**
 * Input items that fit an error: those that lack a field which others have, or whose value the error mentions. The error
 * names the field, or a property of its value (`reading 'trim'`); an error about null can also mean the field that the
 * fewest items lack.
 */
const suspectsOf = (
  execution: Execution.Execution,
  parts: ReadonlyArray<Execution.InputPart>,
  inputCount: number,
  { description = "", message }: Execution.ErrorDetail
): Failure["suspects"] => {
  const items = Execution.slice(execution, parts, 0, maxRead)
  const text = `${message} ${description}`
  const words = new Set(text.toLowerCase().split(/[^\p{L}\p{N}_]+/u))
  const property = /\(reading '([^']+)'\)/.exec(text)?.[1] ?? /Cannot read property '([^']+)'/.exec(text)?.[1]
  const isAboutNull = words.has("null") || words.has("undefined")
  const [likely] = fieldsOf(items.map(({ json }) => json)).flatMap((path) => {
    // A field of an object that is missing itself says less than the object.
    const isInner = path.length > 1 && items.some(({ json }) => isEmpty(JsonPath.get(json, path.slice(0, -1))))
    if (isInner) return []
    const [name = "", values] = [path.at(-1), items.map(({ json }) => JsonPath.get(json, path))]
    const isNamed = words.has(name.toLowerCase())
    const isRead = property !== undefined && values.some((value) => hasProperty(value, property))
    const isLacking = values.some(isEmpty) && (isRead || isNamed || isAboutNull)
    const value = isLacking || !isNamed ? undefined : mentioned(values, name, text, words)
    const indexes = values.flatMap((each, index) => (isLacking ? isEmpty(each) : each === value) ? [index] : [])
    const isChoice = (isLacking || value !== undefined) && indexes.length < items.length
    return isChoice ? [{ path, indexes, value, rank: isRead ? 2 : isNamed ? 1 : 0 }] : []
  }).toSorted((a, b) => b.rank - a.rank || a.indexes.length - b.indexes.length)
  if (likely === undefined) return undefined
  const { indexes, path: [first = "", ...rest], value } = likely
  const path = rest.reduce(JsonPath.member, JsonPath.inExpression(first))
  return defined({
    where: value === undefined ? `${path} == null` : `${path} === ${JSON.stringify(value)}`,
    matched: indexes.length,
    searched: items.length < inputCount ? items.length : undefined,
    items: indexes.slice(0, maxSuspects).flatMap((index) =>
      items.slice(index, index + 1).map((item) => ({ index, json: ItemView.withoutNoise(item).json }))
    )
  })
}

/** Failure for a summary. */
export const failureOf = (execution: Execution.Execution): Failure | undefined => {
  const failure = Execution.failure(execution)
  if (failure === undefined) return undefined
  const { node, run } = failure
  const error = Execution.errorDetail(failure.error)
  const parts = node === undefined || run === undefined ? [] : Execution.inputs(execution, node, run)
  const inputCount = sumAll(parts.map(({ count }) => count))
  const itemIndex = error.itemIndex ?? (inputCount === 1 ? 0 : undefined)
  const [item] = itemIndex === undefined || execution.isRedacted ? [] : Execution.slice(execution, parts, itemIndex, 1)
  const isUnknown = itemIndex === undefined && inputCount > 1
  return defined({
    node,
    nodeType: Execution.nodeOf(execution, node)?.type,
    runIndex: node === undefined || (execution.runs.get(node)?.length ?? 0) < 2 ? undefined : run?.index,
    error,
    inputItem: item && ItemView.withoutNoise(item).json,
    ...(isUnknown ? { inputCount, itemUnknown: true as const } : {}),
    suspects: isUnknown && !execution.isRedacted ? suspectsOf(execution, parts, inputCount, error) : undefined
  })
}

/** Recommended next step after the summary. */
export type NextStep =
  | { readonly _tag: "Node"; readonly nodeName: string; readonly called?: string | undefined }
  | {
    readonly _tag: "FindItem"
    readonly nodeName: string
    readonly inputCount: number
    readonly where: string | undefined
  }
  | { readonly _tag: "ManyItems"; readonly nodeName: string; readonly from: string | undefined }
  | { readonly _tag: "Workflow"; readonly reason: "NoData" | "NoNodeRan" }
  | { readonly _tag: "SameAgain" }

/** Number of items up to which the data of a node is worth reading as a whole. */
const fewItems = 20

/** Failing node, else the last one to run, or its many items; if none ran, the workflow, or the same execution later. */
export const nextStep = (
  execution: Execution.Execution,
  failure: Failure | undefined,
  subRuns: ReadonlyArray<Execution.SubRun> = []
): NextStep => {
  const failed = failure?.node
  const nodeName = failed !== undefined && execution.runs.has(failed) ? failed : Execution.lastToRun(execution)
  const itemsOf = (name: string) => Execution.itemCount(execution.runs.get(name) ?? [])
  if (
    nodeName !== undefined && failure === undefined && !execution.isRedacted &&
    ExecutionHead.isOver(execution.status) && itemsOf(nodeName) > fewItems
  ) {
    const [from] = ranked(execution, undefined).map(({ name }) => name).filter((name) => itemsOf(name) > 1).toReversed()
    return { _tag: "ManyItems", nodeName, from: from === nodeName ? undefined : from }
  }
  if (nodeName !== undefined) {
    const called = Execution.failure(execution)?.run?.call?.executionId ??
      Execution.failedSubRun(execution, subRuns)?.executionId
    return called !== undefined || failure?.inputCount === undefined || execution.isRedacted
      ? { _tag: "Node", nodeName, called }
      : { _tag: "FindItem", nodeName, inputCount: failure.inputCount, where: failure.suspects?.where }
  }
  if (!ExecutionHead.isOver(execution.status)) return { _tag: "SameAgain" }
  return { _tag: "Workflow", reason: execution.error === undefined ? "NoData" : "NoNodeRan" }
}

/** Summarises an execution; `workflowName` is its workflow's name, `nodeOffset` skips rows. */
export const summarize = (execution: Execution.Execution, options: {
  readonly nodeOffset: number
  readonly sortBy?: "time" | undefined
  readonly workflowName: string
  readonly url: string | undefined
  readonly namesOf: Connections.OutputNames
  /** Version that is published, `null` if none is; absent if that is unknown. */
  readonly published?: string | null | undefined
  /** Runs of sub-workflows, also those that n8n does not name with the nodes. */
  readonly subRuns?: ReadonlyArray<Execution.SubRun> | undefined
}): ExecutionSummary => {
  const { subRuns = [] } = options
  const { runs, version } = execution
  const shapes = new Map((execution.workflow?.nodes ?? []).map((node) => [node.name, node]))
  const all = ranked(execution, options.sortBy)
  const rows = all.slice(options.nodeOffset).map(({ name, runs, time }): NodeRow => {
    const blamed = errorItems(runs, shapes.get(name), options.namesOf)
    return defined({
      nodeName: name,
      nodeType: shapes.get(name)?.type ?? "unknown",
      status: Execution.nodeStatus(runs),
      items: Execution.itemCount(runs),
      runs: runs.length > 1 ? runs.length : undefined,
      reused: runs.every((run) => Execution.isReused(execution, run)) ? true as const : undefined,
      time,
      calls: callsOf(execution, name, runs, subRuns),
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
    version: version === undefined ? undefined : {
      id: version,
      ...(options.published === undefined ? {} : { published: options.published === version })
    },
    calledBy: execution.calledBy,
    redacted: execution.isRedacted ? true as const : undefined,
    note: execution.unreadable === undefined ? undefined : ItemView.incomplete(execution),
    url: options.url,
    statistics: defined({
      totalNodes: Math.max(shapes.size, runs.size),
      executedNodes: runs.size,
      successfulNodes: all.filter(({ runs }) => Execution.nodeStatus(runs) === "success").length,
      failedNodes: all.filter(({ failed }) => failed).length,
      totalItemsProcessed: Execution.itemCount([...runs.values()].flat()),
      time: execution.duration
    }),
    failure: failureOf(execution),
    availableNodes: rows
  })
}
