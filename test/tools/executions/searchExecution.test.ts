import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { marksIn } from "../../../src/answer/Truncated.ts"
import { obj } from "../../../src/base/Json.ts"
import * as Executions from "../../../src/executions/Executions.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import { document, from, holding, items, node, parseCall, run } from "../../executions/runData.ts"
import { catalogue } from "../../support/catalogue.ts"
import { rounds } from "../../support/seed.ts"

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

  it.effect("says how many matches it shows, and how to see more", () =>
    Effect.gen(function*() {
      const { message } = yield* tools.searchExecution.run({ id: "77", where: "amount > 1" })
      assert.strictEqual(
        message,
        "594 of 603 items match; 10 shown: next continues"
      )
    }).pipe(Effect.provide(holding(execution))))

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

  it.effect("leaves out fields of an item that no one reads", () =>
    Effect.gen(function*() {
      const call = { headers: { "x-shop": "a", host: "b" }, params: {}, query: {}, body: { id: 1 }, webhookUrl: "u" }
      const { matches } = yield* search(
        { text: "x-shop" },
        document({ Webhook: [run(0, { main: [items(call)] })] }, { nodes: [node("Webhook")] })
      )
      assert.deepStrictEqual<unknown>(matches[0]?.item?.json, { ...call, headers: { "x-shop": "a" }, otherHeaders: 1 })
    }))

  it.effect("refuses what it cannot search for, and says what is there", () =>
    Effect.gen(function*() {
      assert.include((yield* search({ where: "amuont < 0" })).note, "No item here has amuont; nearest: amount.")
      assert.strictEqual(
        (yield* search({ where: "amount === '217'" })).note,
        "Nothing matches; the first values: amount 0."
      )
      assert.include((yield* search({ where: "amuont == null" })).note, "No item here has amuont")
      assert.deepInclude<unknown>(yield* refused({ without: "items", nodes: ["Send"], text: "x" }), {
        field: "without"
      })
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

  it.effect("reports a node that did not run, an execution in progress, and missing data", () =>
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

/** An execution of a shop, `minutes` after midnight. */
const order = (
  id: number,
  status: "success" | "error" | "running",
  runData: object,
  more: { readonly workflowId?: string; readonly data?: object } = {}
): N8nApi.Execution => {
  const { workflowId = "shop" } = more
  const base = document(runData, { status, nodes: Object.keys(runData).map((name) => node(name)) })
  return {
    ...base,
    id: String(id),
    workflowId,
    startedAt: new Date(Date.UTC(2026, 10, 20, 0, id)).toISOString(),
    data: { resultData: { runData }, ...more.data },
    workflowData: { ...base["workflowData"] as object, id: workflowId, name: workflowId }
  }
}

const output = (...jsons: ReadonlyArray<object>) => [run(0, { main: [items(...jsons)] })]

const caller = (id: string) => ({
  data: { parentExecution: { executionId: id, workflowId: "shop" } },
  workflowId: "pack"
})

/** A failed order calls a workflow that calls another, once per item. */
const shop = [
  order(1, "success", { Take: output({ sku: "A", stock: 3 }) }),
  order(2, "error", {
    Take: output({ sku: "B", stock: 0 }),
    Pack: [run(1, { main: [items({ done: true })] }, {
      metadata: { subExecution: { executionId: "3", workflowId: "pack" }, subExecutionsCount: 1 }
    })]
  }),
  order(3, "success", {
    Each: [run(0, {
      main: [[
        { json: { 箱: 1 }, metadata: { subExecution: { executionId: "4", workflowId: "pack" } } },
        { json: { 箱: 2 }, metadata: { subExecution: { executionId: "5", workflowId: "pack" } } }
      ]]
    }, { metadata: { subExecutionsCount: 2 } })]
  }, caller("2")),
  order(4, "success", { Box: output({ label: "倉庫 17", apiKey: "canary-1" }) }, caller("3")),
  order(6, "error", { Take: output(...Array.from({ length: 30 }, (_, n) => ({ sku: "C", stock: 0, n }))) }),
  order(7, "running", { Take: output({ sku: "D", stock: 5 }) })
]

const searchRuns = (args: object, executions: ReadonlyArray<N8nApi.Execution> = shop) =>
  Effect.provide(
    tools.searchExecution.run(args),
    Layer.mergeAll(FakeN8n.layer({ workflows: [], executions }), Executions.layer(), catalogue)
  ).pipe(Effect.map(({ data }) => data as Effect.Success<ReturnType<typeof tools.searchExecution.call>>))

describe("search_execution over many runs", () => {
  it.effect("correlates a condition with the status of the runs", () =>
    Effect.gen(function*() {
      const { byStatus, executions, matches, runs, ...rest } = yield* searchRuns({
        where: "stock === 0",
        workflowId: "shop",
        limit: 3,
        fields: ["sku", "n"]
      })
      assert.deepStrictEqual(runs, { searched: 3, matched: 2, complete: true })
      assert.deepStrictEqual(byStatus, { error: { runs: 2, matched: 2 }, success: { runs: 1, matched: 0 } })
      assert.deepStrictEqual(executions?.map(({ id, matched, status }) => [id, status, matched]), [
        ["6", "error", 30],
        ["2", "error", 1]
      ])
      assert.deepInclude(rest, { matched: 31, scanned: 36 })
      assert.deepStrictEqual(rest.nodes, [{ node: "Take", workflow: "shop", matched: 31 }])
      // One of each run first.
      assert.deepStrictEqual(
        matches.map(({ execution, index, item }) => [execution, index, item?.json]),
        [["6", 0, { sku: "C", n: 0 }], ["6", 1, { sku: "C", n: 1 }], ["2", 0, { sku: "B" }]]
      )
    }))

  it.effect("searches executions of sub-workflows three levels deep with the chosen run, and names their caller", () =>
    Effect.gen(function*() {
      const { byStatus, executions, matches, note, runs } = yield* searchRuns({
        text: "倉庫",
        workflowId: "shop",
        status: "error"
      })
      assert.deepStrictEqual(runs, { searched: 2, matched: 1, complete: true })
      assert.deepStrictEqual(byStatus, { error: { runs: 2, matched: 1 } })
      assert.deepStrictEqual(executions?.map(({ id, matched }) => [id, matched]), [["2", 1]])
      assert.deepInclude(matches[0], { execution: "4", calledBy: "3", node: "Box" })
      assert.notInclude(JSON.stringify(matches), "canary")
      // Execution 5 was pruned.
      assert.isUndefined(note)
    }))

  it.effect("searches the run of a sub-workflow that failed, which the error of its caller names", () =>
    Effect.gen(function*() {
      const message = "Error executing workflow with item at index 1"
      const failing = (error: object) => [run(1, {}, { error: { message, ...error }, executionStatus: "error" })]
      const runs = [
        {
          ...order(8, "error", { Pack: failing({ executionId: "9", workflowId: "pack" }) }),
          workflowVersionId: "beb725d9-12aa-4c1f-8e1e-000000000001"
        },
        {
          ...order(9, "error", { Split: output({ zone: "QX-7" }), Each: failing({}) }, caller("8")),
          workflowData: {
            name: "pack",
            nodes: [node("Split"), node("Each", "n8n-nodes-base.executeWorkflow")],
            connections: {}
          }
        },
        { ...order(10, "error", { Check: output({ zone: "QX-7" }) }, caller("9")), mode: "integrated" },
        { ...order(11, "success", { Take: output({ zone: "QA-1" }) }), workflowVersionId: "v2" }
      ]
      const { byStatus, byVersion, executions, note } = yield* searchRuns({ text: "QX-7", workflowId: "shop" }, runs)
      assert.deepStrictEqual(byStatus, { success: { runs: 1, matched: 0 }, error: { runs: 1, matched: 1 } })
      assert.deepInclude<unknown>(executions?.[0], { id: "8", version: "beb725d9", matched: 2 })
      assert.deepStrictEqual(Object.entries(byVersion ?? {}), [
        ["v2", { runs: 1, matched: 0, firstRun: "2026-11-20T00:11:00.000Z" }],
        ["beb725d9", { runs: 1, matched: 1, firstRun: "2026-11-20T00:08:00.000Z" }]
      ])
      assert.isUndefined(note, "execution 10 names execution 9 as its caller")
      const last = yield* searchRuns({ text: "QX-7", workflowId: "pack", last: 1 }, runs)
      assert.strictEqual(last.note, "Older runs were not searched.")
      assert.deepInclude<unknown>(last.executions?.[0], { id: "10", calledBy: "9" })
      assert.notProperty(last.executions?.[0], "version")
    }))

  it.effect("counts the items of an execution once, though it was chosen and also called", () =>
    Effect.gen(function*() {
      const { byStatus, matched, matches, runs, scanned } = yield* searchRuns({ text: "倉庫" })
      assert.deepStrictEqual(runs, { searched: 5, matched: 3, complete: true })
      assert.deepStrictEqual(byStatus, { error: { runs: 2, matched: 1 }, success: { runs: 3, matched: 2 } })
      assert.deepStrictEqual([matched, scanned, matches.length], [1, 36, 1])
    }))

  it.effect("continues where a search ended, and says what it could not see", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 50 }, (_, index) => order(index + 1, "success", { Take: output({ n: index }) }))
      const first = yield* searchRuns({ where: "n >= 0" }, many)
      assert.deepStrictEqual([first.runs, first.matched], [{ searched: 20, matched: 20, complete: false }, 20])
      const second = yield* searchRuns({ ...first.next }, many)
      assert.deepStrictEqual([second.runs, second.byStatus], [first.runs, undefined])
      const third = yield* searchRuns({ ...second.next, last: 200, limit: 50 }, many)
      assert.deepStrictEqual([third.runs, third.next], [{ searched: 30, matched: 30, complete: true }, undefined])
      const all = [first, second, third].flatMap(({ matches }) => matches.map(({ item }) => obj(item?.json)?.["n"]))
      assert.deepStrictEqual(all, Array.from({ length: 50 }, (_, index) => 49 - index))
      const hidden = yield* searchRuns({ text: "sku", nodes: ["Take", "Tske"] }, [
        order(1, "success", { Take: output({}) }, { data: { redactionInfo: { isRedacted: true } } }),
        order(2, "success", {})
      ])
      assert.strictEqual(
        hidden.note,
        "n8n itself hides the items of 1 run. n8n has no data for 1 run. No run has a node 'Tske'. Did you mean 'Take'?"
      )
      const running = yield* searchRuns({ text: "sku", status: "running" })
      assert.deepStrictEqual([running.matched, running.note], [
        1,
        "Not ended yet: 1 run, searched as far as n8n shows data."
      ])
    }))

  it.effect("draws no conclusion from items that n8n hides, and groups their failures by kind", () =>
    Effect.gen(function*() {
      const error = { name: "NodeApiError", message: "Card 4242 declined", httpCode: "402", node: { name: "Pay" } }
      const hide = (execution: N8nApi.Execution): N8nApi.Execution => ({
        ...execution,
        workflowData: { ...execution["workflowData"] as object, settings: { redactionPolicy: "all" } }
      })
      const hidden = [1, 2].map((id) =>
        hide(order(id, "error", { Take: output({ sku: "B" }) }, {
          data: { resultData: { error, lastNodeExecuted: "Pay", runData: { Take: output({ sku: "B" }) } } }
        }))
      )
      const search = yield* searchRuns({ where: "sku === 'C'" }, hidden)
      assert.deepStrictEqual([search.matched, search.note], [0, "n8n itself hides the items of 2 runs."])
      const one = yield* searchRuns({ where: "sku === 'C'", id: "1" }, hidden)
      assert.match(one.note ?? "", /^n8n hides the items of execution '1' \(redaction\)\. Counts/)
      const { groups = [] } = yield* tools.listExecutions.call({ groupBy: "failure" }).pipe(
        Effect.provide(Layer.mergeAll(
          FakeN8n.layer({ workflows: [], executions: hidden }),
          Executions.layer()
        ))
      )
      assert.lengthOf(groups, 1)
      assert.deepInclude(groups[0], { node: "Pay", message: "n8n hides the message of this error", count: 2 })
      assert.notInclude(JSON.stringify(groups), "4242")
    }))

  it.effect("explains why nothing matches", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        (yield* searchRuns({ where: "stcok === 0", workflowId: "shop" })).note,
        "No item here has stcok; nearest: stock."
      )
      assert.strictEqual(
        (yield* searchRuns({ where: "stock === '0'", workflowId: "shop" })).note,
        "Nothing matches; the first values: stock 0."
      )
      const partial = [{ paid: true }, { customer: { name: "Ito", city: "Kobe" } }, { customer: "unknown" }]
        .map((json, index) => order(index + 1, "success", { Take: output(json) }))
      assert.strictEqual(
        (yield* searchRuns({ where: "$json.customer.nme === 'Ito'" }, partial)).note,
        "No item here has customer.nme; nearest: customer.name, customer, customer.city."
      )
      const none = yield* searchRuns({ text: "x", workflowId: "none" })
      assert.deepStrictEqual([none.runs, none.matched], [{ searched: 0, matched: 0, complete: true }, 0])
      assert.strictEqual(none.note, "n8n has no workflow 'none': list_workflows lists the ids.")
      const both = yield* Effect.flip(searchRuns({ text: "x", id: "1", last: 3 }))
      assert.deepInclude(both, { _tag: "ValidationError", field: "last" })
    }))

  it.effect("reads a run that was still going again, and each other run once", () =>
    Effect.gen(function*() {
      const fake = yield* FakeN8n.FakeN8n
      const reads = Effect.map(fake.requests, (all) => all.filter(({ url }) => url.includes("includeData")).length)
      const search = (query: object) => tools.searchExecution.call({ text: "late", ...query })
      assert.deepInclude(yield* search({ status: "running" }), { matched: 0, scanned: 1 })
      yield* fake.addExecution(order(7, "success", { Take: output({ sku: "D" }), Ship: output({ state: "late" }) }))
      const first = yield* search({})
      assert.deepStrictEqual([first.matched, first.runs?.matched], [1, 1])
      const before = yield* reads
      assert.deepStrictEqual(yield* search({}), first)
      // The pruned execution is requested again.
      assert.strictEqual((yield* reads) - before, 1)
    }).pipe(Effect.provide(Layer.mergeAll(
      FakeN8n.layer({ workflows: [], executions: shop }),
      Executions.layer(),
      catalogue
    ))))

  it.effect("lists the fields of items without a condition, and marks the list of runs", () =>
    Effect.gen(function*() {
      const many = Array.from(
        { length: 12 },
        (_, index) =>
          order(index + 1, index % 2 === 0 ? "success" : "error", {
            Take: output({ n: index, other: "x" }),
            End: output({})
          })
      )
      const all = yield* searchRuns({ fields: ["n"], limit: 1 }, many)
      const { byStatus, executions, matches, next, nodes } = all
      assert.deepStrictEqual(byStatus, { error: { runs: 6, matched: 6 }, success: { runs: 6, matched: 6 } })
      assert.deepStrictEqual([executions?.length, matches.length, nodes.length], [1, 1, 2])
      const [mark] = marksIn(all)
      assert.deepInclude(mark, { path: "executions", kept: 1, total: 12 })
      const rest = yield* searchRuns({ ...parseCall(mark?.next ?? "").args, limit: 50 }, many)
      assert.deepStrictEqual(rest.executions?.map(({ id }) => Number(id)), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
      assert.deepStrictEqual(matches[0]?.item, { json: { n: 11 } })
      assert.isDefined(next)
      const { matched } = yield* search({ limit: 2 })
      assert.strictEqual(matched, 603)
    }))

  it.effect("lists without a condition the newest runs, each with the items of its last node", () =>
    Effect.gen(function*() {
      const many = Array.from(
        { length: 25 },
        (_, index) =>
          order(index + 1, "success", {
            Hook: output({ headers: { host: "a" }, body: "x".repeat(2_000) }),
            End: [run(1, { main: [items({ orderNo: `A-${index}`, total: index })] })]
          })
      )
      const answer = yield* Effect.provide(
        tools.searchExecution.run({}),
        Layer.mergeAll(FakeN8n.layer({ workflows: [], executions: many }), Executions.layer(), catalogue)
      )
      assert.isAtMost(countTokens(JSON.stringify(answer.data)), 900)
      assert.strictEqual(answer.message, "20 items, in 20 of 20 runs; 10 shown: next continues")
      const { matches, nodes, note, runs } = answer.data as Effect.Success<
        ReturnType<typeof tools.searchExecution.call>
      >
      assert.deepStrictEqual([runs?.complete, note], [false, "Older runs were not searched: next."])
      assert.deepStrictEqual<unknown>(nodes, [{ node: "End", matched: 20 }])
      assert.deepStrictEqual(
        matches.map(({ execution, node, status }) => [execution, node, status]),
        Array.from({ length: 10 }, (_, index) => [String(25 - index), "End", "success"])
      )
      const large = many.map((each) =>
        order(Number(each.id), "success", { End: output({ text: "word ".repeat(400) }) })
      )
      const { matches: some, next } = yield* searchRuns({}, large)
      assert.isAtLeast(some.length, 1)
      assert.isDefined(next)
    }))

  it.effect("counts the matches of all nodes, whichever few it shows", () =>
    Effect.gen(function*() {
      const amounts = Array.from({ length: 50 }, (_, amount) => ({ amount }))
      const three = document(
        Object.fromEntries(["A", "B", "C"].map((name, index) => [name, [run(index, { main: [items(...amounts)] })]])),
        { nodes: ["A", "B", "C"].map((name) => node(name)) }
      )
      const { nodes } = yield* search({ where: "amount >= 0", limit: 2 }, three)
      assert.deepStrictEqual<unknown>(nodes, ["A", "B", "C"].map((node) => ({ node, matched: 50 })))
    }))

  it.effect("lists all nodes of the workflow that did not run, or returned nothing", () =>
    Effect.gen(function*() {
      const runs = {
        A: [run(0, { main: [items({ n: 1 })] })],
        B: [run(1, { main: [[]] })],
        Broken: [{ ...run(2, { main: [[]] }), executionStatus: "error", error: { message: "no" } }]
      }
      const some = document(runs, {
        nodes: [node("A"), node("B"), node("Broken"), node("C"), node("D"), node("Note", "n8n-nodes-base.stickyNote")]
      })
      const ask = (args: { readonly without: "items" | "runs" }) =>
        Effect.provide(tools.searchExecution.answer({ id: "77", ...args }), holding(some))
      const absent = yield* ask({ without: "runs" })
      assert.strictEqual(absent.message, "2 of 5 nodes did not run")
      assert.deepStrictEqual<unknown>(absent.data.matches, [{ node: "C" }, { node: "D" }])
      assert.deepStrictEqual<unknown>((yield* ask({ without: "items" })).data.matches, [
        { node: "B" },
        { node: "Broken", status: "error" }
      ])
    }))

  it.effect("finds runs in which a node returned no items, and others in which it did not run", () =>
    Effect.gen(function*() {
      const seen = [
        order(1, "success", { Take: output({ n: 1 }), Send: output({}) }),
        order(2, "success", { Take: [run(0, { main: [[]] })] }),
        order(3, "error", { Take: output({ n: 1 }), Send: [run(1, { main: [[], []] }), run(2, { main: [[]] })] }),
        order(4, "success", {})
      ].map((each) => ({
        ...each,
        workflowData: { ...each["workflowData"] as object, nodes: [node("Take"), node("Send")] }
      }))
      const ask = (without: "items" | "runs", more: object = {}) =>
        searchRuns({ without, nodes: ["Take", "Send"], ...more }, seen)
      const empty = yield* ask("items")
      assert.deepStrictEqual<unknown>(empty.matches, [{ execution: "3", node: "Send" }, {
        execution: "2",
        node: "Take"
      }])
      assert.deepStrictEqual(empty.byStatus, { success: { runs: 3, matched: 1 }, error: { runs: 1, matched: 1 } })
      const absent = yield* ask("runs")
      assert.deepStrictEqual<unknown>(absent.matches, [{ execution: "2", node: "Send" }])
      assert.include(absent.note, "n8n has no data for 1 run")
      const first = yield* ask("items", { limit: 1 })
      const second = yield* searchRuns({ ...first.next }, seen)
      assert.deepStrictEqual<unknown>([...first.matches, ...second.matches], empty.matches)
      const answer = yield* Effect.provide(
        tools.searchExecution.run({ id: "77", without: "runs", nodes: ["Send", "Orders"] }),
        holding(execution)
      )
      assert.strictEqual(answer.message, "1 of 2 nodes did not run")
    }))

  it.effect("shows of a long text a piece around the match", () =>
    Effect.gen(function*() {
      const long = `${"a".repeat(6_000)} needle ${"b".repeat(6_000)}`
      const shop = [order(1, "success", { Take: output({ long, other: "c".repeat(500), short: "needle" }) })]
      const json = obj((yield* searchRuns({ text: "NEEDLE" }, shop)).matches[0]?.item?.json)
      assert.match(String(json?.["long"]), /^…a{50,60} needle b{50,60}…$/)
      assert.strictEqual(json?.["other"], `${"c".repeat(120)}…`)
      assert.strictEqual(json?.["short"], "needle")
      const whole = yield* searchRuns({ text: "needle", fields: ["long"] }, shop)
      assert.deepStrictEqual<unknown>(whole.matches[0]?.item?.json, { long })
    }))

  const Shape = Schema.Struct({
    items: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))).check(Schema.isMaxLength(9)),
    last: Schema.Literals([2, 3, 20]),
    limit: Schema.Literals([1, 2, 7, 50]),
    width: Schema.Literals([1, 100, 4_000]),
    isOne: Schema.Boolean
  })
  it.effect.prop("leaves no match out, page by page, nor shows one twice", { shape: Arbitrary.schema(Shape) }, ({
    shape: { isOne, items: counts, last, limit, width }
  }) =>
    Effect.gen(function*() {
      const all = (isOne ? [counts.reduce((sum, count) => sum + count, 0)] : counts).map((count, index) =>
        order(index + 1, "success", {
          Take: output(...Array.from({ length: count }, (_, n) => ({ n, text: "x".repeat(width) }))),
          More: [run(1, { main: [items(...Array.from({ length: count }, (_, n) => ({ n, more: true })))] })]
        })
      )
      const expected = all.flatMap(({ id }) =>
        ["Take", "More"].flatMap((node) => {
          const index = Number(id) - 1
          const count = isOne ? counts.reduce((sum, count) => sum + count, 0) : counts[index] ?? 0
          return Array.from({ length: count }, (_, n) => `${isOne ? "" : id} ${node} ${n}`)
        })
      )
      const seen: Array<string> = []
      let args: object | undefined = isOne
        ? { id: "1", where: "n >= 0", limit, fields: ["n", "text"] }
        : { workflowId: "shop", where: "n >= 0", limit, last: 200, fields: ["n", "text"] }
      if (!isOne) args = { ...args, last }
      for (let pages = 0; args !== undefined && pages < 300; pages++) {
        const page: Effect.Success<ReturnType<typeof searchRuns>> = yield* searchRuns(args, all)
        seen.push(...page.matches.map(({ execution = "", index, node }) => `${execution} ${node} ${index}`))
        args = page.next
      }
      const within = isOne ? expected : expected.filter((key) => Number(key.split(" ")[0]) > counts.length - last)
      assert.deepStrictEqual(seen.toSorted(), within.toSorted())
    }), { arbitrary: { runs: rounds(15) } })

  it.effect.prop("has no list that is shorter than its count without a mark", { shape: Arbitrary.schema(Shape) }, ({
    shape: { isOne, items: counts, last, limit, width }
  }) =>
    Effect.gen(function*() {
      const all = counts.map((count, index) =>
        order(
          index + 1,
          "success",
          Object.fromEntries(
            Array.from({ length: 60 }, (_, place) => [
              `${"Node ".repeat(width / 100)}${place}`,
              [run(place, { main: [items(...Array.from({ length: count }, (_, n) => ({ n })))] })]
            ])
          )
        )
      )
      const query = isOne && all.length > 0 ? { id: "1" } : { last, workflowId: "shop" }
      for (const condition of [{ where: "n >= 0" }, {}, { without: "runs" }]) {
        const answer = yield* searchRuns({ ...query, ...condition, limit }, all)
        const marks = new Map(marksIn(answer).map(({ path, total }) => [path, total]))
        const { executions, matched, matches, next, nodes, runs } = answer
        if (!marks.has("nodes")) {
          assert.strictEqual(nodes.reduce((sum, { matched }) => sum + matched, 0), matched)
        }
        if (executions !== undefined) {
          assert.strictEqual(marks.get("executions") ?? executions.length, runs?.matched)
        }
        if (matches.length < matched) assert.isTrue(next !== undefined || marks.has("matches"))
      }
    }), { arbitrary: { runs: rounds(10) } })
})
