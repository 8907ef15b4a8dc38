/** Replays against a real n8n: a mended workflow meets last night's data, and nothing is sent. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import {
  chain,
  code,
  connected,
  copiesLeft,
  happened,
  jsons,
  type Link,
  made,
  set,
  test,
  wait,
  webhook
} from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

/** A credential of n8n for a server of the recorder. */
const recorded = Effect.fnUntraced(function*(type: string, port: number, data: Obj) {
  const { body } = yield* scenarios.request("POST", "credentials", {
    name: "Recorder",
    type,
    data: { host: "127.0.0.1", port, ...data }
  })
  return { credentials: { [type]: { id: str(obj(body)?.["id"]) ?? "", name: "Recorder" } } }
})

/** Everything of a workflow that a test could change. */
const stateOf = Effect.fnUntraced(function*(id: string) {
  const executions = obj(yield* scenarios.fetchJson(`executions?workflowId=${id}`))?.["data"]
  const { active, activeVersionId, connections, name, nodes, settings, updatedAt, versionId } =
    obj(yield* scenarios.fetchJson(`workflows/${id}`)) ?? {}
  const workflow = { active, activeVersionId, connections, name, nodes, settings, updatedAt, versionId }
  return { workflow, executions: arr(executions).length }
})

const outputOf = (id: string, nodeName: string, more: { readonly runIndex?: number } = {}) =>
  Effect.map(
    tools.getExecutionByNode.call({ id, nodeName, itemOffset: 0, itemLimit: 9, ...more }),
    ({ output }): unknown => jsons(output)
  )

/** Adds the tests of replays to a suite; the releases do not differ in them. */
export const replaying = (it: It) => {
  it.effect(
    "replay: a fixed workflow replays the failed run; HTTP, database and mail return what they returned",
    () =>
      Effect.gen(function*() {
        const recorder = yield* Recorder.make
        const path = `replay-${crypto.randomUUID()}`
        const redis = yield* recorded("redis", recorder.redisPort, { database: 0, ssl: false })
        const smtp = yield* recorded("smtp", recorder.smtpPort, {
          user: "",
          password: "",
          secure: false,
          disableStartTls: true
        })
        const nodes = (path: string, discount = "discount.amount") => [
          webhook(path),
          node("Each", "splitOut", 1, { fieldToSplitOut: "body.orders" }),
          node("Lookup", "httpRequest", 4.2, { url: `=${recorder.url}/lookup?id={{ $json.id }}`, options: {} }, {
            onError: "continueErrorOutput"
          }),
          set("Unknown", "{ unknown: $json.id }"),
          node("Stock", "redis", 1, { operation: "get", key: "stock", propertyName: "stock", options: {} }, redis),
          node("Net", "code", 2, {
            mode: "runOnceForEachItem",
            jsCode: `const { discount, id } = $('Each').item.json\nreturn { json: { id, net: 30 - (${discount}) } }`
          }),
          node("Loop", "splitInBatches", 3, { batchSize: 1, options: {} }),
          node("Mail", "emailSend", 2.1, {
            fromEmail: "a@example.com",
            toEmail: "b@example.com",
            subject: "=Order {{ $json.id }}",
            emailFormat: "text",
            text: "=Net {{ $json.net }}",
            options: {}
          }, smtp),
          code(
            "Total",
            "return [{ json: { accepted: $input.all().map(({ json }) => json.accepted[0] ?? json.accepted) } }]"
          )
        ]
        const links: ReadonlyArray<Link> = [
          ...chain("Orders", "Each", "Lookup", "Stock", "Net", "Loop"),
          ["Lookup", "Unknown", 1],
          ["Loop", "Total", 0],
          ["Loop", "Mail", 1],
          ["Mail", "Loop"]
        ]
        const id = yield* made("replayed orders", nodes(path), links)
        yield* scenarios.publish(id)
        const orders = (third: unknown) => ({
          orders: [1, 1, third, 4].map((amount, at) => ({ id: at + 1, discount: amount === null ? null : { amount } }))
        })
        const good = yield* happened(id, path, orders(3))
        const failed = yield* happened(id, path, orders(null))
        assert.deepStrictEqual([good.status, failed.status], ["success", "error"])
        const sent = recorder.lines().length
        assert.lengthOf(recorder.lines().filter((line) => line.startsWith("mail")), 3)
        const before = yield* stateOf(id)

        const again = yield* test(id, { replay: good.executionId })
        assert.deepStrictEqual([again.status, again.pinned, again.ran?.toSorted()], [
          "success",
          ["Lookup", "Stock", "Mail"],
          ["Each", "Loop", "Net", "Total", "Unknown"]
        ])
        assert.deepStrictEqual<unknown>(jsons(again.data), [{
          accepted: ["b@example.com", "b@example.com", "b@example.com"]
        }])
        assert.deepStrictEqual(yield* outputOf(again.executionId, "Unknown"), [{ unknown: 2 }])

        const broken = yield* test(id, { replay: failed.executionId })
        assert.deepInclude(broken, { status: "error", pinned: ["Lookup", "Stock"] })
        assert.strictEqual(broken.failure?.node, "Net")
        // Mended, the mail would be sent: it has no recorded answer.
        const mended = yield* made("replayed orders, mended", nodes(`${path}-2`, "discount?.amount ?? 0"), links)
        yield* Effect.flip(test(mended, { replay: failed.executionId }))
        const replay = { replay: failed.executionId, startNode: "Orders" }
        assert.deepInclude(yield* test(mended, replay), { status: "success", notRun: ["Mail"] })
        const healed = yield* test(mended, { ...replay, pins: { Mail: [{ accepted: ["nobody"] }] } })
        assert.deepStrictEqual<unknown>([healed.status, healed.notRun, jsons(healed.data)], [
          "success",
          undefined,
          [{ accepted: ["nobody", "nobody", "nobody"] }]
        ])
        assert.deepStrictEqual(recorder.lines().slice(sent), [])
        assert.deepStrictEqual(yield* stateOf(id), before)

        yield* test(id, { replay: good.executionId, pins: { Stock: "run" } })
        assert.deepStrictEqual(recorder.lines().slice(sent).map((line) => line.split(" ")[0]), [
          "redis",
          "redis",
          "redis"
        ])
        assert.deepStrictEqual(yield* copiesLeft, [])
      }),
    120_000
  )

  it.effect("replay: binary data, waits, sub-workflows and merges of both sides", () =>
    Effect.gen(function*() {
      const path = `replay-${crypto.randomUUID()}`
      const sub = yield* made(
        "called",
        [
          node("T", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" }),
          set("Out", "{ called: $json.body.n }")
        ],
        chain("T", "Out")
      )
      yield* Effect.ignore(scenarios.publish(sub))
      const id = yield* made("replayed parts", [
        webhook(path),
        node("File", "convertToFile", 1.1, { operation: "toText", sourceProperty: "body.text", options: {} }),
        wait(1),
        node("Read", "extractFromFile", 1, { operation: "text", options: {} }),
        node("Sub", "executeWorkflow", 1.2, {
          workflowId: { __rl: true, mode: "id", value: sub },
          workflowInputs: { mappingMode: "defineBelow", value: {} },
          options: {}
        }),
        node("Both", "merge", 3, { mode: "append" }),
        code("Out", "return [{ json: { all: $('Both').all().map((item) => item.json) } }]")
      ], [
        ...chain("Orders", "File", "Wait", "Read", "Both", "Out"),
        ["Orders", "Sub"],
        ["Sub", "Both", 0, 1]
      ])
      yield* scenarios.publish(id)
      const { executionId, status } = yield* happened(id, path, { text: "héllo 日本", n: 7 })
      assert.strictEqual(status, "success")
      const again = yield* test(id, { replay: executionId })
      assert.deepStrictEqual([again.status, again.pinned?.toSorted()], ["success", ["Sub", "Wait"]])
      assert.match(JSON.stringify(jsons(again.data)), /héllo 日本.*"called":7/)
      const part = yield* test(id, { replay: executionId, startNode: "Read", endNode: "Read" })
      assert.deepStrictEqual(part.ran, ["Read"])
      assert.match(JSON.stringify(jsons(part.data)), /héllo 日本/)
    }), 60_000)

  it.effect("replay: an agent returns its earlier answer, and its model is not called", () =>
    Effect.gen(function*() {
      const { openAiUrl } = yield* RealN8n
      const path = `replay-${crypto.randomUUID()}`
      const langchain = (type: string) => `@n8n/n8n-nodes-langchain.${type}`
      const openAiApi = yield* scenarios.openAiCredential("Fake OpenAI", openAiUrl.href)
      const id = yield* made(
        "replayed agent",
        [
          webhook(path),
          node("Agent", langchain("agent"), 2.2, { promptType: "define", text: "={{ $json.body.ask }}", options: {} }),
          node("Model", langchain("lmChatOpenAi"), 1.2, {
            model: { __rl: true, mode: "list", value: "gpt-4o-mini" },
            options: {}
          }, { credentials: { openAiApi } }),
          set("Out", "{ said: $json.output }")
        ],
        [],
        {
          connections: {
            ...connected(chain("Orders", "Agent", "Out")),
            Model: { ai_languageModel: [[{ node: "Agent", type: "ai_languageModel", index: 0 }]] }
          }
        }
      )
      yield* scenarios.publish(id)
      const { executionId, status } = yield* happened(id, path, { ask: "What is 6 * 7?" })
      assert.strictEqual(status, "success")
      const again = yield* test(id, { replay: executionId })
      assert.strictEqual(again.status, "success", JSON.stringify(again))
      assert.deepStrictEqual([again.pinned, again.ran], [["Agent"], ["Out"]])
      assert.match(JSON.stringify(jsons(again.data)), /forty-two/)
      const asked = yield* test(id, { replay: executionId, pins: { Agent: "run" } })
      assert.strictEqual(asked.status, "success", JSON.stringify(asked))
      assert.includeMembers(asked.logs.map((line) => line.split(":")[0] ?? ""), ["Agent", "Model", "Out"])
    }), 60_000)

  it.effect(
    "output of pinned nodes can be read by name: items, their links, later runs, other outputs and binary data",
    () =>
      Effect.gen(function*() {
        const path = `readable-${crypto.randomUUID()}`
        const request = (name: string, more: Obj = {}) =>
          node(name, "httpRequest", 4.2, { url: "http://127.0.0.1:9/nothing" }, more)
        const reading =
          "const read = (f) => { try { return f() ?? null } catch (e) { return `failed: ${e.message}` } }\n"
        const id = yield* made(
          "readable pins",
          [
            webhook(path),
            node("Rows", "splitOut", 1, { fieldToSplitOut: "body.rows" }),
            request("Api"),
            set("Set", "{ hit: $('Api').item.json.hit, first: $('Api').first().json.hit, no: $('Rows').item.json.no }"),
            code(
              "Code",
              `${reading}return [{ json: {
                all: read(() => $('Api').all().map((i) => i.json.deep.hit)),
                last: read(() => $('Api').last().json.hit),
                item: read(() => $('Api').itemMatching(1).json.hit),
                items: read(() => $items('Api').length),
                node: read(() => $node['Api'].json.hit)
              } }]`
            ),
            request("Split", { onError: "continueErrorOutput" }),
            set("Failed", "{ error: $('Split').item.json.error }")
          ],
          [...chain("Orders", "Rows", "Api", "Set", "Code", "Split"), ["Split", "Failed", 1]]
        )
        const hits = ["one", "two", "three"].map((hit, item) => ({
          json: { hit, deep: { hit } },
          pairedItem: { item }
        }))
        const tested = yield* test(id, {
          testData: { rows: [{ no: 1 }, { no: 2 }, { no: 3 }] },
          pins: { Api: hits, Split: [[], [{ error: "lost" }]] }
        })
        assert.strictEqual(tested.status, "success", JSON.stringify(tested))
        assert.deepStrictEqual<unknown>(jsons(tested.data), [{ error: "lost" }])
        assert.deepStrictEqual(tested.pinned, ["Api", "Split"])
        assert.deepStrictEqual<unknown>(yield* outputOf(tested.executionId, "Code"), [
          { all: ["one", "two", "three"], last: "three", item: "two", items: 3, node: "one" }
        ])
        const [first] = arr(yield* outputOf(tested.executionId, "Set"))
        assert.strictEqual(obj(first)?.["first"], "one")
      }),
    60_000
  )

  it.effect(
    "a replay's pinned nodes can be read by name in each run of a loop, linked to their items, with binary data",
    () =>
      Effect.gen(function*() {
        const recorder = yield* Recorder.make
        const path = `replayed-${crypto.randomUUID()}`
        const id = yield* made(
          "readable replay",
          [
            webhook(path),
            code("Rows", "return [1, 3, 4, 5].map((id) => ({ json: { id } }))"),
            node("Loop", "splitInBatches", 3, { batchSize: 2, options: {} }),
            node("Api", "httpRequest", 4.2, { url: `=${recorder.url}/lookup?id={{ $json.id }}`, options: {} }),
            node("File", "httpRequest", 4.2, {
              url: `=${recorder.url}/lookup?id={{ $('Api').item.json.id }}`,
              options: { response: { response: { responseFormat: "file" } } }
            }),
            node("Read", "extractFromFile", 1, { operation: "fromJson", options: {} }),
            code(
              "Both",
              "return items.map((item, i) => ({ json: { run: $runIndex, read: item.json.data.id, "
                + "api: $('Api').itemMatching(i).json.price, row: $('Rows').itemMatching(i).json.id } }))"
            )
          ],
          [...chain("Orders", "Rows", "Loop"), ["Loop", "Api", 1], ...chain("Api", "File", "Read", "Both", "Loop")]
        )
        yield* scenarios.publish(id)
        const { executionId, status } = yield* happened(id, path, {})
        assert.strictEqual(status, "success")
        const sent = recorder.lines().length
        const again = yield* test(id, { replay: executionId })
        assert.strictEqual(again.status, "success", JSON.stringify(again))
        assert.deepStrictEqual(again.pinned, ["Api", "File"])
        for (const runIndex of [0, 1]) {
          const replayed = yield* outputOf(again.executionId, "Both", { runIndex })
          assert.deepStrictEqual(replayed, yield* outputOf(executionId, "Both", { runIndex }))
          assert.lengthOf(arr(replayed), 2)
        }
        assert.strictEqual(recorder.lines().length, sent)
      }),
    60_000
  )

  it.effect("replay: what remembers earlier runs gives what it gave then", () =>
    Effect.gen(function*() {
      const path = `seen-${crypto.randomUUID()}`
      const id = yield* made("seen before", [
        webhook(path),
        node("Each", "splitOut", 1, { fieldToSplitOut: "body.rows" }),
        node("New", "removeDuplicates", 2, {
          operation: "removeItemsSeenInPreviousExecutions",
          logic: "removeItemsWithAlreadySeenKeyValues",
          dedupeValue: "={{ $json.id }}",
          options: {}
        }),
        code(
          "Count",
          "const data = $getWorkflowStaticData('global'); data.n = (data.n ?? 0) + 1; return [{ json: { ...data } }]"
        ),
        set("Out", "{ n: $json.n }")
      ], chain("Orders", "Each", "New", "Count", "Out"))
      yield* scenarios.publish(id)
      yield* happened(id, path, { rows: [{ id: 1 }, { id: 2 }] })
      const { executionId } = yield* happened(id, path, { rows: [{ id: 2 }, { id: 3 }] })
      const again = yield* test(id, { replay: executionId })
      assert.deepStrictEqual([again.pinned, again.ran], [["New", "Count"], ["Each", "Out"]])
      assert.deepStrictEqual<unknown>(jsons(again.data), [{ n: 2 }])
      assert.deepStrictEqual(yield* outputOf(again.executionId, "New"), [{ id: 3 }])
    }), 60_000)
}
