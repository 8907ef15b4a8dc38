/** Parameters and answers of the sync tools. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import { CallContext } from "../../base/CallContext.ts"
import * as Errors from "../../base/Errors.ts"
import { defined } from "../../base/Json.ts"
import * as ItemView from "../../executions/ItemView.ts"
import type * as Sync from "../../sync/Sync.ts"
import * as parameters from "../shared/Parameters.ts"

const Entry = Schema.Struct({
  status: Schema.String,
  id: Schema.optionalKey(Schema.String),
  name: Schema.String,
  file: Schema.optionalKey(Schema.String),
  detail: Schema.optionalKey(Schema.String),
  action: Schema.optionalKey(Schema.String),
  changed: Schema.optionalKey(Schema.String),
  /** Whether the pushed version of a published workflow is live. */
  published: Schema.optionalKey(Schema.Boolean),
  /** Changes that were not written, since they would have taken effect immediately. */
  held: Schema.optionalKey(Schema.Array(Schema.String)),
  warnings: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Whether the file was not written because of literal secrets. */
  refused: Schema.optionalKey(Schema.Boolean),
  error: Schema.optionalKey(Schema.String)
})

export const Output = Schema.Struct({
  counts: Schema.Record(Schema.String, Schema.Int),
  entries: Schema.Array(Entry),
  /** Number of workflows that the next call continues with. */
  remaining: Schema.optionalKey(Schema.Int),
  hint: Schema.optionalKey(Schema.String)
})

export const folder = parameters.withDefault(Schema.String.annotate({ description: "Default: the files root." }), ".")

export const only = parameters.optional(Schema.Array(Schema.String), "Only these: ids, or paths in the folder.")

const explain = (error: Errors.N8nError) => `${Errors.inOneLine(error)}. ${Hints.text(error.hint)}`.trim()

export const summarize = (
  { remaining, ...report }: Sync.Report<Sync.Outcome>,
  conflictHint: string,
  restHint = "Time ran out: call again with the same input to continue."
): typeof Output.Type =>
  defined({
    counts: report.counts as { readonly [status: string]: number },
    entries: report.entries.filter(({ action, error, refused, status }) =>
      status !== "same" || action !== undefined || error !== undefined || refused === true
    ).map(({ error, ...entry }) => defined({ ...entry, error: error && explain(error) })),
    remaining,
    hint: ItemView.joinNotes([remaining !== undefined && restHint, report.hasConflicts && conflictHint])
  })

const counted = ({ counts }: typeof Output.Type): string =>
  Object.entries(counts).map(([status, count]) => `${count} ${status}`).join(", ") || "No workflows on either side"

export const message = (data: typeof Output.Type, ja: string) =>
  data.remaining === undefined
    ? { en: counted(data), ja }
    : { en: `${counted(data)}; ${data.remaining} remain`, ja: `${ja}（残り ${data.remaining} 件）` }

export const onStep = (step: Sync.Step) =>
  step._tag !== "Done"
    ? Effect.void
    : Effect.flatMap(CallContext, ({ progress }) => progress(step.count, step.total, step.outcome.name))

export const onRead = (count: number, total: number) =>
  Effect.flatMap(CallContext, ({ progress }) => progress(count, total, "workflows"))
