/** Data tables (n8n 2.x): tables, their columns and their rows. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../base/Errors.ts"
import type { Obj } from "../base/Json.ts"
import { checked, elements, pageOf, type PageQuery } from "./pages.ts"
import { pathOf } from "./paths.ts"
import { getJson, postJson, type Query, type Request, type Requests, sendJson, sendOnly, targetOf } from "./requests.ts"

const ColumnType = Schema.Literals(["string", "number", "boolean", "date"])

/** The type of a column's values; `date` values are ISO 8601. */
export type ColumnType = typeof ColumnType.Type

/** A column of a data table; `index` is its position, from 0. n8n's own (`id`, `createdAt`, `updatedAt`) are not listed. */
export class Column extends Schema.Opaque<Column>()(Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  // A newer n8n may have other types.
  type: Schema.Union([ColumnType, Schema.String]),
  index: Schema.optionalKey(Schema.Int)
})) {}

/** A data table and its columns, whose order is n8n's own, not that of their indexes. */
export class DataTable extends Schema.Opaque<DataTable>()(Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  columns: Schema.Array(Column),
  projectId: Schema.optionalKey(Schema.String),
  createdAt: Schema.String,
  updatedAt: Schema.String,
  sizeBytes: Schema.optionalKey(Schema.Finite)
})) {}

/** A row of a data table, by column, n8n's own included; null where there is no value. */
export class Row extends Schema.Opaque<Row>()(Schema.StructWithRest(
  Schema.Struct({ id: Schema.Int, createdAt: Schema.String, updatedAt: Schema.String }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)) {}

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

const Tables = pageOf(DataTable)
const Rows = Schema.Array(Row)
const RowPage = pageOf(Row)
const Inserted = Schema.Array(Schema.Struct({ id: Schema.Int }))
const Cleared = Schema.Struct({ deletedCount: Schema.Int })

const listTarget: Errors.Target = { operation: "list data tables" }

const listing = "read the rows of data table"

const tableTarget = targetOf("Data table")

const columnTarget = targetOf("Column")

const path = (id: string) => pathOf`/data-tables/${id}`

const columnPath = (id: string, columnId: string) => path(id) + pathOf`/columns/${columnId}`

const json = (value: unknown) => value === undefined ? undefined : JSON.stringify(value)

/** The endpoints of data tables, all 2.x only; on 1.x they fail with an error that `isUnsupported` recognizes. */
export const make = (requests: Requests) => {
  const send = <S extends Schema.ConstraintDecoder<unknown>>(
    operation: string,
    id: string,
    method: Request["method"],
    place: string,
    schema: S,
    rest: Partial<Request> = {}
  ) => sendJson(requests, { ...rest, method, path: path(id) + place }, schema, tableTarget(operation, id))

  const listDataTables = Effect.fn("N8nClient.listDataTables")(function*(query: PageQuery) {
    return yield* getJson(requests, "/data-tables", Tables, listTarget, { ...yield* checked(query) })
  })
  const listRows = Effect.fn("N8nClient.listRows")(function*(id: string, query: PageQuery & RowQuery) {
    const { filter, ...rest } = yield* checked(query)
    return yield* send(listing, id, "GET", "/rows", RowPage, { query: { ...rest, filter: json(filter) } })
  })
  const update = <S extends Schema.ConstraintDecoder<unknown>>(id: string, schema: S, body: Obj) =>
    send("update rows of data table", id, "PATCH", "/rows/update", schema, { body })
  const upsert = <S extends Schema.ConstraintDecoder<unknown>>(id: string, schema: S, body: Obj) =>
    send("update or insert a row of data table", id, "POST", "/rows/upsert", schema, { body })
  const remove = <S extends Schema.ConstraintDecoder<unknown>>(id: string, schema: S, query: Query) =>
    send("delete rows of data table", id, "DELETE", "/rows/delete", schema, { query, isOnce: true })

  return {
    /** `GET /data-tables`. */
    listDataTables,
    /** All tables, a page at a time as they are asked for. */
    streamDataTables: elements(listTarget, listDataTables),
    /** `GET /data-tables/{id}`. */
    getDataTable: Effect.fn("N8nClient.getDataTable")((id: string) => send("get data table", id, "GET", "", DataTable)),
    /** `POST /data-tables`: in a project, or the key's own. */
    createDataTable: Effect.fn("N8nClient.createDataTable")((body: {
      readonly name: string
      readonly columns: ReadonlyArray<{ readonly name: string; readonly type: ColumnType }>
      readonly projectId?: string
    }) => postJson(requests, "/data-tables", DataTable, { operation: "create data table" }, { body })),
    /** `PATCH /data-tables/{id}`. */
    renameDataTable: Effect.fn("N8nClient.renameDataTable")((id: string, name: string) =>
      send("rename data table", id, "PATCH", "", DataTable, { body: { name } })
    ),
    /** `DELETE /data-tables/{id}`, with its rows. */
    deleteDataTable: Effect.fn("N8nClient.deleteDataTable")((id: string) =>
      sendOnly(requests, { method: "DELETE", path: path(id) }, tableTarget("delete data table", id))
    ),
    addColumn: Effect.fn("N8nClient.addColumn")((
      id: string,
      body: { readonly name: string; readonly type: ColumnType; readonly index?: number }
    ) => send("add a column to data table", id, "POST", "/columns", Column, { body })),
    /** `PATCH /data-tables/{id}/columns/{columnId}`: its name, its position, or both. */
    updateColumn: Effect.fn("N8nClient.updateColumn")((
      id: string,
      columnId: string,
      body: { readonly name?: string; readonly index?: number }
    ) =>
      sendJson(
        requests,
        { method: "PATCH", path: columnPath(id, columnId), body },
        Column,
        columnTarget("change column", columnId)
      )
    ),
    /** `DELETE /data-tables/{id}/columns/{columnId}`, with its values. */
    deleteColumn: Effect.fn("N8nClient.deleteColumn")((id: string, columnId: string) =>
      sendOnly(requests, { method: "DELETE", path: columnPath(id, columnId) }, columnTarget("delete column", columnId))
    ),
    /** `GET /data-tables/{id}/rows`. */
    listRows,
    /** All rows that meet the conditions, a page at a time as they are asked for. */
    streamRows: (id: string, query: RowQuery = {}) =>
      elements(tableTarget(listing, id), (page) => listRows(id, { ...query, ...page })),
    /** `POST /data-tables/{id}/rows`, all or none; returns the ids of the new rows, in their order. */
    insertRows: Effect.fn("N8nClient.insertRows")((id: string, data: ReadonlyArray<Obj>) =>
      Effect.map(
        send("insert rows into data table", id, "POST", "/rows", Inserted, { body: { data, returnType: "id" } }),
        (rows): ReadonlyArray<number> => rows.map((row) => row.id)
      )
    ),
    /** `PATCH /data-tables/{id}/rows/update`; returns the changed rows as they are now. */
    updateRows: Effect.fn("N8nClient.updateRows")((id: string, change: RowChange) =>
      update(id, Rows, { ...change, returnData: true })
    ),
    /** Previews `updateRows`. */
    previewRowUpdate: Effect.fn("N8nClient.previewRowUpdate")((id: string, change: RowChange) =>
      Effect.map(update(id, DryRun, { ...change, dryRun: true }), preview)
    ),
    /** `POST /data-tables/{id}/rows/upsert`: updates the rows that match, or inserts one; returns them. */
    upsertRow: Effect.fn("N8nClient.upsertRow")((id: string, change: RowChange) =>
      upsert(id, Rows, { ...change, returnData: true })
    ),
    /** Previews `upsertRow`. */
    previewRowUpsert: Effect.fn("N8nClient.previewRowUpsert")((id: string, change: RowChange) =>
      Effect.map(upsert(id, DryRun, { ...change, dryRun: true }), preview)
    ),
    /** `DELETE /data-tables/{id}/rows/delete`; returns the deleted rows. */
    deleteRows: Effect.fn("N8nClient.deleteRows")((id: string, filter: RowFilter) =>
      remove(id, Rows, { filter: json(filter), returnData: true })
    ),
    /** The rows that `deleteRows` would delete. */
    previewRowDeletion: Effect.fn("N8nClient.previewRowDeletion")((id: string, filter: RowFilter) =>
      Effect.map(remove(id, DryRun, { filter: json(filter), dryRun: true }), (rows) => preview(rows).before)
    ),
    /** `DELETE /data-tables/{id}/rows/clear`: deletes every row; returns how many. */
    clearRows: Effect.fn("N8nClient.clearRows")((id: string) =>
      Effect.map(
        send("clear data table", id, "DELETE", "/rows/clear", Cleared, { isOnce: true }),
        ({ deletedCount }) => deletedCount
      )
    )
  }
}
