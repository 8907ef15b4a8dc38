import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { folderWith, platform } from "../../support/folders.ts"
import { serve } from "../../support/HttpN8n.ts"
import { runAt as run, runIn } from "../../support/inProcess.ts"
import { node } from "../../support/workflows.ts"
import { body } from "../../sync/workflows.ts"

describe("the promote command", () => {
  it.live("goes from profile to profile, with bindings from a file, and exits with 0, 1 or 2", () =>
    Effect.gen(function*() {
      const from = yield* serve({
        workflows: [{
          ...body("Main"),
          id: "main",
          name: "Main",
          nodes: [
            node("Ask", "httpRequest", 4.2, {}, {
              id: "a",
              credentials: { httpHeaderAuth: { id: "c", name: "Header" } }
            })
          ],
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
        "bindings.json": "{\"credentials\": {\"Header\": \"Live\"}}"
      })
      const route = ["--config", "n8n.json", "--from", "dev", "--to", "prod"]
      const blocked = yield* run(folder, "promote", ...route)
      assert.strictEqual(blocked.code, 1)
      assert.match(blocked.stdout, /^blocked +Main, 'Ask': The credential 'Header' \(httpHeaderAuth\) is not on http/m)
      assert.match(blocked.stdout, /\n1 blocked; 1 obstacle\n$/)
      const done = yield* run(folder, "promote", ...route, "--bindings", "bindings.json")
      assert.strictEqual(done.code, 0, done.stderr)
      assert.match(done.stdout, /^created +Main {2}\(main → \w+\)\n1 created\n$/)
      const [made] = yield* to.api.workflows
      yield* to.api.edit(made?.id ?? "", (workflow) => ({ ...workflow, name: "Hotfix" }))
      const conflict = yield* run(folder, "promote", ...route, "--bindings", "bindings.json", "--json")
      assert.strictEqual(conflict.code, 2, conflict.stderr)
      assert.deepInclude(JSON.parse(conflict.stdout), { hasConflicts: true, hasErrors: false })
      assert.isTrue(yield* FileSystem.FileSystem.use((fs) => fs.exists(`${folder}/.n8n-promotion.json`)))
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.live("goes from a folder to the n8n of the variables or of --to, without what --except names", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const to = yield* serve({ workflows: [], executions: [] })
      const file = (id: string) => JSON.stringify({ ...body(id), id })
      const profiles = [{ name: "prod", url: to.url, apiKey: "k" }]
      const folder = yield* folderWith({
        "n8n.json": JSON.stringify({ profiles }),
        "workflows/a.json": file("A"),
        "workflows/b.json": file("B"),
        "workflows/.n8n-sync.json": "{\"version\":1,\"host\":\"http://dev.test\",\"workflows\":{}}"
      })
      const env = { N8N_URL: String(to.url), N8N_API_KEY: "k" }
      const byFlag = yield* runIn(folder, env, "promote", "workflows", "--from-folder", "--except", "B")
      assert.strictEqual(byFlag.code, 0, byFlag.stderr)
      assert.match(byFlag.stdout, /^created +A {2}\(A → \w+\)\n1 created\n$/)
      const byProfile = yield* run(
        folder,
        "--config",
        "n8n.json",
        "promote",
        "workflows",
        "--from-folder",
        "--to",
        "prod"
      )
      assert.match(byProfile.stdout, /^created +B .*\n1 same, 1 created\n$/)
      assert.deepStrictEqual((yield* to.api.workflows).map(({ name }) => name), ["A", "B"])
      assert.isTrue(yield* fs.exists(`${folder}/workflows/.n8n-promotion.json`))
    }).pipe(Effect.scoped, Effect.provide(platform)))
})
