import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import * as Hints from "../../src/answer/Hints.ts"
import * as Errors from "../../src/base/Errors.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import { reasonOf } from "../support/reason.ts"
import {
  answers,
  apiFailure,
  apiKey,
  breaksOff,
  certificateFaults,
  fails,
  failure,
  neverAnswers,
  neverEnds,
  pausesBetween,
  readText,
  refuses,
  says,
  scriptedClient,
  settle,
  workflow
} from "./clients.ts"

describe("a request", () => {
  it.effect.each([
    ...["", "/", "/api", "/api/v1", "/api/v1/", "/?from=mail#top"].map((path) => ({
      base: `https://n8n.test${path}`,
      api: "https://n8n.test/api/v1"
    })),
    { base: "http://localhost:5678", api: "http://localhost:5678/api/v1" },
    ...["n8n", "n8n/", "n8n/api/v1", "/n8n//"].map((path) => ({
      base: `https://host.test/${path}`,
      api: "https://host.test/n8n/api/v1"
    }))
  ])("to $base goes to $api with the key", ({ api, base }) =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([answers], { url: base })
      assert.strictEqual((yield* n8n.getWorkflow("1")).name, "Daily")
      assert.deepStrictEqual(requests.map(({ url }) => url), [`${api}/workflows/1`])
      assert.strictEqual(requests[0]?.headers["x-n8n-api-key"], apiKey)
      assert.strictEqual(requests[0]?.headers["accept"], "application/json")
      assert.strictEqual(n8n.instance.url, `${api.replace(/api\/v1$/, "")}`)
    }))

  it.effect("encodes ids and parameters in the URL", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([answers, says({ id: "1" }), says({ data: [] })])
      yield* n8n.getWorkflow("a/b?c#d%")
      yield* readText(n8n, "7")
      yield* n8n.listWorkflows({ archived: false, limit: 5, fullName: "R&D + 100%", tags: ["a b", "c"] })
      assert.strictEqual(requests[0]?.url, "https://n8n.test/api/v1/workflows/a%2Fb%3Fc%23d%25")
      assert.strictEqual(requests[1]?.url, "https://n8n.test/api/v1/executions/7?includeData=true")
      const { searchParams } = new URL(requests[2]?.url ?? "")
      assert.strictEqual(searchParams.get("name"), "R&D + 100%")
      assert.strictEqual(searchParams.get("tags"), "a b,c")
      assert.isFalse(searchParams.has("active"))
    }))
})

describe("a path to another address", () => {
  type Ask = (n8n: N8nClient.Service) => Effect.Effect<unknown, Errors.N8nError>

  const ids = [".", "..", "", "  "].flatMap((id): ReadonlyArray<readonly [string, Ask]> => [
    [`a workflow '${id}'`, (n8n) => n8n.getWorkflow(id)],
    [`to delete '${id}'`, (n8n) => n8n.deleteWorkflow(id)],
    [`to publish '${id}'`, (n8n) => n8n.publishWorkflow(id)],
    [`to unpublish '${id}'`, (n8n) => n8n.unpublishWorkflow(id)],
    [`a version '${id}'`, (n8n) => n8n.workflowVersion("1", id)],
    [`to tag '${id}'`, (n8n) => n8n.setWorkflowTags(id, [])],
    [`an execution '${id}'`, (n8n) => readText(n8n, id)]
  ])
  const paths = [
    "../../rest/login",
    "%2e%2e/%2E%2e/rest/login",
    "a/..%5c../b/.%2e/c",
    "..\\..\\rest",
    "./orders",
    "orders/."
  ]
  const hooks = paths.map((path): readonly [string, Ask] => [
    `the webhook '${path}'`,
    (n8n) => n8n.callWebhook(path, { method: "POST", seconds: 5 })
  ])

  it.effect.each([...ids, ...hooks])("is refused: %s", ([, ask]) =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([answers])
      const error = yield* Effect.flip(ask(n8n))
      assert.instanceOf(error, Errors.ValidationError)
      assert.match(error.reason, /would lead to another address|is not an id$/)
      assert.deepStrictEqual(requests, [])
    }))

  it.effect("does not include dots inside a name", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([answers])
      yield* n8n.callWebhook("v1.2/.well-known/...", { method: "POST", seconds: 5 })
      assert.strictEqual(requests[0]?.url, "https://n8n.test/webhook/v1.2/.well-known/...")
    }))
})

describe("retries", () => {
  it.effect.each<[what: unknown, answer: typeof answers, status?: number]>([
    ...[408, 429, 500, 503, 504].map((status) => [status, refuses(status), status] as [number, typeof answers, number]),
    [502, says("<html>Bad Gateway</html>", { status: 502 }), 502],
    ...["ECONNREFUSED", "ECONNRESET", "EAI_AGAIN", undefined].map((code) =>
      [`failure ${code}`, fails(code)] as [string, typeof answers]
    ),
    ["a body that breaks off", breaksOff]
  ])("happen three times for %s", ([, answer, status]) =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([answer])
      const error = yield* apiFailure(n8n.getWorkflow("1"))
      assert.strictEqual(requests.length, 4)
      assert.strictEqual(Errors.statusOf(error), status)
      assert.isTrue(requests.every(({ headers }) => headers["x-n8n-api-key"] === apiKey))
    }))

  it.effect.each<[what: unknown, answer: typeof answers]>([
    ...[400, 401, 403, 404, 405, 409].map((status) => [status, refuses(status)] as [number, typeof answers]),
    ["404 without a message", says("<html>", { status: 404 })],
    ["a refusal with Retry-After", refuses(400, { "retry-after": "1" })],
    ...["ENOTFOUND", ...certificateFaults].map((code) => [code, fails(code)] as [string, typeof answers]),
    ["a web page", says("<html>")],
    ["a text", says("OK")],
    ["JSON of another shape", says({ ok: true })],
    ["a redirect elsewhere", refuses(302, { location: "https://login.test/" })]
  ])("never happen for %s", ([, answer]) =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([answer, answers])
      const exit = yield* settle(Effect.exit(n8n.getWorkflow("1")))
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual(requests.length, 1)
    }))

  it.effect("stop at the first success", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([refuses(503), breaksOff, answers])
      assert.strictEqual((yield* settle(n8n.getWorkflow("1"))).name, "Daily")
      assert.strictEqual(requests.length, 3)
    }))

  it.effect("wait twice as long each time, with 20 % jitter", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([refuses(503)])
      yield* failure(n8n.getWorkflow("1"))
      const pauses = pausesBetween(requests)
      assert.strictEqual(pauses.length, 3)
      for (const [index, pause] of pauses.entries()) {
        const planned = 200 * 2 ** index
        assert.isAtLeast(pause, planned * 0.8)
        assert.isAtMost(pause, planned * 1.2)
        assert.notStrictEqual(pause, planned)
      }
    }))

  it.effect.each([
    ...[["7", 7_000], ["30", 30_000], ["Thu, 01 Jan 2026 00:00:25 GMT", 25_000]] as const,
    // The default, with its jitter.
    ...["0", "-5", "soon", "Wed, 31 Dec 2025 23:59:00 GMT"].map((header) => [header, 200] as const),
    ...["31", "86400", "Thu, 01 Jan 2026 00:00:31 GMT"].map((header) => [header, undefined] as const)
  ])(
    "obey Retry-After: %s, which is a pause of %s ms, or fail immediately",
    ([header, planned]) =>
      Effect.gen(function*() {
        for (const status of [429, 503]) {
          yield* TestClock.setTime(Date.UTC(2026, 0, 1))
          const { n8n, requests } = yield* scriptedClient([refuses(status, { "retry-after": header }), answers])
          // No clock runs for what fails.
          if (planned === undefined) {
            const error = yield* Effect.flip(n8n.getWorkflow("1"))
            assert.strictEqual(requests.length, 1)
            assert.strictEqual(
              error.message,
              `Failed to get workflow for Workflow '1' (HTTP ${status}): n8n's own words`
            )
            if (status === 429) assert.include(Hints.text(error.hint), "wait")
          } else {
            yield* settle(n8n.getWorkflow("1"))
            const [pause = 0, ...others] = pausesBetween(requests)
            assert.approximately(pause, planned, planned === 200 ? 40 : 0)
            assert.deepStrictEqual(others, [])
          }
        }
      })
  )
})

describe("the timeout", () => {
  const calls: ReadonlyArray<readonly [string, number, (n8n: N8nClient.Service) => Effect.Effect<unknown, unknown>]> = [
    ["a call", 45, (n8n) => n8n.getWorkflow("1")],
    ["a list", 45, (n8n) => n8n.listExecutions({ limit: 1 })],
    ["a write", 30, (n8n) => n8n.createWorkflow({ name: "A" } as never)],
    ["execution data", 180, (n8n) => readText(n8n, "1")]
  ]

  it.effect.each(calls)(
    "ends %s after %s s without an answer, or the end of one, and aborts the request",
    (_) =>
      Effect.gen(function*() {
        const [, seconds, ask] = _
        for (const answer of [neverAnswers, neverEnds]) {
          const { n8n, requests } = yield* scriptedClient([answer])
          const fiber = yield* Effect.forkChild(Effect.flip(ask(n8n)))
          yield* Effect.yieldNow
          yield* TestClock.adjust(`${seconds * 1000 - 1} millis`)
          assert.isUndefined(fiber.pollUnsafe())
          yield* TestClock.adjust("1 millis")
          const error = yield* Fiber.join(fiber)
          assert.instanceOf(error, Errors.ApiError)
          assert.strictEqual(error.reason.details, `no answer from https://n8n.test within ${seconds} s`)
          assert.strictEqual(requests.length, 1)
          if (answer === neverAnswers) assert.isTrue(requests[0]?.signal.aborted)
        }
      })
  )

  it.effect("limits a call with all its retries: without time for another one it fails immediately with n8n's error", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([refuses(429, { "retry-after": "25" })])
      const fiber = yield* Effect.forkChild(Effect.flip(n8n.getWorkflow("1")))
      yield* TestClock.adjust("25 seconds")
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(reasonOf(error), "Status 429")
      assert.deepStrictEqual(requests.map(({ at }) => at), [0, 25_000])
    }))

  it.effect("aborts requests whose body it did not read, so that none keeps its connection", () =>
    Effect.gen(function*() {
      const read = yield* scriptedClient([answers])
      yield* read.n8n.getWorkflow("1")
      assert.deepStrictEqual(read.requests.map(({ signal }) => signal.aborted), [false])
      const redirected = yield* scriptedClient([refuses(302, { location: "/api/v1/elsewhere" }), answers])
      yield* redirected.n8n.getWorkflow("1")
      assert.deepStrictEqual(redirected.requests.map(({ signal }) => signal.aborted), [true, true])
      const gone = yield* scriptedClient([refuses(404)])
      yield* settle(Effect.exit(gone.n8n.deleteWorkflow("1")))
      assert.isTrue(gone.requests.every(({ signal }) => signal.aborted))
    }))

  it.effect("is not spent after an interruption", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([neverAnswers])
      const fiber = yield* Effect.forkChild(n8n.getWorkflow("1"))
      yield* Effect.yieldNow
      assert.isFalse(requests[0]?.signal.aborted)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(requests[0]?.signal.aborted)
    }))
})

describe("headers for a proxy", () => {
  const secret = "proxy-secret-value"
  const headers = { "cf-access-client-secret": Redacted.make(secret) }
  const names = (all: ReadonlyArray<{ readonly headers: Readonly<Record<string, string>> }>) =>
    all.map((request) => request.headers["cf-access-client-secret"])

  it.effect("go to n8n's own origin only", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([answers], { headers })
      yield* n8n.getWorkflow("1")
      yield* n8n.callWebhook("orders", { method: "POST", seconds: 5 })
      assert.deepStrictEqual(names(requests), [secret, secret])
      const other = yield* scriptedClient([answers], { headers, webhookUrl: new URL("https://hooks.test/") })
      yield* other.n8n.getWorkflow("1")
      yield* other.n8n.callWebhook("orders", { method: "POST", seconds: 5 })
      assert.deepStrictEqual(names(other.requests), [secret, undefined])
    }))

  it.effect("are in no error", () =>
    Effect.gen(function*() {
      const { n8n } = yield* scriptedClient([says({ message: `no ${secret}` }, { status: 403 })], { headers })
      const error = yield* apiFailure(n8n.getWorkflow("1"))
      assert.strictEqual(error.reason.details, "no [redacted]")
    }))
})

describe("a redirect", () => {
  const to = (location: string, status = 302) => refuses(status, { location })

  it.effect.each([
    { location: "https://elsewhere.test/api/v1/workflows/1", named: "https://elsewhere.test" },
    { location: "//elsewhere.test/", named: "https://elsewhere.test" },
    { location: "http://n8n.test/api/v1/workflows/1", named: "http://n8n.test" },
    { location: "https://n8n.test:8443/", named: "https://n8n.test:8443" },
    { location: "https://n8n.test.elsewhere.test/", named: "https://n8n.test.elsewhere.test" },
    { location: "http://", named: "http://" }
  ])("to $location is not followed, since the key would leak", ({ location, named }) =>
    Effect.gen(function*() {
      for (const status of [301, 302, 303, 307, 308]) {
        const { n8n, requests } = yield* scriptedClient([to(location, status), answers])
        const error = yield* apiFailure(n8n.getWorkflow("1"))
        assert.strictEqual(requests.length, 1)
        assert.strictEqual(Errors.statusOf(error), status)
        assert.strictEqual(error.reason.details, `redirect to ${named}`)
        assert.include(Hints.text(error.hint), "N8N_URL")
      }
    }))

  it.effect("on the same origin is followed with the key", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([
        to("https://n8n.test/n8n/api/v1/workflows/1", 308),
        to("/deeper/workflows/1"),
        to("2"),
        answers
      ])
      assert.strictEqual((yield* n8n.getWorkflow("1")).name, "Daily")
      assert.deepStrictEqual(requests.map(({ url }) => url), [
        "https://n8n.test/api/v1/workflows/1",
        "https://n8n.test/n8n/api/v1/workflows/1",
        "https://n8n.test/deeper/workflows/1",
        "https://n8n.test/deeper/workflows/2"
      ])
      assert.isTrue(requests.every(({ headers }) => headers["x-n8n-api-key"] === apiKey))
    }))

  it.effect("keeps the query of its location unchanged, and ends where it loops or has none", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([to("/moved/executions/1?includeData=true"), says({ id: "1" })])
      yield* readText(n8n, "1")
      assert.strictEqual(requests[1]?.url, "https://n8n.test/moved/executions/1?includeData=true")
      const circle = yield* scriptedClient([to("/api/v1/workflows/1")])
      const error = yield* apiFailure(circle.n8n.getWorkflow("1"))
      assert.strictEqual(circle.requests.length, 4)
      assert.strictEqual(error.reason.details, "redirect to https://n8n.test")
      const lost = yield* scriptedClient([refuses(300)])
      assert.strictEqual(reasonOf(yield* apiFailure(lost.n8n.getWorkflow("1"))), "Status 300")
    }))
})

describe("an answer", () => {
  it.effect.each<[details: string, text: string]>([
    ["a web page instead of JSON", "\n <!DOCTYPE html>"],
    ["an answer that is not JSON", "pong"],
    ["an answer that is not JSON", `{"id":"1","name":`],
    ["the answer is not one of n8n's (Expected object)", ""]
  ])("is not from n8n: %s, %j", ([details, text]) =>
    Effect.gen(function*() {
      const { n8n } = yield* scriptedClient([says(text)])
      const error = yield* apiFailure(n8n.getWorkflow("1"))
      assert.strictEqual(error.reason.details, details)
      assert.include(Hints.text(error.hint), "N8N_URL")
    }))

  it.effect.each(["id", "name", "active", "nodes"])("without '%s' is reported", (key) =>
    Effect.gen(function*() {
      const { [key]: _, ...rest }: Record<string, unknown> = workflow
      const { n8n } = yield* scriptedClient([says(rest)])
      assert.include((yield* apiFailure(n8n.getWorkflow("1"))).reason.details, `(${key} is required)`)
    }))

  it.effect("may have unknown keys, which nodes keep", () =>
    Effect.gen(function*() {
      const node = { id: "n", name: "Start", type: "n8n-nodes-base.start", invented: { in: 2027 } }
      const { n8n } = yield* scriptedClient([says({ ...workflow, nodes: [node], invented: true, shared: [{}] })])
      assert.deepStrictEqual((yield* n8n.getWorkflow("1")).nodes, [node])
    }))

  it.effect("with execution data is streamed to its reader, again if it breaks off, and without its limit on request", () =>
    Effect.gen(function*() {
      const text = JSON.stringify({ id: "7", data: { text: "äöü" }, invented: 1 })
      const { n8n, requests } = yield* scriptedClient([breaksOff, says(text)])
      assert.strictEqual(yield* settle(readText(n8n, "7")), text)
      yield* n8n.readExecution("7", { ignoreDataSizeLimit: true }, () => Effect.void)
      assert.deepStrictEqual(requests.slice(1).map(({ url }) => new URL(url).search), [
        "?includeData=true",
        "?includeData=true&ignoreDataSizeLimit=true"
      ])
    }))
})
