import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Rows from "../../src/base/Rows.ts"

describe("rows", () => {
  it("name the first of many and count the others", () => {
    assert.strictEqual(Rows.names([]), "")
    assert.strictEqual(Rows.names(["A", "B", "A"], 2), "'A', 'B'")
    assert.strictEqual(Rows.names(["A", "B", "C", "D", "E"], 2), "'A', 'B' and 3 more")
    assert.strictEqual(Rows.listed(["a", "b", "c"], 2, "; "), "a; b and 1 more")
    assert.strictEqual(Rows.listed(["a", "b", "c"], 1, "\n"), "a\nand 2 more")
  })

  it("make foreign names one visible line", () => {
    assert.strictEqual(Rows.names([`a\nb\u202E${"c".repeat(100)}`], 1, 10), "'a b\\u202e…'")
  })

  const rows = Schema.Array(Schema.Literals(["a", "b", "c"]))
  it.prop("that are equal are one group, in order, and none is lost", { rows }, ({ rows }) => {
    const groups = Rows.grouped(rows, (row) => row)
    assert.deepStrictEqual(groups.map(({ first }) => first), [...new Set(rows)])
    for (const { count, first, rows: own } of groups) {
      assert.deepStrictEqual<ReadonlyArray<string>>(own, rows.filter((row) => row === first))
      assert.strictEqual(count, own.length)
    }
    assert.deepStrictEqual(
      Rows.counts(rows, (row) => row),
      Object.fromEntries(groups.map(({ count, first }) => [first, count]))
    )
    assert.strictEqual(Rows.tally(rows, (row) => row), groups.map(({ count, first }) => `${count} ${first}`).join(", "))
  })
})
