import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Envelope from "../../../src/answer/Envelope.ts"
import { CallContext, type Consent } from "../../../src/base/CallContext.ts"
import type { Obj } from "../../../src/base/Json.ts"
import { CredentialEnv } from "../../../src/credentials/CredentialValues.ts"
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
      const envelope = outcome._tag === "Failure" ? Envelope.fromError(outcome.failure) : undefined
      return { outcome, text: JSON.stringify([outcome, envelope]), sent, questions }
    }).pipe(
      Effect.provideService(CredentialEnv, env),
      Effect.provideService(CallContext, person(answer, questions))
    ), version)
}

const password = { env: "PGPASSWORD" }

const postgres = (values: Obj, answer?: Consent, name = "PG") => attempt({ type: "postgres", name, values }, answer)

const header = (values: Obj, answer?: Consent, version?: "1" | "2") =>
  attempt({ type: "httpHeaderAuth", name: "Key", values }, answer, version)

describe("credential_create", () => {
  it.effect.each(["2", "1"] as const)(
    "takes a secret from the environment on %s, and shows it nowhere",
    (version) =>
      Effect.gen(function*() {
        for (const name of ["X-Key", "X-Api-Key", "X-Auth", "Authorization"]) {
          const { outcome, sent, text } = yield* header({ name, value: password }, "unasked", version)
          assert.strictEqual(outcome._tag, "Success", text)
          assert.deepStrictEqual(sent, [{
            name: "Key",
            type: "httpHeaderAuth",
            data: { ...(version === "2" ? { allowedHttpRequestDomains: "none" } : {}), name, value: secret }
          }])
          assert.notInclude(text, secret)
          if (version === "2") assert.include(text, "no HTTP Request node")
        }
      })
  )

  const refused: ReadonlyArray<readonly [values: Obj, says: string]> = [
    // A secret as it is, which is not repeated.
    ...[secret, { env: secret, more: 1 }, [secret], { value: secret }, null].map((value) =>
      [{ user: "u", password: value }, "effect-n8n-mcp credential create postgres"] as const
    ),
    // Only variables that the operator lists and has set.
    [{ password: { env: "HOME" } }, "not among the variables"],
    [{ password: { env: "UNSET" } }, "is not set"],
    // Not a variable where it can be read, and no expression anywhere.
    [{ user: password }, ""],
    [{ host: password }, ""],
    [{ user: "={{ $env.N8N_ENCRYPTION_KEY }}" }, ""],
    [{ user: "Bearer sesame-0123456789abcdef" }, ""],
    [{ ssl: "maybe" }, ""],
    [{ passwort: secret }, ""],
    // Not a part of an address where a name belongs.
    ...["evil.example/x", "a?b", "a#b", "a@b", "a:1", "a\\b", "a b"].map((database) =>
      [{ database, password }, "database takes no spaces"] as const
    ),
    [{ password, host: `${"a".repeat(600)}.evil.example` }, "too long"],
    [{}, "host (where it goes), database, user, password (secret)"],
    [{}, "passphrase (secret)"]
  ]

  it.effect("refuses values that reveal a secret or lead it elsewhere, whatever a person says, and names the fields", () =>
    Effect.gen(function*() {
      for (const [values, says] of refused) {
        const { outcome, questions, sent, text } = yield* postgres(values, "yes")
        assert.strictEqual(outcome._tag, "Failure", text)
        for (const hidden of [secret, "sesame"]) assert.notInclude(text, hidden)
        assert.include(text, says)
        assert.deepStrictEqual([sent, questions], [[], []])
      }
      const { text } = yield* attempt({ type: "postgress", name: "PG", values: {} })
      assert.match(text, /NotFoundError.*postgres\b/)
    }))

  it.effect("sends no secret to where the model says, unless a person says yes", () =>
    Effect.gen(function*() {
      for (
        const destination of [
          { host: "db.evil.example" },
          { sshHost: "evil.example" },
          { ssl: "disable" },
          { allowUnauthorizedCerts: true }
        ]
      ) {
        const values = { user: "u", password, ...destination }
        for (const answer of ["no", "unasked"] as const) {
          const { outcome, sent } = yield* postgres(values, answer)
          assert.deepStrictEqual([outcome._tag, sent], ["Failure", []])
        }
        const { questions, sent } = yield* postgres(values, "yes")
        assert.lengthOf(sent, 1)
        const [name, value] = Object.entries(destination)[0] ?? []
        assert.include(questions[0], `${name} = ${JSON.stringify(value)}`)
        assert.include(questions[0], "PGPASSWORD")
        assert.notInclude(questions[0], secret)
      }
      const allowedDomains = "shop.example"
      const domains = { name: "X-Key", value: password, allowedHttpRequestDomains: "domains", allowedDomains }
      const { questions, sent, text } = yield* header(domains, "yes")
      assert.lengthOf(sent, 1, text)
      assert.include(questions[0], "allowedDomains = \"shop.example\"")
      // A host is not hidden from the person behind other text.
      const long = yield* postgres({ password, host: "h" }, "yes", "n".repeat(700))
      for (const question of long.questions) assert.include(question, "host = \"h\"")
    }))

  it.effect("asks no one where no secret is sent, or only to a name", () =>
    Effect.gen(function*() {
      for (const values of [{ host: "h", user: "u" }, { user: "me@example.com", password }]) {
        const { questions, sent } = yield* postgres(values)
        assert.deepStrictEqual([questions.length, sent.length], [0, 1])
      }
    }))
})
