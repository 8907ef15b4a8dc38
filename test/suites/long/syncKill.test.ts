/** `pnpm test:suite long`: pulls and pushes are killed at random moments. `N8N_MCP_KILLS` is how often (default: 20). */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { platform } from "../../support/folders.ts"
import { killing } from "../../sync/killing.ts"

const kills = Number(process.env["N8N_MCP_KILLS"] ?? 20)

describe("a pull or push that is killed", () => {
  it.live("leaves everything intact, and the next one continues", () =>
    Effect.gen(function*() {
      const interrupted = yield* killing(kills)
      process.stderr.write(`${kills} kills, ${interrupted} of them in the midst of work\n`)
      // Else they came too late.
      assert.isAbove(interrupted, kills / 4)
    }).pipe(Effect.scoped, Effect.provide(platform)), 900_000)
})
