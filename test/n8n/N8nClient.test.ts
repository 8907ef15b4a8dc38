import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpClient from "effect/http/HttpClient"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { inspect } from "node:util"
import * as Envelope from "../../src/answer/Envelope.ts"
import * as Errors from "../../src/base/Errors.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { recording } from "../support/spans.ts"
import {
  answers,
  apiFailure,
  apiKey,
  breaksOff,
  fails,
  readText,
  refuses,
  says,
  scriptedClient,
  settle
} from "./clients.ts"

describe("a client", () => {
  it.effect("has a different instance key for each address and API key, which does not reveal the API key", () =>
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
})

describe("the API key", () => {
  it.effect.each([
    { what: "accepted", answer: answers },
    { what: "refused", answer: refuses(401) },
    { what: "repeated in n8n's words", answer: says({ message: `unknown key ${apiKey}` }, { status: 401 }) },
    { what: "repeated by the HTTP client", answer: fails(undefined, `"${apiKey}" is no header value`) },
    { what: "repeated in a redirect", answer: refuses(302, { location: `http:?key=${apiKey}` }) },
    { what: "repeated by an echo", answer: says(JSON.stringify(`x-n8n-api-key: ${apiKey}`)) },
    { what: "sent on a connection that breaks", answer: breaksOff }
  ])("is never outputs when $what", ({ answer }) =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.make((options) => void lines.push(Logger.formatJson.log(options)))])
      const { spans, tracer } = recording()
      const { n8n, requests } = yield* scriptedClient([answer])
      const exit = yield* settle(
        Effect.exit(n8n.getWorkflow("1")).pipe(
          Effect.tap((exit) => Effect.logError("asked", exit, n8n)),
          Effect.provide(logger),
          Effect.withTracer(tracer),
          Effect.provideService(HttpClient.TracerHeaderFilter, () => true)
        )
      )
      const outputs = [...lines, inspect(exit, { depth: null }), inspect(n8n, { depth: null })]
      if (Exit.isFailure(exit)) {
        const error = Cause.squash(exit.cause)
        assert.instanceOf(error, Errors.ApiError)
        outputs.push(JSON.stringify([exit, error, Envelope.fromError(error)]), String(error), error.stack ?? "")
        outputs.push(inspect(error, { depth: null, showHidden: true }))
      }
      // It was sent, and logs and spans were taken.
      assert.strictEqual(requests[0]?.headers["x-n8n-api-key"], apiKey)
      assert.isAbove(lines.length, 0)
      const clientSpans = spans.filter(({ kind }) => kind === "client")
      assert.strictEqual(clientSpans.length, requests.length)
      for (const { attributes } of clientSpans) {
        assert.strictEqual(attributes.get("http.request.header.x-n8n-api-key"), "<redacted>")
      }
      for (const text of outputs) assert.notInclude(text, apiKey)
    }))

  it.effect("that is a common word is not replaced in n8n's messages", () =>
    Effect.gen(function*() {
      const { n8n } = yield* scriptedClient([refuses(401)], { apiKey: "own" })
      assert.strictEqual((yield* apiFailure(n8n.getWorkflow("1"))).reason.details, "n8n's own words")
    }))
})

it.effect("a client without settings names what is missing", () =>
  Effect.gen(function*() {
    const n8n = yield* N8nClient.N8nClient
    const calls: ReadonlyArray<Effect.Effect<unknown, Errors.N8nError>> = [
      n8n.listWorkflows({ archived: false, limit: 1 }),
      n8n.getWorkflow("1"),
      n8n.workflowName("1"),
      n8n.listExecutions({ limit: 1, startedAfter: "2026-01-01T00:00:00Z" }),
      readText(n8n, "1"),
      n8n.request("GET /tags")
    ]
    for (const call of calls) {
      assert.deepStrictEqual(Envelope.fromError(yield* Effect.flip(call)), {
        name: "ValidationError",
        message: "n8n is not configured: N8N_URL and N8N_API_KEY not set",
        context: { field: "N8N_URL, N8N_API_KEY" },
        hint:
          "Set N8N_URL and N8N_API_KEY where the client starts this server, or run `effect-n8n-mcp init` once; --demo shows an n8n in memory."
      })
    }
  }).pipe(Effect.provide(N8nClient.layerUnconfigured(["N8N_URL", "N8N_API_KEY"]))))
