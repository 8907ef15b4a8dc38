/** Rows of data tables: which are meant, which n8n is asked for, and how writes are taken back. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Hints from "../../src/answer/Hints.ts"
import { CallContext, type Consent } from "../../src/base/CallContext.ts"
import { N8nClient, type RowFilter } from "../../src/n8n/N8nClient.ts"
import * as Backup from "../../src/tables/Backup.ts"
import * as Table from "../../src/tables/Table.ts"
import * as TableChange from "../../src/tables/TableChange.ts"
import * as TableRows from "../../src/tables/TableRows.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { inMemory } from "../support/world.ts"

const secrets = ["ghp_k7Q2abcdefghijklmnopqrstuvwxyz01", "ghp_Zz9XabcdefghijklmnopqrstuvwxyzAB"]

const columns = [{ name: "sku", type: "string" }, { name: "qty", type: "number" }]

const stockId = "stock00000000001"
const twiceIds = ["twice00000000001", "twice00000000002"] as const

/** Rows 1 and 3 have secrets; two tables share a name. */
const seed = {
  workflows: [],
  executions: [],
  dataTables: [
    {
      id: stockId,
      name: "stock",
      columns,
      rows: [{ sku: secrets[0], qty: 3 }, { sku: "alpha", qty: 2 }, { sku: secrets[1], qty: 1 }]
    },
    { id: twiceIds[0], name: "twice", columns, rows: [] },
    { id: twiceIds[1], name: "twice", columns, rows: [] }
  ]
} as unknown as N8nApi.Seed

const stock = Table.find("stock")

/** Methods of the requests that may have changed something. */
const writing = (api: N8nApi.N8nApi) =>
  Effect.map(
    api.requests,
    (all) =>
      all.flatMap(({ body, method, url }) =>
        method === "GET" || /dryRun/.test(`${url}${JSON.stringify(body)}`) ? [] : [method]
      )
  )

/** The queries for rows, without the first page's size. */
const queries = (api: N8nApi.N8nApi) =>
  Effect.map(api.requests, (all) =>
    all.flatMap(({ url }) => {
      const { pathname, searchParams } = new URL(url)
      return pathname.endsWith("/rows")
        ? [{ filter: searchParams.get("filter"), sort: searchParams.get("sortBy") }]
        : []
    }))

const stored = (id: string) =>
  Effect.map(
    N8nClient.use((n8n) => n8n.listRows(id, { limit: 250 })),
    ({ data }) => data.map(({ id, qty, sku }) => [id, sku, qty])
  )

const saying = (answer: Consent) =>
  Effect.provideService(CallContext, { progress: () => Effect.void, confirm: () => Effect.succeed(answer) })

const write = (args: Partial<TableChange.Input> & Pick<TableChange.Input, "op">) =>
  TableChange.write({ table: "stock", dryRun: false, confirm: false, redacts: true, ...args })

describe("a table", () => {
  it.effect("is found by its id, or a name that only one has", () =>
    inMemory(function*() {
      for (const [asked, id] of [[stockId, stockId], ["stock", stockId], [twiceIds[1], twiceIds[1]]] as const) {
        assert.strictEqual((yield* Table.find(asked)).id, id)
      }
      const twice = yield* Effect.flip(Table.find("twice"))
      assert.include(twice.message, "2 tables are named 'twice'")
      for (const id of twiceIds) assert.include(Hints.text(twice.hint), `${id} (project `)
      const missing = yield* Effect.flip(Table.find("stok"))
      assert.strictEqual(missing._tag, "NotFoundError")
      assert.include(Hints.text(missing.hint), "Did you mean 'stock'")
    }, { seed }))

  const types: Table.Columns = new Map([...Table.systemColumns, ["sku", "string"], ["qty", "number"], [
    "value",
    "date"
  ]])
  const [bySku, byQty, byNothing, like, marked, other, byPair] = [
    { columnName: "sku", condition: "eq", value: "xyz" },
    { columnName: "qty", condition: "gt", value: 1 },
    { columnName: "sku", condition: "neq", value: null },
    { columnName: "sku", condition: "ilike", value: "%abc%" },
    { columnName: "sku", condition: "like", value: "%red%" },
    { columnName: "sku", condition: "neq", value: "a" },
    { columnName: "value", condition: "gt", value: "2026-02-28T23:59:59.999Z" }
  ] as const

  // n8n compares secrets as stored: what it leaves out must not depend on them.
  it.each<[title: string, filter: RowFilter, narrowed: RowFilter["filters"] | undefined, isPlain: boolean]>([
    ["a number", { filters: [byQty] }, [byQty], true],
    ["no value", { filters: [byNothing] }, [byNothing], true],
    ["an equal text", { filters: [bySku] }, [bySku], false],
    ["a part of a text", { filters: [like] }, [like], false],
    ["a part of the marker", { filters: [marked] }, undefined, false],
    ["another text", { filters: [other] }, undefined, false],
    ["a date beside a name", { filters: [byPair] }, undefined, false],
    ["another text and a number", { type: "and", filters: [other, byQty] }, [byQty], false],
    ["another text or a number", { type: "or", filters: [other, byQty] }, undefined, false],
    ["an equal text or a number", { type: "or", filters: [bySku, byQty] }, [bySku, byQty], false]
  ])("is filtered by n8n for %s only as far as no row is missed", (_, filter, narrowed, isPlain) => {
    const expected = narrowed === undefined ? undefined : { ...filter, filters: narrowed }
    assert.deepStrictEqual(Table.withoutSecrets(filter, types), expected)
    assert.strictEqual(Table.isOfPlainColumns(filter, types), isPlain)
  })
})

describe("a page of rows", () => {
  it.effect.each<[args: Partial<TableRows.Query>, ids: ReadonlyArray<number>, sent: boolean]>([
    [{}, [1, 2, 3], true],
    [{ where: "qty >= 2", sort: "qty" }, [2, 1], true],
    [{ sort: "-qty", limit: 2 }, [1, 2], true],
    [{ sort: "sku" }, [1, 3, 2], false],
    [{ sort: "-sku" }, [2, 1, 3], false],
    [{ search: "ALP" }, [2], false],
    [{ search: "ghp_k" }, [], false],
    [{ where: "sku.startsWith('ghp_k')" }, [], false],
    [{ where: "sku.startsWith('ghp_k')", redacts: false }, [1], true],
    [{ search: "ghp_k", redacts: false }, [1], true]
  ])("of %j", ([args, ids, isSent]) =>
    inMemory(function*(api) {
      const table = yield* stock
      const { rows } = yield* TableRows.page(table, { limit: 10, redacts: true, ...args })
      assert.deepStrictEqual(rows.map(({ id }) => id), ids)
      const [sent] = yield* queries(api)
      assert.strictEqual(sent?.sort !== null, isSent && args.sort !== undefined)
    }, { seed }))

  it.effect("goes on with the cursor of each row, and refuses columns that are not there or secret", () =>
    inMemory(function*() {
      const table = yield* stock
      for (const sort of ["sku", "qty"]) {
        const query = { limit: 2, redacts: true, sort }
        const whole = yield* TableRows.page(table, { ...query, limit: 3 })
        const first = yield* TableRows.page(table, query)
        const next = yield* TableRows.page(table, { ...query, cursor: first.nextCursor })
        assert.deepStrictEqual([...first.rows, ...next.rows], whole.rows)
        assert.deepStrictEqual(
          (yield* TableRows.page(table, { ...query, cursor: first.cursors[0] })).rows,
          whole.rows.slice(1)
        )
        assert.deepStrictEqual([whole.nextCursor, next.nextCursor], [undefined, undefined])
      }
      const unknown = yield* Effect.flip(TableRows.page(table, { limit: 1, redacts: true, sort: "-qyt" }))
      assert.include(unknown.message, "'stock' has no column 'qyt'")
      assert.include((yield* Effect.flip(Table.checkAskable("apiToken", "where", true))).message, "contains secrets")
      yield* Table.checkAskable("apiToken", "where", false)
    }, { seed }))

  it.effect("that are meant by what is shown is named to n8n by ids, a hundred at a time", () => {
    const rows = Array.from({ length: 230 }, (_, at) => ({ sku: at % 2 === 0 ? "xyz" : secrets[0], qty: at }))
    return inMemory(function*() {
      const table = yield* stock
      const filters = Effect.fnUntraced(function*(where: string, redacts = true) {
        const condition = yield* Table.condition(where, table, redacts)
        return yield* TableRows.filtersOf(table, condition, redacts)
      })
      const byIds = yield* filters("sku !== 'b' && qty >= 0")
      assert.deepStrictEqual(byIds.map(({ filters, type }) => [type, filters.length]), [["or", 100], ["or", 100], [
        "or",
        30
      ]])
      assert.deepStrictEqual(byIds[0]?.filters[0], { columnName: "id", condition: "eq", value: 1 })
      // Where n8n judges as we do, it is given the condition itself.
      const plain = [{ columnName: "sku", condition: "eq", value: "xyz" }]
      assert.deepStrictEqual((yield* filters("sku === 'xyz'")).map(({ filters }) => filters), [plain] as never)
      assert.deepStrictEqual(yield* filters("sku.startsWith('ghp_')"), [])
      assert.lengthOf(yield* filters("sku.startsWith('ghp_')", false), 1)
    }, { seed: { ...seed, dataTables: [{ id: stockId, name: "stock", columns, rows }] } as never })
  })
})

describe("a write of rows", () => {
  const columnsOfNew = { sku: "string" } as const
  const all: ReadonlyArray<Partial<TableChange.Input> & Pick<TableChange.Input, "op">> = [
    { op: "insert", rows: [{ qty: 1 }] },
    { op: "update", where: "qty > 1", set: { qty: 9 } },
    { op: "upsert", where: "qty === 7", set: { qty: 7 } },
    { op: "delete", where: "qty > 1" },
    { op: "clear" },
    { op: "drop" },
    { op: "dropColumn", column: "qty" },
    { op: "create", table: "new", columns: columnsOfNew },
    { op: "rename", name: "other" },
    { op: "addColumn", columns: columnsOfNew },
    { op: "renameColumn", column: "qty", name: "count" }
  ]

  it.effect("changes nothing in a dry run, whatever it is", () =>
    inMemory(function*() {
      const tables = N8nClient.use((n8n) => n8n.getDataTable(stockId))
      const before = [yield* stored(stockId), yield* tables]
      for (const args of all) yield* write({ ...args, dryRun: true, confirm: true })
      assert.deepStrictEqual([yield* stored(stockId), yield* tables], before)
      assert.strictEqual((yield* Effect.flip(Table.find("new")))._tag, "NotFoundError")
    }, { seed }))

  it.effect.each<[op: "delete" | "clear" | "drop" | "dropColumn", answer: Consent, goes: boolean]>(
    (["delete", "clear", "drop", "dropColumn"] as const).flatMap((op) => [
      [op, "no", false],
      [op, "yes", true],
      [op, "unasked", true]
    ])
  )("%s, after the answer '%s': %s", ([op, answer, goes]) =>
    inMemory(function*(api) {
      const exit = yield* Effect.exit(write({ op, where: "qty > 0", column: "qty" }).pipe(saying(answer)))
      assert.strictEqual(exit._tag, goes ? "Success" : "Failure")
      assert.strictEqual((yield* writing(api)).includes("DELETE"), goes)
      if (exit._tag === "Success") assert.lengthOf(yield* Backup.history("stock"), 1)
    }, { seed }))

  it.effect.each<[Partial<TableChange.Input> & Pick<TableChange.Input, "op">, field: string, says: string]>([
    [{ op: "insert", rows: [] }, "rows", "rows is empty"],
    [{ op: "insert", rows: [{ qty: 1 }, { qyt: 1 }] }, "rows", "no column 'qyt'"],
    [{ op: "insert", rows: [{ sku: "a [redacted] b" }] }, "rows.sku", "contains the placeholder"],
    [{ op: "update", where: "qty > 1", set: { id: 1 } }, "set", "no column 'id'"],
    [{ op: "rename" }, "name", "rename needs name"],
    [{ op: "renameColumn", column: "qty" }, "name", "renameColumn needs name"],
    [{ op: "renameColumn", column: "id", name: "n" }, "column", "no column 'id'"],
    [{ op: "dropColumn" }, "column", "dropColumn needs column"],
    [{ op: "addColumn" }, "columns", "addColumn needs columns"]
  ])("is refused: %j", ([args, field, says]) =>
    inMemory(function*(api) {
      const error = yield* Effect.flip(write({ ...args, confirm: true }))
      assert.deepInclude(error, { _tag: "ValidationError", field })
      assert.include(error.message, says)
      assert.deepStrictEqual(yield* writing(api), [])
    }, { seed }))

  it.effect("is refused where n8n's filter matches a row that does not meet the condition", () =>
    inMemory(function*(api) {
      for (const op of ["update", "delete"] as const) {
        const error = yield* Effect.flip(write({ op, where: "qty >= 2", set: { qty: 9 }, confirm: true }))
        assert.include(error.message, "n8n's filter also matches row 3")
      }
      assert.deepStrictEqual(yield* writing(api), [])
    }, {
      seed,
      // As n8n on a database that compares in another way.
      after: ({ url }, response) =>
        !/\/rows\/(update|delete)/.test(url) ? Effect.void : Effect.map(
          Effect.promise(() => response.text()),
          (text) => new Response(text.replaceAll("\"qty\":2", "\"qty\":1").replaceAll("\"id\":2", "\"id\":3"))
        )
    }))

  it.effect("is taken back: what changed is as before, what is gone is there again, with the column it had", () =>
    inMemory(function*() {
      const before = yield* stored(stockId)
      const { hint, version = "" } = yield* write({ op: "dropColumn", column: "qty", confirm: true })
      assert.include(Hints.text(hint), `op: 'restore', version: '${version}'`)
      const { version: second = "" } = yield* write({ op: "delete", where: "sku === 'alpha'", confirm: true })
      assert.strictEqual((yield* write({ op: "restore", version: second })).count, 1)
      assert.strictEqual((yield* write({ op: "restore", version })).count, 3)
      const values = (rows: typeof before) => rows.map(([, sku, qty]) => [sku, qty]).toSorted()
      assert.includeDeepMembers(values(yield* stored(stockId)), values(before))
      const { version: last = "" } = yield* write({ op: "drop", confirm: true })
      // By name, although no table has it any more.
      assert.deepStrictEqual((yield* Backup.history("stock")).map(({ version }) => version), [last, second, version])
      const { table } = yield* write({ op: "restore", version: last })
      assert.notStrictEqual(table.id, stockId)
      assert.lengthOf(yield* stored(table.id), 4)
      assert.strictEqual((yield* Effect.flip(write({ op: "restore", version: "snapshot-x" })))._tag, "NotFoundError")
    }, { seed }))
})
