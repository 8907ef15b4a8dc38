import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync } from "node:fs"
import * as Issuing from "../../../mcp/http/issuing.ts"
import { folderWith, platform } from "../../../support/folders.ts"
import { listening } from "../../../support/listening.ts"
import { bundle, remove, start } from "../../../support/Process.ts"

beforeAll(bundle, 60_000)
afterAll(remove)

/** An n8n with one workflow, named after the API key that asks. */
const n8n = listening((request, response) => {
  const name = String(request.headers["x-n8n-api-key"])
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify({
    data: [{ id: "1", name, active: false, nodes: [], connections: {}, createdAt: "", updatedAt: "" }],
    nextCursor: null
  }))
})

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
            { name: "staging", url: address, apiKey: "staging-key", tokens: ["staging-token-0123456789"] }
          ]
        })
      })
      const { child, ended, errors, url } = yield* serving(["--config", `${folder}/n8n.json`], {
        PROD_KEY: "prod-key",
        PROD_TOKENS: "old-token-0123456789,new-token-0123456789",
        XDG_STATE_HOME: folder
      })
      const profiles = [["old-token-0123456789", "prod"], ["new-token-0123456789", "prod"], [
        "staging-token-0123456789",
        "staging"
      ]] as const
      for (const [token, name] of profiles) {
        const { text } = yield* execute(url, token, "list_workflows")
        assert.include(text, `"name":"${name}-key"`)
      }
      assert.strictEqual((yield* execute(url, "other-token-0123456789", "list_workflows")).status, 401)

      const [prod, staging] = [
        yield* toolNames(url, "new-token-0123456789"),
        yield* toolNames(url, "staging-token-0123456789")
      ]
      assert.isFalse(prod.some((name) => /delete|update|create|edit|test_/.test(name)), prod.join())
      assert.include(staging, "delete_workflow")
      // Whoever calls from elsewhere has other files than this machine.
      assert.isFalse(staging.some((name) => /file|workflow_(create|load|save|list)/.test(name)), staging.join())
      const refused = yield* execute(url, "old-token-0123456789", "delete_workflow", { id: "1" })
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

  it.live("without profiles a token that names one is refused", () =>
    Effect.gen(function*() {
      const key = yield* Issuing.makeKey("1")
      const keys = JSON.stringify({ keys: [key.jwk] })
      let metadata = ""
      const issuer = yield* listening((request, response) => {
        response.setHeader("content-type", "application/json")
        response.end(request.url === "/keys" ? keys : metadata)
      })
      metadata = JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` })
      const publicUrl = "https://n8n.example.com"
      const { url } = yield* serving(["--demo", "--oauth-issuer", issuer, "--public-url", publicUrl])
      const ask = (profile: unknown) =>
        Effect.gen(function*() {
          const exp = Math.floor(Date.now() / 1000) + 600
          const own = { iss: issuer, aud: `${publicUrl}/mcp`, exp, n8n_profile: profile }
          return yield* execute(url, yield* Issuing.sign(key, own), "list_workflows")
        })
      assert.strictEqual((yield* ask(undefined)).status, 200)
      for (const profile of ["prod", "", "undefined", 1, null]) {
        const { status, text } = yield* ask(profile)
        assert.strictEqual(status, 403, String(profile))
        assert.include(text, "its claim 'n8n_profile' does not name a profile of this server")
      }
    }).pipe(Effect.provide(platform)))

  it.live("a profile's files are its own, and one without a folder has no file tools", () =>
    Effect.gen(function*() {
      const address = yield* n8n
      const profile = (name: string, more: object = {}) => ({
        name,
        url: address,
        apiKey: "the-same-for-all",
        tokens: [`${name}-token-0123456789`],
        ...more
      })
      const folder = yield* folderWith({
        "a/a.json": JSON.stringify({ name: "Of a", nodes: [], connections: {} }),
        "b/b.json": JSON.stringify({ name: "Of b", nodes: [], connections: {} }),
        "server/s.json": JSON.stringify({ name: "Of all", nodes: [], connections: {} }),
        "n8n.json": JSON.stringify({
          profiles: [
            profile("a", { filesRoot: "a" }),
            profile("b", { filesRoot: ["b"], state: "b-state" }),
            profile("none", { filesRoot: [] }),
            profile("server")
          ]
        })
      })
      const { errors, url } = yield* serving(
        ["--config", `${folder}/n8n.json`, "--files-root", `${folder}/server`, "--toolsets", "all"],
        { XDG_STATE_HOME: `${folder}/state` }
      )
      const ask = (name: string, tool: string, parameters: object = {}) =>
        execute(url, `${name}-token-0123456789`, tool, parameters)
      for (const [name, file] of [["a", "a.json"], ["b", "b.json"], ["server", "s.json"]] as const) {
        const { text } = yield* ask(name, "workflow_list")
        assert.include(text, `"path":"${file}"`)
        assert.include(text, "\"total\":1")
        const names = yield* toolNames(url, `${name}-token-0123456789`)
        assert.includeMembers(names, ["workflow_create", "sync_status"])
      }
      const offered = yield* toolNames(url, "none-token-0123456789")
      assert.isFalse(offered.some((name) => /file|workflow_(create|load|save|list)|^sync/.test(name)), offered.join())
      assert.include(offered, "workflow_edit")
      const unknown = yield* ask("none", "workflow_create", { name: "x" })
      assert.strictEqual(unknown.status, 404)
      assert.include(unknown.text, "Unknown tool 'workflow_create'")
      assert.notInclude(unknown.text, "workflow_save")
      for (const path of [`${folder}/b/b.json`, "../b/b.json", "b.json"]) {
        const { status, text } = yield* ask("a", "workflow_load", { workflowIdOrPath: path })
        assert.strictEqual(status, 400, path)
        assert.notInclude(text, "Of b")
      }
      // Snapshots of files are where the state is.
      for (const name of ["a", "b"]) {
        yield* ask(name, "workflow_save", {
          workflowId: "x",
          filePath: `${name}.json`,
          workflowData: { name: "New", nodes: [], connections: {} }
        })
        assert.include((yield* ask(name, "workflow_history", { id: `${name}.json` })).text, "before workflow_save")
      }
      // A snapshot begins with its description.
      const stored = `${folder}/b-state/snapshots`
      const names = readdirSync(stored, { recursive: true, encoding: "utf8" })
        .filter((name) => name.includes("/snapshot-"))
        .map((name) => JSON.parse(readFileSync(`${stored}/${name}`, "latin1").split("\n")[0] ?? "").name)
      assert.deepStrictEqual(names, ["b.json"])
      assert.notInclude(errors(), "the-same-for-all")
    }).pipe(Effect.provide(platform)))
})
