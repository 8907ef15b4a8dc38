/** What a request must pass before it reaches a tool: whose it is, how often, and how many at once. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as RcMap from "effect/RcMap"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { Access, Known } from "./Access.ts"
import * as AccessLog from "./accessLog.ts"
import * as Refusal from "./refusal.ts"

/** Who may call, and how much. */
export interface Options {
  readonly access: Access
  /** Maximum calls of one token in a minute; `undefined` is no limit. */
  readonly callsPerMinute: number | undefined
  /** Maximum concurrent calls, all clients. */
  readonly maxInFlight: number
  /** Maximum concurrent calls of one token, so that it leaves places to the others; `maxInFlight` if absent. */
  readonly maxInFlightPerToken?: number
}

/** Callers without a valid token share one limit: they cannot be told apart, and guessing must not be fast. */
const strangers = "strangers"

/** `identify` says whose request it is; `admit` holds a place for it until its answer is sent. */
export const make = Effect.fnUntraced(
  function*({ access, callsPerMinute, maxInFlight, maxInFlightPerToken = maxInFlight }: Options) {
    const limiter = yield* RateLimiter.RateLimiter
    const places = yield* Semaphore.make(maxInFlight)
    /** One for each token with calls in flight: strangers do not come so far. */
    const placesOfTokens = yield* RcMap.make({ lookup: (_: string) => Semaphore.make(maxInFlightPerToken) })

    const count = (key: string, limit: number) =>
      limiter.consume({ key, limit, window: "1 minute", algorithm: "token-bucket" }).pipe(
        Effect.catch(({ reason }) =>
          reason._tag === "RateLimitExceeded"
            ? Effect.fail(Refusal.tooMany(Math.max(1, Math.ceil(Duration.toSeconds(reason.retryAfter))), limit))
            : Effect.die(reason)
        )
      )

    const take = (semaphore: Semaphore.Semaphore, refusal: Refusal.Refusal) =>
      Effect.acquireRelease(
        Effect.filterOrFail(semaphore.takeIfAvailable(1), identity, () => refusal),
        () => semaphore.release(1)
      )

    const admit = ({ key }: Known) =>
      Effect.andThen(
        Effect.flatMap(
          RcMap.get(placesOfTokens, key),
          (places) => take(places, Refusal.busy(maxInFlightPerToken))
        ),
        take(places, Refusal.busy(maxInFlight))
      )

    const identify = Effect.gen(function*() {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const known = yield* Effect.result(access(headers["authorization"]))
      const key = Result.isSuccess(known) ? known.success.key : strangers
      if (callsPerMinute !== undefined) yield* count(key, callsPerMinute)
      const caller = yield* Effect.fromResult(known)
      yield* AccessLog.note({ client: caller.client, subject: caller.subject })
      return caller
    })
    return { identify, admit }
  }
)
