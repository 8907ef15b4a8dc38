import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Services from "../../../src/app/Services.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import { ask, document, from, holding, items, node, run } from "../../executions/runData.ts"
import * as fixtures from "../../support/scenarios/recorded.ts"
import { rounds } from "../../support/seed.ts"

const recorded = Layer.merge(FakeN8n.layer(fixtures.seed), Services.layerMemory)

layer(recorded)("get_execution_by_node", (it) => {
  it.effect("refuses nodes, runs and outputs that are not there, and says what is", () =>
    Effect.gen(function*() {
      const id = fixtures.executionId("loop")
      const ask = (args: object) => Effect.flip(tools.getExecutionByNode.run({ id, ...args }))
      const node = yield* ask({ nodeName: "loop over item" })
      assert.strictEqual(node.message, `Node 'loop over item' not found in execution '${id}'`)
      assert.include(node.hint, "'Loop Over Items'")
      const run = yield* ask({ nodeName: "Loop Over Items", runIndex: 40 })
      assert.include(run.hint, "4 times: 0 to 3")
      const output = yield* ask({ nodeName: "Loop Over Items", outputIndex: 7 })
      assert.include(output.hint, "0 to 1")
      for (const error of [node, run, output]) assert.strictEqual(error._tag, "ValidationError")
    }))
})

const orders = Array.from({ length: 3_000 }, (_, index) => ({
  orderNo: `A-${index}`,
  amount: index === 1_234 ? -1 : index,
  customer: { id: `cus_${index % 30}` },
  headers: [{ name: "X-Api-Key", value: "canary" }],
  note: "x".repeat(100)
}))

const execution = document({
  Settings: [run(0, { main: [items({ limit: 5 })] })],
  Orders: [run(1, { main: [items(...orders)] }, { source: [from("Settings")] })],
  Merge: [run(2, { main: [items(...orders.slice(0, 20))] }, { source: [from("Settings"), from("Orders")] })],
  Send: [
    run(3, { main: [items(...Array.from({ length: 20 }, (_, index) => ({ sent: index !== 3 })))] }, {
      source: [from("Merge")]
    })
  ],
  Twice: [0, 1].map((index) => run(4 + index, { main: [items({ sent: index })] }, { source: [from("Settings")] }))
}, {
  nodes: [node("Settings"), node("Orders", "n8n-nodes-base.code", { parameters: { a: "={{ 1 }}" } }), node("Merge")]
})

const look = (args: object, nodeName = "Orders") => {
  const input = { id: "77", nodeName, itemOffset: 0, itemLimit: 50, ...args }
  return Effect.map(ask(tools.getExecutionByNode, input), ({ data }) => data)
}

layer(holding(execution))("get_execution_by_node, asked", (it) => {
  it.effect("gives the items that meet a condition, with their places", () =>
    Effect.gen(function*() {
      const { input, output, parameters, parametersAs } = yield* look({
        where: "amount < 0",
        fields: ["orderNo", "customer.id"]
      })
      assert.deepStrictEqual<unknown>(output, {
        output: "main[0]",
        matched: 1,
        total: 3_000,
        items: [{ index: 1_234, json: { orderNo: "A-1234", "customer.id": "cus_4" } }]
      })
      assert.deepInclude<unknown>(input, { matched: 0, total: 1, items: [] })
      assert.deepStrictEqual<unknown>([parametersAs, parameters], ["resolved", { a: 1 }])
      // Over several inputs, places count as itemOffset does.
      const merged = yield* look({ where: "amount === 3" }, "Merge")
      assert.deepStrictEqual(merged.input.items.map(({ index }) => index), [4])
      assert.strictEqual(merged.parametersAs, undefined)
    }))

  it.effect("does not list the input where the condition is about the output alone", () =>
    Effect.gen(function*() {
      const { input, output } = yield* look({ where: "sent !== true" }, "Send")
      assert.deepStrictEqual(output.items, [{ index: 3, json: { sent: false } }])
      assert.deepStrictEqual<unknown>(input, {
        sources: input.sources,
        note: "Not listed: where is true for all of them.",
        matched: 20,
        total: 20,
        items: []
      })
      assert.strictEqual((yield* look({ where: "amount < 20" }, "Merge")).input.items.length, 21)
    }))

  it.effect("says why a side shows nothing, or less than was asked for", () =>
    Effect.gen(function*() {
      const fewer = "Nothing from itemOffset 20 on: 20 items in all."
      const rows: ReadonlyArray<readonly [node: string, args: object, input?: string | undefined, output?: string]> = [
        [
          "Twice",
          { where: "limit === 6 && sent", fields: ["sent"] },
          "Nothing matches; the first values: limit 5.",
          "Nothing matches; the first values: sent 1."
        ],
        [
          "Twice",
          { fields: ["snet"] },
          "No item here has snet; they have: limit.",
          "No item here has snet; nearest: sent."
        ],
        ["Orders", { itemOffset: 2_999 }],
        ["Merge", { itemOffset: 20 }, undefined, fewer],
        ["Orders", { where: "amount < 3", itemOffset: 10 }, "-", "Nothing from itemOffset 10 on: 4 matches in all."]
      ]
      for (const [node, args, ofInput, ofOutput] of rows) {
        const { input, output } = yield* look(args, node)
        if (ofInput !== "-") assert.strictEqual(input.note, ofInput, node)
        assert.strictEqual(output.note, ofOutput, node)
      }
      assert.isUndefined((yield* look({ fields: ["limit"] }, "Twice")).output.note)
      // A list of one is shown whole.
      const { input, output } = yield* look({ itemOffset: 2_999 })
      assert.deepStrictEqual([input.items, output.items.length], [[{ json: { limit: 5 } }], 1])
      assert.lengthOf((yield* look({ itemOffset: 20 }, "Merge")).input.items, 50)
      const last = yield* look({ where: "sent === 0" }, "Twice")
      assert.strictEqual(last.output.matched, 0)
      assert.strictEqual(last.note, "where searched the last of 2 runs: search_execution searches all of them.")
      assert.isUndefined((yield* look({ where: "sent === 0", runIndex: 0 }, "Twice")).note)
    }))

  it.effect("pages through matches by the calls it names", () =>
    Effect.gen(function*() {
      const where = "customer.id === 'cus_4'"
      const { output } = yield* look({ where, fields: ["orderNo"], itemLimit: 20, itemOffset: 20 })
      assert.deepStrictEqual([output.matched, output.items[0]?.index], [100, 604])
      assert.deepStrictEqual<unknown>(output, {
        ...output,
        _truncated: {
          path: "output.items",
          kept: 20,
          total: 100,
          next:
            "get_execution_by_node(id: '77', nodeName: 'Orders', itemOffset: 40, where: 'customer.id === \\'cus_4\\'', fields: ['orderNo'])"
        }
      })
    }))

  it.effect.prop("gives each match once, whatever the pages", {
    remainder: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 })),
    modulus: Schema.Literals([1, 5, 7, 300]),
    itemLimit: Schema.Literals([7, 20, 50])
  }, ({ itemLimit, modulus, remainder }) =>
    Effect.gen(function*() {
      const where = `amount % ${modulus} === ${remainder} && amount < 400`
      const places: Array<number | undefined> = []
      let total = 1
      while (places.length < total) {
        const { output } = yield* look({ where, fields: ["amount"], itemLimit, itemOffset: places.length })
        total = output.matched ?? assert.fail("no count")
        if (total > 0) assert.isAbove(output.items.length, 0)
        places.push(...output.items.map(({ index }) => index))
      }
      const expected = orders.flatMap(({ amount }, index) =>
        amount % modulus === remainder && amount < 400 ? [index] : []
      )
      assert.deepStrictEqual(places, expected)
    }), { arbitrary: { runs: rounds(10) } })

  it.effect("refuses a wrong or forbidden expression by its place", () =>
    Effect.gen(function*() {
      for (const where of ["amount >", "orderNo.match(/(?=a)/)", "amount = 1", "import('fs')", "while (1) {}", " "]) {
        const error = yield* Effect.flip(look({ where }))
        assert.deepInclude<unknown>(error, { _tag: "ValidationError", field: "where" }, where)
        assert.match(error.message, /character \d+ \(/)
      }
      assert.deepInclude<unknown>(yield* Effect.flip(look({ fields: ["a["] })), { field: "fields" })
      // Host objects are as unknown as any other name.
      for (const where of ["process.env", "amount.constructor", "globalThis", "$json.__proto__"]) {
        const { output } = yield* look({ where })
        assert.strictEqual(output.matched, 0, where)
        assert.include(output.note, "No item here has ")
      }
    }))

  it.effect("cannot be used to probe a secret", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* look({ where: "headers[0].value === 'canary'" })).output.matched, 0)
      const picked = yield* look({ fields: ["headers[0].value"], itemLimit: 2 })
      assert.deepStrictEqual<unknown>(picked.output.items[0], { json: { "headers[0].value": "[redacted]" } })
    }))
})
