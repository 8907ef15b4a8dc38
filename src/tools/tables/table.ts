/** What the tools for data tables share: finding a table, its columns, and conditions on its rows. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Tool from "../../answer/Tool.ts"
import * as Errors from "../../base/Errors.ts"
import * as Interpreter from "../../base/Interpreter.ts"
import { suggestion } from "../../base/Nearest.ts"
import * as Redact from "../../base/Redact.ts"
import { type DataTable, isUnsupported, N8nClient, type Row, type RowFilter } from "../../n8n/N8nClient.ts"
import * as RowWhere from "../../n8n/RowWhere.ts"

/** The parameter `where`. */
export const where = Schema.optionalKey(
  Schema.String.annotate({ description: "JavaScript over a row's columns: qty < 5 && sku.startsWith('A-')." })
)

export const invalid = (field: string, reason: string, hint: string) =>
  new Errors.ValidationError({ reason, field, hint })

/** On an n8n without data tables a sentence says so. */
export const orTooOld = Effect.catchIf(
  (error: Errors.N8nError) => isUnsupported(error),
  () =>
    Effect.fail(
      invalid("table", "This n8n has no data tables in its API: n8n 2.30 and later have", "Nothing was done.")
    )
) as <A, R>(effect: Effect.Effect<A, Errors.N8nError, R>) => Effect.Effect<A, Errors.N8nError, R>

/** The table of this id or name. */
export const find = Effect.fnUntraced(
  function*(table: string): Effect.fn.Return<DataTable, Errors.N8nError, N8nClient> {
    const n8n = yield* N8nClient
    const all = yield* Stream.runCollect(n8n.streamDataTables())
    const found = all.filter(({ id, name }) => id === table || name === table)
    const [first] = found
    if (found.length > 1) {
      return yield* invalid(
        "table",
        `${found.length} tables are named '${table}'`,
        `Give an id: ${found.map(({ id, projectId }) => `${id} (project ${projectId})`).join(", ")}.`
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

/** A column's name and type in a table's order. */
export const columnsOf = ({ columns }: DataTable): ReadonlyArray<readonly [string, string]> =>
  columns.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)).map(({ name, type }) => [name, type] as const)

/** All of them, n8n's own included. */
export const typesOf = (table: DataTable): RowWhere.Columns => new Map([...RowWhere.systemColumns, ...columnsOf(table)])

/** Refuses names that are no columns of the table's own. */
export const checkColumns = (table: DataTable, names: Iterable<string>, field: string) => {
  const own = columnsOf(table).map(([name]) => name)
  const unknown = [...new Set(names)].find((name) => !own.includes(name))
  return unknown === undefined ? Effect.void : Effect.fail(
    invalid(field, `'${table.name}' has no column '${unknown}' to write`, suggestion(unknown, own))
  )
}

const isSecret = (column: string) => Redact.places({ [column]: "x" }).length > 0

/** What is redacted in answers cannot be asked for either: a question at a time it would be told. */
export const checkAskable = Effect.fnUntraced(function*(column: string, field: string) {
  if ((yield* Tool.RedactSecrets) && isSecret(column)) {
    return yield* invalid(field, `'${column}' holds secrets, which are not asked about`, "Use another column.")
  }
})

/** Rows by an expression. */
export interface Condition {
  readonly filter: RowFilter
  /** Whether a row meets it as it is shown: redacted. */
  readonly holds: (row: Row) => boolean
}

/** Reads `where`; what n8n cannot filter by is refused. */
export const condition = Effect.fnUntraced(function*(source: string, table: DataTable) {
  const parsed = yield* RowWhere.parse(source, typesOf(table))
  if (Result.isFailure(parsed)) return yield* invalid("where", parsed.failure.reason, parsed.failure.hint)
  for (const { columnName } of parsed.success.filters) yield* checkAskable(columnName, "where")
  const compiled = (yield* Interpreter.load).where(source)
  if (Result.isFailure(compiled)) return yield* invalid("where", compiled.failure.message, "Write it simpler.")
  const redact = (yield* Tool.RedactSecrets) ? Redact.redact : <A>(value: A) => value
  const holds = (row: Row) => Result.getOrElse(compiled.success(redact(row)), () => false)
  return { filter: parsed.success, holds } satisfies Condition
})
