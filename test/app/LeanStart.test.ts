import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import * as Tool from "../../src/answer/Tool.ts"
import * as Options from "../../src/app/config/Options.ts"
import * as State from "../../src/app/config/State.ts"
import * as Upstreams from "../../src/app/config/Upstreams.ts"
import * as LeanStart from "../../src/app/LeanStart.ts"
import * as Mcp from "../../src/app/Mcp.ts"
import * as ToolContext from "../../src/app/ToolContext.ts"
import { arr, obj } from "../../src/base/Json.ts"
import * as Protocol from "../../src/mcp/Protocol.ts"
import { prepared } from "../../src/packaging/start.ts"
import { parse as parseAny } from "./config/parsed.ts"

const folder = mkdtempSync(join(tmpdir(), "effect-n8n-mcp-"))

const file = (name: string, content: unknown) => {
  const path = join(folder, name)
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
  return path
}

const profile = { name: "a", url: "https://n8n.example", apiKey: "key" }

const [one, two, commented, twins, secret, policy, wrongPolicy] = [
  file("one.json", { profiles: [profile] }),
  file("two.json", {
    profiles: [profile, { ...profile, name: "b", readOnly: true, apiKey: undefined, apiKeyEnv: "KEY" }]
  }),
  file("commented.json", `{ "profiles": [${JSON.stringify(profile)}, ] } // fine`),
  file("twins.json", { profiles: [profile, profile] }),
  file("secret.json", { profiles: [{ ...profile, tokens: ["x"], more: 1 }] }),
  file("policy.json", { bannedNodes: ["ssh"], minScheduleMinutes: 5, protectedTags: [], requireErrorWorkflow: true }),
  file("wrong.json", { bannedNodes: "ssh" })
]

/** Command lines in parts; any two of them make a start. */
const parts: ReadonlyArray<ReadonlyArray<string>> = [
  [],
  ["--files-root", folder],
  [`--files-root=${folder}`],
  ["--read-only"],
  ["--read-only=false"],
  ["--no-read-only"],
  ["--toolsets", "tables,sync"],
  ["--toolsets", "all"],
  ["--toolsets", "executions", "--toolsets", "projects"],
  ["--toolsets", "tabels"],
  ["--tools", "credential_create"],
  ["--tools", "project_list, get_workflow"],
  ["--credential-env", "KEY"],
  ["--exclude-tools", "delete_workflow"],
  ["--exclude-tools", "get_workflow,nothing"],
  ["--n8n-url", "https://n8n.example"],
  ["--n8n-url", "n8n.example"],
  ["--n8n-url", "https://a:b@n8n.example"],
  ["--api-key", "key"],
  ["--api-key", "a key"],
  ["--webhook-url", "ftp://n8n.example"],
  ["--n8n-header", "CF-Id=KEY"],
  ["--n8n-header", "Host=KEY"],
  ["--n8n-header", "CF-Id=ABSENT"],
  ["--config", one],
  ["--config", two, "--profile", "b"],
  ["--config", two],
  ["--config", commented],
  ["--config", twins, "--profile", "a"],
  ["--config", secret],
  ["--profile", "a"],
  ["--policy", policy],
  ["--policy", wrongPolicy],
  ["--policy", join(folder, "absent.json")],
  ["--demo"],
  ["--state", folder],
  ["--state", "postgres://u:p@localhost/d"],
  ["--state", "mysql://localhost"],
  ["--locale", "ja"],
  ["--locale", "xx"],
  ["--max-result-chars", "10000"],
  ["--max-result-chars", "1"],
  ["--max-execution-mb", "1e3"],
  ["--show-secrets"],
  ["--transport", "stdio"],
  ["--transport", "http"],
  ["--port", "70000"],
  ["--nodes", ""],
  ["--nodes", "-x"],
  ["tools"],
  ["--help"],
  ["--"],
  ["-h"]
]

/** Options of a start over stdio; fails if the command line refuses them. */
const parse = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.flatMap(
    parseAny(args, env),
    (options) => options.transport === "http" ? Options.refuse("another transport") : Effect.succeed(options)
  )

/** The tools that the program lists; fails if it refuses the start. */
const ofProgram = Effect.fnUntraced(function*(args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) {
  const options = yield* parse(args, env)
  const tools = yield* Mcp.servedTools(options)
  const { defaultUpstream } = yield* Upstreams.load(options)
  if (defaultUpstream === undefined) return yield* Options.refuse("several profiles")
  if (options.policy !== undefined) yield* ToolContext.policyIn(options.policy)
  yield* State.place(options, env)
  return Tool.offered(tools, defaultUpstream.readOnly).map(Protocol.listing)
})

describe("LeanStart", () => {
  beforeAll(() => {
    const { KEY } = process.env
    process.env["KEY"] = "value"
    return () => {
      if (KEY === undefined) delete process.env["KEY"]
      else process.env["KEY"] = KEY
      rmSync(folder, { recursive: true })
    }
  })

  const home = { XDG_CONFIG_HOME: folder, KEY: "value" }

  it.effect.each([0, 1])("answers as the program answers (half %i of the options)", (half) =>
    Effect.gen(function*() {
      const start = yield* prepared
      for (const first of parts.filter((_, index) => index % 2 === half)) {
        for (const second of parts) {
          const args = [...first, ...second]
          const lean = LeanStart.plan(start, args, home)
          if (lean === undefined) continue
          assert.deepStrictEqual(lean.results["tools/list"]?.["tools"], yield* ofProgram(args, home), args.join(" "))
        }
      }
    }).pipe(Effect.provide(NodeServices.layer)))

  const revealed = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(revealed) : Redacted.isRedacted(value) ? ["secret", Redacted.value(value)] : value

  it.effect("reads the same options as the command line", () =>
    Effect.gen(function*() {
      const start = yield* prepared
      const environments: ReadonlyArray<Readonly<Record<string, string>>> = [
        {},
        { N8N_URL: "http://n8n", N8N_API_KEY: "key", N8N_MCP_WEBHOOK_URL: "https://hooks" },
        { N8N_MCP_FILES_ROOT: `${folder}${delimiter}relative`, N8N_MCP_NODES: `a${delimiter}${delimiter}b` },
        { N8N_MCP_TOOLSETS: "tables, files", N8N_MCP_CREDENTIAL_ENV: "KEY", N8N_MCP_MAX_RESULT_CHARS: "20000" },
        { N8N_URL: "http://n8n", N8N_API_KEY: "key", N8N_MCP_PROFILE: "a", N8N_MCP_CONFIG: two },
        { N8N_MCP_DEMO: "true", N8N_URL: "http://n8n" },
        { N8N_MCP_STATE: folder, N8N_MCP_SHOW_SECRETS: "true", N8N_MCP_LOCALE: "ja", N8N_MCP_AUTH_TOKEN: "a,b" }
      ]
      for (const own of environments) {
        for (const args of parts) {
          const env = { ...home, ...own }
          const lean = LeanStart.plan(start, args, env)
          if (lean === undefined) continue
          const options = Options.fromPlain(lean.values, start.options)
          assert.deepStrictEqual(
            Record.map({ ...options }, revealed),
            Record.map({ ...yield* parse(args, env) }, revealed),
            JSON.stringify([args, own])
          )
        }
      }
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("answers only if the program starts", () =>
    Effect.gen(function*() {
      const start = yield* prepared
      const connected = { ...home, N8N_URL: "http://n8n", N8N_API_KEY: "key" }
      const slow = yield* Effect.filter(parts, (args) =>
        LeanStart.plan(start, args, connected) !== undefined
          ? Effect.succeed(false)
          : Effect.match(ofProgram(args, connected), { onFailure: () => false, onSuccess: () => true }))
      assert.deepStrictEqual(slow, [
        ["--read-only=false"],
        ["--no-read-only"],
        ["--config", commented],
        ["--max-execution-mb", "1e3"],
        ["--nodes", ""],
        ["--"]
      ])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("takes the same values from the environment", () =>
    Effect.gen(function*() {
      const start = yield* prepared
      const cases: ReadonlyArray<readonly [Readonly<Record<string, string>>, boolean]> = [
        [{ N8N_URL: "http://n8n", N8N_API_KEY: "k", N8N_MCP_TOOLS: "" }, true],
        [{ N8N_MCP_READ_ONLY: "true", N8N_MCP_TOOLSETS: "tables, projects" }, true],
        [{ N8N_MCP_READ_ONLY: "0", N8N_MCP_FILES_ROOT: `${folder}:/tmp` }, true],
        [{ N8N_MCP_CONFIG: two, N8N_MCP_PROFILE: "b" }, true],
        [{ N8N_MCP_POLICY: policy, N8N_MCP_N8N_HEADER: "CF-Id=KEY", N8N_MCP_CREDENTIAL_ENV: "KEY" }, true],
        [{ N8N_URL: "n8n" }, false],
        [{ N8N_API_KEY: "a\nb" }, false],
        [{ N8N_MCP_READ_ONLY: "perhaps" }, false],
        [{ N8N_MCP_TOOLSETS: "tabels" }, false],
        [{ N8N_MCP_MAX_EXECUTION_MB: "many" }, false],
        [{ N8N_MCP_TRANSPORT: "http" }, false]
      ]
      for (const [own, isLean] of cases) {
        const env = { ...home, ...own }
        const lean = LeanStart.plan(start, [], env)
        assert.strictEqual(lean !== undefined, isLean, JSON.stringify(own))
        if (lean) assert.deepStrictEqual(lean.results["tools/list"]?.["tools"], yield* ofProgram([], env))
      }
      // The command line wins.
      const [all, some] = [[], ["--toolsets", "tables"]].map((args) =>
        arr(LeanStart.plan(start, args, { ...home, N8N_MCP_TOOLSETS: "executions" })?.results["tools/list"]?.["tools"])
      )
      assert.deepStrictEqual(some?.map((tool) => obj(tool)?.["name"]), ["table_read", "table_write"])
      assert.notDeepEqual(all, some)
    }).pipe(Effect.provide(NodeServices.layer)))
})
