import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Execution from "../domain/executions/Execution.ts"
import { byNodeCall, ExecutionSummary, summarize } from "../domain/executions/ExecutionSummary.ts"
import * as NodeExecution from "../domain/executions/NodeExecution.ts"
import { defined } from "../domain/Json.ts"
import { truncated } from "../domain/Truncated.ts"
import * as Minimize from "../Minimize.ts"
import * as Tool from "../Tool.ts"
import * as WorkflowTesting from "../WorkflowTesting.ts"
import * as editing from "./editing.ts"
import * as getExecution from "./getExecution.ts"
import * as parameters from "./parameters.ts"

const Output = Schema.Struct({
  executionId: Schema.String,
  status: Schema.String,
  /** Milliseconds. */
  executionTime: Schema.optionalKey(Schema.Finite),
  /** What the last node put out. */
  data: Schema.Struct({
    node: Schema.optionalKey(Schema.String),
    items: Schema.Array(Execution.Item),
    ...truncated
  }),
  /** One line for each run of a node, in order. */
  logs: Schema.Array(Schema.String),
  /** What the workflow answered its caller, where it does. */
  response: Schema.optionalKey(Schema.Struct({ status: Schema.Int, body: Schema.String })),
  hint: Schema.optionalKey(Schema.String),
  summary: ExecutionSummary,
  ...truncated
})
type Output = typeof Output.Type

const maxItems = 20
const maxLogs = 60

const counted = (count: number) => `${count} item${count === 1 ? "" : "s"}`

/** `Merge: 3 items, 12 ms`, in the order of the runs. */
const logsOf = (execution: Execution.Execution): ReadonlyArray<string> => {
  const runs = [...execution.runs]
    .flatMap(([node, all]) => all.map((run) => ({ node, run, isOne: all.length === 1 })))
    .toSorted((a, b) => Execution.byOrder(a.run, b.run))
  const lines = runs.slice(0, maxLogs).map(({ isOne, node, run }) => {
    const name = isOne ? node : `${node} #${run.index}`
    return run.error === undefined
      ? `${name}: ${counted(Execution.itemCount([run]))}, ${run.executionTime} ms`
      : `${name}: failed: ${Execution.errorDetail(run.error).message.slice(0, 200)}`
  })
  return runs.length > maxLogs ? [...lines, `… ${runs.length - maxLogs} more runs`] : lines
}

const lastToRun = (execution: Execution.Execution) =>
  [...execution.runs].map(([name, runs]) => ({ name, last: runs.at(-1) }))
    .toSorted((a, b) => Execution.byOrder(b.last, a.last))[0]?.name

const dataOf = (execution: Execution.Execution): Output["data"] => {
  const nodeName = Execution.failure(execution)?.node ?? lastToRun(execution)
  if (nodeName === undefined) return { items: [] }
  const { output } = NodeExecution.read(execution, { nodeName, itemOffset: 0, itemLimit: maxItems })
  const { _truncated: cut, items } = output
  return {
    node: nodeName,
    items,
    ...(cut === undefined || Array.isArray(cut) ? {} : { _truncated: { ...cut, path: "data.items" } as typeof cut })
  }
}

const hintOf = ({ execution, timedOut }: WorkflowTesting.Tested, timeout: number) => {
  if (timedOut) return `Stopped after ${timeout} ms; what ran until then is here. Raise timeout for more.`
  if (execution.status !== "waiting") return undefined
  const node = lastToRun(execution)
  return `It waits at '${
    node ?? "?"
  }' (for a time, a call or a form) and was ended there: startNode goes on from a node after it.`
}

/** Models send JSON in a string now and then. */
const parsed = (data: unknown): unknown => {
  if (typeof data !== "string" || !/^\s*[[{]/.test(data)) return data
  try {
    return JSON.parse(data)
  } catch {
    return data
  }
}

const nextItems = ({ data, executionId }: Output) => (path: string, kept: number) =>
  path === "data.items" && data.node !== undefined
    ? byNodeCall(executionId, data.node, `, itemOffset: ${kept}`)
    : undefined

/** Runs a workflow as a temporary copy, and tells what came of it. */
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
    workflowId: editing.workflowId,
    testData: Schema.optionalKey(
      Schema.Json.annotate({ description: "The trigger's item or items; a webhook's body." })
    ),
    timeout: parameters.int("timeout", { minimum: 1_000, maximum: 3_600_000 }, 60_000, "ms."),
    startNode: Schema.optionalKey(
      Schema.String.annotate({ description: "Node to start at." })
    ),
    mode: Schema.Literals(["auto", "copy", "live"]).annotate({
      description: "live: the real webhook.",
      default: "auto"
    }).pipe(Schema.withDecodingDefaultKey(Effect.succeed("auto" as const)))
  }),
  output: Output,
  handler: ({ mode, testData, workflowId, ...options }) =>
    WorkflowTesting.run(workflowId, {
      ...options,
      testData: parsed(testData),
      mode: mode === "live" ? "live" : "copy"
    }),
  summarize: (tested, { timeout }) => {
    const { execution, response, workflow: { id, name } } = tested
    return defined({
      executionId: execution.id,
      status: execution.status,
      executionTime: execution.duration,
      data: dataOf(execution),
      logs: logsOf(execution),
      response: response === undefined ? undefined : { status: response.status, body: response.text.slice(0, 4_000) },
      hint: hintOf(tested, timeout),
      summary: { ...summarize(execution, { nodeOffset: 0, workflowName: name, url: undefined }), workflowId: id }
    })
  },
  message: ({ executionTime, status, summary }) => ({
    en: `Test of '${summary.workflowId}': ${status}${executionTime === undefined ? "" : ` after ${executionTime} ms`}`,
    ja: "ワークフローをテストしました"
  }),
  maxChars: () => 24_000,
  trim: (tested) => ({
    ...tested,
    data: Minimize.fit({ data: tested.data }, 12_000, nextItems(tested)).data,
    summary: Minimize.fit(
      getExecution.trim(tested.summary),
      getExecution.maxChars(tested.summary),
      (path, kept) =>
        path === "availableNodes" ? `get_execution(id: '${tested.executionId}', nodeOffset: ${kept})` : undefined
    )
  })
})
