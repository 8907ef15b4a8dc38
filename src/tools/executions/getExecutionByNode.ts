import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as OutputNames from "../../catalogue/OutputNames.ts"
import type { Execution } from "../../executions/Execution.ts"
import { checkNode, Executions } from "../../executions/Executions.ts"
import * as NodeExecution from "../../executions/NodeExecution.ts"
import * as links from "../../n8n/Links.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import { compiler, fields, parsePaths, where, wrongExpression } from "../shared/Conditions.ts"
import * as parameters from "../shared/Parameters.ts"

/** Fails for a node, run or output that the execution does not have. */
const check = Effect.fnUntraced(function*(execution: Execution, request: NodeExecution.Request) {
  const { nodeName, outputIndex, runIndex } = request
  yield* checkNode(execution, nodeName, "nodeName")
  const runs = execution.runs.get(nodeName) ?? []
  if (runIndex !== undefined && runs.length > 0 && runIndex >= runs.length) {
    return yield* parameters.invalid(
      "runIndex",
      `Node '${nodeName}' has no run ${runIndex}`,
      `It ran ${runs.length} times: 0 to ${runs.length - 1}.`
    )
  }
  const outputs = runs.at(runIndex ?? -1)?.outputs.length ?? 0
  if (outputIndex !== undefined && runs.length > 0 && outputIndex >= outputs) {
    return yield* parameters.invalid(
      "outputIndex",
      `That run of '${nodeName}' has no output ${outputIndex}`,
      outputs === 0 ? "It has no output." : `It has ${outputs}: 0 to ${outputs - 1}.`
    )
  }
  return execution
})

/** Reads one run of one node of an execution: items in, items out, parameters, error. */
export const getExecutionByNode = Tool.make({
  name: "get_execution_by_node",
  title: "Get execution of one node",
  searchHint: "debug step, input and output, items, payload of a node",
  description: "Read a node's input and output items, error, parameters (evaluated).",
  annotations: Tool.readOnly,
  scopes: ["execution:read"],
  input: Schema.Struct({
    id: parameters.executionId,
    nodeName: parameters.required("Node name", "As in get_execution."),
    runIndex: parameters.index("runIndex", "Of a loop, from 0; default: last."),
    outputIndex: parameters.index("outputIndex", "From 0; default: first with items."),
    itemOffset: parameters.offset("itemOffset", "Items or matches to skip."),
    itemLimit: parameters.int("itemLimit", { minimum: 1, maximum: 50 }, 50, "Maximum per side."),
    where,
    fields,
    textFrom: parameters.textFrom
  }),
  output: Schema.Struct({ ...NodeExecution.NodeExecution.fields, url: Schema.optionalKey(Schema.String) }),
  handler: (input) =>
    Effect.gen(function*() {
      const { instance } = yield* N8nClient
      const choice = {
        where: (yield* compiler(input.where))(),
        fields: yield* parsePaths("fields", input.fields),
        redacts: yield* Tool.RedactSecrets
      }
      const execution = yield* check(yield* (yield* Executions).get(input.id), input)
      const nodes = (execution.workflow?.nodes ?? []).filter(({ name }) => name === input.nodeName)
      const namesOf = yield* OutputNames.forNodes(nodes)
      const page = yield* NodeExecution.choose(execution, input, namesOf, choice).pipe(
        Effect.mapError((problem) => wrongExpression(input.where ?? "", problem))
      )
      return { ...page, url: links.execution(instance, execution) }
    }),
  summarize: ({ node, url }, { runIndex, where }) =>
    defined({
      ...node,
      note: where !== undefined && runIndex === undefined && node.runCount > 1
        ? `where searched the last of ${node.runCount} runs: search_execution searches all of them.`
        : node.note,
      url
    }),
  totals: ({ totals }) => totals,
  message: ({ nodeName }) => ({
    en: `Execution details of node '${nodeName}'`,
    ja: `ノード '${nodeName}' の実行詳細を取得しました`
  }),
  budget: (_, { fields, id, itemOffset, nodeName, outputIndex, runIndex, textFrom, where }) => ({
    // The fields that were asked for have the room.
    rooms: fields === undefined ? {} : { parameters: 1_500 },
    texts: {
      from: textFrom ?? 0,
      next: (path, count) => {
        const [side, list, index, part, key = "", ...below] = JsonPath.parse(path) ?? []
        const isOfItem = side === "output" && list === "items" && part === "json"
        return Hints.executionByNode(id, nodeName, {
          runIndex,
          outputIndex,
          itemOffset: isOfItem ? itemOffset + Number(index) : itemOffset,
          itemLimit: 1,
          where,
          // Fields that were asked for are keys of the answer by their paths.
          fields: isOfItem ? [JsonPath.print(below, fields === undefined ? JsonPath.print([key]) : `${key}`)] : fields,
          textFrom: count
        })
      }
    }
  }),
  next: ({ fields, id, itemOffset, nodeName, outputIndex, runIndex, where }) => (path, count) => {
    if (path !== "input.items" && path !== "output.items") return undefined
    return Hints.executionByNode(id, nodeName, {
      runIndex,
      outputIndex,
      itemOffset: itemOffset + count,
      where,
      fields
    })
  }
})
