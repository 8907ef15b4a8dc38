/** The real Claude Code logs in at a real identity provider, and calls with what it gets. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { folderWith } from "../../support/folders.ts"
import * as IdentityProvider from "../../support/IdentityProvider.ts"
import { freePort } from "../../support/Process.ts"
import { ours, use } from "./calls.ts"
import * as ClaudeCode from "./ClaudeCode.ts"
import { claudeCodeMain, installed, options } from "./install.ts"
import * as Served from "./Served.ts"

layer(installed(claudeCodeMain), options)("Claude Code behind an identity provider", (it) => {
  it.effect("logs in, and is known by the person's name", () =>
    Effect.gen(function*() {
      const { issuer } = yield* IdentityProvider.start()
      const port = yield* freePort
      const served = yield* Served.startWith(
        ["--port", String(port), "--oauth-issuer", issuer, "--public-url", `http://127.0.0.1:${port}`],
        {}
      )
      const { shown, status } = yield* ClaudeCode.talk(yield* folderWith(), {
        prompt: "Look",
        turns: [() => [use("list_executions", { status: "error" })]],
        at: { url: served.url }
      })
      assert.strictEqual(status, "connected")
      assert.deepStrictEqual(ours(shown).map(({ isError }) => isError), [false])
      assert.match(served.stderr().join("\n"), /status=200.* subject=alice call=list_executions/)
    }))
})
