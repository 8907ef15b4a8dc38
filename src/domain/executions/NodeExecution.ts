/** Step two of debugging: what one run of one node received, did and put out. */
import * as Schema from "effect/Schema"
import * as Connections from "../Connections.ts"
import { defined } from "../Json.ts"
import { type Next, truncated } from "../Truncated.ts"
import * as Execution from "./Execution.ts"
import { byNodeCall } from "./ExecutionSummary.ts"

const Items = Schema.Array(Execution.Item)

/**
 * One run. `executionTime` is in milliseconds, times are ISO 8601; they are absent for a node that did not run
 * (`status: "notRun"`, with the reason in `note`).
 */
export const NodeExecution = Schema.Struct({
  executionId: Schema.String,
  nodeName: Schema.String,
  nodeType: Schema.String,
  status: Schema.String,
  note: Schema.optionalKey(Schema.String),
  executionTime: Schema.optionalKey(Schema.Finite),
  startTime: Schema.optionalKey(Schema.String),
  endTime: Schema.optionalKey(Schema.String),
  /** Counts from 0; the last run unless asked for another. */
  runIndex: Schema.optionalKey(Schema.Int),
  runCount: Schema.Int,
  /** Every output of the run with its item count. */
  outputs: Schema.Array(
    Schema.Struct({
      output: Schema.String,
      name: Schema.optionalKey(Schema.String),
      items: Schema.Int
    })
  ),
  input: Schema.Struct({
    sources: Schema.Array(
      Schema.Struct({
        input: Schema.String,
        node: Schema.optionalKey(Schema.String),
        output: Schema.optionalKey(Schema.Int),
        run: Schema.optionalKey(Schema.Int),
        count: Schema.Int
      })
    ),
    items: Items,
    ...truncated
  }),
  output: Schema.Struct({
    /** Which of `outputs` the items are of. */
    output: Schema.optionalKey(Schema.String),
    items: Items,
    ...truncated
  }),
  parameters: Schema.Json,
  error: Schema.NullOr(Execution.ErrorDetail),
  ...truncated
})
export type NodeExecution = typeof NodeExecution.Type

/** What is asked for. `runIndex` and `outputIndex` count from 0. */
export interface Request {
  readonly nodeName: string
  readonly runIndex?: number | undefined
  readonly outputIndex?: number | undefined
  readonly itemOffset: number
  readonly itemLimit: number
}

/** `undefined` where n8n noted no time, or one that no date can hold. */
const iso = (epoch: number) => epoch > 0 && epoch <= 8.64e15 ? new Date(epoch).toISOString() : undefined

/** Every name that can be asked for: nodes that ran, and the others of the workflow. */
export const nodeNames = (execution: Execution.Execution): ReadonlyArray<string> => [
  ...new Set([...execution.runs.keys(), ...(execution.workflow?.nodes ?? []).map((node) => node.name)])
]

const quoted = (names: ReadonlyArray<string>) => [...new Set(names)].map((name) => `'${name}'`).join(", ")

/** Why a node did not run, as far as the nodes around it tell. */
const whyNot = (execution: Execution.Execution, name: string, disabled: boolean): string => {
  if (disabled) return "It is disabled."
  const links = Connections.links(execution.workflow?.connections ?? {})
  const before = links.filter((link) => link.to === name && link.output.type === "main")
  const lentTo = links.filter((link) => link.from === name && link.output.type !== "main").map((link) => link.to)
  if (before.length === 0) {
    return lentTo.length === 0
      ? "Nothing is connected to it, and it did not start the execution."
      : `It works for ${quoted(lentTo)}, and was not asked.`
  }
  const reasons = [...Map.groupBy(before, (link) => link.from)].map(([from, out]) => {
    const runs = execution.runs.get(from)
    if (runs === undefined) return `'${from}' before it did not run either`
    const outputs = runs.flatMap((run) => run.outputs)
    const sent = out.some(({ output: { index } }) =>
      outputs.some((output) => output.type === "main" && output.index === index && output.count > 0)
    )
    if (sent) return `'${from}' before it sent it items, but the execution did not come to it`
    if (Execution.nodeStatus(runs) === "error") return `'${from}' before it failed`
    return `'${from}' before it ran, and sent no items to ${
      out.map((link) => Connections.portLabel(link.output)).join(", ")
    }`
  })
  return `${reasons.join("; ")}.`
}

const didNotRun = (execution: Execution.Execution, name: string): NodeExecution => {
  const node = execution.workflow?.nodes.find((candidate) => candidate.name === name)
  return {
    executionId: execution.id,
    nodeName: name,
    nodeType: node?.type ?? "unknown",
    status: "notRun",
    note: `This node did not run. ${whyNot(execution, name, node?.disabled === true)}`,
    runCount: 0,
    outputs: [],
    input: { sources: [], items: [] },
    output: { items: [] },
    parameters: (node?.parameters ?? {}) as Schema.Json,
    error: null
  }
}

/** The output whose items are shown: the one asked for, else the first that holds items, else the first. */
const shownOutput = (run: Execution.Run, outputIndex: number | undefined): Execution.Output | undefined =>
  outputIndex === undefined
    ? run.outputs.find((output) => output.count > 0) ?? run.outputs[0]
    : run.outputs[outputIndex]

/** The call that continues a list of items after `kept` more of them. */
export const nextCall = (id: string, request: Request): Next => (path, kept) => {
  if (path !== "input.items" && path !== "output.items") return undefined
  const more = Object.entries({
    runIndex: request.runIndex,
    outputIndex: request.outputIndex,
    itemOffset: request.itemOffset + kept
  }).flatMap(([key, value]) => value === undefined ? [] : [`, ${key}: ${value}`])
  return byNodeCall(id, request.nodeName, more.join(""))
}

/** Reads one run; a node that did not run says so, and why. */
export const read = (execution: Execution.Execution, request: Request): NodeExecution => {
  const runs = execution.runs.get(request.nodeName)
  const run = runs?.at(request.runIndex ?? -1)
  if (runs === undefined || run === undefined) return didNotRun(execution, request.nodeName)

  const node = execution.workflow?.nodes.find((candidate) => candidate.name === request.nodeName)
  const parts = Execution.inputs(execution, request.nodeName, run)
  const shown = shownOutput(run, request.outputIndex)
  const slot: Execution.Slot | undefined = shown === undefined
    ? undefined
    : { node: request.nodeName, run: run.index, side: "output", port: shown }
  const page = (wanted: Parameters<typeof Execution.slice>[1]) =>
    Execution.slice(execution, wanted, request.itemOffset, request.itemLimit)
  const marked = (path: string, total: number, kept: number) =>
    request.itemOffset + kept < total
      ? { _truncated: defined({ path, kept, total, next: nextCall(execution.id, request)(path, kept) }) }
      : {}

  const inputItems = page(parts)
  const outputItems = slot === undefined ? [] : page([{ count: shown?.count ?? 0, slot }])
  return defined({
    executionId: execution.id,
    nodeName: request.nodeName,
    nodeType: node?.type ?? "unknown",
    status: run.status,
    executionTime: run.executionTime,
    startTime: iso(run.startTime),
    endTime: iso(run.startTime + run.executionTime),
    runIndex: run.index,
    runCount: runs.length,
    outputs: run.outputs.map((output) => {
      const name = node === undefined ? undefined : Execution.outputName(node, run, output)
      return {
        output: Connections.portLabel(output),
        ...(name === undefined ? {} : { name }),
        items: output.count
      }
    }),
    input: {
      sources: parts.map(({ count, input, source, type }) =>
        defined({
          input: Connections.portLabel({ type, index: input }),
          node: source?.node,
          output: source?.output,
          run: source?.run,
          count
        })
      ),
      items: inputItems,
      ...marked("input.items", parts.reduce((sum, part) => sum + part.count, 0), inputItems.length)
    },
    output: {
      ...(shown === undefined ? {} : { output: Connections.portLabel(shown) }),
      items: outputItems,
      ...marked("output.items", shown?.count ?? 0, outputItems.length)
    },
    parameters: (node?.parameters ?? {}) as Schema.Json,
    error: run.error === undefined ? null : Execution.errorDetail(run.error)
  })
}
