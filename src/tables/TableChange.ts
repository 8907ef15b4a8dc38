/** Writes to data tables: rows, columns and tables. Rows are stored before they are changed or deleted. */
import * as Effect from "effect/Effect"
import type { Hint } from "../base/Advice.ts"
import { CallContext } from "../base/CallContext.ts"
import * as Errors from "../base/Errors.ts"
import { defined, type Obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import { counted } from "../base/Plural.ts"
import { marker } from "../base/Redact.ts"
import * as Visible from "../base/Visible.ts"
import { type ColumnType, type DataTable, N8nClient, type Row } from "../n8n/N8nClient.ts"
import type { Snapshots } from "../workflows/store/Snapshots.ts"
import * as Backup from "./Backup.ts"
import * as Table from "./Table.ts"
import * as TableRows from "./TableRows.ts"

export const operations = [
  "insert",
  "update",
  "upsert",
  "delete",
  "clear",
  "restore",
  "create",
  "rename",
  "drop",
  "addColumn",
  "renameColumn",
  "dropColumn"
] as const

export interface Input {
  readonly table: string
  readonly op: (typeof operations)[number]
  readonly rows?: ReadonlyArray<Obj>
  readonly where?: string
  readonly set?: Obj
  readonly columns?: { readonly [name: string]: ColumnType }
  readonly column?: string
  readonly name?: string
  readonly version?: string
  readonly dryRun: boolean
  readonly confirm: boolean
  /** Whether the caller sees rows with their secrets redacted. */
  readonly redacts: boolean
}

export interface Done {
  readonly table: Pick<DataTable, "id" | "name">
  readonly count: number
  readonly before?: ReadonlyArray<Row>
  readonly after?: ReadonlyArray<Row>
  readonly ids?: ReadonlyArray<number>
  readonly version?: string
  readonly hint?: Hint
}

const need = <K extends keyof Input>(input: Input, key: K, why: string) => {
  const value = input[key]
  return value === undefined
    ? Errors.invalid(key, `${input.op} needs ${key}`, why)
    : Effect.succeed(value as Exclude<Input[K], undefined>)
}

const checkValues = Effect.fnUntraced(function*(table: DataTable, values: Obj, field: string) {
  yield* Table.checkColumns(table, Object.keys(values), field)
  const redacted = Object.entries(values).find(([, value]) => String(value).includes(marker))
  if (redacted !== undefined) {
    return yield* Errors.invalid(
      JsonPath.member(field, redacted[0]),
      `'${redacted[0]}' contains the placeholder ${marker}, not a value`,
      "Nothing was written. Leave the column out to keep its value."
    )
  }
})

const backHint = (table: string, version: string, total: number, stored: number): Hint => ({
  _tag: "RestoreRows",
  table,
  version,
  total,
  stored
})

const deleted = (
  table: DataTable,
  count: number,
  back: Effect.Success<ReturnType<typeof Backup.save>>,
  total = count
): Done => ({ table, count, version: back.version, hint: backHint(table.id, back.version, total, back.rows) })

/** Asks before rows are deleted; if some cannot be stored, only a yes is consent. */
const askToDelete = Effect.fnUntraced(function*(confirm: boolean, what: string, total: number) {
  if (confirm) return
  const isBeyond = total > Backup.maxRows
  const beyond = isBeyond ? ` Only the first ${Backup.maxRows} rows can be brought back.` : ""
  const answer = yield* (yield* CallContext).confirm(`${what}?${beyond}`)
  if (answer === "yes" || answer === "unasked" && !isBeyond) return
  return yield* Errors.invalid(
    "confirm",
    answer === "no" ? "The user did not agree" : `The user has not agreed to lose more than ${Backup.maxRows} rows`,
    `Nothing was done. ${
      isBeyond ? "Delete fewer at a time" : "Ask the user what to do instead"
    }, or set confirm: true after the user's yes.`
  )
})

const outside = (rows: ReadonlyArray<Row>, { holds }: Table.RowCondition) => {
  const other = rows.find((row) => !holds(row))
  return other === undefined ? Effect.void : Errors.invalid(
    "where",
    `n8n's filter also matches row ${other.id}, which does not meet the expression`,
    "Nothing was written. Name rows by id, or by another column."
  )
}

const insert = Effect.fnUntraced(function*(input: Input, table: DataTable) {
  const rows = yield* need(input, "rows", "A list of objects by column.")
  if (rows.length === 0) return yield* Errors.invalid("rows", "rows is empty", "Give at least one row.")
  for (const row of rows) yield* checkValues(table, row, "rows")
  if (input.dryRun) return { table, count: rows.length } satisfies Done
  const ids = yield* (yield* N8nClient).insertRows(table.id, rows)
  return { table, count: ids.length, ids } satisfies Done
})

const change = Effect.fnUntraced(function*(input: Input, table: DataTable) {
  const n8n = yield* N8nClient
  const where = yield* need(input, "where", "Say which rows; `id > 0` is all of them.")
  const data = yield* need(input, "set", "Give the new values by column.")
  yield* checkValues(table, data, "set")
  const condition = yield* Table.condition(where, table, input.redacts)
  const matching = yield* TableRows.filtersOf(table, condition, input.redacts)
  const isUpsert = input.op === "upsert"
  const inserts = isUpsert && matching.length < 2
  const filters = inserts && matching.length === 0 ? [TableRows.none] : matching
  const previews = yield* Effect.forEach(
    filters,
    (filter) =>
      inserts ? n8n.previewRowUpsert(table.id, { filter, data }) : n8n.previewRowUpdate(table.id, { filter, data })
  )
  const [before, after] = [previews.flatMap((each) => each.before), previews.flatMap((each) => each.after)]
  yield* outside(before, condition)
  if (input.dryRun) {
    return { table, count: after.length, before, after } satisfies Done
  }
  if (before.length === 0 && !isUpsert) return { table, count: 0 } satisfies Done
  const back = before.length === 0 ? undefined : yield* Backup.save(table, before, input.op)
  const written = (yield* Effect.forEach(filters, (filter) =>
    inserts ? n8n.upsertRow(table.id, { filter, data }) : n8n.updateRows(table.id, { filter, data }))).flat()
  return defined({
    table,
    count: written.length,
    ids: isUpsert
      ? written.map(({ id }) =>
        id
      )
      : undefined,
    version: back?.version,
    hint: back === undefined ? undefined : backHint(table.id, back.version, before.length, back.rows)
  }) satisfies Done
})

const remove = Effect.fnUntraced(function*(input: Input, table: DataTable) {
  const n8n = yield* N8nClient
  const where = yield* need(input, "where", "Say which rows; op clear empties the table.")
  const condition = yield* Table.condition(where, table, input.redacts)
  const filters = yield* TableRows.filtersOf(table, condition, input.redacts)
  const rows = (yield* Effect.forEach(filters, (filter) => n8n.previewRowDeletion(table.id, filter))).flat()
  yield* outside(rows, condition)
  const total = rows.length
  if (input.dryRun || total === 0) return { table, count: total, before: rows } satisfies Done
  yield* askToDelete(
    input.confirm,
    `Delete ${counted(total, "row")} of table ${table.id} ('${Visible.label(table.name)}')`,
    total
  )
  const back = yield* Backup.save(table, rows, input.op)
  const gone = (yield* Effect.forEach(filters, (filter) => n8n.deleteRows(table.id, filter))).flat()
  const known = new Set(rows.map(({ id }) => id))
  const late = gone.filter(({ id }) => !known.has(id))
  if (late.length > 0) yield* Backup.save(table, late, input.op)
  return deleted(table, gone.length, back, total)
})

/** Deletes all rows, a column or the table after storing all rows. */
const empty = Effect.fnUntraced(function*(input: Input, table: DataTable) {
  const n8n = yield* N8nClient
  const column = input.op === "dropColumn" ? yield* need(input, "column", "Name the column.") : undefined
  const id = table.columns.find(({ name }) => name === column)?.id
  if (column !== undefined) yield* Table.checkColumns(table, [column], "column")
  const rows = yield* Backup.readAll(table.id)
  const total = rows.length
  const of = `table ${table.id} ('${Visible.label(table.name)}')`
  const many = total > Backup.maxRows ? `more than ${Backup.maxRows} rows` : counted(total, "row")
  if (input.dryRun) return { table, count: total } satisfies Done
  yield* askToDelete(
    input.confirm,
    input.op === "clear"
      ? `Delete all rows (${many}) of ${of}`
      : input.op === "drop"
      ? `Delete ${of} with ${many}`
      : `Delete the column '${Visible.label(column ?? "")}' of ${of} with its values in ${many}`,
    total
  )
  const back = yield* Backup.save(table, rows, input.op)
  const count = input.op === "clear" ? yield* n8n.clearRows(table.id) : total
  if (input.op === "drop") {
    yield* Backup.saveName(table)
    yield* n8n.deleteDataTable(table.id)
  }
  if (id !== undefined) yield* n8n.deleteColumn(table.id, id)
  return deleted(table, count, back)
})

const shape = Effect.fnUntraced(function*(input: Input, table: DataTable) {
  const n8n = yield* N8nClient
  if (input.op === "rename") {
    const name = yield* need(input, "name", "Give the new name.")
    return { table: input.dryRun ? table : yield* n8n.renameDataTable(table.id, name), count: 1 } satisfies Done
  }
  if (input.op === "addColumn") {
    const columns = Object.entries(yield* need(input, "columns", "Write {\"qty\": \"number\"}."))
    if (!input.dryRun) {
      yield* Effect.forEach(columns, ([name, type]) => n8n.addColumn(table.id, { name, type }))
    }
    return { table, count: columns.length } satisfies Done
  }
  const column = yield* need(input, "column", "Name the column.")
  const name = yield* need(input, "name", "Give the new name.")
  yield* Table.checkColumns(table, [column], "column")
  const { id = "" } = table.columns.find((each) => each.name === column) ?? {}
  if (!input.dryRun) yield* n8n.updateColumn(table.id, id, { name })
  return { table, count: 1 } satisfies Done
})

const create = Effect.fnUntraced(function*(input: Input) {
  const columns = Object.entries(yield* need(input, "columns", "Write {\"sku\": \"string\", \"qty\": \"number\"}."))
  const typed = columns.map(([name, type]) => ({ name, type }))
  const table = input.dryRun
    ? { id: "", name: input.table }
    : yield* (yield* N8nClient).createDataTable({ name: input.table, columns: typed })
  return { table, count: typed.length } satisfies Done
})

const restore = Effect.fnUntraced(function*(input: Input) {
  const version = yield* need(input, "version", "It is in the answer of the call that deleted or changed the rows.")
  const { inserted, table, updated } = yield* Backup.restore(input.table, version)
  return { table, count: inserted + updated } satisfies Done
})

const writers = {
  insert,
  update: change,
  upsert: change,
  delete: remove,
  clear: empty,
  drop: empty,
  dropColumn: empty,
  rename: shape,
  addColumn: shape,
  renameColumn: shape
}

export const write = (input: Input): Effect.Effect<Done, Errors.N8nError, N8nClient | Snapshots> => {
  const { op } = input
  if (op === "create") return create(input)
  if (op === "restore") return restore(input)
  return Effect.flatMap(Table.find(input.table), (table): ReturnType<typeof write> => writers[op](input, table))
}
