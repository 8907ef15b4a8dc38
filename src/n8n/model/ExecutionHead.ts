/** What n8n says of an execution without its data. */
import * as Schema from "effect/Schema"

/** What `GET /executions` lists. Times are ISO 8601; a status this client does not know is taken as it is. */
export const Listed = Schema.StructWithRest(
  Schema.Struct({
    id: Schema.Union([Schema.String, Schema.Finite]),
    workflowId: Schema.optionalKey(Schema.NullOr(Schema.String)),
    status: Schema.optionalKey(Schema.NullOr(Schema.String)),
    mode: Schema.optionalKey(Schema.NullOr(Schema.String)),
    startedAt: Schema.optionalKey(Schema.NullOr(Schema.String)),
    stoppedAt: Schema.optionalKey(Schema.NullOr(Schema.String)),
    waitTill: Schema.optionalKey(Schema.NullOr(Schema.String))
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
export type Listed = typeof Listed.Type

/** Milliseconds between start and stop; `null` while it runs. */
export const duration = (execution: Listed): number | null => {
  const from = Date.parse(execution.startedAt ?? "")
  const to = Date.parse(execution.stoppedAt ?? "")
  return Number.isFinite(from) && Number.isFinite(to) ? Math.max(0, to - from) : null
}

const over: ReadonlySet<string> = new Set(["success", "error", "canceled", "crashed"])

/** Whether it has ended: such an execution never changes. */
export const isOver = (status: string): boolean => over.has(status)
