/** Data tables of 2.x, whose errors have the wording of 1.x. */
import * as Effect from "effect/Effect"
import { api, type Call, empty, type Handler, json, paginate, type Refusal, refuse } from "./server.ts"
import { list, type Obj, obj, owner, type Table, without } from "./world.ts"

type Row = Table["rows"][number]

const systemTypes: Readonly<Record<string, string>> = { id: "number", createdAt: "date", updatedAt: "date" }

const invalid = (problem: string) => refuse(400, `Validation error with data table request: ${problem}`)

const find = ({ id, state }: Call): Effect.Effect<Table, Refusal> => {
  const table = state.tables.get(id)
  return table === undefined ? refuse(404, `Could not find the data table: '${id}'`) : Effect.succeed(table)
}

const store = ({ now, state }: Call, table: Table) => {
  const stored = { ...table, updatedAt: now }
  state.tables.set(table.id, stored)
  return stored
}

/** Entry of a list, whose columns do not name their table. */
const item = (table: Table): Obj => ({
  ...without(table, "rows", "nextRow"),
  columns: table.columns.map((column, index) => ({ ...column, index })),
  sizeBytes: 4096
})

const detail = (table: Table): Obj => ({
  ...item(table),
  columns: table.columns.map((_, index) => columnView(table, index))
})

const asJson = (value: string | null): unknown => value === null ? undefined : JSON.parse(value)

const listTables: Handler = Effect.fnUntraced(function*(call) {
  const { query, state } = call
  const { name, projectId } = obj(asJson(query.get("filter")))
  const [field = "", order] = (query.get("sortBy") ?? "").split(":")
  const matches = [...state.tables.values()].filter((table) =>
    (typeof name !== "string" || table.name.toLowerCase().includes(name.toLowerCase())) &&
    (typeof projectId !== "string" || table.projectId === projectId)
  )
  const sorted = field === ""
    ? matches.toReversed()
    : matches.toSorted((a, b) => compare(obj(a)[field], obj(b)[field]) * (order === "desc" ? -1 : 1))
  return yield* paginate(call, sorted, item)
})

const createTable: Handler = Effect.fnUntraced(function*({ body, now, state }) {
  const { columns, name, projectId = owner.project } = obj(body) as {
    readonly name: string
    readonly projectId?: string
    readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string }>
  }
  // n8n describes this type, but cannot store it.
  if (columns.some(({ type }) => type === "json")) {
    return yield* refuse(400, "Invalid enum value. Expected 'string' | 'number' | 'boolean' | 'date', received 'json'")
  }
  if (projectId !== owner.project) return yield* refuse(400, `Project with ID "${projectId}" not found`)
  yield* checkName(state.tables, name)
  const dates = { createdAt: now, updatedAt: now }
  const table: Table = {
    id: state.nanoid(),
    name,
    projectId,
    ...dates,
    columns: columns.map((column) => ({ ...column, id: state.nanoid(), ...dates })),
    rows: [],
    nextRow: 1
  }
  state.tables.set(table.id, table)
  return json(detail(table), { status: 201 })
})

const checkName = (tables: ReadonlyMap<string, Table>, name: string) =>
  [...tables.values()].some((table) => table.name === name)
    ? refuse(409, `Data table with name '${name}' already exists in this project`)
    : Effect.void

const getTable: Handler = (call) => Effect.map(find(call), (table) => json(detail(table)))

const renameTable: Handler = Effect.fnUntraced(function*(call) {
  const table = yield* find(call)
  const name = String(obj(call.body)["name"])
  yield* checkName(call.state.tables, name)
  return json(detail(store(call, { ...table, name })))
})

const deleteTable: Handler = Effect.fnUntraced(function*(call) {
  yield* find(call)
  call.state.tables.delete(call.id)
  return empty()
})

const columnView = ({ columns, id }: Table, index: number) => ({ ...columns[index], dataTableId: id, index })

const listColumns: Handler = (call) =>
  Effect.map(find(call), (table) => json(table.columns.map((_, index) => columnView(table, index))))

const checkColumnName = ({ columns, name: table }: Table, name: string) =>
  Object.hasOwn(systemTypes, name)
    ? refuse(409, `Column name "${name}" is reserved as a system column name.`)
    : columns.some((column) => column.name === name)
    ? refuse(409, `Data table column with name '${name}' already exists in data table '${table}'`)
    : Effect.void

const addColumn: Handler = Effect.fnUntraced(function*(call) {
  const table = yield* find(call)
  const { index = table.columns.length, name, type } = obj(call.body) as {
    readonly name: string
    readonly type: string
    readonly index?: number
  }
  yield* checkColumnName(table, name)
  const column = { id: call.state.nanoid(), name, type, createdAt: call.now, updatedAt: call.now }
  const changed = store(call, {
    ...table,
    columns: table.columns.toSpliced(index, 0, column),
    rows: table.rows.map((row) => ({ ...row, [name]: null }))
  })
  return json(columnView(changed, changed.columns.indexOf(column)), { status: 201 })
})

const findColumn = Effect.fnUntraced(function*(call: Call) {
  const { column: id = "" } = call.params
  const table = yield* find(call)
  const at = table.columns.findIndex((column) => column.id === id)
  const column = table.columns[at]
  if (column === undefined) {
    return yield* refuse(404, `Could not find the column '${id}' in the data table: ${table.id}`)
  }
  return { table, column, at }
})

const updateColumn: Handler = Effect.fnUntraced(function*(call) {
  const { at, column, table } = yield* findColumn(call)
  const { index = at, name = column.name } = obj(call.body) as { readonly name?: string; readonly index?: number }
  if (name !== column.name) yield* checkColumnName(table, name)
  const changed = { ...column, name, updatedAt: call.now }
  const stored = store(call, {
    ...table,
    columns: table.columns.toSpliced(at, 1).toSpliced(index, 0, changed),
    rows: table.rows.map((row) => ({ ...without(row, column.name), [name]: row[column.name] }) as Row)
  })
  return json(columnView(stored, index))
})

const deleteColumn: Handler = Effect.fnUntraced(function*(call) {
  const { at, column, table } = yield* findColumn(call)
  store(call, {
    ...table,
    columns: table.columns.toSpliced(at, 1),
    rows: table.rows.map((row) => without(row, column.name) as Row)
  })
  return empty()
})

const compare = (a: unknown, b: unknown): number => {
  if (a === b) return 0
  // SQLite sorts null first.
  if (a === null || a === undefined) return -1
  if (b === null || b === undefined) return 1
  return a < b ? -1 : 1
}

const dateAdvice =
  ` <br/><br/> Consider using <a href="https://moment.github.io/luxon/api-docs/index.html#datetimefromformat" target="_blank"><code>DateTime.fromFormat</code></a> to work with custom date formats.`

/** Stored form of a value; fails if the type does not fit. */
const cell = (value: unknown, name: string, type: string): Effect.Effect<unknown, Refusal> => {
  if (value === null || value === undefined) return Effect.succeed(null)
  const wrong = (expected: string, advice = "") =>
    invalid(
      `value '${String(value)}' does not match column type '${type}': '${name}' expects a ${expected} but we got '${
        String(value)
      }'${advice}`
    )
  switch (type) {
    case "number":
      return typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value))
        ? Effect.succeed(Number(value))
        : typeof value === "number"
        ? Effect.succeed(value)
        : wrong("number")
    case "boolean":
      return typeof value === "boolean" ? Effect.succeed(value) : wrong("boolean")
    case "date": {
      const time = Date.parse(String(value))
      return Number.isNaN(time) ? wrong("dateTime", dateAdvice) : Effect.succeed(new Date(time).toISOString())
    }
  }
  return Effect.succeed(typeof value === "string" ? value : String(value))
}

const values = Effect.fnUntraced(function*(row: Obj, types: Readonly<Record<string, string>>) {
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row)) {
    const type = Object.hasOwn(types, name) ? types[name] : undefined
    if (type === undefined) return yield* invalid(`unknown column name '${name}'`)
    result[name] = yield* cell(value, name, type)
  }
  return result
})

const typesOf = ({ columns }: Table) => Object.fromEntries(columns.map(({ name, type }) => [name, type]))

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** Pattern with `%` for any text; without `%`, the text may be anywhere. */
const pattern = (text: string, flags: string) =>
  new RegExp(`^${(text.includes("%") ? text : `%${text}%`).split("%").map(escaped).join("[^]*")}$`, flags)

/** Stored form of a date, which n8n compares with another form. */
const sqliteDate = (iso: string) => iso.replace("T", " ").replace("Z", "")

const comparisons: Readonly<Record<string, (cell: unknown, value: unknown) => boolean>> = {
  eq: (cell, value) => cell === value,
  neq: (cell, value) => cell !== value,
  gt: (cell, value) => cell !== null && compare(cell, value) > 0,
  gte: (cell, value) => cell !== null && compare(cell, value) >= 0,
  lt: (cell, value) => cell !== null && compare(cell, value) < 0,
  lte: (cell, value) => cell !== null && compare(cell, value) <= 0,
  like: (cell, value) => typeof cell === "string" && pattern(String(value), "").test(cell),
  ilike: (cell, value) => typeof cell === "string" && pattern(String(value), "i").test(cell)
}

const matcher = Effect.fnUntraced(function*(filter: unknown, table: Table) {
  const { filters, type } = obj(filter)
  const types = { ...systemTypes, ...typesOf(table) }
  const tests = yield* Effect.forEach(
    list<{ readonly columnName: string; readonly condition: string; readonly value: unknown }>(filters),
    Effect.fnUntraced(function*({ columnName, condition, value }) {
      const { [columnName]: expected } = yield* values({ [columnName]: value }, types)
      const name = condition.toUpperCase()
      if (condition === "like" || condition === "ilike") {
        if (expected === null) return yield* invalid(`${name} filter value cannot be null or undefined`)
        if (typeof expected !== "string") return yield* invalid(`${name} filter value must be a string`)
      }
      if (!["eq", "neq"].includes(condition) && expected === null) {
        return yield* invalid(`${name} filter value cannot be null or undefined`)
      }
      const isDate = types[columnName] === "date"
      const stored = (cell: unknown) => isDate && typeof cell === "string" ? sqliteDate(cell) : cell ?? null
      return (row: Row) => comparisons[condition]?.(stored(row[columnName]), expected) ?? false
    })
  )
  return (row: Row) => type === "or" ? tests.some((test) => test(row)) : tests.every((test) => test(row))
})

const listRows: Handler = Effect.fnUntraced(function*(call) {
  const { query } = call
  const table = yield* find(call)
  const filter = asJson(query.get("filter"))
  const matches = filter === undefined ? () => true : yield* matcher(filter, table)
  const search = query.get("search") ?? ""
  const [field = "", order] = (query.get("sortBy") ?? "").split(":")
  const rows = table.rows.filter((row) =>
    matches(row) &&
    (search === "" || table.columns.some(({ name }) => pattern(search, "i").test(String(row[name] ?? ""))))
  )
  const sorted = field === ""
    ? rows
    : rows.toSorted((a, b) => compare(a[field], b[field]) * (order?.toLowerCase() === "desc" ? -1 : 1))
  return yield* paginate(call, sorted)
})

const insert = Effect.fnUntraced(function*(call: Call, table: Table, data: ReadonlyArray<Obj>) {
  const blank = Object.fromEntries(table.columns.map(({ name }) => [name, null]))
  const added = yield* Effect.forEach(data, (row, index) =>
    Effect.map(values(row, typesOf(table)), (cells): Row => ({
      ...blank,
      ...cells,
      id: table.nextRow + index,
      createdAt: call.now,
      updatedAt: call.now
    })))
  store(call, { ...table, rows: [...table.rows, ...added], nextRow: table.nextRow + added.length })
  return added
})

const insertRows: Handler = Effect.fnUntraced(function*(call) {
  const { data, returnType } = obj(call.body)
  const added = yield* insert(call, yield* find(call), list<Obj>(data))
  return json(
    returnType === "all"
      ? added
      : returnType === "id"
      ? added.map(({ id }) => ({ id }))
      : { success: true, insertedRows: added.length }
  )
})

const dryRun = (before: Obj | undefined, after: Obj | undefined) => {
  const nothing = Object.fromEntries(Object.keys(before ?? after ?? {}).map((key) => [key, null]))
  return [{ ...nothing, ...before, dryRunState: "before" }, { ...nothing, ...after, dryRunState: "after" }]
}

/** Updates rows; `isUpsert` inserts one if no row meets the filter. */
const updateRows = (isUpsert: boolean): Handler =>
  Effect.fnUntraced(function*(call) {
    const table = yield* find(call)
    const { data, dryRun: isDryRun, filter, returnData } = obj(call.body)
    if (Object.keys(obj(data)).length === 0) return yield* refuse(400, "data must not be empty")
    const cells = yield* values(obj(data), typesOf(table))
    const matches = yield* matcher(filter, table)
    const changed = (row: Row): Row => ({ ...row, ...cells, updatedAt: call.now })
    const before = table.rows.filter(matches)
    const isInsert = isUpsert && before.length === 0
    if (isDryRun === true) {
      const dates = { createdAt: call.now, updatedAt: call.now }
      return json(
        isInsert ? dryRun(undefined, { id: 0, ...dates, ...cells }) : before.flatMap((row) => dryRun(row, changed(row)))
      )
    }
    if (isInsert) {
      const added = yield* insert(call, table, [obj(data)])
      return json(returnData === true ? added : true)
    }
    store(call, { ...table, rows: table.rows.map((row) => matches(row) ? changed(row) : row) })
    return json(returnData === true ? before.map(changed) : true)
  })

const deleteRows: Handler = Effect.fnUntraced(function*(call) {
  const { query } = call
  const table = yield* find(call)
  const matches = yield* matcher(asJson(query.get("filter")), table)
  const before = table.rows.filter(matches)
  if (query.get("dryRun") === "true") return json(before.flatMap((row) => dryRun(row, undefined)))
  store(call, { ...table, rows: table.rows.filter((row) => !matches(row)) })
  return json(query.get("returnData") === "true" ? before : true)
})

const clearRows: Handler = Effect.fnUntraced(function*(call) {
  const table = yield* find(call)
  store(call, { ...table, rows: [] })
  return json({ deletedCount: table.rows.length })
})

export const routes = [
  api("GET", "/data-tables", listTables),
  api("POST", "/data-tables", createTable),
  api("GET", "/data-tables/:id/columns", listColumns),
  api("POST", "/data-tables/:id/columns", addColumn),
  api("PATCH", "/data-tables/:id/columns/:column", updateColumn),
  api("DELETE", "/data-tables/:id/columns/:column", deleteColumn),
  api("GET", "/data-tables/:id/rows", listRows),
  api("POST", "/data-tables/:id/rows", insertRows),
  api("PATCH", "/data-tables/:id/rows/update", updateRows(false)),
  api("POST", "/data-tables/:id/rows/upsert", updateRows(true)),
  api("DELETE", "/data-tables/:id/rows/delete", deleteRows),
  api("DELETE", "/data-tables/:id/rows/clear", clearRows),
  api("GET", "/data-tables/:id", getTable),
  api("PATCH", "/data-tables/:id", renameTable),
  api("DELETE", "/data-tables/:id", deleteTable)
]
