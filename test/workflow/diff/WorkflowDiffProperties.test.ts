import { describe, it } from "@effect/vitest"
import { Any, done, operationsOf, sound } from "../edit/operations.ts"
import { isReversible } from "./reversible.ts"

describe("the difference of random edits", () => {
  it.prop(
    "leads there and back",
    { first: operationsOf(Any, 4), second: operationsOf(Any, 4) },
    ({ first, second }) => {
      const between = done(sound, first)
      isReversible(sound, between)
      isReversible(between, done(sound, second))
    }
  )
})
