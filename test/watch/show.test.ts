import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as tools from "../../src/tools/index.ts"
import * as week from "./week.ts"
it.effect("show", () =>
  Effect.gen(function*() {
    const world = week.make(week.november)
    yield* week.simulate(world)
    const answer = yield* tools.instanceOverview.run({ since: "7d" })
    console.log(JSON.stringify(answer, undefined, 1), countTokens(JSON.stringify(answer)))
  }).pipe(Effect.provide(week.layer)))
