import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeN8n from "../../../../../src/testing/FakeN8n.ts"
import type { Health } from "../../../../../src/watch/Health.ts"
import { runIn } from "../../../../support/inProcess.ts"
import { folderWith, platform } from "../../../../support/folders.ts"
import { serve } from "../../../../support/HttpN8n.ts"
import { main as link, node, workflow } from "../../../../support/workflows.ts"

const orders = workflow("Orders <!channel>", [node("Call", "webhook", 2), node("Pay", "code", 2)], {
  id: "orders",
  active: true,
  connections: { Call: link("Pay") }
})

describe("health", () => {
  it.live(
    "exits with 0 if nothing went wrong, 2 if there are incidents, and 1 if it could not look",
    () =>
      Effect.gen(function*() {
        const { api, url } = yield* serve({ workflows: [orders], executions: [] })
        const folder = yield* folderWith()
        const env = { N8N_URL: url.href, N8N_API_KEY: "k" }
        const health = (...args: ReadonlyArray<string>) => runIn(folder, env, "health", ...args)
        const fine = yield* health()
        assert.deepStrictEqual([fine.code, fine.stderr], [0, ""])
        assert.deepInclude(JSON.parse(fine.stdout), { rows: [], shared: [], failed: 0 })
        yield* api.addExecution(FakeN8n.failedExecution({
          workflow: orders,
          node: "Pay",
          message: "card 17 declined (key sk-live-4242424242424242424242)",
          startedAt: new Date(Date.now() - 3_600_000).toISOString()
        }))
        const json = yield* health("--workflow", "Orders <!channel>", "--since", "24h")
        assert.deepStrictEqual([json.code, json.stderr], [2, ""])
        const { rows: [row] } = JSON.parse(json.stdout) as Health
        assert.deepInclude(row, { workflowId: "orders", runs: 1, failed: 1 })
        assert.strictEqual(row?.incidents[0]?.kind, "failed")
        assert.notInclude(json.stdout, "sk-live")
        const page = yield* health("--out", "health.html")
        assert.deepStrictEqual([page.code, page.stdout], [2, "health.html: 1 incident in 1 workflow, 0 healthy\n"])
        const down = yield* runIn(folder, { ...env, N8N_URL: "http://127.0.0.1:9/" }, "health")
        assert.deepInclude(down, { code: 1, stdout: "" })
        assert.include(down.stderr, "effect-n8n-mcp: ")
      }).pipe(Effect.scoped, Effect.provide(platform)),
    60_000
  )
})
