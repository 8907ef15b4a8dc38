import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as N8nApi from "../../../../../src/testing/n8nApi/N8nApi.ts"
import { folderWith, platform } from "../../../../support/folders.ts"
import { serve } from "../../../../support/HttpN8n.ts"
import { node, workflow } from "../../../../support/workflows.ts"
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
        assert.strictEqual(other.code, 0)
        assert.deepInclude(JSON.parse(other.stdout), { workflows: 0, ok: true, known: 0, findings: [] })
      }).pipe(Effect.scoped, Effect.provide(platform)),
    60_000
  )

  it.live(
    "reports only what is not in the baseline, and keeps there what it did not look for",
    () =>
      Effect.gen(function*() {
        const hook = (path: string) => node("Hook", "webhook", 2.1, { path })
        const { url } = yield* serve({
          workflows: [{ ...workflow("a", [hook("a")]), active: true }, { ...workflow("b", [hook("b")]), active: true }],
          executions: []
        } as unknown as N8nApi.Seed)
        const folder = yield* folderWith()
        const env = { N8N_URL: url.href, N8N_API_KEY: "k", XDG_STATE_HOME: yield* folderWith() }
        const file = `${folder}/audit.json`
        const audit = (...args: ReadonlyArray<string>) => auditing([...args, "--baseline", file, "--json"], env)
        const missing = yield* audit()
        assert.strictEqual(missing.code, 1)
        assert.include(missing.stderr, "--update-baseline writes it")
        const accepted = yield* audit("a", "--update-baseline")
        assert.strictEqual(accepted.code, 0)
        assert.deepInclude(JSON.parse(accepted.stdout), { workflows: 1, ok: true, errors: 0, findings: [], known: 2 })
        const others = yield* audit("--only", "open-webhook")
        assert.strictEqual(others.code, 2)
        const { findings: [finding, ...more] } = JSON.parse(others.stdout)
        assert.lengthOf(more, 0)
        assert.deepInclude(finding, {
          rule: "open-webhook",
          // As in check, which shares the rule.
          severity: "warning",
          workflow: "b",
          name: "b",
          details: ["Hook"]
        })
        assert.strictEqual((yield* audit("--only", "open-webhook", "--update-baseline")).code, 0)
        assert.strictEqual((yield* audit("--only", "open-webhook")).code, 0)
        // Those of the other checks are still known.
        const { stdout: rest } = yield* auditing(["--baseline", file], env)
        assert.notInclude(rest, "a (a)")
        assert.match(rest, /no-error-workflow \(1\)[^]*b \(b\)[^]*; 3 places known in the baseline\n$/)
        // What a person does, not the tools of a model.
        assert.include(rest, "effect-n8n-mcp edit")
        assert.notInclude(rest, "update_workflow")
      }).pipe(Effect.scoped, Effect.provide(platform)),
    60_000
  )
})
