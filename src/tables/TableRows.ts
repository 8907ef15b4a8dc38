/**
 * The rows of a table that meet a condition.
 *
 * n8n compares stored values. If secrets are redacted, the answer must depend only on shown values, or a secret could
 * be guessed letter by letter: n8n narrows the rows only if it misses none that meets the condition as shown, and
 * pages, order and counts are those of the shown rows.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Errors from "../base/Errors.ts"
import { suggestion } from "../base/Nearest.ts"
import * as Redact from "../base/Redact.ts"
import { cursorAt, type DataTable, N8nClient, pageAt, positionOf, type Row, type RowFilter } from "../n8n/N8nClient.ts"
import * as Table from "./Table.ts"

export interface Query {
  readonly where?: string | undefined
  readonly search?: string | undefined
  /** A column, with a leading minus for descending order. */
  readonly sort?: string | undefined
  readonly cursor?: string | undefined
  readonly limit: number
  readonly redacts: boolean
}

interface Order {
  readonly column: string
  readonly isDescending: boolean
}

const orderOf = Effect.fnUntraced(function*({ redacts, sort }: Query, table: DataTable) {
  if (sort === undefined) return undefined
  const column = sort.replace(/^[-+]/, "")
  const all = [...Table.typesOf(table).keys()]
  if (!all.includes(column)) {
    return yield* Errors.invalid("sort", `'${table.name}' has no column '${column}'`, suggestion(column, all))
  }
  yield* Table.checkAskable(column, "sort", redacts)
  return { column, isDescending: sort.startsWith("-") } satisfies Order
})

const inN8n = ({ column, isDescending }: Order) => `${column}:${isDescending ? "desc" : "asc"}`

const byShown = ({ column, isDescending }: Order) => (a: Row, b: Row) => {
  const [left, right] = [Redact.redact(a)[column], Redact.redact(b)[column]].map((cell) =>
    cell === null ? "" : `:${String(cell)}`
  ) as [string, string]
  return left === right ? 0 : (left < right ? -1 : 1) * (isDescending ? -1 : 1)
}

const includesText = (row: Row, text: string) =>
  Object.entries(row).some(([name, cell]) =>
    !Table.systemColumns.some(([system]) => system === name) &&
    String(cell ?? "").toLowerCase().includes(text.toLowerCase())
  )

const shownPage = Effect.fnUntraced(function*(
  table: DataTable,
  { limit, search }: Query,
  position: number,
  condition: Table.RowCondition | undefined,
  order: Order | undefined
) {
  const columns = Table.typesOf(table)
  const isSortedHere = order !== undefined && Table.mayBeHidden(order.column, columns)
  const matching = (yield* N8nClient).streamRows(table.id, {
    filter: condition === undefined ? undefined : Table.withoutSecrets(condition.filter, columns),
    sortBy: order === undefined || isSortedHere ? undefined : inN8n(order)
  }).pipe(
    Stream.filter((row) =>
      (condition?.holds(row) ?? true) && (search === undefined || includesText(Redact.redact(row), search))
    )
  )
  const sorted = isSortedHere
    ? Stream.fromIterable((yield* Stream.runCollect(matching)).toSorted(byShown(order)))
    : matching
  const rows = yield* sorted.pipe(Stream.drop(position), Stream.take(limit + 1), Stream.runCollect)
  const cursors = rows.slice(0, limit).map((_, index) => cursorAt(position + index + 1))
  return { rows: rows.slice(0, limit), cursors, nextCursor: rows.length > limit ? cursors.at(-1) : undefined }
})

/** Page of rows, with the cursor that continues after each of them. */
export const page = Effect.fn("tables.page")(function*(table: DataTable, query: Query) {
  const columns = Table.typesOf(table)
  const { cursor, limit, redacts, search, where } = query
  const position = yield* positionOf(cursor)
  const condition = where === undefined ? undefined : yield* Table.condition(where, table, redacts)
  const order = yield* orderOf(query, table)
  const isPlain = search === undefined && (order === undefined || !Table.mayBeHidden(order.column, columns)) &&
    (condition === undefined || Table.isOfPlainColumns(condition.filter, columns))
  if (redacts && !isPlain) return yield* shownPage(table, query, position, condition, order)
  const { data, nextCursor } = yield* (yield* N8nClient).listRows(table.id, {
    ...pageAt(position, limit),
    search,
    filter: condition?.filter,
    sortBy: order === undefined ? undefined : inN8n(order)
  })
  const matches = data.map((row, index) => ({ row, cursor: cursorAt(position + index + 1) }))
    .filter(({ row }) => condition?.holds(row) ?? true)
  return {
    rows: matches.map(({ row }) => row),
    cursors: matches.map(({ cursor }) => cursor),
    nextCursor: typeof nextCursor === "string" ? cursorAt(position + data.length) : undefined
  }
})

/** Maximum number of rows in one filter, which is part of a URL when rows are deleted. */
const maxIds = 100

const byIds = (ids: ReadonlyArray<number>): ReadonlyArray<RowFilter> =>
  Array.from({ length: Math.ceil(ids.length / maxIds) }, (_, index) => ({
    type: "or",
    filters: ids.slice(index * maxIds, (index + 1) * maxIds).map((value) => ({
      columnName: "id",
      condition: "eq",
      value
    }))
  }))

export const none: RowFilter = { filters: [{ columnName: "id", condition: "eq", value: -1 }] }

/** n8n filters for the rows that meet a condition as shown; empty if no row does. */
export const filtersOf = Effect.fn("tables.filtersOf")(function*(
  table: DataTable,
  { filter, holds }: Table.RowCondition,
  redacts: boolean
) {
  const columns = Table.typesOf(table)
  if (!redacts || Table.isOfPlainColumns(filter, columns)) return [filter]
  const narrowed = Table.withoutSecrets(filter, columns)
  const rows = yield* Stream.runCollect((yield* N8nClient).streamRows(table.id, { filter: narrowed }))
  const shown = rows.filter(holds)
  // n8n applies the condition itself if the result is the same: concurrent changes are then taken into account.
  const isSame = narrowed?.filters.length === filter.filters.length && shown.length === rows.length
  return isSame && shown.length > 0 ? [filter] : byIds(shown.map(({ id }) => id))
})
