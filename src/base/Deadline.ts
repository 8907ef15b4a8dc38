/** Deadlines of calls: clients give up after a minute, and the model then gets no answer. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { CallContext } from "./CallContext.ts"
import * as Errors from "./Errors.ts"

/** Milliseconds from the start of a call to its answer, in any case. */
export const callMillis = 49_000

/** Milliseconds before the deadline at which requests to n8n end, so that their outcome can be reported. */
const reserve = 4_000

/** Minimum milliseconds for a request, however late it is sent, within {@link reserve}. */
const leastRequest = 3_500

/** Interval at which a moving bound is checked. */
const step = 10_000

export interface Deadline {
  /** End in milliseconds of the clock; moves when the call is granted more time. */
  until: number
  /** Description of what the call waits for, for the error. */
  waitingFor: Errors.Target | undefined
}

/** Deadline of the current call; none unless a transport runs it. */
export const Current = Context.Reference<Deadline | undefined>("effect-n8n-mcp/Deadline", {
  defaultValue: () => undefined
})

/** An action at a moment that may move later meanwhile. */
interface Alarm {
  readonly at: () => number
  readonly ring: () => void
}

/** All alarms of a clock, for which one fiber waits: each call has one, and each of its requests. */
class Alarms {
  private readonly all = new Set<Alarm>()
  /** Moment at which the fiber looks again; `undefined` if no one waits. */
  private next: number | undefined
  private waiting: Fiber.Fiber<void> | undefined
  private readonly wait: Effect.Effect<void>

  constructor(clock: Clock.Clock) {
    this.wait = Effect.suspend(() => {
      const now = clock.currentTimeMillisUnsafe()
      for (const alarm of this.all) {
        if (alarm.at() > now) continue
        this.all.delete(alarm)
        alarm.ring()
      }
      const next = Math.min(now + step, ...Array.from(this.all, ({ at }) => at()))
      this.next = this.all.size === 0 ? undefined : next
      return this.next === undefined
        ? Effect.void
        : Effect.andThen(clock.sleep(Duration.millis(next - now)), this.wait)
    })
  }

  /** Sets an alarm; returns what turns it off. */
  set(alarm: Alarm): () => void {
    this.all.add(alarm)
    if (this.next === undefined || alarm.at() < this.next) this.restart()
    return () => {
      if (this.all.delete(alarm) && this.all.size === 0) this.stop()
    }
  }

  private restart() {
    this.stop()
    this.waiting = Effect.runFork(this.wait)
  }

  private stop() {
    this.next = undefined
    this.waiting?.interruptUnsafe()
  }
}

const alarms = new WeakMap<Clock.Clock, Alarms>()

const alarmsOf = (clock: Clock.Clock) => {
  const known = alarms.get(clock) ?? new Alarms(clock)
  alarms.set(clock, known)
  return known
}

/** Runs an effect; at a moment that may move meanwhile, `orElse` decides with its interruption. Cheaper than a race. */
export const before = <A, E, R, E2>(
  effect: Effect.Effect<A, E, R>,
  until: () => number,
  orElse: (interrupt: Effect.Effect<void>) => Effect.Effect<never, E2>
): Effect.Effect<A, E | E2, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber): Effect.Effect<A, E | E2> => {
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return exit
      const interrupt = Fiber.interrupt(fiber)
      const ended = Clock.Clock.use((clock) =>
        Effect.callback<A, E | E2>((resume) => {
          const turnOff = alarmsOf(clock).set({ at: until, ring: () => resume(orElse(interrupt)) })
          fiber.addObserver((exit) => {
            turnOff()
            resume(exit)
          })
          return Effect.sync(turnOff)
        })
      )
      return Effect.onInterrupt(restore(ended), () => interrupt)
    })
  )

const late = ({ waitingFor }: Deadline, millis: number, mayWrite: boolean) =>
  new Errors.ApiError({
    ...Errors.targetFields(waitingFor ?? { operation: "answer the call" }),
    reason: Errors.timeout(millis),
    hint: mayWrite
      ? "n8n is slow or stuck. What was being written may have taken effect: read it before you write again."
      : "n8n is slow or stuck: request less in one call, or check its log."
  })

/** Ends a call with an `ApiError` at its deadline; its cleanup continues in the background with its own limits. */
export const bounded = <A, E, R>(
  call: Effect.Effect<A, E, R>,
  mayWrite: boolean
): Effect.Effect<A, E | Errors.ApiError, R> =>
  Effect.flatMap(Clock.currentTimeMillis, (start) => {
    const deadline: Deadline = { until: start + callMillis, waitingFor: undefined }
    const tooLate = Effect.flatMap(
      Clock.currentTimeMillis,
      (now) => Effect.fail(late(deadline, now - start, mayWrite))
    )
    return before(
      Effect.provideService(call, Current, deadline),
      () => deadline.until,
      (interrupt) => Effect.andThen(Effect.forkDetach(interrupt), tooLate)
    )
  })

/** Milliseconds left for requests of the call; `Infinity` without a deadline. */
export const left: Effect.Effect<number> = Current.use((deadline) =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) => deadline === undefined ? Infinity : Math.max(0, deadline.until - reserve - now)
  )
)

/** Runs cleanup with a time limit of its own, in seconds. */
export const renewed = (seconds: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    Clock.currentTimeMillis,
    (now) => Effect.provideService(effect, Current, { until: now + seconds * 1000 + reserve, waitingFor: undefined })
  )

/** Grants the call more milliseconds from now, on request or because its caller receives progress. */
export const grant = (millis: number): Effect.Effect<void> =>
  Effect.gen(function*() {
    const deadline = yield* Current
    if (deadline === undefined) return
    deadline.until = Math.max(deadline.until, (yield* Clock.currentTimeMillis) + millis + reserve)
  })

/** Grants the call more milliseconds from now if its caller receives progress. */
export const grantIfHeard = (millis: number): Effect.Effect<void> =>
  Effect.flatMap(CallContext, ({ hearsProgress }) => hearsProgress ? grant(millis) : Effect.void)

/** Excludes the time that the user takes to answer. */
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

/** Ends the description of what the call waits for. */
export const answered: Effect.Effect<void> = Current.useSync((deadline) => {
  if (deadline !== undefined) deadline.waitingFor = undefined
})

/** End of a request that starts now and may take this many seconds; moves with the end of the call. */
export const request = (target: Errors.Target, seconds: number): Effect.Effect<() => number> =>
  Current.use((deadline) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (deadline !== undefined) deadline.waitingFor = target
      return () =>
        Math.min(
          now + seconds * 1000,
          deadline === undefined ? Infinity : Math.max(deadline.until - reserve, now + leastRequest)
        )
    })
  )
