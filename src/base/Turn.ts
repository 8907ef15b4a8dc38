/** Fair use of the processor: turns of concurrent callers, and pauses within long work. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Waits for the caller's turn before processor-intensive work. By default without waiting. */
export const Turn = Context.Reference<Effect.Effect<void>>("effect-n8n-mcp/Turn", { defaultValue: () => Effect.void })

export const wait: Effect.Effect<void> = Effect.withFiber((fiber) => fiber.getRef(Turn))

/** Milliseconds of work after which others get a turn: a ping waits for a few slices at most. */
const sliceMillis = 10

/** Whether the current slice has passed; the next one begins then. */
const hasPassed = () => {
  let end = 0
  return () => {
    const now = performance.now()
    if (now < end) return false
    end = now + sliceMillis
    return true
  }
}

/** Whether work has to pause now; one slice for the whole process. */
export const Slice = Context.Reference<() => boolean>("effect-n8n-mcp/Turn/Slice", { defaultValue: hasPassed })

const pauseNow = Effect.andThen(Effect.yieldNow, wait)

/** Lets others run if the slice has passed: between two passes over a large value. */
export const pause: Effect.Effect<void> = Effect.withFiber((fiber) => fiber.getRef(Slice)() ? pauseNow : Effect.void)

/** Pure work that can pause wherever it yields: after every element whose number a caller decides. */
export type Steps<A> = Generator<undefined, A>

/** Runs work and lets others run between its steps. */
export const run = <A>(work: () => Steps<A>): Effect.Effect<A> =>
  Effect.withFiber((fiber) => {
    const isOver = fiber.getRef(Slice)
    const steps = work()
    const goOn = (): Effect.Effect<A> => {
      for (;;) {
        const step = steps.next()
        if (step.done === true) return Effect.succeed(step.value)
        if (isOver()) return Effect.flatMap(pauseNow, goOn)
      }
    }
    return goOn()
  })

/** Runs work without pauses. */
export const finish = <A>(steps: Steps<A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The results for all items, one step each. */
export const flatMap = function*<A, B>(
  items: Iterable<A>,
  change: (item: A) => ReadonlyArray<B> | Steps<ReadonlyArray<B>>
): Steps<ReadonlyArray<B>> {
  const all: Array<B> = []
  for (const item of items) {
    const results = change(item)
    for (
      const result of Array.isArray(results)
        ? results as ReadonlyArray<B>
        : yield* results as Steps<ReadonlyArray<B>>
    ) all.push(result)
    yield
  }
  return all
}

/** Turns of many callers: in each turn of the event loop every caller gets one, however many calls it has. */
export const make = (): (caller: string) => Effect.Effect<void> => {
  const waiting = new Map<string, Array<() => void>>()
  const next = () => {
    const now = [...waiting].flatMap(([caller, all]) => {
      const first = all.shift()
      if (all.length === 0) waiting.delete(caller)
      return first ?? []
    })
    if (waiting.size > 0) setImmediate(next)
    for (const goOn of now) goOn()
  }
  return (caller) =>
    Effect.callback((resume) => {
      if (waiting.size === 0) setImmediate(next)
      const goOn = () => resume(Effect.void)
      const all = waiting.get(caller)
      if (all === undefined) waiting.set(caller, [goOn])
      else all.push(goOn)
      // Cancelled callers stay queued; their turn is a no-op.
    })
}
