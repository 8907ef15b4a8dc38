import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Watching from "../../src/app/Watching.ts"
import { recording } from "../support/spans.ts"

describe("the delivery to a URL", () => {
  it.effect.each([
    "http://u%zz:p@host/secret",
    "http://u:p%zz@host/secret",
    "http://u:%ff@host/secret",
    "host/secret",
    "ftp://host/secret",
    "http://:80/secret",
    "http://[::1/secret",
    ""
  ])(
    "refuses %s in a sentence that does not repeat it",
    (text) =>
      Effect.map(Effect.flip(Watching.post(Redacted.make(text))), ({ message }) => {
        assert.match(message, /^--to is not an http address/)
        assert.notMatch(message, /host|\/secret|%/)
      })
  )

  it.live("has no span, which would contain the secret path", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recording()
      const deliver = yield* Watching.post(Redacted.make("http://127.0.0.1:1/s3cret"))
      const reason = yield* Effect.flip(deliver("{}")).pipe(Effect.withTracer(tracer), Effect.withSpan("watch"))
      assert.strictEqual(reason, "127.0.0.1:1: cannot be reached")
      assert.deepStrictEqual(spans.filter(({ name }) => name !== "watch"), [])
    }))

  it.effect("takes a user name and password", () => Watching.post(Redacted.make("https://a%40b:p%25@host/secret")))
})
