/** Replays against a real n8n: a mended workflow meets last night's data, and nothing is sent. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { chain, code, connected, copiesLeft, happened, jsons, made, manual, set, test, webhook } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

const credential = Effect.fnUntraced(function*(name: string, type: string, data: Obj) {
  const { body } = yield* scenarios.request("POST", "credentials", { name, type, data })
  return { credentials: { [type]: { id: str(obj(body)?.["id"]) ?? "", name } } }
})

/** Everything of a workflow that a test could change. */
const stateOf = Effect.fnUntraced(function*(id: string) {
  const executions = obj(yield* scenarios.fetchJson(`executions?workflowId=${id}`))?.["data"]
  const { active, activeVersionId, connections, name, nodes, settings, updatedAt, versionId } =
    obj(yield* scenarios.fetchJson(`workflows/${id}`)) ?? {}
  const workflow = { active, activeVersionId, connections, name, nodes, settings, updatedAt, versionId }
  return { workflow, executions: arr(executions).length }
})

/** Adds the tests of replays to a suite. */
export const replaying = (it: It) => {
  it.effect(
    "replay: a fixed workflow replays the failed run; HTTP, database and mail return what they returned",
    () =>
      Effect.gen(function*() {
        const recorder = yield* Recorder.make
        const path = `replay-${crypto.randomUUID()}`
        const redis = yield* credential("Recorder", "redis", {
          host: "127.0.0.1",
          port: recorder.redisPort,
          database: 0,
          ssl: false
        })
        const smtp = yield* credential("Recorder", "smtp", {
          user: "",
          password: "",
          host: "127.0.0.1",
          port: recorder.smtpPort,
          secure: false,
          disableStartTls: true
        })
        const nodes = [
          webhook(path),
          node("Each", "splitOut", 1, { fieldToSplitOut: "body.orders" }),
          node("Lookup", "httpRequest", 4.2, { url: `=${recorder.url}/lookup?id={{ $json.id }}`, options: {} }, {
            onError: "continueErrorOutput"
          }),
          set("Unknown", "{ unknown: $json.id }"),
          node("Stock", "redis", 1, { operation: "get", key: "stock", propertyName: "stock", options: {} }, redis),
          code(
            "Net",
            "return { json: { id: $('Each').item.json.id, net: 30 - $('Each').item.json.discount.amount } }",
            {
              parameters: {
                mode: "runOnceForEachItem",
                jsCode:
                  "const { discount, id } = $('Each').item.json\nreturn { json: { id, net: 30 - discount.amount } }"
              }
            }
          ),
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
            "return [{ json: { mails: $input.all().length, accepted: $input.all().map((i) => i.json.accepted) } }]"
          )
        ]
        const id = yield* made("replayed orders", nodes, [
          ...chain("Orders", "Each", "Lookup", "Stock", "Net", "Loop"),
          ["Lookup", "Unknown", 1],
          ["Loop", "Total", 0],
          ["Loop", "Mail", 1],
          ["Mail", "Loop"]
        ])
        yield* scenarios.publish(id)
        const orders = (third: unknown) => ({
          orders: [
            { id: 1, discount: { amount: 1 } },
            { id: 2, discount: { amount: 1 } },
            { id: 3, discount: third },
            { id: 4, discount: { amount: 4 } }
          ]
        })
        const good = yield* happened(id, path, orders({ amount: 3 }))
        assert.strictEqual(good.status, "success")
        const failed = yield* happened(id, path, orders(null))
        assert.strictEqual(failed.status, "error")
        const sent = recorder.lines().length
        const mails = recorder.lines().filter((line) => line.startsWith("mail")).length
        assert.strictEqual(mails, 3)
        const before = yield* stateOf(id)

        const again = yield* test(id, { replay: good.executionId })
        assert.strictEqual(again.status, "success", JSON.stringify(again))
        assert.deepStrictEqual(again.pinned, ["Lookup", "Stock", "Mail"])
        assert.deepStrictEqual(again.ran?.toSorted(), ["Each", "Loop", "Net", "Total", "Unknown"])
        const [total] = jsons(again.data)
        assert.strictEqual(obj(total)?.["mails"], 3)
        assert.deepStrictEqual(arr(obj(total)?.["accepted"])[2], ["b@example.com"])
        const unknown = yield* tools.getExecutionByNode.call({
          id: again.executionId,
          nodeName: "Unknown",
          itemOffset: 0,
          itemLimit: 5
        })
        assert.deepStrictEqual(jsons(unknown.output), [{ unknown: 2 }])

        const broken = yield* test(id, { replay: failed.executionId })
        assert.deepInclude(broken, { status: "error", pinned: ["Lookup", "Stock"] })
        assert.strictEqual(broken.failure?.node, "Net")
        const mended = yield* made(
          "replayed orders, mended",
          nodes.map((each) =>
            each["name"] === "Net"
              ? {
                ...each,
                parameters: {
                  mode: "runOnceForEachItem",
                  jsCode:
                    "const { discount, id } = $('Each').item.json\nreturn { json: { id, net: 30 - (discount?.amount ?? 0) } }"
                }
              }
              : each.name === "Orders"
              ? webhook(`${path}-2`)
              : each
          ),
          [
            ...chain("Orders", "Each", "Lookup", "Stock", "Net", "Loop"),
            ["Lookup", "Unknown", 1],
            ["Loop", "Total", 0],
            ["Loop", "Mail", 1],
            ["Mail", "Loop"]
          ]
        )
        const refused = yield* Effect.flip(test(mended, { replay: failed.executionId }))
        assert.match(refused.message, /is of another workflow/)
        const mute = yield* test(mended, { replay: failed.executionId, startNode: "Orders" })
        assert.deepInclude(mute, { status: "success", notRun: ["Mail"] })
        assert.match(mute.hint ?? "", /'Mail' calls other services.*pins/)
        const healed = yield* test(mended, {
          replay: failed.executionId,
          startNode: "Orders",
          pins: { Mail: [{ accepted: ["nobody"] }] }
        })
        assert.strictEqual(healed.status, "success", JSON.stringify(healed))
        assert.strictEqual(obj(jsons(healed.data)[0])?.["mails"], 3)
        assert.isUndefined(healed.notRun)

        assert.strictEqual(recorder.lines().length, sent, recorder.lines().slice(sent).join("\n"))
        assert.deepStrictEqual(yield* stateOf(id), before)

        yield* test(id, { replay: good.executionId, pins: { Stock: "run" } })
        assert.deepStrictEqual(
          recorder.lines().slice(sent).map((line) => line.split(" ")[0]),
          ["redis", "redis", "redis"]
        )
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
        node("Wait", "wait", 1.1, { amount: 1, unit: "seconds" }, { webhookId: crypto.randomUUID() }),
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
      assert.strictEqual(again.status, "success", JSON.stringify(again))
      assert.deepStrictEqual(again.pinned?.toSorted(), ["Sub", "Wait"])
      const [out] = jsons(again.data)
      assert.match(JSON.stringify(out), /héllo 日本/)
      assert.match(JSON.stringify(out), /"called":7/)

      const part = yield* test(id, { replay: executionId, startNode: "Read", endNode: "Read" })
      assert.deepStrictEqual(part.ran, ["Read"])
      assert.strictEqual(part.data?.node, "Read")
      assert.match(JSON.stringify(jsons(part.data)), /héllo 日本/)
      assert.deepStrictEqual(yield* copiesLeft, [])
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
      const refused = yield* Effect.flip(test(id, { pins: { Model: [{ text: "x" }] } }))
      assert.match(refused.message, /'Model', which is a sub-node/)
    }), 60_000)

  it.effect(
    "a single node meets what the nodes gave that it refers to: of pins, of a replay's loop",
    () =>
      Effect.gen(function*() {
        const path = `earlier-${crypto.randomUUID()}`
        const id = yield* made(
          "earlier",
          [
            webhook(path),
            code("Rows", "return [5, 6, 7, 8].map((no) => ({ json: { no } }))"),
            node("Loop", "splitInBatches", 3, { batchSize: 2, options: {} }),
            set("Other", "{ batch: $runIndex }"),
            // In a Set node 1.123 does not find what a Code node gave.
            node("Use", "code", 2, {
              mode: "runOnceForEachItem",
              jsCode: "return { json: { no: $('Rows').item.json.no, batch: $json.batch } }"
            })
          ],
          [...chain("Orders", "Rows", "Loop"), ["Loop", "Other", 1], ...chain("Other", "Use", "Loop")]
        )
        yield* scenarios.publish(id)
        const use = { startNode: "Use", endNode: "Use" }
        const pinned = yield* test(id, {
          ...use,
          testData: [{ batch: 1 }, { batch: 2 }],
          pins: { Rows: [{ no: 1 }, { no: 2 }] }
        })
        assert.deepStrictEqual<unknown>(jsons(pinned.data), [{ no: 1, batch: 1 }, { no: 2, batch: 2 }])
        const { executionId } = yield* happened(id, path, {})
        const replayed = yield* test(id, { ...use, replay: executionId })
        assert.deepStrictEqual<unknown>(jsons(replayed.data), [{ no: 7, batch: 1 }, { no: 8, batch: 1 }])
        assert.deepStrictEqual(replayed.pinned, ["Rows"])
      }),
    120_000
  )

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
        const of = (nodeName: string) =>
          Effect.map(
            tools.getExecutionByNode.call({ id: tested.executionId, nodeName, itemOffset: 0, itemLimit: 9 }),
            ({ output }) => jsons(output)
          )
        assert.deepStrictEqual<unknown>(yield* of("Code"), [
          { all: ["one", "two", "three"], last: "three", item: "two", items: 3, node: "one" }
        ])
        const [first] = yield* of("Set")
        assert.deepStrictEqual<unknown>(obj(first)?.["first"], "one")
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
        const of = (id: string, runIndex: number) =>
          Effect.map(
            tools.getExecutionByNode.call({ id, nodeName: "Both", runIndex, itemOffset: 0, itemLimit: 9 }),
            ({ output }) => jsons(output)
          )
        for (const run of [0, 1]) {
          const replayed = yield* of(again.executionId, run)
          assert.deepStrictEqual(replayed, yield* of(executionId, run))
          assert.lengthOf(replayed, 2)
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
      const seen = yield* tools.getExecutionByNode.call({
        id: again.executionId,
        nodeName: "New",
        itemOffset: 0,
        itemLimit: 9
      })
      assert.deepStrictEqual<unknown>(jsons(seen.output), [{ id: 3 }])
    }), 60_000)
}
