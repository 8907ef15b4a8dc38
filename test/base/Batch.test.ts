import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Batch from "../../src/base/Batch.ts"
import { CallContext } from "../../src/base/CallContext.ts"
import * as Deadline from "../../src/base/Deadline.ts"

const items = [1, 2, 3, 4, 5, 6]

/** Runs a batch within a call of 49 seconds, each step of which takes these seconds. */
const within = (options: Omit<Batch.Options<number, string>, "needs"> & { readonly needs?: number }, seconds: number) =>
  Effect.gen(function*() {
    const call = Batch.run(
      items,
      { needs: 0, ...options },
      (item) => Effect.as(Effect.sleep(`${seconds} seconds`), item)
    )
    const fiber = yield* Effect.forkChild(Deadline.bounded(call, false))
    yield* TestClock.adjust("10 minutes")
    return yield* Fiber.join(fiber)
  })

describe("Batch", () => {
  it.effect("works through all elements, and keeps their order", () =>
    Effect.gen(function*() {
      const { done, failed, left, stopped } = yield* Batch.run(
        items,
        { needs: 0, concurrency: 3 },
        (item) => item % 2 === 0 ? Effect.fail(`${item} is even`) : Effect.as(Effect.sleep(10 - item), item * 10)
      ).pipe((batch) => Effect.tap(Effect.forkChild(batch), () => TestClock.adjust(100)), Effect.flatMap(Fiber.join))
      assert.deepStrictEqual([...done], [[1, 10], [3, 30], [5, 50]])
      assert.deepStrictEqual([...failed.keys()], [2, 4, 6])
      assert.deepStrictEqual([left, stopped], [[], undefined])
    }))

  it.effect("begins no element that the time of the call may not suffice for", () =>
    Effect.gen(function*() {
      const { done, left, stopped } = yield* within({ needs: 20_000 }, 5)
      // 45 seconds are left for work: the sixth would begin with 20 of them.
      assert.deepStrictEqual([[...done.keys()], left, stopped], [[1, 2, 3, 4, 5, 6], [], undefined])
      assert.deepStrictEqual((yield* within({ needs: 26_000 }, 5)).left, [5, 6])
      assert.strictEqual((yield* within({ needs: 26_000 }, 5)).stopped, Batch.timeUp)
    }))

  it.effect("learns from the longest element how much time another may take", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* within({ needs: 1_000 }, 14)).left, [3, 4, 5, 6])
    }))

  it.effect("begins as many as run at a time however little time is left, and none in a call that has done something", () =>
    Effect.gen(function*() {
      const needs = 100_000
      assert.deepStrictEqual([...(yield* within({ needs }, 1)).done.keys()], [1])
      assert.deepStrictEqual([...(yield* within({ needs, concurrency: 2 }, 1)).done.keys()], [1, 2])
      for (const concurrency of [1, 2]) {
        const { left, stopped } = yield* within({ needs, concurrency, isContinued: true }, 1)
        assert.deepStrictEqual([left, stopped], [items, Batch.timeUp])
      }
    }))

  it.effect("takes more time where progress is heard, and reports that of its elements only", () =>
    Effect.gen(function*() {
      const messages: Array<string> = []
      const context = {
        hearsProgress: true,
        progress: (_: number, __: number | undefined, message: string) =>
          Effect.sync(() => void messages.push(message)),
        confirm: () => Effect.succeed("unasked" as const)
      }
      const options = {
        needs: 20_000,
        grants: 30_000,
        message: (done: number, total: number) => `${done} of ${total}`
      }
      const heard = Effect.provideService(CallContext, context)
      assert.deepStrictEqual((yield* heard(within({ grants: 1_000 }, 40))).left, [])
      assert.deepStrictEqual((yield* heard(within(options, 15))).left, [])
      assert.deepStrictEqual(messages, items.map((done) => `${done} of 6`))
      const inner = Batch.run(items, options, () => Effect.flatMap(CallContext, (own) => own.progress(1, 1, "inner")))
      yield* heard(inner)
      assert.notInclude(messages, "inner")
    }))

  it.effect("interrupts what is still at work after its time, and counts it as left", () =>
    Effect.gen(function*() {
      const { done, left, stopped } = yield* within({ concurrency: 2, within: 7_000 }, 3)
      assert.deepStrictEqual([[...done.keys()], left, stopped], [[1, 2, 3, 4], [5, 6], Batch.timeUp])
    }))

  it.effect("ends at a failure that ends it, without those that have not begun", () =>
    Effect.gen(function*() {
      const { done, failed, fault, left, stopped } = yield* Batch.run(
        items,
        { needs: 0, stopIf: (error: string) => error === "gone" ? "n8n is gone" : undefined },
        (item) => item === 2 ? Effect.fail("refused") : item === 4 ? Effect.fail("gone") : Effect.succeed(item)
      )
      assert.deepStrictEqual([[...done.keys()], [...failed.keys()], left], [[1, 3], [2], [4, 5, 6]])
      assert.deepStrictEqual([stopped, fault], ["n8n is gone", "gone"])
    }))
})
