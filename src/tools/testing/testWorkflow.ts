import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Minimize from "../../answer/Minimize.ts"
import * as Tool from "../../answer/Tool.ts"
import { CallContext } from "../../base/CallContext.ts"
import { defined, equals } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as OutputNames from "../../catalogue/OutputNames.ts"
import * as Execution from "../../executions/Execution.ts"
import * as ExecutionSummary from "../../executions/ExecutionSummary.ts"
import * as NodeExecution from "../../executions/NodeExecution.ts"
import * as Noise from "../../executions/Noise.ts"
import type * as Connections from "../../n8n/model/Connections.ts"
import * as WorkflowTesting from "../../trials/WorkflowTesting.ts"
import * as summaries from "../shared/ExecutionSummaries.ts"
import * as parameters from "../shared/Parameters.ts"

const Output = Schema.Struct({
  executionId: Schema.String,
  status: Schema.String,
  /** Milliseconds. */
  executionTime: Schema.optionalKey(Schema.Finite),
  /** Output of the last node. */
  data: Schema.Struct({
    node: Schema.optionalKey(Schema.String),
    /** Name of the items' output, if the node has several. */
    output: Schema.optionalKey(Schema.String),
    items: Schema.Array(Execution.Item)
  }),
  /** Nodes that ran, without the trigger and `pinned`; only for tests with pins, replay, startNode or endNode. */
  ran: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Nodes that returned pinned or replayed items instead of running. */
  pinned: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Nodes that were left out: they reach outside, and the replayed execution has no data for them. */
  notRun: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Lines for the runs of nodes, in order. */
  logs: Schema.Array(Schema.String),
  /** Response to the caller, if any; `bodyIs` if the items already show the body. */
  response: Schema.optionalKey(
    Schema.Struct({
      status: Schema.Int,
      body: Schema.optionalKey(Schema.String),
      bodyIs: Schema.optionalKey(Schema.String)
    })
  ),
  hint: Schema.optionalKey(Schema.String),
  failure: Schema.optionalKey(ExecutionSummary.Failure)
})
type Output = typeof Output.Type

/** Bounds of `timeout`, in milliseconds. */
const timeouts = { minimum: 1_000, maximum: 3_600_000 }

/** Default for clients without progress: the whole call ends within the time that they wait. */
const silentTimeout = 35_000

const maxItems = 20
const maxLogs = 60

/** Maximum length: 650 tokens for 20 nodes; get_execution_by_node returns the rest. */
const maxChars = ({ logs }: Output) => 1_700 + 30 * Math.max(0, logs.length - 20)

/** Least room for the items, which give way to the logs. */
const minDataChars = 400

/** Lines such as `Merge: 3 items, 12 ms`, in the order of the runs; `failure` has the error of the failing run. */
const logsOf = ({ execution, notRun }: WorkflowTesting.TestResult): ReadonlyArray<string> => {
  const runs = [...execution.runs]
    .flatMap(([node, all]) => all.map((run) => ({ node, run, isOne: all.length === 1 })))
    .toSorted((a, b) => Execution.byOrder(a.run, b.run))
  const failing = Execution.failure(execution)?.run
  const lines = runs.slice(0, maxLogs).map(({ isOne, node, run }) => {
    const name = isOne ? node : `${node} #${run.index}`
    if (notRun.includes(node)) return `${name}: not run`
    if (run.error === undefined) {
      return `${name}: ${counted(Execution.itemCount([run]), "item")}, ${run.executionTime} ms`
    }
    return run === failing
      ? `${name}: failed`
      : `${name}: failed: ${Execution.errorDetail(run.error).message.slice(0, 200)}`
  })
  return runs.length > maxLogs ? [...lines, `… ${runs.length - maxLogs} more runs`] : lines
}

/** Name of the output that is shown, unless it is the first and no other has items. */
const shownOutput = ({ output: { output }, outputs }: NodeExecution.NodeExecution) => {
  const shown = outputs.find((each) => each.output === output)
  const isAlone = shown === outputs[0] && outputs.every((each) => each === shown || each.items === 0)
  return isAlone ? undefined : shown?.name ?? shown?.output
}

const lastNode = (execution: Execution.Execution) =>
  Execution.failure(execution)?.node ?? Execution.lastToRun(execution)

const lastOutput = (execution: Execution.Execution, namesOf: Connections.OutputNames) => {
  const nodeName = lastNode(execution)
  if (nodeName === undefined) return { data: { items: [] }, total: undefined }
  const { node, totals } = NodeExecution.read(execution, { nodeName, itemOffset: 0, itemLimit: maxItems }, namesOf)
  const data = defined({ node: nodeName, output: shownOutput(node), items: node.output.items })
  return { data, total: totals["output.items"] }
}

/** Parses JSON in a text, which models sometimes send and webhooks return. */
const parseJson = (data: unknown): unknown => {
  if (typeof data !== "string" || !/^\s*[[{]/.test(data)) return data
  try {
    return JSON.parse(data)
  } catch {
    return data
  }
}

/** Response to the caller, without a body that the items already show. */
const responseOf = (
  { response }: WorkflowTesting.TestResult,
  { data: { items }, total }: ReturnType<typeof lastOutput>
) => {
  if (response === undefined) return undefined
  const { status, text } = response
  const body = parseJson(text)
  const json = items.map((item) => item.json)
  const isAll = Array.isArray(body) && body.length === (total ?? json.length) &&
    equals(body.slice(0, json.length), json)
  if (isAll) return { status, bodyIs: "data.items" }
  return json.length > 0 && equals(body, json[0])
    ? { status, bodyIs: "data.items[0].json" }
    : { status, body: text.slice(0, 4_000) }
}

const pinHint = ({ notRun, shortOfRuns }: WorkflowTesting.TestResult) => {
  if (notRun.length > 0) {
    const names = notRun.slice(0, 5).map((name) => `'${name}'`).join(", ")
    return `${names} ${
      notRun.length === 1 ? "calls other services or stores" : "call other services or store"
    } state, and the execution has no data for it: set its items in pins, or "run" to run it.`
  }
  const [first] = shortOfRuns
  return first === undefined
    ? undefined
    : `'${first.node}' ran ${first.runs} times, but the execution has data for ${first.stored} runs: the others returned no items.`
}

const hintOf = (result: WorkflowTesting.TestResult) => {
  const { execution, timedOut, timeout } = result
  if (timedOut) return `Stopped after ${timeout} ms; this is what ran until then. Raise timeout to run more.`
  if (execution.status !== "waiting") return pinHint(result)
  const node = Execution.lastToRun(execution)
  return `It waits at '${
    node ?? "?"
  }' (for a time, a call or a form), where the test ended; to continue, set startNode to a node after it.`
}

const nextItems = ({ data, executionId }: Output) => (path: string, count: number) =>
  path === "data.items" && data.node !== undefined
    ? Hints.executionByNode(executionId, data.node, { itemOffset: count })
    : undefined

/** Runs a workflow as a temporary copy. */
export const testWorkflow = Tool.make({
  name: "test_workflow",
  title: "Test workflow",
  searchHint: "run, execute, try, trigger a workflow now with test data",
  description: "Run a workflow, published or not, as a temporary copy. Its nodes really run.",
  annotations: { ...Tool.destructive, idempotentHint: false },
  scopes: [
    "workflow:create",
    "workflow:read",
    "workflow:list",
    "workflow:delete",
    "workflow:activate",
    "workflow:deactivate",
    "execution:list",
    "execution:read"
  ],
  input: Schema.Struct({
    workflowId: parameters.reference,
    testData: parameters.optional(Schema.Json, "The trigger's item or items; a webhook's body."),
    timeout: Schema.optionalKey(
      Schema.Int.check(
        Schema.isBetween(timeouts, { message: `timeout must be from ${timeouts.minimum} to ${timeouts.maximum}` })
      ).annotate({ description: "ms.", default: 60_000 })
    ),
    startNode: parameters.optional(Schema.String, "Node to start at."),
    endNode: parameters.optional(Schema.String, "Last node to run."),
    pins: Schema.optionalKey(
      Schema.Record(
        Schema.String,
        Schema.Union([Schema.Array(Schema.Json.annotate({ description: "Item." })), Schema.Literal("run")])
      ).annotate({
        description:
          "By node: items it returns instead of running ([[…], […]]: by output), or 'run' to run it in a replay too."
      })
    ),
    replay: Schema.optionalKey(
      parameters.executionIdFor(
        "Execution with data for the trigger and for nodes that reach outside."
      )
    ),
    mode: Schema.Literals(["auto", "copy", "live"]).annotate({
      description: "live: the real webhook.",
      default: "auto"
    }).pipe(Schema.withDecodingDefaultKey(Effect.succeed("auto" as const)))
  }),
  output: Output,
  handler: ({ mode, testData, timeout: asked, workflowId, ...options }) =>
    Effect.gen(function*() {
      const { hearsProgress } = yield* CallContext
      const timeout = asked ?? (hearsProgress === true ? 60_000 : silentTimeout)
      const tested = yield* WorkflowTesting.run(workflowId, {
        ...options,
        timeout,
        grantsTimeout: asked !== undefined || hearsProgress === true,
        testData: parseJson(testData),
        mode: mode === "live" ? "live" : "copy"
      })
      const { execution } = tested
      const last = lastNode(execution)
      const namesOf = yield* OutputNames.forNodes(execution.workflow?.nodes.filter(({ name }) => name === last) ?? [])
      return { tested, output: lastOutput(execution, namesOf) }
    }),
  summarize: ({ output, tested }, { endNode, startNode }) => {
    const { execution, notRun, pinned, trigger } = tested
    const isPart = [...pinned, ...notRun].length > 0 || startNode !== undefined || endNode !== undefined
    const left = new Set([trigger, ...pinned, ...notRun])
    return defined({
      executionId: execution.id,
      status: execution.status,
      executionTime: execution.duration,
      data: { ...output.data, items: output.data.items.map(Noise.without) },
      ran: isPart ? [...execution.runs.keys()].filter((name) => !left.has(name)) : undefined,
      pinned: pinned.length === 0 ? undefined : pinned,
      notRun: notRun.length === 0 ? undefined : notRun,
      logs: logsOf(tested),
      response: responseOf(tested, output),
      hint: hintOf(tested),
      failure: ExecutionSummary.failureOf(execution)
    })
  },
  message: ({ executionTime, notRun, status }, { workflowId }) => ({
    en: `Test of '${workflowId}': ${status}${executionTime === undefined ? "" : ` after ${executionTime} ms`}${
      notRun === undefined ? "" : `, but ${counted(notRun.length, "node")} did not run`
    }`,
    ja: "ワークフローをテストしました"
  }),
  totals: ({ output: { total } }) => defined({ "data.items": total }),
  next: (_input, answer) => nextItems(answer),
  maxChars,
  trim: (tested) => {
    const answer = summaries.trim(tested)
    const room = maxChars(answer) - JSON.stringify({ ...answer, data: {} }).length
    return {
      ...answer,
      data: Minimize.fit({ data: answer.data }, Math.max(minDataChars, room), nextItems(answer)).data
    }
  }
})
