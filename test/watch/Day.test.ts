import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { watchDay } from "./simulation.ts"

/** `pnpm test:suite long` watches a whole day. */
describe("an hour of a mixed instance", () => {
  it.effect("has no false alarm, and names each cause once", () =>
    Effect.map(watchDay(7, 1), ({ causes, failed, most, others, perPoll, unknown }) => {
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(unknown, [])
      assert.deepStrictEqual(failed, causes)
      assert.isAbove(causes.length, 0)
      assert.isAtMost(most, 8)
      assert.isAtMost(perPoll, 3)
    }))
})
