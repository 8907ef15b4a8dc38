/**
 * Execution as n8n stores it: the runs of each node, with their sources, outputs and errors.
 *
 * This module owns the format of run data. `data.resultData.runData` is `{[nodeName]: run[]}`: a node in a loop has
 * many. A run names neither its node's type nor its parameters (these are in `workflowData`) nor its input (that is the
 * output of the nodes its `source` names).
 */
import { sumAll } from "effect/Number"
import * as Schema from "effect/Schema"
import { arr, defined, int, num, obj, str } from "../base/Json.ts"
import { mapStrings } from "../base/JsonPath.ts"
import * as Connections from "../n8n/model/Connections.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { plain } from "./ItemView.ts"
import type { Members, Needle } from "./jsonPick.ts"

/** Source of a run's input. */
export interface Source {
  readonly node: string
  readonly output: number
  readonly run: number
}

/** Output of a run with the number of its items and their size in bytes of JSON. */
export interface Output extends Connections.Port {
  readonly count: number
  readonly bytes: number
}

/** Other execution that this one started or was started by. */
export const Related = Schema.Struct({ executionId: Schema.String, workflowId: Schema.optionalKey(Schema.String) })
export interface Related extends Schema.Schema.Type<typeof Related> {}

/** Run of a node. `order` is the position among all runs of the execution. */
export interface Run {
  readonly index: number
  /** Epoch milliseconds. */
  readonly startTime: number
  /** Milliseconds. */
  readonly executionTime: number
  readonly order: number
  readonly status: string
  /** Sources by input index; `undefined` where n8n records none. */
  readonly sources: ReadonlyArray<Source | undefined>
  readonly outputs: ReadonlyArray<Output>
  /** Input of a sub-node, which has no source. */
  readonly override: ReadonlyArray<Output>
  /** Execution of a sub-workflow that the run as a whole started; {@link calls} also reads those of its items. */
  readonly call: Related | undefined
  readonly callCount: number
  readonly error: unknown
}

/** List of items: an output of a run, or the input recorded by n8n. */
export interface Slot {
  readonly node: string
  readonly run: number
  readonly side: "output" | "override"
  readonly port: Connections.Port
}

/** Slot with the number of its items. */
export interface Part {
  readonly slot: Slot
  readonly count: number
}

/** Execution, ready for queries. */
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
  /** Version of the workflow that ran (n8n 2). */
  readonly version: string | undefined
  /** Execution that called this one as a sub-workflow. */
  readonly calledBy: Related | undefined
  /** Whether n8n itself hid the items (`redactionInfo`). */
  readonly isRedacted: boolean
  /** Reason why n8n cannot deliver the data, of which only the row is known then. */
  readonly unreadable?: string
  /** Workflow as it ran; absent if n8n stored no data. */
  readonly workflow: RanWorkflow | undefined
  readonly runs: ReadonlyMap<string, ReadonlyArray<Run>>
  readonly error: unknown
  readonly lastNode: string | undefined
  /** At most `limit` items of a slot from `offset`, as n8n stored them; fewer if more would exceed any answer. */
  readonly items: (slot: Slot, offset: number, limit: number) => ReadonlyArray<unknown>
  /** All items of a slot in order, in segments, for one pass without retaining them. */
  readonly segments: (slot: Slot, from?: number) => Iterable<Segment>
}

/** Consecutive items of a slot: the position of the first, their JSON separated by commas, and the items. */
export interface Segment {
  readonly first: number
  /** Number of bytes of JSON. */
  readonly bytes: number
  readonly text: string
  readonly items: () => ReadonlyArray<unknown>
  /** Items with the wanted members, and perhaps with others, faster than all of them. @internal */
  readonly pick: (wanted: Members) => ReadonlyArray<unknown>
  /** Items with the members of `json` with a text: none if it occurs nowhere, `undefined` if that is uncertain. @internal */
  readonly pickText: (needle: Needle) => ReadonlyArray<unknown> | undefined
  /** Value of a key of each item, faster than by parsing the items. */
  readonly values: (key: string) => ReadonlyArray<unknown>
  /** Redacts values of the segment; the identity if it has no secrets. */
  readonly redactor: () => <A>(value: A) => A
}

/** Nodes, connections and settings as they ran (`workflowData`). */
export const RanWorkflow = Schema.Struct({
  name: Schema.String,
  nodes: Schema.Array(Workflow.Node),
  connections: Connections.Connections,
  settings: Schema.optionalKey(Schema.Unknown)
})
export interface RanWorkflow extends Schema.Schema.Type<typeof RanWorkflow> {}

/** Order of two runs; older executions record only the time. */
export const byOrder = (a: Run | undefined, b: Run | undefined): number =>
  (a?.order ?? -1) - (b?.order ?? -1) || (a?.startTime ?? 0) - (b?.startTime ?? 0)

/** Whether n8n took the run over from the execution that this one retries, instead of running the node again. */
export const isReused = (
  { mode, startedAt = "" }: Pick<Execution, "mode" | "startedAt">,
  { startTime }: Run
): boolean => mode === "retry" && startTime < Date.parse(startedAt)

/** Runs in their order: n8n counts the new runs of a retry from 0, like the reused ones before them. */
export const inOrder = (
  runs: Execution["runs"],
  head: Pick<Execution, "mode" | "startedAt">
): Execution["runs"] => {
  const reused = [...runs.values()].flat().filter((run) => isReused(head, run))
  if (reused.length === 0) return runs
  const next = 1 + Math.max(...reused.map(({ order }) => order))
  return new Map([...runs].map(([name, own]) => [
    name,
    own.map((run) => isReused(head, run) ? run : { ...run, order: run.order + next })
  ]))
}

/** Name of a run's output in the editor; other names apply if the run has more outputs. */
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

/** Node whose last run started last. */
export const lastToRun = ({ runs }: Execution): string | undefined =>
  [...runs].toSorted(([, a], [, b]) => byOrder(b.at(-1), a.at(-1)))[0]?.[0]

/** Milliseconds of a node, all runs together. */
export const time = (runs: ReadonlyArray<Run>): number => sumAll(runs.map(({ executionTime }) => executionTime))

/** Number of a node's items over all runs and outputs. */
export const itemCount = (runs: ReadonlyArray<Run>): number =>
  sumAll(runs.flatMap(({ outputs }) => outputs.map(({ count }) => count)))

/** Node as it ran. */
export const nodeOf = ({ workflow }: Execution, name: string | undefined) =>
  workflow?.nodes.find((node) => node.name === name)

/** Names of all nodes that ran or are in the workflow. */
export const nodeNames = ({ runs, workflow }: Execution): ReadonlyArray<string> => [
  ...new Set([...runs.keys(), ...(workflow?.nodes ?? []).map((node) => node.name)])
]

/** Output, or recorded input, that a slot names. */
export const portAt = ({ runs }: Pick<Execution, "runs">, { node, port, run, side }: Slot): Output | undefined =>
  runs.get(node)?.[run]?.[side === "output" ? "outputs" : "override"]
    .find(({ index, type }) => type === port.type && index === port.index)

/** Output that a source names. */
export const slotOf = ({ node, output, run }: Source): Slot => ({
  node,
  run,
  side: "output",
  port: { type: "main", index: output }
})

/** Status of a node: `error` if any run failed, else that of the last run. */
export const nodeStatus = (runs: ReadonlyArray<Run>): string =>
  runs.some((run) => run.status === "error") ? "error" : runs.at(-1)?.status ?? "unknown"

/** Reads a reference to another execution, as n8n records it. */
export const related = (value: unknown): Related | undefined => {
  const executionId = str(obj(value)?.["executionId"])
  return executionId === undefined ? undefined : defined({ executionId, workflowId: str(obj(value)?.["workflowId"]) })
}

/** Slots of a run's outputs that contain items. */
export const outputSlots = (node: string, run: Run): ReadonlyArray<Part> =>
  run.outputs.flatMap(({ count, index, type }) =>
    count === 0 ? [] : [{ count, slot: { node, run: run.index, side: "output", port: { type, index } } }]
  )

/** Executions of sub-workflows that a run started, at most `limit`; n8n records those started per item with the items. */
export const calls = (
  execution: Execution,
  node: string,
  run: Run,
  limit = Number.POSITIVE_INFINITY
): ReadonlyArray<Related> => {
  if (run.call !== undefined || run.callCount === 0) return run.call === undefined ? [] : [run.call]
  const started = new Map<string, Related>()
  for (const { slot } of outputSlots(node, run)) {
    for (const segment of execution.segments(slot)) {
      if (!segment.text.includes("\"subExecution\"")) continue
      for (const item of segment.items()) {
        const call = related(obj(obj(item)?.["metadata"])?.["subExecution"])
        if (call !== undefined) started.set(call.executionId, call)
        if (started.size >= limit) return [...started.values()]
      }
    }
  }
  return [...started.values()]
}

/**
 * Execution without nodes that were added to it. A node that one belongs to has its input and its failures, and so do
 * the nodes after it; failures of the others are those of the node at which it started.
 */
export const without = (
  execution: Execution,
  added: ReadonlyMap<string, string | undefined>,
  start: string
): Execution => {
  const { runs, workflow } = execution
  const isGone = (name: string) => added.has(name)
  const sourceOf = (source: Source | undefined): Source | undefined => {
    if (source === undefined || added.get(source.node) === undefined) return source
    const before = runs.get(source.node)?.[source.run]?.sources[0]
    return before === undefined ? source : sourceOf(before)
  }
  const all = new Map<string, ReadonlyArray<Run>>(
    [...runs].filter(([name]) => !isGone(name)).map(([name, own]) =>
      [name, own.map((run) => ({ ...run, sources: run.sources.map(sourceOf) }))] as const
    )
  )
  for (const [name, owner = start] of added) {
    const failed = (runs.get(name) ?? []).filter(({ error }) => error !== undefined)
    const own = all.get(owner) ?? []
    if (failed.length > 0) {
      all.set(owner, [...own, ...failed.map((run, index) => ({ ...run, index: own.length + index }))])
    }
  }
  return {
    ...execution,
    workflow: workflow && { ...workflow, nodes: workflow.nodes.filter(({ name }) => !isGone(name)) },
    lastNode: isGone(execution.lastNode ?? "") ? added.get(execution.lastNode ?? "") ?? start : execution.lastNode,
    runs: all
  }
}

/** Execution with other texts in its items and errors; `change` takes plain texts, and JSON as `isJson`. */
export const withTexts = (
  execution: Execution,
  change: (text: string, isJson: boolean) => string
): Execution => {
  const plainly = (value: unknown) => mapStrings(value, (text) => change(text, false))
  return {
    ...execution,
    error: plainly(execution.error),
    runs: new Map([...execution.runs].map(([name, runs]) => [
      name,
      runs.map((run) => run.error === undefined ? run : { ...run, error: plainly(run.error) })
    ])),
    items: (slot, offset, limit) => execution.items(slot, offset, limit).map(plainly),
    *segments(slot, from) {
      for (const segment of execution.segments(slot, from)) {
        const text = change(segment.text, true)
        const items = () => arr(JSON.parse(`[${text}]`))
        const values = (key: string) => items().map((item) => obj(item)?.[key])
        yield text === segment.text
          ? segment
          : { ...segment, text, items, values, pick: items, pickText: () => undefined }
      }
    }
  }
}

/** Error of n8n reduced to its informative keys, as plain text without stacks, request dumps or copies of nodes. */
export const ErrorDetail = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  message: Schema.String,
  description: Schema.optionalKey(Schema.String),
  httpCode: Schema.optionalKey(Schema.String),
  messages: Schema.optionalKey(Schema.Array(Schema.String)),
  itemIndex: Schema.optionalKey(Schema.Int),
  /** Node that an expression refers to. */
  nodeCause: Schema.optionalKey(Schema.String),
  lineNumber: Schema.optionalKey(Schema.Int)
})
export interface ErrorDetail extends Schema.Schema.Type<typeof ErrorDetail> {}

/** Reads an error of a run or of the execution. */
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

/** Failure of an execution; `run` is absent if no run has the error. */
export interface Failure {
  readonly node: string | undefined
  readonly run: Run | undefined
  readonly error: unknown
}

/** Failing node and run: the last run with an error, else the error recorded for the execution. */
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

/** Run of a sub-workflow that a node started. */
export interface SubRun extends Related {
  readonly node: string
  /** Present if n8n does not name the run with the node. */
  readonly execution?: Execution
}

/** Run that failed below the failing node: the one that n8n names with the error, or the last one that did. */
export const failedSubRun = (execution: Execution, runs: ReadonlyArray<SubRun>): SubRun | undefined => {
  const { node: failed, run } = failure(execution) ?? {}
  return runs.findLast(({ execution: child, executionId, node }) =>
    node === failed &&
    (run?.call === undefined ? child !== undefined && child.status !== "success" : executionId === run.call.executionId)
  )
}

export interface InputPart extends Part {
  readonly input: number
  readonly type: string
  readonly source: Source | undefined
}

/**
 * Actual input of a run: the output of the run named in `source`; for a sub-node the recorded input (`inputOverride`).
 */
export const inputs = (execution: Execution, node: string, run: Run): ReadonlyArray<InputPart> =>
  run.override.length > 0
    ? run.override.map(({ count, index, type }) => ({
      input: index,
      type,
      source: undefined,
      count,
      slot: { node, run: run.index, side: "override", port: { type, index } }
    }))
    : run.sources.flatMap((source, input) => {
      if (source === undefined) return []
      const slot = slotOf(source)
      return [{ input, type: "main", source, count: portAt(execution, slot)?.count ?? 0, slot }]
    })

/** Item for readers: binary data as a stub, without n8n's item links. */
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
export interface Item extends Schema.Schema.Type<typeof Item> {}

const binaryStub = (file: unknown) => {
  const stub = obj(file) ?? {}
  return defined({
    mimeType: str(stub["mimeType"]),
    fileName: str(stub["fileName"]),
    fileSize: str(stub["fileSize"]) ?? (num(stub["bytes"]) === undefined ? undefined : `${num(stub["bytes"])} B`)
  })
}

/** Converts a stored item for readers. */
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

/** Items of several slots as one list: `offset` and `limit` count across slots in order. */
export const slice = (
  execution: Execution,
  parts: ReadonlyArray<Part>,
  offset: number,
  limit: number
): ReadonlyArray<Item> => {
  const items: Array<Item> = []
  let skip = offset
  for (const { count, slot } of parts) {
    const missing = Math.min(limit - items.length, count - skip)
    if (missing > 0) {
      const page = execution.items(slot, skip, missing)
      items.push(...page.map(item))
      if (page.length < missing) break
    }
    skip = Math.max(0, skip - count)
  }
  return items
}
