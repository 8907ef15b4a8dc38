import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Executions from "../../../src/executions/Executions.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import { document, from, holding, items, node, run } from "../../executions/runData.ts"
import { main } from "../../support/workflows.ts"

const orders = Array.from({ length: 400 }, (_, index) => ({
  orderNo: `A-${index}`,
  amount: index / 2,
  lines: Array.from({ length: 5 }, (_, line) => ({ sku: `S-${line}`, text: "lorem ipsum ".repeat(20) })),
  headers: [{ name: "X-Api-Key", value: `canary-${index}` }],
  password: `canary-${index}`
}))

const shaped = orders.filter((_, index) => index !== 7).map((order) => ({
  ...order,
  amount: order.orderNo === "A-42" ? -1 : order.amount,
  currency: "JPY",
  password: `other ${order.password}`
}))

const linked = (jsons: ReadonlyArray<{ readonly orderNo: string }>) =>
  jsons.map((json) => ({ json, pairedItem: { item: Number(json.orderNo.slice(2)) } }))

const execution = document({
  Orders: [run(0, { main: [linked(orders)] })],
  Shape: [run(1, { main: [linked(shaped)] }, { source: [from("Orders")] })],
  Loose: [run(2, { main: [shaped.map((json) => ({ json }))] }, { source: [from("Orders")] })],
  Odd: [run(3, {
    main: [shaped.map((json, index) => ({
      json: { ...json, ...(index < 20 ? { a: index } : index < 50 ? { b: index } : index < 90 ? { c: index } : {}) }
    }))]
  })],
  Loop: [0, 1].map((index) => run(4 + index, { main: [linked(orders.slice(0, 3)), linked(orders.slice(3, 5))] })),
  Nothing: [run(6, {}, { source: [from("Orders")] })]
}, { nodes: [node("Orders"), node("Shape"), node("Loose"), node("Odd"), node("Loop"), node("Idle"), node("Nothing")] })

const compare = (args: object) =>
  Effect.provide(tools.compareItems.run({ id: "77", from: "Orders", to: "Shape", ...args }), holding(execution)).pipe(
    Effect.map(({ data }) => data as Effect.Success<ReturnType<typeof tools.compareItems.call>>)
  )

const refused = (args: object) => Effect.flip(compare(args))

describe("compare_items", () => {
  it.effect("shows what changed once, and one line for what changed everywhere", () =>
    Effect.gen(function*() {
      const data = yield* compare({})
      assert.deepStrictEqual<unknown>(data, {
        from: { node: "Orders", run: 0, output: "main[0]", items: 400 },
        to: { node: "Shape", run: 0, output: "main[0]", items: 399 },
        pairedBy: "pairedItem",
        same: 0,
        altered: 399,
        added: 399,
        removed: 0,
        paths: [
          { path: "amount", altered: 1 },
          { path: "password", altered: 399 },
          { path: "currency", added: 399 }
        ],
        examples: [
          { index: 41, path: "amount", before: 21, after: -1 },
          { index: 0, path: "password", before: "[redacted]", after: "differs, redacted" },
          { index: 0, path: "currency", after: "JPY" }
        ],
        onlyInFrom: { count: 1, first: [7] },
        onlyInTo: { count: 0, first: [] }
      })
      assert.isAtMost(countTokens(JSON.stringify(data)), 240)
    }))

  it.effect("pairs by a key, compares only some paths, and leaves some out", () =>
    Effect.gen(function*() {
      const keyed = yield* compare({ to: "Loose", key: "orderNo", ignore: ["currency", "password"] })
      assert.deepInclude<unknown>(keyed, { pairedBy: "key", same: 398, altered: 1 })
      assert.deepStrictEqual<unknown>(keyed.examples, [
        { index: 41, key: "A-42", path: "amount", before: 21, after: -1 }
      ])
      assert.deepStrictEqual<unknown>(keyed.onlyInFrom, { count: 1, first: ["A-7"] })
      assert.strictEqual((yield* compare({ fields: ["lines[0].sku", "orderNo"] })).same, 399)
    }))

  it.effect("names the key of pairs that look crossed, and what is not compared", () =>
    Effect.gen(function*() {
      const { note } = yield* compare({ to: "Loose" })
      assert.strictEqual(
        note,
        "The pairs look crossed: 'orderNo' differs in them, although most of its values are on both sides. Pair with key: 'orderNo'."
      )
      assert.isUndefined((yield* compare({ to: "Loose", key: "orderNo" })).note)
      assert.strictEqual(
        (yield* compare({ from: "Loop", to: "Loop" })).note,
        "Not compared: 1 earlier run of 'Loop', main[1] of 'Loop' (2 items)."
      )
    }))

  it.effect("names a key of numbers, of whose items one was lost", () =>
    Effect.gen(function*() {
      const invoices = Array.from({ length: 9 }, (_, index) => ({ invoice: 7_000 + index, total: index * 1.5 }))
      const lost = document({
        All: [run(0, { main: [items(...invoices)] })],
        Due: [run(1, { main: [items(...invoices.filter(({ invoice }) => invoice !== 7_003))] })]
      }, { nodes: [node("All"), node("Due")] })
      const { note } = yield* Effect.provide(
        tools.compareItems.call({ id: "77", from: "All", to: "Due" }),
        holding(lost)
      )
      assert.include(note, "Pair with key: 'invoice'.")
    }))

  it.effect("names values that make a key unusable", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        (yield* compare({ key: "lines[0].sku" })).note,
        "'lines[0].sku' is the same in several items (1 value): these were paired in order."
      )
    }))

  it.effect("shows examples of several rare changes, not many of one", () =>
    Effect.gen(function*() {
      const paths = (yield* compare({ from: "Loose", to: "Odd" })).examples.map(({ path }) => path)
      assert.deepStrictEqual(paths, ["a", "a", "a", "a", "b", "b", "b", "c", "c", "c"])
    }))

  it.effect("stays small where everything changed", () =>
    Effect.gen(function*() {
      const data = yield* compare({ to: "Loose", limit: 50 })
      assert.deepStrictEqual([data.pairedBy, data.altered], ["place", 399])
      assert.isAtMost(JSON.stringify(data).length, 12_000)
    }))

  it.effect("refuses nodes and paths that are not there, and says what is", () =>
    Effect.gen(function*() {
      const unknown = yield* refused({ to: "shap" })
      assert.deepInclude<unknown>(unknown, { _tag: "ValidationError", field: "to" })
      assert.include(unknown.hint, "'Shape'")
      assert.include((yield* refused({ from: "Idle" })).message, "'Idle' has no output")
      assert.deepInclude<unknown>(yield* refused({ to: "Nothing" }), { field: "to" })
      const key = yield* refused({ key: "orderId" })
      assert.deepInclude<unknown>(key, { field: "key" })
      assert.include(key.hint, "orderNo")
      assert.deepInclude<unknown>(yield* refused({ ignore: ["a..b"] }), { field: "ignore" })
      const { note, same } = yield* compare({ fields: ["orderNo", "amuont"] })
      assert.strictEqual(same, 399)
      assert.include(note, "No item here has amuont; nearest: amount")
    }))

  it.effect("says which secrets differ, and shows none", () =>
    Effect.gen(function*() {
      const secrets = yield* compare({ fields: ["password", "headers[0].value"], limit: 1 })
      assert.deepInclude<unknown>(secrets, {
        altered: 399,
        paths: [{ path: "password", altered: 399 }],
        examples: [{ index: 0, path: "password", before: "[redacted]", after: "differs, redacted" }]
      })
      const headers = yield* compare({ key: "headers[0].value" })
      assert.deepInclude<unknown>(headers, { pairedBy: "key", onlyInFrom: { count: 1, first: [7] } })
      assert.isUndefined(headers.note)
      assert.deepInclude<unknown>(yield* compare({ key: "password" }), { same: 0, altered: 0 })
      for (const args of [{ key: "password" }, { key: "headers[0].value" }, { to: "Loose", ignore: ["amount"] }]) {
        assert.notInclude(JSON.stringify(yield* compare(args)), "canary")
      }
    }))

  it.effect("takes no secret in a key for a path", () =>
    Effect.gen(function*() {
      const token = `ghp_${"a1B2c3D4e5".repeat(4)}`
      const keyed = (value: number) => [{ json: { id: 1, [token]: value, plain: value } }]
      const two = document({ A: [run(0, { main: [keyed(1)] })], B: [run(1, { main: [keyed(2)] })] })
      const ask = (args: object) =>
        Effect.provide(tools.compareItems.run({ id: "77", from: "A", to: "B", ...args }), holding(two)).pipe(
          Effect.map(({ data }) => data as Effect.Success<ReturnType<typeof tools.compareItems.call>>)
        )
      assert.deepStrictEqual((yield* ask({})).paths.map(({ path }) => path), ["[\"[redacted]\"]", "plain"])
      const named = yield* ask({ fields: [`["${token}"]`, "[\"[redacted]\"]"] })
      assert.strictEqual(named.altered, 1)
      assert.deepStrictEqual(named.examples.map(({ after, before }) => [before, after]), [[1, 2]])
      assert.isDefined(named.note)
    }))
})

const chain = document({
  Load: [run(0, { main: [orders.slice(0, 30).map((json) => ({ json }))] })],
  Currency: [
    run(1, { main: [linked(orders.slice(0, 30).map((json) => ({ ...json, currency: "JPY" })))] }, {
      source: [from("Load")]
    })
  ],
  Price: [
    run(2, {
      main: [
        linked(
          orders.slice(0, 30).map((json) => ({
            ...json,
            currency: json.orderNo === "A-9" ? "EUR" : "JPY",
            amount: json.orderNo === "A-7" ? -1 : json.amount
          }))
        )
      ]
    }, { source: [from("Currency")] })
  ],
  All: [
    run(3, {
      main: [[{
        json: { data: orders.slice(0, 30) },
        pairedItem: Array.from({ length: 30 }, (_, item) => ({ item }))
      }]]
    }, { source: [from("Price")] })
  ],
  Sum: [run(4, { main: [[{ json: { total: 30 } }]] }, { source: [from("Price")] })],
  First: [run(5, { main: [[{ json: orders[0] }]] }, { source: [from("Load")] })],
  Each: [
    run(6, { main: [orders.slice(0, 30).map((json) => ({ json, pairedItem: { item: 0 } }))] }, {
      source: [from("All")]
    })
  ]
}, { nodes: ["Load", "Currency", "Price", "All", "Sum", "First", "Each"].map((name) => node(name)) })

describe("compare_items on the way", () => {
  const ask = (args: object, one = chain) =>
    Effect.provide(tools.compareItems.run({ id: "77", from: "Load", ...args }), holding(one)).pipe(
      Effect.map(({ data, message }) => ({ ...data as Compared, message }))
    )
  type Compared = Effect.Success<ReturnType<typeof tools.compareItems.call>>

  it.effect("names the first node that changed each rare path", () =>
    Effect.gen(function*() {
      const { message, paths } = yield* ask({ to: "Price", steps: true })
      assert.deepStrictEqual(paths, [
        { path: "amount", altered: 1, by: ["Price"] },
        { path: "currency", added: 30, by: ["Currency"] }
      ])
      assert.include(message, "1 altered, 30 gained 'currency', 0 the same")
      const later = yield* ask({ from: "Currency", to: "Price", steps: true, fields: ["currency"] })
      assert.deepStrictEqual(later.paths, [{ path: "currency", altered: 1, by: ["Price"] }])
      const unlinked = yield* ask({ to: "First", key: "orderNo", steps: true, fields: ["amount", "orderNo"] })
      assert.strictEqual(unlinked.same, 1)
      const apart = yield* ask({ from: "First", to: "Price", key: "orderNo", steps: true })
      assert.strictEqual(apart.note, "steps: n8n recorded no links between these items.")
    }))

  it.effect("pairs nothing where one side aggregates the other, except with a key", () =>
    Effect.gen(function*() {
      for (const [earlier, later, name] of [["Price", "All", "All"], ["Price", "Sum", "Sum"], ["All", "Each", "All"]]) {
        const data = yield* ask({ from: earlier, to: later })
        assert.deepInclude<unknown>(data, { pairedBy: "none", same: 0, altered: 0, paths: [], examples: [] })
        assert.include(data.note, `'${name}' aggregates the items of the other node`)
      }
      assert.strictEqual((yield* ask({ to: "First" })).pairedBy, "place")
      // Items that were split again have links to all that were aggregated.
      const again = yield* ask({ from: "Load", to: "Each" })
      assert.deepInclude<unknown>(again, { pairedBy: "place", same: 30, altered: 0 })
      assert.strictEqual(
        (yield* ask({ from: "Price", to: "Sum", key: "orderNo" }).pipe(Effect.flip))._tag,
        "ValidationError"
      )
    }))

  it.effect("compares a node with itself, or another one, in another run", () =>
    Effect.gen(function*() {
      const other = {
        ...chain,
        id: "78",
        data: {
          resultData: {
            runData: {
              Load: [
                run(0, {
                  main: [
                    orders.slice(0, 29).map((json) => ({
                      json: { ...json, amount: json.orderNo === "A-3" ? 9 : json.amount }
                    }))
                  ]
                })
              ]
            }
          }
        }
      }
      const both = Layer.mergeAll(
        FakeN8n.layer({ workflows: [], executions: [chain, other] }),
        Executions.layer()
      )
      const data = yield* tools.compareItems.call({ id: "77", otherId: "78", from: "Load", limit: 10, steps: true })
        .pipe(Effect.provide(both))
      assert.deepStrictEqual<unknown>([data.from, data.to], [
        { execution: "77", node: "Load", run: 0, output: "main[0]", items: 30 },
        { execution: "78", node: "Load", run: 0, output: "main[0]", items: 29 }
      ])
      assert.deepStrictEqual<unknown>(data.paths, [{ path: "amount", altered: 1 }])
      assert.deepStrictEqual([data.same, data.onlyInFrom.count, data.pairedBy], [28, 1, "place"])
      assert.strictEqual(data.note, "steps: items of two runs have no links.")
      const missing = yield* Effect.flip(ask({}))
      assert.deepInclude<unknown>(missing, { _tag: "ValidationError", field: "to" })
      const unknown = yield* tools.compareItems.call({
        id: "78",
        otherId: "77",
        from: "Load",
        to: "Shape",
        limit: 1,
        steps: false
      })
        .pipe(Effect.provide(both), Effect.flip)
      assert.include(unknown.message, "'Shape' not found in execution '77'")
    }))

  it.effect("compares the inputs of a node that failed with those of another run", () =>
    Effect.gen(function*() {
      const ended = (id: string, sku: string, more: object) => ({
        ...document({
          Load: [run(0, { main: [items({ sku: "A", qty: 1 }, { sku, qty: 2 })] })],
          Send: [run(1, {}, { source: [from("Load")], ...more })]
        }, { nodes: [node("Load"), node("Send")] }),
        id
      })
      const data = yield* tools.compareItems.call({ id: "1", otherId: "2", from: "Send", limit: 10, steps: false })
        .pipe(
          Effect.provide(Layer.mergeAll(
            FakeN8n.layer({
              workflows: [],
              executions: [
                ended("1", "B-X", { error: { message: "422" }, executionStatus: "error" }),
                ended("2", "B", { data: { main: [items({ ok: true })] } })
              ]
            }),
            Executions.layer()
          ))
        )
      assert.deepInclude<unknown>(data.from, { execution: "1", node: "Load", items: 2 })
      assert.deepStrictEqual<unknown>(data.examples, [{ index: 1, path: "sku", before: "B-X", after: "B" }])
      assert.strictEqual(data.note, "Without output in one execution: the inputs of the last runs are compared.")
    }))

  it.effect("concludes nothing from items that n8n hides", () =>
    Effect.gen(function*() {
      const hidden = {
        ...chain,
        workflowData: { ...chain["workflowData"] as object, settings: { redactionPolicy: "all" } }
      }
      const error = yield* Effect.flip(ask({ to: "Price" }, hidden))
      assert.deepInclude<unknown>(error, {
        _tag: "ValidationError",
        message: "n8n hides the items of execution '77' (redaction)"
      })
    }))

  it.effect("names the nodes that ran after from, where to is missing", () =>
    Effect.gen(function*() {
      const connected = document({
        Orders: [run(0, { main: [linked(orders.slice(0, 2))] })],
        Shape: [run(1, { main: [linked(orders.slice(0, 2))] }, { source: [from("Orders")] })]
      }, {
        nodes: ["Orders", "Shape", "Idle"].map((name) => node(name)),
        connections: { Orders: main("Shape", "Idle") }
      })
      const error = yield* Effect.flip(tools.compareItems.run({ id: "77", from: "Orders" })).pipe(
        Effect.provide(holding(connected))
      )
      assert.deepInclude(error, { _tag: "ValidationError", field: "to" })
      assert.include(JSON.stringify(error), "a later node: after 'Orders' ran 'Shape'.")
    }))
})
