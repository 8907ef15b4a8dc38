import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Table from "../../tables/Table.ts"
import * as TableChange from "../../tables/TableChange.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

const Rows = Schema.Array(Schema.Record(Schema.String, Schema.Json))

const phrases: Readonly<
  Record<TableChange.Input["op"], readonly [would: string, did: string, what: (count: number, table: string) => string]>
> = {
  insert: ["insert", "Inserted", (count, table) => `${counted(count, "row")} into ${table}`],
  update: ["update", "Updated", (count, table) => `${counted(count, "row")} of ${table}`],
  upsert: ["update or insert", "Updated or inserted", (count, table) => `${counted(count, "row")} of ${table}`],
  delete: ["delete", "Deleted", (count, table) => `${counted(count, "row")} of ${table}`],
  clear: ["delete", "Deleted", (count, table) => `all rows of ${table} (${count})`],
  restore: ["restore", "Restored", (count, table) => `${counted(count, "row")} of ${table}`],
  create: ["create", "Created", (count, table) => `${table} with ${counted(count, "column")}`],
  rename: ["rename", "Renamed", (_, table) => `the table: ${table}`],
  drop: ["drop", "Dropped", (count, table) => `${table} with ${counted(count, "row")}`],
  addColumn: ["add", "Added", (count, table) => `${counted(count, "column")} to ${table}`],
  renameColumn: ["rename", "Renamed", (_, table) => `a column of ${table}`],
  dropColumn: ["drop", "Dropped", (count, table) => `a column of ${table} with its values in ${counted(count, "row")}`]
}

/** The endpoints of `/data-tables` (2.x) that write. */
export const tableWrite = Tool.make({
  name: "table_write",
  title: "Write data table",
  searchHint: "insert rows, update records, delete rows, create a table, add a column",
  description: "Change an n8n data table. op restore brings lost data back.",
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
  input: Schema.Struct({
    table: Schema.String.check(Schema.isMinLength(1)).annotate({ description: "Name or id." }),
    op: Schema.Literals(TableChange.operations).annotate({ description: "clear: delete all rows." }),
    rows: parameters.optional(
      Schema.Array(writing.jsonObject("By column.")).check(Schema.isMaxLength(1_000)),
      "insert."
    ),
    where: parameters.optional(Schema.String, "update, upsert, delete: as in table_read."),
    set: Schema.optionalKey(writing.jsonObject("update, upsert: by column.")),
    columns: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.Literals(["string", "number", "boolean", "date"])).annotate({
        description: "create, addColumn: types by name.",
        message: "columns is an object of types by name: {\"sku\": \"string\", \"qty\": \"number\"}"
      })
    ),
    column: parameters.optional(Schema.String, "renameColumn, dropColumn."),
    name: parameters.optional(Schema.String, "rename, renameColumn: new name."),
    version: parameters.optional(Schema.String, "restore: from a write's answer."),
    dryRun: writing.dryRun,
    confirm: writing.confirm
  }),
  output: Schema.Struct({
    table: Schema.Struct({ id: Schema.String, name: Schema.String }),
    count: Schema.Int,
    before: Schema.optionalKey(Rows),
    after: Schema.optionalKey(Rows),
    ids: Schema.optionalKey(Schema.Array(Schema.Int)),
    version: Schema.optionalKey(Schema.String),
    hint: Schema.optionalKey(Schema.String)
  }),
  handler: (input) =>
    Table.orTooOld(Effect.flatMap(Tool.RedactSecrets, (redacts) => TableChange.write({ ...input, redacts }))),
  summarize: ({ after, before, count, hint, ids, table: { id, name }, version }) =>
    defined({
      table: { id, name },
      count,
      before: before as ReadonlyArray<Schema.JsonObject> | undefined,
      after: after as ReadonlyArray<Schema.JsonObject> | undefined,
      ids,
      version,
      hint: hint && Hints.text(hint)
    }),
  next: ({ table, where }) => () => Hints.call("table_read", { table, where }),
  budget: () => ({ lists: { before: 5, after: 5 } }),
  message: ({ count, table }, { dryRun, op }) => {
    const [would, did, what] = phrases[op]
    return {
      en: `${dryRun ? `Would ${would}` : did} ${what(count, `'${table.name}'`)}`,
      ja: dryRun ? "変更内容を確認しました" : "データテーブルを変更しました"
    }
  }
})
