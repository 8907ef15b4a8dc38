/** Work of a call between two turns of the event loop, counted in calls of functions: no clock, the same each time. */
import * as Effect from "effect/Effect"
import { Session } from "node:inspector"
import * as Turn from "../../src/base/Turn.ts"

/** Steps between two turns: fewer, and counting would take longer than the work. */
const stepsPerSlice = 100

/** Code whose calls count: ours, and the parser of JavaScript. */
const isCounted = (url: string) => /\/src\/|\/acorn\//.test(url)

/** Calls of functions of the longest stretch of work without a turn of the event loop; `steps` are those of a slice. */
export const longest = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  steps = stepsPerSlice
): Effect.Effect<number, never, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const session = new Session()
      session.connect()
      let most = 0
      const take = () =>
        session.post("Profiler.takePreciseCoverage", (_, { result }) => {
          let count = 0
          for (const { functions, url } of result) {
            if (isCounted(url)) { for (const { ranges } of functions) count += ranges[0]?.count ?? 0 }
          }
          most = Math.max(most, count)
        })
      session.post("Profiler.enable")
      session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
      const self = {
        session,
        immediate: setImmediate(function tick() {
          take()
          self.immediate = setImmediate(tick)
        }),
        most: () => {
          take()
          return most
        }
      }
      return self
    }),
    ({ most }) =>
      Effect.gen(function*() {
        let count = 0
        yield* Effect.exit(Effect.provideService(effect, Turn.Slice, () => ++count % steps === 0))
        return most()
      }),
    // A test that ends early must not slow down those after it.
    (self) =>
      Effect.sync(() => {
        clearImmediate(self.immediate)
        self.session.post("Profiler.stopPreciseCoverage")
        self.session.disconnect()
      })
  )
