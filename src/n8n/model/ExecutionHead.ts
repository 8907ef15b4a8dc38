/** An execution without its data. */
import * as Schema from "effect/Schema"

/** An entry of `GET /executions`. Times are ISO 8601; any status is accepted, since n8n may add more. */
export class Listed extends Schema.Opaque<Listed>()(Schema.StructWithRest(
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
)) {}

/** States of executions to choose by. */
export const statuses = ["success", "error", "waiting", "running", "canceled", "crashed"] as const
/** State that n8n lists executions by. */
export type Status = (typeof statuses)[number] | "new" | "unknown"

/** The milliseconds between start and stop; `null` while it runs. */
export const duration = (execution: Listed): number | null => {
  const from = Date.parse(execution.startedAt ?? "")
  const to = Date.parse(execution.stoppedAt ?? "")
  return Number.isFinite(from) && Number.isFinite(to) ? Math.max(0, to - from) : null
}

const over: ReadonlySet<string> = new Set(["success", "error", "canceled", "crashed"])

/** Whether an execution with this status has ended and will not change any more. */
export const isOver = (status: string): boolean => over.has(status)
