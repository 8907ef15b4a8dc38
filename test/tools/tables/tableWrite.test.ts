import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { CallContext, type Consent } from "../../../src/base/CallContext.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { stock } from "./stock.ts"

type Input = Parameters<typeof tools.tableWrite.answer>[0]

const write = (args: Input) => Effect.map(tools.tableWrite.answer(args), ({ data }) => data)

const rows = (id: string) => N8nClient.use((n8n) => Stream.runCollect(n8n.streamRows(id)))

const asked = (answer: Consent, questions: Array<string> = []) =>
  Effect.provideService(CallContext, {
    progress: () => Effect.void,
    confirm: (question: string) => Effect.sync(() => (questions.push(question), answer))
  })

const plain = (all: ReadonlyArray<object>) =>
  all.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([key]) => !["id", "createdAt", "updatedAt"].includes(key)))
  ).toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))

describe("table_write", () => {
  it.effect("creates a table, adds and renames columns, inserts", () =>
    inWorld(function*() {
      const { table } = yield* write({ table: "todo", op: "create", columns: { text: "string" } })
      yield* write({ table: "todo", op: "addColumn", columns: { qty: "number" } })
      yield* write({ table: "todo", op: "renameColumn", column: "qty", name: "count" })
      yield* write({ table: "todo", op: "rename", name: "tasks" })
      const added = [{ text: "a", count: 1 }, { text: "b" }]
      const { count, ids } = yield* write({ table: "tasks", op: "insert", rows: added })
      assert.deepStrictEqual([count, ids], [2, [1, 2]])
      assert.deepStrictEqual(plain(yield* rows(table.id)), [{ text: "a", count: 1 }, { text: "b", count: null }])
    }))

  it.effect("updates what where says, shows it first, and brings it back", () =>
    inWorld(function*() {
      const id = yield* stock
      const before = plain(yield* rows(id))
      const change = { table: "stock", op: "update", where: "qty < 3", set: { done: true } } as const
      const preview = yield* write({ ...change, dryRun: true })
      assert.deepStrictEqual([preview.count, preview.before?.length, preview.after?.[0]?.["done"]], [3, 3, true])
      assert.notInclude(JSON.stringify(preview), "hunter2")
      assert.deepStrictEqual(plain(yield* rows(id)), before)
      const { count, hint, version = "" } = yield* write(change)
      assert.strictEqual(count, 3)
      assert.include(hint, `op: 'restore', version: '${version}'`)
      assert.notDeepEqual(plain(yield* rows(id)), before)
      yield* write({ table: id, op: "restore", version })
      assert.deepStrictEqual(plain(yield* rows(id)), before)
    }))

  it.effect("upserts: changes what is there, else inserts", () =>
    inWorld(function*() {
      const id = yield* stock
      yield* write({ table: "stock", op: "upsert", where: "sku === 'A-0'", set: { sku: "A-0", qty: 50 } })
      const insert = { sku: "C", qty: 51 }
      const { version } = yield* write({ table: "stock", op: "upsert", where: "sku === 'C'", set: insert })
      assert.isUndefined(version)
      const all = yield* rows(id)
      assert.lengthOf(all, 31)
      assert.sameMembers(all.filter(({ qty }) => Number(qty) >= 50).map(({ sku }) => sku), ["A-0", "C"])
    }))

  const deletions: ReadonlyArray<Input> = [
    { table: "stock", op: "delete", where: "qty >= 10" },
    { table: "stock", op: "clear" },
    { table: "stock", op: "drop" },
    { table: "stock", op: "dropColumn", column: "qty" }
  ]

  for (const deletion of deletions) {
    it.effect(`asks before ${deletion.op}, keeps what goes, and brings it back`, () =>
      inWorld(function*({ api }) {
        const id = yield* stock
        const before = plain(yield* rows(id))
        const questions: Array<string> = []
        const error = yield* Effect.flip(write(deletion)).pipe(asked("no", questions))
        assert.deepInclude(error, { _tag: "ValidationError", field: "confirm" })
        assert.include(questions[0], "'stock'")
        yield* write({ ...deletion, dryRun: true })
        assert.deepStrictEqual(plain(yield* rows(id)), before)
        assert.notInclude(JSON.stringify((yield* api.requests).map(({ url }) => url)), "/rows/clear")

        const { hint, version = "" } = yield* write(deletion).pipe(asked("yes"))
        assert.include(hint, "op: 'restore'")
        const { table } = yield* write({ table: id, op: "restore", version })
        assert.deepStrictEqual(plain(yield* rows(table.id)), before)
      }))
  }

  it.effect("says what was done, and brings a dropped table back by its name", () =>
    inWorld(function*() {
      const id = yield* stock
      const message = (args: Input) => Effect.map(tools.tableWrite.answer(args), ({ message }) => message)
      const table = "stock"
      assert.strictEqual(
        yield* message({ table: "todo", op: "create", columns: { a: "string", b: "number" } }),
        "Created 'todo' with 2 columns"
      )
      assert.strictEqual(yield* message({ table, op: "drop", dryRun: true }), "Would drop 'stock' with 30 rows")
      const { data: { version = "" } } = yield* tools.tableWrite.answer({ table, op: "drop", confirm: true })
      const { versions } = yield* tools.workflowHistory.call({ id: table, limit: 5 })
      assert.deepStrictEqual(versions.map((each) => each.version), [version])
      assert.strictEqual(yield* message({ table, op: "restore", version }), "Restored 30 rows of 'stock'")
      assert.notStrictEqual((yield* tools.tableRead.call({ table, limit: 1 })).table?.id, id)
      assert.deepStrictEqual((yield* tools.workflowHistory.call({ id: table, limit: 5 })).versions, versions)
      const missing = yield* Effect.flip(tools.workflowHistory.call({ id: "nope", limit: 5 }))
      assert.strictEqual(missing.message, "Workflow 'nope' not found")
    }))

  it.effect("shows what columns look like where they are something else", () =>
    inWorld(function*() {
      for (const columns of [["sku"], [{ name: "sku", type: "string" }]]) {
        const error = yield* Effect.flip(write({ table: "todo", op: "create", columns } as never))
        assert.include(error.message, "{\"sku\": \"string\"")
      }
    }))

  it.effect("never goes by no condition, or by one that n8n cannot hold", () =>
    inWorld(function*({ api }) {
      yield* stock
      const sent = (yield* api.requests).length
      for (
        const [args, text] of [
          [{ op: "delete" }, "delete needs where"],
          [{ op: "update", set: { qty: 1 } }, "update needs where"],
          [{ op: "update", where: "qty < 3" }, "update needs set"],
          [{ op: "delete", where: "qty % 2 === 0" }, "is no comparison"],
          [{ op: "delete", where: "apiToken.startsWith('h')" }, "contains secrets"],
          [{ op: "update", where: "qty < 3", set: { apiToken: "[redacted]" } }, "contains the placeholder"],
          [{ op: "update", where: "qty < 3", set: { qyt: 1 } }, "no column 'qyt'"],
          [{ op: "insert", rows: [{ id: 3 }] }, "no column 'id'"],
          [{ op: "insert", rows: [] }, "insert needs rows"],
          [{ op: "create" }, "create needs columns"],
          [{ op: "restore" }, "restore needs version"],
          [{ op: "dropColumn", column: "nope" }, "no column 'nope'"]
        ] as const
      ) {
        const error = yield* Effect.flip(write({ table: "stock", ...args } as Input))
        assert.include(error.message, text)
      }
      const writes = (yield* api.requests).slice(sent).filter(({ method }) => method !== "GET")
      assert.deepStrictEqual(writes.map(({ method, url }) => `${method} ${url}`), [])
    }))

  it.effect("deletes no more without a person's consent than a snapshot can restore", () =>
    inWorld(function*() {
      const id = yield* stock
      const n8n = yield* N8nClient
      for (let at = 0; at < 10; at++) {
        yield* n8n.insertRows(id, Array.from({ length: 500 }, () => ({ sku: "x" })))
      }
      const error = yield* Effect.flip(write({ table: "stock", op: "clear" }))
      assert.include(error.message, "lose more than 5000 rows")
      const { count, hint } = yield* write({ table: "stock", op: "clear", confirm: true })
      assert.strictEqual(count, 5_030)
      assert.include(hint, "the first 5000 of 5030 rows")
    }))
})
