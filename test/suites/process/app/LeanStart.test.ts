import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { declarations } from "../../../../src/app/config/Options.ts"
import * as LeanStart from "../../../../src/app/LeanStart.ts"
import { obj } from "../../../../src/base/Json.ts"
import { prepared } from "../../../../src/packaging/start.ts"
import { request } from "../../../mcp/eras/modern.ts"
import { bundle, main, remove, start } from "../../../support/Process.ts"

const talk = (args: ReadonlyArray<string>, env: Record<string, string>, messages: ReadonlyArray<object>) => {
  const { child, ended, output } = start(args, env)
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

describe("LeanStart", () => {
  beforeAll(bundle, 60_000)
  afterAll(remove)

  it("is for those who start it without an option that could change what is prepared", () => {
    assert.isTrue(LeanStart.usesPrepared([], { N8N_URL: "http://n8n", N8N_MCP_TOOLS: "", N8N_MCP_OF_ANOTHER: "1" }))
    assert.isTrue(LeanStart.usesPrepared(["--demo"], {}))
    for (const args of [["--read-only"], ["doctor"], ["--demo", "tools"], ["--help"]]) {
      assert.isFalse(LeanStart.usesPrepared(args, {}), args.join(" "))
    }
    for (const env of [{ N8N_API_KEY: "a\nb" }, { N8N_URL: "n8n" }]) assert.isFalse(LeanStart.usesPrepared([], env))
    for (const name of LeanStart.affectsPrepared) assert.isFalse(LeanStart.usesPrepared([], { [name]: "x" }), name)
    // Whoever adds an option says here that it changes nothing in what is prepared, or adds it to the decisive ones.
    const others = Object.values(declarations).map(({ variable }) => variable).filter((name) =>
      !LeanStart.affectsPrepared.includes(name)
    )
    assert.deepStrictEqual(others.toSorted(), [
      "N8N_API_KEY",
      "N8N_MCP_ALLOWED_HOSTS",
      "N8N_MCP_ALLOWED_ORIGINS",
      "N8N_MCP_AUTH_TOKEN",
      "N8N_MCP_DEMO",
      "N8N_MCP_FILES_ROOT",
      "N8N_MCP_HOST",
      "N8N_MCP_LOCALE",
      "N8N_MCP_MAX_CALLS",
      "N8N_MCP_MAX_CONNECTIONS",
      "N8N_MCP_MAX_EXECUTION_MB",
      "N8N_MCP_MAX_RESULT_CHARS",
      "N8N_MCP_NODES",
      "N8N_MCP_OAUTH_AUDIENCE",
      "N8N_MCP_OAUTH_ISSUER",
      "N8N_MCP_OAUTH_PROFILE_CLAIM",
      "N8N_MCP_PORT",
      "N8N_MCP_PUBLIC_URL",
      "N8N_MCP_RATE_LIMIT",
      "N8N_MCP_SHOW_SECRETS",
      "N8N_MCP_STATE",
      "N8N_MCP_WEBHOOK_URL",
      "N8N_URL"
    ])
  })

  it.live("says what the whole program says, made when it was built", () =>
    Effect.gen(function*() {
      const built: unknown = JSON.parse(readFileSync(new URL("start.json", `file://${main}`), "utf8"))
      assert.deepStrictEqual(built, JSON.parse(JSON.stringify(yield* prepared)))
      const questions = ["server/discover", ...LeanStart.constant].map((method, id) => request(method, {}, {}, id))
      const lean = yield* talk([], {}, questions)
      const whole = yield* talk(["--locale", "en"], {}, questions)
      const byId = (answers: ReadonlyArray<object>) =>
        answers.toSorted((a, b) => Number(obj(a)?.["id"]) - Number(obj(b)?.["id"]))
      assert.lengthOf(lean.answers, 4)
      assert.deepStrictEqual(byId(lean.answers), byId(whole.answers))
    }))

  it.live("serves both eras before and after the program is there", () =>
    Effect.gen(function*() {
      const initialize = {
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "0" } }
      }
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

  it.live("ends with 1, and says why, where the program cannot start", () =>
    Effect.gen(function*() {
      const { child, ended } = start([], { N8N_URL: "localhost:5678", N8N_API_KEY: "k" })
      child.stdin.write(`${JSON.stringify(request("server/discover"))}\n`)
      const { code, stderr, stdout } = yield* ended
      assert.strictEqual(code, 1)
      assert.include(stderr, "not an http address: 'localhost:5678'")
      assert.include(stdout, "supportedVersions")
    }))

  it.live("refuses a policy that is not JSON and a key with a line break before it answers, even to a client that left", () =>
    Effect.gen(function*() {
      const env = { N8N_URL: "http://localhost:5678", N8N_API_KEY: "k" }
      for (
        const [wrong, reason] of [
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
