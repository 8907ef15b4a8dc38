import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Obj } from "../../src/base/Json.ts"
import * as NodeCatalogue from "../../src/catalogue/NodeCatalogue.ts"
import * as Sending from "../../src/catalogue/parameters/Sending.ts"
import type * as Execution from "../../src/executions/Execution.ts"
import type { Node } from "../../src/n8n/model/Workflow.ts"
import * as Sent from "../../src/trials/Sent.ts"
import { document, from, fromApi, run } from "../executions/runData.ts"
import { catalogue } from "../support/catalogue.ts"
import { node } from "../support/workflows.ts"

const orders = Array.from({ length: 3 }, (_, no) => ({ no, email: `u${no}@x.example`, apiKey: `canary-key-${no}` }))

/** An execution in which a node ran with three orders. */
const ran = (sender: Obj & { readonly name: string }, json: ReadonlyArray<object> = orders, more: object = {}) =>
  fromApi(document({
    Load: [run(0, { main: [json.map((each) => ({ json: each }))] })],
    [sender.name]: [run(1, { main: [[]] }, { source: [from("Load")], ...more })]
  }, {
    nodes: [node("Load", "noOp", 1), sender],
    connections: { Load: { main: [[{ node: sender.name, type: "main", index: 0 }]] } }
  }))

const senderOf = Effect.fnUntraced(
  function*(execution: Execution.Execution, sender: Node, more: Partial<Sent.Options> = {}) {
    const { get } = yield* NodeCatalogue.NodeCatalogue
    const [first] = execution.runs.get(sender.name) ?? []
    if (first === undefined) throw new Error("did not run")
    const sending = Sending.of(yield* get(sender.type), sender)
    return { execution, node: sender, run: first, sending, redacts: true, limit: 10, ...more } satisfies Sent.Sender
  },
  Effect.provide(catalogue)
)

const entriesOf = (...args: Parameters<typeof senderOf>) =>
  Effect.flatMap(senderOf(...args), ({ execution, ...options }) => Sent.of(execution, options))

const sentOf = (type: string, version: number, parameters: Obj, more: Obj = {}) => {
  const sender = node("Send", type, version, parameters, more)
  return entriesOf(ran(sender), sender as unknown as Node)
}

const locator = (value: string) => ({ __rl: true, mode: "id", value })

const post = (parameters: Obj) => ({ method: "POST", url: "https://x.example/orders", sendBody: true, ...parameters })

const http = (parameters: Obj) => node("Send", "httpRequest", 4.2, parameters) as unknown as Node

describe("requests that a node sent", () => {
  it.effect("has an address by the kind of node", () =>
    Effect.gen(function*() {
      const queryParameters = { parameters: [{ name: "b c", value: "={{ $json.no }}&" }] }
      const query = { url: "https://x.example/?a=1", sendQuery: true, queryParameters }
      const insert = { operation: "insert", schema: locator("public"), table: locator("orders") }
      const append = { operation: "append", documentId: locator("D"), sheetName: locator("S") }
      const cases: ReadonlyArray<readonly [type: string, version: number, parameters: Obj, address: string]> = [
        ["httpRequest", 4.2, { url: "=https://x.example/{{ $json.no }}" }, "GET https://x.example/1"],
        ["httpRequest", 4.2, query, "GET https://x.example/?a=1&b%20c=1%26"],
        ["httpRequest", 1, { requestMethod: "PUT", url: "https://x.example/" }, "PUT https://x.example/"],
        ["slack", 2.3, { select: "channel", channelId: locator("C0"), text: "=No {{ $json.no }}" }, "message post C0"],
        ["gmail", 2.1, { sendTo: "={{ $json.email }}", subject: "s", message: "m" }, "message send u1@x.example"],
        ["postgres", 2.6, insert, "insert public orders"],
        ["postgres", 2.6, { operation: "executeQuery", query: "SELECT 1" }, "executeQuery SELECT 1"],
        ["googleSheets", 4.5, append, "sheet append D S"],
        ["executeWorkflow", 1.2, { workflowId: locator("wf9"), mode: "each" }, "wf9"],
        ["telegram", 1.2, { chatId: "77", text: "hi" }, "message sendMessage 77"]
      ]
      for (const [type, version, parameters, address] of cases) {
        const entries = yield* sentOf(type, version, parameters)
        assert.deepStrictEqual(entries.map(({ item }) => item), [0, 1, 2], type)
        assert.strictEqual(entries[1]?.address, address)
      }
    }))

  it.effect("has the shown parameters without defaults, resolved, in few levels", () =>
    Effect.gen(function*() {
      const [entry] = yield* sentOf(
        "httpRequest",
        4.2,
        post({
          sendHeaders: true,
          headerParameters: { parameters: [{ name: "X-No", value: "={{ $json.no }}" }] },
          sendQuery: false,
          queryParameters: { parameters: [{ name: "hidden", value: "1" }] },
          authentication: "none",
          specifyBody: "json",
          jsonBody: "={ \"email\": \"{{ $json.email }}\" }",
          options: { proxy: "http://proxy.test" }
        })
      )
      assert.deepStrictEqual(entry, {
        ...entry,
        item: 0,
        address: "POST https://x.example/orders",
        values: {
          headerParameters: { "X-No": 0 },
          jsonBody: "{ \"email\": \"u0@x.example\" }",
          options: { proxy: "http://proxy.test" }
        },
        unresolved: []
      } as unknown as Sent.Entry)
    }))

  it.effect("is one entry for a node that runs once", () =>
    Effect.gen(function*() {
      const counts = [
        yield* sentOf("httpRequest", 4.2, { url: "https://x.example" }, { executeOnce: true }),
        yield* sentOf("respondToWebhook", 1.1, { options: { responseCode: 202 } }),
        yield* sentOf("executeWorkflow", 1.2, { workflowId: locator("wf9") })
      ]
      assert.deepStrictEqual(counts.map(({ length }) => length), [1, 1, 1])
      assert.deepStrictEqual(counts[1]?.map(({ address, values }) => [address, values["responseBody"]]), [
        ["response 202", { ...orders[0], apiKey: "[redacted]" }]
      ])
    }))

  it.effect("leaves open what n8n does not record, and does not guess", () =>
    Effect.gen(function*() {
      const [entry] = yield* sentOf(
        "httpRequest",
        4.2,
        post({
          url: "={{ $vars.base }}/orders",
          contentType: "multipart-form-data",
          bodyParameters: {
            parameters: [
              { name: "at", value: "={{ $now }}" },
              { parameterType: "formBinaryData", name: "file", inputDataFieldName: "data" }
            ]
          }
        })
      )
      assert.deepStrictEqual([entry?.address, entry?.values["url"], entry?.unresolved], [
        undefined,
        "={{ $vars.base }}/orders",
        [
          { path: "url", reason: "'$vars' is not known here" },
          { path: "bodyParameters[0].value", reason: "n8n does not record the time" },
          { path: "bodyParameters[1].inputDataFieldName", reason: "n8n does not record files" }
        ]
      ])
      const sheets = yield* sentOf("googleSheets", 4.5, {
        operation: "append",
        documentId: locator("D"),
        sheetName: locator("={{ $json.no }}"),
        columns: { mappingMode: "autoMapInputData", value: null, matchingColumns: [], schema: [] }
      })
      assert.deepStrictEqual(sheets.map(({ address, unresolved }) => [address, unresolved.map(({ path }) => path)]), [
        ["sheet append D 0", []],
        [undefined, ["sheetName"]],
        [undefined, ["sheetName"]]
      ])
      assert.deepStrictEqual(sheets[2]?.values["columns"], { input: { ...orders[2], apiKey: "[redacted]" } })
      const sql = yield* sentOf("postgres", 2.6, { operation: "executeQuery", query: "SELECT {{ $json.no }}" })
      assert.deepStrictEqual(sql[0]?.unresolved, [{ path: "query", reason: "the node itself replaces {{ }}" }])
    }))

  it.effect("is what a model gave to a tool", () =>
    Effect.gen(function*() {
      const sender = node("Send", "httpRequestTool", 4.2, {
        url: "=https://x.example/{{ $fromAI('city', 'a city') }}/{{ $fromAI('zip', '', 'string', 'any') }}"
      }) as unknown as Node
      const inputOverride = { ai_tool: [[{ json: { query: { city: "Kyoto" } } }]] }
      const execution = ran(sender as never, orders, { source: [], inputOverride })
      const [entry] = yield* entriesOf(execution, sender)
      assert.strictEqual(entry?.address, "GET https://x.example/Kyoto/any")
    }))

  it.effect("shows no secret, wherever it is", () =>
    Effect.gen(function*() {
      const sender = http(post({
        url: "=https://x.example/?token={{ $json.apiKey }}",
        sendHeaders: true,
        headerParameters: { parameters: [{ name: "Authorization", value: "Bearer canary-header" }] },
        bodyParameters: {
          parameters: [{ name: "key", value: "={{ $json.apiKey }}" }, {
            name: "long",
            value: "={{ $json.apiKey.length > 3 }}"
          }]
        }
      }))
      const execution = ran(sender as never)
      const entries = yield* entriesOf(execution, sender)
      assert.notInclude(JSON.stringify(entries), "canary")
      assert.strictEqual(entries[0]?.address, "POST https://x.example/?token=[redacted]")
      const shown = yield* entriesOf(execution, sender, { redacts: false })
      assert.strictEqual(shown[0]?.address, "POST https://x.example/?token=canary-key-0")
    }))

  it.effect("is bounded, from an offset", () =>
    Effect.gen(function*() {
      const sender = http({ url: "=https://x.example/{{ $json.no }}" })
      const entries = yield* entriesOf(ran(sender as never), sender, { limit: 1, offset: 1 })
      assert.deepStrictEqual(entries.map(({ address, item }) => [item, address]), [[1, "GET https://x.example/1"]])
    }))
})

describe("differences of what was sent", () => {
  const compare = Effect.fnUntraced(function*(
    then: Obj,
    now: Obj,
    { before = orders, after = before }: {
      readonly before?: ReadonlyArray<object>
      readonly after?: ReadonlyArray<object>
    } = {}
  ) {
    const [a, b] = [http(then), http(now)]
    const differences = (yield* Sent.differences(
      yield* senderOf(ran(a as never, before), a),
      yield* senderOf(ran(b as never, after), b, { isCopy: true })
    )).flatMap(({ changes, item }) =>
      changes.map(({ path, shown }) => [item, path, shown("before"), shown("after")] as const)
    )
    assert.notInclude(JSON.stringify(differences), "canary")
    return differences
  })

  const body = (jsonBody: string, more: Obj = {}) => post({ specifyBody: "json", jsonBody, ...more })

  it.effect("are named by their path, in texts of JSON too", () =>
    Effect.gen(function*() {
      const text = "={ \"email\": \"{{ $json.email }}\", \"no\": {{ $json.no }} }"
      assert.deepStrictEqual(yield* compare(body(text), body("={{ { no: $json.no, email: $json.email } }}")), [])
      assert.deepStrictEqual(
        yield* compare(body(text), body("={{ { no: $json.no } }}"), { before: orders.slice(0, 1) }),
        [[0, "jsonBody.email", "u0@x.example", undefined]]
      )
      const query = (value: string) => ({ url: `=https://x.example/?b=${value}` })
      assert.deepStrictEqual(yield* compare(query("1"), query("{{ $json.no }}")), [
        [0, "query.b", "1", "0"],
        [2, "query.b", "1", "2"]
      ])
      assert.deepStrictEqual(
        (yield* compare(body(text), body(text, { method: "PUT" }))).map(([, path]) => path),
        ["address", "address", "address"]
      )
    }))

  it.effect("contain items that are sent on one side only", () =>
    Effect.gen(function*() {
      const same = { url: "=https://x.example/{{ $json.no }}" }
      assert.deepStrictEqual(yield* compare(same, same, { after: orders.slice(0, 2) }), [
        [2, "item", "GET https://x.example/2", undefined]
      ])
    }))

  it.effect("find secrets that differ, and show none", () =>
    Effect.gen(function*() {
      const same = body("={{ { apiKey: $json.apiKey } }}")
      const after = orders.map((each) => ({ ...each, apiKey: "canary-other" }))
      assert.deepStrictEqual(yield* compare(same, same, { after: after.slice(0, 1), before: orders.slice(0, 1) }), [
        [0, "jsonBody.apiKey", "[redacted]", "[redacted]"]
      ])
    }))

  it.effect("name what is not determined if its expression changed", () =>
    Effect.gen(function*() {
      const [one] = [orders.slice(0, 1)]
      const headers = (value: string) => ({
        url: "https://x.example",
        sendHeaders: true,
        headerParameters: { parameters: [{ name: "X-At", value }, { name: "X-No", value: "1" }] }
      })
      const [now, today] = [headers("={{ $now }}"), headers("={{ $today }}")]
      assert.deepStrictEqual(yield* compare(now, now, { before: one }), [])
      assert.deepStrictEqual(yield* compare(headers("={{ $execution.id }}"), headers("={{ $execution.id }}")), [])
      const expected = [[0, "headerParameters[\"X-At\"]", "={{ $now }}", "={{ $today }}"]]
      assert.deepStrictEqual<unknown>(yield* compare(now, today, { before: one }), expected)
      assert.deepStrictEqual<unknown>(yield* compare(headers("7"), now, { before: one }), [
        [0, "headerParameters[\"X-At\"]", "7", "={{ $now }}"]
      ])
      const at = (url: string) => ({ url })
      assert.deepStrictEqual<unknown>(
        yield* compare(at("https://x.example"), at("={{ $vars.base }}"), { before: one }),
        [[0, "url", "https://x.example", "={{ $vars.base }}"]]
      )
    }))
})
