/** `pnpm test:suite long`: a thousand calls through faults; `N8N_MCP_SEED` is the first seed. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { all } from "../../support/faults.ts"
import { seed } from "../../support/seed.ts"
import { run } from "../../tools/faulty.ts"

const seeds = Array.from({ length: 1_000 }, (_, at) => seed() + at)

describe("a call through faults", () => {
  const seen = new Map<string, number>()
  const ended = { succeeded: 0, failed: 0, undisturbed: 0 }

  it.effect.each(seeds)("survives those of seed %i", (seed) =>
    Effect.map(run(seed), ({ kinds, succeeded }) => {
      ended[kinds.length === 0 ? "undisturbed" : succeeded ? "succeeded" : "failed"]++
      for (const kind of kinds) seen.set(kind, (seen.get(kind) ?? 0) + 1)
    }))

  it("met each kind many times, and both ways out", () => {
    process.stderr.write(`${JSON.stringify({ ...ended, ...Object.fromEntries(seen) })}\n`)
    for (const kind of all) assert.isAbove(seen.get(kind) ?? 0, 20, kind)
    assert.isAbove(ended.succeeded, 100)
    assert.isAbove(ended.failed, 100)
  })
})
