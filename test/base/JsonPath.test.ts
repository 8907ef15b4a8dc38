import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as JsonPath from "../../src/base/JsonPath.ts"
import { Json } from "../support/arbitrary.ts"

describe("JsonPath", () => {
  it.each<[string, ReadonlyArray<JsonPath.Step> | undefined]>([
    ["customer.id", ["customer", "id"]],
    ["rules.values[2].outputKey", ["rules", "values", 2, "outputKey"]],
    ["items.0.price", ["items", 0, "price"]],
    [`["order no"].x`, ["order no", "x"]],
    [`['it\\'s']`, ["it's"]],
    ["顧客.名前", ["顧客", "名前"]],
    ["x-request-id", ["x-request-id"]],
    ["", undefined],
    [".a", undefined],
    ["a..b", undefined],
    ["lines[].price", ["lines", JsonPath.all, "price"]],
    ["a b", undefined],
    ["a[", undefined],
    ["a[-1]", undefined]
  ])("%s", (path, steps) => assert.deepStrictEqual(JsonPath.parse(path), steps))

  it("reads own properties only", () => {
    const value = { a: [{ b: 1 }], "": 2 }
    assert.strictEqual(JsonPath.get(value, ["a", 0, "b"]), 1)
    assert.isUndefined(JsonPath.get(value, ["a", "length", "x"]))
    assert.isUndefined(JsonPath.get(value, ["constructor"]))
    assert.isUndefined(JsonPath.get(value, ["a", 1, "b"]))
  })

  it("reads all elements of a list", () => {
    const value = { lines: [{ price: 1 }, {}, { price: 3 }], none: [] }
    assert.deepStrictEqual(JsonPath.get(value, ["lines", JsonPath.all, "price"]), [1, 3])
    assert.isUndefined(JsonPath.get(value, ["none", JsonPath.all, "price"]))
    assert.deepStrictEqual(JsonPath.expand(value, ["lines", JsonPath.all]), [["lines", 0], ["lines", 1], ["lines", 2]])
    assert.strictEqual(JsonPath.general(`a[0]["b[1]"][2].c`), `a[]["b[1]"][].c`)
    assert.isTrue(JsonPath.covers([["lines", JsonPath.all]], ["lines", 4, "price"]))
    assert.isFalse(JsonPath.covers([["lines", 0]], ["lines", JsonPath.all]))
  })

  it.prop("writes each text's path so that it leads to the text", { value: Json }, ({ value }) => {
    for (const [path, text] of JsonPath.strings(value)) {
      const steps = JsonPath.parse(JsonPath.print(path)) ?? []
      assert.deepStrictEqual(steps, path)
      assert.strictEqual(JsonPath.get(value, steps), text)
      assert.strictEqual(JsonPath.get({ outer: value }, JsonPath.parse(JsonPath.print(path, "outer")) ?? []), text)
    }
  })

  it.prop("parses the paths that it writes", { keys: Schema.NonEmptyArray(Schema.String) }, ({ keys }) => {
    assert.deepStrictEqual(JsonPath.parse(keys.reduce(JsonPath.member, "")), keys)
  })
})
