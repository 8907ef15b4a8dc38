import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { CallContext } from "../../src/base/CallContext.ts"
import * as Deadline from "../../src/base/Deadline.ts"
import * as Errors from "../../src/base/Errors.ts"
import * as TestTime from "../support/TestTime.ts"

const heard = Effect.provideService(CallContext, {
  hearsProgress: true,
  progress: () => Effect.void,
  confirm: () => Effect.succeed("unasked")
})

const target: Errors.Target = { operation: "get workflow", resourceType: "Workflow", resourceId: "7" }

/** The seconds after which it ends. */
const lasting = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(TestTime.measure(effect, { step: 100 }), ({ seconds }) => seconds)

describe("a call", () => {
  it.effect("that does not end is answered with the request it waited for", () =>
    Effect.gen(function*() {
      const waiting = Effect.andThen(Deadline.request(target, 5), Effect.never)
      const fiber = yield* Effect.forkChild(Effect.flip(Deadline.bounded(waiting, true)))
      yield* TestClock.adjust("48900 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("100 millis")
      const error = yield* Fiber.join(fiber)
      assert.instanceOf(error, Errors.ApiError)
      assert.strictEqual(error.message, "Failed to get workflow for Workflow '7': no answer within 49 s")
      assert.include(String(error.hint), "read it before you write again")
    }))

  it.effect("is answered in time while it cleans up, and the cleanup completes", () =>
    Effect.gen(function*() {
      let isInOrder = false
      const tidy = Effect.andThen(Effect.sleep("20 seconds"), Effect.sync(() => void (isInOrder = true)))
      const call = Deadline.bounded(Effect.acquireUseRelease(Effect.void, () => Effect.never, () => tidy), false)
      assert.strictEqual(yield* lasting(call), 49)
      assert.isFalse(isInOrder)
      yield* TestClock.adjust("20 seconds")
      assert.isTrue(isInOrder)
    }))

  it.effect("whose caller gives up has cleaned up before it is reported", () =>
    Effect.gen(function*() {
      let isInOrder = false
      const tidy = Effect.andThen(Effect.yieldNow, Effect.sync(() => void (isInOrder = true)))
      const begun = yield* Deferred.make<void>()
      const work = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      const call = Effect.acquireUseRelease(Effect.void, () => work, () => tidy)
      const fiber = yield* Effect.forkChild(Deadline.bounded(call, false))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(isInOrder)
    }))

  it.effect("returns its own answer, failure and defect", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Deadline.bounded(Effect.succeed(1), false), 1)
      assert.strictEqual(yield* Effect.flip(Deadline.bounded(Effect.fail("why"), false)), "why")
      assert.isTrue(Exit.hasDies(yield* Effect.exit(Deadline.bounded(Effect.die(new Error("bug")), false))))
    }))

  it.effect("has a person's time in addition to its own, and more only where its caller hears of progress", () =>
    Effect.gen(function*() {
      const asking = Effect.andThen(Deadline.paused(Effect.sleep("5 minutes")), Effect.never)
      assert.strictEqual(yield* lasting(Deadline.bounded(asking, false)), 349)
      const call = Effect.andThen(Deadline.grantIfHeard(180_000), Effect.never)
      assert.strictEqual(yield* lasting(Deadline.bounded(call, false)), 49)
      assert.strictEqual(yield* lasting(heard(Deadline.bounded(call, false))), 184)
    }))
})

describe("calls", () => {
  it.effect("end each at its own moment, however many wait and in whatever order they came", () =>
    Effect.gen(function*() {
      const ends: Array<number> = []
      const start = yield* Clock.currentTimeMillis
      const call = (seconds: number) =>
        Deadline.before(
          Effect.never,
          () => start + seconds * 1000,
          (interrupt) =>
            Effect.andThen(interrupt, Effect.sync(() => ends.push(seconds)).pipe(Effect.andThen(Effect.fail("late"))))
        ).pipe(Effect.ignore)
      const fibers = yield* Effect.forEach([40, 3, 21, 9, 40], (seconds) => Effect.forkChild(call(seconds)))
      yield* TestClock.adjust("2 seconds")
      const short = yield* Effect.forkChild(call(2.5))
      const stopped = yield* Effect.forkChild(call(30))
      const look = Effect.fnUntraced(function*(seconds: number, ended: ReadonlyArray<number>) {
        yield* TestClock.adjust(seconds * 1000)
        assert.deepStrictEqual(ends, [...ended])
      })
      yield* look(0.4, [])
      yield* look(0.2, [2.5])
      yield* look(6.4, [2.5, 3, 9])
      yield* Fiber.interrupt(stopped)
      yield* look(1_000, [2.5, 3, 9, 21, 40, 40])
      yield* Fiber.joinAll([...fibers, short])
      yield* Effect.forkChild(call(1_020))
      yield* TestClock.adjust("12 seconds")
      assert.strictEqual(ends.at(-1), 1_020)
    }))

  it.effect("wait for nothing once all have ended", () =>
    Effect.gen(function*() {
      const call = Deadline.bounded(Effect.as(Effect.sleep("1 second"), "done"), false)
      const all = yield* Effect.forkChild(Effect.all([call, call], { concurrency: 2 }))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(all), ["done", "done"])
      const late = Deadline.before(Effect.never, () => 0, (interrupt) => Effect.andThen(interrupt, Effect.fail("late")))
      assert.strictEqual(yield* Effect.flip(late), "late")
      assert.strictEqual(yield* lasting(Deadline.bounded(Effect.never, false)), 49)
    }))
})

describe("a request", () => {
  const seconds = (needed: number) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      return ((yield* Deadline.request(target, needed))() - now) / 1000
    })

  it.effect("has the time it needs when no one waits, else no more than is left, and a moment at its end", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* seconds(180), 180)
      const call = Effect.gen(function*() {
        const first = yield* seconds(30)
        yield* Effect.sleep("20 seconds")
        const second = yield* seconds(30)
        yield* Effect.sleep("24 seconds")
        return [first, second, yield* seconds(30)]
      })
      const fiber = yield* Effect.forkChild(Deadline.bounded(call, false))
      yield* TestClock.adjust("44 seconds")
      assert.deepStrictEqual(yield* Fiber.join(fiber), [30, 25, 3.5])
    }))

  it.effect("that cleans up has time of its own", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(
        Deadline.bounded(Effect.andThen(Effect.sleep("48 seconds"), Deadline.renewed(10)(seconds(30))), false)
      )
      yield* TestClock.adjust("48 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), 10)
    }))
})
