/** Data tables (n8n 2.x): tables, their columns and their rows. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as Errors from "../base/Errors.ts"
import type { Obj } from "../base/Json.ts"
import { elements, type Page, pageOf, type PageQuery } from "./pages.ts"
import { getJson, postJson, type Query, type Request, type Requests, sendJson, sendOnly, targetOf } from "./requests.ts"

const ColumnType = Schema.Literals(["string", "number", "boolean", "date"])

/** The type of a column's values; `date` values are ISO 8601. */
export type ColumnType = typeof ColumnType.Type

const Column = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  // A newer n8n may have other types.
  type: Schema.Union([ColumnType, Schema.String]),
  index: Schema.optionalKey(Schema.Int)
})

/** A column of a data table; `index` is its position, from 0. n8n's own (`id`, `createdAt`, `updatedAt`) are not listed. */
export interface Column extends Schema.Schema.Type<typeof Column> {}

const Table = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  columns: Schema.Array(Column),
  projectId: Schema.optionalKey(Schema.String),
  createdAt: Schema.String,
  updatedAt: Schema.String,
  sizeBytes: Schema.optionalKey(Schema.Finite)
})

/** A data table and its columns, whose order is n8n's own, not that of their indexes. */
export type DataTable = typeof Table.Type

const Row = Schema.StructWithRest(
  Schema.Struct({ id: Schema.Int, createdAt: Schema.String, updatedAt: Schema.String }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

/** A row of a data table, by column, n8n's own included; null where there is no value. */
export interface Row extends Schema.Schema.Type<typeof Row> {}

/** Comparison of a cell; in `like` and `ilike` (ignoring case) `%` matches any text. */
export type Condition = "eq" | "neq" | "like" | "ilike" | "gt" | "gte" | "lt" | "lte"

/** Filter for rows that meet all conditions (`and`, the default) or any of them; at least one condition. */
export interface RowFilter {
  readonly type?: "and" | "or" | undefined
  readonly filters: ReadonlyArray<
    { readonly columnName: string; readonly condition: Condition; readonly value: unknown }
  >
}

/** A query for rows. */
export interface RowQuery {
  readonly filter?: RowFilter | undefined
  /** `column:asc` or `column:desc`. Default: in the order in which they were inserted. */
  readonly sortBy?: string | undefined
  /** A text in any column of the table, ignoring case. */
  readonly search?: string | undefined
}

/** New values for some rows. */
export interface RowChange {
  readonly filter: RowFilter
  readonly data: Obj
}

/** Rows before and after a change that was not made; a row that would be inserted has the `id` 0. */
export interface RowPreview {
  readonly before: ReadonlyArray<Row>
  readonly after: ReadonlyArray<Row>
}

const DryRun = Schema.Array(
  Schema.StructWithRest(
    Schema.Struct({ id: Schema.NullOr(Schema.Int), dryRunState: Schema.Literals(["before", "after"]) }),
    [Schema.Record(Schema.String, Schema.Unknown)]
  )
)

/** Converts n8n's dry run, in which a row of nulls means that there is no row. */
const preview = (rows: typeof DryRun.Type): RowPreview => {
  const having = (state: "before" | "after") =>
    rows.filter(({ dryRunState, id }) => dryRunState === state && id !== null).map(({ dryRunState: _, ...row }) =>
      row as Row
    )
  return { before: having("before"), after: having("after") }
}

/** The endpoints of data tables, all 2.x only; on 1.x they fail with an error that `isUnsupported` recognizes. */
export interface Service {
  /** `GET /data-tables`. */
  readonly listDataTables: (query: PageQuery) => Effect.Effect<Page<DataTable>, Errors.RequestError>
  /** All tables, a page at a time as they are asked for. */
  readonly streamDataTables: Stream.Stream<DataTable, Errors.RequestError>
  /** `GET /data-tables/{id}`. */
  readonly getDataTable: (id: string) => Effect.Effect<DataTable, Errors.N8nError>
  /** `POST /data-tables`: in a project, or the key's own. */
  readonly createDataTable: (
    table: {
      readonly name: string
      readonly columns: ReadonlyArray<{ readonly name: string; readonly type: ColumnType }>
      readonly projectId?: string
    }
  ) => Effect.Effect<DataTable, Errors.RequestError>
  /** `PATCH /data-tables/{id}`. */
  readonly renameDataTable: (id: string, name: string) => Effect.Effect<DataTable, Errors.N8nError>
  /** `DELETE /data-tables/{id}`, with its rows. */
  readonly deleteDataTable: (id: string) => Effect.Effect<void, Errors.N8nError>
  readonly addColumn: (
    id: string,
    column: { readonly name: string; readonly type: ColumnType; readonly index?: number }
  ) => Effect.Effect<Column, Errors.N8nError>
  /** `PATCH /data-tables/{id}/columns/{columnId}`: its name, its position, or both. */
  readonly updateColumn: (
    id: string,
    columnId: string,
    change: { readonly name?: string; readonly index?: number }
  ) => Effect.Effect<Column, Errors.N8nError>
  /** `DELETE /data-tables/{id}/columns/{columnId}`, with its values. */
  readonly deleteColumn: (id: string, columnId: string) => Effect.Effect<void, Errors.N8nError>
  /** `GET /data-tables/{id}/rows`. */
  readonly listRows: (id: string, query: PageQuery & RowQuery) => Effect.Effect<Page<Row>, Errors.N8nError>
  /** All rows that meet the conditions, a page at a time as they are asked for. */
  readonly streamRows: (id: string, query?: RowQuery) => Stream.Stream<Row, Errors.N8nError>
  /** `POST /data-tables/{id}/rows`, all or none; returns the ids of the new rows, in their order. */
  readonly insertRows: (id: string, rows: ReadonlyArray<Obj>) => Effect.Effect<ReadonlyArray<number>, Errors.N8nError>
  /** `PATCH /data-tables/{id}/rows/update`; returns the changed rows as they are now. */
  readonly updateRows: (id: string, change: RowChange) => Effect.Effect<ReadonlyArray<Row>, Errors.N8nError>
  /** Previews {@link updateRows}. */
  readonly previewRowUpdate: (id: string, change: RowChange) => Effect.Effect<RowPreview, Errors.N8nError>
  /** `POST /data-tables/{id}/rows/upsert`: updates the rows that match, or inserts one; returns them. */
  readonly upsertRow: (id: string, change: RowChange) => Effect.Effect<ReadonlyArray<Row>, Errors.N8nError>
  /** Previews {@link upsertRow}. */
  readonly previewRowUpsert: (id: string, change: RowChange) => Effect.Effect<RowPreview, Errors.N8nError>
  /** `DELETE /data-tables/{id}/rows/delete`; returns the deleted rows. */
  readonly deleteRows: (id: string, filter: RowFilter) => Effect.Effect<ReadonlyArray<Row>, Errors.N8nError>
  /** The rows that {@link deleteRows} would delete. */
  readonly previewRowDeletion: (id: string, filter: RowFilter) => Effect.Effect<ReadonlyArray<Row>, Errors.N8nError>
  /** `DELETE /data-tables/{id}/rows/clear`: deletes every row; returns how many. */
  readonly clearRows: (id: string) => Effect.Effect<number, Errors.N8nError>
}

const Tables = pageOf(Table)
const Rows = Schema.Array(Row)
const RowPage = pageOf(Row)
const Inserted = Schema.Array(Schema.Struct({ id: Schema.Int }))
const Cleared = Schema.Struct({ deletedCount: Schema.Int })

const listTarget: Errors.Target = { operation: "list data tables" }

const listing = "read the rows of data table"

const tableTarget = targetOf("Data table")

const columnTarget = targetOf("Column")

const path = (id: string) => `/data-tables/${encodeURIComponent(id)}`

const columnPath = (id: string, columnId: string) => `${path(id)}/columns/${encodeURIComponent(columnId)}`

const json = (value: unknown) => value === undefined ? undefined : JSON.stringify(value)

export const make = (requests: Requests): Service => {
  const send = <S extends Schema.ConstraintDecoder<unknown>>(
    operation: string,
    id: string,
    method: Request["method"],
    place: string,
    schema: S,
    rest: Partial<Request> = {}
  ) => sendJson(requests, { ...rest, method, path: path(id) + place }, schema, tableTarget(operation, id))

  const listDataTables: Service["listDataTables"] = Effect.fn("N8nClient.listDataTables")((query) =>
    getJson(requests, "/data-tables", Tables, listTarget, { ...query })
  )
  const listRows: Service["listRows"] = Effect.fn("N8nClient.listRows")((id, { filter, ...query }) =>
    send(listing, id, "GET", "/rows", RowPage, { query: { ...query, filter: json(filter) } })
  )
  const update = <S extends Schema.ConstraintDecoder<unknown>>(id: string, schema: S, body: Obj) =>
    send("update rows of data table", id, "PATCH", "/rows/update", schema, { body })
  const upsert = <S extends Schema.ConstraintDecoder<unknown>>(id: string, schema: S, body: Obj) =>
    send("update or insert a row of data table", id, "POST", "/rows/upsert", schema, { body })
  const remove = <S extends Schema.ConstraintDecoder<unknown>>(id: string, schema: S, query: Query) =>
    send("delete rows of data table", id, "DELETE", "/rows/delete", schema, { query, isOnce: true })

  return {
    listDataTables,
    streamDataTables: elements(listTarget, listDataTables),
    getDataTable: Effect.fn("N8nClient.getDataTable")((id) => send("get data table", id, "GET", "", Table)),
    createDataTable: Effect.fn("N8nClient.createDataTable")((body) =>
      postJson(requests, "/data-tables", Table, { operation: "create data table" }, { body })
    ),
    renameDataTable: Effect.fn("N8nClient.renameDataTable")((id, name) =>
      send("rename data table", id, "PATCH", "", Table, { body: { name } })
    ),
    deleteDataTable: Effect.fn("N8nClient.deleteDataTable")((id) =>
      sendOnly(requests, { method: "DELETE", path: path(id) }, tableTarget("delete data table", id))
    ),
    addColumn: Effect.fn("N8nClient.addColumn")((id, body) =>
      send("add a column to data table", id, "POST", "/columns", Column, { body })
    ),
    updateColumn: Effect.fn("N8nClient.updateColumn")((id, columnId, body) =>
      sendJson(
        requests,
        { method: "PATCH", path: columnPath(id, columnId), body },
        Column,
        columnTarget("change column", columnId)
      )
    ),
    deleteColumn: Effect.fn("N8nClient.deleteColumn")((id, columnId) =>
      sendOnly(requests, { method: "DELETE", path: columnPath(id, columnId) }, columnTarget("delete column", columnId))
    ),
    listRows,
    streamRows: (id, query = {}) => elements(tableTarget(listing, id), (page) => listRows(id, { ...query, ...page })),
    insertRows: Effect.fn("N8nClient.insertRows")((id, data) =>
      Effect.map(
        send("insert rows into data table", id, "POST", "/rows", Inserted, { body: { data, returnType: "id" } }),
        (rows) => rows.map((row) => row.id)
      )
    ),
    updateRows: Effect.fn("N8nClient.updateRows")((id, change) => update(id, Rows, { ...change, returnData: true })),
    previewRowUpdate: Effect.fn("N8nClient.previewRowUpdate")((id, change) =>
      Effect.map(update(id, DryRun, { ...change, dryRun: true }), preview)
    ),
    upsertRow: Effect.fn("N8nClient.upsertRow")((id, change) => upsert(id, Rows, { ...change, returnData: true })),
    previewRowUpsert: Effect.fn("N8nClient.previewRowUpsert")((id, change) =>
      Effect.map(upsert(id, DryRun, { ...change, dryRun: true }), preview)
    ),
    deleteRows: Effect.fn("N8nClient.deleteRows")((id, filter) =>
      remove(id, Rows, { filter: json(filter), returnData: true })
    ),
    previewRowDeletion: Effect.fn("N8nClient.previewRowDeletion")((id, filter) =>
      Effect.map(remove(id, DryRun, { filter: json(filter), dryRun: true }), (rows) => preview(rows).before)
    ),
    clearRows: Effect.fn("N8nClient.clearRows")((id) =>
      Effect.map(
        send("clear data table", id, "DELETE", "/rows/clear", Cleared, { isOnce: true }),
        ({ deletedCount }) => deletedCount
      )
    )
  }
}
