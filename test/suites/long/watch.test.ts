/** `pnpm test:suite long`: a whole day of a mixed instance, watched once a minute. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { seed } from "../../support/seed.ts"
import { watchDay } from "../../watch/simulation.ts"

const seeds = Array.from({ length: 3 }, (_, at) => seed(7) + at)

it.effect.each(seeds)(
  "a day has no false alarm and names each cause once (seed %i)",
  (seed) =>
    Effect.map(watchDay(seed, 24), ({ causes, failed, others, perPoll, unknown }) => {
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(unknown, [])
      assert.deepStrictEqual(failed, causes)
      assert.isAtMost(perPoll, 3)
    }),
  300_000
)
