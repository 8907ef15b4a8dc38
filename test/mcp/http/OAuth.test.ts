import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as TestClock from "effect/testing/TestClock"
import { exportSPKI, SignJWT, UnsecuredJWT } from "jose"
import * as Issuer from "../../../src/mcp/http/Issuer.ts"
import * as OAuth from "../../../src/mcp/http/OAuth.ts"
import { claims, issuer, type Key, make, makeKey, resourceId, sign } from "./issuing.ts"

const resource = OAuth.resource({ issuer, publicUrl: new URL("https://n8n.example.com"), readOnly: false })

/** The server's access, with an issuer that has these keys. */
const accessWith = Effect.fnUntraced(function*(keys: ReadonlyArray<Key>, options: Partial<OAuth.Options> = {}) {
  const fake = make(keys)
  const store = yield* Effect.provideService(Issuer.make(issuer), HttpClient.HttpClient, fake.client)
  const access = OAuth.access({
    issuer,
    resource,
    profileClaim: "n8n_profile",
    targetOf: (profile) => ({ client: profile, readOnly: false }),
    ...options
  }, store)
  return { ...fake, access: (token: string) => access(`Bearer ${token}`) }
})

const challengeOf = ({ headers }: { readonly headers?: Readonly<Record<string, string>> }) =>
  headers?.["www-authenticate"] ?? ""

describe("resource", () => {
  it.each([
    ["https://n8n.example.com", "https://n8n.example.com/mcp"],
    ["https://N8N.example.com:443/", "https://n8n.example.com/mcp"],
    ["https://n8n.example.com/mcp", "https://n8n.example.com/mcp"],
    ["https://n8n.example.com/mcp/", "https://n8n.example.com/mcp"],
    ["https://example.com:8443/n8n", "https://example.com:8443/n8n/mcp"]
  ])("%s is %s", (publicUrl, id) => {
    const { metadata, metadataUrl, paths } = OAuth.resource({ issuer, publicUrl: new URL(publicUrl), readOnly: false })
    assert.deepInclude(metadata, { resource: id, authorization_servers: [issuer] })
    const { origin, pathname } = new URL(id)
    assert.strictEqual(metadataUrl, `${origin}/.well-known/oauth-protected-resource${pathname}`)
    assert.includeMembers([...paths], [new URL(metadataUrl).pathname, "/.well-known/oauth-protected-resource"])
  })
})

describe("a token", () => {
  it.effect.each(["ES256", "RS256", "PS256", "EdDSA"])("signed with %s gives access", (alg) =>
    Effect.gen(function*() {
      const key = yield* makeKey("one", alg)
      const { access } = yield* accessWith([key])
      const known = yield* access(yield* sign(key))
      assert.deepInclude(known, { client: undefined, subject: "alice" })
      assert.isUndefined(known.readOnly)
      assert.notInclude(known.principal, "alice")
    }))

  it.effect("of the same subject is the same caller, whatever its other claims", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("one")
      const { access } = yield* accessWith([key])
      const first = yield* access(yield* sign(key))
      const refreshed = yield* access(yield* sign(key, { exp: 900, iat: 10, jti: "two", client_id: "other" }))
      const other = yield* access(yield* sign(key, { sub: "bob" }))
      assert.deepStrictEqual([refreshed.principal, refreshed.key], [first.principal, first.key])
      assert.notStrictEqual(other.principal, first.principal)
      assert.notStrictEqual(other.key, first.key)
    }))

  it.effect.each<[string, Record<string, unknown>, string]>([
    ["another issuer", { iss: "https://evil.example.com" }, "another issuer"],
    ["no issuer", { iss: undefined }, "another issuer"],
    ["another audience", { aud: "https://other.example.com/mcp" }, "audience"],
    ["the audience of the host alone", { aud: "https://n8n.example.com" }, "audience"],
    ["no audience", { aud: undefined }, "audience"],
    ["a time that is over", { exp: -31 }, "expired"],
    ["no end", { exp: undefined }, "exp"],
    ["an end that is no time", { exp: "soon" }, "exp"],
    ["a time that is to come", { nbf: 31 }, "not valid yet"],
    ["no subject", { sub: undefined }, "sub"],
    ["an empty subject", { sub: "" }, "sub"],
    ["a subject that is no text", { sub: 7 }, "sub"],
    ["a subject as long as a book", { sub: "a".repeat(256) }, "sub"]
  ])("with %s is refused", ([, own, reason]) =>
    Effect.gen(function*() {
      const key = yield* makeKey("one")
      const { access } = yield* accessWith([key])
      const refusal = yield* Effect.flip(access(yield* sign(key, own)))
      assert.strictEqual(refusal.status, 401)
      assert.include(refusal.message, reason)
      assert.include(challengeOf(refusal), "error=\"invalid_token\"")
      assert.include(
        challengeOf(refusal),
        "resource_metadata=\"https://n8n.example.com/.well-known/oauth-protected-resource/mcp\""
      )
      assert.include(challengeOf(refusal), "scope=\"n8n:read n8n:write\"")
    }))

  it.effect("may be as old, or as new, as clocks differ", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("one")
      const { access } = yield* accessWith([key])
      yield* access(yield* sign(key, { exp: -29 }))
      yield* access(yield* sign(key, { nbf: 29 }))
      yield* TestClock.adjust("10 minutes")
      yield* access(yield* sign(key))
      yield* TestClock.adjust("31 seconds")
      assert.strictEqual((yield* Effect.flip(access(yield* sign(key)))).status, 401)
    }))

  it.effect("may have several audiences, and its issuer a slash at the end", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("one")
      const { access } = yield* accessWith([key])
      yield* access(yield* sign(key, { aud: ["https://other.example.com", resourceId], iss: `${issuer}/` }))
    }))

  const user = { scope: undefined, sub: "4f2a-pairwise", oid: "9b1c", tid: "t1" }
  const program = { scope: undefined, sub: "9b1c", oid: "9b1c", azp: "client", roles: ["n8n:read"] }

  it.effect.each<readonly [string, Record<string, unknown>, string | undefined]>([
    ["Keycloak's access token", { typ: "Bearer", azp: "claude", aud: [resourceId, "account"] }, "JWT"],
    ["Auth0's access token", { aud: [resourceId, "https://team.auth0.com/userinfo"], azp: "claude" }, "JWT"],
    ["Auth0's access token by RFC 9068", { client_id: "claude" }, "at+jwt"],
    ["Entra's access token of a person", { ...user, aud: "app-id", scp: "n8n:read n8n:write", ver: "2.0" }, "JWT"],
    ["Entra's access token of a program", { ...program, aud: "app-id" }, "JWT"],
    ["Entra's access token of a program, marked", { ...program, sub: "x", idtyp: "app", aud: "app-id" }, "JWT"],
    ["a type with its prefix", {}, "application/at+jwt"]
  ])("is accepted: %s", ([, own, typ]) =>
    Effect.gen(function*() {
      const key = yield* makeKey("one")
      const { access } = yield* accessWith([key], { audience: "app-id" })
      assert.isDefined((yield* access(yield* sign(key, own, { typ }))).subject)
    }))

  it.effect.each<readonly [string, Record<string, unknown>, string | undefined, RegExp]>([
    ["Keycloak's ID token", { typ: "ID" }, "JWT", /not an access token/],
    ["Keycloak's refresh token", { typ: "Refresh" }, "JWT", /not an access token/],
    ["Keycloak's logout token", { typ: "Logout" }, "JWT", /not an access token/],
    ["a claim typ that is not text", { typ: 1 }, "JWT", /not an access token/],
    ["Keycloak's access token for itself", { typ: "Bearer", aud: "account" }, "JWT", /Its audience is not/],
    ["Auth0's ID token", { aud: "client-id" }, "JWT", /Its audience is not/],
    ["an ID token with a nonce for this audience", { nonce: "n" }, "JWT", /not an access token/],
    ["an ID token with a hash for this audience", { at_hash: "h" }, "JWT", /not an access token/],
    [
      "Entra's ID token of the same application",
      { ...user, aud: "app-id", roles: ["n8n:write"] },
      "JWT",
      /neither of the scopes/
    ],
    ["a logout token", {}, "logout+jwt", /neither at\+jwt nor JWT/],
    ["a proof of possession", {}, "dpop+jwt", /neither at\+jwt nor JWT/],
    ["a token without a type", {}, undefined, /neither at\+jwt nor JWT/]
  ])("is refused: %s", ([, own, typ, reason]) =>
    Effect.gen(function*() {
      const key = yield* makeKey("one")
      const { access } = yield* accessWith([key], { audience: "app-id" })
      const refusal = yield* Effect.flip(access(yield* sign(key, own, { typ })))
      assert.match(refusal.message, reason)
    }))

  it.effect("for another audience is refused unless that is set", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("one")
      const { access } = yield* accessWith([key])
      assert.match((yield* Effect.flip(access(yield* sign(key, { aud: "app-id" })))).message, /Its audience is not/)
    }))

  it.effect("without a signature, or signed with what is public, is refused", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("one", "RS256")
      const { access, state } = yield* accessWith([key])
      const unsigned = new UnsecuredJWT(claims).encode()
      const none = `${Buffer.from(JSON.stringify({ alg: "none", typ: "at+jwt" })).toString("base64url")}.${
        unsigned.split(".")[1]
      }.`
      const pem = yield* Effect.promise(() => exportSPKI(key.publicKey))
      const confused = yield* Effect.promise(() =>
        new SignJWT(claims).setProtectedHeader({ alg: "HS256", typ: "at+jwt", kid: "one" })
          .sign(new TextEncoder().encode(pem))
      )
      const [header, , signature] = (yield* sign(key)).split(".")
      const changed = `${header}.${
        Buffer.from(JSON.stringify({ ...claims, sub: "root" })).toString("base64url")
      }.${signature}`
      const foreign = yield* sign({ ...yield* makeKey("one", "RS256") })
      for (const token of [none, confused, changed, foreign, "no.jwt.atall", "abc", `${header}..${signature}`]) {
        const refusal = yield* Effect.flip(access(token))
        assert.strictEqual(refusal.status, 401, token)
        assert.include(challengeOf(refusal), "invalid_token")
      }
      // None of them made the server read keys again.
      assert.lengthOf(state.asked.filter((url) => url.endsWith("/keys")), 1)
    }))

  it.effect("that names no key is compared with all", () =>
    Effect.gen(function*() {
      const keys = [yield* makeKey(undefined), yield* makeKey(undefined)]
      const { access } = yield* accessWith(keys)
      for (const key of keys) assert.strictEqual((yield* access(yield* sign(key))).subject, "alice")
      assert.strictEqual((yield* Effect.flip(access(yield* sign(yield* makeKey(undefined))))).status, 401)
    }))
})

describe("scopes", () => {
  it.effect("without the one to write a token only reads; without both it gives nothing", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("one")
      const { access } = yield* accessWith([key])
      for (const scope of ["n8n:read", "openid n8n:read", ["n8n:read"]]) {
        const reader = yield* access(yield* sign(key, { scope }))
        assert.isTrue(reader.readOnly)
        assert.strictEqual(reader.writeRefusal?.status, 403)
        assert.include(
          challengeOf(reader.writeRefusal ?? {}),
          "error=\"insufficient_scope\", scope=\"n8n:read n8n:write\""
        )
      }
      assert.isUndefined((yield* access(yield* sign(key, { scope: undefined, scp: ["n8n:write"] }))).readOnly)
      for (const scope of [undefined, "", "openid", "n8n:reader", 7]) {
        const refusal = yield* Effect.flip(access(yield* sign(key, { scope })))
        assert.strictEqual(refusal.status, 403)
        assert.include(challengeOf(refusal), "insufficient_scope")
      }
    }))

  it.effect("that would not help are not asked for", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("one")
      const { access } = yield* accessWith([key], { targetOf: () => ({ client: "prod", readOnly: true }) })
      assert.isUndefined((yield* access(yield* sign(key, { scope: "n8n:read" }))).writeRefusal)
    }))
})

describe("profiles", () => {
  it.effect("are named by a claim; one that there is not is refused", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("one")
      const { access } = yield* accessWith([key], {
        profileClaim: "https://example.com/n8n",
        targetOf: (profile) => profile === "prod" ? { client: "prod", readOnly: false } : undefined
      })
      assert.strictEqual((yield* access(yield* sign(key, { "https://example.com/n8n": "prod" }))).client, "prod")
      for (const own of [{ "https://example.com/n8n": "other" }, { "https://example.com/n8n": ["prod"] }, {}]) {
        const refusal = yield* Effect.flip(access(yield* sign(key, own)))
        assert.strictEqual(refusal.status, 403)
        assert.include(refusal.message, "'https://example.com/n8n'")
      }
    }))
})

describe("the issuer's keys", () => {
  it.effect("are read again for an unknown key, at a limited rate", () =>
    Effect.gen(function*() {
      const [old, fresh] = [yield* makeKey("old"), yield* makeKey("fresh")]
      const { access, state } = yield* accessWith([old])
      const reads = () => state.asked.filter((url) => url.endsWith("/keys")).length
      yield* access(yield* sign(old))
      yield* TestClock.adjust("1 minute")
      state.keys = [old, fresh]
      assert.strictEqual((yield* access(yield* sign(fresh))).subject, "alice")
      assert.strictEqual(reads(), 2)
      const invented = yield* makeKey("invented")
      for (let call = 0; call < 20; call++) {
        assert.strictEqual((yield* Effect.flip(access(yield* sign(invented)))).status, 401)
      }
      assert.strictEqual(reads(), 2)
      yield* TestClock.adjust("5 seconds")
      yield* Effect.all(Array.from({ length: 20 }, () => Effect.flip(Effect.flatMap(sign(invented), access))), {
        concurrency: 20
      })
      assert.strictEqual(reads(), 3)
    }))

  it.effect("that it no longer has are forgotten", () =>
    Effect.gen(function*() {
      const [old, fresh] = [yield* makeKey("old"), yield* makeKey("fresh")]
      const { access, state } = yield* accessWith([old])
      const token = yield* sign(old, { exp: 10_000 })
      yield* access(token)
      state.keys = [fresh]
      yield* TestClock.adjust("11 minutes")
      // Read behind this call.
      yield* access(token)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Effect.flip(access(token))).status, 401)
    }))

  it.effect("already known work while it is down; others are asked to retry, and it recovers", () =>
    Effect.gen(function*() {
      const [old, fresh] = [yield* makeKey("old"), yield* makeKey("fresh")]
      const { access, state } = yield* accessWith([old])
      yield* access(yield* sign(old))
      state.isUp = false
      state.keys = [old, fresh]
      yield* TestClock.adjust("1 hour")
      const later = { exp: 10_000 }
      assert.strictEqual((yield* access(yield* sign(old, later))).subject, "alice")
      const refusal = yield* Effect.flip(access(yield* sign(fresh, later)))
      assert.deepInclude(refusal, { status: 503, headers: { "retry-after": "5" } })
      assert.include(refusal.message, "identity provider")
      state.isUp = true
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* access(yield* sign(fresh, later))).subject, "alice")
    }))

  it.effect("may be missing at the start", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("one")
      const { access, state } = yield* accessWith([key])
      state.isUp = false
      assert.strictEqual((yield* Effect.flip(access(yield* sign(key)))).status, 503)
      // What is of no use anyway needs no keys.
      assert.strictEqual(
        (yield* Effect.flip(access(yield* sign(key, { iss: "https://evil.example.com" })))).status,
        401
      )
      state.isUp = true
      yield* TestClock.adjust("5 seconds")
      yield* access(yield* sign(key))
    }))

  it.effect("are not taken from another issuer's metadata, nor over a wire that others read", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("one")
      for (
        const metadata of [
          { issuer: "https://evil.example.com", jwks_uri: "https://id.example.com/keys" },
          { issuer, jwks_uri: "http://id.example.com/keys" },
          { issuer }
        ]
      ) {
        const { access, state } = yield* accessWith([key])
        state.metadata = metadata
        assert.strictEqual((yield* Effect.flip(access(yield* sign(key)))).status, 503)
        assert.notInclude(state.asked.join(), "/keys")
      }
    }))
})
