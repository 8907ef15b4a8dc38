import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Table from "../../src/tables/Table.ts"

const columns: Table.Columns = new Map([
  ...Table.systemColumns,
  ["sku", "string"],
  ["qty", "number"],
  ["done", "boolean"],
  ["due", "date"],
  ["order no", "string"]
])

const filters = (source: string) =>
  Effect.map(
    Table.parse(source, columns),
    Result.match({
      onSuccess: ({ filters, type }) => [
        type,
        ...filters.map(({ columnName, condition, value }) => [columnName, condition, value])
      ],
      onFailure: ({ reason }) => reason
    })
  )

const translated: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> = [
  ["qty < 5", ["and", ["qty", "lt", 5]]],
  ["5 > qty", ["and", ["qty", "lt", 5]]],
  ["qty === -1", ["and", ["qty", "eq", -1]]],
  ["$json['order no'] == `A 1`", ["and", ["order no", "eq", "A 1"]]],
  ["$json.sku !== 'x'", ["and", ["sku", "neq", "x"]]],
  ["sku == null || qty != undefined", ["or", ["sku", "eq", null], ["qty", "neq", null]]],
  ["(qty > 1 && qty < 9) && done", ["and", ["qty", "gt", 1], ["qty", "lt", 9], ["done", "eq", true]]],
  ["!done", ["and", ["done", "neq", true]]],
  ["sku.includes('a')", ["and", ["sku", "like", "%a%"]]],
  ["sku['includes']('a')", ["and", ["sku", "like", "%a%"]]],
  ["sku.startsWith('a')", ["and", ["sku", "like", "a%"]]],
  ["sku.toLowerCase().endsWith('a')", ["and", ["sku", "ilike", "%a"]]],
  ["['a', 'b'].includes(sku)", ["or", ["sku", "eq", "a"], ["sku", "eq", "b"]]],
  ["['a'].includes(sku) && done", ["and", ["sku", "eq", "a"], ["done", "eq", true]]],
  ["createdAt >= '2026-03-01'", ["and", ["createdAt", "gt", "2026-02-28T23:59:59.999Z"]]],
  ["due < '2026-03-01'", ["and", ["due", "lte", "2026-02-28T23:59:59.999Z"]]],
  ["due > '2026-03-01'", ["and", ["due", "gt", "2026-02-28T23:59:59.999Z"]]],
  ["due <= '2026-03-01'", ["and", ["due", "lte", "2026-02-28T23:59:59.999Z"]]],
  ["due != null", ["and", ["due", "neq", null]]],
  ["5 >= qty && 1 <= $json.qty", ["and", ["qty", "lte", 5], ["qty", "gte", 1]]],
  ["'x' == sku", ["and", ["sku", "eq", "x"]]],
  ["$json.done || !$json['done']", ["or", ["done", "eq", true], ["done", "neq", true]]],
  ["[1, null].includes(qty) || done", ["or", ["qty", "eq", 1], ["qty", "eq", null], ["done", "eq", true]]],
  ["id === 7", ["and", ["id", "eq", 7]]]
]

const refused: ReadonlyArray<readonly [string, string]> = [
  ["qty < 5 || sku === 'a' && done", "mixes && and ||"],
  ["['a', 'b'].includes(sku) && done", "mixes && and ||"],
  ["stock < 5", "'stock' names no column"],
  ["/a/i.test(sku)", "'/a/i.test(sku)' has no filter of n8n's"],
  ["sku.length > 3", "is no comparison"],
  ["qty + 1 > 3", "is no comparison"],
  ["qty > id", "is no comparison"],
  ["qty === '5'", "'qty' is a number"],
  ["done > true", "'done' is a boolean"],
  ["qty < null", "compares with null"],
  ["sku", "is no condition"],
  ["true", "names no column"],
  ["sku.includes('50%')", "looks for %"],
  ["sku.includes('')", "needs a text"],
  ["sku.toLowerCase().includes('A')", "is never true"],
  ["qty.includes('1')", "is no text"],
  ["due === '2026-03-01'", "is no comparison of a date with a day"],
  ["due > '2026-03-01T10:00:00Z'", "is no comparison of a date with a day"],
  ["!(qty > 1)", "has no filter"],
  ["sku ?? done", "has no filter"],
  ["[].includes(sku)", "is an empty list"],
  ["[,].includes(sku)", "is no list of values"],
  ["[qty].includes(id)", "is no list of values"],
  ["[1].includes(sku)", "'sku' is a string"],
  ["['a'].includes('b')", "is no column"],
  ["sku.includes()", "has no filter"],
  ["sku.includes('a', 1)", "has no filter"],
  ["sku.includes(qty)", "has no filter"],
  ["sku.toString('a')", "has no filter"],
  ["sku === `a${qty}`", "is no comparison"],
  ["qty === 5n", "is no comparison"],
  ["qty === -'5'", "is no comparison"],
  ["-qty", "has no filter"],
  ["due > '2026-03-99'", "is no comparison of a date with a day"],
  ["constructor === 'a'", "names no column"],
  ["$json['__proto__'] == null", "names no column"],
  ["sku ===", "where is not an expression"],
  ["sku === 'a'); (1", "more than one expression"],
  [`qty > ${"1".repeat(5_000)}`, "too long"]
]

describe("Condition", () => {
  for (const [source, expected] of translated) {
    it.effect(`translates ${source}`, () =>
      Effect.map(filters(source), (result) => assert.deepStrictEqual<unknown>(result, expected)))
  }

  for (const [source, reason] of refused) {
    it.effect(`refuses ${source.slice(0, 50)}`, () =>
      Effect.map(filters(source), (result) => assert.include(String(result), reason)))
  }
})
