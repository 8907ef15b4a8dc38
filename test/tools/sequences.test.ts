import { describe, it } from "@effect/vitest"
import { play } from "./sequences.ts"

const seeds = [1, 2, 3, 4, 5, 6, 7, 8]

describe("the state after each of many writes equals the model's", () => {
  it.effect.each(seeds)("where nothing is wrong (seed %i)", (seed) => play(seed, { steps: 20, withFaults: false }))

  it.effect.each(seeds)("through faults (seed %i)", (seed) => play(seed, { steps: 20, withFaults: true }))
})
