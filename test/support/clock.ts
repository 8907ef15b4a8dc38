/** The test clock, for what waits for files as well. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { syncBuiltinESMExports } from "node:module"
import zlib from "node:zlib"
import * as Modules from "../../src/trials/Modules.ts"

// What the program loads on first use would take real time while the test clock runs.
await Promise.all([
  import("acorn"),
  import("../../src/base/interpreter/Compile.ts"),
  import("../../src/pictures/Page.ts"),
  import("../../src/pictures/Pictures.ts"),
  Effect.runPromise(Effect.all<ReadonlyArray<Effect.Effect<unknown>>, object>(Object.values(Modules)))
])

// What zlib's threads do is not among the active resources of the process.
let packing = 0
const { zstdCompress } = zlib
zlib.zstdCompress = Object.assign(
  (input: zlib.InputType, options: zlib.ZstdOptions, done: zlib.CompressCallback) => {
    packing++
    zstdCompress(input, options, (error, packed) => {
      packing--
      done(error, packed)
    })
  },
  { __promisify__: zstdCompress.__promisify__ }
) as typeof zstdCompress
syncBuiltinESMExports()

/** One turn of the event loop: bodies and files are read by promises, which the test clock does not control. */
export const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

/** Whether this process reads or writes files or unpacks something: that takes no time of the test clock. */
const isBusy = () => packing > 0 || process.getActiveResourcesInfo().some((resource) => resource.startsWith("FSReq"))

/** Lets everything happen that needs no time. */
const idle = Effect.gen(function*() {
  for (let quiet = 0; quiet < 4; quiet = isBusy() ? 0 : quiet + 1) yield* turn
})

/** Advances the clock in steps until the condition is met, for so many seconds at most; whether it was. */
export const until = Effect.fnUntraced(function*(isDone: () => boolean, seconds: number, step = 500) {
  for (let waited = 0; !isDone() && waited < seconds * 1_000; waited += step) {
    yield* idle
    if (isDone()) return true
    yield* TestClock.adjust(step)
  }
  return isDone()
})

/** Runs an effect to its end and measures how many seconds of the clock it took, in steps of so many milliseconds. */
export const timed = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>, step?: number) {
  const start = yield* Clock.currentTimeMillis
  const fiber = yield* Effect.forkChild(Effect.exit(effect))
  yield* until(() => fiber.pollUnsafe() !== undefined, 600, step)
  const exit = yield* Fiber.join(fiber)
  return { exit, seconds: ((yield* Clock.currentTimeMillis) - start) / 1000 }
})

/** Runs an effect to its end; waiting takes no time. */
export const hurried = <A, E, R>(effect: Effect.Effect<A, E, R>, step?: number) =>
  Effect.flatMap(timed(effect, step), ({ exit }) => exit)
