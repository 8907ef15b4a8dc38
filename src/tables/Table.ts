/** Data tables by name, their columns, and conditions on their rows. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Errors from "../base/Errors.ts"
import * as Interpreter from "../base/Interpreter.ts"
import { suggestion } from "../base/Nearest.ts"
import * as Redact from "../base/Redact.ts"
import { type DataTable, isUnsupported, N8nClient, type Row, type RowFilter } from "../n8n/N8nClient.ts"
import * as Condition from "./Condition.ts"

/** Replaces the error of an n8n without data tables. */
export const orTooOld = Effect.catchIf(
  (error: Errors.N8nError) => isUnsupported(error),
  () => Errors.invalid("table", "This n8n has no data tables in its API: n8n 2.30 and later have", "Nothing was done.")
) as <A, R>(effect: Effect.Effect<A, Errors.N8nError, R>) => Effect.Effect<A, Errors.N8nError, R>

export const find = Effect.fnUntraced(
  function*(table: string): Effect.fn.Return<DataTable, Errors.N8nError, N8nClient> {
    const all = yield* Stream.runCollect((yield* N8nClient).streamDataTables)
    const matches = all.filter(({ id, name }) => id === table || name === table)
    const [first] = matches
    if (matches.length > 1) {
      return yield* Errors.invalid(
        "table",
        `${matches.length} tables are named '${table}'`,
        `Give an id: ${matches.map(({ id, projectId }) => `${id} (project ${projectId})`).join(", ")}.`
      )
    }
    return first ?? (yield* new Errors.NotFoundError({
      operation: "find data table",
      resourceType: "Data table",
      resourceId: table,
      hint: suggestion(table, all.map(({ name }) => name))
    }))
  }
)

export const columnsOf = ({ columns }: DataTable): ReadonlyArray<readonly [string, string]> =>
  columns.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)).map(({ name, type }) => [name, type] as const)

export const typesOf = (table: DataTable): Condition.Columns =>
  new Map([...Condition.systemColumns, ...columnsOf(table)])

export const checkColumns = (table: DataTable, names: Iterable<string>, field: string) => {
  const own = columnsOf(table).map(([name]) => name)
  const unknown = [...new Set(names)].find((name) => !own.includes(name))
  return unknown === undefined
    ? Effect.void
    : Errors.invalid(field, `'${table.name}' has no column '${unknown}' to write`, suggestion(unknown, own))
}

export const checkAskable = (column: string, field: string, redacts: boolean) =>
  redacts && Redact.places({ [column]: "x" }).length > 0
    ? Errors.invalid(field, `'${column}' contains secrets and cannot be used in a condition`, "Use another column.")
    : Effect.void

export interface RowCondition {
  /** n8n's filter, which compares what is stored. */
  readonly filter: RowFilter
  readonly holds: (row: Row) => boolean
}

/** Parses `where`; refuses a condition that n8n cannot filter by. */
export const condition = Effect.fnUntraced(function*(source: string, table: DataTable, redacts: boolean) {
  const parsed = yield* Condition.parse(source, typesOf(table))
  if (Result.isFailure(parsed)) return yield* Errors.invalid("where", parsed.failure.reason, parsed.failure.hint)
  for (const { columnName } of parsed.success.filters) yield* checkAskable(columnName, "where", redacts)
  const compiled = (yield* Interpreter.load).where(source)
  if (Result.isFailure(compiled)) {
    return yield* Errors.invalid("where", compiled.failure.message, "Simplify the condition.")
  }
  const shown = redacts ? Redact.redact : <A>(value: A) => value
  const holds = (row: Row) => Result.getOrElse(compiled.success(shown(row)), () => false)
  return { filter: parsed.success, holds } satisfies RowCondition
})
