import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Access from "../../../src/mcp/http/Access.ts"
import * as Hosts from "../../../src/mcp/http/Hosts.ts"

const grant = (token: string, client?: string): Access.Grant => ({ token: Redacted.make(token), client })

describe("Access", () => {
  const access = Access.make([grant("one", "prod"), grant("two", "prod"), grant("three", "staging")], undefined)

  it.effect("knows the client of each token, and distinguishes two tokens of one client", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* access("Bearer one"), yield* access("bearer   two ")]
      assert.deepStrictEqual([one.client, two.client], ["prod", "prod"])
      assert.notStrictEqual(one.key, two.key)
      assert.strictEqual((yield* access("Bearer three")).client, "staging")
    }))

  it.effect("recognizes a token in any place, and does not reveal it", () =>
    Effect.gen(function*() {
      const elsewhere = Access.make([grant("three", "staging"), grant("one", "prod")], undefined)
      const { principal } = yield* access("Bearer one")
      assert.isString(principal)
      assert.strictEqual((yield* elsewhere("Bearer one")).principal, principal)
      assert.notStrictEqual((yield* access("Bearer two")).principal, principal)
      assert.notInclude(principal, "one")
    }))

  it.effect.each([
    undefined,
    "",
    "one",
    "Bearer",
    "Bearer ",
    "Bearer onee",
    "Bearer on",
    "Basic one",
    "Bearer one two"
  ])("does not know %s", (header) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(access(header))).status, 401)
    }))

  it.effect("is open to all without a token", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Access.make([], "prod")(undefined)).client, "prod")
    }))
})

describe("Hosts", () => {
  const names = {
    host: "0.0.0.0",
    allowedHosts: ["n8n.example.com", "Other.example.com:8443"],
    allowedOrigins: ["https://app.example.com"]
  }

  it.each([
    ["localhost", undefined],
    ["LOCALHOST:3000", undefined],
    ["127.0.0.1:8080", undefined],
    ["[::1]:3000", undefined],
    ["10.1.2.3:3000", "10.1.2.3"],
    ["10.1.2.3:3000", "::ffff:10.1.2.3"],
    ["[fd00::1]:3000", "fd00::1"],
    ["n8n.example.com", undefined],
    ["N8N.example.com:443", undefined],
    ["other.example.com:8443", undefined]
  ])("takes %s called at %s", (host, called) => {
    assert.isTrue(Hosts.isOwnHost(names, host, called))
  })

  it.each([
    [undefined, "127.0.0.1"],
    ["", "127.0.0.1"],
    ["evil.example", "127.0.0.1"],
    ["localhost.evil.example", "127.0.0.1"],
    ["evil@localhost", "127.0.0.1"],
    ["localhost:3000:1", "127.0.0.1"],
    ["localhost/evil", "127.0.0.1"],
    ["10.1.2.4", "10.1.2.3"],
    ["0.0.0.0:3000", "10.1.2.3"],
    ["other.example.com", "10.1.2.3"],
    ["other.example.com:443", "10.1.2.3"]
  ])("refuses %s called at %s", (host, called) => {
    assert.isFalse(Hosts.isOwnHost(names, host, called))
  })

  it.each([
    ["http://localhost:3000", "localhost:3000", true],
    ["https://n8n.example.com", "n8n.example.com", true],
    ["https://app.example.com", "n8n.example.com", true],
    ["http://localhost:3001", "localhost:3000", false],
    ["http://localhost", "localhost:3000", false],
    ["http://app.example.com", "n8n.example.com", false],
    ["https://evil.example", "localhost:3000", false],
    ["file://localhost:3000", "localhost:3000", false],
    ["null", "localhost:3000", false],
    ["null", undefined, false]
  ])("a page of %s at %s: %s", (origin, host, own) => {
    assert.strictEqual(Hosts.isOwnOrigin(names, origin, host), own)
  })

  it.each([
    ["127.0.0.1", true],
    ["127.1.2.3", true],
    ["::1", true],
    ["localhost", true],
    ["0.0.0.0", false],
    [
      "::",
      false
    ],
    ["10.0.0.1", false],
    ["127.0.0.1.evil.example", false]
  ])("%s is this machine alone: %s", (host, loopback) => {
    assert.strictEqual(Hosts.isLoopback(host), loopback)
  })
})
