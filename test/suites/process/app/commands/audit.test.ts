import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { folderWith, platform } from "../../../../support/folders.ts"
import { serve } from "../../../../support/HttpN8n.ts"
import { auditing } from "./auditing.ts"

describe("audit", () => {
  it.live(
    "exits with 1 if n8n refused what was requested, and with 0 if it was not requested",
    () =>
      Effect.gen(function*() {
        const { url } = yield* serve({ workflows: [], executions: [] }, {
          before: ({ url }) =>
            Effect.sync(() =>
              url.endsWith("/audit") ? Response.json({ message: "Forbidden" }, { status: 403 }) : undefined
            )
        })
        const env = { N8N_URL: url.href, N8N_API_KEY: "k", XDG_STATE_HOME: yield* folderWith() }
        const refused = yield* auditing(["--only", "n8n", "--json"], env)
        assert.strictEqual(refused.code, 1)
        assert.deepInclude(JSON.parse(refused.stdout), { ok: false, incomplete: true, findings: [] })
        const whole = yield* auditing([], env)
        assert.strictEqual(whole.code, 1)
        assert.include(whole.stdout, "securityAudit:generate")
        const other = yield* auditing(["--only", "literal-secret", "--json"], env)
        assert.deepStrictEqual([other.code, JSON.parse(other.stdout)], [0, { workflows: 0, ok: true, findings: [] }])
      }).pipe(Effect.scoped, Effect.provide(platform)),
    60_000
  )
})
