import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as LinearSearch from "../../src/base/LinearSearch.ts"
import { rounds } from "../support/seed.ts"

describe("LinearSearch", () => {
  const Text = Schema.Array(Schema.Literals(["a", "b", "é"]))

  it.prop(
    "finds what the host's search finds",
    [Text, Text, Schema.Int],
    ([before, pattern, from]) => {
      // Periods, so that beginnings of the needle repeat within it.
      const needle = pattern.join("").repeat(pattern.length === 0 ? 0 : Math.ceil(250 / pattern.length))
      const text = `${before.join("").repeat(3)}${needle.slice(1)}b${needle}${needle.slice(2)}`
      const start = Math.abs(from % (text.length + 2))
      assert.strictEqual(LinearSearch.indexOf(text, needle, start), text.indexOf(needle, start))
      assert.strictEqual(LinearSearch.includes(text, `${needle}bb`), text.includes(`${needle}bb`))
    },
    { arbitrary: { runs: rounds(300) } }
  )

  it("finds every letter in any case", () => {
    const all = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code))
    const letters = all.filter((letter) => letter.toLowerCase() !== letter || letter.toUpperCase() !== letter)
    const needles = [..."abcdefghijklmnopqrstuvwxyz"].map((letter) => [letter, LinearSearch.inAnyCase(letter)] as const)
    const wrong = letters.filter((letter) => {
      const lower = letter.toLowerCase()
      return !LinearSearch.inAnyCase(`(${lower}]`)(`x(${letter}]`) ||
        needles.some(([needle, isIn]) => isIn(letter) !== lower.includes(needle))
    })
    assert.deepStrictEqual([letters.length > 2_500, wrong], [true, []])
  })

  it("finds a text in any case as in lower case", () => {
    for (
      const [text, needle, expected] of [
        ["ΟΔΥΣΣΕΥΣ", "οδυσσευς", true],
        ["ΟΔΥΣΣΕΥΣ", "οδυσσευσ", false],
        ["Straße", "strasse", false],
        ["İstanbul", "i\u0307stanbul", true],
        ["😀", "\ud83d", true],
        ["A-2.99 (new)", "2.99 (", true],
        ["A-2x99", "2.99", false]
      ] as const
    ) assert.strictEqual(LinearSearch.inAnyCase(needle)(text), expected, text)
  })

  it("takes a time in proportion to the text", () => {
    // The host's search needs 10^11 steps for this one.
    const text = "a".repeat(1_000_000)
    assert.strictEqual(LinearSearch.indexOf(text, `aaaaab${"a".repeat(500_000)}`), -1)
  }, 15_000)
})
