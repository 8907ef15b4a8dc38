import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { answers, cases, secrets, table } from "./secrecy.ts"

describe("data tables that differ in a secret alone", () => {
  it.effect.each([0, 1, 2, 3])("answer equally for every question (part %i)", (part) =>
    Effect.gen(function*() {
      const some = cases.filter((_, index) => index % 4 === part)
      const [first = [], ...others] = yield* Effect.forEach(secrets, (secret) => inWorld(() => answers(secret, some)))
      for (const other of others) {
        for (const [index, args] of some.entries()) {
          assert.strictEqual(other[index], first[index], JSON.stringify(args))
        }
      }
      for (const secret of secrets) assert.notInclude(JSON.stringify([first, others]), secret)
    }))

  it.effect("pages through what is shown, each row once", () =>
    inWorld(function*() {
      yield* table(secrets[0])
      for (const sort of [undefined, "label", "-label", "n"]) {
        const ids: Array<unknown> = []
        let cursor: string | undefined
        do {
          const { data } = yield* tools.tableRead.answer({
            table: "notes",
            where: "n > 1 || label !== 'x'",
            limit: 2,
            ...sort === undefined ? {} : { sort },
            ...cursor === undefined ? {} : { cursor }
          })
          ids.push(...data.rows?.map(({ id }) => id) ?? [])
          cursor = data.nextCursor
        } while (cursor !== undefined)
        assert.deepStrictEqual(ids.toSorted(), [1, 2, 3, 4, 5], sort)
      }
      const wrong = yield* Effect.flip(
        tools.tableRead.answer({ table: "notes", search: "a", cursor: "eyJsaW1pdCI6MX0=", limit: 1 })
      )
      assert.strictEqual(wrong.message, "cursor is not a nextCursor of this list")
    }))

  it.effect("changes only rows that meet the condition as they are shown", () =>
    inWorld(function*() {
      const id = yield* table(secrets[0])
      const write = (op: "update" | "delete" | "upsert") =>
        tools.tableWrite.answer({
          table: "notes",
          op,
          where: "label.startsWith('ghp_') || n === 2",
          set: { n: 9 },
          confirm: true
        })
      assert.strictEqual((yield* write("update")).data.count, 1)
      assert.strictEqual((yield* write("delete")).data.count, 0)
      assert.deepStrictEqual((yield* write("upsert")).data.ids, [6])
      const rows = yield* N8nClient.use((n8n) => Stream.runCollect(n8n.streamRows(id)))
      assert.deepStrictEqual(rows.map(({ n, label }) => [n, label]), [
        [1, secrets[0]],
        [9, "alpha"],
        [3, "password"],
        [4, "Alpha and omega"],
        [5, null],
        [9, null]
      ])
    }))
})
