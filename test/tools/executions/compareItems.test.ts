import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Executions from "../../../src/executions/Executions.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import { document, from, holding, items, node, run } from "../../executions/runData.ts"
import { joined, main } from "../../support/workflows.ts"

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

type Compared = Effect.Success<ReturnType<typeof tools.compareItems.call>>

/** The answer about one execution, with its message. */
const ask = (args: object, one = execution) =>
  Effect.provide(tools.compareItems.run({ id: "77", ...args }), holding(one)).pipe(
    Effect.map(({ data, message }) => ({ ...data as Compared, message }))
  )

const compare = (args: object) => ask({ from: "Orders", to: "Shape", ...args })

describe("compare_items", () => {
  it.effect("shows what changed once, and one line for what changed everywhere, in few tokens", () =>
    Effect.gen(function*() {
      const { message: _, ...data } = yield* compare({})
      assert.deepStrictEqual<unknown>(data, {
        from: { node: "Orders", run: 0, output: "main[0]", items: 400 },
        to: { node: "Shape", run: 0, output: "main[0]", items: 399 },
        pairedBy: "pairedItem",
        namedBy: "orderNo",
        same: 0,
        altered: 399,
        added: 399,
        removed: 0,
        paths: [{ path: "amount", altered: 1 }, { path: "password", altered: 399 }, { path: "currency", added: 399 }],
        examples: [
          { index: 41, key: "A-42", path: "amount", before: 21, after: -1 },
          { index: 0, key: "A-0", path: "password", before: "[redacted]", after: "differs, redacted" },
          { index: 0, key: "A-0", path: "currency", after: "JPY" }
        ],
        onlyInFrom: { count: 1, first: ["A-7"] },
        onlyInTo: { count: 0, first: [] }
      })
      assert.isAtMost(countTokens(JSON.stringify(data)), 265)
      const all = yield* compare({ to: "Loose", limit: 50 })
      assert.deepStrictEqual([all.pairedBy, all.altered], ["place", 399])
      assert.isAtMost(JSON.stringify(all).length, 12_000)
      // Several rare changes, not many of one.
      const paths = (yield* compare({ from: "Loose", to: "Odd" })).examples.map(({ path }) => path)
      assert.deepStrictEqual(paths, ["a", "a", "a", "a", "b", "b", "b", "c", "c", "c"])
    }))

  it.effect("names a key of numbers, of whose items one was lost", () =>
    Effect.gen(function*() {
      const invoices = Array.from({ length: 9 }, (_, index) => ({ invoice: 7_000 + index, total: index * 1.5 }))
      const lost = document({
        All: [run(0, { main: [items(...invoices)] })],
        Due: [run(1, { main: [items(...invoices.filter(({ invoice }) => invoice !== 7_003))] })]
      }, { nodes: [node("All"), node("Due")] })
      assert.include((yield* ask({ from: "All", to: "Due" }, lost)).note, "Pair with key: 'invoice'.")
    }))

  it.effect("names pairs that look crossed, and what is not compared", () =>
    Effect.gen(function*() {
      const notes = [
        [
          { to: "Loose" },
          "The pairs look crossed: 'orderNo' differs in them, although most of its values are on both sides. Pair with key: 'orderNo'."
        ],
        [{ to: "Loose", key: "orderNo" }, undefined],
        [{ from: "Loop", to: "Loop" }, "Not compared: main[1] of 'Loop' (4 items)."],
        [
          { key: "lines[0].sku" },
          "'lines[0].sku' is the same in several items (1 value): these were paired in order."
        ]
      ] as const
      for (const [args, note] of notes) assert.strictEqual((yield* compare(args)).note, note)
    }))

  it.effect("refuses nodes and paths that are not there, and says what is", () =>
    Effect.gen(function*() {
      for (
        const [args, field, says] of [
          [{ to: "shap" }, "to", "'Shape'"],
          [{ from: "Idle" }, "from", "'Idle' has no output"],
          [{ to: "Nothing" }, "to", ""],
          [{ key: "orderId" }, "key", "orderNo"],
          [{ ignore: ["a..b"] }, "ignore", ""]
        ] as const
      ) {
        const error = yield* Effect.flip(compare(args))
        assert.deepInclude<unknown>(error, { _tag: "ValidationError", field }, JSON.stringify(args))
        assert.include(`${error.message} ${Hints.text(error.hint)}`, says)
      }
      const missing = yield* Effect.flip(ask({ from: "Shape" }))
      assert.include(missing.message, "to is required: no node with an output ran after 'Shape'")
      const { note, same } = yield* compare({ fields: ["orderNo", "amuont"] })
      assert.strictEqual(same, 399)
      assert.include(note, "No item here has amuont; nearest: amount")
    }))

  it.effect("says which secrets differ, and shows none, whether they are values or keys", () =>
    Effect.gen(function*() {
      const secrets = yield* compare({ fields: ["password", "headers[0].value"], limit: 1 })
      assert.deepInclude<unknown>(secrets, {
        altered: 399,
        paths: [{ path: "password", altered: 399 }],
        examples: [{ index: 0, key: "A-0", path: "password", before: "[redacted]", after: "differs, redacted" }]
      })
      const headers = yield* compare({ key: "headers[0].value" })
      assert.deepInclude<unknown>(headers, { pairedBy: "key", onlyInFrom: { count: 1, first: [7] } })
      assert.isUndefined(headers.note)
      assert.deepInclude<unknown>(yield* compare({ key: "password" }), { same: 0, altered: 0 })
      for (const args of [{ key: "password" }, { key: "headers[0].value" }, { to: "Loose", ignore: ["amount"] }]) {
        assert.notInclude(JSON.stringify(yield* compare(args)), "canary")
      }
      const token = `ghp_${"a1B2c3D4e5".repeat(4)}`
      const keyed = (value: number) => [{ json: { id: 1, [token]: value, plain: value } }]
      const two = document({ A: [run(0, { main: [keyed(1)] })], B: [run(1, { main: [keyed(2)] })] })
      const { paths } = yield* ask({ from: "A", to: "B" }, two)
      assert.deepStrictEqual(paths.map(({ path }) => path), ["[\"[redacted]\"]", "plain"])
      const named = yield* ask({ from: "A", to: "B", fields: [`["${token}"]`, "[\"[redacted]\"]"] }, two)
      assert.deepStrictEqual([named.altered, named.examples.map(({ after, before }) => [before, after])], [1, [[1, 2]]])
      assert.isDefined(named.note)
    }))
})

const some = orders.slice(0, 30)

const chainNodes = ["Load", "Currency", "Price", "All", "Sum", "First", "Each"].map((name) => node(name))

const chain = document({
  Load: [run(0, { main: [some.map((json) => ({ json }))] })],
  Currency: [
    run(1, { main: [linked(some.map((json) => ({ ...json, currency: "JPY" })))] }, { source: [from("Load")] })
  ],
  Price: [
    run(2, {
      main: [linked(some.map((json) => ({
        ...json,
        currency: json.orderNo === "A-9" ? "EUR" : "JPY",
        amount: json.orderNo === "A-7" ? -1 : json.amount
      })))]
    }, { source: [from("Currency")] })
  ],
  All: [
    run(3, { main: [[{ json: { data: some }, pairedItem: some.map((_, item) => ({ item })) }]] }, {
      source: [from("Price")]
    })
  ],
  Sum: [run(4, { main: [[{ json: { total: 30 } }]] }, { source: [from("Price")] })],
  First: [run(5, { main: [[{ json: orders[0] }]] }, { source: [from("Load")] })],
  Each: [run(6, { main: [some.map((json) => ({ json, pairedItem: { item: 0 } }))] }, { source: [from("All")] })]
}, { nodes: chainNodes })

/** Compares nodes of the chain. */
const follow = (args: object, one = chain) => ask({ from: "Load", ...args }, one)

describe("compare_items on the way", () => {
  it.effect("names the first node that changed each rare path", () =>
    Effect.gen(function*() {
      const { examples, message, paths } = yield* follow({ to: "Price" })
      assert.deepStrictEqual(paths, [
        { path: "amount", altered: 1, by: ["Price"] },
        { path: "currency", added: 30, by: ["Currency"] }
      ])
      assert.include(message, "1 altered, 30 gained 'currency', 0 the same")
      const rows = examples.map(({ by, key, path }) => [key, path, by])
      assert.deepStrictEqual<unknown>(rows, [["A-7", "amount", "Price"], ["A-0", "currency", "Currency"]])
      const later = yield* follow({ from: "Currency", to: "Price", fields: ["currency"] })
      assert.deepStrictEqual(later.paths, [{ path: "currency", altered: 1 }], "no node between them")
      const unlinked = yield* follow({ to: "First", key: "orderNo", fields: ["amount", "orderNo"] })
      assert.strictEqual(unlinked.same, 1)
    }))

  it.effect("pairs nothing where one side aggregates the other, except with a key", () =>
    Effect.gen(function*() {
      for (const name of ["All", "Sum"]) {
        const data = yield* follow({ from: "Price", to: name })
        assert.deepInclude<unknown>(data, { pairedBy: "none", same: 0, altered: 0, paths: [], examples: [] })
        assert.include(data.note, `'${name}' aggregates the items of the other node`)
      }
      assert.deepInclude<unknown>(yield* follow({ from: "All", to: "Each" }), {
        pairedBy: "none",
        note: "1 item of 'All' became 30: nothing to pair. Start at 'Each', the first node after it."
      })
      assert.strictEqual((yield* follow({ to: "First" })).pairedBy, "place")
      // Items that were split again have links to all that were aggregated.
      assert.deepInclude<unknown>(yield* follow({ to: "Each" }), { pairedBy: "place", same: 30, altered: 0 })
      const keyed = yield* Effect.flip(follow({ from: "Price", to: "Sum", key: "orderNo" }))
      assert.strictEqual(keyed._tag, "ValidationError")
    }))

  it.effect("compares a node with itself, or another one, in another run", () =>
    Effect.gen(function*() {
      const changed = orders.slice(0, 29).map((json) => ({
        json: { ...json, amount: json.orderNo === "A-3" ? 9 : json.amount }
      }))
      const runData = { Load: [run(0, { main: [changed] })] }
      const other = { ...chain, id: "78", data: { resultData: { runData } } }
      const both = Layer.mergeAll(FakeN8n.layer({ workflows: [], executions: [chain, other] }), Executions.layer())
      const data = yield* tools.compareItems.call({ id: "77", otherId: "78", from: "Load", limit: 10 })
        .pipe(Effect.provide(both))
      assert.deepInclude<unknown>(data, {
        from: { execution: "77", node: "Load", run: 0, output: "main[0]", items: 30 },
        to: { execution: "78", node: "Load", run: 0, output: "main[0]", items: 29 },
        paths: [{ path: "amount", altered: 1 }],
        same: 28,
        pairedBy: "place",
        examples: [{ index: 3, key: "A-3", path: "amount", before: 1.5, after: 9 }]
      })
      assert.strictEqual(data.onlyInFrom.count, 1)
      const unknown = yield* tools.compareItems.call({ id: "78", otherId: "77", from: "Load", to: "Shape", limit: 1 })
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
      const executions = [
        ended("1", "B-X", { error: { message: "422" }, executionStatus: "error" }),
        ended("2", "B", { data: { main: [items({ ok: true })] } })
      ]
      const data = yield* tools.compareItems.call({ id: "1", otherId: "2", from: "Send", limit: 10 }).pipe(
        Effect.provide(Layer.mergeAll(FakeN8n.layer({ workflows: [], executions }), Executions.layer()))
      )
      assert.deepInclude<unknown>(data.from, { execution: "1", node: "Load", items: 2 })
      assert.deepStrictEqual<unknown>(data.examples, [{ index: 1, path: "sku", before: "B-X", after: "B" }])
      assert.strictEqual(data.note, "Without output in one execution: the inputs are compared.")
    }))

  it.effect("concludes nothing from items that n8n hides", () =>
    Effect.gen(function*() {
      const workflowData = { ...chain["workflowData"] as object, settings: { redactionPolicy: "all" } }
      const { message } = yield* Effect.flip(follow({ to: "Price" }, { ...chain, workflowData }))
      assert.strictEqual(message, "n8n hides the items of execution '77' (redaction)")
    }))

  it.effect("takes the last node that ran after from, where to is missing, and says so", () =>
    Effect.gen(function*() {
      const connected = document({
        Orders: [run(0, { main: [linked(orders.slice(0, 2))] })],
        Shape: [run(1, { main: [linked(orders.slice(0, 2))] }, { source: [from("Orders")] })],
        Last: [run(2, { main: [linked(orders.slice(0, 1))] }, { source: [from("Shape")] })],
        Broken: [run(3, {}, { source: [from("Last")] })]
      }, {
        nodes: ["Orders", "Shape", "Last", "Broken", "Idle"].map((name) => node(name)),
        connections: { Orders: main("Shape", "Idle"), Shape: main("Last"), Last: main("Broken") }
      })
      for (const more of [{}, { otherId: "77" }]) {
        const { note, onlyInFrom, to } = yield* ask({ from: "Orders", ...more }, connected)
        assert.deepStrictEqual([to.node, onlyInFrom.count], ["Last", 1])
        assert.strictEqual(note, "to was left out: 'Last' is the last node that ran after 'Orders'.")
      }
    }))

  it.effect("compares from the first to the last node that pairs, where items are split or aggregated", () =>
    Effect.gen(function*() {
      const call = { headers: {}, params: {}, query: {}, body: { orders: some } }
      const webhook = document({
        Webhook: [run(0, { main: [items(call)] })],
        Split: [
          run(1, { main: [some.map((json) => ({ json, pairedItem: { item: 0 } }))] }, { source: [from("Webhook")] })
        ],
        Add: [
          run(2, { main: [linked(some.map((json) => ({ ...json, currency: "JPY" })))] }, { source: [from("Split")] })
        ]
      }, {
        nodes: ["Webhook", "Split", "Add"].map((name) => node(name)),
        connections: { Webhook: main("Split"), Split: main("Add") }
      })
      const { added, from: side, note, pairedBy } = yield* ask({ from: "Webhook", to: "Add" }, webhook)
      assert.deepStrictEqual([side.node, pairedBy, added], ["Split", "pairedItem", 30])
      assert.strictEqual(
        note,
        "1 item of 'Webhook' became more: compared from 'Split', the first node after it that pairs with 'Add'."
      )
      assert.notInclude((yield* ask({ from: "Webhook", to: "Split" }, webhook)).note, "aggregates")
      const connections = { Load: main("Currency"), Currency: main("Price"), Price: main("All"), All: main("Each") }
      const joined = { ...chain, workflowData: { ...chain["workflowData"] as object, connections } }
      const last = yield* follow({ to: "All" }, joined)
      assert.deepStrictEqual([last.to.node, last.paths.map(({ path }) => path)], ["Price", ["amount", "currency"]])
      assert.strictEqual(
        last.note,
        "Compared up to 'Price', the last node that pairs with 'Load': after it items are aggregated."
      )
      assert.strictEqual((yield* follow({ from: "Price", to: "All" }, joined)).pairedBy, "none")
    }))

  it.effect("takes all runs of a loop, and all branches into a node, as one side", () =>
    Effect.gen(function*() {
      const all = orders.slice(0, 6)
      const body = all.map((json, index) => ({
        json: index === 4 ? { ...json, amount: -4 } : json,
        pairedItem: { item: 0 }
      }))
      const entered = { previousNode: "Ids", previousNodeOutput: 0, previousNodeRun: 0 }
      const pairedItem = (item: number) => item === 0 ? { item } : { item, sourceOverwrite: entered }
      const paired = (some: ReadonlyArray<object>, first = 0) =>
        some.map((json, item) => ({ json, pairedItem: { item: first + item } }))
      const looped = document({
        Ids: [run(0, { main: [all.map((json) => ({ json }))] })],
        Loop: [
          ...all.map((json, index) =>
            run(1 + 2 * index, { main: [[], [{ json, pairedItem: pairedItem(index) }]] }, {
              source: [index === 0 ? from("Ids") : from("Body", 0, index - 1)]
            })
          ),
          run(20, { main: [body] }, { source: [from("Body", 0, 5)] })
        ],
        Body: body.map((item, index) => run(2 + 2 * index, { main: [[item]] }, { source: [from("Loop", 1, index)] })),
        Which: [run(21, { main: [paired(all.slice(0, 4)), paired(all.slice(4), 4)] }, { source: [from("Ids")] })],
        Both: [
          run(22, { main: [paired(all.slice(0, 4))] }, { source: [from("Which")] }),
          run(23, { main: [paired(all.slice(4))] }, { source: [from("Which", 1)] })
        ]
      }, {
        nodes: ["Ids", "Loop", "Body", "Which", "Both"].map((name) => node(name)),
        connections: joined(
          ["Ids", "Loop"],
          ["Ids", "Which", "main", 1],
          ["Loop", "Body", "main", 1],
          ["Body", "Loop"],
          ["Which", "Both"],
          ["Which", "Both", "main", 1]
        )
      })
      const rows = [
        [{ from: "Ids", to: "Body" }, [1, 5]],
        [{ from: "Loop", to: "Body" }, [1, 5]],
        [{ from: "Body", to: "Loop", key: "orderNo" }, [0, 6]],
        [{ from: "Which", to: "Both" }, [0, 6]]
      ] as const
      for (const [args, counts] of rows) {
        const { altered, onlyInFrom, onlyInTo, same } = yield* ask(args, looped)
        assert.deepStrictEqual([altered, same, onlyInFrom.count, onlyInTo.count], [...counts, 0, 0])
      }
      const down = yield* ask({ from: "Ids", to: "Body" }, looped)
      assert.deepStrictEqual<unknown>(down.to, { node: "Body", runs: 6, output: "main[0]", items: 6 })
      assert.deepStrictEqual<unknown>(down.examples, [
        { index: 4, key: "A-4", path: "amount", before: 2, after: -4, by: "Body" }
      ])
      const branches = yield* ask({ from: "Which", to: "Both" }, looped)
      assert.deepStrictEqual<unknown>(branches.from, { node: "Which", run: 0, output: "main[0], main[1]", items: 6 })
    }))
})
