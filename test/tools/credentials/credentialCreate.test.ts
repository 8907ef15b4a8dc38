import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { CallContext, type Consent } from "../../../src/base/CallContext.ts"
import type { Obj } from "../../../src/base/Json.ts"
import { CredentialEnv } from "../../../src/credentials/Values.ts"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"

const secret = "correct-horse-battery"

const env = new Map([["PGPASSWORD", Redacted.make(secret)], ["UNSET", undefined]])

/** A person who answers, and what was asked. */
const person = (answer: Consent, questions: Array<string> = []) => ({
  progress: () => Effect.void,
  confirm: (question: string) => Effect.sync(() => (questions.push(question), answer))
})

/** Creates in a world of its own; with what n8n was sent. */
const attempt = (args: Obj, answer: Consent = "unasked", version: "2" | "1" = "2") => {
  const questions: Array<string> = []
  return inWorld(({ api }) =>
    Effect.gen(function*() {
      const outcome = yield* Effect.result(tools.credentialCreate.run(args))
      const sent = (yield* api.requests).filter(({ method }) => method === "POST").map(({ body }) => body)
      return { outcome, text: JSON.stringify(outcome), sent, questions }
    }).pipe(
      Effect.provideService(CredentialEnv, env),
      Effect.provideService(CallContext, person(answer, questions))
    ), version)
}

const password = { env: "PGPASSWORD" }

describe("credential_create", () => {
  for (const version of ["2", "1"] as const) {
    it.effect(`takes a secret from the environment on ${version}, and shows it nowhere`, () =>
      Effect.gen(function*() {
        const { outcome, sent, text } = yield* attempt(
          { type: "httpHeaderAuth", name: "Key", values: { name: "X-Key", value: password } },
          "unasked",
          version
        )
        assert.strictEqual(outcome._tag, "Success", text)
        assert.deepStrictEqual(sent, [{
          name: "Key",
          type: "httpHeaderAuth",
          data: { ...(version === "2" ? { allowedHttpRequestDomains: "none" } : {}), name: "X-Key", value: secret }
        }])
        assert.notInclude(text, secret)
        if (version === "2") assert.include(text, "no HTTP Request node")
      }))
  }

  it.effect("refuses a secret as it is, and does not repeat it", () =>
    Effect.gen(function*() {
      for (const value of [secret, { env: secret, more: 1 }, [secret], { value: secret }, null]) {
        const { outcome, sent, text } = yield* attempt({
          type: "postgres",
          name: "PG",
          values: { user: "u", password: value }
        })
        assert.strictEqual(outcome._tag, "Failure")
        assert.notInclude(text, secret)
        assert.include(text, "effect-n8n-mcp credential create postgres")
        assert.deepStrictEqual(sent, [])
      }
    }))

  it.effect("takes only variables that the operator lists and has set", () =>
    Effect.gen(function*() {
      for (const [name, reason] of [["HOME", "not among the variables"], ["UNSET", "is not set"]] as const) {
        const { sent, text } = yield* attempt({ type: "postgres", name: "PG", values: { password: { env: name } } })
        assert.include(text, reason)
        assert.deepStrictEqual(sent, [])
      }
    }))

  it.effect("puts no variable where it can be read, and no expression anywhere", () =>
    Effect.gen(function*() {
      for (
        const values of [
          { user: password },
          { host: password },
          { user: "={{ $env.N8N_ENCRYPTION_KEY }}" },
          { user: "Bearer sesame-0123456789abcdef" },
          { ssl: "maybe" },
          { passwort: secret }
        ]
      ) {
        const { outcome, sent, text } = yield* attempt({ type: "postgres", name: "PG", values }, "yes")
        assert.strictEqual(outcome._tag, "Failure", text)
        assert.notInclude(text, secret)
        assert.notInclude(text, "sesame")
        assert.deepStrictEqual(sent, [])
      }
    }))

  const destinations: ReadonlyArray<Obj> = [
    { host: "db.evil.example" },
    { sshHost: "evil.example" },
    { ssl: "disable" },
    { allowUnauthorizedCerts: true }
  ]

  it.effect("sends no secret to where the model says, unless a person says yes", () =>
    Effect.gen(function*() {
      for (const destination of destinations) {
        const args = { type: "postgres", name: "PG", values: { user: "u", password, ...destination } }
        for (const answer of ["no", "unasked"] as const) {
          const { outcome, sent } = yield* attempt(args, answer)
          assert.strictEqual(outcome._tag, "Failure")
          assert.deepStrictEqual(sent, [])
        }
        const { questions, sent } = yield* attempt(args, "yes")
        assert.lengthOf(sent, 1)
        const [name, value] = Object.entries(destination)[0] ?? []
        assert.include(questions[0], `${name} = ${JSON.stringify(value)}`)
        assert.include(questions[0], "PGPASSWORD")
        assert.notInclude(questions[0], secret)
      }
    }))

  it.effect("makes a credential for a header with a secret's name", () =>
    Effect.gen(function*() {
      for (const name of ["X-Api-Key", "X-Auth", "Authorization"]) {
        const { sent, text } = yield* attempt({
          type: "httpHeaderAuth",
          name: "Key",
          values: { name, value: password }
        })
        assert.deepNestedInclude(sent[0], { "data.name": name, "data.value": secret }, text)
      }
    }))

  it.effect("takes no part of an address where a name belongs", () =>
    Effect.gen(function*() {
      for (const database of ["evil.example/x", "a?b", "a#b", "a@b", "a:1", "a\\b", "a b"]) {
        const { sent, text } = yield* attempt({ type: "postgres", name: "PG", values: { database, password } }, "yes")
        assert.include(text, "database takes no spaces")
        assert.deepStrictEqual(sent, [])
      }
      const { sent } = yield* attempt({ type: "postgres", name: "PG", values: { user: "me@example.com", password } })
      assert.lengthOf(sent, 1)
    }))

  it.effect("lets a header go to the hosts that a person agrees to", () =>
    Effect.gen(function*() {
      const allowedDomains = "shop.example"
      const values = { name: "X-Key", value: password, allowedHttpRequestDomains: "domains", allowedDomains }
      const { questions, sent, text } = yield* attempt({ type: "httpHeaderAuth", name: "Key", values }, "yes")
      assert.lengthOf(sent, 1, text)
      assert.include(questions[0], "allowedDomains = \"shop.example\"")
    }))

  it.effect("does not hide a host from the person behind other text", () =>
    Effect.gen(function*() {
      const host = `${"a".repeat(600)}.evil.example`
      const { questions, sent, text } = yield* attempt(
        { type: "postgres", name: "PG", values: { password, host } },
        "yes"
      )
      assert.deepStrictEqual([questions, sent], [[], []])
      assert.include(text, "too long")
      const long = yield* attempt({ type: "postgres", name: "n".repeat(700), values: { password, host: "h" } }, "yes")
      for (const question of long.questions) assert.include(question, "host = \"h\"")
    }))

  it.effect("asks no one if no secret is sent", () =>
    Effect.gen(function*() {
      const { questions, sent } = yield* attempt({ type: "postgres", name: "PG", values: { host: "h", user: "u" } })
      assert.deepStrictEqual([questions.length, sent.length], [0, 1])
    }))

  it.effect("names a type's fields, and what each is", () =>
    Effect.gen(function*() {
      const { text } = yield* attempt({ type: "postgres", name: "PG", values: {} })
      assert.include(text, "host (where it goes), database, user, password (secret)")
      assert.include(text, "passphrase (secret)")
    }))

  it.effect("names the nearest types", () =>
    Effect.gen(function*() {
      const { text } = yield* attempt({ type: "postgress", name: "PG", values: {} })
      assert.include(text, "postgres")
      assert.include(text, "NotFoundError")
    }))
})
