/** One run examined on a real n8n: its version, its calls, the values of its expressions, its suspects, its changes. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Services from "../../../src/app/Services.ts"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { chain, code, connected, happened, made, webhook } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

const orders = Array.from({ length: 12 }, (_, no) => ({
  no,
  amount: no / 2,
  customer: { name: `客${no}` },
  ...(no === 7 ? { email: null } : { email: `u${no}@x.example` })
}))

const each = node("Each", "splitOut", 1, { fieldToSplitOut: "body.orders" })

const fields = (name: string, values: { readonly [field: string]: string }, more: Obj = {}) =>
  node(name, "set", 3.4, {
    mode: "manual",
    includeOtherFields: true,
    assignments: {
      assignments: Object.entries(values).map(([field, value]) => ({ id: field, name: field, type: "string", value }))
    },
    options: { ignoreConversionErrors: true }
  }, more)

/** Creates, publishes and runs a workflow. */
const ran = Effect.fnUntraced(
  function*(name: string, nodes: ReadonlyArray<Obj>, links: Parameters<typeof connected>[0]) {
    const path = `${name}-${crypto.randomUUID()}`
    const workflowId = yield* made(name, [webhook(path), ...nodes], links)
    yield* scenarios.publish(workflowId)
    const { executionId: id } = yield* happened(workflowId, path, { orders, shop: "京都" })
    return { id, path, workflowId }
  }
)

const summary = (id: string) => tools.getExecution.call({ id })

/** A client for which n8n redacts, as it does for users who must not see a workflow's data. */
const redacting = Layer.unwrap(Effect.gen(function*() {
  const { apiKey, url } = yield* RealN8n
  const asking = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.mapRequest((request) =>
        request.url.includes("/executions/")
          ? HttpClientRequest.setUrlParam(request, "redactExecutionData", "true")
          : request
      )
    )
  )
  return N8nClient.layer({ url, apiKey }).pipe(Layer.provide(asking), Layer.provide(FetchHttpClient.layer))
}))

/** What each item of a node's input makes of these, exact in any place of a loop. */
const expressions = {
  own: "={{ $json.customer.name }}",
  text:
    "=No {{ $json.no }} of {{ $input.all().length }}: {{ $json.nothing }}|{{ false }}|{{ 0 }}|{{ [1, [2]] }}|{{ $json.customer }}",
  input: "={{ $input.first().json.no }}-{{ $input.last().json.no }}-{{ $input.item.json.no }}",
  paired: "={{ $('Each').item.json.no }}/{{ $('Loop').item.json.no }}/{{ $('Orders').item.json.body.shop }}",
  first: "={{ $('Orders').first().json.body.shop }} {{ $('Each').last().json.no }} {{ $('Loop').first().json.no }}",
  all: "={{ $('Each').all().filter((item) => item.json.amount > 2).length }} of them",
  byNode: "={{ $node['Each'].json.no }}.",
  run:
    "={{ $runIndex }}:{{ $itemIndex }}:{{ $execution.id }}:{{ $execution.mode }}:{{ $workflow.name }}:{{ $prevNode.name }}",
  executed: "={{ $('Done').isExecuted }}!"
}

/** Adds the tests of one run to a suite. */
export const examining = (it: It, v2: boolean) => {
  it.effect("get_execution_by_node: parameters have the values that n8n gave them", () =>
    Effect.gen(function*() {
      const { id } = yield* ran("式", [
        each,
        node("Loop", "splitInBatches", 3, { batchSize: 5, options: {} }),
        fields("Values", expressions),
        node("Done", "noOp", 1)
      ], [["Orders", "Each"], ["Each", "Loop"], ["Loop", "Done", 0], ["Loop", "Values", 1], ["Values", "Loop"]])
      for (const [runIndex, itemOffset] of [[0, 0], [0, 4], [1, 2], [2, 1]] as const) {
        const page = yield* tools.getExecutionByNode.call({
          id,
          nodeName: "Values",
          runIndex,
          itemOffset,
          itemLimit: 1
        })
        assert.deepInclude(page, { parametersAs: "resolved", parametersItem: itemOffset })
        const list = obj(obj(page.parameters)?.["assignments"])?.["assignments"] as ReadonlyArray<Obj>
        const output = obj(page.output.items[0]?.json) ?? {}
        const values = Object.fromEntries(list.map(({ name, value }) => [name, value]))
        for (const name of Object.keys(expressions)) {
          assert.strictEqual(values[name], output[name], `${name} of item ${itemOffset} in run ${runIndex}`)
        }
      }
    }), 120_000)

  it.effect(
    "compare_items: pairs what n8n links, over steps, a loop and branches, and nothing behind an aggregate",
    () =>
      Effect.gen(function*() {
        const number = (operation: string, leftValue: string, rightValue: number) => ({
          options: { caseSensitive: true, typeValidation: "strict", version: 2 },
          combinator: "and",
          conditions: [{ leftValue, rightValue, operator: { type: "number", operation } }]
        })
        const { id } = yield* ran("Changes", [
          each,
          fields("Price", { price: "={{ $json.no === 4 ? -1 : $json.amount }}" }),
          node("Loop", "splitInBatches", 3, { batchSize: 5, options: {} }),
          fields("Body", { currency: "JPY" }),
          node("Big", "if", 2.2, { conditions: number("gt", "={{ $json.amount }}", 3), options: {} }),
          node("Both", "noOp", 1),
          node("All", "aggregate", 1, { aggregate: "aggregateAllItemData", options: {} })
        ], [
          ...chain("Orders", "Each", "Price", "Loop", "Big", "Both", "All"),
          ["Loop", "Body", 1],
          ["Body", "Loop"],
          ["Big", "Both", 1]
        ])
        const compare = (from: string, to: string) =>
          Effect.map(
            tools.compareItems.call({ id, from, to, limit: 10 }),
            ({ added, altered, onlyInFrom, onlyInTo, pairedBy, same }) =>
              [pairedBy, added, altered, same, onlyInFrom.count, onlyInTo.count] as const
          )
        assert.deepStrictEqual(yield* compare("Each", "Price"), ["pairedItem", 12, 0, 0, 0, 0])
        assert.deepStrictEqual(yield* compare("Price", "Body"), ["pairedItem", 12, 0, 0, 0, 0])
        assert.deepStrictEqual(yield* compare("Body", "Loop"), ["pairedItem", 0, 0, 12, 0, 0])
        assert.deepStrictEqual(yield* compare("Big", "Both"), ["pairedItem", 0, 0, 12, 0, 0])
        assert.strictEqual((yield* compare("Both", "All"))[0], "none")
      }),
    120_000
  )

  // n8n redacts on request without a licence; 1.x does not know the parameter.
  if (!v2) return
  it.effect(
    "redacted executions: marked, without conclusions, and as the fake makes them",
    () =>
      Effect.gen(function*() {
        const { id } = yield* ran("Hidden", [
          each,
          node("Fetch", "httpRequest", 4.2, { url: "=http://127.0.0.1:9/{{ $json.no }}" }, {
            onError: "continueErrorOutput"
          }),
          code("Trim", "return $input.all().map(({ json }) => ({ json: { email: json.email.trim() } }))")
        ], [["Orders", "Each"], ["Each", "Fetch"], ["Fetch", "Trim", 1]])
        const query = "includeData=true&redactExecutionData=true"
        const plain = yield* scenarios.fetchJson(`executions/${id}?includeData=true`)
        const hidden = yield* scenarios.fetchJson(`executions/${id}?${query}`)
        assert.strictEqual(obj(obj(obj(hidden)?.["data"])?.["redactionInfo"])?.["isRedacted"], true)
        const seed = { workflows: [], executions: [plain as N8nApi.Execution] }
        const faked = yield* Effect.gen(function*() {
          const { client } = yield* FakeN8n.FakeN8n
          return yield* client.get(`https://n8n.example.test/api/v1/executions/${id}?${query}`)
        }).pipe(Effect.flatMap(({ json }) => json), Effect.provide(FakeN8n.layer(seed)))
        assert.deepStrictEqual(obj(faked)?.["data"], obj(hidden)?.["data"])

        const answers = yield* Effect.gen(function*() {
          const get = yield* summary(id)
          const byNode = yield* tools.getExecutionByNode.call({ id, nodeName: "Fetch", itemOffset: 0, itemLimit: 5 })
          return { get, byNode }
        }).pipe(Effect.provide(Layer.merge(redacting, Layer.fresh(Services.layerMemory))))
        assert.strictEqual(answers.get.redacted, true)
        assert.deepInclude<unknown>(answers.get.failure, { node: "Trim", itemUnknown: true, inputCount: 12 })
        assert.notProperty(answers.get.failure, "suspects")
        assert.deepInclude<unknown>(answers.byNode, { redacted: true, parametersAs: "written" })
        assert.deepStrictEqual(answers.byNode.outputs.map(({ items }) => items), [0, 12])
        assert.notInclude(JSON.stringify(answers), "x.example")
      }),
    120_000
  )
}
