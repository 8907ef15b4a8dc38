import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Turn from "../../src/base/Turn.ts"

/** Callers that wait for their turn, and the order in which they had it. */
const waiting = () => {
  const turnOf = Turn.make()
  const order: Array<string> = []
  const wait = (caller: string, name = caller) =>
    Effect.forkChild(Effect.andThen(turnOf(caller), Effect.sync(() => void order.push(name))), {
      startImmediately: true
    })
  return { order, wait }
}

describe("turns", () => {
  it.effect("go to every caller, however many things one of them waits with", () =>
    Effect.gen(function*() {
      const { order, wait } = waiting()
      const callers = [...Array.from({ length: 50 }, () => "many"), "few", "few"]
      yield* Fiber.joinAll(yield* Effect.forEach(callers, (caller) => wait(caller)))
      assert.deepStrictEqual(order.slice(0, 4).toSorted(), ["few", "few", "many", "many"])
      assert.lengthOf(order, 52)
    }))

  it.effect("are not held up by a caller that went away", () =>
    Effect.gen(function*() {
      const { order, wait } = waiting()
      const gone = yield* wait("one", "gone")
      const stays = yield* wait("one", "stays")
      yield* Fiber.interrupt(gone)
      yield* Fiber.join(stays)
      assert.deepStrictEqual(order, ["stays"])
    }))
})

describe("work in steps", () => {
  const count = function*(to: number): Turn.Steps<number> {
    for (let at = 0; at < to; at++) yield
    return to
  }

  it.effect("lets others run whenever its slice has passed", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      let steps = 0
      const work = Turn.run(() => count(6)).pipe(
        Effect.provideService(Turn.Slice, () => {
          order.push("step")
          return ++steps % 3 === 0
        })
      )
      const fiber = yield* Effect.forkChild(work, { startImmediately: true })
      yield* Effect.sync(() => order.push("other")).pipe(Effect.andThen(Effect.yieldNow), Effect.repeat({ times: 1 }))
      assert.strictEqual(yield* Fiber.join(fiber), 6)
      assert.deepStrictEqual(order, ["step", "step", "step", "other", "step", "step", "step", "other"])
    }))

  it.effect("gives the same without pauses", () =>
    Effect.gen(function*() {
      const work = () =>
        Turn.flatMap([1, 2, 3], (each) => each === 2 ? Turn.flatMap([each], () => ["two"]) : [`${each}`])
      assert.deepStrictEqual(yield* Turn.run(work), Turn.finish(work()))
      assert.deepStrictEqual(Turn.finish(work()), ["1", "two", "3"])
    }))

  it.effect("is interrupted at a pause", () =>
    Effect.gen(function*() {
      const endless = function*(): Turn.Steps<never> {
        for (;;) yield
      }
      const fiber = yield* Effect.forkChild(Effect.provideService(Turn.run(endless), Turn.Slice, () => true), {
        startImmediately: true
      })
      yield* Fiber.interrupt(fiber)
      assert.isDefined(fiber.pollUnsafe())
    }))
})
