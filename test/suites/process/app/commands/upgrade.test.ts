import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { runIn } from "../../../../support/inProcess.ts"
import { folderWith, platform } from "../../../../support/folders.ts"
import * as HttpN8n from "../../../../support/HttpN8n.ts"
import { main, node } from "../../../../support/workflows.ts"

const old = (id: string, name: string, more: object = {}) => ({
  id,
  name,
  active: false,
  nodes: [node("Hook", "webhook", 2.1, { path: id }), node("合計", "function", 1, { functionCode: "return items" })],
  connections: { Hook: main("合計") },
  settings: {},
  ...more
})

const seed = {
  workflows: [
    old("w1", "Orders", { tags: [{ id: "t", name: "shop" }] }),
    old("w2", "請求書"),
    old("w3", "Gone", { isArchived: true })
  ],
  executions: []
}

describe("upgrade", () => {
  it.live("--n8n takes all workflows, or those with an id, a name or a tag", () =>
    Effect.gen(function*() {
      const { url } = yield* HttpN8n.serve(seed)
      const folder = yield* folderWith({})
      const upgrade = (...args: ReadonlyArray<string>) =>
        runIn(folder, { N8N_URL: url.href, N8N_API_KEY: "k" }, "upgrade", ...args)
      const chosen = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
        const { output, stdout } = yield* upgrade("--n8n", "--dry-run", "--json", ...args)
        assert.match(stdout, /^\{/, output)
        return (JSON.parse(stdout) as { readonly workflows: ReadonlyArray<{ readonly id: string }> }).workflows
          .map(({ id }) => id)
      })
      assert.sameMembers(yield* chosen(), ["w1", "w2"])
      assert.deepStrictEqual(yield* chosen("--tag", "shop"), ["w1"])
      assert.deepStrictEqual(yield* chosen("--name", "請求"), ["w2"])
      assert.deepStrictEqual(yield* chosen("--id", "w2"), ["w2"])
      const refusals: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
        [["--n8n", "--id", "w2", "--id", "nowhere"], "Workflow 'nowhere' not found"],
        [["--n8n", "--id", "w3"], "Workflow 'w3' is archived"],
        [["--n8n", "--tag", "none"], "No workflows found"],
        [["--tag", "shop"], "add --n8n"]
      ]
      yield* Effect.forEach(refusals, ([args, message]) =>
        Effect.map(upgrade(...args), ({ code, stderr, stdout }) => {
          assert.deepStrictEqual([code, stdout], [1, ""], stderr)
          assert.include(stderr, message)
        }), { concurrency: 2 })
    }).pipe(Effect.scoped, Effect.provide(platform)), 60_000)
})
