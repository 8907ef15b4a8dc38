/** A thousand random edits: the difference, applied in reverse, gives the first version back. */
import { assert, it } from "@effect/vitest"
import { isReversible } from "../../workflow/diff/reversible.ts"
import { Any, done, operationsOf, sound } from "../../workflow/edit/operations.ts"

const runs = 1_000
let edited = 0

it.prop(
  "each of them",
  { operations: operationsOf(Any, 4), others: operationsOf(Any, 4) },
  ({ operations, others }) => {
    const before = done(sound, others)
    const after = done(before, operations)
    if (after !== before) edited++
    isReversible(sound, after)
    isReversible(before, after)
  },
  { timeout: 600_000, arbitrary: { runs } }
)

it("changed something most times", () => assert.isAbove(edited, runs / 2))
