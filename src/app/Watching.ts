/** Rounds of a watch: a poll, the delivery of its incidents, and the time of the next one. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Watch from "../watch/Watch.ts"

/** Time that a delivery has to end after a signal; the process ends within a second. */
const grace = "700 millis"

export interface Round {
  readonly report: Watch.Report
  /** Reason why the incidents were not delivered: they are in the next report again. */
  readonly failure?: string
}

/** Polls, and delivers. An interruption during the delivery lets it end, so that its incidents are not sent twice. */
export const round = Effect.fnUntraced(function*<R>(
  options: Watch.Options,
  deliver: (report: Watch.Report) => Effect.Effect<void, string, R>
) {
  return yield* Effect.uninterruptibleMask(Effect.fnUntraced(function*(restore) {
    const report = yield* restore(Watch.poll(options))
    const delivery = yield* Effect.forkDetach(Effect.interruptible(deliver(report)))
    const result = yield* restore(Fiber.await(delivery)).pipe(
      Effect.onInterrupt(() =>
        Fiber.await(delivery).pipe(
          Effect.timeoutOption(grace),
          Effect.flatMap((exit) => Watch.settle(report, exit._tag === "Some" && Exit.isSuccess(exit.value))),
          Effect.ignore
        )
      )
    )
    yield* Watch.settle(report, Exit.isSuccess(result))
    const error = Exit.findErrorOption(result)
    return { report, ...(error._tag === "None" ? {} : { failure: error.value }) } satisfies Round as Round
  }))
})

/** Part of an interval in which no round starts, so that an early or late timer stays in its time slot. */
const margin = 0.1

/**
 * Repeats a round until it returns `true`.
 *
 * Rounds start at the same place of each interval, which is that of the first start: intervals do not drift, and the
 * rounds of several watchers, and of n8n's own schedules, do not meet.
 */
export const repeat = Effect.fnUntraced(function*<E, R>(
  every: number,
  run: Effect.Effect<{ readonly isOver: boolean; readonly nextAfterMs: number }, E, R>
) {
  const first = yield* Clock.currentTimeMillis
  const place = Math.min(Math.max(first % every, margin * every), (1 - margin) * every)
  for (;;) {
    const { isOver, nextAfterMs } = yield* run
    if (isOver) return
    const now = yield* Clock.currentTimeMillis
    const due = now + nextAfterMs
    const start = due - due % every + place
    yield* Effect.sleep(start > now ? start - now : start + every - now)
  }
})
