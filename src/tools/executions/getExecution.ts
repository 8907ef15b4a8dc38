import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import * as OutputNames from "../../catalogue/OutputNames.ts"
import * as ExecutionEnd from "../../executions/ExecutionEnd.ts"
import { Executions } from "../../executions/Executions.ts"
import { namedNodes } from "../../executions/ExecutionSummary.ts"
import * as Selection from "../../executions/Selection.ts"
import * as SubRuns from "../../executions/SubRuns.ts"
import * as links from "../../n8n/Links.ts"
import * as TestMark from "../../n8n/model/TestMark.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as summaries from "../shared/ExecutionSummaries.ts"
import * as parameters from "../shared/Parameters.ts"
import * as page from "../shared/WorkflowPage.ts"

/** Time limit of the requests without which the summary is useful too. */
const lookTime = "5 seconds"

/** `GET /executions/{id}` as a summary, failure first. */
export const getExecution = Tool.make({
  name: "get_execution",
  title: "Get execution summary",
  app: page.app,
  searchHint: "why did it fail, debug, error, last run",
  description: "Why did a run fail or take long? Failing node, error, input; items, ms by node.",
  annotations: Tool.readOnly,
  scopes: ["execution:read"],
  partialScopes: {
    "execution:list": "runs of sub-workflows that n8n does not name",
    "workflow:read": "whether the version is published"
  },
  input: Schema.Struct({
    id: parameters.executionId,
    nodeOffset: parameters.offset("nodeOffset", "availableNodes to skip."),
    sortBy: parameters.optional(Schema.Literal("time"), "Slowest first."),
    wait: parameters.optionalInt("wait", { minimum: 0, maximum: 50 }, "Seconds to wait.")
  }),
  output: summaries.Summary,
  handler: ({ id, wait = 0 }) =>
    Effect.gen(function*() {
      if (wait > 0) yield* ExecutionEnd.wait(id, wait)
      const n8n = yield* N8nClient
      const execution = yield* (yield* Executions).get(id)
      const workflowName = execution.workflow === undefined
        ? yield* n8n.workflowName(execution.workflowId).pipe(Effect.orElseSucceed(() => Selection.unknownWorkflow))
        : execution.workflow.name
      const published = execution.version === undefined
        ? undefined
        : yield* n8n.getWorkflow(execution.workflowId, { excludePinnedData: true }).pipe(
          Effect.map(({ activeVersionId }) => activeVersionId),
          Effect.timeout(lookTime),
          Effect.orElseSucceed(() => undefined)
        )
      const subRuns = yield* SubRuns.of(execution).pipe(
        Effect.map(({ runs }) => runs),
        Effect.timeout(lookTime),
        Effect.orElseSucceed(() => [])
      )
      return {
        published,
        subRuns,
        execution,
        workflowName: TestMark.originalName(workflowName),
        url: links.execution(n8n.instance, execution),
        namesOf: yield* OutputNames.forNodes(namedNodes(execution))
      }
    }),
  summarize: ({ execution, ...facts }, { nodeOffset, sortBy }) =>
    summaries.summarize(execution, { ...facts, nodeOffset, sortBy }),
  view: ({ execution, workflowName }) =>
    execution.workflow === undefined
      ? page.none
      : page.view({ ...execution.workflow, name: workflowName }, { _tag: "Execution", execution }),
  message: ({ id, status }) => ({
    en: `Execution ${id}: ${status}`,
    ja: "実行サマリーを取得しました"
  }),
  next: ({ id, nodeOffset, sortBy }) => (path, count) =>
    path === "availableNodes"
      ? `get_execution(id: '${id}', nodeOffset: ${nodeOffset + count}${
        sortBy === undefined ? "" : `, sortBy: '${sortBy}'`
      })`
      : undefined,
  budget: summaries.budget
})
