import { it } from "@effect/vitest"
import { run, scenarios } from "./faulty.ts"

// One of each, by other seeds than those of `pnpm test:suite long`, which has a thousand.
const seeds = Array.from(scenarios, (_, at) => at + scenarios.length * (1_000 + 7 * at))

it.effect.each(seeds)("a call survives the faults of seed %i", (seed) => run(seed))
