import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"
import { inspect } from "node:util"
import * as N8nClient from "../src/N8nClient.ts"
import * as N8nError from "../src/N8nError.ts"
import * as N8nApi from "../src/testing/N8nApi.ts"

const apiKey = "a-key-that-never-leaves-its-header"

// ---- a scripted n8n

type Answer = (
  request: HttpClientRequest.HttpClientRequest,
  url: URL
) => Effect.Effect<Response, HttpClientError.HttpClientError>

const says = (body: unknown, init?: ResponseInit): Answer => () =>
  Effect.sync(() => typeof body === "string" ? new Response(body, init) : Response.json(body, init))

const refuses = (status: number, headers?: Record<string, string>): Answer =>
  says({ message: "n8n's own words" }, { status, ...(headers === undefined ? {} : { headers }) })

/** The connection fails as `fetch` reports it: the reason is in the chain of causes. */
const fails = (code?: string, message = `connect ${code} 127.0.0.1:5678`): Answer => (request) =>
  Effect.fail(
    new HttpClientError.HttpClientError({
      reason: new HttpClientError.TransportError({
        request,
        cause: new TypeError("fetch failed", {
          cause: Object.assign(new Error(message), code === undefined ? {} : { code })
        })
      })
    })
  )

const streams = (pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void): Answer => () =>
  Effect.sync(() =>
    new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode(`{"id":"1",`)),
        pull
      })
    )
  )

const breaksOff = streams((controller) => controller.error(new Error("terminated")))

const neverEnds = streams(() => new Promise<void>(() => {}))

const neverAnswers: Answer = () => Effect.never

const workflow = { id: "1", name: "Daily", active: true, nodes: [], connections: {} }
const answers = says(workflow)

interface Seen {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly at: number
  readonly signal: AbortSignal
}

/** A client of an n8n that gives these answers, the last of them again and again; `seen` are the requests so far. */
const scripted = Effect.fnUntraced(function*(
  script: readonly [Answer, ...ReadonlyArray<Answer>],
  options: { readonly url?: string; readonly apiKey?: string; readonly retry?: Schedule.Schedule<unknown> } = {}
) {
  const seen: Array<Seen> = []
  const http = HttpClient.make(Effect.fnUntraced(function*(request, url, signal) {
    const answer = script[seen.length] ?? script.at(-1) ?? script[0]
    seen.push({ url: url.href, headers: { ...request.headers }, at: yield* Clock.currentTimeMillis, signal })
    return HttpClientResponse.fromWeb(request, yield* answer(request, url))
  }))
  const n8n = yield* N8nClient.make({
    url: new URL(options.url ?? "https://n8n.test/"),
    apiKey: Redacted.make(options.apiKey ?? apiKey),
    retry: options.retry
  }).pipe(Effect.provideService(HttpClient.HttpClient, http))
  return { n8n, seen }
})

/** One turn of the event loop: bodies are read by promises, of which the test clock knows nothing. */
const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

/** Lets the clock run until it is through. */
const settle = Effect.fnUntraced(function*<A, E>(effect: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(effect)
  for (let steps = 0; fiber.pollUnsafe() === undefined && steps < 3_000; steps++) {
    yield* turn
    yield* TestClock.adjust("100 millis")
  }
  return yield* Fiber.join(fiber)
})

const failure = <A>(effect: Effect.Effect<A, N8nError.N8nError>) => settle(Effect.flip(effect))

const apiFailure = <A>(effect: Effect.Effect<A, N8nError.N8nError>) =>
  Effect.map(failure(effect), (error) => {
    assert.instanceOf(error, N8nError.Api)
    return error
  })

/** The execution's bytes, as text. */
const readText = (n8n: N8nClient.Service, id: string) =>
  n8n.readExecution(id, {}, (body) => Stream.mkString(Stream.decodeText(body)))

const gaps = (seen: ReadonlyArray<Seen>) => seen.slice(1).map(({ at }, index) => at - (seen[index]?.at ?? 0))

// ---- an n8n in memory

const connected = Effect.fnUntraced(function*(seed: Partial<N8nApi.Seed>, version: "1" | "2" = "2") {
  const api = yield* N8nApi.make({ workflows: [], executions: [], ...seed }, { version })
  const n8n = yield* N8nClient.make({ url: new URL("https://n8n.test/"), apiKey: Redacted.make(apiKey) }).pipe(
    Effect.provideService(HttpClient.HttpClient, api.client)
  )
  const queries = Effect.map(api.requests, (requests) => requests.map(({ url }) => new URL(url).searchParams))
  return { n8n, queries, count: Effect.map(api.requests, ({ length }) => length) }
})

const versions = ["1", "2"] as const

/** All pages, each as asked for by the one before. */
const walk = Effect.fnUntraced(function*<Page extends { readonly nextCursor?: string }>(
  page: (cursor: string | undefined) => Effect.Effect<Page, N8nError.N8nError>
) {
  const pages: Array<Page> = []
  let cursor: string | undefined
  do {
    const next: Page = yield* page(cursor)
    pages.push(next)
    cursor = next.nextCursor
  } while (cursor !== undefined && pages.length < 200)
  return pages
})

describe("a request", () => {
  it.effect.each([
    { base: "https://n8n.test", api: "https://n8n.test/api/v1" },
    { base: "https://n8n.test/", api: "https://n8n.test/api/v1" },
    { base: "https://n8n.test/api", api: "https://n8n.test/api/v1" },
    { base: "https://n8n.test/api/v1", api: "https://n8n.test/api/v1" },
    { base: "https://n8n.test/api/v1/", api: "https://n8n.test/api/v1" },
    { base: "http://localhost:5678", api: "http://localhost:5678/api/v1" },
    { base: "https://host.test/n8n", api: "https://host.test/n8n/api/v1" },
    { base: "https://host.test/n8n/", api: "https://host.test/n8n/api/v1" },
    { base: "https://host.test/n8n/api/v1", api: "https://host.test/n8n/api/v1" },
    { base: "https://host.test//n8n//", api: "https://host.test/n8n/api/v1" },
    { base: "https://n8n.test/?from=mail#top", api: "https://n8n.test/api/v1" }
  ])("to $base goes to $api with the key", ({ api, base }) =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([answers], { url: base })
      assert.strictEqual((yield* n8n.getWorkflow("1")).name, "Daily")
      assert.deepStrictEqual(seen.map(({ url }) => url), [`${api}/workflows/1`])
      assert.strictEqual(seen[0]?.headers["x-n8n-api-key"], apiKey)
      assert.strictEqual(seen[0]?.headers["accept"], "application/json")
      assert.strictEqual(n8n.instance.url, `${api.replace(/api\/v1$/, "")}`)
    }))

  it.effect("writes ids and parameters into the URL so that n8n reads them back", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([answers, says({ id: "1" }), says({ data: [] })])
      yield* n8n.getWorkflow("a/b?c#d%")
      yield* readText(n8n, "7")
      yield* n8n.listWorkflows({ archived: false, limit: 5, name: "R&D + 100%", tags: ["a b", "c"] })
      assert.strictEqual(seen[0]?.url, "https://n8n.test/api/v1/workflows/a%2Fb%3Fc%23d%25")
      assert.strictEqual(seen[1]?.url, "https://n8n.test/api/v1/executions/7?includeData=true")
      const { searchParams } = new URL(seen[2]?.url ?? "")
      assert.strictEqual(searchParams.get("name"), "R&D + 100%")
      assert.strictEqual(searchParams.get("tags"), "a b,c")
      assert.isFalse(searchParams.has("active"))
    }))

  it.effect("writes workflows one after the other", () =>
    Effect.gen(function*() {
      const body = { id: "w1", name: "W", active: false, nodes: [], connections: {} }
      const slow: Answer = (request, url) => Effect.delay(says(body)(request, url), "1 second")
      const { n8n, seen } = yield* scripted([slow])
      yield* settle(
        Effect.all([
          n8n.createWorkflow({}),
          n8n.publishWorkflow("w1"),
          n8n.putWorkflow("w1", {}),
          n8n.unpublishWorkflow("w1"),
          n8n.deleteWorkflow("w1")
        ], { concurrency: "unbounded" })
      )
      assert.isAtLeast(Math.min(...gaps(seen)), 1_000)
    }))

  it.effect("tells instances apart by address and key, without showing the key", () =>
    Effect.gen(function*() {
      const keyOf = (url: string, key: string) =>
        N8nClient.make({ url: new URL(url), apiKey: Redacted.make(key) }).pipe(
          Effect.map(({ instance }) => instance.key),
          Effect.provide(N8nApi.layer({ workflows: [], executions: [] }))
        )
      const one = yield* keyOf("https://n8n.test", apiKey)
      assert.strictEqual(yield* keyOf("https://n8n.test/api/v1/", apiKey), one)
      assert.notStrictEqual(yield* keyOf("https://n8n.test/", `${apiKey}!`), one)
      assert.notStrictEqual(yield* keyOf("https://n8n.test:8443/", apiKey), one)
      assert.notInclude(one, apiKey)
    }))

  it.effect("is configured by N8N_URL and N8N_API_KEY", () =>
    Effect.gen(function*() {
      const instance = (env: Record<string, string>) =>
        N8nClient.N8nClient.useSync((n8n) => n8n.instance.url).pipe(
          Effect.provide(N8nClient.layerConfig.pipe(
            Layer.provide(N8nApi.layer({ workflows: [], executions: [] })),
            Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
          ))
        )
      assert.strictEqual(
        yield* instance({ N8N_URL: "https://n8n.test/api/v1", N8N_API_KEY: apiKey }),
        "https://n8n.test/"
      )
      assert.include((yield* Effect.flip(instance({ N8N_URL: "https://n8n.test" }))).message, "N8N_API_KEY")
    }))
})

describe("repeats", () => {
  it.effect.each([
    { what: "408", answer: refuses(408), statusCode: 408 },
    { what: "429", answer: refuses(429), statusCode: 429 },
    { what: "500", answer: refuses(500), statusCode: 500 },
    { what: "502", answer: says("<html>Bad Gateway</html>", { status: 502 }), statusCode: 502 },
    { what: "503", answer: refuses(503), statusCode: 503 },
    { what: "504", answer: refuses(504), statusCode: 504 },
    { what: "a refused connection", answer: fails("ECONNREFUSED") },
    { what: "a reset connection", answer: fails("ECONNRESET") },
    { what: "a resolver that is down", answer: fails("EAI_AGAIN") },
    { what: "a failure without a code", answer: fails() },
    { what: "a body that breaks off", answer: breaksOff }
  ])("$what three times, then fails", ({ answer, statusCode }) =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([answer])
      const error = yield* apiFailure(n8n.getWorkflow("1"))
      assert.strictEqual(seen.length, 4)
      assert.strictEqual(error.statusCode, statusCode)
      assert.isTrue(seen.every(({ headers }) => headers["x-n8n-api-key"] === apiKey))
    }))

  it.effect.each([
    { what: "400", answer: refuses(400) },
    { what: "401", answer: refuses(401) },
    { what: "403", answer: refuses(403) },
    { what: "404", answer: refuses(404) },
    { what: "404 without words", answer: says("<html>", { status: 404 }) },
    { what: "405", answer: refuses(405) },
    { what: "409", answer: refuses(409) },
    { what: "a refusal that names a time", answer: refuses(400, { "retry-after": "1" }) },
    { what: "a host name that does not exist", answer: fails("ENOTFOUND") },
    { what: "a self-signed certificate", answer: fails("DEPTH_ZERO_SELF_SIGNED_CERT") },
    { what: "a certificate of an unknown authority", answer: fails("SELF_SIGNED_CERT_IN_CHAIN") },
    { what: "an incomplete certificate chain", answer: fails("UNABLE_TO_VERIFY_LEAF_SIGNATURE") },
    { what: "a certificate whose issuer is not known here", answer: fails("UNABLE_TO_GET_ISSUER_CERT_LOCALLY") },
    { what: "a certificate of another host", answer: fails("ERR_TLS_CERT_ALTNAME_INVALID") },
    { what: "an expired certificate", answer: fails("CERT_HAS_EXPIRED") },
    { what: "a web page", answer: says("<html>") },
    { what: "what is not JSON", answer: says("OK") },
    { what: "JSON of another shape", answer: says({ ok: true }) },
    { what: "a redirect elsewhere", answer: refuses(302, { location: "https://login.test/" }) }
  ])("never $what", ({ answer }) =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([answer, answers])
      const exit = yield* settle(Effect.exit(n8n.getWorkflow("1")))
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual(seen.length, 1)
    }))

  it.effect("until it succeeds", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([refuses(503), breaksOff, answers])
      assert.strictEqual((yield* settle(n8n.getWorkflow("1"))).name, "Daily")
      assert.strictEqual(seen.length, 3)
    }))

  it.effect("after pauses that double, each jittered by a fifth", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([refuses(503)])
      yield* failure(n8n.getWorkflow("1"))
      const pauses = gaps(seen)
      assert.strictEqual(pauses.length, 3)
      for (const [index, pause] of pauses.entries()) {
        const planned = 200 * 2 ** index
        assert.isAtLeast(pause, planned * 0.8)
        assert.isAtMost(pause, planned * 1.2)
        assert.notStrictEqual(pause, planned)
      }
    }))

  it.effect("as the application says", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([refuses(503)], { retry: Schedule.recurs(1) })
      yield* failure(n8n.getWorkflow("1"))
      assert.strictEqual(seen.length, 2)
      const other = yield* scripted([refuses(400)], { retry: Schedule.recurs(5) })
      yield* failure(other.n8n.getWorkflow("1"))
      assert.strictEqual(other.seen.length, 1)
    }))

  const now = Date.UTC(2026, 0, 1)
  const limited = (given: string) => refuses(429, { "retry-after": given })

  it.effect.each([
    { given: "7", pause: 7_000 },
    { given: "30", pause: 30_000 },
    { given: "Thu, 01 Jan 2026 00:00:25 GMT", pause: 25_000 }
  ])("after as long as Retry-After: $given asks", ({ given, pause }) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now)
      const { n8n, seen } = yield* scripted([limited(given), answers])
      yield* settle(n8n.getWorkflow("1"))
      assert.deepStrictEqual(gaps(seen), [pause])
    }))

  it.effect.each([{ given: "0" }, { given: "-5" }, { given: "soon" }, { given: "Wed, 31 Dec 2025 23:59:00 GMT" }])(
    "after the usual pause on Retry-After: $given",
    ({ given }) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(now)
        const { n8n, seen } = yield* scripted([limited(given), answers])
        yield* settle(n8n.getWorkflow("1"))
        const [pause = 0] = gaps(seen)
        assert.isAtLeast(pause, 160)
        assert.isAtMost(pause, 240)
      })
  )

  it.effect.each([{ given: "31" }, { given: "86400" }, { given: "Thu, 01 Jan 2026 00:00:31 GMT" }])(
    "not at all on Retry-After: $given",
    ({ given }) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(now)
        const { n8n, seen } = yield* scripted([limited(given), answers])
        // No clock runs: it fails at once.
        const error = yield* Effect.flip(n8n.getWorkflow("1"))
        assert.strictEqual(seen.length, 1)
        assert.strictEqual(error.message, "Failed to get workflow for Workflow '1' (HTTP 429)")
        assert.include(error.hint, "wait")
      })
  )

  it.effect("honours Retry-After on 503 as well", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([refuses(503, { "retry-after": "9" }), answers])
      yield* settle(n8n.getWorkflow("1"))
      assert.deepStrictEqual(gaps(seen), [9_000])
    }))
})

describe("time", () => {
  const calls = [
    { what: "a call", seconds: 60, ask: (n8n: N8nClient.Service) => Effect.asVoid(n8n.getWorkflow("1")) },
    {
      what: "a listing",
      seconds: 60,
      ask: (n8n: N8nClient.Service) => Effect.asVoid(n8n.listExecutions({ limit: 1 }))
    },
    { what: "execution data", seconds: 180, ask: (n8n: N8nClient.Service) => Effect.asVoid(readText(n8n, "1")) }
  ]

  it.effect.each(calls.flatMap((call) => [
    { ...call, how: "that never answers", answer: neverAnswers },
    { ...call, how: "whose body never ends", answer: neverEnds }
  ]))("bounds $what $how to $seconds s, and hangs up", ({ answer, ask, seconds }) =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([answer])
      const fiber = yield* Effect.forkChild(Effect.flip(ask(n8n)))
      yield* turn
      yield* TestClock.adjust(`${seconds * 1000 - 1} millis`)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const error = yield* Fiber.join(fiber)
      assert.instanceOf(error, N8nError.Api)
      assert.strictEqual(error.errorDetails, `no answer within ${seconds} s`)
      assert.isUndefined(error.statusCode)
      assert.strictEqual(seen.length, 1)
      if (answer === neverAnswers) assert.isTrue(seen[0]?.signal.aborted)
    }))

  it.effect("bounds all repetitions together", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([refuses(429, { "retry-after": "25" })])
      const fiber = yield* Effect.forkChild(Effect.flip(n8n.getWorkflow("1")))
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "ApiError")
      assert.deepStrictEqual(seen.map(({ at }) => at), [0, 25_000, 50_000])
    }))

  it.effect("is not spent on what nobody waits for any more", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([neverAnswers])
      const fiber = yield* Effect.forkChild(n8n.getWorkflow("1"))
      yield* turn
      assert.isFalse(seen[0]?.signal.aborted)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(seen[0]?.signal.aborted)
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
  ])("to $location is not followed: the key stays home", ({ location, named }) =>
    Effect.gen(function*() {
      for (const status of [301, 302, 303, 307, 308]) {
        const { n8n, seen } = yield* scripted([to(location, status), answers])
        const error = yield* apiFailure(n8n.getWorkflow("1"))
        assert.strictEqual(seen.length, 1)
        assert.strictEqual(error.statusCode, status)
        assert.strictEqual(error.errorDetails, `redirect to ${named}`)
        assert.include(error.hint, "N8N_URL")
      }
    }))

  it.effect("on the same origin is followed with the key", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([
        to("https://n8n.test/n8n/api/v1/workflows/1", 308),
        to("/deeper/workflows/1"),
        to("2"),
        answers
      ])
      assert.strictEqual((yield* n8n.getWorkflow("1")).name, "Daily")
      assert.deepStrictEqual(seen.map(({ url }) => url), [
        "https://n8n.test/api/v1/workflows/1",
        "https://n8n.test/n8n/api/v1/workflows/1",
        "https://n8n.test/deeper/workflows/1",
        "https://n8n.test/deeper/workflows/2"
      ])
      assert.isTrue(seen.every(({ headers }) => headers["x-n8n-api-key"] === apiKey))
    }))

  it.effect("keeps the query that its location names, and adds none", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([to("/moved/executions/1?includeData=true"), says({ id: "1" })])
      yield* readText(n8n, "1")
      assert.strictEqual(seen[1]?.url, "https://n8n.test/moved/executions/1?includeData=true")
    }))

  it.effect("that leads in circles ends", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([to("/api/v1/workflows/1")])
      const error = yield* apiFailure(n8n.getWorkflow("1"))
      assert.strictEqual(seen.length, 4)
      assert.strictEqual(error.errorDetails, "redirect to https://n8n.test")
    }))

  it.effect("without a location is a failure like any other", () =>
    Effect.gen(function*() {
      const { n8n } = yield* scripted([refuses(300)])
      assert.strictEqual((yield* apiFailure(n8n.getWorkflow("1"))).statusCode, 300)
    }))
})

describe("an answer", () => {
  it.effect.each([
    { what: "a web page", answer: says("\n <!DOCTYPE html>"), details: "a web page instead of JSON" },
    { what: "a word", answer: says("pong"), details: "an answer that is not JSON" },
    { what: "half of one", answer: says(`{"id":"1","name":`), details: "an answer that is not JSON" }
  ])("that is $what is no n8n", ({ answer, details }) =>
    Effect.gen(function*() {
      const { n8n } = yield* scripted([answer])
      const error = yield* apiFailure(n8n.getWorkflow("1"))
      assert.strictEqual(error.errorDetails, details)
      assert.include(error.hint, "N8N_URL")
    }))

  it.effect("that is empty is no n8n either", () =>
    Effect.gen(function*() {
      const { n8n } = yield* scripted([says("")])
      assert.include((yield* apiFailure(n8n.getWorkflow("1"))).hint, "N8N_URL")
    }))

  it.effect.each([{ key: "id" }, { key: "name" }, { key: "active" }, { key: "nodes" }])(
    "without '$key' says so",
    ({ key }) =>
      Effect.gen(function*() {
        const { [key]: _, ...rest }: Record<string, unknown> = workflow
        const { n8n } = yield* scripted([says(rest)])
        assert.include((yield* apiFailure(n8n.getWorkflow("1"))).errorDetails, `["${key}"]`)
      })
  )

  it.effect("may hold keys that nobody knows, and the nodes keep theirs", () =>
    Effect.gen(function*() {
      const node = { id: "n", name: "Start", type: "n8n-nodes-base.start", invented: { in: 2027 } }
      const { n8n } = yield* scripted([says({ ...workflow, nodes: [node], invented: true, shared: [{}] })])
      assert.deepStrictEqual((yield* n8n.getWorkflow("1")).nodes, [node])
    }))

  it.effect("with execution data goes to its reader as it is, anew when it breaks off", () =>
    Effect.gen(function*() {
      const text = JSON.stringify({ id: "7", data: { text: "äöü" }, invented: 1 })
      const { n8n, seen } = yield* scripted([breaksOff, says(text)])
      assert.strictEqual(yield* settle(readText(n8n, "7")), text)
      assert.strictEqual(seen.length, 2)
    }))

  it.effect("with execution data is asked for whole when the caller says so", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([answers])
      yield* n8n.readExecution("7", { ignoreDataSizeLimit: true }, () => Effect.void)
      assert.strictEqual(seen[0]?.url, "https://n8n.test/api/v1/executions/7?includeData=true&ignoreDataSizeLimit=true")
    }))
})

describe("an error's envelope", () => {
  const envelope = Effect.fnUntraced(function*(
    answer: Answer,
    ask: (n8n: N8nClient.Service) => Effect.Effect<unknown, N8nError.N8nError> = (n8n) => n8n.getWorkflow("abc123")
  ) {
    const { n8n } = yield* scripted([answer])
    return N8nError.toEnvelope(yield* failure(ask(n8n)))
  })

  it.effect("of a workflow that is not there", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* envelope(says({ message: "Not Found" }, { status: 404 })), {
        name: "NotFoundError",
        message: "Workflow 'abc123' not found",
        context: { operation: "get workflow", resourceType: "Workflow", resourceId: "abc123" },
        hint: "list_workflows lists the workflows with their ids."
      })
    }))

  it.effect("of an execution that is not there", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* envelope(refuses(404), (n8n) => readText(n8n, "123")), {
        name: "NotFoundError",
        message: "Execution '123' not found",
        context: { operation: "get execution", resourceType: "Execution", resourceId: "123" },
        hint: "list_executions lists the executions with their ids; n8n prunes old ones."
      })
    }))

  it.effect("of a refusal carries n8n's own words", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* envelope(refuses(400)), {
        name: "ApiError",
        message: "Failed to get workflow for Workflow 'abc123' (HTTP 400)",
        statusCode: 400,
        context: {
          operation: "get workflow",
          resourceType: "Workflow",
          resourceId: "abc123",
          errorDetails: "n8n's own words"
        },
        hint: "n8n refused a value; errorDetails says which. Correct it and call again."
      })
    }))

  it.effect("of n8n that is not running", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* envelope(fails("ECONNREFUSED"), (n8n) => n8n.listExecutions({ limit: 1 })), {
        name: "ApiError",
        message: "Failed to list executions",
        context: { operation: "list executions", errorDetails: "ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:5678" },
        hint:
          "Nothing listens there: start n8n, or check N8N_URL (--n8n-url): it is the address that n8n's editor has in a browser."
      })
    }))

  it.effect("of a check of ours", () =>
    Effect.gen(function*() {
      const ask = (n8n: N8nClient.Service) => n8n.listWorkflows({ archived: false, limit: 1, cursor: "page 2" })
      assert.deepStrictEqual(yield* envelope(answers, ask), {
        name: "ValidationError",
        message: "cursor is not one that list_workflows gave",
        context: { field: "cursor" },
        hint: "Pass nextCursor of the page before, unchanged, or leave it out to start anew."
      })
    }))

  it.effect.each([
    { status: 401, names: ["N8N_API_KEY", "--api-key"] },
    { status: 403, names: ["scope"] },
    { status: 405, names: ["older"] },
    { status: 409, names: ["errorDetails"] },
    { status: 429, names: ["wait"] },
    { status: 503, names: ["log"] }
  ])("of HTTP $status says what to do", ({ names, status }) =>
    Effect.gen(function*() {
      const { hint, name, statusCode } = yield* envelope(refuses(status))
      assert.strictEqual(name, "ApiError")
      assert.strictEqual(statusCode, status)
      for (const each of names) assert.include(hint, each)
    }))

  it.effect.each([
    { code: "ENOTFOUND", names: "N8N_URL" },
    { code: "EAI_AGAIN", names: "N8N_URL" },
    { code: "ECONNRESET", names: "N8N_URL" },
    { code: "DEPTH_ZERO_SELF_SIGNED_CERT", names: "NODE_EXTRA_CA_CERTS" },
    { code: "SELF_SIGNED_CERT_IN_CHAIN", names: "NODE_EXTRA_CA_CERTS" },
    { code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE", names: "NODE_EXTRA_CA_CERTS" },
    { code: "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", names: "NODE_EXTRA_CA_CERTS" },
    { code: "ERR_TLS_CERT_ALTNAME_INVALID", names: "N8N_URL" },
    { code: "CERT_HAS_EXPIRED", names: "renew" }
  ])("of $code names $names", ({ code, names }) =>
    Effect.gen(function*() {
      assert.include((yield* envelope(fails(code))).hint, names)
    }))

  it.effect("of a 404 that is a web page is no missing workflow", () =>
    Effect.gen(function*() {
      for (const page of ["<html>404 page not found</html>", "404 page not found", ""]) {
        const { context, hint, name, statusCode } = yield* envelope(says(page, { status: 404 }))
        assert.strictEqual(name, "ApiError")
        assert.strictEqual(statusCode, 404)
        assert.strictEqual(context["errorDetails"], "no words of n8n's in the answer")
        assert.include(hint, "N8N_URL")
      }
    }))

  it.effect("of a missing endpoint names no resource", () =>
    Effect.gen(function*() {
      const { message, name } = yield* envelope(refuses(404), (n8n) => n8n.listExecutions({ limit: 1 }))
      assert.strictEqual(name, "ApiError")
      assert.strictEqual(message, "Failed to list executions (HTTP 404)")
    }))

  it.effect("says what failed where both addresses of a host refuse, whose error has no message", () =>
    Effect.gen(function*() {
      const { context } = yield* envelope(fails("ECONNREFUSED", ""))
      assert.strictEqual(context["errorDetails"], "ECONNREFUSED: fetch failed")
    }))

  it.effect("has no stack, no secret, and no more than a screen of text", () =>
    Effect.gen(function*() {
      const message = `Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig ${"long ".repeat(2_000)}`
      const found = yield* envelope(says({ message, stack: "at here" }, { status: 400 }))
      assert.deepStrictEqual(Object.keys(found), ["name", "message", "statusCode", "context", "hint"])
      assert.notInclude(JSON.stringify(found), "eyJ")
      assert.notInclude(JSON.stringify(found), "at here")
      assert.strictEqual(found.context["errorDetails"]?.length, 2_000)
    }))
})

describe("an envelope", () => {
  it("hides secrets, whoever wrote them", () => {
    const secret = "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig"
    const envelopes = [
      new N8nError.Api({ operation: "get workflow", errorDetails: secret, hint: "" }),
      new N8nError.Validation({ reason: secret, field: "id", errorDetails: secret, hint: "" }),
      new N8nError.NotFound({ resourceType: "Workflow", resourceId: secret, hint: "" })
    ].map(N8nError.toEnvelope)
    for (const envelope of envelopes) assert.notInclude(JSON.stringify(envelope), "eyJ")
  })
})

describe("the API key", () => {
  it.effect.each([
    { what: "accepted", answer: answers },
    { what: "refused", answer: refuses(401) },
    { what: "repeated in n8n's words", answer: says({ message: `unknown key ${apiKey}` }, { status: 401 }) },
    { what: "repeated by what carries the request", answer: fails(undefined, `"${apiKey}" is no header value`) },
    { what: "repeated in a redirect", answer: refuses(302, { location: `http:?key=${apiKey}` }) },
    { what: "repeated by an echo", answer: says(JSON.stringify(`x-n8n-api-key: ${apiKey}`)) },
    { what: "sent in vain", answer: breaksOff }
  ])("shows nowhere when $what", ({ answer }) =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const spans: Array<Tracer.NativeSpan> = []
      const logger = Logger.layer([Logger.make((options) => void lines.push(Logger.formatJson.log(options)))])
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const { n8n, seen } = yield* scripted([answer])
      const exit = yield* settle(
        Effect.exit(n8n.getWorkflow("1")).pipe(
          Effect.tap((exit) => Effect.logError("asked", exit, n8n)),
          Effect.provide(logger),
          Effect.withTracer(tracer),
          Effect.provideService(HttpClient.TracerHeaderFilter, () => true)
        )
      )
      const shown = [...lines, inspect(exit, { depth: null }), inspect(n8n, { depth: null })]
      if (Exit.isFailure(exit)) {
        const error = Cause.squash(exit.cause)
        assert.isTrue(error instanceof N8nError.Api)
        shown.push(
          JSON.stringify(exit),
          JSON.stringify(error),
          String(error),
          inspect(error, { depth: null, showHidden: true })
        )
        if (error instanceof N8nError.Api) shown.push(JSON.stringify(N8nError.toEnvelope(error)), error.stack ?? "")
      }
      // It was sent, and logs and spans were taken.
      assert.strictEqual(seen[0]?.headers["x-n8n-api-key"], apiKey)
      assert.isAbove(lines.length, 0)
      const sent = spans.filter(({ kind }) => kind === "client")
      assert.strictEqual(sent.length, seen.length)
      for (const { attributes } of sent) {
        assert.strictEqual(attributes.get("http.request.header.x-n8n-api-key"), "<redacted>")
      }
      for (const text of shown) assert.notInclude(text, apiKey)
    }))

  it.effect("that is a common word does not spoil n8n's own", () =>
    Effect.gen(function*() {
      const { n8n } = yield* scripted([refuses(401)], { apiKey: "own" })
      assert.strictEqual((yield* apiFailure(n8n.getWorkflow("1"))).errorDetails, "n8n's own words")
    }))
})

describe("without settings", () => {
  const calls: ReadonlyArray<{
    readonly what: string
    readonly ask: (n8n: N8nClient.Service) => Effect.Effect<unknown, N8nError.N8nError>
  }> = [
    { what: "list workflows", ask: (n8n) => n8n.listWorkflows({ archived: false, limit: 1 }) },
    { what: "get workflow", ask: (n8n) => n8n.getWorkflow("1") },
    { what: "get workflow", ask: (n8n) => n8n.workflowName("1") },
    { what: "list executions", ask: (n8n) => n8n.listExecutions({ limit: 1, startedAfter: "2026-01-01T00:00:00Z" }) },
    { what: "get execution", ask: (n8n) => readText(n8n, "1") }
  ]

  it.effect.each(calls)("cannot $what, and says what to set", ({ ask, what }) =>
    Effect.gen(function*() {
      const error = yield* N8nClient.N8nClient.use((n8n) => Effect.flip(ask(n8n)))
      assert.deepStrictEqual(N8nError.toEnvelope(error), {
        name: "ValidationError",
        message: `Cannot ${what}: N8N_URL and N8N_API_KEY not set`,
        context: { field: "N8N_URL, N8N_API_KEY" },
        hint:
          "Set N8N_URL and N8N_API_KEY where the client starts this server (or start it with --demo to try it without n8n)."
      })
    }).pipe(Effect.provide(N8nClient.layerUnconfigured(["N8N_URL", "N8N_API_KEY"]))))
})

describe("listWorkflows", () => {
  const id = (index: number) => `w${String(index).padStart(4, "0")}`

  const entry = (index: number, more: object = {}): N8nApi.Workflow => ({
    id: id(index),
    name: `Workflow ${index}`,
    active: false,
    isArchived: false,
    nodes: [],
    connections: {},
    tags: [],
    ...more
  })

  const ids = ({ workflows }: { readonly workflows: ReadonlyArray<{ readonly id: string }> }) =>
    workflows.map((each) => each.id)

  const tags = (...names: ReadonlyArray<string>) => ({ tags: names.map((name) => ({ name })) })

  const archived = { isArchived: true }

  describe.each(versions)("on n8n %s", (version) => {
    it.effect("fills the page although archived ones are left out", () =>
      Effect.gen(function*() {
        const workflows = Array.from({ length: 12 }, (_, index) => entry(index, index % 2 === 0 ? archived : {}))
        const { n8n } = yield* connected({ workflows }, version)
        const page = yield* n8n.listWorkflows({ archived: false, limit: 5 })
        assert.deepStrictEqual(ids(page), [1, 3, 5, 7, 9].map(id))
        const next = yield* n8n.listWorkflows({ archived: false, limit: 5, cursor: page.nextCursor })
        assert.deepStrictEqual(ids(next), [id(11)])
        assert.notProperty(next, "nextCursor")
        assert.deepStrictEqual(ids(yield* n8n.listWorkflows({ archived: true, limit: 3 })), [0, 1, 2].map(id))
      }))

    it.effect("names no next page where nothing that shows is left", () =>
      Effect.gen(function*() {
        const workflows = Array.from({ length: 9 }, (_, index) => entry(index, index < 4 ? {} : archived))
        const { n8n } = yield* connected({ workflows }, version)
        const page = yield* n8n.listWorkflows({ archived: false, limit: 4 })
        assert.deepStrictEqual(ids(page), [0, 1, 2, 3].map(id))
        assert.notProperty(page, "nextCursor")
      }))

    it.effect("counts offset in workflows that show, from the cursor if there is one", () =>
      Effect.gen(function*() {
        const workflows = Array.from({ length: 14 }, (_, index) => entry(index, index % 2 === 0 ? archived : {}))
        const { n8n } = yield* connected({ workflows }, version)
        const page = yield* n8n.listWorkflows({ archived: false, limit: 2, offset: 2 })
        assert.deepStrictEqual(ids(page), [5, 7].map(id))
        const next = yield* n8n.listWorkflows({ archived: false, limit: 2, offset: 1, cursor: page.nextCursor })
        assert.deepStrictEqual(ids(next), [11, 13].map(id))
        assert.deepStrictEqual(ids(yield* n8n.listWorkflows({ archived: false, limit: 2, offset: 7 })), [])
      }))

    it.effect("takes the limit that is asked for, not the cursor's", () =>
      Effect.gen(function*() {
        const { n8n } = yield* connected({ workflows: Array.from({ length: 9 }, (_, index) => entry(index)) }, version)
        const { nextCursor } = yield* n8n.listWorkflows({ archived: false, limit: 5 })
        const next = yield* n8n.listWorkflows({ archived: false, limit: 2, cursor: nextCursor })
        assert.deepStrictEqual(ids(next), [5, 6].map(id))
      }))

    it.effect("finds by tags, all of them, one with a comma in it too", () =>
      Effect.gen(function*() {
        const { n8n } = yield* connected({
          workflows: [
            entry(0, tags("red")),
            entry(1, tags("red", "big, blue")),
            entry(2, tags("big", "blue")),
            entry(3, tags("big, blue")),
            entry(4, tags("Red"))
          ]
        }, version)
        const find = (...names: ReadonlyArray<string>) =>
          Effect.map(n8n.listWorkflows({ archived: false, limit: 10, tags: names }), ids)
        assert.deepStrictEqual(yield* find("red"), [0, 1].map(id))
        assert.deepStrictEqual(yield* find("big, blue"), [1, 3].map(id))
        assert.deepStrictEqual(yield* find("red", "big, blue"), [id(1)])
        assert.deepStrictEqual(yield* find("blue", "big"), [id(2)])
        assert.deepStrictEqual(yield* find("red", "nobody's"), [])
        assert.deepStrictEqual(yield* find(), [0, 1, 2, 3, 4].map(id))
      }))

    it.effect("finds by name and state", () =>
      Effect.gen(function*() {
        const { n8n } = yield* connected({
          workflows: [
            entry(0, { name: "Alpha sync", active: true }),
            entry(1, { name: "Beta SYNC" }),
            entry(2, { name: "Gamma" })
          ]
        }, version)
        const find = (query: Partial<N8nClient.WorkflowQuery>) =>
          Effect.map(n8n.listWorkflows({ archived: false, limit: 10, ...query }), ids)
        assert.deepStrictEqual(yield* find({ name: "sync" }), [0, 1].map(id))
        assert.deepStrictEqual(yield* find({ name: "sync", active: false }), [id(1)])
        assert.deepStrictEqual(yield* find({ active: true }), [id(0)])
        assert.deepStrictEqual(yield* find({ name: "" }), [0, 1, 2].map(id))
      }))

    it.effect("passes a thousand archived ones in few requests", () =>
      Effect.gen(function*() {
        const workflows = Array.from({ length: 1_010 }, (_, index) =>
          entry(index, index >= 5 && index < 1_005 ? archived : {}))
        const { count, n8n } = yield* connected({ workflows }, version)
        const page = yield* n8n.listWorkflows({ archived: false, limit: 5 })
        assert.deepStrictEqual(ids(page), [0, 1, 2, 3, 4].map(id))
        assert.isDefined(page.nextCursor)
        assert.isAtMost(yield* count, 12)
      }))

    it.effect("reads no more than it needs where nothing is left out, and no pinned data", () =>
      Effect.gen(function*() {
        const workflows = Array.from({ length: 300 }, (_, index) => entry(index))
        const { n8n, queries } = yield* connected({ workflows }, version)
        const { nextCursor } = yield* n8n.listWorkflows({ archived: false, limit: 20 })
        assert.isDefined(nextCursor)
        assert.strictEqual((yield* queries).length, 1)
        const [query = new URLSearchParams()] = yield* queries
        assert.strictEqual(query.get("limit"), "21")
        assert.strictEqual(query.get("excludePinnedData"), "true")
      }))
  })

  it.effect("loses none where n8n gives fewer than asked for", () =>
    Effect.gen(function*() {
      const workflows = Array.from({ length: 10 }, (_, index) => entry(index))
      const Cursor = Schema.fromJsonString(Schema.Struct({ offset: Schema.Int }))
      const givesThree: Answer = (request, url) => {
        const { offset } = Schema.decodeSync(Cursor)(atob(url.searchParams.get("cursor") ?? ""))
        const more = offset + 3 < workflows.length
        return says({ data: workflows.slice(offset, offset + 3), nextCursor: more ? "more" : null })(request, url)
      }
      const { n8n, seen } = yield* scripted([givesThree])
      const page = yield* n8n.listWorkflows({ archived: false, limit: 8 })
      assert.deepStrictEqual(ids(page), workflows.slice(0, 8).map((each) => each.id))
      assert.strictEqual(seen.length, 3)
      const next = yield* n8n.listWorkflows({ archived: false, limit: 8, cursor: page.nextCursor })
      assert.deepStrictEqual(ids(next), [8, 9].map(id))
    }))

  it.effect.each([
    { cursor: "" },
    { cursor: "2" },
    { cursor: "%%%" },
    { cursor: btoa("nonsense") },
    { cursor: btoa(JSON.stringify({ lastId: "17", limit: 20 })) }
  ])("refuses the cursor '$cursor' without asking n8n", ({ cursor }) =>
    Effect.gen(function*() {
      const { count, n8n } = yield* connected({})
      const error = yield* Effect.flip(n8n.listWorkflows({ archived: false, limit: 5, cursor }))
      assert.instanceOf(error, N8nError.Validation)
      assert.strictEqual(error.field, "cursor")
      assert.strictEqual(yield* count, 0)
    }))

  const Kind = Schema.Struct({
    archived: Schema.Boolean,
    active: Schema.Boolean,
    red: Schema.Boolean,
    comma: Schema.Boolean
  })

  it.effect.prop(
    "walks, page by page, exactly what matches",
    {
      kinds: Schema.Array(Kind).check(Schema.isMaxLength(40)),
      limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8 })),
      offset: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 })),
      version: Schema.Literals(versions),
      query: Schema.Struct({ ...Kind.fields, active: Schema.UndefinedOr(Schema.Boolean) })
    },
    ({ kinds, limit, offset, query, version }) =>
      Effect.gen(function*() {
        const names = (kind: { readonly red: boolean; readonly comma: boolean }) => [
          ...(kind.red ? ["red"] : []),
          ...(kind.comma ? ["a,b"] : [])
        ]
        const workflows = kinds.map((kind, index) =>
          entry(index, { isArchived: kind.archived, active: kind.active, ...tags(...names(kind)) })
        )
        const expected = kinds.flatMap((kind, index) =>
          (query.archived || !kind.archived) && (query.active === undefined || query.active === kind.active) &&
            (!query.red || kind.red) && (!query.comma || kind.comma)
            ? [id(index)]
            : []
        ).slice(offset)
        const { n8n } = yield* connected({ workflows }, version)
        const pages = yield* walk((cursor) =>
          n8n.listWorkflows({
            archived: query.archived,
            active: query.active,
            tags: names(query),
            limit,
            ...(cursor === undefined ? { offset } : { cursor })
          })
        )
        assert.deepStrictEqual(pages.flatMap(ids), expected)
        // Every page but the last is full, and a next page is only named where there is one.
        assert.isTrue(pages.slice(0, -1).every((page) => page.workflows.length === limit))
        assert.strictEqual(pages.length, Math.max(1, Math.ceil(expected.length / limit)))
      }),
    { arbitrary: { runs: 200 } }
  )
})

describe("listExecutions", () => {
  const start = Date.UTC(2026, 0, 1)

  const time = (minute: number) => new Date(start + minute * 60_000).toISOString()

  /** Execution `n` starts in minute `n`. */
  const run = (minute: number, more: object = {}): N8nApi.Execution => ({
    id: String(minute),
    workflowId: "w",
    status: "success",
    mode: "trigger",
    startedAt: time(minute),
    stoppedAt: time(minute),
    ...more
  })

  const runs = (count: number) => Array.from({ length: count }, (_, index) => run(index + 1))

  const ids = ({ executions }: { readonly executions: ReadonlyArray<{ readonly id: string | number }> }) =>
    executions.map((each) => Number(each.id))

  const refused = (queries: ReadonlyArray<URLSearchParams>) => queries.filter((query) => query.has("startedBefore"))

  describe.each(versions)("on n8n %s", (version) => {
    it.effect("passes the filters on and keeps what it does not know", () =>
      Effect.gen(function*() {
        const executions = [run(1, { status: "error" }), run(2), run(3, { status: "error", workflowId: "v" }), run(4)]
        const { n8n, queries } = yield* connected({ executions }, version)
        assert.deepStrictEqual(ids(yield* n8n.listExecutions({ limit: 10 })), [4, 3, 2, 1])
        assert.deepStrictEqual(ids(yield* n8n.listExecutions({ limit: 10, status: "error" })), [3, 1])
        const page = yield* n8n.listExecutions({ limit: 10, status: "error", workflowId: "w" })
        assert.deepStrictEqual(page, { executions: [{ ...executions[0], id: "1" }] })
        assert.deepStrictEqual(
          (yield* queries).map((query) => query.toString()),
          ["limit=10", "limit=10&status=error", "limit=10&status=error&workflowId=w"]
        )
      }))

    it.effect("takes the limit that is asked for, not the cursor's", () =>
      Effect.gen(function*() {
        const { n8n } = yield* connected({ executions: runs(9) }, version)
        const { nextCursor: cursor } = yield* n8n.listExecutions({ limit: 4 })
        assert.deepStrictEqual(ids(yield* n8n.listExecutions({ limit: 2, cursor })), [5, 4])
        const timed = yield* n8n.listExecutions({ limit: 4, startedBefore: time(8) })
        const next = yield* n8n.listExecutions({ limit: 2, cursor: timed.nextCursor, startedBefore: time(8) })
        assert.deepStrictEqual(ids(next), [4, 3])
      }))

    it.effect("hands a cursor that it does not understand to n8n", () =>
      Effect.gen(function*() {
        const { n8n } = yield* connected({ executions: runs(1) }, version)
        const error = yield* Effect.flip(n8n.listExecutions({ limit: 4, cursor: "%%%" }))
        assert.strictEqual(N8nError.toEnvelope(error).context["errorDetails"], "An invalid cursor was provided")
      }))

    it.effect("calls a status that this n8n does not know the caller's mistake", () =>
      Effect.gen(function*() {
        const { n8n } = yield* connected({ executions: runs(3) }, version)
        for (const times of [{}, { startedAfter: time(1) }]) {
          const error = yield* Effect.flip(n8n.listExecutions({ limit: 10, status: "lost", ...times }))
          assert.instanceOf(error, N8nError.Validation)
          assert.strictEqual(error.field, "status")
          assert.strictEqual(error.message, "This n8n does not know the status 'lost'")
          assert.match(error.errorDetails ?? "", /canceled.+success.+waiting/)
        }
      }))

    it.effect("holds the time filters to both ends", () =>
      Effect.gen(function*() {
        const { n8n } = yield* connected({ executions: runs(6) }, version)
        const between = (startedAfter?: string, startedBefore?: string) =>
          Effect.map(n8n.listExecutions({ limit: 10, startedAfter, startedBefore }), ids)
        assert.deepStrictEqual(yield* between(time(4)), [6, 5, 4])
        assert.deepStrictEqual(yield* between(undefined, time(2.5)), [2, 1])
        assert.deepStrictEqual(yield* between(time(1.5), time(3.5)), [3, 2])
        assert.deepStrictEqual(yield* between(time(9)), [])
      }))
  })

  it.effect("knows 'crashed' on 2.x alone", () =>
    Effect.gen(function*() {
      const executions = [run(1, { status: "crashed" })]
      const query = { limit: 10, status: "crashed" }
      const two = yield* connected({ executions }, "2")
      assert.deepStrictEqual(ids(yield* two.n8n.listExecutions(query)), [1])
      const one = yield* connected({ executions }, "1")
      const error = yield* Effect.flip(one.n8n.listExecutions(query))
      assert.deepStrictEqual(N8nError.toEnvelope(error), {
        name: "ValidationError",
        message: "This n8n does not know the status 'crashed'",
        context: {
          field: "status",
          errorDetails:
            "request/query/status must be equal to one of the allowed values: canceled, error, running, success, waiting"
        },
        hint: "errorDetails lists the values that it knows."
      })
    }))

  it.effect("leaves any other refusal n8n's", () =>
    Effect.gen(function*() {
      const { n8n } = yield* connected({}, "2")
      const error = yield* Effect.flip(n8n.listExecutions({ limit: 10, status: "error", startedAfter: "yesterday" }))
      assert.instanceOf(error, N8nError.Api)
      assert.strictEqual(error.errorDetails, "request/query/startedAfter Invalid datetime")
    }))

  it.effect("asks 2.x to filter by time, in one request", () =>
    Effect.gen(function*() {
      const { n8n, queries } = yield* connected({ executions: runs(9) })
      const times = { startedAfter: time(3), startedBefore: time(7) }
      yield* n8n.listExecutions({ limit: 10, ...times })
      assert.deepStrictEqual((yield* queries).map((query) => Object.fromEntries(query)), [{ limit: "10", ...times }])
    }))

  it.effect("finds out once that 1.x cannot filter by time", () =>
    Effect.gen(function*() {
      const { n8n, queries } = yield* connected({ executions: runs(9) }, "1")
      const query = { limit: 10, startedBefore: time(2.5), workflowId: "w", status: "success" }
      assert.deepStrictEqual(ids(yield* n8n.listExecutions(query)), [2, 1])
      assert.strictEqual(refused(yield* queries).length, 1)
      assert.deepStrictEqual(ids(yield* n8n.listExecutions(query)), [2, 1])
      assert.strictEqual(refused(yield* queries).length, 1)
      assert.strictEqual((yield* queries).length, 3)
      // The other filters are still n8n's.
      assert.strictEqual((yield* queries).at(-1)?.get("workflowId"), "w")
      assert.strictEqual((yield* queries).at(-1)?.get("status"), "success")
    }))

  it.effect("stops on 1.x at the first execution that is too old", () =>
    Effect.gen(function*() {
      const { count, n8n } = yield* connected({ executions: runs(2_000) }, "1")
      const page = yield* n8n.listExecutions({ limit: 100, startedAfter: time(1_951) })
      assert.strictEqual(page.executions.length, 50)
      assert.notProperty(page, "nextCursor")
      assert.strictEqual(yield* count, 2)
    }))

  it.effect("looks through 5,000 on 1.x in one call, and the cursor goes on from there", () =>
    Effect.gen(function*() {
      const { count, n8n } = yield* connected({ executions: runs(5_300) }, "1")
      const query = { limit: 10, startedBefore: time(4.5) }
      const first = yield* n8n.listExecutions(query)
      assert.deepStrictEqual(first.executions, [])
      assert.isDefined(first.nextCursor)
      assert.strictEqual(yield* count, 21)
      const second = yield* n8n.listExecutions({ ...query, cursor: first.nextCursor })
      assert.deepStrictEqual(ids(second), [4, 3, 2, 1])
      assert.notProperty(second, "nextCursor")
      assert.strictEqual(yield* count, 23)
    }))

  it.effect("looks as far on 1.x from a small page's cursor", () =>
    Effect.gen(function*() {
      const old = runs(3)
      const gap = Array.from({ length: 2_000 }, (_, index) => run(index + 100, { startedAt: time(9_999) }))
      const { n8n } = yield* connected({ executions: [...old, ...gap, run(5_000)] }, "1")
      const query = { limit: 1, startedBefore: time(6_000) }
      const first = yield* n8n.listExecutions(query)
      assert.deepStrictEqual(ids(first), [5_000])
      assert.deepStrictEqual(ids(yield* n8n.listExecutions({ ...query, cursor: first.nextCursor })), [3])
    }))

  it.effect("tolerates on 1.x what has not started", () =>
    Effect.gen(function*() {
      const executions = [run(1), run(2, { status: "waiting", startedAt: "" }), run(3)]
      const { n8n } = yield* connected({ executions }, "1")
      assert.deepStrictEqual(ids(yield* n8n.listExecutions({ limit: 10, startedAfter: time(1) })), [3, 1])
    }))

  const Minute = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 45 }))

  it.effect.prop(
    "walks the same executions on both versions, whatever the times and the limit",
    {
      failed: Schema.Array(Schema.Boolean).check(Schema.isMaxLength(40)),
      limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8 })),
      after: Schema.UndefinedOr(Minute),
      before: Schema.UndefinedOr(Minute),
      status: Schema.UndefinedOr(Schema.Literals(["success", "error"]))
    },
    ({ after, before, failed, limit, status }) =>
      Effect.gen(function*() {
        const executions = failed.map((error, index) => run(index + 1, { status: error ? "error" : "success" }))
        const expected = executions.filter((execution) =>
          (status === undefined || execution.status === status) &&
          (after === undefined || execution.startedAt >= time(after)) &&
          (before === undefined || execution.startedAt <= time(before))
        ).map((execution) => Number(execution.id)).toReversed()
        const query = {
          limit,
          status,
          startedAfter: after === undefined ? undefined : time(after),
          startedBefore: before === undefined ? undefined : time(before)
        }
        for (const version of versions) {
          const { n8n } = yield* connected({ executions }, version)
          const pages = yield* walk((cursor) => n8n.listExecutions({ ...query, cursor }))
          assert.deepStrictEqual(pages.flatMap(ids), expected, version)
          assert.isTrue(pages.every((page) => page.executions.length <= limit))
        }
      }),
    { arbitrary: { runs: 200 } }
  )
})

describe("workflowName", () => {
  const named = (id: string, name: string): N8nApi.Workflow => ({ id, name, active: true, nodes: [], connections: {} })

  const workflows = [named("a", "Alpha"), named("b", "Beta")]

  it.effect("asks once for each workflow, also when asked for side by side", () =>
    Effect.gen(function*() {
      const { count, n8n } = yield* connected({ workflows })
      const names = yield* Effect.forEach(["a", "b", "a", "a", "b"], n8n.workflowName, { concurrency: "unbounded" })
      assert.deepStrictEqual(names, ["Alpha", "Beta", "Alpha", "Alpha", "Beta"])
      assert.strictEqual(yield* n8n.workflowName("b"), "Beta")
      assert.strictEqual(yield* count, 2)
    }))

  it.effect("keeps a name for a minute", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([says({ name: "Old" }), says({ name: "New" })])
      assert.strictEqual(yield* n8n.workflowName("a"), "Old")
      yield* TestClock.adjust("59999 millis")
      assert.strictEqual(yield* n8n.workflowName("a"), "Old")
      assert.strictEqual(seen.length, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* n8n.workflowName("a"), "New")
      assert.strictEqual(seen.length, 2)
    }))

  it.effect("knows a deleted workflow, and keeps that too", () =>
    Effect.gen(function*() {
      const { count, n8n } = yield* connected({ workflows })
      assert.strictEqual(yield* n8n.workflowName("gone"), "Deleted Workflow")
      assert.strictEqual(yield* n8n.workflowName("gone"), N8nClient.deletedWorkflow)
      assert.strictEqual(yield* count, 1)
    }))

  it.effect.each([
    { what: "a refusal", answer: refuses(403), statusCode: 403 },
    { what: "a web page that says 404", answer: says("<html>", { status: 404 }), statusCode: 404 },
    { what: "an answer without a name", answer: says({ id: "a" }), statusCode: undefined }
  ])("fails on $what, and does not keep that", ({ answer, statusCode }) =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([answer, answer, answers])
      assert.strictEqual((yield* apiFailure(n8n.workflowName("a"))).statusCode, statusCode)
      yield* apiFailure(n8n.workflowName("a"))
      assert.strictEqual(yield* n8n.workflowName("a"), "Daily")
      assert.strictEqual(seen.length, 3)
    }))

  it.effect("asks anew after a call that was given up", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([neverAnswers, answers])
      const fiber = yield* Effect.forkChild(n8n.workflowName("a"))
      yield* turn
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* n8n.workflowName("a"), "Daily")
      assert.strictEqual(seen.length, 2)
    }))

  it.effect("still serves those who wait when one of them gives up", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const { n8n, seen } = yield* scripted([
        (...asked) => Effect.andThen(Deferred.await(gate), answers(...asked))
      ])
      const first = yield* Effect.forkChild(n8n.workflowName("a"))
      const second = yield* Effect.forkChild(n8n.workflowName("a"))
      yield* turn
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(second), "Daily")
      assert.strictEqual(seen.length, 1)
    }))
})
