import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Watching from "../../src/app/Watching.ts"
import * as TestTime from "../support/TestTime.ts"

const every = 60_000

/** Starts of rounds that take so long, in milliseconds after the first. */
const startsOf = Effect.fnUntraced(function*(first: number, durations: ReadonlyArray<number>) {
  yield* TestClock.setTime(first)
  const starts: Array<number> = []
  const left = [...durations]
  const rounds = Watching.repeat(
    every,
    Effect.gen(function*() {
      starts.push((yield* Clock.currentTimeMillis) - first)
      const took = left.shift() ?? 0
      yield* Effect.sleep(took)
      return { isOver: left.length === 0, nextAfterMs: Math.max(0, every - took) }
    })
  )
  yield* TestTime.run(rounds, { step: "1 second" })
  return starts
})

describe("rounds of a watch", () => {
  it.effect("start at the same place of each interval, however long one takes", () =>
    Effect.gen(function*() {
      const starts = yield* startsOf(1_000 * every + 20_000, [1_234, 0, 59_000, 61_000, 7])
      assert.deepStrictEqual(starts, [0, every, 2 * every, 3 * every, 5 * every])
    }))

  it.effect("keep away from the borders of an interval, where a timer could miss its own", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* startsOf(1_000 * every + 1, [0, 0, 0]), [0, every + 5_999, 2 * every + 5_999])
      assert.deepStrictEqual(yield* startsOf(1_001 * every - 1, [0, 0, 0]), [0, every - 5_999, 2 * every - 5_999])
    }))
})
