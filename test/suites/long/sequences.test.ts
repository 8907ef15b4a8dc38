/** `pnpm test:suite long`: long sequences of writes, compared with a model of what must exist. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { seed } from "../../support/seed.ts"
import { play } from "../../tools/sequences.ts"

const seeds = Array.from({ length: 60 }, (_, at) => seed(100) + at)

describe("sequences of forty writes", () => {
  const counts = new Map<string, number>()

  it.effect.each(seeds)(
    "leave what the model says (seed %i)",
    (seed) =>
      Effect.map(play(seed, { steps: 40, withFaults: seed % 3 !== 0 }), ({ told }) => {
        for (const line of told) {
          const [, name = "", outcome = ""] = /^\d+ ([^:]+):.*-> (\w+)$/.exec(line) ?? []
          for (const key of [name, outcome]) counts.set(key, (counts.get(key) ?? 0) + 1)
        }
      }),
    300_000
  )

  it("were of every kind, and some failed", () => {
    process.stderr.write(`${JSON.stringify(Object.fromEntries(counts))}\n`)
    const kinds = "create draft update rename tags delete publish unpublish save replace recreate restore"
    for (const kind of [...kinds.split(" "), "from file", "edit file", "edit add", "edit set", "Failure"]) {
      assert.isAbove(counts.get(kind) ?? 0, 5, kind)
    }
  })
})
