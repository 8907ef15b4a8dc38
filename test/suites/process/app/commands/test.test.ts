import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { XMLParser } from "fast-xml-parser"
import { runAt as run } from "../../../../support/inProcess.ts"
import { folderWith, platform } from "../../../../support/folders.ts"

describe("test", () => {
  it.live("refuses what it cannot do in a line, and exits with 1", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith({ "empty/x.json": "{}", "a.test.json": "{\"workflow\":\"x\"}" })
      const refusals: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
        [["empty"], "effect-n8n-mcp: No cases found in empty: a case is a file whose name ends in .test.json\n"],
        [["nope"], "effect-n8n-mcp: There is no file or folder 'nope'\n"],
        [["--read-only"], "effect-n8n-mcp: test runs copies of workflows on n8n, but this n8n is read-only"],
        [["--concurrency", "0"], "between 1 and 64"],
        [["--jnit", "x"], "--junit"]
      ]
      yield* Effect.forEach(refusals, ([args, message]) =>
        Effect.map(run(folder, "test", ...args), ({ code, stderr, stdout }) => {
          assert.deepStrictEqual([code, stdout], [1, ""], stderr)
          assert.include(stderr, message)
        }), { concurrency: 2 })
    }).pipe(Effect.scoped, Effect.provide(platform)), 60_000)

  it.live(
    "reports for each case why it cannot run, in the order of their names, also as JUnit and JSON",
    () =>
      Effect.gen(function*() {
        const folder = yield* folderWith({
          "b.test.json": "{\"workflow\":\"w1\"}",
          "a/c.test.json": "{\"workflow\":\"../w.json\", \"expect\": {\"nodes\": {\"Ou\": {}}}}",
          "a/d.test.json": "{\"workflow\":\"../../w.json\"}",
          "w.json":
            "{\"name\":\"W\",\"nodes\":[{\"name\":\"Out\",\"type\":\"n8n-nodes-base.noOp\"}],\"connections\":{}}"
        })
        const { code, stderr, stdout } = yield* run(folder, "test", "--junit", "reports/junit.xml")
        assert.strictEqual(code, 1, stderr)
        assert.deepStrictEqual(stdout.split("\n").flatMap((line) => /^\S .*\.json/.exec(line) ?? []), [
          "✗ a/c.test.json",
          "✗ a/d.test.json",
          "✗ b.test.json"
        ])
        assert.include(stdout, "expect.nodes names 'Ou', which is not a node")
        assert.match(stdout, /is not under the files root/)
        assert.match(stdout, /N8N_URL and N8N_API_KEY/)
        assert.match(stdout, /\n3 cases: 3 could not run \(\d+\.\d s\)\n$/)
        const fs = yield* FileSystem.FileSystem
        const xml = yield* fs.readFileString(`${folder}/reports/junit.xml`)
        const { testsuites } = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "" }).parse(xml)
        assert.deepInclude(testsuites, { tests: "3", failures: "0", errors: "3" })

        const json = yield* run(folder, "test", "a", "--json")
        assert.strictEqual(json.code, 1)
        assert.deepInclude(JSON.parse(json.stdout), { passed: 0, failed: 2 })
      }).pipe(Effect.scoped, Effect.provide(platform)),
    60_000
  )
})
