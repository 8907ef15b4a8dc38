/** test_workflow with cases in mode `live`, and against a recorded execution. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { succeededExecution } from "../../../src/testing/runs.ts"
import * as tools from "../../../src/tools/index.ts"
import { marker } from "../../../src/trials/webhookCalls.ts"
import { main, node, workflow } from "../../support/workflows.ts"
import { inMemory } from "../../support/world.ts"

const shop = {
  ...workflow("shop", [
    node("Hook", "webhook", 2, { path: "shop", httpMethod: "POST", responseMode: "responseNode" }),
    node("Tag", "set", 3.4, { mode: "raw", jsonOutput: "={{ $json.body }}" }),
    node("Send", "httpRequest", 4.2, { method: "POST", url: "=https://crm.example/{{ $json.to }}", options: {} }),
    node("Answer", "respondToWebhook", 1.1, {
      respondWith: "json",
      responseBody: "={{ { source: $('Tag').first().json.source } }}",
      options: {}
    })
  ], { connections: { Hook: main("Tag"), Tag: main("Send"), Send: main("Answer") } }),
  active: true
}

interface Order {
  readonly source: string
  readonly to?: string
  readonly error?: string
  readonly long?: number
}

/** A run of the shop with an order. */
const ran = (
  { error = "refused: 1", source, to = "a" }: Order,
  headers: Obj = {},
  of: N8nApi.Workflow = shop
): N8nApi.NewExecution => ({
  ...succeededExecution({
    workflow: of,
    items: {
      Hook: [{ headers, body: { source, to } }],
      Tag: [{ source, to }],
      Send: [{ error }],
      Answer: [{ error }]
    }
  }),
  workflowVersionId: "v-live"
})

const recorded = {
  ...ran({ source: "a" }),
  id: "912",
  mode: "webhook",
  startedAt: "2026-01-01T00:00:00.000Z",
  stoppedAt: "2026-01-01T00:00:00.090Z"
}
const hidden = { ...recorded, id: "913", data: { resultData: { runData: {} } } }

const seed = { workflows: [shop], executions: [recorded, hidden] }

/** n8n that runs the shop by its webhook. */
const serving: N8nApi.Options = {
  before: ({ body, headers, method, url }, n8n) => {
    if (method !== "POST" || !url.endsWith("/webhook/shop")) return Effect.void
    const order = body as unknown as Order
    const text = JSON.stringify({ source: order.source, ...(order.long && { more: "x".repeat(order.long) }) })
    return Effect.as(
      n8n.addExecution({ ...ran(order, headers), mode: "webhook" }),
      new Response(text, { headers: { "content-type": "application/json" } })
    )
  },
  runs: (copy, body) =>
    ran(obj(obj(arr(obj(body)?.["items"])[0])?.["body"]) as unknown as Order ?? { source: "a" }, {}, copy)
}

const test = (more: Obj) =>
  Effect.map(
    tools.testWorkflow.run({ workflowId: "shop", mode: "live", timeout: 5_000, ...more }),
    ({ data, message }) => ({ ...obj(data), message } as Obj)
  )

const calls = (api: N8nApi.N8nApi) =>
  Effect.map(api.requests, (all) => all.filter(({ method, url }) => method === "POST" && url.includes("/webhook/")))

const orders: ReadonlyArray<Order> = [{ source: "a" }, { source: "b" }, { source: "a", error: "no longer there" }]

const cases = orders.map((testData, index) => ({ name: `order ${index}`, testData }))

describe("live tests", () => {
  it.effect("run cases one after the other, each with its status, response and what it sent", () =>
    inMemory(function*(api) {
      const answer = yield* test({ cases })
      assert.strictEqual(answer["message"], "Tested 'shop' with 3 cases: success")
      const rows = arr(answer["cases"]).map(obj)
      assert.deepStrictEqual(rows.map((row) => row?.["case"]), ["order 0", "order 1", "order 2"])
      assert.deepStrictEqual(rows.map((row) => obj(row?.["response"])?.["body"]), [
        "{\"source\":\"a\"}",
        "{\"source\":\"b\"}",
        "{\"source\":\"a\"}"
      ])
      assert.deepInclude(obj(arr(rows[0]?.["sent"])[0]), { node: "Send", to: "POST https://crm.example/a", items: 1 })
      assert.strictEqual(answer["version"], "v-live")
      assert.notProperty(rows[0], "version")
      const all = yield* calls(api)
      assert.lengthOf(all, 3)
      assert.strictEqual(new Set(all.map(({ headers }) => headers[marker])).size, 3)
    }, { seed, ...serving }))

  it.effect("compare with a recorded execution: what a caller gets, and both values inside", () =>
    inMemory(function*() {
      const answer = yield* test({ cases, against: "912" })
      assert.strictEqual(answer["message"], "1 as before, 1 answers as before with other data inside, 1 other")
      assert.strictEqual(answer["same"], 1)
      const [other, inside] = arr(answer["differ"]).map(obj)
      assert.deepInclude(other, { case: "order 1", answer: "other" })
      assert.include(arr(other?.["changes"]), "'Tag'.source: \"a\" → \"b\"")
      assert.deepInclude(inside, { case: "order 2", answer: "same" })
      assert.deepStrictEqual(arr(inside?.["changes"]), [
        "'Send'.error: \"refused: 1\" → \"no longer there\", also at 'Answer'"
      ])
      assert.deepInclude(obj(inside?.["before"]), { executionId: "912" })
      assert.match(String(arr(answer["logs"])[0]), /^order 0: success, as before \(\d+ ms, before 90 ms\)$/)
      const one = yield* test({ testData: orders[0], against: "912" })
      assert.deepInclude(one, { same: 1, differ: [], message: "1 as before, 0 other" })
    }, { seed, ...serving }))

  it.effect("refuse what only a copy can do before anything is called, with the way out", () =>
    inMemory(function*(api) {
      for (const more of [{ pins: { Send: [{ ok: true }] } }, { replay: "912" }]) {
        const [field = ""] = Object.keys(more)
        const error = yield* Effect.flip(test({ cases: [cases[0], { name: "x", ...more }] }))
        assert.deepInclude(error, { _tag: "ValidationError", field })
        assert.match(error.message, /no effect on a live workflow, which takes testData/)
      }
      const version = yield* Effect.flip(test({ cases, against: "shop@published" }))
      assert.match(version.message, /compared with a recorded execution, not with another version/)
      const empty = yield* Effect.flip(test({ cases, against: "913" }))
      assert.match(empty.message, /'913' cannot be compared: n8n stored no data/)
      assert.strictEqual((yield* Effect.flip(test({ cases, against: "999" })))._tag, "NotFoundError")
      const several = yield* Effect.flip(test({ cases: [{ testData: [{}, {}] }] }))
      assert.match(several.message, /one request/)
      assert.isEmpty(yield* calls(api))
    }, { seed, ...serving }))

  it.effect("have the length and the digest of a body that may be cut", () =>
    inMemory(function*() {
      const bodies = [{ source: "é", long: 9_000 }, { source: "é", long: 9_000 }, { source: "é", long: 9_001 }]
      const answer = yield* test({ cases: bodies.map((testData) => ({ testData })) })
      const responses = arr(answer["cases"]).map((each) => obj(obj(each)?.["response"]))
      assert.strictEqual(responses[0]?.["bytes"], JSON.stringify({ source: "é", more: "" }).length + 9_001)
      assert.match(String(responses[0]?.["digest"]), /^[\da-f]{12}$/)
      assert.strictEqual(responses[0]?.["digest"], responses[1]?.["digest"])
      assert.notStrictEqual(responses[0]?.["digest"], responses[2]?.["digest"])
      const [short] = arr((yield* test({ cases: [cases[0]] }))["cases"]).map((each) => obj(obj(each)?.["response"]))
      assert.notProperty(short, "digest")
    }, { seed, ...serving }))

  it.effect("on a copy compare with a recorded execution too", () =>
    inMemory(function*() {
      const answer = yield* test({ mode: "copy", testData: orders[0], against: "912" })
      assert.deepInclude(answer, { same: 1, differ: [], message: "1 as before, 0 other" })
      const [row] = arr(answer["cases"]).map(obj)
      assert.deepInclude(row, { case: "1", status: "success" })
    }, { seed, ...serving }))
})
