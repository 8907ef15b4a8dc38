/** Requests to n8n that a task sends, counted where they leave, each attempt for itself, and limited. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as Errors from "../base/Errors.ts"

/** Requests of one task. */
export interface Traffic {
  readonly most: number
  readonly permits: Semaphore.Semaphore
  sent: number
  /** Milliseconds of the longest request. */
  slowest: number
}

/** Traffic of the current task; not counted or limited by default. */
export const Current = Context.Reference<Traffic | undefined>("effect-n8n-mcp/Traffic", {
  defaultValue: () => undefined
})

/** Traffic with a maximum number of requests, in total and at a time. */
export const make = (most: number, concurrency: number): Traffic => ({
  most,
  permits: Semaphore.makeUnsafe(concurrency),
  sent: 0,
  slowest: 0
})

/** Number of requests that are left. */
export const left = ({ most, sent }: Traffic): number => most - sent

const spent = ({ operation }: Errors.Target, most: number) =>
  new Errors.ValidationError({
    reason: `Cannot ${operation}: all ${most} requests of this task are sent`,
    hint: "It follows with the next requests."
  })

/** Counts an attempt to send a request, and refuses it when all are sent. */
export const counted =
  (target: Errors.Target) =>
  <A, E extends Errors.N8nError, R>(attempt: Effect.Effect<A, E, R>): Effect.Effect<A, E | Errors.ValidationError, R> =>
    Effect.flatMap(Current, (traffic) =>
      traffic === undefined ? attempt : traffic.permits.withPermits(1)(
        Effect.gen(function*() {
          if (left(traffic) <= 0) return yield* spent(target, traffic.most)
          traffic.sent++
          const start = yield* Clock.currentTimeMillis
          return yield* Effect.ensuring(
            attempt,
            Effect.map(
              Clock.currentTimeMillis,
              (now) => void (traffic.slowest = Math.max(traffic.slowest, now - start))
            )
          )
        })
      ))
