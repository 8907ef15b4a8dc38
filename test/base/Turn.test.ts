import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Turn from "../../src/base/Turn.ts"

describe("turns", () => {
  it.effect("go to every caller, however many things one of them waits with", () =>
    Effect.gen(function*() {
      const turnOf = Turn.make()
      const order: Array<string> = []
      const wait = (caller: string) =>
        Effect.forkChild(Effect.andThen(turnOf(caller), Effect.sync(() => void order.push(caller))), {
          startImmediately: true
        })
      const many = yield* Effect.forEach(Array.from({ length: 50 }), () => wait("many"))
      const few = yield* Effect.forEach(Array.from({ length: 2 }), () => wait("few"))
      yield* Fiber.joinAll([...many, ...few])
      assert.deepStrictEqual(order.slice(0, 4).toSorted(), ["few", "few", "many", "many"])
      assert.lengthOf(order, 52)
    }))

  it.effect("are not held up by a caller that went away", () =>
    Effect.gen(function*() {
      const turnOf = Turn.make()
      const order: Array<string> = []
      const wait = (name: string) =>
        Effect.forkChild(Effect.andThen(turnOf("one"), Effect.sync(() => void order.push(name))), {
          startImmediately: true
        })
      const gone = yield* wait("gone")
      const stays = yield* wait("stays")
      yield* Fiber.interrupt(gone)
      yield* Fiber.join(stays)
      assert.deepStrictEqual(order, ["stays"])
    }))
})
