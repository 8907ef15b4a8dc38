/** test_workflow against a real n8n: every kind of trigger, known outputs, and nothing left behind. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { chain, copiesLeft, jsons, type Link, made, manual, set, test, wait } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

/** A trigger, its test data, and a function of its item with the expected result. */
const triggers: ReadonlyArray<readonly [Obj, Schema.Json | undefined, (item: Obj) => unknown, unknown]> = [
  [manual, { a: 1 }, (item) => item, { a: 1 }],
  [
    node("T", "scheduleTrigger", 1.2, { rule: { interval: [{}] } }),
    undefined,
    (item) => Object.keys(item).slice(0, 2),
    ["timestamp", "Readable date"]
  ],
  [
    node("T", "formTrigger", 2.2, { formTitle: "F", formFields: { values: [{ fieldLabel: "Name" }] } }),
    { Name: "Ada" },
    ({ formMode, Name }) => [Name, formMode],
    ["Ada", "production"]
  ],
  [
    node("T", "@n8n/n8n-nodes-langchain.chatTrigger", 1.1, {}),
    "Hello",
    ({ action, chatInput, sessionId }) => [action, chatInput, typeof sessionId],
    ["sendMessage", "Hello", "string"]
  ],
  [node("T", "gmailTrigger", 1.2, {}), { id: "m1" }, (item) => item, { id: "m1" }],
  [
    node("T", "executeWorkflowTrigger", 1.1, { workflowInputs: { values: [{ name: "x" }, { name: "y" }] } }),
    { x: 5 },
    (item) => item,
    { x: 5, y: null }
  ],
  [
    node("T", "errorTrigger", 1),
    { workflow: { id: "7", name: "Broken" } },
    ({ execution, workflow }) => [obj(workflow)?.["name"], typeof obj(execution)?.["error"]],
    ["Broken", "object"]
  ],
  [
    node("T", "webhook", 2, { path: "orders", httpMethod: "POST" }),
    { total: 9 },
    ({ body, executionMode, headers, params, query }) => [body, executionMode, typeof headers, params, query],
    [{ total: 9 }, "production", "object", {}, {}]
  ],
  [
    node("T", "webhook", 2, { path: "orders" }),
    { headers: { "X-Shop": "a" }, query: { q: "1" } },
    ({ headers, query }) => [obj(headers)?.["x-shop"], query],
    ["a", { q: "1" }]
  ]
]

/**
 * Adds the tests of test_workflow to a suite. The releases differ: n8n 1 stores no pinned data and runs sub-workflows that
 * are not published.
 */
export const testing = (it: It, v2: boolean) => {
  it.effect(
    "test_workflow: every kind of trigger hands on what it would emit",
    () =>
      Effect.forEach(triggers, ([trigger, testData, look, expected]) =>
        Effect.gen(function*() {
          const type = str(trigger["type"]) ?? ""
          const id = yield* made(
            `trigger ${type}`,
            [trigger, set("Out", "{ item: $('T').item.json }")],
            chain("T", "Out")
          )
          const found = yield* test(id, testData === undefined ? {} : { testData })
          assert.strictEqual(found.status, "success", `${type}: ${JSON.stringify(found.failure)}`)
          const [item] = jsons(found.data)
          assert.deepStrictEqual(look(obj(obj(item)?.["item"]) ?? {}), expected, type)
        })),
    90_000
  )

  it.effect(
    "test_workflow: the original is unchanged; the run is read after its copy is removed",
    () =>
      Effect.gen(function*() {
        const pins = v2 ? { pinData: { Api: [{ json: { pinned: 1 } }, { json: { pinned: 2 } }] } } : {}
        const id = yield* made(
          "originals",
          [
            manual,
            node("Api", "httpRequest", 4.2, { url: "http://127.0.0.1:9/nothing" }),
            set("Out", "{ v: $json.pinned ?? $json.a, t: $('T').first().json.a }"),
            node("Fail", "stopAndError", 1, { errorMessage: "=no {{ $json.v }}" }),
            node("On Error", "errorTrigger", 1),
            set("Never", "{ never: true }")
          ],
          [...(v2 ? chain("T", "Api", "Out", "Fail") : chain("T", "Out", "Fail")), ["On Error", "Never"]],
          pins
        )
        const before = yield* scenarios.fetchJson(`workflows/${id}`)
        const found = yield* test(id, { testData: { a: 1 } })
        assert.strictEqual(found.status, "error")
        assert.strictEqual(found.failure?.node, "Fail")
        assert.deepInclude(found.failure, v2 ? { inputCount: 2, itemUnknown: true } : { inputItem: { v: 1, t: 1 } })
        assert.deepStrictEqual(yield* scenarios.fetchJson(`workflows/${id}`), before)
        assert.deepStrictEqual(arr(obj(yield* scenarios.fetchJson(`executions?workflowId=${id}`))?.["data"]), [])
        const page = { itemOffset: 0, itemLimit: 5 }
        const out = yield* tools.getExecutionByNode.call({ id: found.executionId, nodeName: "Out", ...page })
        assert.strictEqual(out.output.items.length, v2 ? 2 : 1)
        assert.strictEqual((yield* scenarios.request("GET", `executions/${found.executionId}`)).status, 404)
      }),
    60_000
  )

  it.effect("test_workflow: startNode, Respond to Webhook, sub-workflows, live", () =>
    Effect.gen(function*() {
      const path = `live-${crypto.randomUUID()}`
      const sub = yield* made(
        "sub",
        [node("T", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" }), set("Out", "{ sub: $json.n }")],
        chain("T", "Out")
      )
      const id = yield* made(
        "parent",
        [
          node("Hook", "webhook", 2, { path, httpMethod: "POST", responseMode: "responseNode" }, { webhookId: path }),
          set("Shape", "{ n: $json.body.n }"),
          node("Call", "executeWorkflow", 1.2, { workflowId: { __rl: true, mode: "id", value: sub }, options: {} }),
          node("Respond", "respondToWebhook", 1.1, { respondWith: "json", responseBody: "={{ $json }}", options: {} })
        ],
        chain("Hook", "Shape", "Call", "Respond")
      )
      if (v2) {
        assert.match(JSON.stringify(yield* Effect.flip(tools.testWorkflow.run({ workflowId: id }))), /not published/)
        yield* scenarios.publish(sub)
      }
      const whole = yield* test(id, { testData: { n: 3 } })
      const answered = {
        status: 200,
        headers: { "content-type": "application/json; charset=utf-8" },
        bodyIs: "data.items[0].json"
      }
      assert.deepStrictEqual(whole.response, answered)
      const part = yield* test(id, { testData: [{ n: 1 }, { n: 2 }], startNode: "Call" })
      assert.deepStrictEqual(jsons(part.data), [{ sub: 1 }, { sub: 2 }])
      assert.isFalse(part.logs.some((line) => line.startsWith("Shape:")))

      yield* scenarios.publish(id)
      const real = yield* test(id, { testData: { n: 4 }, mode: "live" })
      assert.deepStrictEqual(real.response, answered)
      const listed = arr(obj(yield* scenarios.fetchJson(`executions?workflowId=${id}`))?.["data"])
      assert.deepStrictEqual(listed.map((each) => String(obj(each)?.["id"])), [real.executionId])
    }), 60_000)

  it.effect(
    "test_workflow: what cannot run leaves nothing, what takes too long is stopped, what waits says so",
    () =>
      Effect.gen(function*() {
        const slack = node("Slack", "slack", 2.3, {
          resource: "message",
          operation: "post",
          select: "channel",
          channelId: { __rl: true, mode: "name", value: "#x" },
          text: "hi"
        })
        const refused: ReadonlyArray<readonly [name: string, second: Obj, links: ReadonlyArray<Link>, why: RegExp]> = [
          ["lacking", slack, chain("T", "Slack"), /cannot be run.*(slackApi|credential)/],
          ["unknown", node("X", "n8n-nodes-no.such"), chain("T", "X"), /Unrecognized node type: n8n-nodes-no.such/],
          ["alone", set("Out", "{}"), [], /No node would run/]
        ]
        for (const [name, second, links, why] of refused) {
          const workflowId = yield* made(name, [manual, second], links)
          assert.match(JSON.stringify(yield* Effect.flip(tools.testWorkflow.run({ workflowId }))), why)
        }
        const waiting = (...time: Parameters<typeof wait>) =>
          made(`waits ${time}`, [manual, set("First", "{ n: 1 }"), wait(...time)], chain("T", "First", "Wait"))
        const late = yield* test(yield* waiting(20, "seconds"), { timeout: 2_000 })
        assert.strictEqual(late.status, "canceled")
        assert.isTrue(late.logs.some((line) => line.startsWith("First:")))
        const held = yield* test(yield* waiting(2, "hours"))
        assert.strictEqual(held.status, "waiting")
        assert.strictEqual((yield* tools.getExecution.call({ id: held.executionId, nodeOffset: 0 })).status, "waiting")
        const fields = { formFields: { values: [{ fieldLabel: "Name" }] } }
        const pages = [
          node("T", "formTrigger", 2.2, { formTitle: "F", ...fields }),
          node("Page", "form", 1, fields, { webhookId: crypto.randomUUID() })
        ]
        const form = yield* test(yield* made("form pages", pages, chain("T", "Page")))
        assert.strictEqual(form.status, "waiting")
        assert.deepStrictEqual(yield* copiesLeft, [])
      }),
    60_000
  )
}
