/** Values of credentials: secrets come from variables alone, and nothing that may be one is repeated. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { CallContext, type Consent } from "../../src/base/CallContext.ts"
import type { Obj } from "../../src/base/Json.ts"
import * as CredentialValues from "../../src/credentials/CredentialValues.ts"
import { inMemory } from "../support/world.ts"

describe("a field", () => {
  it.each<[name: string, schema: Obj, isSecret: boolean | undefined, kind: CredentialValues.Field["kind"]]>([
    ["password", { type: "string" }, true, "secret"],
    ["user", { type: "string" }, false, "plain"],
    ["user", { type: "string" }, undefined, "secret"],
    ["region", { type: "string" }, false, "destination"],
    ["apiKey", { type: "string" }, false, "secret"],
    ["privateKey", { type: "string" }, false, "secret"],
    ["sslCert", { type: "string" }, false, "secret"],
    ["oauthTokenData", { type: "json" }, false, "secret"],
    ["headers", { type: "object" }, false, "secret"],
    ["port", { type: "number" }, false, "plain"],
    ["port", { type: "number" }, undefined, "plain"],
    ["sshPort", { type: "number" }, true, "secret"],
    ["ignoreSSLIssues", { type: "boolean" }, false, "destination"],
    ["sendTwice", { type: "boolean" }, false, "plain"],
    ["grantType", { type: "string", enum: ["a", "b"] }, false, "plain"],
    ["environment", { type: "string", enum: ["live", "test"] }, false, "destination"],
    ["allowedDomains", { type: "string" }, true, "destination"],
    ["constructor", {}, undefined, "secret"]
  ])("%s, %j, known as %s, is %s", (name, schema, isSecret, kind) => {
    const [field] = CredentialValues.fields({ [name]: schema }, isSecret === undefined ? {} : { [name]: isSecret })
    assert.deepStrictEqual(field, { name, kind, type: schema["type"] ?? "string", choices: schema["enum"] ?? [] })
  })

  it("is not made of a notice", () =>
    assert.deepStrictEqual(CredentialValues.fields({ note: { type: "notice" } }, undefined), []))
})

const secret = "correct-horse-battery"

/** The answer and what n8n was sent; `texts` is all that the caller and the person read. */
const create = Effect.fnUntraced(function*(
  values: Obj,
  { answer = "unasked", name = "Key", type = "postgres" }: {
    readonly answer?: Consent
    readonly name?: string
    readonly type?: string
  } = {}
) {
  const questions: Array<string> = []
  return yield* inMemory(function*(api) {
    const outcome = yield* Effect.result(CredentialValues.create({ type, name, values })).pipe(
      Effect.provideService(
        CredentialValues.CredentialEnv,
        new Map([["PW", Redacted.make(secret)], ["UNSET", undefined]])
      ),
      Effect.provideService(CallContext, {
        progress: () => Effect.void,
        confirm: (question) => Effect.sync(() => (questions.push(question), answer))
      })
    )
    const sent = (yield* api.requests).flatMap(({ body, method }) => method === "POST" ? [body] : [])
    return { sent, questions, texts: JSON.stringify([outcome, questions]) }
  })
})

const password = { env: "PW" }

describe("a new credential", () => {
  it.effect.each<[values: Obj, says: string]>([
    [{}, "values is empty"],
    [{ passwort: secret }, "The type has no field 'passwort'"],
    [{ [`${secret} ${secret}`]: 1 }, "The type has no field '…'"],
    [{ password: secret }, "is a secret and must not be passed as plain text"],
    [{ password: { env: "PW", default: secret } }, "is a secret and must not be passed as plain text"],
    [{ password: { env: 1 } }, "is a secret and must not be passed as plain text"],
    [{ password: { env: "HOME" } }, "'HOME' is not among the variables that may be used"],
    [{ password: { env: `${secret}!` } }, "'…' is not among the variables that may be used"],
    [{ password: { env: "UNSET" } }, "The variable UNSET is not set"],
    [{ user: password }, "user is not a secret"],
    [{ user: ["a"] }, "user expects a string"],
    [{ user: "={{ $env.PW }}" }, "user is an expression"],
    [{ database: "evil.example/x", password }, "database takes no spaces"],
    [{ user: `Bearer ${secret}-0123456789abcdef` }, "user contains what looks like a secret"],
    [{ ssl: "maybe" }, "ssl is not one of"]
  ])("of %j is refused without sending or repeating a secret", ([values, says]) =>
    Effect.gen(function*() {
      const { sent, texts } = yield* create(values, { answer: "yes" })
      assert.include(texts, says)
      assert.notInclude(texts, secret)
      assert.deepStrictEqual(sent, [])
    }))

  it.effect("goes where the model says with a secret after a yes alone, and without a secret at any time", () =>
    Effect.gen(function*() {
      const host = "db.example"
      for (const [answer, says] of [["no", "did not agree"], ["unasked", "this client cannot ask"]] as const) {
        const { sent, texts } = yield* create({ host, password }, { answer })
        assert.include(texts, says)
        assert.deepStrictEqual(sent, [])
      }
      const { questions, sent, texts } = yield* create({ host, password }, { answer: "yes" })
      assert.deepStrictEqual(sent, [{ name: "Key", type: "postgres", data: { host, password: secret } }])
      assert.include(questions[0], "Send the secret of PW to where the model says? host = \"db.example\"")
      assert.notInclude(texts, secret)
      const alone = yield* create({ host })
      assert.deepStrictEqual([alone.sent.length, alone.questions], [1, []])
      const long = yield* create({ host: "a.".repeat(300), password }, { answer: "yes" })
      assert.deepStrictEqual([long.sent, long.questions], [[], []])
      assert.include(long.texts, "too long to be shown")
    }))

  it.effect("of a header may be sent nowhere until its hosts are named", () =>
    Effect.gen(function*() {
      const type = "httpHeaderAuth"
      const closed = yield* create({ name: "X-Key", value: password }, { type })
      assert.deepStrictEqual(closed.sent, [
        { name: "Key", type, data: { allowedHttpRequestDomains: "none", name: "X-Key", value: secret } }
      ])
      assert.include(closed.texts, "no HTTP Request node can send it anywhere")
      const open = { name: "X-Key", value: password, allowedHttpRequestDomains: "all" }
      assert.deepStrictEqual((yield* create(open, { type })).sent, [])
      assert.lengthOf((yield* create(open, { type, answer: "yes" })).sent, 1)
    }))

  it.effect("of an unknown type is refused with the nearest", () =>
    Effect.gen(function*() {
      assert.include((yield* create({ a: 1 }, { type: "postgress" })).texts, "Did you mean 'postgres'")
      assert.include((yield* create({ a: 1 }, { type: "qqqqqq" })).texts, "such as slackApi")
    }))
})
