/** Observations of a watch. Times are epoch milliseconds, and spans milliseconds. */
import * as Schema from "effect/Schema"

/** Run without its data. */
export const Run = Schema.Struct({
  id: Schema.String,
  workflowId: Schema.String,
  status: Schema.String,
  /** Kind of start: `trigger`, `webhook`, `manual`, `retry`, `error`, `integrated` … */
  mode: Schema.String,
  startedAt: Schema.Finite,
  /** Absent while it runs. */
  stoppedAt: Schema.optionalKey(Schema.Finite)
})
export type Run = typeof Run.Type

/** Whether a person is watching the run. */
export const isAttended = ({ mode }: Run): boolean => mode === "manual" || mode === "retry" || mode === "evaluation"

export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour
export const week = 7 * day
