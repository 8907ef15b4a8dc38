import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { document, from, holding, items, node, run } from "../../executions/runData.ts"

const orders = Array.from({ length: 300 }, (_, index) => ({
  orderNo: `A-${index}`,
  amount: index === 217 ? -5 : index,
  customer: { id: `cus_${index % 30}`, apiKey: `canary-${index}` }
}))

const execution = document({
  Orders: [run(0, { main: [items(...orders)] })],
  "Big?": [
    run(1, { main: [items(...orders.slice(200)), items(...orders.slice(0, 200))] }, { source: [from("Orders")] })
  ],
  Loop: [0, 1, 2].map((index) => run(2 + index, { main: [items({ batch: index, 件名: "Ünïcode" })] }))
}, {
  nodes: [
    node("Orders"),
    node("Big?", "n8n-nodes-base.if", { typeVersion: 2.2 }),
    node("Loop"),
    node("Idle"),
    node("Send")
  ]
})

const search = (args: object, searched = execution) =>
  Effect.provide(tools.searchExecution.run({ id: "77", ...args }), holding(searched)).pipe(
    Effect.map(({ data }) => data as Effect.Success<ReturnType<typeof tools.searchExecution.call>>)
  )

const refused = (args: object) => Effect.flip(search(args))

describe("search_execution", () => {
  it.effect("follows a record through all nodes, outputs by name", () =>
    Effect.gen(function*() {
      const json = { orderNo: "A-217", amount: -5 }
      assert.deepStrictEqual<unknown>(yield* search({ text: "a-217", fields: ["orderNo", "amount"] }), {
        matched: 2,
        scanned: 603,
        nodes: [{ node: "Orders", matched: 1 }, { node: "Big?", matched: 1 }],
        matches: [
          { node: "Orders", run: 0, output: "main[0]", index: 217, item: { json } },
          { node: "Big?", run: 0, output: "main[0]", name: "true", index: 17, item: { json } }
        ]
      })
    }))

  it.effect("finds the odd one by an expression, and both conditions together", () =>
    Effect.gen(function*() {
      const { matched, matches } = yield* search({ where: "amount < 0", nodes: ["Orders"] })
      assert.deepStrictEqual([matched, matches[0]?.index], [1, 217])
      const both = yield* search({ text: "CUS_7", where: "$json.amount > 250", nodes: ["Orders"], limit: 1 })
      assert.deepStrictEqual([both.matched, both.matches.map(({ index }) => index)], [1, [277]])
      const run = yield* search({ where: "batch === 1" })
      assert.deepInclude(run.matches[0], { node: "Loop", run: 1, index: 0 })
      assert.strictEqual((yield* search({ text: "ünï", where: "$json['件名'].length === 7" })).matched, 3)
    }))

  it.effect("leaves out what nobody reads in an item", () =>
    Effect.gen(function*() {
      const call = { headers: { "x-shop": "a", host: "b" }, params: {}, query: {}, body: { id: 1 }, webhookUrl: "u" }
      const { matches } = yield* search(
        { text: "x-shop" },
        document({ Webhook: [run(0, { main: [items(call)] })] }, { nodes: [node("Webhook")] })
      )
      assert.deepStrictEqual<unknown>(matches[0]?.item.json, { ...call, headers: { "x-shop": "a" }, otherHeaders: 1 })
    }))

  it.effect("refuses what it cannot search for, and says what is there", () =>
    Effect.gen(function*() {
      assert.include((yield* search({ where: "amuont < 0" })).note, "No item here has amuont; nearest: amount.")
      assert.strictEqual(
        (yield* search({ where: "amount === '217'" })).note,
        "Nothing matches; the first values: amount 0."
      )
      assert.include((yield* search({ where: "amuont == null" })).note, "No item here has amuont")
      const neither = yield* refused({})
      assert.strictEqual(neither.message, "text or where is required")
      assert.strictEqual((yield* search({ text: "x", nodes: ["Send"] })).note, "Did not run: Send.")
      const empty = document({ None: [run(0, { main: [[]] })] }, { nodes: [node("None")] })
      assert.strictEqual((yield* search({ text: "x", nodes: ["None"] }, empty)).note, "Without output: None.")
      const wrong = yield* refused({ where: "amount >" })
      assert.deepInclude<unknown>(wrong, { _tag: "ValidationError", field: "where" })
      assert.include(wrong.message, "character")
      const forbidden = yield* refused({ where: "amount.constructor('x')" })
      assert.strictEqual(forbidden._tag, "ValidationError")
      for (
        const where of [
          "",
          "process.exit()",
          "fetch('x')",
          "$('Orders').first()",
          "$input.item.json.amount < 0",
          "amount = 3",
          "while (true) {}"
        ]
      ) {
        const { _tag, ...error } = yield* refused({ where })
        assert.deepInclude<unknown>({ _tag, ...error }, { _tag: "ValidationError", field: "where" }, where)
      }
      const unknown = yield* refused({ text: "x", nodes: ["Orders", "big"] })
      assert.deepInclude<unknown>(unknown, { field: "nodes" })
      assert.include(unknown.hint, "'Big?'")
      assert.deepInclude<unknown>(yield* refused({ text: "A-1", fields: ["a..b"] }), { field: "fields" })
    }))

  it.effect("says that secrets are not searched or compared, whichever they are", () =>
    Effect.gen(function*() {
      const answers = (token: string) => {
        const jsons = Array.from({ length: 3 }, (_, index) => ({ id: index, token: `${token}${index}` }))
        const secret = document({ A: [run(0, { main: [items(...jsons, { id: 3 })] })] }, { nodes: [node("A")] })
        return Effect.forEach(
          [{ text: "abd" }, { text: "act" }, { text: "redacted]" }, { where: "token !== 'abc0'" }, { where: "id < 0" }],
          (args) => search(args, secret)
        )
      }
      const [first, second] = [yield* answers("abd"), yield* answers("xyz")]
      assert.deepStrictEqual(first, second)
      assert.deepStrictEqual(first.map(({ matched }) => matched), [0, 3, 3, 4, 0])
      assert.strictEqual(first[0]?.note, "Secrets are redacted, and text is not searched for in them.")
      assert.include(first[3]?.note, "where compares token as [redacted]")
      assert.notInclude(first[4]?.note, "[redacted]")
      assert.notInclude((yield* search({ text: "A-217" })).note ?? "", "Secrets")
    }))

  it.effect("says what an expression does not fit, and which paths no match has", () =>
    Effect.gen(function*() {
      const none = yield* search({ where: "orderNo.toFixed(2) === '1.00'", nodes: ["Orders"] })
      assert.deepStrictEqual([none.matched, none.failedItems], [0, 300])
      assert.include(none.note, "where does not fit any of 300 items")
      const some = yield* search({ where: "orderNo.startsWith('A-1')" })
      assert.deepStrictEqual([some.matched, some.failedItems], [222, undefined])
      const { matches: [whole] } = yield* search({ text: "A-217", fields: ["$json.customer.id"] })
      assert.deepStrictEqual<unknown>(whole?.item, { json: { "$json.customer.id": "cus_7" } })
      const { note } = yield* search({ text: "A-217", fields: ["orderno", "customer.id"] })
      assert.include(note, "No match shown has orderno; nearest: orderNo")
    }))

  it.effect("says that a node did not run, that the execution goes on, or that there is no data", () =>
    Effect.gen(function*() {
      const idle = yield* search({ text: "x", nodes: ["Idle"] })
      assert.deepStrictEqual([idle.scanned, idle.note], [0, "Did not run: Idle."])
      const running = { ...execution, status: "running", stoppedAt: null }
      assert.include((yield* search({ text: "A-217" }, running)).note, "running")
      const empty = yield* search({ text: "A-217" }, document(undefined, { data: null }))
      assert.deepStrictEqual([empty.matched, empty.note], [0, "n8n has no data for this execution, or no node ran."])
    }))

  it.effect("cannot be used to probe a secret", () =>
    Effect.gen(function*() {
      for (
        const args of [
          { text: "canary" },
          { where: "customer.apiKey.startsWith('canary')" },
          { where: "JSON.stringify($json).includes('canary-2')" }
        ]
      ) assert.strictEqual((yield* search(args)).matched, 0)
      const shown = yield* search({ text: "A-217", fields: ["customer.apiKey", "customer"] })
      assert.notInclude(JSON.stringify(shown), "canary")
    }))
})
