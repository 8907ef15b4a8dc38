/** Summary of an execution in an answer, with the next step and a budget of its own. */
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import type * as Minimize from "../../answer/Minimize.ts"
import type { Execution } from "../../executions/Execution.ts"
import * as ExecutionSummary from "../../executions/ExecutionSummary.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as parameters from "./Parameters.ts"

export const Summary = Schema.Struct({
  ...ExecutionSummary.ExecutionSummary.fields,
  /** Next step for a model; absent for programs. */
  _guidance: Schema.optionalKey(
    Schema.Struct({ message: Schema.String, example: Schema.optionalKey(Schema.String) })
  )
})
export type Summary = typeof Summary.Type

export const summarize = (
  execution: Execution,
  options: Parameters<typeof ExecutionSummary.summarize>[1]
): Summary => {
  const summary = ExecutionSummary.summarize(execution, options)
  const step = ExecutionSummary.nextStep(execution, summary.failure, options.subRuns)
  return { ...summary, _guidance: Hints.guidance(step, execution) }
}

/** Advice on a run whose items n8n hides. */
export const hiddenAdvice = [
  parameters.callTools(["get_execution"], "Counts, times and the kind of an error are in get_execution."),
  ItemView.reveal
]

/** Bounds of a failure's parts, which get_execution_by_node returns in full. */
export const rooms = { "failure.error": 480, "failure.inputItem": 400, "failure.suspects.items[].json": 160 }

/** Budget of a summary: about 1,000 tokens for up to 12 nodes, 2,500 for more. */
export const budget = ({ statistics }: Summary): Minimize.Budget => ({
  total: statistics.executedNodes <= 12 ? 2_600 : 6_000,
  rooms
})
