/** One's own retries, time limits and traces around the client. */
import { N8nClient } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Tracer from "effect/Tracer"

const spans: Array<Tracer.NativeSpan> = []
const tracer = Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    spans.push(span)
    return span
  }
})

const impatient = Layer.effect(
  N8nClient.N8nClient,
  Effect.gen(function*() {
    const fake = yield* FakeN8n.FakeN8n
    return yield* N8nClient.make({
      url: new URL("https://n8n.example.test"),
      apiKey: Redacted.make("fake-key"),
      timeout: "10 seconds",
      // At once, twice.
      retry: Schedule.recurs(2)
    }).pipe(Effect.provideService(HttpClient.HttpClient, fake.client))
  })
).pipe(Layer.provideMerge(FakeN8n.layer({ workflows: [], executions: [] })))

export const test = Effect.gen(function*() {
  const fake = yield* FakeN8n.FakeN8n
  const n8n = yield* N8nClient.N8nClient
  yield* fake.failTimes(2, 500)
  const { workflows } = yield* n8n.listWorkflows({ limit: 1, archived: false })
  yield* fake.failTimes(3, 500)
  const failed = yield* Effect.flip(n8n.listWorkflows({ limit: 1, archived: false }))
  const names = new Set(spans.map(({ name }) => name))
  const text = JSON.stringify(spans.map(({ attributes }) => [...attributes]))
  return {
    count: workflows.length,
    failed: failed._tag === "ApiError" && failed.reason.message,
    requests: (yield* fake.requests).length,
    hasSpans: names.size > 0 && text.includes("http.request.method"),
    hidesKey: !text.includes("fake-key")
  }
}).pipe(Effect.provide(impatient), Effect.withTracer(tracer))

export const expected = {
  count: 0,
  failed: "HTTP 500: simulated failure",
  requests: 6,
  hasSpans: true,
  hidesKey: true
}
