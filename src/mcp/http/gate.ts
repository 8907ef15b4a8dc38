/** Gate in front of the tools: identity, rate limit and concurrency of callers. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Turn from "../../base/Turn.ts"
import type { Served } from "../McpTransport.ts"
import * as Access from "./Access.ts"
import * as AccessLog from "./accessLog.ts"
import * as Refusal from "./Refusal.ts"

/** Access, rate limit and concurrency of callers. */
export interface Options<C extends Access.Identity = Access.Identity> {
  /** Identifies the caller of a request, or refuses it: `Access.make(grants)`. Default: everyone may call. */
  readonly access?: Access.Access<C>
  /** Maximum calls per token and minute. Default: unlimited. */
  readonly callsPerMinute?: number | undefined
  /** Maximum concurrent calls of all clients. Default: 256. */
  readonly maxInFlight?: number
  /** Maximum concurrent calls per token. Default: `maxInFlight`. */
  readonly maxInFlightPerToken?: number
}

/** Key of all callers without a valid token: a shared limit slows down guessing. */
const strangers = "strangers"

const busy = (limit: number) =>
  Refusal.make(503, `${limit} calls are in flight already: call again in a moment.`, {
    headers: { "retry-after": "1" }
  })

const tooMany = (limit: number, retryAfter: Duration.Duration) => {
  const seconds = String(Math.max(1, Math.ceil(Duration.toSeconds(retryAfter))))
  return Refusal.make(429, `More than ${limit} calls in a minute: call again in ${seconds} s.`, {
    headers: { "retry-after": seconds }
  })
}

/** Refuses calls of tools that change something if the token only allows reading: the client can request another token. */
export const checkScope = (
  { list }: Pick<Served, "list">,
  { writeRefusal, ...caller }: Access.Identity,
  tool: unknown
): Effect.Effect<void, Refusal.Refusal> =>
  writeRefusal === undefined ? Effect.void : Effect.flatMap(list({ ...caller, readOnly: false }), (tools) => {
    const isWrite = tools.some(({ annotations, name }) => name === tool && !annotations.readOnlyHint)
    return isWrite ? Effect.fail(writeRefusal) : Effect.void
  })

/** Makes the gate: `identify` returns the caller of a request; `admit` counts it as in flight and returns its turns. */
export const make = Effect.fnUntraced(
  function*(options: Options) {
    const { access = Access.make([]), callsPerMinute, maxInFlight = 256, maxInFlightPerToken = maxInFlight } = options
    const limiter = yield* RateLimiter.RateLimiter

    const count = (key: string, limit: number) =>
      limiter.consume({ key, limit, window: "1 minute", algorithm: "token-bucket" }).pipe(
        Effect.catch(({ reason }) =>
          reason._tag === "RateLimitExceeded" ? Effect.fail(tooMany(limit, reason.retryAfter)) : Effect.die(reason)
        )
      )

    const inFlight = new Map<string, number>()
    let all = 0
    const turns = Turn.make()
    const release = (key: string) =>
      Effect.sync(() => {
        const left = (inFlight.get(key) ?? 1) - 1
        if (left === 0) inFlight.delete(key)
        else inFlight.set(key, left)
        all -= 1
      })
    const admit = ({ key }: Access.Identity) =>
      // Cheaper than `acquireRelease`, whose release has the whole context of the call.
      Effect.uninterruptible(Scope.Scope.use((scope): Effect.Effect<Effect.Effect<void>, Refusal.Refusal> => {
        const own = inFlight.get(key) ?? 0
        if (own >= maxInFlightPerToken) return Effect.fail(busy(maxInFlightPerToken))
        if (all >= maxInFlight) return Effect.fail(busy(maxInFlight))
        inFlight.set(key, own + 1)
        all += 1
        // A single caller does not wait for turns.
        const turn = Effect.suspend(() => inFlight.size > 1 ? turns(key) : Effect.void)
        return Effect.as(Scope.addFinalizer(scope, release(key)), turn)
      }))

    const identify = Effect.gen(function*() {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const result = yield* Effect.result(access(headers["authorization"]))
      const key = Result.isSuccess(result) ? result.success.key : strangers
      if (callsPerMinute !== undefined) yield* count(key, callsPerMinute)
      const caller = yield* Effect.fromResult(result)
      yield* AccessLog.note({ client: caller.client, subject: caller.subject })
      return caller
    })
    return { identify, admit }
  }
)
