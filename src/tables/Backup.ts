/** Backups of rows, stored as snapshots before a write changes or deletes them. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Errors from "../base/Errors.ts"
import { arr, type Obj, obj, str, without } from "../base/Json.ts"
import { type ColumnType, type DataTable, N8nClient, type Row } from "../n8n/N8nClient.ts"
import { Snapshots, type Workflow } from "../workflows/store/Snapshots.ts"
import * as Table from "./Table.ts"

/** Maximum number of rows, and of characters of their JSON, that are stored for one write. */
export const maxRows = 5_000
const maxChars = 10_000_000

const keyOf = (tableId: string) => `table:${tableId}`

const bounded = (rows: ReadonlyArray<Row>) => {
  let chars = 0
  const beyond = rows.findIndex((row, index) => (chars += JSON.stringify(row).length) > maxChars || index >= maxRows)
  return beyond === -1 ? rows : rows.slice(0, beyond)
}

/** Id under which the id of a dropped table is stored, so that its snapshots can be found by name. */
const nameKeyOf = (name: string) => `table-name:${name}`

/** Snapshots of the connected n8n. */
const own = Effect.gen(function*() {
  const { instance } = yield* N8nClient
  const { list, read, save } = yield* Snapshots
  return {
    list: (id: string) => list(instance, id),
    read: (id: string, version: string) =>
      Effect.map(read(instance, id, version), ({ workflow }) => obj(workflow) ?? {}),
    save: (content: Workflow, operation: string) => save(instance, content, `table_write ${operation}`)
  }
})

export const save = Effect.fnUntraced(function*(table: DataTable, rows: ReadonlyArray<Row>, operation: string) {
  const { id, name, projectId } = table
  const stored = { id: keyOf(id), name, projectId, columns: Table.columnsOf(table), rows: bounded(rows) }
  const { version } = yield* (yield* own).save(stored, operation)
  return { version, rows: stored.rows.length }
})

export const saveName = Effect.fnUntraced(function*({ id, name }: DataTable) {
  yield* (yield* own).save({ id: nameKeyOf(name), name, tableId: id }, "drop")
})

const droppedId = Effect.fnUntraced(function*(name: string) {
  const snapshots = yield* own
  const [last] = yield* snapshots.list(nameKeyOf(name))
  return last === undefined ? undefined : str((yield* snapshots.read(nameKeyOf(name), last.version))["tableId"])
})

/** Ids of a table by its id or name: those of the existing and of the dropped one. */
const idsOf = Effect.fnUntraced(function*(table: string) {
  const live = yield* Table.find(table).pipe(
    Effect.map(({ id }) => id),
    Effect.catchTag("NotFoundError", () => Effect.succeed(table))
  )
  const dropped = yield* droppedId(table)
  return dropped === undefined ? [live] : [live, dropped]
})

/** Stored states of a table by its id or name, newest first. */
export const history = Effect.fn("tables.history")(function*(table: string) {
  const snapshots = yield* own
  const lists = yield* Effect.forEach(yield* idsOf(table), (id) => snapshots.list(keyOf(id)))
  return lists.flat().toSorted((a, b) => a.version < b.version ? 1 : -1)
})

export const readAll = (tableId: string) =>
  N8nClient.use((n8n) => Stream.runCollect(Stream.take(n8n.streamRows(tableId), maxRows + 1)))

const batch = 100

const withoutSystem = (row: Obj) => without(row, (_, key) => Table.systemColumns.some(([name]) => name === key))

const isType = (type: string): type is ColumnType => ["string", "number", "boolean", "date"].includes(type)

const readStored = Effect.fnUntraced(function*(table: string, version: string) {
  const snapshots = yield* own
  const read = (tableId: string) =>
    Effect.map(snapshots.read(keyOf(tableId), version), (content) => ({
      tableId,
      name: str(content["name"]) ?? "",
      columns: arr(content["columns"]).map((pair) => [String(arr(pair)[0]), String(arr(pair)[1])] as const),
      rows: arr(content["rows"]).map((row) => obj(row) ?? {})
    }))
  return yield* Effect.firstSuccessOf((yield* idsOf(table)).map(read))
})

export const restore = Effect.fn("tables.restore")(function*(of: string, version: string) {
  const n8n = yield* N8nClient
  const { columns, name, rows, tableId } = yield* readStored(of, version)
  const typed = columns.flatMap(([name, type]) => isType(type) ? [{ name, type }] : [])
  const table = yield* Effect.catchTag(
    n8n.getDataTable(tableId),
    "NotFoundError",
    (): Effect.Effect<DataTable, Errors.N8nError> => n8n.createDataTable({ name, columns: typed })
  )
  const there = new Set(Table.columnsOf(table).map(([name]) => name))
  yield* Effect.forEach(typed.filter(({ name }) => !there.has(name)), (column) => n8n.addColumn(table.id, column))
  const ids = new Set(
    table.id === tableId ? (yield* Stream.runCollect(n8n.streamRows(table.id))).map(({ id }) => id) : []
  )
  const changed = rows.filter(({ id }) => ids.has(Number(id)))
  yield* Effect.forEach(changed, (row) =>
    n8n.updateRows(table.id, {
      filter: { filters: [{ columnName: "id", condition: "eq", value: Number(row["id"]) }] },
      data: withoutSystem(row)
    }), { discard: true })
  const gone = rows.filter(({ id }) => !ids.has(Number(id))).map(withoutSystem)
  for (let at = 0; at < gone.length; at += batch) yield* n8n.insertRows(table.id, gone.slice(at, at + batch))
  return { table, updated: changed.length, inserted: gone.length }
})
