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
import { document, from, items, node, parseCall, run } from "../../executions/runData.ts"
import { catalogue } from "../../support/catalogue.ts"
import { rounds } from "../../support/seed.ts"

const numbers = (length: number) => Array.from({ length }, (_, index) => index)

const orders = numbers(300).map((index) => ({
  orderNo: `A-${index}`,
  amount: index === 217 ? -5 : index,
  customer: { id: `cus_${index % 30}`, apiKey: `canary-${index}` }
}))

const execution = document({
  Orders: [run(0, { main: [items(...orders)] })],
  "Big?": [
    run(1, { main: [items(...orders.slice(200)), items(...orders.slice(0, 200))] }, { source: [from("Orders")] })
  ],
  Loop: [0, 1, 2].map((index) => run(2 + index, { main: [items({ batch: index, 件名: "Ünïcode" })] })),
  None: [run(5, { main: [[]] })]
}, {
  nodes: [
    ...["Orders", "Loop", "Idle", "None"].map((name) => node(name)),
    node("Big?", "n8n-nodes-base.if", { typeVersion: 2.2 })
  ]
})

const world = (executions: ReadonlyArray<N8nApi.Execution>) =>
  Layer.mergeAll(FakeN8n.layer({ workflows: [], executions }), Executions.layer(), catalogue)

const answer = (args: object, executions: ReadonlyArray<N8nApi.Execution>) =>
  Effect.map(Effect.provide(tools.searchExecution.run(args), world(executions)), ({ data, message }) => ({
    ...data as Effect.Success<ReturnType<typeof tools.searchExecution.call>>,
    message
  }))

/** The answer about one execution. */
const search = (args: object, searched = execution) => answer({ id: "77", ...args }, [searched])

const refused = (args: object) => Effect.flip(search(args))

describe("search_execution", () => {
  it.effect("follows a record through all nodes, outputs by name", () =>
    Effect.gen(function*() {
      const json = { orderNo: "A-217", amount: -5 }
      assert.deepStrictEqual<unknown>(yield* search({ text: "a-217", fields: ["orderNo", "amount"] }), {
        message: "2 of 603 items match",
        matched: 2,
        scanned: 603,
        nodes: [{ node: "Orders", matched: 1 }, { node: "Big?", matched: 1 }],
        matches: [
          { node: "Orders", run: 0, output: "main[0]", index: 217, item: { json } },
          { node: "Big?", run: 0, output: "main[0]", name: "true", index: 17, item: { json } }
        ]
      })
      const { message } = yield* search({ where: "amount > 1" })
      assert.strictEqual(message, "594 of 603 items match; 10 shown: next continues")
    }))

  it.effect("takes both conditions together, in any script, and leaves out fields that no one reads", () =>
    Effect.gen(function*() {
      const both = yield* search({ text: "CUS_7", where: "$json.amount > 250", nodes: ["Orders"], limit: 1 })
      assert.deepStrictEqual([both.matched, both.matches.map(({ index }) => index)], [1, [277]])
      assert.deepInclude((yield* search({ where: "batch === 1" })).matches[0], { node: "Loop", run: 1, index: 0 })
      assert.strictEqual((yield* search({ text: "ünï", where: "$json['件名'].length === 7" })).matched, 3)
      const whole = yield* search({ text: "A-217", fields: ["$json.customer.id"] })
      assert.deepStrictEqual<unknown>(whole.matches[0]?.item, { json: { "$json.customer.id": "cus_7" } })
      const call = { headers: { "x-shop": "a", host: "b" }, params: {}, query: {}, body: { id: 1 }, webhookUrl: "u" }
      const webhook = document({ Webhook: [run(0, { main: [items(call)] })] }, { nodes: [node("Webhook")] })
      const { matches } = yield* search({ text: "x-shop" }, webhook)
      assert.deepStrictEqual<unknown>(matches[0]?.item?.json, { ...call, headers: { "x-shop": "a" }, otherHeaders: 1 })
    }))

  it.effect("says why nothing matches, and what could not be searched", () =>
    Effect.gen(function*() {
      const notes: ReadonlyArray<readonly [args: object, note: string, of?: N8nApi.Execution]> = [
        [{ where: "amuont < 0" }, "No item here has amuont; nearest: amount."],
        [{ where: "amuont == null" }, "No item here has amuont"],
        [{ where: "amount === '217'" }, "Nothing matches; the first values: amount 0."],
        [{ where: "orderNo.toFixed(2) === '1.00'", nodes: ["Orders"] }, "where does not fit any of 300 items"],
        [{ text: "A-217", fields: ["orderno"] }, "No match shown has orderno; nearest: orderNo"],
        [{ text: "x", nodes: ["Idle"] }, "Did not run: Idle."],
        [{ text: "x", nodes: ["None"] }, "Without output: None."],
        [{ text: "A-217" }, "running", { ...execution, status: "running", stoppedAt: null }],
        [{ text: "A" }, "n8n has no data for this execution, or no node ran.", document(undefined, { data: null })]
      ]
      for (const [args, note, of] of notes) assert.include((yield* search(args, of)).note, note)
    }))

  it.effect("refuses what it cannot search for, and says what is there", () =>
    Effect.gen(function*() {
      const wrong = ["amount >", "amount.constructor('x')", "$('Orders').first()", "$input.item.json.amount < 0"]
      for (
        const [args, field, says = ""] of [
          ...wrong.map((where) => [{ where }, "where"] as const),
          [{ text: "x", nodes: ["Orders", "big"] }, "nodes", "'Big?'"],
          [{ text: "A-1", fields: ["a..b"] }, "fields"],
          [{ without: "items", nodes: ["Idle"], text: "x" }, "without"],
          [{ text: "x", last: 3 }, "last"]
        ] as const
      ) {
        const error = yield* refused(args)
        assert.deepInclude<unknown>(error, { _tag: "ValidationError", field }, JSON.stringify(args))
        assert.include(JSON.stringify(error.hint), says)
      }
    }))

  it.effect("cannot be used to probe a secret, and says that none is searched or compared", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* search({ where: "customer.apiKey.startsWith('canary')" })).matched, 0)
      const shown = yield* search({ text: "A-217", fields: ["customer.apiKey", "customer"] })
      assert.notInclude(JSON.stringify(shown), "canary")
      assert.notInclude(shown.note ?? "", "Secrets")
      const answers = (token: string) => {
        const jsons = numbers(3).map((index) => ({ id: index, token: `${token}${index}` }))
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
    }))

  it.effect("lists all nodes of the workflow that did not run, or returned nothing", () =>
    Effect.gen(function*() {
      const some = document({
        A: [run(0, { main: [items({ n: 1 })] })],
        B: [run(1, { main: [[]] })],
        Broken: [{ ...run(2, { main: [[]] }), executionStatus: "error", error: { message: "no" } }]
      }, {
        nodes: [...["A", "B", "Broken", "C", "D"].map((name) => node(name)), node("Note", "n8n-nodes-base.stickyNote")]
      })
      const absent = yield* search({ without: "runs" }, some)
      assert.strictEqual(absent.message, "2 of 5 nodes did not run")
      assert.deepStrictEqual<unknown>(absent.matches, [{ node: "C" }, { node: "D" }])
      const empty = (yield* search({ without: "items" }, some)).matches
      assert.deepStrictEqual<unknown>(empty, [{ node: "B" }, { node: "Broken", status: "error" }])
      const named = yield* search({ without: "runs", nodes: ["Idle", "Orders"] })
      assert.strictEqual(named.message, "1 of 2 nodes did not run")
    }))
})

/** An execution of a shop, `minutes` after midnight. */
const order = (
  id: number,
  status: "success" | "error" | "running",
  runData: object,
  { data, workflowId = "shop" }: { readonly workflowId?: string; readonly data?: object } = {}
): N8nApi.Execution => {
  const base = document(runData, { status, nodes: Object.keys(runData).map((name) => node(name)) })
  return {
    ...base,
    id: String(id),
    workflowId,
    startedAt: new Date(Date.UTC(2026, 10, 20, 0, id)).toISOString(),
    data: { resultData: { runData }, ...data },
    workflowData: { ...base["workflowData"] as object, id: workflowId, name: workflowId }
  }
}

const output = (...jsons: ReadonlyArray<object>) => [run(0, { main: [items(...jsons)] })]

const caller = (id: string) => ({
  data: { parentExecution: { executionId: id, workflowId: "shop" } },
  workflowId: "pack"
})

const calling = (executionId: string) => ({ subExecution: { executionId, workflowId: "pack" } })

/** A failed order calls a workflow that calls another, once per item; the second of these was pruned. */
const shop = [
  order(1, "success", { Take: output({ sku: "A", stock: 3 }) }),
  order(2, "error", {
    Take: output({ sku: "B", stock: 0 }),
    Pack: [run(1, { main: [items({ done: true })] }, { metadata: { ...calling("3"), subExecutionsCount: 1 } })]
  }),
  order(3, "success", {
    Each: [run(0, {
      main: [["4", "5"].map((id, at) => ({ json: { 箱: at + 1 }, metadata: calling(id) }))]
    }, { metadata: { subExecutionsCount: 2 } })]
  }, caller("2")),
  order(4, "success", { Box: output({ label: "倉庫 17", apiKey: "canary-1" }) }, caller("3")),
  order(6, "error", { Take: output(...numbers(30).map((n) => ({ sku: "C", stock: 0, n }))) }),
  order(7, "running", { Take: output({ sku: "D", stock: 5 }) })
]

const searchRuns = (args: object, executions: ReadonlyArray<N8nApi.Execution> = shop) => answer(args, executions)

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
      const rows = executions?.map(({ id, matched, status }) => [id, status, matched])
      assert.deepStrictEqual(rows, [["6", "error", 30], ["2", "error", 1]])
      assert.deepInclude(rest, { matched: 31, scanned: 36 })
      assert.deepStrictEqual(rest.nodes, [{ node: "Take", workflow: "shop", matched: 31 }])
      // One of each run first.
      assert.deepStrictEqual(
        matches.map(({ execution, index, item }) => [execution, index, item?.json]),
        [["6", 0, { sku: "C", n: 0 }], ["6", 1, { sku: "C", n: 1 }], ["2", 0, { sku: "B" }]]
      )
    }))

  it.effect("searches executions of sub-workflows three levels deep with the chosen run, and each once", () =>
    Effect.gen(function*() {
      const below = yield* searchRuns({ text: "倉庫", workflowId: "shop", status: "error" })
      assert.deepStrictEqual(below.runs, { searched: 2, matched: 1, complete: true })
      assert.deepStrictEqual(below.byStatus, { error: { runs: 2, matched: 1 } })
      assert.deepStrictEqual(below.executions?.map(({ id, matched }) => [id, matched]), [["2", 1]])
      assert.deepInclude(below.matches[0], { execution: "4", calledBy: "3", node: "Box" })
      assert.notInclude(JSON.stringify(below.matches), "canary")
      assert.isUndefined(below.note, "execution 5 was pruned")
      // Chosen and also called, an execution counts once.
      const { byStatus, matched, matches, runs, scanned } = yield* searchRuns({ text: "倉庫" })
      assert.deepStrictEqual(runs, { searched: 5, matched: 3, complete: true })
      assert.deepStrictEqual(byStatus, { error: { runs: 2, matched: 1 }, success: { runs: 3, matched: 2 } })
      assert.deepStrictEqual([matched, scanned, matches.length], [1, 36, 1])
    }))

  it.effect("searches the run of a sub-workflow that failed, which the error of its caller names", () =>
    Effect.gen(function*() {
      const message = "Error executing workflow with item at index 1"
      const failing = (error: object) => [run(1, {}, { error: { message, ...error }, executionStatus: "error" })]
      const version = "beb725d9-12aa-4c1f-8e1e-000000000001"
      const nodes = [node("Split"), node("Each", "n8n-nodes-base.executeWorkflow")]
      const runs = [
        {
          ...order(8, "error", { Pack: failing({ executionId: "9", workflowId: "pack" }) }),
          workflowVersionId: version
        },
        {
          ...order(9, "error", { Split: output({ zone: "QX-7" }), Each: failing({}) }, caller("8")),
          workflowData: { name: "pack", nodes, connections: {} }
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

  it.effect("continues where a search ended, and says what it could not see", () =>
    Effect.gen(function*() {
      const many = numbers(50).map((n) => order(n + 1, "success", { Take: output({ n }) }))
      const first = yield* searchRuns({ where: "n >= 0" }, many)
      assert.deepStrictEqual([first.runs, first.matched], [{ searched: 20, matched: 20, complete: false }, 20])
      const second = yield* searchRuns({ ...first.next }, many)
      assert.deepStrictEqual([second.runs, second.byStatus], [first.runs, undefined])
      const third = yield* searchRuns({ ...second.next, last: 200, limit: 50 }, many)
      assert.deepStrictEqual([third.runs, third.next], [{ searched: 30, matched: 30, complete: true }, undefined])
      const all = [first, second, third].flatMap(({ matches }) => matches.map(({ item }) => obj(item?.json)?.["n"]))
      assert.deepStrictEqual(all, numbers(50).toReversed())
    }))

  it.effect("says over many runs, too, why nothing matches and what it could not see", () =>
    Effect.gen(function*() {
      const partial = [{ paid: true }, { customer: { name: "Ito", city: "Kobe" } }, { customer: "unknown" }]
        .map((json, index) => order(index + 1, "success", { Take: output(json) }))
      const hidden = [
        order(1, "success", { Take: output({}) }, { data: { redactionInfo: { isRedacted: true } } }),
        order(2, "success", {})
      ]
      const notes: ReadonlyArray<readonly [args: object, note: string, of?: ReadonlyArray<N8nApi.Execution>]> = [
        [{ where: "stcok === 0", workflowId: "shop" }, "No item here has stcok; nearest: stock."],
        [{ where: "stock === '0'", workflowId: "shop" }, "Nothing matches; the first values: stock 0."],
        [
          { where: "$json.customer.nme === 'Ito'" },
          "No item here has customer.nme; nearest: customer.name, customer, customer.city.",
          partial
        ],
        [
          { text: "x", workflowId: "none" },
          "n8n has no workflow 'none'. list_workflows lists the workflows with their ids."
        ],
        [{ text: "sku", status: "running" }, "Not ended yet: 1 run, searched as far as n8n shows data."],
        [
          { text: "sku", nodes: ["Take", "Tske"] },
          "n8n itself hides the items of 1 run. n8n has no data for 1 run. No run has a node 'Tske'. Did you mean 'Take'?",
          hidden
        ]
      ]
      for (const [args, note, of] of notes) assert.strictEqual((yield* searchRuns(args, of)).note, note)
    }))

  it.effect("draws no conclusion from items that n8n hides, and groups their failures by kind", () =>
    Effect.gen(function*() {
      const error = { name: "NodeApiError", message: "Card 4242 declined", httpCode: "402", node: { name: "Pay" } }
      const runData = { Take: output({ sku: "B" }) }
      const hidden = [1, 2].map((id): N8nApi.Execution => {
        const one = order(id, "error", runData, { data: { resultData: { error, lastNodeExecuted: "Pay", runData } } })
        return { ...one, workflowData: { ...obj(one["workflowData"]), settings: { redactionPolicy: "all" } } }
      })
      const all = yield* searchRuns({ where: "sku === 'C'" }, hidden)
      assert.deepStrictEqual([all.matched, all.note], [0, "n8n itself hides the items of 2 runs."])
      const one = yield* searchRuns({ where: "sku === 'C'", id: "1" }, hidden)
      assert.match(one.note ?? "", /^n8n hides the items of execution '1' \(redaction\)\. Counts/)
      const failures = tools.listExecutions.call({ groupBy: "failure" })
      const { groups = [] } = yield* Effect.provide(failures, world(hidden))
      assert.lengthOf(groups, 1)
      assert.deepInclude(groups[0], { node: "Pay", message: "n8n hides the message of this error", count: 2 })
      assert.notInclude(JSON.stringify(groups), "4242")
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
    }).pipe(Effect.provide(world(shop))))

  it.effect("lists the fields of items without a condition, and marks the list of runs", () =>
    Effect.gen(function*() {
      const many = numbers(12).map((n) =>
        order(n + 1, n % 2 === 0 ? "success" : "error", { Take: output({ n, other: "x" }), End: output({}) })
      )
      const all = yield* searchRuns({ fields: ["n"], limit: 1 }, many)
      const { byStatus, executions, matches, next, nodes } = all
      assert.deepStrictEqual(byStatus, { error: { runs: 6, matched: 6 }, success: { runs: 6, matched: 6 } })
      assert.deepStrictEqual([executions?.length, matches.length, nodes.length], [1, 1, 2])
      assert.deepStrictEqual(matches[0]?.item, { json: { n: 11 } })
      assert.isDefined(next)
      const [mark] = marksIn(all)
      assert.deepInclude(mark, { path: "executions", kept: 1, total: 12 })
      const rest = yield* searchRuns({ ...parseCall(mark?.next ?? "").args, limit: 50 }, many)
      assert.deepStrictEqual(rest.executions?.map(({ id }) => Number(id)), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
      assert.strictEqual((yield* search({ limit: 2 })).matched, 603)
    }))

  it.effect("lists without a condition the newest runs, each with the items of its last node, in few tokens", () =>
    Effect.gen(function*() {
      const many = numbers(25).map((total) =>
        order(total + 1, "success", {
          Hook: output({ headers: { host: "a" }, body: "x".repeat(2_000) }),
          End: [run(1, { main: [items({ orderNo: `A-${total}`, total })] })]
        })
      )
      const { matches, message, nodes, note, runs, ...rest } = yield* searchRuns({}, many)
      assert.isAtMost(countTokens(JSON.stringify({ matches, nodes, note, runs, ...rest })), 900)
      assert.strictEqual(message, "20 items, in 20 of 20 runs; 10 shown: next continues")
      assert.deepStrictEqual([runs?.complete, note], [false, "Older runs were not searched: next."])
      assert.deepStrictEqual<unknown>(nodes, [{ node: "End", matched: 20 }])
      assert.deepStrictEqual(
        matches.map(({ execution, node, status }) => [execution, node, status]),
        numbers(10).map((index) => [String(25 - index), "End", "success"])
      )
      const large = many.map(({ id }) => order(Number(id), "success", { End: output({ text: "word ".repeat(400) }) }))
      const few = yield* searchRuns({}, large)
      assert.isAtLeast(few.matches.length, 1)
      assert.isDefined(few.next)
    }))

  it.effect("finds runs in which a node returned no items, and others in which it did not run", () =>
    Effect.gen(function*() {
      const nodes = [node("Take"), node("Send")]
      const seen = [
        order(1, "success", { Take: output({ n: 1 }), Send: output({}) }),
        order(2, "success", { Take: [run(0, { main: [[]] })] }),
        order(3, "error", { Take: output({ n: 1 }), Send: [run(1, { main: [[], []] }), run(2, { main: [[]] })] }),
        order(4, "success", {})
      ].map((each) => ({ ...each, workflowData: { ...obj(each["workflowData"]), nodes } }))
      const ask = (without: "items" | "runs", more: object = {}) =>
        searchRuns({ without, nodes: ["Take", "Send"], ...more }, seen)
      const empty = yield* ask("items")
      const matches = [{ execution: "3", node: "Send" }, { execution: "2", node: "Take" }]
      assert.deepStrictEqual<unknown>(empty.matches, matches)
      assert.deepStrictEqual(empty.byStatus, { success: { runs: 3, matched: 1 }, error: { runs: 1, matched: 1 } })
      const absent = yield* ask("runs")
      assert.deepStrictEqual<unknown>(absent.matches, [{ execution: "2", node: "Send" }])
      assert.include(absent.note, "n8n has no data for 1 run")
      const first = yield* ask("items", { limit: 1 })
      const second = yield* searchRuns({ ...first.next }, seen)
      assert.deepStrictEqual<unknown>([...first.matches, ...second.matches], matches)
    }))

  it.effect("shows of a long text a piece around the match", () =>
    Effect.gen(function*() {
      const long = `${"a".repeat(6_000)} needle ${"b".repeat(6_000)}`
      const shop = [order(1, "success", { Take: output({ long, other: "c".repeat(500), short: "needle" }) })]
      const json = obj((yield* searchRuns({ text: "NEEDLE" }, shop)).matches[0]?.item?.json)
      assert.match(String(json?.["long"]), /^…a{50,60} needle b{50,60}…$/)
      assert.deepInclude(json, { other: `${"c".repeat(120)}…`, short: "needle" })
      const whole = yield* searchRuns({ text: "needle", fields: ["long"] }, shop)
      assert.deepStrictEqual<unknown>(whole.matches[0]?.item?.json, { long })
    }))
})

describe("search_execution in pages", () => {
  const Shape = Schema.Struct({
    items: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))).check(Schema.isMaxLength(9)),
    last: Schema.Literals([2, 3, 20]),
    limit: Schema.Literals([1, 2, 7, 50]),
    width: Schema.Literals([1, 100, 4_000]),
    isOne: Schema.Boolean
  })

  it.effect.prop("leaves no match out nor shows one twice", { shape: Arbitrary.schema(Shape) }, ({
    shape: { isOne, items: counts, last, limit, width }
  }) =>
    Effect.gen(function*() {
      const byRun = isOne ? [counts.reduce((sum, count) => sum + count, 0)] : counts
      const all = byRun.map((count, index) =>
        order(index + 1, "success", {
          Take: output(...numbers(count).map((n) => ({ n, text: "x".repeat(width) }))),
          More: [run(1, { main: [items(...numbers(count).map((n) => ({ n, more: true })))] })]
        })
      )
      const expected = byRun.flatMap((count, index) =>
        isOne || index >= counts.length - last
          ? ["Take", "More"].flatMap((node) => numbers(count).map((n) => `${isOne ? "" : index + 1} ${node} ${n}`))
          : []
      )
      const seen: Array<string> = []
      const query = { where: "n >= 0", limit, fields: ["n", "text"] }
      let args: object | undefined = isOne ? { id: "1", ...query } : { workflowId: "shop", last, ...query }
      for (let pages = 0; args !== undefined && pages < 300; pages++) {
        const page: Effect.Success<ReturnType<typeof searchRuns>> = yield* searchRuns(args, all)
        seen.push(...page.matches.map(({ execution = "", index, node }) => `${execution} ${node} ${index}`))
        args = page.next
      }
      assert.deepStrictEqual(seen.toSorted(), expected.toSorted())
    }), { arbitrary: { runs: rounds(15) } })

  it.effect.prop("has no list that is shorter than its count without a mark", { shape: Arbitrary.schema(Shape) }, ({
    shape: { isOne, items: counts, last, limit, width }
  }) =>
    Effect.gen(function*() {
      const all = counts.map((count, index) => {
        const runs = numbers(60).map((place) => run(place, { main: [items(...numbers(count).map((n) => ({ n })))] }))
        const named = runs.map((run, place) => [`${"Node ".repeat(width / 100)}${place}`, [run]])
        return order(index + 1, "success", Object.fromEntries(named))
      })
      const query = isOne && all.length > 0 ? { id: "1" } : { last, workflowId: "shop" }
      for (const condition of [{ where: "n >= 0" }, {}, { without: "runs" }]) {
        const answer = yield* searchRuns({ ...query, ...condition, limit }, all)
        const marks = new Map(marksIn(answer).map(({ path, total }) => [path, total]))
        const { executions, matched, matches, next, nodes, runs } = answer
        if (!marks.has("nodes")) assert.strictEqual(nodes.reduce((sum, { matched }) => sum + matched, 0), matched)
        if (executions !== undefined) {
          assert.strictEqual(marks.get("executions") ?? executions.length, runs?.matched)
        }
        if (matches.length < matched) assert.isTrue(next !== undefined || marks.has("matches"))
      }
    }), { arbitrary: { runs: rounds(10) } })
})
