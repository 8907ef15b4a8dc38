import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as LinearRegex from "../../src/domain/LinearRegex.ts"

describe("patterns", () => {
  const Text = Schema.String.check(Schema.isPattern(/^[abc.\n]{0,12}$/))
  const atoms = ["a", "b", ".", "[^a]", "(?:a|bc)", "(a?)", "\\w", "^", "$", "(?!b)", "(?=c)"]
  const patterns = [
    ...atoms.flatMap((one) => atoms.map((two) => `(${one}${two})+?${one}|(?:${two}){1,2}c*`)),
    "(?:a|b|)*c",
    "((a*)*)*$",
    "[]a]|[^]b",
    "a{,3}",
    "(a{2}){2,}"
  ]
  it.prop("match as JavaScript's", { text: Text }, ({ text }) => {
    for (const pattern of patterns) {
      assert.strictEqual(LinearRegex.matches(pattern, text), new RegExp(pattern).test(text))
    }
  })

  it("that are not understood are not judged", () => {
    for (const pattern of ["(a)\\1", "(?<=a)b", "(", "((a{100}){100}){100}"]) {
      assert.isUndefined(LinearRegex.matches(pattern, "aa"))
    }
  })
})
