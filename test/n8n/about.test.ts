import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import { fails, memoryClient, neverAnswers, says, scriptedClient, settle } from "./clients.ts"

const page = (release: string) =>
  says(`<html><meta name="n8n:config:sentry" content="${btoa(JSON.stringify({ release }))}"></html>`)

describe("about", () => {
  it.effect("has the version from the start page and the scopes of the key", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([
        page("n8n@2.41.1"),
        says({ data: { scopes: ["workflow:read"] } })
      ])
      assert.deepStrictEqual(yield* n8n.about, { version: "2.41.1", scopes: ["workflow:read"] })
      assert.deepStrictEqual(requests.map(({ url }) => url), ["https://n8n.test/", "https://n8n.test/api/v1/discover"])
    }))

  it.effect("has no scopes on 1.x, and no version if the start page has none", () =>
    Effect.gen(function*() {
      const one = yield* memoryClient({}, "1")
      assert.deepStrictEqual(yield* one.n8n.about, { version: "1.123.81", scopes: undefined })
      const { n8n } = yield* scriptedClient([says("<html>"), says({ data: { scopes: [] } })])
      assert.deepStrictEqual(yield* n8n.about, { version: undefined, scopes: [] })
    }))

  it.effect("fails if n8n does not answer", () =>
    Effect.gen(function*() {
      const { n8n } = yield* scriptedClient([fails("ECONNREFUSED")])
      assert.strictEqual((yield* settle(Effect.flip(n8n.about)))._tag, "ApiError")
    }))
})

it("drafts are written by the API since 2.40", () => {
  const versions = ["1.123.81", "2.31.6", "2.40.0", "2.100.0", "3.0.0", undefined]
  assert.deepStrictEqual(versions.map(N8nClient.writesDrafts), [false, false, true, true, true, true])
})

describe("release", () => {
  it.effect("is requested at most once a minute", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([page("n8n@2.41.1"), page("n8n@2.42.0")])
      assert.strictEqual(yield* n8n.release, "2.41.1")
      assert.strictEqual(yield* n8n.release, "2.41.1")
      assert.strictEqual(requests.length, 1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* n8n.release, "2.42.0")
    }))

  it.effect("is undefined if n8n does not answer, and asked for again", () =>
    Effect.gen(function*() {
      const { n8n } = yield* scriptedClient([neverAnswers, page("n8n@1.123.81")])
      assert.isUndefined(yield* settle(n8n.release))
      assert.strictEqual(yield* n8n.release, "1.123.81")
    }))
})
