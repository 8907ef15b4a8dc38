import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as JsonPath from "../../src/base/JsonPath.ts"

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

  it.prop("parses the paths that it writes", { keys: Schema.NonEmptyArray(Schema.String) }, ({ keys }) => {
    assert.deepStrictEqual(JsonPath.parse(keys.reduce(JsonPath.member, "")), keys)
  })
})
