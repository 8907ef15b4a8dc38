import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ExecutionSummary, summarize } from "../domain/executions/ExecutionSummary.ts"
import * as TestMark from "../domain/testing/TestMark.ts"
import { Executions } from "../Executions.ts"
import * as Minimize from "../Minimize.ts"
import { N8nClient } from "../N8nClient.ts"
import * as Tool from "../Tool.ts"
import * as links from "./links.ts"
import * as parameters from "./parameters.ts"

/** A summary that a model reads in one glance: 1,000 tokens for 12 nodes, 2,500 for any number. */
export const maxChars = ({ statistics }: ExecutionSummary) => statistics.executedNodes <= 12 ? 2_600 : 5_800

/** The failure is told, not dumped: get_execution_by_node has all of it. */
export const trim = (summary: ExecutionSummary): ExecutionSummary => {
  const { failure } = summary
  if (failure === undefined) return summary
  return {
    ...summary,
    failure: {
      ...failure,
      error: Minimize.fit(failure.error, 480),
      ...(failure.inputItem === undefined ? {} : { inputItem: Minimize.fit(failure.inputItem, 400) })
    }
  }
}

/** `GET /executions/{id}` as a summary, the failure first. */
export const getExecution = Tool.make({
  name: "get_execution",
  title: "Get execution summary",
  searchHint: "why did it fail, debug, error, last run, what went wrong",
  description:
    "Why did a run fail? Summary of one execution: the failing node with its error and input, then the nodes that ran with item counts. Next: get_execution_by_node.",
  annotations: Tool.readOnly,
  scopes: ["execution:read"],
  input: Schema.Struct({
    id: parameters.executionId,
    nodeOffset: parameters.offset("nodeOffset", "How many nodes of availableNodes to skip.")
  }),
  output: ExecutionSummary,
  handler: ({ id }) =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient
      const execution = yield* (yield* Executions).get(id)
      const workflowName = execution.workflow === undefined
        ? yield* n8n.workflowName(execution.workflowId).pipe(Effect.orElseSucceed(() => "Unknown Workflow"))
        : execution.workflow.name
      return { execution, workflowName: TestMark.original(workflowName), url: links.execution(n8n.instance, execution) }
    }),
  summarize: ({ execution, url, workflowName }, { nodeOffset }) =>
    summarize(execution, { nodeOffset, workflowName, url }),
  message: ({ id, status }) => ({
    en: `Execution ${id}: ${status}`,
    ja: "実行サマリーを取得しました"
  }),
  next: ({ id, nodeOffset }) => (path, kept) =>
    path === "availableNodes" ? `get_execution(id: '${id}', nodeOffset: ${nodeOffset + kept})` : undefined,
  maxChars,
  trim
})
