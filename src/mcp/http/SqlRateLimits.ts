/** Rate limits across all processes that share a database. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { Database } from "../../base/Database.ts"
import { sha256 } from "../../base/Hash.ts"

/** Milliseconds for which a process counts on its own after the database did not answer. */
const pause = 5_000

/** Time limit of a database call, so that a hanging database does not delay every call. */
const patience = "1 second"

/** Token buckets in `n8n_mcp_limits`, by the database's clock; while it is down, each process counts alone. */
export const layerStore: Layer.Layer<RateLimiter.RateLimiterStore, never, Database> = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.gen(function*() {
    const database = yield* Database
    const own = yield* RateLimiter.RateLimiterStore
    let aloneUntil = 0

    const shared = ({ key, limit, refillRate, tokens }: Parameters<typeof own.tokenBucket>[0]) => {
      const rate = Duration.toMillis(refillRate)
      return database.run((sql) => {
        const now = sql`GREATEST(bucket.last_refill, extract(epoch FROM statement_timestamp())::float8 * 1000)`
        const intervals = sql`floor((${now} - bucket.last_refill) / ${rate}::float8)`
        const refilled = sql`LEAST(${limit}::float8, bucket.tokens + ${intervals})`
        return sql<{ readonly tokens: number; readonly elapsed: number; readonly taken: boolean }>`
          INSERT INTO n8n_mcp_limits AS bucket (key, tokens, last_refill, taken)
          VALUES (
            ${sha256(key)},
            ${limit}::float8 - ${tokens}::float8,
            extract(epoch FROM statement_timestamp())::float8 * 1000,
            true
          )
          ON CONFLICT (key) DO UPDATE SET
            taken = ${refilled} >= ${tokens}::float8,
            tokens = CASE WHEN ${refilled} >= ${tokens}::float8 THEN ${refilled} - ${tokens}::float8 ELSE ${refilled} END,
            last_refill = CASE
              WHEN ${refilled} >= ${limit}::float8 THEN ${now}
              ELSE bucket.last_refill + ${intervals} * ${rate}::float8
            END
          RETURNING bucket.tokens, bucket.taken,
            GREATEST(0, extract(epoch FROM statement_timestamp())::float8 * 1000 - bucket.last_refill) AS elapsed`
      }).pipe(
        Effect.map(([row]): readonly [number, number] =>
          row === undefined
            ? [limit - tokens, 0]
            : [row.taken ? row.tokens : row.tokens - tokens, Math.min(row.elapsed, rate - 1e-6)]
        )
      )
    }

    return {
      ...own,
      tokenBucket: (options) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          options.allowOverflow || now < aloneUntil
            ? own.tokenBucket(options)
            : Effect.catch(Effect.timeout(shared(options), patience), () =>
              Effect.flatMap(Clock.currentTimeMillis, (later) => {
                aloneUntil = later + pause
                return own.tokenBucket(options)
              })))
    }
  })
).pipe(Layer.provide(RateLimiter.layerStoreMemory))
