import { assert, describe, it } from "@effect/vitest"
import * as Shape from "../../src/base/Shape.ts"

const merged = (values: ReadonlyArray<unknown>) => values.map(Shape.of).reduce((all, shape) => Shape.merge(all, shape))

const fits = (values: ReadonlyArray<unknown>, value: unknown) => Shape.includes(merged(values), Shape.of(value))

const times = ["2026-11-27T03:59:08.120Z", "2026-11-28T04:00:09.003Z", "2026-11-28T04:00:10.441Z"]

describe("Shape", () => {
  it.each([
    ["another time", times, "2026-11-28T04:00:11.999Z", true],
    ["a constant", times, "x", false],
    ["another format of the time", times, "Sat Nov 28 2026 04:00:11 GMT+0000", false],
    ["the date alone", times, "2026-11-28", false],
    ["an empty text", times, "", false],
    ["another type", times, 1_764_302_400_000, false],
    ["another id", ["a1-77f0", "0c-91aa", "bb-0001"], "ff-e3e3", true],
    ["a random number", [0.25, 0.123456, 0.9], 0.1, true],
    ["epoch milliseconds", [1_764_302_400_000, 1_764_302_400_555], 1_764_302_400_900, true],
    ["epoch seconds instead of milliseconds", [1_764_302_400_000, 1_764_302_400_555], 1_764_302_400, false],
    ["a small number instead of a time", [1_764_302_400_000, 1_764_302_400_555], 5, false],
    ["another number in a sentence", ["Order at 12:03", "Order at 12:04"], "Order at 12:59", true],
    ["another word in a sentence", ["Order at 12:03", "Order at 12:04"], "Failed at 12:59", false],
    ["a text whose form varies", ["a", "b c", "d-e"], "anything at all!", true],
    ["nothing", ["a", "b"], null, false]
  ])("of %s", (_, values, value, isSame) => {
    assert.strictEqual(fits(values, value), isSame)
  })

  it("holds no word of a value", () => {
    assert.notInclude(JSON.stringify(merged(["secret one", "secret two"])), "secret")
  })
})
