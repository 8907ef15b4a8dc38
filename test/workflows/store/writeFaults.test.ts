import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { atEachRequest, cases, played } from "../../support/writing.ts"

describe("a writing path through a fault of each of its requests", () => {
  for (const one of cases) {
    it.effect(
      `n8n ${one.version}, ${one.path.name}, ${one.state}: nothing lost, nothing twice, nothing claimed`,
      () => Effect.map(atEachRequest(one, played), (problems) => assert.deepStrictEqual(problems, [])),
      60_000
    )
  }
})
