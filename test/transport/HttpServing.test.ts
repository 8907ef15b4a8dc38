import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { folderWith, platform } from "../folders.ts"
import { bundle, remove, start } from "./Process.ts"

beforeAll(bundle)
afterAll(remove)

/** An n8n with one workflow, named after the API key that asks. */
const n8n = Effect.acquireRelease(
  Effect.callback<ReturnType<typeof createServer>>((resume) => {
    const server = createServer((request, response) => {
      const name = String(request.headers["x-n8n-api-key"])
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({
        data: [{ id: "1", name, active: false, nodes: [], connections: {}, createdAt: "", updatedAt: "" }],
        nextCursor: null
      }))
    }).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    })
).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))

/** The server, once it tells where it listens. */
const serving = (args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  Effect.gen(function*() {
    const started = start(["--transport", "http", "--port", "0", ...args], env)
    yield* Effect.addFinalizer(() => Effect.sync(() => started.child.kill("SIGKILL")))
    let url: string | undefined
    while (url === undefined) {
      yield* Effect.sleep("10 millis")
      assert.isNull(started.child.exitCode, started.errors())
      url = /address=(\S+)/.exec(started.errors())?.[1]
    }
    return { ...started, url }
  })

const execute = (url: string, token: string, name: string, parameters: object = {}) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}/mcp/execute`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ name, parameters })
    })
    return { status: response.status, text: await response.text() }
  })

const toolNames = (url: string, token: string) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}/mcp/tools`, { method: "POST", headers: { authorization: `Bearer ${token}` } })
    const { tools } = await response.json() as { tools: ReadonlyArray<{ name: string }> }
    return tools.map(({ name }) => name)
  })

describe("over HTTP", () => {
  it.live("a token leads to its profile, and a read-only profile offers nothing that writes", () =>
    Effect.gen(function*() {
      const address = yield* n8n
      const folder = yield* folderWith({
        "n8n.json": JSON.stringify({
          profiles: [
            { name: "prod", url: address, apiKeyEnv: "PROD_KEY", readOnly: true, tokensEnv: "PROD_TOKENS" },
            { name: "staging", url: address, apiKey: "staging-key", tokens: ["staging-token"] }
          ]
        })
      })
      const { child, ended, errors, url } = yield* serving(["--config", `${folder}/n8n.json`], {
        PROD_KEY: "prod-key",
        PROD_TOKENS: "old-token,new-token",
        XDG_STATE_HOME: folder
      })
      const profiles = [["old-token", "prod"], ["new-token", "prod"], ["staging-token", "staging"]] as const
      for (const [token, name] of profiles) {
        const { text } = yield* execute(url, token, "list_workflows")
        assert.include(text, `"name":"${name}-key"`)
      }
      assert.strictEqual((yield* execute(url, "other-token", "list_workflows")).status, 401)

      const [prod, staging] = [yield* toolNames(url, "new-token"), yield* toolNames(url, "staging-token")]
      assert.isFalse(prod.some((name) => /delete|update|create|edit|test_/.test(name)), prod.join())
      assert.include(staging, "delete_workflow")
      // Whoever calls from elsewhere has other files than this machine.
      assert.isFalse(staging.some((name) => /file|workflow_(create|load|save|list)/.test(name)), staging.join())
      const refused = yield* execute(url, "old-token", "delete_workflow", { id: "1" })
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, "read-only")

      const health = yield* Effect.promise(() => fetch(`${url}/health`).then((response) => response.json()))
      assert.deepInclude(health, { status: "ok", n8n: "ok" })

      child.kill("SIGTERM")
      const { code, stdout } = yield* ended
      assert.deepStrictEqual([code, stdout], [0, ""])
      assert.include(errors(), "client=staging call=list_workflows")
      assert.notMatch(errors(), /(old|new|staging|other)-token|-key/)
    }).pipe(Effect.provide(platform)))

  it.live("doctor examines every profile where none is named", () =>
    Effect.gen(function*() {
      const address = yield* n8n
      const folder = yield* folderWith({
        "n8n.json": JSON.stringify({
          profiles: ["a", "b"].map((name) => ({
            name,
            url: name === "a" ? address : "http://127.0.0.1:9",
            apiKey: "k"
          }))
        })
      })
      const { ended } = start(["doctor", "--json", "--config", `${folder}/n8n.json`], { XDG_STATE_HOME: folder })
      const { code, stdout } = yield* ended
      const told = stdout.trim().split("\n").map((line) => JSON.parse(line) as { profile: string; checks: object[] })
      assert.deepStrictEqual(told.map(({ profile }) => profile), ["a", "b"])
      assert.deepInclude(told[1]?.checks.find((check) => "name" in check && check.name === "n8n"), { status: "failed" })
      assert.strictEqual(code, 1)
    }).pipe(Effect.provide(platform)))

  it.live("says what is missing instead of starting", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith({
        "two.json": JSON.stringify({
          profiles: ["a", "b"].map((name) => ({ name, url: "http://127.0.0.1:9", apiKey: "k" }))
        }),
        "same.json": JSON.stringify({
          profiles: ["a", "b"].map((name) => ({ name, url: "http://127.0.0.1:9", apiKey: "k", tokens: ["t"] }))
        })
      })
      const { url } = yield* serving(["--demo"])
      const http = ["--transport", "http", "--port", "0"]
      const two = ["--config", `${folder}/two.json`]
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
        [[...http, "--demo", "--host", "0.0.0.0"], /Listening on 0\.0\.0\.0 needs a token: set N8N_MCP_AUTH_TOKEN/],
        [
          ["--transport", "http", "--demo", "--port", new URL(url).port],
          /Cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/
        ],
        [[...http, ...two], /Several profiles: give each its tokens/],
        [[...http, ...two, "--auth-token", "x"], /say which with --profile/],
        [[...http, "--config", `${folder}/same.json`], /Profiles 'a' and 'b' have the same token/],
        [[...http, "--demo", "--auth-token", "a b"], /has spaces in it/],
        [two, /Which n8n is meant\? Give --profile: 'a', 'b'/],
        [[...two, "--profile", "c"], /There is no profile 'c'/],
        [["--profile", "a"], /give the file with --config/],
        [["--transport", "http", "--demo", "--port", "65536"], /--port must be between 0 and 65535/],
        [[...http, "--demo", "--max-calls", "0"], /--max-calls must be at least 1/],
        [[...http, "--demo", "--rate-limit", "-1"], /--rate-limit must be 0 or more/],
        [["--transport", "htpt"], /stdio.*http/]
      ]
      yield* Effect.forEach(cases, ([args, message]) =>
        Effect.gen(function*() {
          const { child, ended } = start(args)
          child.stdin.end()
          const { code, stderr, stdout } = yield* ended
          assert.deepStrictEqual([code, stdout], [1, ""], args.join(" "))
          assert.match(stderr, message)
          assert.notInclude(stderr, "    at ")
        }), { concurrency: 4 })
    }).pipe(Effect.provide(platform)))
})
