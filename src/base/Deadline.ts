/** By when a call has to be answered: clients give up after a minute, and then the model learns nothing. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { CallContext } from "./CallContext.ts"
import * as Errors from "./Errors.ts"

/** Milliseconds from the beginning of a call to its answer, whatever is in the way. */
export const callMillis = 49_000

/** Before that, requests to n8n end: what they came to has still to be told. */
const reserve = 4_000

/** What a request gets however late it is sent, within {@link reserve}. */
const leastRequest = 3_500

/** How often it is looked whether a bound has moved. */
const step = 10_000

/** One call's time. */
export interface Deadline {
  /** When it is up, in milliseconds of the clock; moves when the call is granted more. */
  until: number
  /** What the call waits for, for the error that says so. */
  waitingFor: Errors.Target | undefined
}

/** The deadline of the call that runs; none unless a transport runs it. */
export const Current = Context.Reference<Deadline | undefined>("effect-n8n-mcp/Deadline", {
  defaultValue: () => undefined
})

/** Ends when the moment has come, which may move meanwhile. */
const passed = (until: () => number): Effect.Effect<void> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const left = until() - now
    return left <= 0 ? Effect.void : Effect.andThen(Effect.sleep(Math.min(left, step)), passed(until))
  })

/** Runs until the moment has come, which may move meanwhile; then it is interrupted. */
export const before = <A, E, R, E2>(
  effect: Effect.Effect<A, E, R>,
  until: () => number,
  orElse: () => Effect.Effect<never, E2>
): Effect.Effect<A, E | E2, R> => Effect.raceFirst(effect, Effect.flatMap(passed(until), orElse))

const late = ({ waitingFor }: Deadline, seconds: number, mayWrite: boolean) =>
  new Errors.ApiError({
    ...Errors.targetFields(waitingFor ?? { operation: "answer the call" }),
    reason: "Timeout",
    errorDetails: `no answer within ${seconds} s`,
    hint: mayWrite
      ? "n8n is slow or stuck. What was being written may have taken effect: read it before you write again."
      : "n8n is slow or stuck: ask for less at once, or look at its log."
  })

/**
 * Gives a call its time: an `ApiError` when it is up.
 *
 * **Details**
 *
 * The error does not wait for what the call has to put in order (a test copy to remove); that goes on behind it, within
 * bounds of its own. A caller that gives up waits for it.
 */
export const bounded = <A, E, R>(
  call: Effect.Effect<A, E, R>,
  mayWrite: boolean
): Effect.Effect<A, E | Errors.ApiError, R> =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    const deadline: Deadline = { until: start + callMillis, waitingFor: undefined }
    const tooLate = Effect.flatMap(
      Clock.currentTimeMillis,
      (now) => Effect.fail(late(deadline, Math.round((now - start) / 1000), mayWrite))
    )
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const fiber = yield* Effect.forkDetach(Effect.provideService(restore(call), Current, deadline))
        const interrupt = Effect.forkDetach(Fiber.interrupt(fiber))
        return yield* restore(
          before(Fiber.join(fiber), () => deadline.until, () => Effect.andThen(interrupt, tooLate))
        ).pipe(Effect.onInterrupt(() => Fiber.interrupt(fiber)))
      })
    )
  })

/** Milliseconds that are left to the call for requests; `Infinity` if it has no deadline. */
export const left: Effect.Effect<number> = Effect.flatMap(Current, (deadline) =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) => deadline === undefined ? Infinity : Math.max(0, deadline.until - reserve - now)
  ))

/** Gives what has to be done whatever happens a time of its own, in seconds. */
export const renewed = (seconds: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    Clock.currentTimeMillis,
    (now) => Effect.provideService(effect, Current, { until: now + seconds * 1000 + reserve, waitingFor: undefined })
  )

/** Grants the call so much time from now, in milliseconds: it was asked for, or its caller is told how far it has come. */
export const grant = (millis: number): Effect.Effect<void> =>
  Effect.gen(function*() {
    const deadline = yield* Current
    if (deadline === undefined) return
    deadline.until = Math.max(deadline.until, (yield* Clock.currentTimeMillis) + millis + reserve)
  })

/** Grants the call so much time from now, in milliseconds, if its caller is told how far it has come. */
export const grantIfHeard = (millis: number): Effect.Effect<void> =>
  Effect.flatMap(CallContext, ({ hearsProgress }) => hearsProgress ? grant(millis) : Effect.void)

/** Does not count the time that a person takes. */
export const paused = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const deadline = yield* Current
    if (deadline === undefined) return yield* effect
    const left = deadline.until - (yield* Clock.currentTimeMillis)
    deadline.until = Infinity
    return yield* Effect.ensuring(
      effect,
      Effect.map(Clock.currentTimeMillis, (now) => void (deadline.until = now + left))
    )
  })

/** Nothing is waited for any more. */
export const answered: Effect.Effect<void> = Effect.map(Current, (deadline) => {
  if (deadline !== undefined) deadline.waitingFor = undefined
})

/** The end of a request that begins now and may take so many seconds, and how many it then has. */
export const request = (target: Errors.Target, seconds: number) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const deadline = yield* Current
    if (deadline !== undefined) deadline.waitingFor = target
    return () =>
      Math.min(
        now + seconds * 1000,
        deadline === undefined ? Infinity : Math.max(deadline.until - reserve, now + leastRequest)
      )
  })
