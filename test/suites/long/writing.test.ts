/** `pnpm test:suite long`: a thousand writes through many faults each; `N8N_MCP_SEED` is the first seed. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as faults from "../../support/faults.ts"
import { seed } from "../../support/seed.ts"
import { cases, played } from "../../support/writing.ts"

const seeds = Array.from({ length: 1_000 }, (_, at) => seed() + at)

describe("a writing path through faults", () => {
  const ended = { succeeded: 0, failed: 0 }

  it.effect.each(seeds)("loses, doubles and claims nothing (seed %i)", (seed) => {
    const one = cases[seed % cases.length]
    assert.isDefined(one)
    const wrong = faults.make(seed)
    return Effect.map(played(one, wrong), ({ problems, succeeded }) => {
      ended[succeeded ? "succeeded" : "failed"]++
      assert.deepStrictEqual(
        problems,
        [],
        `${one.version}, ${one.path.name}, ${one.state}: ${wrong.happened.join("; ")}`
      )
    })
  })

  it("succeeds and fails", () => {
    assert.isAbove(ended.succeeded, 100)
    assert.isAbove(ended.failed, 100)
  })
})
