/** `pnpm test:suite oauth`: the built server behind a real identity provider, oidc-provider. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { arr, obj } from "../../../src/base/Json.ts"
import { folderWith, platform } from "../../support/folders.ts"
import * as IdentityProvider from "../../support/IdentityProvider.ts"
import { listening } from "../../support/listening.ts"
import { bundle, freePort, remove } from "../../support/Process.ts"
import type { Answer } from "../../support/serving.ts"
import { serving } from "./serving.ts"

beforeAll(bundle, 60_000)
afterAll(remove)

/** An n8n with one workflow, named after the API key that asks. */
const n8n = listening((request, response) => {
  const name = request.headers["x-n8n-api-key"]
  const workflow = { id: "1", name, active: false, nodes: [], connections: {}, createdAt: "", updatedAt: "" }
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify({ data: [workflow], nextCursor: null }))
})

const firstId = ({ json }: Answer) => String(obj(arr(obj(json["data"])?.["workflows"])[0])?.["id"])

describe("behind a real identity provider", () => {
  it.live("a client finds the provider, logs in, and calls; others' tokens give nothing", () =>
    Effect.gen(function*() {
      const provider = yield* IdentityProvider.start()
      const { call, errors, execute, resource, url } = yield* serving(provider.issuer, { state: yield* folderWith() })
      const { challenge, status } = yield* execute("", "list_workflows")
      assert.strictEqual(status, 401)
      const [, metadataUrl = ""] = /resource_metadata="([^"]+)"/.exec(challenge) ?? []
      const metadata = yield* Effect.promise(() => fetch(metadataUrl).then((response) => response.json()))
      assert.deepInclude(metadata, { resource, authorization_servers: [provider.issuer] })

      const alice = yield* IdentityProvider.login(provider, { resource })
      const listed = yield* execute(alice.access, "list_workflows")
      assert.strictEqual(listed.status, 200)
      const params = { name: "delete_workflow", arguments: { id: firstId(listed) } }
      const asked = obj((yield* call(alice.access, params)).json["result"]) ?? {}
      const [question = ""] = Object.keys(obj(asked["inputRequests"]) ?? {})
      const answer = {
        ...params,
        requestState: asked["requestState"],
        inputResponses: { [question]: { action: "accept", content: { confirm: true } } }
      }
      const carol = yield* IdentityProvider.login(provider, { resource, as: "carol" })
      assert.include(JSON.stringify((yield* call(carol.access, answer)).json), "belongs to another caller")
      const renewed = yield* alice.renewed
      assert.notStrictEqual(renewed.access, alice.access)
      assert.include(JSON.stringify((yield* call(renewed.access, answer)).json), "\\\"success\\\":true")

      const elsewhere = yield* IdentityProvider.login(provider, { resource: "http://127.0.0.1:9/mcp" })
      const [header, payload, signature = ""] = alice.access.split(".")
      const forged = `${header}.${payload}.${signature.slice(0, -8)}AAAAAAAA`
      const other = yield* IdentityProvider.login(yield* IdentityProvider.start(), { resource })
      for (const token of [elsewhere.access, alice.id, alice.refresh, forged, other.access, ""]) {
        const refused = yield* execute(token, "list_workflows")
        assert.strictEqual(refused.status, 401)
        assert.include(refused.challenge, `resource_metadata="${url}/.well-known/`)
      }
      assert.match(errors(), /subject=alice call=delete_workflow/)
      assert.notInclude(errors(), alice.access)
    }).pipe(Effect.provide(platform)))

  it.live("a token's scopes and profile are all that it gives", () =>
    Effect.gen(function*() {
      const provider = yield* IdentityProvider.start()
      const address = yield* n8n
      const folder = yield* folderWith({
        "n8n.json": JSON.stringify({
          profiles: ["prod", "staging"].map((name) => ({
            name,
            url: address,
            apiKey: `key-of-${name}`,
            readOnly: name === "prod"
          }))
        })
      })
      const { execute, resource } = yield* serving(provider.issuer, {
        args: ["--config", `${folder}/n8n.json`],
        state: folder
      })
      const log = (as: string, more: { readonly scope?: string } = {}) =>
        Effect.map(IdentityProvider.login(provider, { resource, as, ...more }), ({ access }) => access)
      const bob = yield* log("bob")
      assert.include(JSON.stringify((yield* execute(bob, "list_workflows")).json), "key-of-staging")
      const reader = yield* log("bob", { scope: "n8n:read" })
      const refused = yield* execute(reader, "delete_workflow", { id: "1" })
      assert.strictEqual(refused.status, 403)
      assert.include(refused.challenge, "insufficient_scope")
      assert.notStrictEqual((yield* execute(bob, "delete_workflow", { id: "1" })).status, 403)
      for (const who of ["alice", "mallory"]) {
        const { json, status } = yield* execute(yield* log(who), "list_workflows")
        assert.strictEqual(status, 403)
        assert.include(JSON.stringify(json), "n8n_profile")
      }
      assert.strictEqual((yield* execute(yield* log("bob", { scope: "n8n:nothing" }), "list_workflows")).status, 403)
    }).pipe(Effect.provide(platform)))

  it.live("the provider may be down, come back, and change its keys", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const { errors, execute, resource } = yield* serving(`http://127.0.0.1:${port}`, { state: yield* folderWith() })
      assert.match(errors(), /the OAuth issuer's keys cannot be read|serving MCP/)
      const list = (token: string) => Effect.map(execute(token, "list_workflows"), ({ status }) => status)

      const first = yield* IdentityProvider.start(port)
      const old = yield* IdentityProvider.login(first, { resource })
      /** Keys are looked for every five seconds at most. */
      const until = (wanted: number, token: string) =>
        list(token).pipe(
          Effect.filterOrFail((status) => status === wanted),
          Effect.retry({ schedule: Schedule.spaced("500 millis"), times: 20 })
        )
      yield* until(200, old.access)

      yield* first.stop
      assert.strictEqual(yield* list(old.access), 200)

      const second = yield* IdentityProvider.start(port)
      const fresh = yield* IdentityProvider.login(second, { resource })
      yield* second.stop
      // Its key is not in hand, and nobody gives it.
      yield* until(503, fresh.access)
      assert.strictEqual(yield* list(old.access), 200)
    }).pipe(Effect.provide(platform)))
})
