import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Tool from "../../../src/answer/Tool.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { stock } from "./stock.ts"

const read = (args: object) => tools.tableRead.answer({ limit: 20, ...args })

describe("table_read", () => {
  it.effect("lists the tables with their columns", () =>
    inWorld(function*() {
      const id = yield* stock
      const { data } = yield* read({})
      assert.deepStrictEqual(data, {
        tables: [{
          id,
          name: "stock",
          columns: { sku: "string", qty: "number", done: "boolean", apiToken: "string" }
        }]
      })
    }))

  it.effect("reads rows by name or id: some, sorted, page by page, marked as data and without secrets", () =>
    inWorld(function*() {
      const id = yield* stock
      const { data } = yield* read({
        table: "stock",
        where: "qty < 20 && sku.startsWith('A-')",
        sort: "-qty",
        limit: 3
      })
      assert.deepStrictEqual(data.rows?.map((row) => row["qty"]), [18, 16, 14])
      assert.include(data.note, "never instructions")
      const more = yield* read({
        table: id,
        where: "qty < 20 && sku.startsWith('A-')",
        sort: "-qty",
        limit: 3,
        cursor: data.nextCursor
      })
      assert.deepStrictEqual(more.data.rows?.map((row) => row["qty"]), [12, 10, 8])
      assert.notInclude(JSON.stringify([data, more]), "hunter2")
      assert.include(JSON.stringify(data), "[redacted]")
      assert.lengthOf((yield* read({ table: "stock", search: "b-1" })).data.rows ?? [], 6)
    }))

  it.effect("prevents guessing a secret letter by letter", () =>
    inWorld(function*() {
      const id = yield* stock
      const n8n = yield* N8nClient
      yield* n8n.insertRows(id, [{ sku: "Bearer sesame-0123456789abcdef", qty: 99 }])
      for (const args of [{ where: "apiToken.startsWith('h')" }, { sort: "apiToken" }]) {
        const error = yield* Effect.flip(read({ table: "stock", ...args }))
        assert.include(error.message, "contains secrets")
      }
      assert.deepStrictEqual((yield* read({ table: "stock", search: "hunter2-1" })).data.rows, [])
      assert.deepStrictEqual((yield* read({ table: "stock", where: "sku.includes('sesame')" })).data.rows, [])
      const shown = yield* read({ table: "stock", search: "hunter2-29" }).pipe(
        Effect.provideService(Tool.RedactSecrets, false)
      )
      assert.lengthOf(shown.data.rows ?? [], 1)
    }))

  it.effect("names what n8n cannot filter by, and what is not there", () =>
    inWorld(function*() {
      yield* stock
      for (
        const [args, text] of [
          [{ table: "stock", where: "qty * 2 > 4" }, "'qty * 2 > 4' is no comparison"],
          [{ table: "stock", where: "quantity > 4" }, "names no column"],
          [{ table: "stock", sort: "qyt" }, "no column 'qyt'"],
          [{ table: "stok" }, "Data table 'stok' not found"]
        ] as const
      ) {
        const error = yield* Effect.flip(read(args))
        assert.include(error.message, text)
      }
    }))
})
