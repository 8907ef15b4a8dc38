/** Retries of requests to n8n. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Schedule from "effect/Schedule"
import * as Errors from "../base/Errors.ts"
import * as HttpErrors from "./HttpErrors.ts"

/** Three retries after 200, 400 and 800 ms, each with 20 % jitter. */
export const retrySchedule: Schedule.Schedule<unknown, Errors.N8nError> = Schedule.exponential("200 millis").pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 3 }),
  Schedule.setInputType<Errors.N8nError>()
)

/** The longest `Retry-After` that is honoured, in milliseconds; a longer one fails the call. */
const maxRetryAfter = 30_000

/** The wait that `Retry-After` asks for, in milliseconds; the header has seconds or a date. */
const retryAfter = (error: HttpClientError.HttpClientError, now: number): number => {
  const header = error.response?.headers["retry-after"]
  if (header === undefined) return 0
  const seconds = Number(header)
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now
  return Number.isFinite(wait) ? Math.max(0, wait) : 0
}

const isTransient = (error: HttpClientError.HttpClientError): boolean => {
  const { reason } = error
  if (reason._tag === "StatusCodeError") return Errors.transientStatuses.has(reason.response.status)
  // A body that cannot be decoded was cut off with its connection.
  return reason._tag === "DecodeError" || reason._tag === "TransportError" && !HttpErrors.isPermanent(error)
}

/** Whether the failure means that nothing happened, so that even a write may be retried. */
const hadNoEffect = (error: HttpClientError.HttpClientError): boolean =>
  error.reason._tag === "StatusCodeError"
    ? error.reason.response.status === 429 || error.reason.response.status === 503
    : HttpErrors.transportCode(error) === "ECONNREFUSED"

/**
 * Repeats an attempt that fails until `until`, in milliseconds of the clock; `last` returns the latest failure worth a
 * retry. The schedule begins with the first failure: most attempts have none.
 */
export const retrying = (
  schedule: Schedule.Schedule<unknown, Errors.N8nError> = retrySchedule,
  last: () => HttpClientError.HttpClientError | undefined,
  isWrite: boolean,
  until: () => number
) =>
<A, R>(attempt: Effect.Effect<A, Errors.N8nError, R>): Effect.Effect<A, Errors.N8nError, R> => {
  const pause = (error: HttpClientError.HttpClientError | undefined, now: number) =>
    error === undefined ? 0 : retryAfter(error, now)
  const policy = () =>
    schedule.pipe(
      Schedule.while(({ now }) => {
        const error = last()
        if (error === undefined || !isTransient(error) || isWrite && !hadNoEffect(error)) return false
        const wait = pause(error, now)
        return wait <= maxRetryAfter && now + wait < until()
      }),
      Schedule.modifyDelay(({ duration, now }) =>
        Effect.succeed(Duration.max(duration, Duration.millis(pause(last(), now))))
      )
    )
  return Effect.catch(attempt, (error) => {
    let next: typeof attempt = Effect.fail(error)
    return Effect.retry(
      Effect.suspend(() => {
        const current = next
        next = attempt
        return current
      }),
      policy()
    )
  })
}
