/** What a request must pass before it reaches a tool: whose it is, how often, and how many at once. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type { Access } from "./Access.ts"
import * as AccessLog from "./AccessLog.ts"
import * as Refusal from "./Refusal.ts"

/** What the gate is told. */
export interface Options {
  readonly access: Access
  /** Calls of one token in a minute; any number unless given. */
  readonly callsPerMinute: number | undefined
  /** Calls at once, of everybody. */
  readonly maxInFlight: number
}

/** All who bring no valid token share one limit: they cannot be told apart, and guessing must not be fast. */
const strangers = "strangers"

/** `enter` lets a request in until its answer is sent, and tells whose it is. */
export const make = Effect.fnUntraced(function*({ access, callsPerMinute, maxInFlight }: Options) {
  const limiter = yield* RateLimiter.RateLimiter
  let inFlight = 0

  const count = (key: string, limit: number) =>
    limiter.consume({ key, limit, window: "1 minute", algorithm: "token-bucket" }).pipe(
      Effect.catch(({ reason }) =>
        reason._tag === "RateLimitExceeded"
          ? Effect.fail(Refusal.tooMany(Math.max(1, Math.ceil(Duration.toSeconds(reason.retryAfter))), limit))
          : Effect.die(reason)
      )
    )

  const admit = Effect.acquireRelease(
    Effect.suspend(() => {
      if (inFlight >= maxInFlight) return Effect.fail(Refusal.busy(maxInFlight))
      inFlight += 1
      return Effect.void
    }),
    () => Effect.sync(() => void (inFlight -= 1))
  )

  const enter = Effect.gen(function*() {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const caller = access(headers["authorization"])
    if (callsPerMinute !== undefined) yield* count(caller?.key ?? strangers, callsPerMinute)
    if (caller === undefined) return yield* Effect.fail(Refusal.unauthorized(headers["authorization"] !== undefined))
    yield* admit
    const entry = yield* AccessLog.CurrentEntry
    entry.client = caller.client
    return caller
  })
  return { enter }
})
