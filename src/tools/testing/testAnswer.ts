/** Parts of the answer about one run of a test: its nodes, their output, sent requests and the response. */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Schema from "effect/Schema"
import * as Arguments from "../../answer/Arguments.ts"
import type * as Minimize from "../../answer/Minimize.ts"
import * as Hash from "../../base/Hash.ts"
import { defined, equals, obj, str } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as OutputNames from "../../catalogue/OutputNames.ts"
import * as Execution from "../../executions/Execution.ts"
import { checkNode } from "../../executions/Executions.ts"
import * as ExecutionSummary from "../../executions/ExecutionSummary.ts"
import * as ItemSearch from "../../executions/ItemSearch.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as NodeExecution from "../../executions/NodeExecution.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import type { WebhookAnswer } from "../../n8n/N8nClient.ts"
import * as SentRequests from "../../trials/SentRequests.ts"
import * as TestCopies from "../../trials/TestCopies.ts"
import type * as WorkflowTesting from "../../trials/WorkflowTesting.ts"
import * as conditions from "../shared/Conditions.ts"

const Item = Schema.StructWithRest(Schema.Struct({ json: Schema.Json }), [Schema.Record(Schema.String, Schema.Json)])

/** Fields of the answer about one run. */
export const fields = {
  executionId: Schema.String,
  status: Schema.String,
  /** Milliseconds. */
  executionTime: Schema.optionalKey(Schema.Finite),
  /** Version of the workflow that ran (n8n 2). */
  version: Schema.optionalKey(Schema.String),
  /** Output of the last node, or the items that `show` selects; absent for several cases, which have their own. */
  data: Schema.optionalKey(Schema.Struct({
    node: Schema.optionalKey(Schema.String),
    /** Name of the items' output, if the node has several. */
    output: Schema.optionalKey(Schema.String),
    /** Number of items that `show` selects. */
    matched: Schema.optionalKey(Schema.Int),
    /** `{node?, output?, json, binary?, error?}`. */
    items: Schema.Array(Item),
    note: Schema.optionalKey(Schema.String)
  })),
  /**
   * Requests `{node, pinned?, to, items, values?, unresolved?}` of nodes that reach outside, by address, over all runs;
   * pinned ones would have sent these. `items` is their number; `values` is a list where they have several.
   */
  sent: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Json))),
  /**
   * Response to the caller, if any: `{status, headers?, body?, bodyIs?, bytes?, digest?}`; `bodyIs` names the items that
   * already show its body. A long body has its length in `bytes`, and the beginning of its SHA-256 in `digest`: answers
   * can be compared although they are cut.
   */
  response: Schema.optionalKey(
    Schema.StructWithRest(Schema.Struct({ status: Schema.Int }), [Schema.Record(Schema.String, Schema.Json)])
  ),
  hint: Schema.optionalKey(Schema.String),
  /** As in get_execution: `{node?, error, inputItem?, …}`. */
  failure: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
}

/** Number of items that are read of a run: a page, which get_execution_by_node continues. */
const maxItems = 20

/** Choice of items to return instead of the last node's. */
export interface Show {
  readonly nodes?: ReadonlyArray<string> | undefined
  readonly where?: string | undefined
  readonly fields?: ReadonlyArray<string> | undefined
}

/** Error of the first item in a node's error output, in parentheses; empty without one. */
const itemError = (execution: Execution.Execution, slot: Execution.Slot) => {
  const [item] = execution.items(slot, 0, 1)
  const { error, message } = obj(obj(item)?.["json"]) ?? {}
  const text = str(error) ?? str(obj(error)?.["message"]) ?? str(message)
  return text === undefined ? "" : ` (${Visible.label(text, 80)})`
}

/** Number of a run's items, by output if the node has several. */
const itemsOf = (
  execution: Execution.Execution,
  name: string,
  run: Execution.Run,
  namesOf: Connections.OutputNames
) => {
  const node = Execution.nodeOf(execution, name)
  const outputs = run.outputs.filter(({ count, type }) => type === "main" && count > 0)
  const isPlain = outputs.every(({ index }) => index === 0) && run.outputs.length <= 1
  if (isPlain || node === undefined || outputs.length === 0) return counted(Execution.itemCount([run]), "item")
  return outputs.map((port) => {
    const label = Execution.outputName(node, run, port, namesOf) ?? Connections.portLabel(port)
    const slot: Execution.Slot = { node: name, run: run.index, side: "output", port }
    return `${label} ${port.count}${label === "error" ? itemError(execution, slot) : ""}`
  }).join(", ")
}

/** Lines such as `Merge: 3 items, 12 ms`, in the order of the runs; `failure` has the error of the failing run. */
export const logsOf = (
  { execution, notRun }: WorkflowTesting.TestResult,
  namesOf: Connections.OutputNames
): ReadonlyArray<string> => {
  const runs = [...execution.runs]
    .flatMap(([node, all]) => all.map((run) => ({ node, run, isOne: all.length === 1 })))
    .toSorted((a, b) => Execution.byOrder(a.run, b.run))
  const failing = Execution.failure(execution)?.run
  return runs.map(({ isOne, node, run }) => {
    const name = isOne ? node : `${node} #${run.index}`
    if (notRun.includes(node)) return `${name}: not run`
    if (run.error === undefined) return `${name}: ${itemsOf(execution, node, run, namesOf)}, ${run.executionTime} ms`
    return run === failing
      ? `${name}: failed`
      : `${name}: failed: ${Execution.errorDetail(run.error).message}`
  })
}

/** Name of the shown output; `undefined` if it is the first and no other has items. */
const shownOutput = ({ output: { output }, outputs }: NodeExecution.NodeExecution) => {
  const match = outputs.find((each) => each.output === output)
  const isAlone = match === outputs[0] && outputs.every((each) => each === match || each.items === 0)
  return isAlone ? undefined : match?.name ?? match?.output
}

const lastNode = (execution: Execution.Execution) =>
  Execution.failure(execution)?.node ?? Execution.lastToRun(execution)

const lastOutput = (execution: Execution.Execution, namesOf: Connections.OutputNames) => {
  const nodeName = lastNode(execution)
  if (nodeName === undefined) return { data: { items: [] }, total: undefined }
  const { node, totals } = NodeExecution.read(execution, { nodeName, itemOffset: 0, itemLimit: maxItems }, namesOf)
  const data = defined({ node: nodeName, output: shownOutput(node), items: node.output.items })
  return { data, total: totals["output.items"] ?? node.output.items.length }
}

/** Name of a slot's output, if the node has several. */
const outputOf = (execution: Execution.Execution, slot: Execution.Slot, namesOf: Connections.OutputNames) => {
  const node = Execution.nodeOf(execution, slot.node)
  const run = execution.runs.get(slot.node)?.[slot.run]
  if (node === undefined || run === undefined || run.outputs.length < 2) return undefined
  return Execution.outputName(node, run, slot.port, namesOf) ?? Connections.portLabel(slot.port)
}

const select = Effect.fnUntraced(function*(
  execution: Execution.Execution,
  { fields, nodes, where }: Show,
  { namesOf, redacts }: {
    readonly namesOf: Connections.OutputNames
    readonly redacts: boolean
  }
) {
  const paths = yield* conditions.parsePaths("show.fields", fields)
  for (const name of nodes ?? []) yield* checkNode(execution, name, "show.nodes")
  const slots = ItemSearch.outputs(execution, nodes ?? [lastNode(execution) ?? ""])
  const search = yield* ItemSearch.search(execution, { where: (yield* conditions.compiler(where))() }, {
    slots,
    limit: maxItems,
    spreads: true,
    redacts
  }).pipe(Effect.mapError((problem) => conditions.wrongExpression(where ?? "", problem)))
  const redact: <A>(value: A) => A = redacts ? Redact.redact : identity
  const isOfOne = (nodes ?? []).length < 2
  // Of several nodes the first item of each comes first, so that a cut leaves something of each.
  const matches = isOfOne ? search.matches.toSorted((a, b) => a.position - b.position) : search.matches
  const items = matches.map(({ item, slot }) =>
    defined({
      node: slot.node,
      output: outputOf(execution, slot, namesOf),
      ...item,
      json: paths.length === 0 ? item.json : ItemView.pick(redact(item.json), paths) as Schema.Json
    })
  )
  const jsons = matches.map(({ item }) => item.json)
  const missing = ItemView.missing(jsons, paths)
  const notes = ItemSearch.notes(search, {
    samples: () => ItemSearch.firstItems(execution, slots, redacts),
    isFoundElsewhere: false
  }).filter((note) => typeof note === "string")
  if (missing.length > 0 && items.length > 0) notes.push(ItemView.missingNote(missing, jsons))
  const [first] = items
  const isOfOneOutput = isOfOne && items.every(({ output }) => output === first?.output)
  const data = defined({
    node: isOfOne ? first?.node : undefined,
    output: isOfOneOutput ? first?.output : undefined,
    matched: search.matched,
    items: items.map(({ node, output, ...item }) =>
      defined({ node: isOfOne ? undefined : node, output: isOfOneOutput ? undefined : output, ...item })
    ),
    note: ItemView.joinNotes(notes)
  })
  return { data, total: search.matched }
})

/** Least room of an item where several nodes are shown. */
export const leastShare = 240

/** Room of what an item's JSON is in, and of what all items are in. */
const frames = { item: 50, items: 250 }

/**
 * Bounds of `data` by which the items of several nodes share its room, however large those of one are; the first items
 * of each node come first.
 */
export const shares = (data: string, nodes: number, rooms: ReadonlyArray<number>): Minimize.Bounds => {
  if (nodes < 2) return { [data]: [Infinity, ...rooms] }
  const wide = rooms.map((room) => Math.max(room, frames.items + nodes * leastShare))
  // Bounds apply in this order.
  return {
    [`${data}.items[].json`]: [Infinity, ...wide.map((room) => (room - frames.items) / nodes - frames.item)],
    [data]: [Infinity, ...wide]
  }
}

/** Parses a text that contains a JSON object or array, which models sometimes send and webhooks return. */
export const parseJson = (data: unknown): unknown =>
  typeof data === "string" && /^\s*[[{]/.test(data) ? Arguments.parseJson(data) : data

/** Characters of a body that an answer certainly shows. */
const certainlyShown = 400

/** Status and headers of a response, with the size of a body that may be cut. */
const headOf = ({ headers, status, text }: WebhookAnswer) =>
  defined({
    status,
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    ...(text.length > certainlyShown
      ? { bytes: Buffer.byteLength(text), digest: Hash.sha256(text).slice(0, 12) }
      : {})
  })

/** Response to a caller. */
export const responseOf = (response: WebhookAnswer) => ({ ...headOf(response), body: response.text })

/** Response to the caller, whose body is omitted if the items already show it. */
const besideItems = (
  response: WebhookAnswer,
  { items }: { readonly items: ReadonlyArray<Execution.Item> },
  total: number | undefined
) => {
  const body = parseJson(response.text)
  const json = items.map((item) => item.json)
  const isAll = Array.isArray(body) && body.length === (total ?? json.length) &&
    equals(body.slice(0, json.length), json)
  if (isAll) return { ...headOf(response), bodyIs: "data.items" }
  return json.length > 0 && equals(body, json[0])
    ? { ...headOf(response), bodyIs: "data.items[0].json" }
    : responseOf(response)
}

const pinHint = ({ notRun, shortOfRuns }: WorkflowTesting.TestResult) => {
  if (notRun.length > 0) {
    const names = Rows.names(notRun, 5)
    const [calls, stores, it] = notRun.length === 1 ? ["calls", "stores", "it"] : ["call", "store", "them"]
    return `${names} ${calls} other services or ${stores} state, and the execution has no data for ${it}: set items in pins, or "run" to run ${it}.`
  }
  const [first] = shortOfRuns
  return first === undefined
    ? undefined
    : `'${first.node}' ran ${first.runs} times, but the execution has data for ${first.stored} runs: the others returned no items.`
}

const endOf = (result: WorkflowTesting.TestResult) => {
  const { execution, timedOut, timeout } = result
  if (timedOut) return `Stopped after ${timeout} ms; the answer shows what ran until then. Raise timeout to run more.`
  if (execution.status !== "waiting") return pinHint(result)
  const node = Execution.lastToRun(execution)
  return `It waits at '${
    node ?? "?"
  }' (for a time, a call or a form), where the test ended; to continue, set startNode to a node after it.`
}

/** Reads the data of a run that an answer shows. */
export const read = Effect.fnUntraced(function*(
  result: WorkflowTesting.TestResult,
  { redacts, show }: { readonly show: Show | undefined; readonly redacts: boolean }
) {
  const { execution } = result
  const namesOf = yield* OutputNames.forNodes(execution.workflow?.nodes ?? [])
  const output = show === undefined
    ? lastOutput(execution, namesOf)
    : yield* select(execution, show, { namesOf, redacts })
  return { result, namesOf, output, sent: yield* SentRequests.ofTest(result, redacts) }
})

export type Read = Effect.Success<ReturnType<typeof read>>

/** Fields of the answer about a run. */
export const summarize = ({ output: { data, total }, result, sent }: Read) => {
  const { execution } = result
  return defined({
    executionId: execution.id,
    status: execution.status,
    executionTime: execution.duration,
    version: result.version,
    data: { ...data, items: data.items.map(ItemView.withoutNoise) },
    sent: sent.length === 0
      ? undefined
      : sent as ReadonlyArray<SentRequests.Row & { readonly [key: string]: Schema.Json }>,
    response: result.response && besideItems(result.response, data, total),
    hint: ItemView.joinNotes([
      endOf(result),
      TestCopies.upgradeNote(result.upgraded),
      result.repairs.length > 0 && `The file was tested as its creation repairs it: ${result.repairs.join(" ")}`
    ]),
    failure: ExecutionSummary.failureOf(execution) as { readonly [key: string]: Schema.Json } | undefined
  })
}
