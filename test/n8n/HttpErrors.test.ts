import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Envelope from "../../src/answer/Envelope.ts"
import * as Errors from "../../src/base/Errors.ts"
import * as HttpErrors from "../../src/n8n/HttpErrors.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import { type Answer, answers, fails, failure, refuses, says, scriptedClient, unknownCertificates } from "./clients.ts"

describe("an error's envelope", () => {
  type Ask = (n8n: N8nClient.Service) => Effect.Effect<unknown, Errors.N8nError>
  const get: Ask = (n8n) => n8n.getWorkflow("abc123")
  const list: Ask = (n8n) => n8n.listExecutions({ limit: 1 })

  const envelope = Effect.fnUntraced(function*(answer: Answer, ask = get) {
    const { n8n } = yield* scriptedClient([answer])
    return Envelope.fromError(yield* failure(ask(n8n)))
  })
  const target = { operation: "get workflow", resourceType: "Workflow", resourceId: "abc123" }

  it.effect.each<[what: string, answer: Answer, ask: Ask, expected: object]>([
    ["a missing workflow", says({ message: "Not Found" }, { status: 404 }), get, {
      name: "NotFoundError",
      message: "Workflow 'abc123' not found",
      context: target,
      hint: "list_workflows lists the workflows with their ids."
    }],
    ["a refusal", refuses(400), get, {
      name: "ApiError",
      message: "Failed to get workflow for Workflow 'abc123' (HTTP 400)",
      statusCode: 400,
      context: { ...target, errorDetails: "n8n's own words" },
      hint: "Correct what errorDetails names, and call again."
    }],
    ["an n8n that is not running", fails("ECONNREFUSED"), list, {
      name: "ApiError",
      message: "Failed to list executions",
      context: { operation: "list executions", errorDetails: "connect ECONNREFUSED 127.0.0.1:5678" },
      hint:
        "Nothing is listening there: start n8n, or check N8N_URL (--n8n-url); any page of n8n's editor in a browser has it."
    }],
    ["our own checks", answers, (n8n) => n8n.listWorkflows({ archived: false, limit: 1, cursor: "page 2" }), {
      name: "ValidationError",
      message: "cursor is not a nextCursor of this list",
      context: { field: "cursor" },
      hint: "Pass nextCursor of the previous page unchanged, or leave it out to start from the beginning."
    }]
  ])(
    "is complete for %s",
    ([, answer, ask, expected]) =>
      Effect.map(envelope(answer, ask), (actual) => assert.deepStrictEqual<object>(actual, expected))
  )

  it.live("for a port that fetch refuses is not retried, and says so", () =>
    Effect.gen(function*() {
      const error = yield* N8nClient.N8nClient.use((n8n) => Effect.flip(n8n.listExecutions({ limit: 1 }))).pipe(
        Effect.provide(
          N8nClient.layer({ url: new URL("http://127.0.0.1:22"), apiKey: Redacted.make("key") }).pipe(
            Layer.provide(FetchHttpClient.layer)
          )
        ),
        Effect.timeout("500 millis")
      )
      assert.match(Envelope.fromError(error).hint ?? "", /^Node's fetch refuses this port/)
      assert.isFalse(error._tag === "ApiError" && error.isRetryable)
    }))

  it.effect.each<[what: string | number, answer: Answer, ...words: ReadonlyArray<string>]>([
    [401, refuses(401), "N8N_API_KEY", "--api-key"],
    [403, refuses(403), "scope"],
    [405, refuses(405), "older"],
    [409, refuses(409), "errorDetails"],
    [408, refuses(408), "slow"],
    [429, refuses(429), "wait"],
    [503, refuses(503), "log"],
    ...["ENOTFOUND", "EAI_AGAIN", "ECONNRESET", "ERR_TLS_CERT_ALTNAME_INVALID"].map((code) =>
      [code, fails(code), "N8N_URL"] as [string, Answer, string]
    ),
    ...unknownCertificates.map((code) => [code, fails(code), "NODE_EXTRA_CA_CERTS"] as [string, Answer, string]),
    ["CERT_HAS_EXPIRED", fails("CERT_HAS_EXPIRED"), "renew"]
  ])("for %s says what to do", ([what, answer, ...words]) =>
    Effect.gen(function*() {
      const { hint, name, statusCode } = yield* envelope(answer)
      assert.deepStrictEqual([name, statusCode], ["ApiError", typeof what === "number" ? what : undefined])
      for (const each of words) assert.include(hint, each)
    }))

  it.effect("for a port without TLS has no lines of OpenSSL", () =>
    Effect.gen(function*() {
      const code = "ERR_SSL_WRONG_VERSION_NUMBER"
      const raw = "40BDECC7B47F0000:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:x.c:77:"
      const { context, hint } = yield* envelope(fails(code, raw))
      assert.strictEqual(context["errorDetails"], code)
      assert.match(hint ?? "", /^That port speaks http, not https/)
    }))

  it.effect("for a web page with status 404 does not report a missing workflow", () =>
    Effect.gen(function*() {
      for (const page of ["<html>404 page not found</html>", "404 page not found", ""]) {
        const { context, hint, name, statusCode } = yield* envelope(says(page, { status: 404 }))
        assert.strictEqual(name, "ApiError")
        assert.strictEqual(statusCode, 404)
        assert.strictEqual(context["errorDetails"], "the answer contains no message from n8n")
        assert.include(hint, "N8N_URL")
      }
    }))

  it.effect("has no resource for a missing endpoint, and the code of an error without a message", () =>
    Effect.gen(function*() {
      const { message, name } = yield* envelope(refuses(404), list)
      assert.deepStrictEqual([name, message], ["ApiError", "Failed to list executions (HTTP 404)"])
      // All addresses of a host refuse.
      const { context } = yield* envelope(fails("ECONNREFUSED", ""))
      assert.strictEqual(context["errorDetails"], "ECONNREFUSED: fetch failed")
    }))

  it.effect.each(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"])(
    "says in words that the connection was lost: %s",
    (code) =>
      Effect.gen(function*() {
        const { context } = yield* envelope(fails(code, `read ${code}`))
        assert.strictEqual(context["errorDetails"], `the connection was lost (${code})`)
      })
  )

  it.effect("says the same of a connection that the fake breaks", () =>
    Effect.gen(function*() {
      const create = N8nClient.N8nClient.use((n8n) => n8n.createWorkflow({ name: "A", nodes: [], connections: {} }))
      const error = yield* Effect.flip(create)
      assert.strictEqual(error.message, "Failed to create workflow: the connection was lost (UND_ERR_SOCKET)")
      assert.strictEqual(error._tag === "ApiError" && error.reason._tag, "Unreachable")
    }).pipe(Effect.provide(FakeN8n.layer({}, { before: () => Effect.fail(new FakeN8n.Disconnected()) }))))

  it.effect("has no stack, no secrets, and at most a screen of text", () =>
    Effect.gen(function*() {
      const message = `Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig ${"long ".repeat(2_000)}`
      const error = yield* envelope(says({ message, stack: "at here" }, { status: 400 }))
      assert.deepStrictEqual(Object.keys(error), ["name", "message", "statusCode", "context", "hint"])
      assert.notInclude(JSON.stringify(error), "eyJ")
      assert.notInclude(JSON.stringify(error), "at here")
      assert.strictEqual(error.context["errorDetails"]?.length, 2_000)
    }))
})

describe("an envelope", () => {
  it("redacts secrets of any origin", () => {
    const secret = "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig"
    const envelopes = [
      new Errors.ApiError({ operation: "get workflow", reason: new Errors.Unreadable({ details: secret }) }),
      new Errors.ValidationError({ reason: secret, field: "id", errorDetails: secret }),
      new Errors.NotFoundError({ resourceType: "Workflow", resourceId: secret })
    ].map((error) => Envelope.fromError(error))
    for (const envelope of envelopes) assert.notInclude(JSON.stringify(envelope), "eyJ")
  })
})

const target = { operation: "list workflows" }

describe("advice about an address", () => {
  it.each<readonly [string, "LoginPage" | "Unreadable" | "Redirected"]>([
    ["<title>Log in - Company</title>", "LoginPage"],
    ["<html><head><title lang=\"de\">Sign-in | Okta</title>", "LoginPage"],
    ["<form><input name=\"p\" type=\"password\"></form>", "LoginPage"],
    ["<title>n8n.io - Workflow Automation</title>", "Unreadable"],
    ["<title>Authors of blogs: 502 Bad Gateway</title>", "Unreadable"]
  ])("of the page %s is about %s", (page, problem) => {
    assert.deepStrictEqual(HttpErrors.pageError(target, page).hint, { _tag: "CheckConnection", problem })
  })

  it.each<readonly [string, "LoginPage" | "Unreadable" | "Redirected"]>([
    ["https://acme.cloudflareaccess.com/cdn-cgi/access/login/n8n.example.com?kid=1", "LoginPage"],
    ["https://sso.example.com/?next=n8n", "LoginPage"],
    ["https://accounts.example.com/oauth2/authorize?client_id=1", "LoginPage"],
    ["https://n8n.example.com/api/v1/workflows", "Redirected"],
    ["https://authors.example.com/blog", "Redirected"]
  ])("of a redirect to %s is about %s", (location, problem) => {
    const error = HttpErrors.redirectError(target, 302, location, new URL(location))
    assert.deepStrictEqual(error.hint, { _tag: "CheckConnection", problem })
    assert.strictEqual(error.reason.details, `redirect to ${new URL(location).origin}`)
  })
})
