import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { folderWith, platform } from "../../support/folders.ts"
import * as HttpN8n from "../../support/HttpN8n.ts"
import { runIn } from "../../support/inProcess.ts"
import { records, running, type Version, workflow } from "../../trials/proof/recordings.ts"

/** Runs the command against an n8n with a version of the workflow and four runs of the plain one. */
const prove = Effect.fnUntraced(function*(version: Version, ...args: ReadonlyArray<string>) {
  const seed = { workflows: [workflow(version)], executions: records("plain", 4) }
  const { url } = yield* HttpN8n.serve(seed, { runs: running() })
  const folder = yield* folderWith({})
  const env = { N8N_URL: url.href, N8N_API_KEY: "k" }
  return yield* runIn(folder, env, "prove", "w1", ...args)
})

describe("prove", () => {
  it.live("exits with 0 if the runs are the same, also as JSON", () =>
    Effect.gen(function*() {
      const text = yield* prove("plain")
      assert.strictEqual(text.code, 0, text.output)
      assert.match(
        text.stdout,
        /^✓ 4 same; 1 volatile value compared by shape\n  compared: outputs of 2 nodes\n\n.* \(w1\)\n  note .*\[ignored]\n/
      )
      const { code, stdout } = yield* prove("plain", "--json", "--last", "2")
      assert.strictEqual(code, 0)
      assert.deepInclude(JSON.parse(stdout), { runs: 2, same: 2, groups: [] })
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.live("exits with 2 if they differ", () =>
    Effect.gen(function*() {
      const { code, output, stdout } = yield* prove("without email")
      assert.strictEqual(code, 2, output)
      assert.match(
        stdout,
        /^≠ 0 same; 4 lose `email` at 'Map'; all send and answer the same; 1 volatile value compared by shape\n/
      )
      const ignoring = yield* prove("without email", "--ignore", "email")
      assert.strictEqual(ignoring.code, 0, ignoring.output)
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.live("exits with 1 if nothing was replayed, and if an option names what is not there", () =>
    Effect.gen(function*() {
      const gone = yield* prove("plain", "--execution", "999")
      assert.strictEqual(gone.code, 1, gone.output)
      assert.match(gone.stdout, /nothing was replayed[^]*999: Execution '999' not found/)
      const missing = yield* prove("plain", "--ignore", "'Mop'.email")
      assert.deepStrictEqual([missing.code, missing.stdout], [1, ""])
      assert.match(missing.stderr, /'Mop', which is not a node/)
    }).pipe(Effect.scoped, Effect.provide(platform)))
})
