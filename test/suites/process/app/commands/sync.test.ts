import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { run } from "../../../../support/cli.ts"
import { folderWith, platform } from "../../../../support/folders.ts"

describe("pull and status", () => {
  it.live("exit with 0, 1 or 2, in lines or as JSON", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith()
      const empty = yield* run(folder, "status", "flows", "--demo")
      assert.deepStrictEqual([empty.code, empty.stdout], [1, ""])
      assert.strictEqual(empty.stderr, "effect-n8n-mcp: Folder 'flows' does not exist; pull creates it\n")
      const news = yield* run(folder, "status", "--demo")
      assert.strictEqual(news.code, 2, news.stderr)
      assert.match(news.stdout, /^new there +- {2}Sync orders to CRM {2}\(\w+\)$/m)

      const pulled = yield* run(folder, "pull", "flows", "--demo")
      assert.strictEqual(pulled.code, 0, pulled.stderr)
      assert.match(pulled.stdout, /^\[1\/\d\] created +\S+\.json {2}/)
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
    }).pipe(Effect.scoped, Effect.provide(platform)), 60_000)
})
