/** What a write takes out of a table is kept as snapshots are, and comes back from there. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Errors from "../../base/Errors.ts"
import { arr, type Obj, obj, str, without } from "../../base/Json.ts"
import { type ColumnType, type DataTable, N8nClient, type Row } from "../../n8n/N8nClient.ts"
import { systemColumns } from "../../n8n/RowWhere.ts"
import { Snapshots } from "../../workflows/store/Snapshots.ts"
import { columnsOf } from "./table.ts"

/** The most that is kept of one write: rows, and characters of their JSON. */
export const maxRows = 5_000
const maxChars = 10_000_000

const keyOf = (tableId: string) => `table:${tableId}`

/** The beginning of rows that is kept. */
const bounded = (rows: ReadonlyArray<Row>) => {
  let chars = 0
  const beyond = rows.findIndex((row, index) => (chars += JSON.stringify(row).length) > maxChars || index >= maxRows)
  return beyond === -1 ? rows : rows.slice(0, beyond)
}

/** Keeps rows of a table before they are changed or gone. */
export const keep = Effect.fnUntraced(function*(table: DataTable, rows: ReadonlyArray<Row>, operation: string) {
  const n8n = yield* N8nClient
  const kept = bounded(rows)
  const columns = columnsOf(table)
  const { version } = yield* Snapshots.use((snapshots) =>
    snapshots.save(
      n8n.instance,
      { id: keyOf(table.id), name: table.name, projectId: table.projectId, columns, rows: kept },
      `table_write ${operation}`
    )
  )
  return { version, kept: kept.length }
})

/** All rows of a table as far as they could be kept, and whether there are more. */
export const readAll = Effect.fnUntraced(function*(tableId: string) {
  const n8n = yield* N8nClient
  const rows = yield* Stream.runCollect(Stream.take(n8n.streamRows(tableId), maxRows + 1))
  return rows
})

/** As many rows go into one request. */
const batch = 100

const own = (row: Obj) => without(row, (_, key) => systemColumns.some(([name]) => name === key))

const isType = (type: string): type is ColumnType => ["string", "number", "boolean", "date"].includes(type)

const readKept = Effect.fnUntraced(function*(tableId: string, version: string) {
  const n8n = yield* N8nClient
  const { workflow } = yield* Snapshots.use((snapshots) => snapshots.read(n8n.instance, keyOf(tableId), version))
  const content = obj(workflow) ?? {}
  return {
    name: str(content["name"]) ?? "",
    columns: arr(content["columns"]).map((
      pair
    ): readonly [string, string] => [String(arr(pair)[0]), String(arr(pair)[1])]),
    rows: arr(content["rows"]).map((row) => obj(row) ?? {})
  }
})

/** Brings rows back: those that are still there get their values again, the others are inserted under new ids. */
export const restore = Effect.fn("tables.restore")(function*(tableId: string, version: string) {
  const n8n = yield* N8nClient
  const { columns, name, rows } = yield* readKept(tableId, version)
  const typed = columns.flatMap(([name, type]) => isType(type) ? [{ name, type }] : [])
  const table = yield* Effect.catchTag(
    n8n.getDataTable(tableId),
    "NotFoundError",
    (): Effect.Effect<DataTable, Errors.N8nError> => n8n.createDataTable({ name, columns: typed })
  )
  const there = new Set(columnsOf(table).map(([name]) => name))
  yield* Effect.forEach(typed.filter(({ name }) => !there.has(name)), (column) => n8n.addColumn(table.id, column))
  const ids = new Set(
    table.id === tableId ? (yield* Stream.runCollect(n8n.streamRows(table.id))).map(({ id }) => id) : []
  )
  const changed = rows.filter(({ id }) => ids.has(Number(id)))
  yield* Effect.forEach(changed, (row) =>
    n8n.updateRows(table.id, {
      filter: { filters: [{ columnName: "id", condition: "eq", value: Number(row["id"]) }] },
      data: own(row)
    }), { discard: true })
  const gone = rows.filter(({ id }) => !ids.has(Number(id))).map(own)
  for (let at = 0; at < gone.length; at += batch) yield* n8n.insertRows(table.id, gone.slice(at, at + batch))
  return { table, updated: changed.length, inserted: gone.length }
})
