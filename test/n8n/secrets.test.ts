import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { EncodeError, HttpClientError, InvalidUrlError, TransportError } from "effect/http/HttpClientError"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { inspect } from "node:util"
import * as Errors from "../../src/base/Errors.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import { recording } from "../support/spans.ts"
import { type Answer, answers, failure, scriptedClient, settle } from "./clients.ts"

type Call = (n8n: N8nClient.Service) => Effect.Effect<unknown, Errors.N8nError>

const list: Call = (n8n) => n8n.listWorkflows()

const encode = Schema.encodeSync(Schema.Union([Errors.NotFoundError, Errors.ApiError, Errors.ValidationError]))

/** Everything that a log, an API or a trace may show of a failure. */
const shown = (error: Errors.N8nError, spans: ReadonlyArray<unknown>) =>
  [error.message, error.stack, JSON.stringify(error), JSON.stringify(encode(error)), inspect(error, { depth: 9 })]
    .join("\n") + inspect(spans, { depth: 9 })

describe("a value that cannot be sent", () => {
  const webhook = (headers: Record<string, string>): Call => (n8n) =>
    n8n.callWebhook("in", { method: "POST", headers, seconds: 5 })

  it.live.each<[what: string, options: Partial<N8nClient.Options>, call: Call, field: string, reason: string]>([
    ["a key with a line break", { apiKey: Redacted.make("s3cret-one\ns3cret-two") }, list, "apiKey", "a line break"],
    ["a key in Cyrillic", { apiKey: Redacted.make("s3cret-ключ") }, list, "apiKey", "no HTTP header"],
    ["a proxy's header", { headers: { token: Redacted.make("s3cret\rs3cret") } }, list, "headers", "'token'"],
    ["a header's name", { headers: { "s3cret x": Redacted.make("x") } }, list, "headers", "A name"],
    ["an address with a password", { url: new URL("http://s3cret:s3cret@127.0.0.1") }, list, "url", "password"],
    ["a webhook's address", { webhookUrl: new URL("http://s3cret@127.0.0.1") }, list, "webhookUrl", "user name"],
    ["a request of one's own", { apiKey: Redacted.make("s3cret\0") }, (n8n) => n8n.request("GET /tags"), "apiKey", ""],
    ["a webhook's header", {}, webhook({ authorization: "s3cret\n." }), "headers", "'authorization'"]
  ])(
    "is refused before a request, and is not shown: %s",
    ([, options, call, field, reason]) =>
      Effect.gen(function*() {
        let requests = 0
        const fetch = () => Promise.resolve(Response.json({ requests: requests++ }))
        const { spans, tracer } = recording()
        const n8n = yield* N8nClient.make({
          url: new URL("http://127.0.0.1/"),
          apiKey: Redacted.make("key"),
          ...options
        })
          .pipe(
            Effect.provide(Layer.merge(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch)))
          )
        const error = yield* Effect.flip(call(n8n)).pipe(Effect.withTracer(tracer))
        assert.instanceOf(error, Errors.ValidationError)
        assert.strictEqual(error.field, field)
        assert.include(error.message, reason)
        assert.notInclude(shown(error, spans) + n8n.instance.url, "s3cret")
        assert.strictEqual(requests, 0)
      })
  )

  it.effect("may be blanks around a key, which are not sent", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([answers], { apiKey: "the-whole-key\n" })
      yield* n8n.getWorkflow("1")
      assert.strictEqual(requests[0]?.headers["x-n8n-api-key"], "the-whole-key")
    }))
})

describe("the text of a failed request", () => {
  const secret = "s3cret-of-the-request"

  const fails =
    (Reason: typeof TransportError | typeof EncodeError | typeof InvalidUrlError, cause: unknown): Answer =>
    (request) => Effect.fail(new HttpClientError({ reason: new Reason({ request, cause }) }))
  const invalidUrl = Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: secret })

  it.effect.each<[what: string, answer: Answer, details: string]>([
    [
      "a platform that repeats the address",
      fails(TransportError, new TypeError(`error sending request for url (http://${secret})`)),
      "the connection was lost"
    ],
    ["an address as a field", fails(InvalidUrlError, invalidUrl), "the address is not valid"],
    [
      "an address in a chain",
      fails(TransportError, { cause: invalidUrl }),
      "the connection was lost (ERR_INVALID_URL)"
    ],
    ["a body", fails(EncodeError, new Error(secret)), "the request cannot be written"],
    [
      "a header's value after a system's code",
      fails(TransportError, Object.assign(new Error(`write EPROTO ${secret}`), { code: "EPROTO" })),
      "write EPROTO [redacted]"
    ]
  ])("is not shown unless it is of the connection: %s", ([, answer, details]) =>
    Effect.gen(function*() {
      const { spans, tracer } = recording()
      const { n8n } = yield* scriptedClient([answer], { headers: {} })
      const call = n8n.callWebhook("in", { method: "GET", headers: { authorization: `Bearer ${secret}` }, seconds: 5 })
      const error = yield* failure(Effect.withTracer(call, tracer))
      assert.strictEqual(Errors.detailsOf(error), details)
      assert.notInclude(shown(error, spans), secret)
    }))
})

describe("an empty value in a query", () => {
  const page = { limit: 5, cursor: "" }

  it.effect.each<[what: string, call: Call, field: string]>([
    ["executions of ''", (n8n) => n8n.listExecutions({ workflowId: "" }), "workflowId"],
    ["executions of a blank", (n8n) => n8n.listExecutions({ workflowId: " " }), "workflowId"],
    ["a project's executions", (n8n) => n8n.listExecutions({ projectId: "" }), "projectId"],
    ["a status", (n8n) => n8n.listExecutions({ status: "" as never }), "status"],
    ["a page of executions", (n8n) => n8n.listExecutions({ cursor: "" }), "cursor"],
    ["a project's workflows", (n8n) => n8n.listWorkflows({ projectId: "" }), "projectId"],
    ["a tag", (n8n) => n8n.listWorkflows({ tags: [""] }), "tags"],
    ["a page of workflows", (n8n) => n8n.listWorkflows({ cursor: "" }), "cursor"],
    ["a page of credentials", (n8n) => n8n.listCredentials(page), "cursor"],
    ["a page of data tables", (n8n) => n8n.listDataTables(page), "cursor"],
    ["a page of rows", (n8n) => n8n.listRows("t", page), "cursor"],
    ["an operation", (n8n) => n8n.request("GET /executions", { query: { workflowId: "" } }), "workflowId"],
    ["a path", (n8n) => n8n.request("DELETE", "/things", { query: { id: "" } }), "id"]
  ])(
    "is refused before a request, since n8n would answer with everything: %s",
    ([, call, field]) =>
      Effect.gen(function*() {
        const { n8n, requests } = yield* scriptedClient([answers])
        const error = yield* settle(Effect.flip(call(n8n)))
        assert.instanceOf(error, Errors.ValidationError)
        assert.strictEqual(error.field, field)
        assert.lengthOf(requests, 0)
      })
  )
})
