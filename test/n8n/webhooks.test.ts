import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import { recording } from "../support/spans.ts"
import { memoryClient, refuses, says, scriptedClient, versions, webhookWorkflow } from "./clients.ts"

describe.each(versions)("a webhook on n8n %s", (version) => {
  it.effect("accepts its method once the workflow is published", () =>
    Effect.gen(function*() {
      const { n8n } = yield* memoryClient({ workflows: [webhookWorkflow] }, version, { runs: () => undefined })
      assert.strictEqual(n8n.webhookAddress("in"), "https://n8n.test/webhook/in")
      const call = n8n.callWebhook("in", { method: "POST", body: {}, seconds: 5 })
      assert.isTrue(N8nClient.isUnregistered(yield* call))
      assert.notInclude((yield* n8n.webhookMethods("in")) ?? [], "POST")
      yield* n8n.publishWorkflow("w")
      assert.include((yield* n8n.webhookMethods("in")) ?? [], "POST")
      const answer = yield* call
      assert.strictEqual(answer.status, 200)
      assert.isFalse(N8nClient.isUnregistered(answer))
    }))
})

describe("a webhook", () => {
  it("is not registered by n8n's own words, also as the page of a form", () => {
    const page = "<!DOCTYPE html>\n<title>Problem loading form</title>"
    assert.isTrue(N8nClient.isUnregistered({ status: 404, text: page }))
    assert.isFalse(N8nClient.isUnregistered({ status: 404, text: "<!DOCTYPE html>\n<title>Not Found</title>" }))
    assert.isFalse(N8nClient.isUnregistered({ status: 200, text: page }))
  })

  it.effect("is called once, without the key, for any answer", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([refuses(500)])
      const answer = yield* n8n.callWebhook("in", { method: "POST", body: {}, seconds: 5 })
      assert.strictEqual(answer.status, 500)
      assert.strictEqual(requests.length, 1)
      assert.notProperty(requests[0]?.headers, "x-n8n-api-key")
    }))
})

it.effect("traces contain neither a webhook's path nor its body; the webhook receives the span", () =>
  Effect.gen(function*() {
    const { spans, tracer } = recording()
    const { n8n, requests } = yield* scriptedClient([says("ok")])
    yield* n8n.callWebhook("canary-0", {
      method: "POST",
      seconds: 5,
      query: { token: "canary-1", q: "canary-2" },
      headers: { "x-shop-key": "canary-3" },
      body: { password: "canary-4" }
    }).pipe(Effect.withTracer(tracer))
    const text = spans.map(({ attributes, name }) => `${name} ${JSON.stringify([...attributes])}`).join("\n")
    assert.include(text, "POST")
    assert.notInclude(text, "canary")
    const [span] = spans
    assert.strictEqual(requests[0]?.headers["traceparent"], `00-${span?.traceId}-${span?.spanId}-01`)
  }))
