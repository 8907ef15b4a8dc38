/**
 * Time in tests: runs what waits under effect's `TestClock`, in steps that leave files and modules the turns they need.
 *
 * The fake itself takes no real time, so `TestClock.adjust` alone is enough for what only calls it. A program that also
 * reads files, such as the node catalogue, or loads a module on first use, needs this module: its clock stands still
 * meanwhile.
 *
 * **Example** (A retry that is never really waited for)
 *
 * ```ts
 * import { N8nClient } from "effect-n8n-mcp"
 * import { FakeN8n, TestTime } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as TestClock from "effect/testing/TestClock"
 *
 * export const test = Effect.gen(function*() {
 *   const fake = yield* FakeN8n.FakeN8n
 *   yield* fake.failTimes(1, 429, { retryAfter: 7 })
 *   const n8n = yield* N8nClient.N8nClient
 *   const { exit, seconds } = yield* TestTime.measure(n8n.listWorkflows({ limit: 5 }))
 *   return { exit, seconds } // a success after 7 seconds
 * }).pipe(Effect.provide(FakeN8n.layer()), Effect.provide(TestClock.layer()))
 * ```
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"

/** Limit and step of the clock. */
export interface Options {
  /** Time by which the clock advances whenever nothing else happens. Default: 500 milliseconds. */
  readonly step?: Duration.Input | undefined
  /** Maximum time of the clock. Default: 10 minutes. */
  readonly within?: Duration.Input | undefined
}

/** Whether this process reads or writes files, which takes no time of the test clock. */
const isBusy = () =>
  globalThis.process?.getActiveResourcesInfo?.().some((resource) => /^(?:FS|Close)Req/.test(resource)) === true

/** Turns of the event loop without files after which nothing more happens by itself. */
const quietTurns = 4

/** Lets everything happen that needs no time. */
const idle = Effect.gen(function*() {
  for (let quiet = 0; quiet < quietTurns; quiet = isBusy() ? 0 : quiet + 1) yield* Effect.yieldNow
})

/** Advances the clock until a condition is met; whether it was. */
export const until = Effect.fnUntraced(function*(
  isMet: () => boolean,
  { step = "500 millis", within = "10 minutes" }: Options = {}
): Effect.fn.Return<boolean> {
  const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(within)
  yield* idle
  while (!isMet() && (yield* Clock.currentTimeMillis) < end) {
    yield* TestClock.adjust(step)
    yield* idle
  }
  return isMet()
})

/** Runs an effect to its end, and measures how many seconds of the clock it took. */
export const measure = Effect.fnUntraced(function*<A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options?: Options
): Effect.fn.Return<{ readonly exit: Exit.Exit<A, E>; readonly seconds: number }, never, R> {
  const start = yield* Clock.currentTimeMillis
  const fiber = yield* Effect.forkChild(Effect.exit(effect))
  yield* until(() => fiber.pollUnsafe() !== undefined, options)
  const exit = yield* Fiber.join(fiber)
  return { exit, seconds: ((yield* Clock.currentTimeMillis) - start) / 1000 }
})

/** Runs an effect to its end; waiting takes no time. */
export const run = <A, E, R>(effect: Effect.Effect<A, E, R>, options?: Options): Effect.Effect<A, E, R> =>
  Effect.flatMap(measure(effect, options), ({ exit }) => exit)
