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

const summary = (id: string) => tools.getExecution.call({ id, nodeOffset: 0 })

const callSub = (name: string, workflowId: string, mode: "once" | "each") =>
  node(name, "executeWorkflow", 1.2, { workflowId: { __rl: true, mode: "id", value: workflowId }, mode, options: {} })

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
  it.effect("get_execution: who called a run and what it called, with times", () =>
    Effect.gen(function*() {
      const sub = yield* made("Sub", [
        node("Start", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" }),
        fields("Seen", { seen: "={{ $json.no }}" })
      ], chain("Start", "Seen"))
      if (v2) yield* scenarios.publish(sub)
      const { id, workflowId } = yield* ran("Caller", [
        each,
        callSub("Per item", sub, "each"),
        callSub("At once", sub, "once")
      ], chain("Orders", "Each", "Per item", "At once"))
      const { availableNodes, calledBy, duration, statistics, version } = yield* summary(id)
      const callsOf = (name: string) => availableNodes.find(({ nodeName }) => nodeName === name)?.calls
      assert.isUndefined(calledBy)
      assert.strictEqual(callsOf("Per item")?.count, 12)
      assert.strictEqual(callsOf("Per item")?.ids.length, 3)
      assert.strictEqual(callsOf("At once")?.count, 1)
      assert.isUndefined(callsOf("Each"))
      assert.strictEqual(statistics.time, duration)
      for (const { nodeName, time } of availableNodes) assert.isAtMost(time, duration ?? 0, nodeName)
      for (const called of [callsOf("Per item")?.ids[1], callsOf("At once")?.ids[0]]) {
        const inner = yield* summary(called ?? "")
        assert.deepStrictEqual(inner.calledBy, { executionId: id, workflowId })
        assert.deepInclude(inner, { workflowId: sub, mode: "integrated" })
      }
      if (!v2) return assert.isUndefined(version)
      assert.strictEqual(version?.published, true)
      assert.strictEqual(obj(yield* scenarios.fetchJson(`workflows/${workflowId}`))?.["activeVersionId"], version?.id)
      const { connections, name, nodes, settings } = obj(yield* scenarios.fetchJson(`workflows/${workflowId}`)) ?? {}
      const changed = (nodes as ReadonlyArray<Obj>).map((one) =>
        one["name"] === "Each" ? { ...one, disabled: true } : one
      )
      const answer = yield* scenarios.request("PUT", `workflows/${workflowId}`, {
        connections,
        name,
        nodes: changed,
        settings
      })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual((yield* summary(id)).version, { id: version?.id ?? "", published: false })
    }), 120_000)

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

  it.effect("get_execution: the item that an error fits, where n8n names none", () =>
    Effect.gen(function*() {
      const { id } = yield* ran("Fails", [
        each,
        code("Trim", "return $input.all().map(({ json }) => ({ json: { email: json.email.trim() } }))")
      ], chain("Orders", "Each", "Trim"))
      const { failure } = yield* summary(id)
      assert.deepInclude<unknown>(failure, { node: "Trim", inputCount: 12 })
      assert.deepStrictEqual<unknown>(failure?.suspects, {
        where: "email == null",
        matched: 1,
        items: [{ index: 7, json: orders[7] }]
      })
    }), 120_000)

  it.effect("compare_items: steps, aggregates and other runs", () =>
    Effect.gen(function*() {
      const price = "={{ $json.no === 4 ? -1 : $json.amount }}"
      const { id, path, workflowId } = yield* ran("Changes", [
        each,
        fields("Currency", { currency: "JPY" }),
        fields("Price", { price, currency: "={{ $json.no === 9 ? 'EUR' : $json.currency }}" }),
        node("All", "aggregate", 1, { aggregate: "aggregateAllItemData", options: {} }),
        node("Again", "splitOut", 1, { fieldToSplitOut: "data", options: {} }),
        code("Sum", "return [{ json: { total: $input.all().length } }]")
      ], [...chain("Orders", "Each", "Currency", "Price", "All", "Again"), ["Price", "Sum"]])
      const compare = (from: string, to: string, more: object = {}) =>
        tools.compareItems.call({ id, from, to, limit: 10, ...more })
      const { paths } = yield* compare("Each", "Price")
      assert.deepStrictEqual(paths, [
        { path: "currency", added: 12, by: ["Currency"] },
        { path: "price", added: 12, by: ["Price"] }
      ])
      assert.deepStrictEqual((yield* compare("Currency", "Price", { ignore: ["price"] })).paths, [
        { path: "currency", altered: 1 }
      ])
      const upTo = yield* compare("Each", "All")
      assert.deepStrictEqual([upTo.to.node, upTo.pairedBy], ["Price", "pairedItem"])
      assert.strictEqual((yield* compare("Price", "All")).pairedBy, "none")
      assert.strictEqual((yield* compare("Price", "Sum")).pairedBy, "none")
      assert.strictEqual((yield* compare("All", "Again")).pairedBy, "none")
      assert.deepInclude(yield* compare("Price", "Again"), { pairedBy: "place", same: 12 })
      const { executionId: otherId } = yield* happened(workflowId, path, {
        orders: orders.map((order) => order.no === 3 ? { ...order, email: "new@x.example" } : order),
        shop: "京都"
      })
      const across = yield* compare("Price", "Price", { otherId, key: "no" })
      assert.deepInclude(across, { pairedBy: "key", same: 11, altered: 1, added: 0, removed: 0 })
      assert.deepStrictEqual(across.paths, [{ path: "email", altered: 1 }])
      assert.deepStrictEqual([across.from.execution, across.to.execution], [id, otherId])
    }), 120_000)

  it.effect(
    "compare_items: all runs of a loop as one side, both branches into a node, and names of items",
    () =>
      Effect.gen(function*() {
        const { id } = yield* ran("Rounds", [
          each,
          node("Loop", "splitInBatches", 3, { batchSize: 5, options: {} }),
          fields("Body", { price: "={{ $json.no === 9 ? 0 : $json.amount }}" }),
          node("Big", "if", 2.2, {
            conditions: {
              options: { caseSensitive: true, typeValidation: "strict", version: 2 },
              combinator: "and",
              conditions: [{
                leftValue: "={{ $json.amount }}",
                rightValue: 3,
                operator: { type: "number", operation: "gt" }
              }]
            },
            options: {}
          }),
          node("Both", "noOp", 1)
        ], [
          ...chain("Orders", "Each", "Loop"),
          ["Loop", "Body", 1],
          ["Body", "Loop"],
          ["Loop", "Big"],
          ["Big", "Both"],
          ["Big", "Both", 1]
        ])
        const compare = (from: string, to: string) => tools.compareItems.call({ id, from, to, limit: 10 })
        const counts = ({ altered, onlyInFrom, onlyInTo, same }: Effect.Success<ReturnType<typeof compare>>) =>
          [altered, same, onlyInFrom.count, onlyInTo.count] as const
        const down = yield* compare("Each", "Body")
        assert.deepStrictEqual([down.to.runs, down.to.items, counts(down)], [3, 12, [0, 0, 0, 0]])
        assert.deepInclude(down, { added: 12, namedBy: "no" })
        assert.deepStrictEqual(counts(yield* compare("Loop", "Body")), [0, 0, 0, 0])
        const up = yield* compare("Body", "Loop")
        assert.deepStrictEqual([up.to.output, counts(up)], ["main[0]", [0, 12, 0, 0]])
        const branches = yield* compare("Big", "Both")
        assert.deepStrictEqual([branches.from.output, counts(branches)], ["main[0], main[1]", [0, 12, 0, 0]])
        const through = yield* compare("Each", "Both")
        assert.deepStrictEqual([through.added, through.onlyInFrom.count], [12, 0])
        assert.strictEqual(through.examples[0]?.by, "Body")
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
          const compared = yield* Effect.flip(
            tools.compareItems.call({ id, from: "Orders", to: "Each", limit: 1 })
          )
          return { get, byNode, compared }
        }).pipe(Effect.provide(Layer.merge(redacting, Layer.fresh(Services.layerMemory))))
        assert.strictEqual(answers.get.redacted, true)
        assert.deepInclude<unknown>(answers.get.failure, { node: "Trim", itemUnknown: true, inputCount: 12 })
        assert.notProperty(answers.get.failure, "suspects")
        assert.deepInclude<unknown>(answers.byNode, { redacted: true, parametersAs: "written" })
        assert.deepStrictEqual(answers.byNode.outputs.map(({ items }) => items), [0, 12])
        assert.include(answers.compared.message, "n8n hides the items")
        assert.notInclude(JSON.stringify(answers), "x.example")
      }),
    120_000
  )
}
