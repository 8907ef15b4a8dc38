import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Execution } from "../domain/executions/Execution.ts"
import * as NodeExecution from "../domain/executions/NodeExecution.ts"
import { defined } from "../domain/Json.ts"
import { Executions } from "../Executions.ts"
import { N8nClient } from "../N8nClient.ts"
import * as N8nError from "../N8nError.ts"
import { suggestion } from "../Nearest.ts"
import * as Tool from "../Tool.ts"
import * as links from "./links.ts"
import * as parameters from "./parameters.ts"

const invalid = (field: string, reason: string, hint: string) =>
  Effect.fail(new N8nError.Validation({ reason, field, hint }))

/** Refuses a node, run or output that the execution does not have. */
const check = (execution: Execution, request: NodeExecution.Request) => {
  const names = NodeExecution.nodeNames(execution)
  const { nodeName, outputIndex, runIndex } = request
  if (!names.includes(nodeName)) {
    return invalid(
      "nodeName",
      `Node '${nodeName}' not found in execution '${execution.id}'`,
      suggestion(nodeName, names)
    )
  }
  const runs = execution.runs.get(nodeName) ?? []
  if (runIndex !== undefined && runs.length > 0 && runIndex >= runs.length) {
    return invalid(
      "runIndex",
      `Node '${nodeName}' has no run ${runIndex}`,
      `It ran ${runs.length} times: 0 to ${runs.length - 1}.`
    )
  }
  const outputs = runs.at(runIndex ?? -1)?.outputs.length ?? 0
  if (outputIndex !== undefined && runs.length > 0 && outputIndex >= outputs) {
    return invalid(
      "outputIndex",
      `That run of '${nodeName}' has no output ${outputIndex}`,
      outputs === 0 ? "It put out nothing." : `It has ${outputs}: 0 to ${outputs - 1}.`
    )
  }
  return Effect.succeed(execution)
}

/** One run of one node of an execution: items in, items out, parameters, error. */
export const getExecutionByNode = Tool.make({
  name: "get_execution_by_node",
  title: "Get execution of one node",
  searchHint: "debug step, input and output data, items, payload of a node",
  description:
    "What one node of an execution received, did and put out: items, parameters, error. For a node in a loop choose the run, for a branch the output.",
  annotations: Tool.readOnly,
  scopes: ["execution:read"],
  input: Schema.Struct({
    id: parameters.executionId,
    nodeName: Schema.String.check(Schema.isMinLength(1, { message: "Node name is required" }))
      .annotate({ description: "The node's name, exactly as get_execution gives it." })
      .pipe(Schema.annotateKey({ messageMissingKey: "Node name is required" })),
    runIndex: parameters.index("runIndex", "Which run, from 0; default: the last."),
    outputIndex: parameters.index("outputIndex", "Which entry of outputs, from 0; default: the first with items."),
    itemOffset: parameters.offset("itemOffset", "How many items of input and output to skip."),
    itemLimit: parameters.int("itemLimit", { minimum: 1, maximum: 50 }, 50, "How many items of each.")
  }),
  output: Schema.Struct({ ...NodeExecution.NodeExecution.fields, url: Schema.optionalKey(Schema.String) }),
  handler: (input) =>
    Effect.gen(function*() {
      const { instance } = yield* N8nClient
      const execution = yield* check(yield* (yield* Executions).get(input.id), input)
      return { execution, url: links.execution(instance, execution) }
    }),
  summarize: ({ execution, url }, input) => defined({ ...NodeExecution.read(execution, input), url }),
  message: ({ nodeName }) => ({
    en: `Execution details of node '${nodeName}'`,
    ja: `ノード '${nodeName}' の実行詳細を取得しました`
  }),
  next: (input) => NodeExecution.nextCall(input.id, input)
})
