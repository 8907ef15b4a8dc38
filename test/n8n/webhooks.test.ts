import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { connected, refuses, says, scripted, versions } from "./clients.ts"

const workflow: N8nApi.Workflow = {
  id: "w",
  name: "Orders",
  active: false,
  nodes: [{
    id: "hook",
    name: "Hook",
    type: "n8n-nodes-base.webhook",
    typeVersion: 2,
    position: [0, 0],
    parameters: { path: "in", httpMethod: "POST" }
  }],
  connections: {},
  settings: {}
}

describe.each(versions)("a webhook on n8n %s", (version) => {
  it.effect("takes its method once the workflow is published", () =>
    Effect.gen(function*() {
      const { n8n } = yield* connected({ workflows: [workflow] }, version)
      assert.strictEqual(n8n.webhookAddress("in"), "https://n8n.test/webhook/in")
      const call = n8n.callWebhook("in", { method: "POST", body: {}, seconds: 5 })
      assert.isTrue(N8nClient.isUnregistered(yield* call))
      assert.notInclude(yield* n8n.webhookMethods("in"), "POST")
      yield* n8n.publishWorkflow("w")
      assert.include(yield* n8n.webhookMethods("in"), "POST")
      const answer = yield* call
      assert.strictEqual(answer.status, 200)
      assert.isFalse(N8nClient.isUnregistered(answer))
    }))
})

describe("a webhook", () => {
  it.effect("is called once, without the key, whatever it answers", () =>
    Effect.gen(function*() {
      const { n8n, seen } = yield* scripted([refuses(500)])
      const answer = yield* n8n.callWebhook("in", { method: "POST", body: {}, seconds: 5 })
      assert.strictEqual(answer.status, 500)
      assert.strictEqual(seen.length, 1)
      assert.notProperty(seen[0]?.headers, "x-n8n-api-key")
    }))
})

it.effect("what a webhook is sent stands in no trace", () =>
  Effect.gen(function*() {
    const spans: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    const { n8n } = yield* scripted([says("ok")])
    yield* n8n.callWebhook("orders", {
      method: "POST",
      seconds: 5,
      query: { token: "canary-1", q: "canary-2" },
      headers: { "x-shop-key": "canary-3" },
      body: { password: "canary-4" }
    }).pipe(Effect.provideService(Tracer.Tracer, tracer))
    const told = spans.map(({ attributes, name }) => `${name} ${JSON.stringify([...attributes])}`).join("\n")
    assert.include(told, "/webhook/orders")
    assert.notInclude(told, "canary")
  }))
