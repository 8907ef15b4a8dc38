/** Summary of an execution in an answer, with the next step and a budget of its own. */
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Minimize from "../../answer/Minimize.ts"
import { defined } from "../../base/Json.ts"
import type { Execution } from "../../executions/Execution.ts"
import * as ExecutionSummary from "../../executions/ExecutionSummary.ts"

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
  return { ...summary, _guidance: Hints.guidance(ExecutionSummary.nextStep(execution, summary.failure), execution) }
}

/** Maximum length of a summary in characters: about 1,000 tokens for up to 12 nodes, 2,500 for more. */
export const maxChars = ({ statistics }: Summary) => statistics.executedNodes <= 12 ? 2_600 : 6_000

/** Shortens a failure's error and input, which get_execution_by_node returns in full. */
export const trim = <A extends { readonly failure?: ExecutionSummary.Failure }>(answer: A): A => {
  const { failure } = answer
  if (failure === undefined) return answer
  const { error, inputItem, suspects } = failure
  return {
    ...answer,
    failure: defined({
      ...failure,
      error: Minimize.fit(error, 480),
      inputItem: inputItem && Minimize.fit(inputItem, 400),
      suspects: suspects && {
        ...suspects,
        items: suspects.items.map(({ index, json }) => ({ index, json: Minimize.fit(json, 160) }))
      }
    })
  }
}
