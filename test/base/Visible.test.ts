import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Visible from "../../src/base/Visible.ts"
import * as Placeholders from "../../src/workflow/Placeholders.ts"
import { Json } from "../support/arbitrary.ts"

const invisible = [..."\u00AD\u034F\u200B\u200C\u200D\u2060\u3164\uFE00\uFE0E\uFE0F\u{E0041}\u{E0100}\u{E01EF}"]

describe("Visible", () => {
  it.each([
    ["\u001B[32m✓\u001B[0m a\u001B[2K\u009B1m", "\u001B[32m✓\u001B[0m a\\u001b[2K\\u009b1m"],
    ["a\n::error::x\n \t::add-mask::y", "a\n\\u003a:error::x\n \t\\u003a:add-mask::y"],
    ["one\rtwo\r\nthree", "one\\u000dtwo\r\nthree"],
    ["\r::debug::", "\\u000d\\u003a:debug::"],
    ["a ##vso[task.setvariable]", "a \\u0023#vso[task.setvariable]"],
    ["std::vector ## Title", "std::vector ## Title"],
    ["{\"a\":\"\u{E0041}\u202E\"}", "{\"a\":\"\\udb40\\udc41\\u202e\"}"]
  ])("prints %j safely", (text, printed) => assert.strictEqual(Visible.terminal(text), printed))

  it.prop("prints JSON that means the same", { value: Json }, ({ value }) => {
    const text = JSON.stringify(value)
    assert.strictEqual(JSON.stringify(JSON.parse(Visible.terminal(text))), text)
  })

  it.each([
    ["a\u202Eb", "a\\u202eb"],
    ["\u0000\u001B[31m", "\\u0000\\u001b[31m"],
    ["\u{E0049}\u{E0067}", "\\u{e0049}\\u{e0067}"],
    ["\uFEFFx\u2066y\u2069\u200F", "\\ufeffx\\u2066y\\u2069\\u200f"],
    ["mail\uFE01\u{E0110}", "mail\\ufe01\\u{e0110}"],
    ["a\u200Bb soft\u00ADhy", "a\\u200bb soft\\u00adhy"],
    ["\u2028\u2029\u3164\u034F\u180E\u115F", "\\u2028\\u2029\\u3164\\u034f\\u180e\\u115f"],
    ["b\u200C\u200D\u200C", "b\\u200c\\u200d\\u200c"],
    ["ب\u200C\u200D\u200Cب", "ب\u200C\\u200d\\u200cب"],
    ["❤\uFE0F\uFE0E", "❤\uFE0F\\ufe0e"],
    ["葛\u{E0100}\u{E0101} 葛\u{E0180}", "葛\u{E0100}\\u{e0101} 葛\\u{e0180}"],
    ["1\uFE0F 👩\u200Dx", "1\\ufe0f 👩\\u200dx"]
  ])("escapes %j", (hidden, escaped) => assert.strictEqual(Visible.text(hidden), escaped))

  it.each([
    "日本語 のワークフロー",
    "a\tb\r\nc",
    "\\u202e",
    // Emoji: joined, chosen by a selector, a keycap.
    "👩‍👩‍👧‍👦 👩🏽‍💻",
    "🏳️‍🌈 ❤️‍🔥 ©️",
    "1\uFE0F\u20E3",
    // Scripts: Persian, Sinhala, Devanagari, Mongolian, and variants of Han characters.
    "می‌خواهم",
    "ශ්‍රී",
    "क्‍ष",
    "ᠮᠠ\u180Eᠠ",
    "葛\u{E0100}城 神\uFE00"
  ])("keeps %j", (text) => {
    assert.strictEqual(Visible.text(text), text)
  })

  const Piece = Schema.Literals(["a", "1", " ", "\n", "葛", "ب", "क", "👩", "❤", "\u20E3", ...invisible])
  const Pieces = Arbitrary.schema(Schema.Array(Piece)).pipe(Arbitrary.map((some) => some.join("")))

  it.prop("never leaves two invisible characters together, and is idempotent", { text: Pieces }, ({ text }) => {
    const escaped = Visible.text(text)
    assert.notMatch(
      escaped,
      /\p{Default_Ignorable_Code_Point}{2}|(?:^|[a1 \n])\p{Default_Ignorable_Code_Point}(?!\u20E3)/u
    )
    assert.strictEqual(Visible.text(escaped), escaped)
    const restored = escaped.replace(
      /\\u(?:\{(\w+)\}|(\w{4}))/g,
      (_, far, near) => String.fromCodePoint(Number.parseInt(far ?? near, 16))
    )
    assert.strictEqual(restored, text)
  })

  it("labels foreign text inside a sentence: one visible line without secrets, of bounded length", () => {
    const token = `ghp_${"a1B2".repeat(9)}`
    assert.strictEqual(Visible.label("Invoices"), "Invoices")
    assert.strictEqual(Visible.label(" a\r\n\tb\u2028c\u202E "), "a b c\\u202e")
    assert.strictEqual(Visible.label(`Job ${token}`), "Job [redacted]")
    assert.strictEqual(Visible.label("名".repeat(60)), "名".repeat(60))
    assert.strictEqual(Visible.label("😀".repeat(61)), `${"😀".repeat(59)}…`)
    assert.strictEqual(Visible.label("abcdef", 4), "abc…")
  })

  it("escapes keys and values, and keeps the reference of values without hidden characters", () => {
    const fine = { a: [{ b: "c" }], d: null, e: 1 }
    assert.strictEqual(Visible.json(fine), fine)
    assert.deepStrictEqual<unknown>(Visible.json({ "k\u202E": [["\u0007"], fine] }), {
      "k\\u202e": [["\\u0007"], fine]
    })
  })

  it("is restored to the stored value in a write", () => {
    const stored = { text: "a\u202Eb", other: "x" }
    const change = { text: "a\\u202eb", other: "a\\u202eb" }
    assert.deepStrictEqual(
      Placeholders.resolve(change, stored),
      Result.succeed({ text: "a\u202Eb", other: "a\\u202eb" })
    )
  })
})
