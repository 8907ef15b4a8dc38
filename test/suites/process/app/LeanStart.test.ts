import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { obj } from "../../../../src/base/Json.ts"
import { prepared } from "../../../../src/packaging/start.ts"
import { request } from "../../../mcp/eras/modern.ts"
import { serve } from "../../../support/HttpN8n.ts"
import { bundle, installed, main, remove, start } from "../../../support/Process.ts"

const talk = (
  args: ReadonlyArray<string>,
  env: Record<string, string>,
  messages: ReadonlyArray<object>,
  program = main
) => {
  const { child, ended, output } = start(args, env, program)
  child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""))
  const answered = Effect.gen(function*() {
    while (output().split("\n").length <= messages.length) yield* Effect.sleep("10 millis")
    child.stdin.end()
    return yield* ended
  })
  return Effect.map(answered, (result) => ({
    ...result,
    answers: result.stdout.split("\n").filter((line) => line !== "").map((line) => obj(JSON.parse(line)) ?? {})
  }))
}

/** A client that shows MCP Apps. */
const showsApps = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } }

const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0" } }
}

describe("LeanStart", () => {
  beforeAll(bundle, 60_000)
  afterAll(remove)

  it.live("says what the whole program says, made when it was built", () =>
    Effect.gen(function*() {
      const built: unknown = JSON.parse(readFileSync(new URL("start.json", `file://${main}`), "utf8"))
      assert.deepStrictEqual(built, JSON.parse(JSON.stringify(yield* prepared)))
      const { folder, main: whole } = yield* installed
      rmSync(join(folder, "start.json"))
      const methods = ["server/discover", "tools/list", "prompts/list", "resources/templates/list"]
      const questions = methods.map((method, id) => request(method, {}, {}, id))
      const byId = (answers: ReadonlyArray<object>) =>
        answers.toSorted((a, b) => Number(obj(a)?.["id"]) - Number(obj(b)?.["id"]))
      for (
        const args of [[], ["--read-only", "--toolsets", "tables,projects"], ["--files-root", folder, "--locale=ja"]]
      ) {
        const lean = yield* talk(args, {}, questions)
        assert.lengthOf(lean.answers, methods.length)
        assert.deepStrictEqual(byId(lean.answers), byId((yield* talk(args, {}, questions, whole)).answers))
      }
    }).pipe(Effect.scoped))

  it.live("serves both eras before and after the program is there", () =>
    Effect.gen(function*() {
      const call = { name: "get_execution", arguments: { id: "239" } }
      const { answers, code, stderr } = yield* talk(["--demo"], {}, [
        initialize,
        { jsonrpc: "2.0", id: 1, method: "tools/list" },
        { jsonrpc: "2.0", id: 2, method: "tools/call", params: call },
        request("tools/call", call, {}, 3),
        request("resources/read", { uri: "n8n://guide/errors" }, {}, 4),
        request("tools/list", {}, showsApps, 5)
      ])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.deepStrictEqual(answers.map(({ id, result }) => [id, result !== undefined]).toSorted(), [
        [0, true],
        [1, true],
        [2, true],
        [3, true],
        [4, true],
        [5, true]
      ])
      const isDrawn = ({ result }: { readonly result?: unknown }) =>
        JSON.stringify(result).includes("ui://n8n/workflow")
      assert.deepStrictEqual(answers.filter(isDrawn).map(({ id }) => id), [5])
    }))

  it.live("answers calls that need nothing but an n8n without the rest of the program, and as it does", () =>
    Effect.gen(function*() {
      const workflows = [
        { id: "a", name: "注文", nodes: [{ name: "When", type: "n8n-nodes-base.manualTrigger", parameters: {} }] },
        { id: "b", name: "Two\u202e", nodes: [], active: true }
      ]
      const { url } = yield* serve({ workflows, executions: [] })
      const env = { N8N_URL: url.href, N8N_API_KEY: "key", N8N_MCP_LOCALE: "ja", N8N_MCP_TOOLSETS: "all" }
      const calls = [
        { name: "list_workflows", arguments: {} },
        { name: "list_workflows", arguments: { limit: "many" } },
        { name: "list_credentials" },
        { name: "stop_execution", arguments: { id: "1" } }
      ].map((call, id) => request("tools/call", call, {}, id))
      const byId = (answers: ReadonlyArray<object>) =>
        answers.toSorted((a, b) => Number(obj(a)?.["id"]) - Number(obj(b)?.["id"]))
      const { folder, main: part } = yield* installed
      const { folder: other, main: whole } = yield* installed
      rmSync(join(folder, readdirSync(folder).find((name) => name.startsWith("main-Serving-")) ?? ""))
      rmSync(join(other, "start.json"))
      const first = yield* talk([], env, calls, part)
      assert.deepStrictEqual(byId(first.answers), byId((yield* talk([], env, calls, whole)).answers))
      assert.include(JSON.stringify(byId(first.answers)[0]), "注文")
      // Not offered here, so it is for the program to refuse.
      const refused = yield* talk(["--read-only"], env, calls.slice(3), whole)
      assert.deepStrictEqual((yield* talk(["--read-only"], env, calls.slice(3))).answers, refused.answers)
    }).pipe(Effect.scoped))

  const listed = (answer: Readonly<Record<string, unknown>> | undefined) =>
    JSON.stringify(answer).includes("Workflow A")

  const withList = Effect.gen(function*() {
    const { url } = yield* serve({ workflows: [{ id: "a", name: "Workflow A", nodes: [] }], executions: [] })
    const call = { name: "list_workflows", arguments: { limit: 1 } }
    return {
      env: { N8N_URL: url.href, N8N_API_KEY: "key" },
      modern: [request("tools/call", call, {}, 1)],
      legacy: [initialize, { jsonrpc: "2.0", id: 1, method: "tools/call", params: call }]
    }
  })

  it.live("lists workflows with one file more than the start, in both eras", () =>
    Effect.gen(function*() {
      const { env, legacy, modern } = yield* withList
      const { folder, main } = yield* installed
      const needed = /^main(-run)?\.mjs$|^main-(first|rolldown-runtime|Legacy)-/
      for (const name of readdirSync(folder)) {
        if (name.endsWith(".mjs") && !needed.test(name)) rmSync(join(folder, name))
      }
      for (const messages of [modern, legacy]) {
        const { answers } = yield* talk([], env, messages, main)
        assert.isTrue(listed(answers.find(({ id }) => id === 1)), JSON.stringify(answers))
      }
    }).pipe(Effect.scoped))

  it.live("compiles nothing again, neither of its own nor of Node's, from the second start to its first call", () =>
    Effect.gen(function*() {
      const { env, modern } = yield* withList
      const { folder, main } = yield* installed
      const hook = join(folder, "hook.cjs")
      writeFileSync(
        hook,
        `const { internalBinding } = require("internal/test/binding")
        const { compiledWithoutCache } = internalBinding("builtins").getCacheUsage()
        const before = new Set(compiledWithoutCache)
        process.on("exit", () => {
          for (const name of internalBinding("builtins").getCacheUsage().compiledWithoutCache)
            if (!before.has(name)) process.stderr.write(\`without cache: \${name}\\n\`)
          const { length } = process.moduleLoadList.filter((name) => name.includes("undici"))
          process.stderr.write(\`modules of fetch: \${length}\\n\`)
        })`
      )
      const own = { ...env, XDG_CACHE_HOME: folder, NODE_DEBUG_NATIVE: "COMPILE_CACHE" }
      const traced = () => talk(["-r", hook, main], own, modern, "--expose-internals")
      yield* traced()
      const { answers, stderr } = yield* traced()
      assert.isTrue(listed(answers[0]))
      const compiled = Array.from(
        stderr.matchAll(/V8 code cache for ESM \S*\/main-(\w+)\S* was (accepted)?/g),
        ([, name = "", isAccepted]) => [name, isAccepted !== undefined] as const
      ).toSorted(([a], [b]) => a < b ? -1 : 1)
      assert.deepStrictEqual(compiled, [["first", true], ["rolldown", true], ["run", true]])
      assert.deepStrictEqual(stderr.match(/^(without cache|modules of fetch): .*$/gm), ["modules of fetch: 0"])
    }).pipe(Effect.scoped))

  it.live("ends with 1, and says why, where the program cannot be loaded", () =>
    Effect.gen(function*() {
      const { folder, main: broken } = yield* installed
      const chunk = readdirSync(folder).find((name) => name.startsWith("main-Serving-")) ?? ""
      rmSync(join(folder, chunk))
      const { child, ended } = start([], {}, broken)
      child.stdin.write(`${JSON.stringify(request("server/discover"))}\n`)
      const { code, stderr, stdout } = yield* ended
      assert.strictEqual(code, 1)
      assert.match(stderr, /^effect-n8n-mcp cannot be loaded; install it again: .*main-Serving-/)
      assert.include(stdout, "supportedVersions")
    }).pipe(Effect.scoped))

  it.live("refuses a policy that is not JSON and a key with a line break before it answers, even to a client that left", () =>
    Effect.gen(function*() {
      const env = { N8N_URL: "http://localhost:5678", N8N_API_KEY: "k" }
      for (
        const [wrong, reason] of [
          [{ N8N_URL: "ftp://n8n" }, "not an http address: 'ftp://n8n'"],
          [{ N8N_MCP_POLICY: fileURLToPath(import.meta.url) }, "--policy"],
          [{ N8N_API_KEY: "abc\ndef" }, "N8N_API_KEY (--api-key) contains a line break"]
        ] as const
      ) {
        const { child, ended } = start([], { ...env, ...wrong })
        child.stdin.end(`${JSON.stringify(request("server/discover"))}\n`)
        const { code, stderr, stdout } = yield* ended
        assert.deepStrictEqual([code, stdout], [1, ""], reason)
        assert.include(stderr, reason)
        assert.lengthOf(stderr.trim().split("\n"), 1)
      }
    }))
})
