import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as JavaScript from "../../src/base/JavaScript.ts"

const declared = (count: number) => `let ${Array.from({ length: count }, (_, index) => `_${index}`).join()}`

describe("code", () => {
  it.effect.each([
    { what: "characters", most: "a;".repeat(65_536), over: "a;".repeat(65_537) },
    { what: "levels", most: `a${".b".repeat(997)}`, over: `a${".b".repeat(60_000)}` },
    { what: "names", most: declared(5_000), over: declared(5_001) },
    { what: "characters of a pattern", most: `/${"a".repeat(10_000)}/`, over: `/${"a".repeat(10_001)}/` }
  ])("with too many $what is not parsed", ({ most, over }) =>
    Effect.gen(function*() {
      const parse = yield* JavaScript.parser
      assert.property(parse(most, "body"), "program")
      assert.isUndefined(parse(over, "body"))
    }))
})
