import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { marksIn } from "../../src/answer/Truncated.ts"
import * as Executions from "../../src/executions/Executions.ts"
import type { ExecutionSummary } from "../../src/executions/ExecutionSummary.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { getExecution } from "../../src/tools/executions/getExecution.ts"
import { catalogue } from "../support/catalogue.ts"
import * as fixtures from "../support/scenarios/recorded.ts"
import { rounds } from "../support/seed.ts"
import { ask, build, document, failed, from, holding, items, node, parseCall, Recipe, recount, run } from "./runData.ts"

const recorded = Layer.mergeAll(FakeN8n.layer(fixtures.seed), Executions.layer(), catalogue)

const tokens = (value: unknown) => countTokens(JSON.stringify(value))

const summaryOf = (execution: N8nApi.Execution, nodeOffset = 0) =>
  ask(getExecution, { id: execution.id, nodeOffset }).pipe(
    Effect.map(({ data }) => data),
    Effect.provide(holding(execution))
  )

const rowsOf = ({ availableNodes }: ExecutionSummary) =>
  availableNodes.map(({ errorItems, items, nodeName, runs, status }) => [nodeName, status, items, runs, errorItems])

/** Follows the calls that the marks name until none is left. */
const walk = Effect.fnUntraced(function*(execution: N8nApi.Execution) {
  const names: Array<string> = []
  let nodeOffset: number | undefined = 0
  while (nodeOffset !== undefined) {
    const summary: ExecutionSummary = yield* summaryOf(execution, nodeOffset)
    names.push(...summary.availableNodes.map(({ nodeName }) => nodeName))
    const mark = marksIn(summary).find(({ path }) => path === "availableNodes")
    if (mark === undefined) return names
    assert.strictEqual(mark.kept, summary.availableNodes.length)
    const { args, tool } = parseCall(mark.next ?? assert.fail("no call"))
    assert.deepStrictEqual([tool, args["id"]], ["get_execution", execution.id])
    assert.strictEqual(args["nodeOffset"], nodeOffset + mark.kept)
    assert.isAbove(mark.kept, 0)
    nodeOffset = nodeOffset + mark.kept
  }
  return names
})

layer(recorded)("recorded executions", (it) => {
  const summary = (name: fixtures.Name) =>
    Effect.map(ask(getExecution, { id: fixtures.executionId(name), nodeOffset: 0 }), ({ data }) => data)

  it.effect("branch: counts over all outputs, the last to run first", () =>
    Effect.gen(function*() {
      const { availableNodes: _, ...data } = yield* summary("branch")
      assert.deepStrictEqual(rowsOf(yield* summary("branch")), [
        ["Evens", "success", 5, undefined, undefined],
        ["Odds", "success", 5, undefined, undefined],
        ["Even?", "success", 10, undefined, undefined],
        ["Ten Items", "success", 10, undefined, undefined],
        ["Webhook", "success", 1, undefined, undefined]
      ])
      const counts = { totalNodes: 5, executedNodes: 5, successfulNodes: 5, failedNodes: 0, totalItemsProcessed: 31 }
      const workflow = { workflowId: "9qUfz6pVkyTjlo9d", workflowName: "Branching: IF with two outputs" }
      const head = { id: "3", ...workflow, status: "success", mode: "webhook", duration: 140 }
      assert.deepInclude(data, { ...head, statistics: { ...counts, time: 140 } })
      for (const key of ["failure", "waitTill"]) assert.notProperty(data, key)
    }))

  it.effect("fail: the failing node and its error; n8n does not say which item failed", () =>
    Effect.gen(function*() {
      const data = yield* summary("fail")
      assert.deepStrictEqual<unknown>(data.failure, {
        node: "Boom",
        nodeType: "n8n-nodes-base.code",
        error: { name: "WrappedExecutionError", message: "boom here [line 1]", lineNumber: 1 },
        inputCount: 120,
        itemUnknown: true
      })
      assert.include(data._guidance?.message, "120 input items")
      assert.deepStrictEqual(rowsOf(data)[0], ["Boom", "error", 0, undefined, undefined])
      assert.deepInclude(data.statistics, { successfulNodes: 2, failedNodes: 1, totalItemsProcessed: 121 })
      const { args, tool } = parseCall(data._guidance?.example ?? "")
      assert.strictEqual(tool, "get_execution_by_node")
      assert.deepStrictEqual<unknown>(args, { id: "5", nodeName: "Boom" })
    }))

  it.effect("httpFail: code and words, neither stack nor request", () =>
    Effect.gen(function*() {
      const data = yield* summary("httpFail")
      assert.deepStrictEqual<unknown>(data.failure?.error, {
        name: "NodeApiError",
        message: "The service refused the connection - perhaps it is offline",
        httpCode: "ECONNREFUSED",
        messages: ["connect ECONNREFUSED 127.0.0.1:9"],
        itemIndex: 0
      })
      assert.strictEqual(data.failure?.node, "HTTP Request")
      assert.deepInclude(data.failure?.inputItem, { body: { a: 1 } })
      assert.notMatch(JSON.stringify(data), /node_modules|rejectUnauthorized|sk-live|canary/)
    }))

  it.effect("wait: until when", () =>
    Effect.gen(function*() {
      const data = yield* summary("wait")
      assert.deepInclude(data, { status: "waiting", waitTill: "2026-11-21T22:09:56.059Z" })
      assert.deepStrictEqual(rowsOf(data)[0], ["Wait", "waiting", 1, undefined, undefined])
      assert.deepInclude(data.statistics, { executedNodes: 2, successfulNodes: 1, failedNodes: 0 })
    }))
})

describe("remaining notes", () => {
  const [ran, badRow] = [{ main: [items({})] }, { message: "bad row" }]
  const [before, where] = [{ name: "WorkflowOperationError", message: "The workflow has issues" }, [from("Rows")]]
  const lost = {
    status: "crashed",
    result: { error: { message: "out of memory" }, lastNodeExecuted: "Huge" },
    nodes: [node("A"), node("B"), node("Huge", "n8n-nodes-base.merge")]
  }
  const huge = { node: "Huge", nodeType: "n8n-nodes-base.merge", error: { message: "out of memory" } }
  const second = { message: "bad row", context: { itemIndex: 1 } }
  const looped = {
    Rows: [run(0, { main: [items({ row: 1 }, { row: 2 })] }), run(2, { main: [items({ row: 3 }, { row: 4 })] })],
    Insert: [run(1, ran, { source: where }), failed(3, second, { source: [from("Rows", 0, 1)] })]
  }
  const blamed = { runIndex: 1, error: { message: "bad row", itemIndex: 1 }, inputItem: { row: 4 } }
  const insert = (...rows: ReadonlyArray<unknown>) =>
    document({ Rows: [run(0, { main: [items(...rows)] })], Insert: [failed(1, badRow, { source: where })] }, {
      status: "error"
    })
  const failing = { status: "error" }
  const gone = [undefined, null, {}, { resultData: {} }, { resultData: { runData: null } }, "text", []]
  const anyNote = /.*/

  it.effect.each<[what: string, execution: N8nApi.Execution, failure: object | undefined, note: RegExp, next?: string]>(
    [
      ...gone.map((data) =>
        [
          `canceled before anything was stored (${JSON.stringify(data)})`,
          document(undefined, { status: "canceled", data, nodes: [node("A")] }),
          undefined,
          /has no data for this execution/,
          "get_workflow(id: 'wf1', raw: true)"
        ] as [string, N8nApi.Execution, undefined, RegExp, string]
      ),
      [
        "that still runs",
        document({}, { status: "running", stoppedAt: null }),
        undefined,
        /not ended/,
        "get_execution(id: '77', wait: 30)"
      ],
      [
        "that failed before any node ran",
        document({}, { ...failing, result: { error: { ...before, stack: "at x" } } }),
        { error: before },
        /No node ran/
      ],
      [
        "that failed in a node that left no run, after others did",
        document({ A: [run(0, ran)], B: [run(1, ran)] }, lost),
        huge,
        /^(?!.*No node ran)/,
        "get_execution_by_node(id: '77', nodeName: 'B')"
      ],
      [
        "one of whose runs failed: which, and the item that n8n blames",
        document(looped, failing),
        { node: "Insert", ...blamed },
        anyNote
      ],
      [
        "with one item: it is the one",
        insert({ row: 1 }),
        { node: "Insert", error: badRow, inputItem: { row: 1 } },
        anyNote
      ],
      [
        "with two: n8n does not say which",
        insert({ row: 1 }, { row: 2 }),
        { node: "Insert", error: badRow, inputCount: 2, itemUnknown: true },
        anyNote
      ],
      ["without items", insert(), { node: "Insert", error: badRow }, anyNote]
    ]
  )("of an execution %s", ([, execution, failure, note, next]) =>
    Effect.gen(function*() {
      const summary = yield* summaryOf(execution)
      assert.deepStrictEqual<unknown>(summary.failure, failure)
      assert.match(summary._guidance?.message ?? "", note)
      if (next !== undefined) assert.strictEqual(summary._guidance?.example, next)
      if (execution.status === "running") assert.doesNotHaveAnyKeys(summary, ["duration", "stoppedAt"])
      if (execution.status !== "canceled") return
      assert.deepStrictEqual(summary.availableNodes, [])
      assert.deepInclude(summary.statistics, { totalNodes: 1, executedNodes: 0, totalItemsProcessed: 0 })
    }))

  describe("of values that the code did not expect: the items that fit what the error names", () => {
    const nulls = "Cannot read properties of null (reading 'trim') [line 2]"
    const rows = [{ no: 1, note: null, email: "a" }, { no: 2, note: null, email: null }, { no: 3, email: "c", note: 1 }]
    const inner = [{ customer: { name: "A" } }, { customer: { name: null } }]
    const customers = [{ no: 1, note: "a", ...inner[0] }, { no: 2, note: "b" }, { no: 3, note: null, ...inner[1] }]
    const urls = ["https://a.example", "nope", "https://b.example"].map((url, no) => ({
      no,
      url,
      token: `t-${no}-canary`
    }))

    it.effect.each<[message: string, rows: ReadonlyArray<object>, where: string | undefined]>([
      [nulls, rows, "email == null"],
      ["the note is missing", rows, "note == null"],
      // The field whose values have the property, not the one that the fewest lack.
      [
        "Cannot read properties of undefined (reading 'name')",
        [...customers, { no: 4, note: "d" }],
        "customer == null"
      ],
      [nulls, [...customers, { no: 4, note: "d" }], "note == null"],
      [nulls, inner, "customer.name == null"],
      // The value that the error mentions, unless it is a secret.
      ["Invalid URL: nope?from=1. URL must start with \"http\"", urls, "url === \"nope\""],
      ["no 2 is out of range", urls, "no === 2"],
      ["The token t-1-canary is wrong", urls, undefined],
      // A condition that no item meets, or each, selects nothing.
      [nulls, [{ no: 1, note: null }, { no: 2, note: null }], undefined],
      ["no is out of range", rows, undefined]
    ])("%s", ([message, rows, where]) =>
      Effect.gen(function*() {
        const { _guidance, failure } = yield* summaryOf(document({
          Rows: [run(0, { main: [items(...rows)] })],
          Code: [failed(1, { message }, { source: [from("Rows")] })]
        }, { status: "error" }))
        assert.strictEqual(parseCall(_guidance?.example ?? "").args["where"], where)
        assert.strictEqual(failure?.suspects?.where, where)
        if (rows !== inner) return
        const shown = [{ index: 1, json: inner[1] }]
        assert.deepStrictEqual<unknown>(failure?.suspects, { where, matched: 1, items: shown })
        assert.include(_guidance?.message, "suspects are those that fit the error")
      }))
  })

  it.effect("of more suspects than are shown, among more items than are read", () =>
    Effect.gen(function*() {
      const rows = Array.from({ length: 1_200 }, (_, no) => ({ no, email: no % 100 === 7 ? null : "a@b.example" }))
      const { failure } = yield* summaryOf(document({
        Rows: [run(0, { main: [items(...rows)] })],
        Mail: [failed(1, { message: "email is required" }, { source: [from("Rows")] })]
      }, { status: "error" }))
      assert.deepInclude<unknown>(failure?.suspects, { where: "email == null", matched: 10, searched: 1_000 })
      assert.deepStrictEqual(failure?.suspects?.items.map(({ index }) => index), [7, 107, 207])
    }))

  it.effect("of a run whose items n8n hides: the counts and the kind of error, and no conclusions", () =>
    Effect.gen(function*() {
      const error = { name: "NodeApiError", message: "secret of canary", httpCode: "422", context: { itemIndex: 1 } }
      const rows = items({ email: null, name: "canary" }, { email: "canary" })
      const shown = document({
        Rows: [run(0, { main: [rows] })],
        Code: [failed(1, error, { source: [from("Rows")] })]
      }, { status: "error", result: { error } })
      const hidden = {
        ...shown,
        workflowData: { ...shown["workflowData"] as object, settings: { redactionPolicy: "non-manual" } }
      }
      const data = yield* summaryOf(hidden)
      assert.strictEqual(data.redacted, true)
      assert.deepStrictEqual<unknown>(data.failure, {
        node: "Code",
        error: { name: "NodeApiError", message: "n8n hides the message of this error", httpCode: "422" },
        inputCount: 2,
        itemUnknown: true
      })
      assert.deepStrictEqual(rowsOf(data), [["Code", "error", 0, undefined, undefined], [
        "Rows",
        "success",
        2,
        undefined,
        undefined
      ]])
      assert.notInclude(JSON.stringify(data), "canary")
      assert.notProperty(yield* summaryOf({ ...hidden, mode: "manual" }), "redacted")
    }))

  it.effect("of time: each node's over all its runs, the slowest first where that is asked", () =>
    Effect.gen(function*() {
      const slow = { executionTime: 300 }
      const looped = document({
        Start: [run(0, { main: [items({})] }, { executionTime: 400 })],
        Loop: [1, 2, 3].map((order) => run(order, { main: [items({})] }, slow)),
        End: [run(4, { main: [items({})] })]
      })
      const rows = (more: object) =>
        ask(getExecution, { id: "77", nodeOffset: 0, ...more }).pipe(
          Effect.map(({ data }) => data.availableNodes.map(({ nodeName, runs, time }) => [nodeName, time, runs])),
          Effect.provide(holding(looped))
        )
      const [loop, start, end] = [["Loop", 900, 3], ["Start", 400, undefined], ["End", 5, undefined]]
      assert.deepStrictEqual(yield* rows({}), [end, loop, start])
      assert.deepStrictEqual(yield* rows({ sortBy: "time" }), [loop, start, end])
      assert.deepStrictEqual(yield* rows({ sortBy: "time", nodeOffset: 1 }), [start, end])
    }))

  it.effect("of sub-workflows: who called it, and the first it called", () =>
    Effect.gen(function*() {
      const called = (executionId: string) => ({ subExecution: { executionId, workflowId: "wf2" } })
      const each = Array.from({ length: 5 }, (_, index) => ({ json: {}, metadata: called(`${100 + index}`) }))
      const data = {
        parentExecution: { executionId: "12", workflowId: "wf0" },
        resultData: {
          runData: {
            Once: [run(0, { main: [items({})] }, { metadata: { ...called("99"), subExecutionsCount: 1 } })],
            Each: [
              run(1, { main: [each.slice(0, 2)] }, { metadata: { subExecutionsCount: 2 } }),
              run(2, { main: [each.slice(2)] }, { metadata: { subExecutionsCount: 3 } })
            ],
            None: [run(3, { main: [items({})] })]
          }
        }
      }
      const summary = yield* summaryOf(document(undefined, { data }))
      assert.deepStrictEqual(summary.calledBy, { executionId: "12", workflowId: "wf0" })
      assert.deepStrictEqual(summary.availableNodes.map(({ calls, nodeName }) => [nodeName, calls]), [
        ["None", undefined],
        ["Each", { count: 5, ids: ["100", "101", "102"] }],
        ["Once", { count: 1, ids: ["99"] }]
      ])
    }))

  it.effect("of a sub-workflow that failed: its run is the next step", () =>
    Effect.gen(function*() {
      const error = { message: "No zone", executionId: "99", workflowId: "wf2", node: { name: "Check" } }
      const failed = run(0, {}, { error, executionStatus: "error" })
      const summary = yield* summaryOf(document({ Pack: [failed] }, { status: "error" }))
      assert.strictEqual(summary.failure?.node, "Pack")
      assert.deepStrictEqual(summary.availableNodes[0]?.calls, { count: 1, ids: ["99"] })
      assert.strictEqual(summary._guidance?.example, "get_execution(id: '99')")
    }))

  it.effect("of the version that ran: whether it is the one that is published", () =>
    Effect.gen(function*() {
      const versionOf = (workflowVersionId: string | undefined, activeVersionId: string | null) => {
        const execution = { ...document({ A: [run(0, { main: [items({})] })] }), workflowVersionId }
        const workflow = { id: "wf1", name: "Orders", nodes: [], connections: {}, active: true, activeVersionId }
        const n8n = FakeN8n.layer({ workflows: [workflow], executions: [execution] })
        return ask(getExecution, { id: "77", nodeOffset: 0 }).pipe(
          Effect.map(({ data }) => data.version),
          Effect.provide(Layer.mergeAll(n8n, Executions.layer(), catalogue))
        )
      }
      assert.deepStrictEqual(yield* versionOf("v1", "v1"), { id: "v1", published: true })
      assert.deepStrictEqual(yield* versionOf("v1", "v2"), { id: "v1", published: false })
      assert.isUndefined(yield* versionOf(undefined, "v2"))
      // The workflow cannot be read any more.
      const gone = { ...document({ A: [run(0, { main: [items({})] })] }), workflowVersionId: "v1" }
      assert.deepStrictEqual((yield* summaryOf(gone)).version, { id: "v1" })
    }))

  it.effect("of a workflow whose data is gone: the name that it has now", () =>
    Effect.gen(function*() {
      const bare = { ...document({ A: [run(0, { main: [items({})] })] }), workflowData: undefined }
      const n8n = FakeN8n.layer({
        workflows: [{ id: "wf1", name: "Orders", nodes: [], connections: {}, active: false }],
        executions: [bare]
      })
      const { data } = yield* ask(getExecution, { id: "77", nodeOffset: 0 }).pipe(
        Effect.provide(Layer.mergeAll(n8n, Executions.layer(), catalogue))
      )
      assert.strictEqual(data.workflowName, "Orders")
      assert.deepInclude(data.statistics, { totalNodes: 1, executedNodes: 1 })
      assert.deepInclude(data.availableNodes[0], { nodeName: "A", nodeType: "unknown" })
    }))

  it.effect("of executions from before n8n numbered runs: still the last to run first", () =>
    Effect.gen(function*() {
      const runData = Object.fromEntries(["A", "B", "C"].map((name, index) => {
        const { executionIndex: _, ...rest } = run(index, { main: [items({})] })
        return [name, [rest]]
      }))
      const { _guidance, availableNodes } = yield* summaryOf(document(runData))
      assert.deepStrictEqual(availableNodes.map(({ nodeName }) => nodeName), ["C", "B", "A"])
      assert.strictEqual(parseCall(_guidance?.example ?? "").args["nodeName"], "C")
    }))

  it.effect("of errors that leave by the last of several outputs", () =>
    Effect.gen(function*() {
      const outputs = { main: [items({}), items({}, {}), items({}, {}, {})] }
      const errorItems = (type: string, data: object, more: object = { onError: "continueErrorOutput" }) =>
        Effect.map(
          summaryOf(document({ A: [run(0, data)] }, { nodes: [node("A", type, more)] })),
          ({ availableNodes }) => availableNodes[0]?.errorItems
        )
      assert.strictEqual(yield* errorItems("n8n-nodes-base.if", outputs), 3)
      assert.strictEqual(yield* errorItems("@n8n/n8n-nodes-langchain.textClassifier", outputs), 3)
      assert.isUndefined(yield* errorItems("n8n-nodes-base.if", outputs, {}))
      assert.isUndefined(yield* errorItems("n8n-nodes-base.code", { main: [items({}, {})] }))
    }))

  it.effect("names that look like syntax, in calls that can be read again", () =>
    Effect.gen(function*() {
      for (const name of ["It's", "back\\slash", "\\'", "a', nodeName: 'b", "\"", "日本語\n改行", "__proto__", "12"]) {
        const runData = Object.fromEntries([[name, [failed(0, "broken")]]])
        const { _guidance, failure } = yield* summaryOf(document(runData, { status: "error", nodes: [node(name)] }))
        assert.strictEqual(failure?.node, name)
        assert.strictEqual(parseCall(_guidance?.example ?? "").args["nodeName"], name)
      }
    }))
})

describe("any run data", () => {
  /** Checks what a page says, and that following the calls lists every node once. */
  const check = Effect.fnUntraced(function*(recipe: Recipe) {
    const execution = build(recipe)
    const { nodes, workflowNodes } = recount(execution)
    const { answer, data } = yield* Effect.provide(
      ask(getExecution, { id: "77", nodeOffset: 0 }),
      holding(execution)
    )
    assert.isAtMost(tokens(answer), nodes.length <= 12 ? 1_000 : 2_500)
    const failedNodes = nodes.filter(({ runs }) => runs.some(({ failed, status }) => failed || status === "error"))
    assert.deepInclude(data.statistics, {
      totalItemsProcessed: nodes.reduce((sum, { items }) => sum + items, 0),
      executedNodes: nodes.length,
      failedNodes: failedNodes.length
    })
    if (data.workflowName === "Orders 注文") {
      assert.strictEqual(data.statistics.totalNodes, Math.max(workflowNodes, nodes.length))
    }
    for (const [at, row] of data.availableNodes.entries()) {
      const { items, runs } = nodes.find(({ name }) => name === row.nodeName) ?? assert.fail(row.nodeName)
      assert.deepStrictEqual([row.items, row.runs ?? 1], [items, Math.max(1, runs.length)])
      assert.strictEqual(row.status === "error", at < failedNodes.length)
    }
    const names = yield* walk(execution)
    assert.deepStrictEqual(names.toSorted(), nodes.map(({ name }) => name).toSorted())
    return data.availableNodes.length
  })

  it.effect.prop(
    "is summed up inside the schema and the budget, counted right, and each node listed once over all pages",
    { recipe: Recipe },
    ({ recipe }) => check(recipe),
    { arbitrary: { runs: rounds(30) } }
  )

  it.effect("of 250 nodes has 35 or more on the first page", () =>
    Effect.forEach([1, 2], (seed) =>
      Effect.map(
        check({ seed, nodes: 250, maxRuns: 2, maxItems: 4, failing: true, status: "error", odd: false }),
        (first) => assert.isAtLeast(first, 35)
      ), { discard: true }))
})
