import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { folderWith, platform } from "../../../../support/folders.ts"
import { serve } from "../../../../support/HttpN8n.ts"
import { body } from "../../../../sync/world.ts"

const main = fileURLToPath(new URL("../../../../../src/main.ts", import.meta.url))

const run = (cwd: string, ...args: ReadonlyArray<string>) =>
  Effect.callback<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>((resume) => {
    const env = { PATH: process.env["PATH"], XDG_STATE_HOME: `${cwd}/.state` }
    const child = spawn(process.execPath, [main, "promote", ...args], { cwd, env })
    let [stdout, stderr] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk))
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk))
    child.on("close", (code) => resume(Effect.succeed({ code, stdout, stderr })))
  })

describe("the promote command", () => {
  it.live("goes from profile to profile, with bindings from a file, and exits with 0, 1 or 2", () =>
    Effect.gen(function*() {
      const from = yield* serve({
        workflows: [{
          ...body("Main"),
          id: "main",
          name: "Main",
          nodes: [{
            id: "a",
            name: "Ask",
            type: "n8n-nodes-base.httpRequest",
            typeVersion: 4.2,
            position: [0, 0],
            parameters: {},
            credentials: { httpHeaderAuth: { id: "c", name: "Header" } }
          }],
          connections: {}
        }],
        executions: []
      })
      const to = yield* serve({
        workflows: [],
        executions: [],
        credentials: [{ id: "d", name: "Live", type: "httpHeaderAuth" }]
      })
      const profiles = [["dev", from.url], ["prod", to.url]].map(([name, url]) => ({ name, url, apiKey: "k" }))
      const folder = yield* folderWith({
        "n8n.json": JSON.stringify({ profiles }),
        "bindings.json": "{\"credentials\": {\"Header\": \"Live\"}}",
        "wrong.json": "{\"credential\": {}}"
      })
      const route = ["--config", "n8n.json", "--from", "dev", "--to", "prod"]
      const [wrong, blocked] = yield* Effect.all([
        run(folder, ...route, "--bindings", "wrong.json"),
        run(folder, ...route)
      ])
      assert.deepStrictEqual([wrong.code, wrong.stdout], [1, ""])
      assert.match(wrong.stderr, /^effect-n8n-mcp: wrong\.json: .*Did you mean 'credentials'/)
      assert.strictEqual(blocked.code, 1)
      assert.match(blocked.stdout, /^blocked +Main, 'Ask': The credential 'Header' \(httpHeaderAuth\) is not on http/m)
      assert.match(blocked.stdout, /\n1 new; 1 obstacle: nothing was written\n$/)
      const done = yield* run(folder, ...route, "--bindings", "bindings.json")
      assert.strictEqual(done.code, 0, done.stderr)
      assert.match(done.stdout, /^\[1\/1\] created +Main {2}\(main → \w+\)\n1 created\n$/)
      const [made] = yield* to.api.workflows
      yield* to.api.edit(made?.id ?? "", (workflow) => ({ ...workflow, name: "Hotfix" }))
      const conflict = yield* run(folder, ...route, "--bindings", "bindings.json", "--json")
      assert.strictEqual(conflict.code, 2, conflict.stderr)
      assert.deepInclude(JSON.parse(conflict.stdout), { hasConflicts: true, hasErrors: false })
      assert.isTrue(yield* FileSystem.FileSystem.use((fs) => fs.exists(`${folder}/.n8n-promotion.json`)))
    }).pipe(Effect.scoped, Effect.provide(platform)))
})
