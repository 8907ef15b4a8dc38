import { assert, describe, it } from "@effect/vitest"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { inspect } from "node:util"
import * as Errors from "../../src/base/Errors.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import { listening } from "../support/listening.ts"
import { reasonOf } from "../support/reason.ts"
import { recording } from "../support/spans.ts"
import * as TestTime from "../support/TestTime.ts"
import {
  answers,
  apiFailure,
  apiKey,
  fails,
  memoryClient,
  neverAnswers,
  refuses,
  says,
  scriptedClient,
  settle,
  versions
} from "./clients.ts"

describe("the reason of an ApiError", () => {
  it.effect.each<[reason: string, message: string, answer: typeof answers]>([
    ["Timeout", ": no answer from https://n8n.test within 300 ms", neverAnswers],
    ["Unreachable", ": connect ECONNREFUSED 127.0.0.1:5678", fails("ECONNREFUSED")],
    ["Status 403", " (HTTP 403): n8n's own words", refuses(403)],
    ["Status 500", " (HTTP 500): n8n's own words", refuses(500)],
    ["Unreadable", ": a web page instead of JSON", says("<html>")]
  ])(
    "describes what happened, with the address and the time: %s%s",
    ([reason, message, answer]) =>
      Effect.gen(function*() {
        const { n8n } = yield* scriptedClient([answer], { retry: Schedule.recurs(0), timeout: "300 millis" })
        const error = yield* apiFailure(n8n.listWorkflows())
        assert.deepStrictEqual([reasonOf(error), error.message], [reason, `Failed to list workflows${message}`])
        assert.strictEqual(error.cause, error.reason)
      })
  )

  it.live("has the code of the system with fetch, too", () =>
    Effect.gen(function*() {
      const url = yield* Effect.scoped(listening(() => {}))
      const n8n = yield* N8nClient.make({
        url: new URL(url),
        apiKey: Redacted.make(apiKey),
        retry: Schedule.recurs(0)
      }).pipe(Effect.provide(FetchHttpClient.layer))
      const error = yield* Effect.flip(n8n.listWorkflows())
      assert.strictEqual(error.message, `Failed to list workflows: connect ECONNREFUSED ${new URL(url).host}`)
      assert.propertyVal(error.cause, "code", "ECONNREFUSED")
      const caught = Effect.catchReason(n8n.listWorkflows(), "ApiError", "Unreachable", ({ cause, code }) =>
        Effect.succeed([code, (cause as { readonly code?: string }).code]))
      assert.deepStrictEqual(yield* caught, ["ECONNREFUSED", "ECONNREFUSED"])
    }))

  it.effect("survives JSON, as the error of an API of one's own", () =>
    Effect.gen(function*() {
      const { n8n } = yield* scriptedClient([neverAnswers], { timeout: "300 millis" })
      const error = yield* apiFailure(n8n.listWorkflows())
      const codec = Schema.toCodecJson(Errors.ApiError)
      const again = Schema.decodeSync(codec)(JSON.parse(JSON.stringify(Schema.encodeSync(codec)(error))))
      assert.deepStrictEqual([again.message, again.reason.isRetryable], [error.message, true])
    }))

  it("is only of what a method can fail with", () => {
    const methods = null as unknown as N8nClient.Service
    const listed = (): Effect.Effect<unknown, Errors.ApiError | Errors.ValidationError> =>
      methods.listWorkflows({ limit: 1, archived: false })
    const one = () => methods.getWorkflow("1")
    // A workflow may be missing.
    const mayBeMissing: Errors.NotFoundError extends Effect.Error<ReturnType<typeof one>> ? true : false = true
    assert.deepStrictEqual([typeof listed, mayBeMissing], ["function", true])
  })
})

describe("retries", () => {
  it.effect("follow a schedule that sees the error", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const retry = Schedule.recurs(5).pipe(
        Schedule.setInputType<Errors.N8nError>(),
        Schedule.while(({ input }) => {
          seen.push(reasonOf(input))
          return reasonOf(input) === "Unreachable"
        })
      )
      const { n8n, requests } = yield* scriptedClient([fails("ECONNREFUSED"), refuses(503), answers], { retry })
      yield* apiFailure(n8n.getWorkflow("1"))
      assert.deepStrictEqual([seen, requests.length], [["Unreachable", "Status 503"], 2])
    }))
})

describe("the timeout", () => {
  const seconds = Effect.fnUntraced(function*(
    timeout: N8nClient.Options["timeout"],
    call: (n8n: N8nClient.Service) => Effect.Effect<unknown, Errors.N8nError>
  ) {
    const { n8n } = yield* scriptedClient([neverAnswers], { timeout })
    return Math.round((yield* TestTime.measure(Effect.exit(call(n8n)), { step: 100 })).seconds)
  })

  it.effect.each<[timeout: N8nClient.Options["timeout"], read: number, data: number]>([
    [undefined, 45, 180],
    ["2 minutes", 120, 180],
    ["5 minutes", 300, 300],
    ["3 seconds", 3, 180]
  ])("is %s: %s s to read, %s s with data", ([timeout, read, data]) =>
    Effect.gen(function*() {
      assert.approximately(yield* seconds(timeout, (n8n) => n8n.getWorkflow("1")), read, 1)
      assert.approximately(yield* seconds(timeout, (n8n) => n8n.readExecution("1", {}, () => Effect.void)), data, 1)
    }))
})

describe("streams", () => {
  for (const version of versions) {
    it.effect(`read every page, and no more than is taken (${version}.x)`, () =>
      Effect.gen(function*() {
        const each = Array.from({ length: 620 }, (_, index) => index)
        const common = { isArchived: false, nodes: [], connections: {} }
        const workflows = each.map((index) => ({ ...common, id: `w${index}`, name: "W", active: index % 2 === 0 }))
        const executions = each.map((index) => ({
          id: String(index + 1),
          workflowId: "w1",
          status: index % 31 === 0 ? "error" : "success",
          startedAt: new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString()
        }))
        const { count, n8n } = yield* memoryClient({ workflows, executions }, version)
        const ids = (stream: Stream.Stream<{ readonly id: string | number }, Errors.N8nError>) =>
          Effect.map(Stream.runCollect(stream), (all) => [...all].map(({ id }) => String(id)))
        assert.sameMembers(yield* ids(n8n.streamWorkflows()), workflows.map(({ id }) => id))
        assert.lengthOf(yield* ids(n8n.streamWorkflows({ active: true })), 310)
        assert.deepStrictEqual(yield* ids(n8n.streamExecutions()), executions.map(({ id }) => id).toReversed())
        const startedAfter = executions[300]?.startedAt
        assert.lengthOf(yield* ids(n8n.streamExecutions({ startedAfter })), 320)
        assert.lengthOf(yield* ids(n8n.streamExecutions({ status: "error" })), 20)
        const before = yield* count
        yield* ids(Stream.take(n8n.streamExecutions(), 3))
        assert.strictEqual((yield* count) - before, 1)
      }))
  }

  it.effect("fail when a cursor repeats", () =>
    Effect.gen(function*() {
      const page = { data: [{ id: "1", name: "a", type: "t" }], nextCursor: "same" }
      const { n8n } = yield* scriptedClient([says(page)])
      assert.strictEqual(reasonOf(yield* apiFailure(Stream.runDrain(n8n.streamCredentials))), "Unreadable")
    }))
})

describe("the client from configuration", () => {
  it.effect("is read from N8N_URL and N8N_API_KEY, or other variables, and a missing one is named", () =>
    Effect.gen(function*() {
      const instance = (env: Record<string, string>, ...options: Parameters<typeof N8nClient.layerConfig>) =>
        N8nClient.N8nClient.useSync((n8n) => [n8n.instance.url, n8n.webhookAddress("in")]).pipe(
          Effect.provide(
            N8nClient.layerConfig(...options).pipe(
              Layer.provide(Layer.succeed(HttpClient.HttpClient, HttpClient.make(() => Effect.never))),
              Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
            )
          )
        )
      const plain = { N8N_URL: "https://a.test/api/v1", N8N_API_KEY: "k" }
      assert.deepStrictEqual(yield* instance(plain), ["https://a.test/", "https://a.test/webhook/in"])
      assert.include((yield* Effect.flip(instance({ N8N_URL: "https://a.test" }))).message, "N8N_API_KEY")
      const options = {
        url: Config.URL("PROD_URL"),
        apiKey: Config.Redacted("PROD_KEY"),
        webhookUrl: Config.URL("PROD_HOOKS"),
        timeout: Config.Duration("PROD_TIMEOUT")
      }
      const env = { PROD_URL: "https://a.test", PROD_HOOKS: "https://b.test", PROD_KEY: "k", PROD_TIMEOUT: "2 minutes" }
      assert.deepStrictEqual(yield* instance(env, options), ["https://a.test/", "https://b.test/webhook/in"])
      const { PROD_KEY: _, ...without } = env
      assert.include((yield* Effect.flip(instance(without, options))).message, "PROD_KEY")
    }))
})

describe("the span of a method", () => {
  it.effect("has what was sent where and what came of it, and no secret", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recording()
      const traced = <A, E>(effect: Effect.Effect<A, E>) => settle(Effect.exit(effect)).pipe(Effect.withTracer(tracer))
      const { n8n } = yield* scriptedClient([refuses(503), answers, refuses(401), answers], {
        url: "https://n8n.test:8443/",
        apiKey
      })
      yield* traced(n8n.getWorkflow("1"))
      yield* traced(n8n.listCredentials({ limit: 5 }))
      yield* traced(n8n.callWebhook("secret-path", { method: "POST", body: { token: "t0ken" }, seconds: 5 }))
      const of = (name: string) => Object.fromEntries(spans.find((span) => span.name === name)?.attributes ?? [])
      assert.deepInclude(of("N8nClient.getWorkflow"), {
        "http.request.method": "GET",
        "server.address": "n8n.test",
        "server.port": 8443,
        "url.path": "/api/v1/workflows/1",
        "http.request.resend_count": 1
      })
      assert.deepInclude(of("N8nClient.listCredentials"), {
        "http.response.status_code": 401,
        "error.type": "401"
      })
      assert.notProperty(of("N8nClient.callWebhook"), "url.path")
      const told = inspect(spans.map(({ attributes }) => [...attributes]), { depth: 6 })
      for (const secret of [apiKey, "t0ken", "secret-path"]) assert.notInclude(told, secret)
    }))

  it.effect("shows which page of which list was asked for, and no name, search or value of a webhook", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recording()
      const { n8n } = yield* scriptedClient([says({ data: [], nextCursor: null })])
      const traced = <A, E>(effect: Effect.Effect<A, E>) => settle(Effect.exit(effect)).pipe(Effect.withTracer(tracer))
      yield* traced(n8n.listExecutions({ limit: 5, status: "error", workflowId: "w1" }))
      yield* traced(n8n.listWorkflows({ limit: 7, name: "Ada's", tags: ["ada"] }))
      yield* traced(n8n.callWebhook("a", { method: "GET", query: [["limit", "t0ken"]], seconds: 5 }))
      const queries = spans.flatMap(({ attributes }) => attributes.get("url.query") ?? [])
      assert.deepStrictEqual(queries, [
        "limit=5&status=error&workflowId=w1",
        "limit=8&cursor=eyJsaW1pdCI6OCwib2Zmc2V0IjowfQ%3D%3D&name=REDACTED&tags=REDACTED&excludePinnedData=true"
      ])
      assert.notInclude(inspect(spans.map(({ attributes }) => [...attributes]), { depth: 6 }), "t0ken")
    }))

  it.effect("has a request of n8n's release below it", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recording()
      const { n8n } = yield* scriptedClient([says("<html></html>")])
      yield* settle(n8n.release).pipe(Effect.withTracer(tracer))
      const [span, request] = spans
      assert.deepStrictEqual([span?.name, request?.kind], ["N8nClient.release", "client"])
      assert.strictEqual(span?.attributes.get("url.path"), "/")
      assert.strictEqual(Option.getOrUndefined(request?.parent ?? Option.none())?.spanId, span?.spanId)
    }))
})
