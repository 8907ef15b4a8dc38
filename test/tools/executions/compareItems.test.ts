import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as tools from "../../../src/tools/index.ts"
import { document, from, holding, node, run } from "../../executions/runData.ts"

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
      json: { ...json, ...(index < 20 ? { a: 1 } : index < 50 ? { b: 1 } : index < 90 ? { c: 1 } : {}) }
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
        changed: 399,
        paths: [
          { path: "amount", count: 1 },
          { path: "password", count: 399 },
          { path: "currency", count: 399, kind: "added" }
        ],
        examples: [{ index: 41, path: "amount", before: 21, after: -1 }],
        onlyInFrom: { count: 1, first: [7] },
        onlyInTo: { count: 0, first: [] }
      })
      assert.isAtMost(countTokens(JSON.stringify(data)), 200)
    }))

  it.effect("pairs by a key, compares only some paths, and leaves some out", () =>
    Effect.gen(function*() {
      const keyed = yield* compare({ to: "Loose", key: "orderNo", ignore: ["currency", "password"] })
      assert.deepInclude<unknown>(keyed, { pairedBy: "key", same: 398, changed: 1 })
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
        "The pairs look crossed: 'orderNo' differs in them, although most values are on both sides. Pair with key: 'orderNo'."
      )
      assert.isUndefined((yield* compare({ to: "Loose", key: "orderNo" })).note)
      assert.strictEqual(
        (yield* compare({ from: "Loop", to: "Loop" })).note,
        "Not compared: 1 earlier run of 'Loop', main[1] of 'Loop' (2 items)."
      )
    }))

  it.effect("says where a key is no key", () =>
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
      assert.deepStrictEqual([data.pairedBy, data.changed], ["place", 399])
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
        changed: 399,
        paths: [{ path: "password", count: 399 }],
        examples: [{ index: 0, path: "password", before: "[redacted]", after: "differs, redacted" }]
      })
      const headers = yield* compare({ key: "headers[0].value" })
      assert.deepInclude<unknown>(headers, { pairedBy: "key", onlyInFrom: { count: 1, first: [7] } })
      assert.isUndefined(headers.note)
      assert.deepInclude<unknown>(yield* compare({ key: "password" }), { same: 0, changed: 0 })
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
      assert.strictEqual(named.changed, 1)
      assert.deepStrictEqual(named.examples.map(({ after, before }) => [before, after]), [[1, 2]])
      assert.isDefined(named.note)
    }))
})
