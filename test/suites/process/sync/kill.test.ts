import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { platform } from "../../../support/folders.ts"
import { killing } from "../../../sync/killing.ts"

describe("a pull or push that is killed", () => {
  it.live("leaves everything intact, and the next one continues", () =>
    Effect.gen(function*() {
      // `pnpm test:suite long` kills twenty, and asserts that most of them were in the midst of work.
      yield* killing(2)
    }).pipe(Effect.scoped, Effect.provide(platform)))
})
