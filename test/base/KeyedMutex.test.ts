import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as KeyedMutex from "../../src/base/KeyedMutex.ts"

describe("KeyedMutex", () => {
  it.effect("runs effects of one key in order, and those of other keys concurrently", () =>
    Effect.gen(function*() {
      const inTurn = KeyedMutex.make()
      const gate = yield* Deferred.make<void>()
      const done: Array<string> = []
      const work = (key: string, name: string) =>
        Effect.sync(() => void done.push(name)).pipe(
          (effect) => name === "first" ? Effect.andThen(Deferred.await(gate), effect) : effect,
          inTurn(key)
        )
      const fibers = yield* Effect.forEach(
        [["a", "first"], ["a", "second"], ["b", "other"], ["a", "third"]] as const,
        ([key, name]) => Effect.forkChild(work(key, name))
      )
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.deepStrictEqual(done, ["other"])
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(done, ["other", "first", "second", "third"])
    }))

  it.effect("continues after a failure or an interruption", () =>
    Effect.gen(function*() {
      const inTurn = KeyedMutex.make()
      assert.strictEqual(yield* Effect.flip(inTurn("a")(Effect.fail("no"))), "no")
      const fiber = yield* Effect.forkChild(inTurn("a")(Effect.never))
      yield* Effect.yieldNow
      const waiting = yield* Effect.forkChild(inTurn("a")(Effect.succeed("turn")))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* Fiber.join(waiting), "turn")
    }))
})
