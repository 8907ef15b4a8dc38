import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Options from "../../src/app/config/Options.ts"
import * as HttpServing from "../../src/app/ServeHttp.ts"
import * as ToolContext from "../../src/app/ToolContext.ts"
import * as tools from "../../src/tools/index.ts"
import { folderWith, platform } from "../support/folders.ts"
import { runAt } from "../support/inProcess.ts"
import { listening } from "../support/listening.ts"
import { parse } from "./config/parsed.ts"

describe("a server with profiles", () => {
  it.live("doctor examines every profile when none is named", () =>
    Effect.gen(function*() {
      const address = yield* listening((_, response) =>
        void response.setHeader("content-type", "application/json").end("{\"data\":[],\"nextCursor\":null}")
      )
      const folder = yield* folderWith({
        "n8n.json": JSON.stringify({
          profiles: ["a", "b"].map((name) => ({
            name,
            url: name === "a" ? address : "http://127.0.0.1:9",
            apiKey: "k"
          }))
        })
      })
      const { code, stdout } = yield* runAt(folder, "doctor", "--json", "--config", `${folder}/n8n.json`)
      const told = JSON.parse(stdout) as ReadonlyArray<{ profile: string; checks: ReadonlyArray<object> }>
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
          profiles: ["a", "b"].map((name) => ({
            name,
            url: "http://127.0.0.1:9",
            apiKey: "k",
            tokens: ["the-same-for-both"]
          }))
        })
      })
      const options = yield* parse(["--transport", "http", "--demo", "--port", "0"])
      const taken = yield* listening((_request, response) => void response.end())
      const two = { demo: false, config: `${folder}/two.json` }
      const token = (text: string) => ({ authToken: [Redacted.make(text)] })
      const issued = (issuer: string, address = "https://n8n.example.com") => ({
        oauthIssuer: issuer,
        publicUrl: address
      })
      const overHttp: ReadonlyArray<readonly [Partial<Options.Options>, RegExp]> = [
        [{ port: Number(new URL(taken).port) }, /Cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/],
        [{ ...two }, /Several profiles: give each its tokens/],
        [{ ...two, ...token("a-token-of-profiles") }, /choose it with --profile/],
        [{ demo: false, config: `${folder}/same.json` }, /Profiles 'a' and 'b' have the same token/],
        [token("a b"), /contains spaces/],
        [token(""), /A token is empty/],
        [token("fifteen-letters"), /needs 16 characters or more/],
        [{ oauthIssuer: "https://id.example.com" }, /--oauth-issuer needs --public-url/],
        [issued("http://id.example.com"), /--oauth-issuer must begin with https/],
        [issued("https://id.example.com?a=b"), /--oauth-issuer contains more than an address/],
        [issued("id.example.com"), /--oauth-issuer is not an http address/],
        [issued("https://id.example.com", "http://n8n.example.com"), /--public-url must begin with https/],
        [issued("https://id.example.com", "https://user:hunter2@n8n.example.com"), /--public-url contains more than/],
        [token("${N8N_MCP_AUTH_TOKEN}"), /a variable was not expanded/]
      ]
      const mcp = { name: "test", version: "0", tools: tools.all }
      for (const [more, message] of overHttp) {
        const error = yield* Effect.flip(HttpServing.serve(mcp, { ...options, ...more }))
        assert.match(error.message, message)
      }
      const overStdio: ReadonlyArray<readonly [Partial<Options.Options>, RegExp]> = [
        [two, /Several profiles: choose one with --profile: 'a', 'b'/],
        [{ ...two, profile: "c" }, /There is no profile 'c'/],
        [{ demo: false, profile: "a" }, /set it with --config/]
      ]
      for (const [more, message] of overStdio) {
        const layer = ToolContext.layer({ ...options, transport: "stdio", ...more })
        assert.match((yield* Effect.flip(Effect.scoped(Layer.build(layer)))).message, message)
      }
      const n8n = (url: string, key = "key") => ({
        demo: false,
        n8nUrl: url,
        apiKey: Redacted.make(key)
      })
      const withSecrets: ReadonlyArray<readonly [Partial<Options.Options>, RegExp]> = [
        [n8n("ftp://user:hunter2@host:21"), /N8N_URL .* not an http address: 'ftp:\/\/…@host:21'/],
        [n8n("http://user:hunter2/@bad host"), /not an http address: 'http:\/\/…@bad host'/],
        [n8n("user:hunter2@host"), /not an http address: '…@host'/],
        [n8n("sk-hunter2hunter2hunter2"), /not an http address: '\[redacted\]'/],
        [n8n("https://user:hunter2@host"), /N8N_URL .* contains a user name or a password/],
        [n8n("http://127.0.0.1:9", "hunter2\nhunter2"), /N8N_API_KEY .* contains a line break/],
        [
          { ...n8n("http://127.0.0.1:9"), webhookUrl: "http://user:hunter2@host" },
          /N8N_MCP_WEBHOOK_URL .* contains a user name or a password/
        ]
      ]
      for (const [more, message] of withSecrets) {
        const layer = ToolContext.layer({ ...options, transport: "stdio", ...more })
        const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
        assert.match(error.message, message)
        assert.notInclude(error.message, "hunter2")
      }
    }).pipe(Effect.provide(platform)))
})
