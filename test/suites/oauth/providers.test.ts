/** The recipes of oauth.md, with a provider that has the documented defaults of Keycloak, Auth0 or Entra. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose"
import { folderWith, platform } from "../../support/folders.ts"
import * as IdentityProvider from "../../support/IdentityProvider.ts"
import { bundle, remove } from "../../support/Process.ts"
import { serving } from "./serving.ts"

beforeAll(bundle, 60_000)
afterAll(remove)

const publicUrl = "https://mcp.example.com"
const resource = `${publicUrl}/mcp`
const app = "11111111-2222-4333-8444-555555555555"
const prefix = `api://${app}/`

/** A recipe: options of the server, and how a client logs in. */
interface Recipe {
  readonly args: ReadonlyArray<string>
  readonly login: { readonly resource?: string; readonly more?: Readonly<Record<string, string>> }
  /** Prefix of scopes in requests. */
  readonly prefix?: string
  /** Other scopes that the recipe has the client ask for. */
  readonly also?: string
  /** Claims of its access tokens. */
  readonly claims: object
}

const entra = { prefix, login: {} }

const recipes: { readonly [Kind in IdentityProvider.Kind]: Recipe } = {
  keycloak: { args: [], login: {}, also: " mapped", claims: { typ: "Bearer", aud: [resource, "account"] } },
  auth0: { args: [], login: { more: { audience: resource } }, claims: {} },
  entra: {
    ...entra,
    args: ["--oauth-audience", app, "--oauth-scope-prefix", prefix],
    claims: { aud: app, ver: "2.0", scp: "n8n:read n8n:write" }
  },
  entra1: {
    ...entra,
    args: ["--oauth-audience", `api://${app}`, "--oauth-scope-prefix", prefix],
    claims: { aud: `api://${app}`, ver: "1.0", scp: "n8n:read n8n:write" }
  }
}

const set = Effect.fnUntraced(function*(kind: IdentityProvider.Kind) {
  const recipe = recipes[kind]
  const provider = yield* IdentityProvider.start(0, kind)
  const server = yield* serving(provider.issuer, {
    args: ["--demo", ...recipe.args],
    publicUrl,
    state: yield* folderWith()
  })
  const login = (scope: string, own: Recipe["login"] = recipe.login) =>
    IdentityProvider.login(provider, { clientId: "claude", scope, ...own })
  return { provider, recipe, login, ...server }
})

describe.each(Object.keys(recipes) as ReadonlyArray<IdentityProvider.Kind>)("%s", (kind) => {
  it.live("logs in by discovery and PKCE with the scopes that are announced, and calls", () =>
    Effect.gen(function*() {
      const { execute, login, provider, recipe, url } = yield* set(kind)
      const { challenge } = yield* execute("", "list_workflows")
      const [, metadataUrl = ""] = /resource_metadata="([^"]+)"/.exec(challenge) ?? []
      assert.strictEqual(new URL(metadataUrl).origin, publicUrl)
      const metadata: { readonly authorization_servers: unknown; readonly scopes_supported: ReadonlyArray<string> } =
        yield* Effect.promise(() => fetch(`${url}${new URL(metadataUrl).pathname}`).then((answer) => answer.json()))
      assert.deepStrictEqual(metadata.authorization_servers, [provider.issuer])
      const own = metadata.scopes_supported
      assert.deepStrictEqual(own, ["n8n:read", "n8n:write"].map((scope) => `${recipe.prefix ?? ""}${scope}`))

      const token = (yield* login(`${own.join(" ")}${recipe.also ?? ""}`)).access
      assert.strictEqual(decodeProtectedHeader(token).typ, "JWT")
      assert.deepInclude<object>(decodeJwt(token), { iss: provider.issuer, ...recipe.claims })
      assert.strictEqual((yield* execute(token, "list_workflows")).status, 200)
      assert.notInclude([401, 403], (yield* execute(token, "delete_workflow", { id: "nowhere" })).status)
      const reader = (yield* login(`${own[0]}${recipe.also ?? ""}`)).access
      assert.strictEqual((yield* execute(reader, "list_workflows")).status, 200)
      const refused = yield* execute(reader, "delete_workflow", { id: "nowhere" })
      assert.strictEqual(refused.status, 403)
      assert.include(refused.challenge, `scope="${own.join(" ")}"`)
    }).pipe(Effect.provide(platform)))

  it.live("gives nothing for other kinds of token, other audiences, issuers and times, or other signatures", () =>
    Effect.gen(function*() {
      const { execute, login, provider, recipe } = yield* set(kind)
      const own = ["n8n:read", "n8n:write"].map((scope) => `${recipe.prefix ?? ""}${scope}`).join(" ")
      const good = yield* login(`${own}${recipe.also ?? ""}`)
      const claims = decodeJwt(good.access)
      const header = { typ: "JWT" }
      const sign = (payload: object, more: object = header) =>
        IdentityProvider.signed(provider, more, { ...claims, ...payload })
      // What is refused below is not refused for the way in which it was made.
      assert.strictEqual((yield* execute(yield* sign({}), "list_workflows")).status, 200)
      const jwks = yield* Effect.promise(() =>
        fetch(`${provider.issuer.replace(/\/$/, "")}/jwks`).then((answer) => answer.text())
      )
      const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
      const now = Math.floor(Date.now() / 1000)
      const tokens: { readonly [name: string]: string } = {
        "its ID token": good.id,
        "its refresh token": good.refresh,
        "claim typ ID": yield* sign({ typ: "ID" }),
        "claim typ Refresh": yield* sign({ typ: "Refresh" }),
        "a logout token": yield* sign({}, { typ: "logout+jwt" }),
        "a proof of possession": yield* sign({}, { typ: "dpop+jwt" }),
        "another audience": yield* sign({ aud: "https://other.example.com/mcp" }),
        "the audience account": yield* sign({ aud: "account" }),
        "an expired one": yield* sign({ exp: now - 120, iat: now - 720 }),
        "another issuer": yield* sign({ iss: "https://evil.example.com/" }),
        "alg none": `${encoded({ alg: "none", typ: "JWT" })}.${encoded(claims)}.`,
        "HS256 with the public keys": yield* Effect.promise(() =>
          new SignJWT(claims).setProtectedHeader({ alg: "HS256", typ: "JWT" }).sign(new TextEncoder().encode(jwks))
        ),
        "the key of another provider": yield* IdentityProvider.signed(
          yield* IdentityProvider.start(0, kind),
          header,
          claims
        )
      }
      for (const [name, token] of Object.entries(tokens)) {
        const { challenge, status } = yield* execute(token, "list_workflows")
        assert.strictEqual(status, 401, name)
        assert.include(challenge, "error=\"invalid_token\"", name)
      }
    }).pipe(Effect.provide(platform)))
})

describe("without a step of the recipe", () => {
  it.live("Keycloak's audience is account, Auth0's token opaque, Entra's login refused or of its other version", () =>
    Effect.gen(function*() {
      const keycloak = yield* set("keycloak")
      const unmapped = (yield* keycloak.login("n8n:read n8n:write")).access
      assert.strictEqual(decodeJwt(unmapped).aud, "account")
      assert.include((yield* keycloak.execute(unmapped, "list_workflows")).challenge, "Its audience is not")

      const auth0 = yield* set("auth0")
      const opaque = (yield* auth0.login("n8n:read n8n:write", {})).access
      assert.lengthOf(opaque.split("."), 1)
      assert.include((yield* auth0.execute(opaque, "list_workflows")).challenge, "not a signed JWT")
      const byResource = (yield* auth0.login("n8n:read n8n:write", { resource })).access
      assert.strictEqual((yield* auth0.execute(byResource, "list_workflows")).status, 200)

      const entra = yield* set("entra")
      assert.include((yield* Effect.flip(entra.login("n8n:read n8n:write"))).message, "AADSTS650053")
      const older = yield* IdentityProvider.start(0, "entra1")
      const v1 = yield* IdentityProvider.login(older, { clientId: "claude", scope: `${prefix}n8n:read` })
      assert.include((yield* entra.execute(v1.access, "list_workflows")).challenge, "another issuer")
    }).pipe(Effect.provide(platform)))

  it.live("a program of Entra has roles instead of scopes", () =>
    Effect.gen(function*() {
      const { execute, provider } = yield* set("entra")
      const token = yield* IdentityProvider.ofProgram(provider, ".default")
      assert.deepInclude<object>(decodeJwt(token), { roles: ["n8n:read"] })
      assert.notProperty(decodeJwt(token), "scp")
      assert.strictEqual((yield* execute(token, "list_workflows")).status, 200)
      assert.strictEqual((yield* execute(token, "delete_workflow", { id: "nowhere" })).status, 403)
    }).pipe(Effect.provide(platform)))
})
