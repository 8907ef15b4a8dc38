/** Work of a call between two pauses, counted in calls of functions: no clock, the same each time. */
import * as Effect from "effect/Effect"
import { Session } from "node:inspector"
import * as Turn from "../../src/base/Turn.ts"

/** Steps between two pauses: fewer, and counting would take longer than the work. */
const stepsPerSlice = 500

/** Code whose calls count: ours, and the parser of JavaScript. */
const isCounted = (url: string) => /\/src\/|\/acorn\//.test(url)

const begin = Effect.sync(() => {
  const session = new Session()
  session.connect()
  session.post("Profiler.enable")
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
  return session
})

// A test that ends early must not slow down those after it.
const end = (session: Session) =>
  Effect.sync(() => {
    session.post("Profiler.stopPreciseCoverage")
    session.disconnect()
  })

/** Calls of functions of the longest stretch of work between two pauses; `steps` are those of a slice. */
export const longest = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  steps = stepsPerSlice
): Effect.Effect<number, never, R> =>
  Effect.acquireUseRelease(begin, (session) =>
    Effect.gen(function*() {
      let most = 0
      const take = () =>
        session.post("Profiler.takePreciseCoverage", (_, { result }) => {
          let calls = 0
          for (const { functions, url } of result) {
            if (isCounted(url)) { for (const { ranges } of functions) calls += ranges[0]?.count ?? 0 }
          }
          most = Math.max(most, calls)
        })
      let count = 0
      const isOver = () => {
        if (++count % steps !== 0) return false
        take()
        return true
      }
      yield* Effect.exit(Effect.provideService(effect, Turn.Slice, isOver))
      take()
      return most
    }), end)
