import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { folderWith, platform } from "../../support/folders.ts"
import { serve } from "../../support/HttpN8n.ts"
import { runAt as run, runIn } from "../../support/inProcess.ts"
import { node } from "../../support/workflows.ts"
import { body } from "../../sync/workflows.ts"

describe("pull and status", () => {
  it.live("exit with 0, 1 or 2, in lines or as JSON", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith()
      const news = yield* run(folder, "status", "--demo")
      assert.strictEqual(news.code, 2, news.stderr)
      assert.match(news.stdout, /^new there +Sync orders to CRM {2}\(\w+\)$/m)

      const pulled = yield* run(folder, "pull", "flows", "--demo")
      assert.strictEqual(pulled.code, 0, pulled.stderr)
      assert.match(pulled.stdout, /^created +\S+\.json$/m)
      assert.match(pulled.stdout, /\n\d created\n$/)

      const json = yield* run(folder, "status", "flows", "--demo", "--json")
      assert.deepInclude(JSON.parse(json.stdout), { isSame: true, hasConflicts: false, hasErrors: false })
      assert.strictEqual(json.code, 0)

      yield* fs.writeFileString(`${folder}/flows/.n8n-sync.json`, "{")
      const damaged = yield* run(folder, "pull", "flows", "--demo")
      assert.deepStrictEqual([damaged.code, damaged.stdout], [1, ""])
      assert.match(
        damaged.stderr,
        /^effect-n8n-mcp: .* cannot be read: it is not the state of a synced folder\. Restore it/
      )
    }).pipe(Effect.scoped, Effect.provide(platform)))
})

describe("push and status", () => {
  it.live("say how a draft is published", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { url } = yield* serve({ workflows: [], executions: [] })
      const env = { N8N_URL: url.href, N8N_API_KEY: "k" }
      const hook = node("Hook", "webhook", 2, { path: "in" }, { id: "h" })
      const text = JSON.stringify({ ...body("Live"), nodes: [hook], connections: {} })
      const folder = yield* folderWith({ "flows/live.json": text })
      const created = yield* runIn(folder, env, "push", "flows", "--publish")
      assert.notInclude(created.stderr, "--publish", created.stdout)
      const file = yield* fs.readFileString(`${folder}/flows/live.json`)
      yield* fs.writeFileString(`${folder}/flows/live.json`, file.replace("\"in\"", "\"in2\""))
      const pushed = yield* runIn(folder, env, "push", "flows")
      assert.match(
        pushed.stderr,
        /^effect-n8n-mcp: n8n still runs the published versions .*: push --publish publishes/m
      )
      const { code, stderr } = yield* runIn(folder, env, "status", "flows")
      assert.match(stderr, /^effect-n8n-mcp: n8n runs an older version .* of 'Live': push --publish publishes/m)
      assert.strictEqual(code, 0)
      yield* runIn(folder, env, "push", "flows", "--publish")
      assert.strictEqual((yield* runIn(folder, env, "status", "flows")).stderr, "")
    }).pipe(Effect.scoped, Effect.provide(platform)))
})

describe("a file that contains a workflow in another form", () => {
  it.live("is read by every command, and its workflow is not deleted", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const moved = { id: "moved00000000000", name: "Moved", ...body("Moved") }
      const { api, url } = yield* serve({ workflows: [moved], executions: [] })
      const env = { N8N_URL: url.href, N8N_API_KEY: "k" }
      const folder = yield* folderWith({ "notes/package.json": "{\"name\": \"p\"}", "notes/readme.md": "" })
      assert.strictEqual((yield* runIn(folder, env, "pull", "flows")).code, 0)
      const text = yield* fs.readFileString(`${folder}/flows/moved.json`)
      yield* fs.remove(`${folder}/flows/moved.json`)
      yield* fs.writeFileString(`${folder}/flows/kept.json`, `[${text}]`)
      for (const args of [["status"], ["push"], ["push", "--delete"], ["push", "--delete", "--dry-run"]]) {
        const { code, stdout } = yield* runIn(folder, env, ...args, "flows")
        assert.strictEqual(code, 0, args.join(" "))
        assert.match(stdout, /^1 same$|^Nothing was written; without --dry-run: 1 same$/m)
      }
      yield* fs.writeFileString(`${folder}/flows/all.json`, `[${text}, {"nodes": [], "connections": {}}]`)
      yield* fs.remove(`${folder}/flows/kept.json`)
      for (const args of [["status"], ["push"], ["push", "--delete"], ["push", "--delete", "--dry-run"]]) {
        const { code, stderr, stdout } = yield* runIn(folder, env, ...args, "flows")
        assert.strictEqual(code, 1, args.join(" "))
        assert.match(stdout, /^invalid +all\.json: Not one workflow: it contains 2 workflows: 'Moved' \(moved0+\)/m)
        assert.match(stdout, /^invalid +moved\.json: Present in 'all\.json', which is not its file/m)
        if (args.includes("--delete")) assert.include(stderr, "and nothing is deleted")
      }
      assert.deepStrictEqual((yield* api.workflows).map(({ id }) => id), [moved.id])
      const one = yield* runIn(folder, env, "push", "flows", "--only", "all.json#Moved")
      assert.deepStrictEqual([one.code, one.stdout], [0, "1 same\n"])
      const target = yield* serve({ workflows: [], executions: [] })
      const to = { N8N_URL: target.url.href, N8N_API_KEY: "k" }
      const promoted = yield* runIn(folder, to, "promote", "flows", "--from-folder")
      assert.strictEqual(promoted.code, 1)
      assert.match(promoted.stdout, /^blocked +all\.json: Not one workflow/)
      const chosen = yield* runIn(
        folder,
        to,
        "promote",
        "flows",
        "--from-folder",
        "--only",
        "all.json#moved00000000000"
      )
      assert.match(chosen.stdout, /^created +Moved/)
      for (const args of [["promote", "notes", "--from-folder"], ["push", "notes"], ["check", "notes"]]) {
        const nothing = yield* runIn(folder, to, ...args)
        assert.strictEqual(nothing.code, 1)
        assert.match(
          nothing.stderr,
          /: There are no workflows in .*, only (?:notes\/)?package\.json \(it has no 'nodes'; its keys are: name\)/
        )
      }
    }).pipe(Effect.scoped, Effect.provide(platform)))
})
