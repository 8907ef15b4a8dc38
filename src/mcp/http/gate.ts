/** What a request must pass before it reaches a tool: whose it is, how often, and how many at once. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Result from "effect/Result"
import * as Turn from "../../base/Turn.ts"
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

/** `identify` says whose request it is; `admit` holds a place for it until its answer is sent, and gives its turns. */
export const make = Effect.fnUntraced(
  function*({ access, callsPerMinute, maxInFlight, maxInFlightPerToken = maxInFlight }: Options) {
    const limiter = yield* RateLimiter.RateLimiter

    const count = (key: string, limit: number) =>
      limiter.consume({ key, limit, window: "1 minute", algorithm: "token-bucket" }).pipe(
        Effect.catch(({ reason }) =>
          reason._tag === "RateLimitExceeded"
            ? Effect.fail(Refusal.tooMany(Math.max(1, Math.ceil(Duration.toSeconds(reason.retryAfter))), limit))
            : Effect.die(reason)
        )
      )

    /** Calls in flight, of each token. */
    const inFlight = new Map<string, number>()
    let all = 0
    const turns = Turn.make()
    /** Alone, a caller goes on at once. */
    const turnOf = (key: string) => Effect.suspend(() => inFlight.size > 1 ? turns(key) : Effect.void)

    const admit = ({ key }: Known) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          const own = inFlight.get(key) ?? 0
          if (own >= maxInFlightPerToken) return Effect.fail(Refusal.busy(maxInFlightPerToken))
          if (all >= maxInFlight) return Effect.fail(Refusal.busy(maxInFlight))
          inFlight.set(key, own + 1)
          all += 1
          return Effect.succeed(turnOf(key))
        }),
        () =>
          Effect.sync(() => {
            const left = (inFlight.get(key) ?? 1) - 1
            if (left === 0) inFlight.delete(key)
            else inFlight.set(key, left)
            all -= 1
          })
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
