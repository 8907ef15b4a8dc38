import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { CallContext } from "../../base/CallContext.ts"
import type * as Errors from "../../base/Errors.ts"
import { defined, type Obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import { marker } from "../../base/Redact.ts"
import * as Visible from "../../base/Visible.ts"
import { type ColumnType, type DataTable, N8nClient, type Row } from "../../n8n/N8nClient.ts"
import type { Snapshots } from "../../workflows/store/Snapshots.ts"
import * as writing from "../shared/Writing.ts"
import * as kept from "./kept.ts"
import * as tables from "./table.ts"

const ops = [
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

const Type = Schema.Literals(["string", "number", "boolean", "date"])

const Input = Schema.Struct({
  table: Schema.String.check(Schema.isMinLength(1)).annotate({ description: "Name or id." }),
  op: Schema.Literals(ops).annotate({ description: "clear: all rows; restore: by version." }),
  rows: Schema.optionalKey(
    Schema.Array(writing.jsonObject("By column.")).check(Schema.isMaxLength(1_000)).annotate({ description: "insert." })
  ),
  where: Schema.optionalKey(
    Schema.String.annotate({
      description: "update, upsert, delete: JavaScript over columns: qty < 5 && sku.startsWith('A-')."
    })
  ),
  set: Schema.optionalKey(writing.jsonObject("update, upsert: new values by column.")),
  columns: Schema.optionalKey(
    Schema.Record(Schema.String, Type).annotate({ description: "create, addColumn: {name: type}." })
  ),
  column: Schema.optionalKey(Schema.String.annotate({ description: "renameColumn, dropColumn." })),
  name: Schema.optionalKey(Schema.String.annotate({ description: "rename, renameColumn: the new name." })),
  version: Schema.optionalKey(Schema.String.annotate({ description: "restore: from the answer of a write." })),
  dryRun: writing.dryRun,
  confirm: writing.confirm
})
type Input = typeof Input.Type

const Rows = Schema.Array(Schema.Record(Schema.String, Schema.Json))

interface Done {
  readonly table: Pick<DataTable, "id" | "name">
  /** Rows or columns that were, or would be, written. */
  readonly count: number
  readonly before?: ReadonlyArray<Row>
  readonly after?: ReadonlyArray<Row>
  readonly ids?: ReadonlyArray<number>
  readonly version?: string
  readonly hint?: string
}

/** Rows of a preview that are shown. */
const shownRows = 5

/** What the op needs and was not given. */
const need = <K extends keyof Input>(input: Input, key: K, why: string) => {
  const value = input[key]
  return value === undefined
    ? Effect.fail(tables.invalid(key, `${input.op} needs ${key}`, why))
    : Effect.succeed(value as Exclude<Input[K], undefined>)
}

/** What was redacted where it was read would overwrite the value itself. */
const checkValues = Effect.fnUntraced(function*(table: DataTable, values: Obj, field: string) {
  yield* tables.checkColumns(table, Object.keys(values), field)
  const redacted = Object.entries(values).find(([, value]) => String(value).includes(marker))
  if (redacted !== undefined) {
    return yield* tables.invalid(
      `${field}.${redacted[0]}`,
      `'${redacted[0]}' holds ${marker}, which is no value`,
      "Nothing was written. Leave the column out to keep its value."
    )
  }
})

const backHint = (table: string, version: string, total: number, keptRows: number) =>
  `table_write(table: '${table}', op: 'restore', version: '${version}') brings ${
    keptRows < total ? `the first ${keptRows} of ${total} rows` : keptRows === 1 ? "it" : "them"
  } back${keptRows < total ? "" : ", under new ids where they are gone"}.`

/** Asks before rows go; where some could not be kept, silence is no consent. */
const askToDelete = Effect.fnUntraced(function*(confirm: boolean, what: string, total: number) {
  const beyond = total > kept.maxRows ? ` Only the first ${kept.maxRows} rows can be brought back.` : ""
  if (confirm || beyond === "") return yield* writing.requireConsent(confirm, `${what}?${beyond}`)
  const call = yield* CallContext
  if ((yield* call.confirm(`${what}?${beyond}`)) === "yes") return
  return yield* tables.invalid(
    "confirm",
    `Nobody has agreed to lose more rows than are kept (${kept.maxRows})`,
    "Nothing was done. Delete fewer at a time, or set confirm: true after the user's yes."
  )
})

const outside = (rows: ReadonlyArray<Row>, { holds }: tables.Condition) => {
  const other = rows.find((row) => !holds(row))
  return other === undefined ? Effect.void : Effect.fail(
    tables.invalid(
      "where",
      `n8n's filter also finds row ${other.id}, which does not meet the expression as it is shown`,
      "Nothing was written. Name rows by id, or by another column."
    )
  )
}

const insert = Effect.fnUntraced(function*(input: Input, table: DataTable) {
  const n8n = yield* N8nClient
  const rows = yield* need(input, "rows", "A list of objects by column.")
  if (rows.length === 0) return yield* tables.invalid("rows", "rows is empty", "Give at least one row.")
  for (const row of rows) yield* checkValues(table, row, "rows")
  if (input.dryRun) return { table, count: rows.length } satisfies Done
  const ids = yield* n8n.insertRows(table.id, rows)
  return { table, count: ids.length, ids } satisfies Done
})

const change = Effect.fnUntraced(function*(input: Input, table: DataTable) {
  const n8n = yield* N8nClient
  const where = yield* need(input, "where", "Say which rows; `id > 0` is all of them.")
  const data = yield* need(input, "set", "Give the new values by column.")
  yield* checkValues(table, data, "set")
  const condition = yield* tables.condition(where, table)
  const body = { filter: condition.filter, data }
  const isUpsert = input.op === "upsert"
  const { after, before } = yield* isUpsert
    ? n8n.previewRowUpsert(table.id, body)
    : n8n.previewRowUpdate(table.id, body)
  yield* outside(before, condition)
  if (input.dryRun) {
    return {
      table,
      count: after.length,
      before: before.slice(0, shownRows),
      after: after.slice(0, shownRows)
    } satisfies Done
  }
  if (before.length === 0 && !isUpsert) return { table, count: 0 } satisfies Done
  const back = before.length === 0 ? undefined : yield* kept.keep(table, before, input.op)
  const written = yield* isUpsert ? n8n.upsertRow(table.id, body) : n8n.updateRows(table.id, body)
  return defined({
    table,
    count: written.length,
    ids: isUpsert ? written.map(({ id }) => id) : undefined,
    version: back?.version,
    hint: back === undefined ? undefined : backHint(table.id, back.version, before.length, back.kept)
  }) satisfies Done
})

const remove = Effect.fnUntraced(function*(input: Input, table: DataTable) {
  const n8n = yield* N8nClient
  const where = yield* need(input, "where", "Say which rows; op clear empties the table.")
  const condition = yield* tables.condition(where, table)
  const rows = yield* n8n.previewRowDeletion(table.id, condition.filter)
  yield* outside(rows, condition)
  const total = rows.length
  if (input.dryRun || total === 0) return { table, count: total, before: rows.slice(0, shownRows) } satisfies Done
  yield* askToDelete(
    input.confirm,
    `Delete ${counted(total, "row")} of table ${table.id} ('${Visible.label(table.name)}')`,
    total
  )
  const back = yield* kept.keep(table, rows, input.op)
  const deleted = yield* n8n.deleteRows(table.id, condition.filter)
  const known = new Set(rows.map(({ id }) => id))
  const late = deleted.filter(({ id }) => !known.has(id))
  if (late.length > 0) yield* kept.keep(table, late, input.op)
  return {
    table,
    count: deleted.length,
    version: back.version,
    hint: backHint(table.id, back.version, total, back.kept)
  } satisfies Done
})

/** Takes away rows, a column or the table, once all rows are kept. */
const empty = Effect.fnUntraced(function*(input: Input, table: DataTable) {
  const n8n = yield* N8nClient
  const column = input.op === "dropColumn" ? yield* need(input, "column", "Name the column.") : undefined
  const id = table.columns.find(({ name }) => name === column)?.id
  if (column !== undefined) yield* tables.checkColumns(table, [column], "column")
  const rows = yield* kept.readAll(table.id)
  const total = rows.length
  const of = `table ${table.id} ('${Visible.label(table.name)}')`
  const many = total > kept.maxRows ? `more than ${kept.maxRows} rows` : counted(total, "row")
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
  const back = yield* kept.keep(table, rows, input.op)
  const count = input.op === "clear" ? yield* n8n.clearRows(table.id) : total
  if (input.op === "drop") yield* n8n.deleteDataTable(table.id)
  if (id !== undefined) yield* n8n.deleteColumn(table.id, id)
  return {
    table,
    count,
    version: back.version,
    hint: backHint(table.id, back.version, count, back.kept)
  } satisfies Done
})

const shape = Effect.fnUntraced(function*(input: Input, table: DataTable) {
  const n8n = yield* N8nClient
  if (input.op === "rename") {
    const name = yield* need(input, "name", "Give the new name.")
    return { table: input.dryRun ? table : yield* n8n.renameDataTable(table.id, name), count: 1 } satisfies Done
  }
  if (input.op === "addColumn") {
    const columns = Object.entries(yield* need(input, "columns", "{\"qty\": \"number\"}"))
    if (!input.dryRun) {
      yield* Effect.forEach(columns, ([name, type]) => n8n.addColumn(table.id, { name, type: type as ColumnType }))
    }
    return { table, count: columns.length } satisfies Done
  }
  const column = yield* need(input, "column", "Name the column.")
  const name = yield* need(input, "name", "Give the new name.")
  yield* tables.checkColumns(table, [column], "column")
  const { id = "" } = table.columns.find((each) => each.name === column) ?? {}
  if (!input.dryRun) yield* n8n.updateColumn(table.id, id, { name })
  return { table, count: 1 } satisfies Done
})

const create = Effect.fnUntraced(function*(input: Input) {
  const n8n = yield* N8nClient
  const columns = Object.entries(yield* need(input, "columns", "{\"sku\": \"string\", \"qty\": \"number\"}"))
  const typed = columns.map(([name, type]) => ({ name, type }))
  const table = input.dryRun
    ? { id: "", name: input.table }
    : yield* n8n.createDataTable({ name: input.table, columns: typed })
  return { table, count: typed.length } satisfies Done
})

const restore = Effect.fnUntraced(function*(input: Input) {
  const version = yield* need(input, "version", "The answer that deleted or changed the rows has it.")
  // The table may be gone: then it goes by its id alone.
  const id = yield* tables.find(input.table).pipe(
    Effect.map((table) => table.id),
    Effect.catchTag("NotFoundError", () => Effect.succeed(input.table))
  )
  const { inserted, table, updated } = yield* kept.restore(id, version)
  return { table, count: inserted + updated } satisfies Done
})

const write = (input: Input): Effect.Effect<Done, Errors.N8nError, N8nClient | Snapshots> => {
  switch (input.op) {
    case "create":
      return create(input)
    case "restore":
      return restore(input)
  }
  return Effect.flatMap(tables.find(input.table), (table): ReturnType<typeof write> => {
    switch (input.op) {
      case "insert":
        return insert(input, table)
      case "update":
      case "upsert":
        return change(input, table)
      case "delete":
        return remove(input, table)
      case "clear":
      case "drop":
      case "dropColumn":
        return empty(input, table)
      default:
        return shape(input, table)
    }
  })
}

/**
 * The endpoints of `/data-tables` (2.x) that write.
 *
 * @category tools
 * @since 0.1.0
 */
export const tableWrite = Tool.make({
  name: "table_write",
  title: "Write data table",
  searchHint: "insert rows, update records, delete rows, create a table, add a column",
  description:
    "Change an n8n data table. What is deleted or overwritten is kept: the answer says how to bring it back.",
  annotations: { ...Tool.destructive, idempotentHint: false },
  scopes: ["dataTable:list", "dataTable:read"],
  partialScopes: {
    "dataTable:create": "op create",
    "dataTable:update": "columns and names",
    "dataTable:delete": "op drop",
    "dataTableRow:create": "op insert",
    "dataTableRow:read": "previews",
    "dataTableRow:update": "op update",
    "dataTableRow:upsert": "op upsert",
    "dataTableRow:delete": "op delete"
  },
  input: Input,
  output: Schema.Struct({
    table: Schema.Struct({ id: Schema.String, name: Schema.String }),
    count: Schema.Int,
    before: Schema.optionalKey(Rows),
    after: Schema.optionalKey(Rows),
    ids: Schema.optionalKey(Schema.Array(Schema.Int)),
    version: Schema.optionalKey(Schema.String),
    hint: Schema.optionalKey(Schema.String)
  }),
  handler: (input) => tables.orTooOld(write(input)),
  summarize: ({ after, before, count, hint, ids, table: { id, name }, version }) =>
    defined({
      table: { id, name },
      count,
      before: before as ReadonlyArray<Schema.JsonObject> | undefined,
      after: after as ReadonlyArray<Schema.JsonObject> | undefined,
      ids,
      version,
      hint
    }),
  next: ({ table }) => () => `table_read(table: '${table}')`,
  message: ({ count }, { dryRun, op }) => ({
    en: `${dryRun ? "Would " : "Done: "}${op}, ${count}`,
    ja: dryRun ? "変更内容を確認しました" : "データテーブルを変更しました"
  })
})
