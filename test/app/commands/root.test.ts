import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { folderWith, platform } from "../../support/folders.ts"
import { runIn } from "../../support/inProcess.ts"

type Row = readonly [line: string | ReadonlyArray<string>, message: string, env?: Readonly<Record<string, string>>]

const orders = "cR5mSyNc9bVh4KqE"
const report = "dS8rQ2vLk0pXw3Ta"
const workflow = { id: orders, name: "Here", nodes: [], connections: {} }

const files = {
  "here.json": JSON.stringify(workflow),
  "other.json": JSON.stringify({ ...workflow, id: "xyz" }),
  "text.svg": "mine",
  "p/x": "",
  "empty/x.json": "{}",
  "cases/a.test.json": "{\"workflow\": \"w1\"}",
  "silent.json": "{ \"Orders\": \"silent soon\", }",
  "list.json": "[\"Orders\"]",
  "bindings.json": "{\"credential\": {}}",
  "n8n.json": JSON.stringify({
    profiles: ["dev", "prod"].map((name) => ({ name, url: "http://127.0.0.1:9", apiKey: "k" }))
  })
}

/** An n8n that nothing asks. */
const n8n = { N8N_URL: "http://127.0.0.1:9", N8N_API_KEY: "k" }

/** Command lines, a part of the reason why each is refused, and the variables of those that have some. */
const rows: ReadonlyArray<Row> = [
  ["--lokale en", "--locale"],
  ["cal", "call"],
  ["call list_executons", "Did you mean 'list_executions'"],
  ["--transport htpt", "\"stdio\" | \"http\""],
  [
    "--transport http --demo --host 0.0.0.0",
    "Listening on 0.0.0.0 needs a token: set N8N_MCP_AUTH_TOKEN"
  ],
  ["workflows --profile a --n8n-url https://n8n.test", "Choose one: --profile, or --n8n-url and --api-key"],
  ["workflows --profile a --api-key key", "Choose one: --profile, or --n8n-url and --api-key"],
  [
    "workflows --config n8n.json --n8n-url https://n8n.test --api-key key",
    "Choose one: --config, or --n8n-url and --api-key"
  ],
  ["workflows --demo --profile a", "Choose one: --demo, or --profile"],
  ["workflows --demo --config n8n.json", "Choose one: --demo, or --config"],
  ["workflows --demo --api-key key", "Choose one: --demo, or --n8n-url and --api-key"],
  ["check nowhere", "nowhere"],
  ["check --to 99", "99"],
  ["check . --n8n", "--n8n"],
  ["check --policy nowhere.json", "nowhere.json"],
  ["check p", "no workflows"],
  ["check --baseline known.json", "--update-baseline writes it"],
  ["audit --demo --baseline known.json", "--update-baseline writes it"],
  ["test empty", "effect-n8n-mcp: No cases found in empty: a case is a file whose name ends in .test.json\n"],
  ["test nope", "effect-n8n-mcp: There is no file or folder 'nope'\n"],
  ["test --read-only", "effect-n8n-mcp: test runs copies of workflows on n8n, but this n8n is read-only"],
  ["test --concurrency 0", "between 1 and 64"],
  ["test --jnit x", "--junit"],
  ["prove w1 --last 0", "between 1 and 50"],
  ["prove w1 --lst 3", "--last"],
  ["prove w1 --read-only", "prove runs copies of workflows on n8n, but this n8n is read-only"],
  ["prove w1", "N8N_URL"],
  ["upgrade --tag shop", "add --n8n"],
  ["status flows --demo", "effect-n8n-mcp: Folder 'flows' does not exist; pull creates it\n"],
  [
    "health --demo --since 32d",
    "--since 32d is more than 31 days ago: use --since 31d; for causes over a longer time, effect-n8n-mcp executions --by failure --since 32d"
  ],
  ["health --demo --since 2099-01-01", "is in the future"],
  ["health --demo --since soon", "--since must be a time such as"],
  ["health --demo --timezone Europe/Atlantis", "is not a time zone"],
  ["health --demo --workflow nobody", "Workflow 'nobody' not found"],
  ["health --demo --out health.svg", "--out 'health.svg': the name of a page ends in .html; --json prints the data"],
  ["health --demo --out health.html --json", "Choose one: --json, or a page"],
  ["watch", "N8N_API_KEY", { N8N_URL: n8n.N8N_URL }],
  ["watch --every 5", "between 10 and 86400", n8n],
  ["watch --to https://hooks.test/T0/B0/secret --exec true", "Choose one", n8n],
  ["watch --to hooks.test/T0/B0/secret", "not an http address", n8n],
  ["watch --timezone Europe/Atlantis", "is not a time zone", n8n],
  ["watch --thresholds silent.json", "'Orders': 'silent soon' is not a threshold", n8n],
  ["watch --thresholds list.json", "write it as", n8n],
  ["watch --thresholds missing.json", "does not exist", n8n],
  ["promote --config n8n.json --from dev --to prod --bindings bindings.json", "Did you mean 'credentials'"],
  ["promote p --from-folder --from dev", "one source: --from PROFILE or --from-folder", n8n],
  ["promote p --from-folder --to prod", "name a file of profiles with --config"],
  ["map --demo nothing", "Workflow 'nothing' not found"],
  ["map --demo --out map.png", "--out 'map.png': a picture's name ends in .svg or .html"],
  ["picture --demo", "Name a workflow, or a run with --execution ID"],
  ["picture --demo nobody", "effect-n8n-mcp: Workflow 'nobody' not found. "],
  ["picture --demo gone.json", "gone.json' does not exist"],
  [`picture --demo ${orders}@nothing`, "nothing"],
  [
    "picture --demo 113",
    "If it is the number of a run: effect-n8n-mcp picture --execution 113, or effect-n8n-mcp why 113 --open."
  ],
  [["picture", "--demo", "orders to"], "Workflow 'orders to' not found. Did you mean 'Sync orders to CRM'?"],
  [`picture --demo ${orders} --execution 1`, "Run '1' not found"],
  [`picture --demo ${report} --execution 239`, `Run 239 belongs to workflow '${orders}', not '${report}'`],
  ["picture --demo other.json --execution 239", "other.json' contains 'xyz'"],
  [
    `picture --demo ${orders} --execution 239 --problems`,
    "Choose one of --against, --execution and --problems"
  ],
  [`picture --demo ${orders} --out picture.png`, "--out 'picture.png': a picture's name ends in .svg or .html"],
  [`picture --demo ${orders} --out link/out.svg`, "is a link that leads out of the files root"]
]

describe("a command that cannot work", () => {
  it.live.each(rows)("exits with 1, says why on stderr only, repeats no secret and writes nothing: %j", ([
    line,
    message,
    env = {}
  ]) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith(files)
      yield* fs.symlink("/tmp", `${folder}/link`)
      const before = yield* fs.readDirectory(folder)
      const { code, stderr, stdout } = yield* runIn(folder, env, ...typeof line === "string" ? line.split(" ") : line)
      assert.deepStrictEqual([code, stdout], [1, ""], stderr)
      assert.include(stderr, message)
      assert.notMatch(stderr, /\n {2,}at |T0\/B0/)
      assert.sameMembers((yield* fs.readDirectory(folder)).filter((name) => name !== ".state"), before)
    }).pipe(Effect.scoped, Effect.provide(platform)))
})

const call = ["call", "get_execution", "{\"id\":\"239\"}"]

describe("the command line", () => {
  it.live.each<
    readonly [args: ReadonlyArray<string>, env: Readonly<Record<string, string>>, code: number, says: string]
  >([
    [["--demo", "--locale", "ja", ...call], {}, 0, "実行サマリーを取得しました"],
    [["--demo", "call", "get_execution", "{\"id\":\"1\"}"], {}, 1, "NotFoundError"],
    [call, { N8N_MCP_LOCALE: "ja", N8N_MCP_DEMO: "true" }, 0, "実行サマリーを取得しました"],
    // No folder that is too broad is used by default.
    [["call", "workflow_list"], { CLAUDE_PROJECT_DIR: "/" }, 1, "--files-root (N8N_MCP_FILES_ROOT)"],
    [["doctor"], { CLAUDE_PROJECT_DIR: "/" }, 1, "none, since the working directory contains the home folder"],
    [["tools"], {}, 0, "  list_workflows"]
  ])(
    "%j with %j prints what it answers, also an error, on stdout: %i, %s",
    ([args, env, code, says]) =>
      Effect.gen(function*() {
        const exit = yield* runIn(yield* folderWith(), env, ...args)
        assert.strictEqual(exit.code, code, exit.output)
        assert.include(exit.output, says)
        assert.notStrictEqual(exit.stdout, "")
      }).pipe(Effect.scoped, Effect.provide(platform))
  )
})
