import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Arguments from "../../answer/Arguments.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as Execution from "../../executions/Execution.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as Selection from "../../executions/Selection.ts"
import * as Modules from "../../trials/Modules.ts"
import type * as Retry from "../../trials/Retry.ts"
import * as parameters from "../shared/Parameters.ts"

const maxRuns = 50
const defaultRuns = 20

/** Maximum costs of a body or an item, from the largest; the first that lets the answer fit applies to all of them. */
const bodyRooms = [12_000, 8_000, 4_000, 2_500, 1_600, 1_000, 700, 500, 400, 300, 220, 160, 80]

/** Number of items, and the first of them. */
const Items = Schema.Record(Schema.String, Schema.Json)

const rows = Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Json)))

const fields = {
  status: Schema.String,
  /** Version of the workflow that ran, on n8n 2. */
  version: Schema.optionalKey(Schema.String),
  /** Node that failed, or the last to run. */
  lastNode: Schema.optionalKey(Schema.String),
  /** Its `count`, and the `first`. */
  items: Schema.optionalKey(Items),
  error: Schema.optionalKey(Schema.String),
  note: Schema.optionalKey(Schema.String)
}

const Input = Schema.Struct({
  id: Schema.optionalKey(parameters.executionIdFor("One run.")),
  ids: parameters.executionIds("ids", maxRuns, `At most ${maxRuns}.`),
  ...Selection.parameters,
  status: parameters.optional(Schema.Literals(["error", "crashed", "canceled"]), "Default error."),
  last: parameters.optionalInt("last", { minimum: 1, maximum: maxRuns }, `Newest (${defaultRuns}).`),
  from: parameters.optional(
    Schema.Literals(["failure", "start"]),
    "failure (default): at the failed node; start: the recorded request."
  ),
  latest: parameters.flag("Use the current workflow."),
  force: parameters.flag("Even if perhaps retried."),
  dryRun: parameters.flag("Show what would be sent.")
})
type Input = typeof Input.Type

const Output = Schema.Struct({
  /** Id of the new execution, for a call with `id`. */
  id: Schema.optionalKey(Schema.String),
  ...fields,
  status: Schema.optionalKey(Schema.String),
  runs: Schema.optionalKey(
    Schema.Array(Schema.Struct({ id: Schema.String, newId: Schema.optionalKey(Schema.String), ...fields }))
  ),
  /**
   * Requests that the retry would send, or places where n8n would resume, of a dry run: `{id, to?, body?, repeats?}`;
   * `repeats` are nodes whose effects, which happened or may have happened before the failure, would be repeated.
   */
  wouldRetry: rows,
  /** Recommended calls of a dry run, each with its reason and the nodes whose recorded items n8n reuses. */
  advice: rows,
  /** Requests of the new runs: the node, the address, the number of items, and other values of the first. */
  sent: rows,
  skipped: Schema.optionalKey(Schema.Array(
    Schema.Struct({
      ids: Schema.Array(Schema.String),
      reason: Schema.String,
      /** Other runs to which the reason refers, in the order of `ids`. */
      as: Schema.optionalKey(Schema.Array(Schema.String))
    })
  )),
  /** Arguments of the call that continues. */
  next: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  hint: Schema.optionalKey(Schema.String)
})

const resultOf = ({ execution, note, status, version }: Retry.Retried) => {
  const failure = execution && Execution.failure(execution)
  const lastNode = failure?.node ?? (execution && Execution.lastToRun(execution))
  const run = lastNode === undefined ? undefined : execution?.runs.get(lastNode)?.at(-1)
  const slots = run === undefined ? [] : Execution.outputSlots(lastNode ?? "", run)
  const [first] = execution === undefined ? [] : Execution.slice(execution, slots, 0, 1)
  const count = slots.reduce((sum, slot) => sum + slot.count, 0)
  return defined({
    status: Visible.label(status),
    version,
    lastNode,
    items: failure === undefined && run !== undefined
      ? defined({ count, first: first && ItemView.withoutNoise(first).json })
      : undefined,
    error: failure && Visible.label(Execution.errorDetail(failure.error).message, 100),
    note
  })
}

const reasons = (skipped: ReadonlyArray<Retry.Skipped>) =>
  Rows.grouped(skipped, ({ reason }) => reason).map(({ first: { reason }, rows }) => {
    const as = rows.flatMap((each) => each.as ?? [])
    return { ids: rows.map(({ id }) => id), reason, ...(as.length === 0 ? {} : { as }) }
  })

/** Sentence about the nodes whose effects a retry repeated. */
const repetition = (planned: Retry.Outcome["planned"], from: string) => {
  const nodes = Rows.names(planned.flatMap(({ repeats }) => repeats ?? []), 5)
  if (nodes === "") return undefined
  return from === "start"
    ? `Ran again after they had succeeded: ${nodes}.`
    : `Sent again though the first request may have arrived: ${nodes}.`
}

/** Recommendations, one for all runs to which the same applies. */
const adviceOf = (planned: Retry.Outcome["planned"]) =>
  Rows.grouped(planned.filter(({ advice }) => advice !== undefined), ({ advice }) => JSON.stringify(advice)).flatMap(
    ({ first: { advice }, rows }) => {
      if (advice === undefined) return []
      const { from, latest, reuses, why } = advice
      const call = { ids: rows.map(({ id }) => id), from, ...(latest ? { latest } : {}) }
      return [{ call, why, ...(reuses.length === 0 ? {} : { reuses }) }]
    }
  )

/** Advice that the call does not follow already. */
const advised = (planned: Retry.Outcome["planned"], from: string) =>
  adviceOf(planned.filter(({ advice }) => advice?.from !== from || from === "failure"))

/** Requests of the new runs, one for all runs that made the same. */
const sentOf = (sent: Retry.Outcome["sent"], total: number) =>
  Rows.grouped(sent, ({ row }) => JSON.stringify(row)).map(({ first, rows }) =>
    ({
      ...first.row,
      ...(rows.length === total ? {} : { ids: rows.map(({ id }) => id) })
    }) as { readonly [key: string]: Schema.Json }
  )

const many = (
  { cursor, next, note, planned, retried, sent, skipped, unreached }: Retry.Outcome,
  input: Input
) => {
  const { dryRun, from = "failure", latest } = input
  const all = retried.map((each) => ({ ...defined({ id: each.id, newId: each.newId }), ...resultOf(each) }))
  const [version, ...others] = [...new Set(all.map((each) => each.version))]
  const flags = Struct.pick(input, ["dryRun", "force", "latest"])
  const rest = unreached.length > 0 ? { ...flags, from, ids: unreached } : next && { ...input, ...next }
  const isAfter = unreached.length > 0 && next !== undefined
  return defined({
    // A common version is shown once; different ones by their beginnings, in each run.
    version: others.length === 0 ? version : undefined,
    runs: dryRun
      ? undefined
      : all.map(({ version: own, ...each }) =>
        others.length === 0 ? each : defined({ ...each, version: own?.slice(0, 8) })
      ),
    wouldRetry: dryRun
      ? planned.map(({ body, id, repeats, to }) => defined({ id, to, body, repeats }))
      : undefined,
    advice: dryRun && planned.length > 0 ? advised(planned, from) : undefined,
    sent: sent.length === 0 ? undefined : sentOf(sent, retried.length),
    skipped: skipped.length === 0 ? undefined : reasons(skipped),
    next: rest && Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== false)),
    hint: ItemView.joinNotes([
      note,
      !dryRun && repetition(planned.filter(({ id }) => retried.some((each) => each.id === id)), from),
      unreached.length > 0 && `Not reached in time: ${unreached.join(", ")}.`,
      isAfter && `Then continue with cursor '${next.cursor}'.`,
      rest === undefined && cursor !== undefined && `Older runs match too: continue with cursor '${cursor}'.`,
      from === "failure" && !latest && all.some(({ status }) => status === "error") &&
      "They ran the version that failed; dryRun says whether a fix needs latest or from: 'start'."
    ])
  })
}

/** Words for what became of a retry, where the status alone could be mistaken. */
const results: Readonly<Record<string, string>> = { error: "failed again", unknown: "not confirmed" }

/** Retries executions from the failed node (`POST /executions/{id}/retry`), or from the start. */
export const retryExecution = Tool.make({
  name: "retry_execution",
  title: "Retry execution",
  searchHint: "run again, rerun, send requests again, replay",
  description: "Run failed executions again: id, ids, or filters.",
  empty: { ids: Arguments.emptyChoice },
  annotations: { ...Tool.destructive, idempotentHint: false },
  scopes: ["execution:retry", "execution:read", "execution:list"],
  partialScopes: {
    "workflow:read": "from start",
    "workflow:create": "from start, other triggers than requests",
    "workflow:list": "workflowName"
  },
  unlisted: { status: "never" },
  input: Input,
  output: Output,
  handler: ({ dryRun, force, from = "failure", id, ids, latest, ...filters }) =>
    Effect.gen(function*() {
      const isFiltered = Object.keys(filters).length > 0
      if ([id, ids, isFiltered || undefined].filter((each) => each !== undefined).length !== 1) {
        return yield* parameters.invalid(
          "id",
          "Execution ID is required: id, ids, or filters such as last, and only one of these",
          parameters.callTools(["list_executions"], "list_executions shows the failed runs and their ids.")
        )
      }
      const runs = ids ?? (id === undefined ? { status: "error" as const, ...filters, defaultLast: defaultRuns } : [id])
      const { run } = yield* Modules.retry
      const outcome = yield* run({ runs, from, latest, force, dryRun, redacts: yield* Tool.RedactSecrets })
      const [refused] = outcome.skipped
      if (id !== undefined && refused !== undefined) {
        return yield* refused.error ?? parameters.invalid(
          "id",
          `Execution '${id}' was not retried: ${refused.reason}${refused.as === undefined ? "" : ` (${refused.as})`}`,
          parameters.callTools(
            ["list_executions", "get_execution"],
            `list_executions(groupBy: 'failure') shows what failed; get_execution(id: '${
              refused.as ?? id
            }') shows this run.`
          )
        )
      }
      return outcome
    }),
  budget: (_, { dryRun }) => ({
    // Whole bodies are the purpose of a dry run.
    total: dryRun ? 16_000 : 6_000,
    rooms: Record.fromIterableWith(
      ["wouldRetry[].body", "sent[].values", "items.first", "runs[].items.first"],
      (part) => [part, bodyRooms]
    ),
    lists: { "wouldRetry[].repeats": 5, "advice[].reuses": 8 }
  }),
  summarize: (outcome, input) => {
    const { dryRun, from = "failure", id } = input
    const [only] = outcome.retried
    if (id === undefined || dryRun || only === undefined) return many(outcome, input)
    const sent = outcome.sent.length === 0 ? undefined : sentOf(outcome.sent, 1)
    return {
      ...defined({ id: only.newId, hint: repetition(outcome.planned, from) }),
      ...resultOf(only),
      ...defined({ sent })
    }
  },
  message: ({ id, runs, skipped = [], status, wouldRetry }) => {
    const left = skipped.flatMap(({ ids }) => ids).length
    const also = left === 0 ? "" : `; ${left} skipped`
    const counts = Map.groupBy(runs ?? [], (run) => run.status)
    const en = wouldRetry !== undefined
      ? `Would retry ${counted(wouldRetry.length, "execution")}${also}`
      : runs === undefined
      ? `Retried as execution ${id ?? "unknown"}: ${status}`
      : `Retried ${counted(runs.length, "execution")}${runs.length === 0 ? "" : ": "}${
        [...counts].map(([status, all]) => `${all.length} ${results[status] ?? status}`).join(", ")
      }${also}`
    return { en, ja: "実行を再試行しました" }
  }
})
