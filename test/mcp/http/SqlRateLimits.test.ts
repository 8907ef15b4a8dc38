import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { Database } from "../../../src/base/Database.ts"
import * as SqlRateLimits from "../../../src/mcp/http/SqlRateLimits.ts"
import * as TestTime from "../../support/TestTime.ts"

describe("limits in a database", () => {
  it.effect("delay no call for long while it hangs, and are requested again later", () =>
    Effect.gen(function*() {
      let asked = 0
      const hanging = Layer.succeed(Database, {
        run: () =>
          Effect.suspend(() => {
            asked++
            return Effect.never
          })
      })
      yield* Effect.gen(function*() {
        const limiter = yield* RateLimiter.make
        const consume = limiter.consume({ key: "alice", limit: 10, window: "1 hour", algorithm: "token-bucket" })
        const start = yield* Clock.currentTimeMillis
        yield* TestTime.measure(consume)
        const first = (yield* Clock.currentTimeMillis) - start
        assert.isAtMost(first, 1_100)
        for (let count = 0; count < 5; count++) yield* consume
        assert.strictEqual(asked, 1)
        yield* TestTime.measure(Effect.andThen(Effect.sleep("6 seconds"), consume))
        assert.strictEqual(asked, 2)
      }).pipe(Effect.provide(Layer.provide(SqlRateLimits.layerStore, hanging)))
    }))
})
