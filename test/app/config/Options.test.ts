import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { delimiter, dirname, join, resolve } from "node:path"
import * as ConfigPlace from "../../../src/app/config/ConfigPlace.ts"
import { declarations } from "../../../src/app/config/Declarations.ts"
import * as Options from "../../../src/app/config/Options.ts"
import { parse } from "./parsed.ts"

/** An example of each kind of value, as text. */
const example = ({ choices, format, name }: typeof declarations[keyof typeof declarations]) =>
  choices.at(-1) ?? { boolean: "true", number: "5000", string: "value", filepath: "/" + name }[format]

describe("Options", () => {
  it.effect("each has an environment variable; an empty one is not set, and the command line wins", () =>
    Effect.gen(function*() {
      const defaults = yield* parse([])
      for (const [key, declaration] of Object.entries(declarations)) {
        const { name, variable } = declaration
        const value = example(declaration)
        const [fromEnv, fromFlag, both, empty] = yield* Effect.all([
          parse([], { [variable]: value }),
          parse([`--${name}=${value}`]),
          parse([`--${name}=${value}`], { [variable]: declaration.format === "number" ? "6000" : "en" }),
          parse([], { [variable]: "" })
        ])
        const of = (options: Options.Options) => JSON.stringify(Object.entries(options).find(([name]) => name === key))
        assert.notDeepEqual(of(fromEnv), of(defaults), name)
        assert.deepStrictEqual(fromEnv, fromFlag, name)
        assert.deepStrictEqual(both, fromFlag, name)
        assert.deepStrictEqual(empty, defaults, name)
      }
    }))

  const [url, profile, config, demo] = ["N8N_URL", "N8N_MCP_PROFILE", "N8N_MCP_CONFIG", "N8N_MCP_DEMO"]
  const exported = { [url]: "u", N8N_API_KEY: "k", [profile]: "p", [config]: "c", [demo]: "true" }

  it.effect.each<readonly [ReadonlyArray<string>, string]>([
    [[], "u k p c demo"],
    [["--profile", "P"], "P c"],
    [["--config", "C"], "p C"],
    [["--n8n-url", "U"], "U k"],
    [["--api-key", "K"], "u K"],
    [["--n8n-url", "U", "--profile", "P"], "U P"],
    [["--demo"], "u k p c demo"],
    [["--no-demo"], "u k p c"]
  ])("%j replaces variables that name another n8n", ([args, names]) =>
    Effect.gen(function*() {
      const options = yield* parse(args, exported)
      const key = options.apiKey === undefined ? undefined : Redacted.value(options.apiKey)
      assert.strictEqual(
        [options.n8nUrl, key, options.profile, options.config, options.demo ? "demo" : undefined].filter(Boolean).join(
          " "
        ),
        names
      )
    }))

  it("lead to a file: none for the demo, a named one or that of a profile, else the nearest without an address", () => {
    const folder = mkdtempSync(join(tmpdir(), "effect-n8n-mcp-"))
    const env = { XDG_CONFIG_HOME: folder }
    mkdirSync(join(folder, "effect-n8n-mcp"))
    writeFileSync(ConfigPlace.userFile(env), "{}", { mode: 0o600 })
    const none = { demo: false, config: undefined, profile: undefined, hasAddress: false }
    const fileOf = (choice: Partial<ConfigPlace.Choice>) => ConfigPlace.choose(env, { ...none, ...choice }).used?.file
    const users = ConfigPlace.userFile(env)
    assert.deepStrictEqual(
      [
        {},
        { hasAddress: true },
        { hasAddress: true, profile: "p" },
        { hasAddress: true, config: "c" },
        { demo: true, config: "c", profile: "p" }
      ].map(fileOf),
      [users, undefined, users, "c", undefined]
    )
    rmSync(folder, { recursive: true })
  })

  it.effect("lists: repeated, or with commas between; paths with the system's separator", () =>
    Effect.gen(function*() {
      const twice = yield* parse(["--tools", "a, b", "--tools", "c", "--nodes", "x,y", "--nodes", "/z"])
      assert.deepStrictEqual([twice.tools, twice.nodes], [["a", "b", "c"], [resolve("x,y"), "/z"]])
      const env = yield* parse([], {
        N8N_MCP_TOOLS: "a,,b ,",
        N8N_MCP_NODES: ["/x", "", "y"].join(delimiter),
        N8N_MCP_AUTH_TOKEN: "one, two"
      })
      assert.deepStrictEqual([env.tools, env.nodes], [["a", "b"], ["/x", resolve("y")]])
      assert.deepStrictEqual(env.authToken.map(Redacted.value), ["one", "two"])
      // Not "no token", which would open the server to everybody.
      const none = yield* parse([], { N8N_MCP_AUTH_TOKEN: "," })
      assert.deepStrictEqual(none.authToken.map(Redacted.value), [""])
    }))

  it.effect.each<readonly [string, string, RegExp]>([
    ["port", "65536", /between 0 and 65535/],
    ["max-calls", "0", /at least 1/],
    ["max-connections", "0", /at least 1/],
    ["rate-limit", "-1", /at least 0/],
    ["max-execution-mb", "0", /at least 1/],
    ["max-result-chars", "3999", /at least 4000/],
    ["locale", "fr", /en.*ja/],
    ["demo", "perhaps", /demo|DEMO is 'perhaps': write true or false/],
    ["read-only", "maybe", /read-only|READ_ONLY is 'maybe': write true or false/],
    ["port", "many", /port|PORT is 'many': write a whole number, between 0 and 65535/]
  ])("--%s %s is refused, and so is its variable", ([name, value, message]) =>
    Effect.gen(function*() {
      const variable = `N8N_MCP_${name.replaceAll("-", "_").toUpperCase()}`
      for (const [args, env] of [[[`--${name}=${value}`], {}], [[], { [variable]: value }]] as const) {
        const error = yield* Effect.flip(parse(args, env))
        assert.match(JSON.stringify(error), message)
        // A variable is named as such, and not as an option.
        if (args.length === 0) {
          assert.include(JSON.stringify(error), `${variable} is '${value}': write `)
          assert.notMatch(JSON.stringify(error), /SchemaError|InvalidValue/)
        }
      }
    }))

  it("take no root of a disk, and nothing around the home folder, as the default files root", () => {
    const roots = (folder: string, filesRoot: ReadonlyArray<string> = []) =>
      Options.filesRoots({ filesRoot, transport: "stdio" }, { CLAUDE_PROJECT_DIR: folder })
    for (const folder of ["/", homedir(), dirname(homedir())]) {
      assert.deepStrictEqual(roots(folder), [], folder)
      assert.deepStrictEqual(roots(folder, [folder]), [folder])
    }
    assert.deepStrictEqual(roots(`${homedir()}/project`), [`${homedir()}/project`])
    assert.deepStrictEqual(Options.filesRoots({ filesRoot: [], transport: "stdio" }, {}), [resolve(".")])
    assert.deepStrictEqual(Options.filesRoots({ filesRoot: [], transport: "http" }, {}), [])
  })
})
