import { assert, describe, it } from "@effect/vitest"
import * as JsonSize from "../../src/base/JsonSize.ts"

const { maxNames, maxValues } = JsonSize

const list = (count: number, value = "0") => `[${Array.from({ length: count }, () => value).join()}]`
const object = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`

describe("the size of a JSON text", () => {
  it.each([
    ["values of a list", list(maxValues - 1), list(maxValues + 1)],
    ["empty lists", list(maxValues / 2 - 1, "[]"), list(maxValues / 2 + 1, "[]")],
    ["names of an object", object(maxNames), object(maxNames + 1)],
    ["names of an object in a list", `[${list(20_000)},${object(maxNames)}]`, `[1,${object(maxNames + 1)},2]`]
  ])("counts %s", (_, most, over) => {
    assert.isUndefined(JsonSize.fault(most))
    assert.strictEqual(JsonSize.fault(over), JsonSize.reason())
  })

  it.each([
    ["text with commas and brackets", JSON.stringify({ code: "[{,".repeat(1_000_000) })],
    ["escaped quotes", JSON.stringify({ code: "\\\",[".repeat(1_000_000) })],
    ["names of many objects", list(30, object(5_000))],
    ["a string that does not end", `"${"[,".repeat(1_000_000)}`]
  ])("does not count %s", (_, text) => {
    assert.isUndefined(JsonSize.fault(text))
  })

  it.each([
    [`{"jsonrpc":"2.0","id":7,"params":`, "7"],
    [`{"id" : "a b","params":`, "\"a b\""],
    [`{"params":{"id":3},"id":-4,"more":`, "-4"],
    [`{"params":`, undefined],
    [`{"text":"\\"id\\":5","params":`, undefined],
    [`[{"id":6},`, undefined]
  ])("knows the id of %s", (head, id) => {
    assert.deepStrictEqual(JsonSize.scan(`${head}${list(maxValues)}`), { isOver: true, id })
  })
})
