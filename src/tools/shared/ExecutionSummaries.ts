/** Summary of an execution as part of an answer: with the next step, and within its own length. */
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Minimize from "../../answer/Minimize.ts"
import type { Execution } from "../../executions/Execution.ts"
import * as ExecutionSummary from "../../executions/ExecutionSummary.ts"

export const Summary = Schema.Struct({
  ...ExecutionSummary.ExecutionSummary.fields,
  /** Next step for a model; absent in what a program receives. */
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

/** Maximum length of a summary: 1,000 tokens for 12 nodes, 2,500 for any number. */
export const maxChars = ({ statistics }: Summary) => statistics.executedNodes <= 12 ? 2_600 : 6_000

/** Shortens a failure's error and input, which get_execution_by_node returns in full. */
export const trim = <A extends { readonly failure?: ExecutionSummary.Failure }>(answer: A): A => {
  const { failure } = answer
  if (failure === undefined) return answer
  return {
    ...answer,
    failure: {
      ...failure,
      error: Minimize.fit(failure.error, 480),
      ...(failure.inputItem === undefined ? {} : { inputItem: Minimize.fit(failure.inputItem, 400) }),
      ...(failure.suspects === undefined ? {} : {
        suspects: {
          ...failure.suspects,
          items: failure.suspects.items.map(({ index, json }) => ({ index, json: Minimize.fit(json, 160) }))
        }
      })
    }
  }
}
