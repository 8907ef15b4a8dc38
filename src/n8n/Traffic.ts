/** Requests to n8n that a task sends, counted where they leave, each attempt for itself, and limited. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Semaphore from "effect/Semaphore"
import * as Errors from "../base/Errors.ts"

/** Requests of one task. */
export interface Traffic {
  readonly most: number
  readonly permits: Semaphore.Semaphore
  sent: number
  /** Milliseconds of the longest request. */
  slowest: number
  /** Bounds of the milliseconds by which n8n's clock is ahead, from the fastest dated answer. */
  clock?: { readonly least: number; readonly most: number }
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

/** Length of the second that a `Date` header names. */
const second = 1_000

/** Notes n8n's clock, or that of a proxy in front of it, as the `Date` header of an answer tells it. */
export const dated = <E, R>(send: Effect.Effect<HttpClientResponse.HttpClientResponse, E, R>): typeof send =>
  Current.use((traffic) =>
    traffic === undefined ? send : Effect.gen(function*() {
      const start = yield* Clock.currentTimeMillis
      const response = yield* send
      const end = yield* Clock.currentTimeMillis
      const { age, date } = response.headers
      const time = Date.parse(date ?? "")
      const clock = { least: time - end, most: time + second - start }
      const { least, most } = traffic.clock ?? { least: -Infinity, most: Infinity }
      // An answer with an age is a proxy's copy.
      if (age === undefined && clock.most - clock.least < most - least) traffic.clock = clock
      return response
    })
  )

/** Milliseconds by which n8n's clock is ahead, negative if behind; `undefined` if no answer tells or below 2 seconds. */
export const ahead = ({ clock }: Traffic): number | undefined => {
  if (clock === undefined || clock.least <= 0 && clock.most >= 0) return undefined
  const middle = Math.round((clock.least + clock.most) / 2)
  return Math.abs(middle) < 2 * second ? undefined : middle
}

const spent = ({ operation }: Errors.Target, most: number) =>
  new Errors.ValidationError({
    reason: `Cannot ${operation}: all ${most} requests of this task are sent`,
    hint: "It follows with the next requests."
  })

/** Counts an attempt to send a request, and refuses it when all are sent. */
export const counted =
  (target: Errors.Target) =>
  <A, E extends Errors.N8nError, R>(attempt: Effect.Effect<A, E, R>): Effect.Effect<A, E | Errors.ValidationError, R> =>
    Current.use((traffic) =>
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
      )
    )
