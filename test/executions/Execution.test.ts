import { assert, describe, it } from "@effect/vitest"
import { obj } from "../../src/base/Json.ts"
import * as Execution from "../../src/executions/Execution.ts"
import * as ExecutionHead from "../../src/n8n/model/ExecutionHead.ts"
import * as TestMark from "../../src/n8n/model/TestMark.ts"
import { namesOf } from "../support/outputNames.ts"
import * as fixtures from "../support/scenarios/recorded.ts"
import { document, failed, from, fromApi, items, node, run } from "./runData.ts"

const recorded = (name: fixtures.Name) => fromApi(fixtures.execution(name))

const lastRun = (execution: Execution.Execution, name: string) =>
  execution.runs.get(name)?.at(-1) ?? assert.fail(`no run of ${name}`)

const inputsOf = (execution: Execution.Execution, name: string, index = -1) =>
  Execution.inputs(execution, name, execution.runs.get(name)?.at(index) ?? assert.fail(`no run of ${name}`))

const jsons = (some: ReadonlyArray<Execution.Item>) => some.map(({ json }) => json)

const whole = (execution: Execution.Execution, name: string, index = -1) =>
  jsons(Execution.slice(execution, inputsOf(execution, name, index), 0, Infinity))

describe("inputs", () => {
  it("differ from run to run of a loop", () => {
    const loop = recorded("loop")
    assert.deepStrictEqual([0, 1, 2].map((index) => whole(loop, "Inside", index)), [
      [{ i: 0 }, { i: 1 }, { i: 2 }, { i: 3 }],
      [{ i: 4 }, { i: 5 }, { i: 6 }, { i: 7 }],
      [{ i: 8 }, { i: 9 }, { i: 10 }, { i: 11 }]
    ])
    const [back] = inputsOf(loop, "Loop Over Items", 3)
    assert.deepInclude(back, { input: 0, type: "main", count: 4, source: { node: "Inside", output: 0, run: 2 } })
    assert.strictEqual(whole(loop, "Done").length, 12)
  })

  it("come one after the other where there are several", () => {
    const merge = recorded("merge")
    const parts = inputsOf(merge, "Merge").map(({ count, input, source }) => ({ count, input, node: source?.node }))
    assert.deepStrictEqual(parts, [{ count: 2, input: 0, node: "A" }, { count: 2, input: 1, node: "B" }])
    const all = [{ id: 1, a: "x" }, { id: 2, a: "y" }, { id: 1, b: "p" }, { id: 2, b: "q" }]
    assert.deepStrictEqual(whole(merge, "Merge"), all)
    const page = (offset: number, limit: number) =>
      jsons(Execution.slice(merge, inputsOf(merge, "Merge"), offset, limit))
    for (const offset of [0, 1, 2, 3, 4, 9]) {
      for (const limit of [1, 2, 3, 50]) assert.deepStrictEqual(page(offset, limit), all.slice(offset, offset + limit))
    }
  })

  it("keep their index where another is empty", () => {
    const execution = fromApi(document({
      B: [run(0, { main: [items({ b: 1 }, { b: 2 })] })],
      Merge: [run(1, { main: [items({ b: 1 })] }, { source: [null, from("B")] })]
    }))
    assert.deepStrictEqual(inputsOf(execution, "Merge").map(({ count, input }) => ({ count, input })), [
      { count: 2, input: 1 }
    ])
    assert.deepStrictEqual(whole(execution, "Merge"), [{ b: 1 }, { b: 2 }])
  })

  it("of a sub-node are what n8n noted, whatever its source says", () => {
    const execution = fromApi(document({
      Agent: [run(0, { main: [items({ answer: 42 })] })],
      Model: [run(1, { ai_languageModel: [items({ response: "42" })] }, {
        source: [from("Agent")],
        inputOverride: { ai_languageModel: [items({ messages: ["What?"] })] }
      })]
    }))
    const [part, ...rest] = inputsOf(execution, "Model")
    assert.deepStrictEqual(rest, [])
    assert.deepInclude(part, { input: 0, type: "ai_languageModel", source: undefined, count: 1 })
    assert.deepStrictEqual(whole(execution, "Model"), [{ messages: ["What?"] }])
  })

  it("of sources that lead nowhere are empty", () => {
    const execution = fromApi(document({
      A: [run(0, { main: [items({ a: 1 })] })],
      B: [run(1, { main: [[]] }, { source: [from("A", 3), from("A", 0, 9), from("gone"), {}, "odd", null] })]
    }))
    assert.deepStrictEqual(inputsOf(execution, "B").map(({ count, input }) => [input, count]), [[0, 0], [1, 0], [2, 0]])
    assert.deepStrictEqual(whole(execution, "B"), [])
  })

  it("are counted in whole numbers", () => {
    const execution = fromApi(document({
      A: [run(0, { main: [items({ a: 1 })] })],
      B: [run(1, {}, { source: [{ previousNode: "A", previousNodeOutput: 0.5, previousNodeRun: 1e300 }] })]
    }))
    assert.deepStrictEqual(lastRun(execution, "B").sources, [{ node: "A", output: 0, run: 0 }])
  })
})

describe("failure", () => {
  it("is undefined for an execution that did not fail", () => {
    for (const name of ["branch", "loop", "contErr", "merge", "binary", "wait", "big12"] as const) {
      assert.isUndefined(Execution.failure(recorded(name)), name)
    }
    const recovered = { Retry: [failed(0, { message: "first" }), run(1, { main: [items({})] })] }
    assert.isUndefined(Execution.failure(fromApi(document(recovered))))
    assert.strictEqual(Execution.failure(fromApi(document(recovered, { status: "error" })))?.run?.index, 0)
  })

  it("is the last error of several, by n8n's order or, where it keeps none, by time", () => {
    const runData = { Late: [failed(7, { message: "late" })], Early: [failed(2, { message: "early" })] }
    assert.strictEqual(Execution.failure(fromApi(document(runData, { status: "error" })))?.node, "Late")
    const unordered = Object.fromEntries(
      Object.entries(runData).map(([name, runs]) => [name, runs.map(({ executionIndex: _, ...rest }) => rest)])
    )
    assert.strictEqual(Execution.failure(fromApi(document(unordered, { status: "error" })))?.node, "Late")
  })

  it("is what n8n notes of the execution where no run shows it", () => {
    const error = { message: "Credentials not set", node: { name: "Send" } }
    const named = fromApi(document({ A: [run(0, { main: [[]] })] }, { status: "error", result: { error } }))
    assert.deepInclude(Execution.failure(named), { node: "Send", run: undefined, error })
    const last = fromApi(document({}, { status: "crashed", result: { error: "lost", lastNodeExecuted: "A" } }))
    assert.deepInclude(Execution.failure(last), { node: "A", run: undefined, error: "lost" })
    const unknown = fromApi(document({}, { status: "error", result: { error: {} } }))
    assert.deepInclude(Execution.failure(unknown), { node: undefined, run: undefined })
  })
})

describe("errorDetail", () => {
  it("says nothing twice", () => {
    const error = { message: "no", description: "no", messages: ["no", "yes", "yes", 7, null], httpCode: 429 }
    const detail = { message: "no", httpCode: "429", messages: ["yes"] }
    assert.deepStrictEqual<unknown>(Execution.errorDetail(error), detail)
    assert.deepStrictEqual<unknown>(Execution.errorDetail({ message: "no", description: "" }), { message: "no" })
    const more = { message: "no", description: "because", context: { descriptionKey: "other", nodeCause: "Set" } }
    const told = { message: "no", description: "because", nodeCause: "Set" }
    assert.deepStrictEqual<unknown>(Execution.errorDetail(more), told)
  })

  it("reads odd errors", () => {
    let deep: unknown = "x"
    for (let level = 0; level < 50_000; level++) deep = [deep]
    const odd = [undefined, null, 7, [], {}, { message: 7 }, { message: null, context: "x", messages: "x" }]
    for (const error of [...odd, { httpCode: deep, name: {}, description: [], lineNumber: 1.5, itemIndex: 1e300 }]) {
      assert.deepStrictEqual<unknown>(Execution.errorDetail(error), { message: "unknown error" })
    }
    assert.deepStrictEqual<unknown>(Execution.errorDetail("just text"), { message: "just text" })
    assert.deepStrictEqual<unknown>(Execution.errorDetail({ message: "m", itemIndex: 3 }), {
      message: "m",
      itemIndex: 3
    })
  })
})

describe("item", () => {
  it("shows binary data as a stub", () => {
    const binary = recorded("binary")
    const [part] = [lastRun(binary, "Convert to File")].map(({ index, outputs: [output] }) => ({
      count: output?.count ?? 0,
      slot: { node: "Convert to File", run: index, side: "output" as const, port: output ?? assert.fail() }
    }))
    assert.deepStrictEqual<unknown>(Execution.slice(binary, [part ?? assert.fail()], 0, 9), [{
      json: {},
      binary: { data: { mimeType: "application/json", fileName: "file.json", fileSize: "400 B" } }
    }])
    const inline = { json: { a: 1 }, binary: { x: { mimeType: "a/b", data: "aGVsbG8=", bytes: 5 }, y: null } }
    const stubs = { json: { a: 1 }, binary: { x: { mimeType: "a/b", fileSize: "5 B" }, y: {} } }
    assert.deepStrictEqual<unknown>(Execution.item(inline), stubs)
  })

  const error = { name: "NodeOperationError", message: "bad", stack: "at x", node: { name: "n" } }
  const paired = { binary: {}, pairedItem: [{ item: 0 }, { item: 0, input: 1 }], error: null }

  it.each<[what: string, stored: unknown, shown: object]>([
    ["without the pairing and what is empty", { json: { a: 1 }, ...paired }, { json: { a: 1 } }],
    ["with its error in few words", { json: {}, error }, { json: {}, error: { name: error.name, message: "bad" } }],
    ["with an error that is a text", { json: {}, error: "bad" }, { json: {}, error: { message: "bad" } }],
    ["that is odd", { json: [1], binary: "x" }, { json: [1] }]
  ])("is read %s", (_, stored, shown) => assert.deepStrictEqual<unknown>(Execution.item(stored), shown))

  it.each([null, undefined, 7, "x", {}])("is empty for %s", (stored) => {
    for (const odd of [stored, [], [[]]]) assert.deepStrictEqual<unknown>(Execution.item(odd), { json: {} })
  })
})

describe("status and counts", () => {
  it("is error when any run failed, else the last run's", () => {
    const status = (...runs: ReadonlyArray<unknown>) =>
      Execution.nodeStatus(fromApi(document({ A: runs })).runs.get("A") ?? [])
    assert.strictEqual(status(run(0, {}), failed(1, "x"), run(2, {})), "error")
    assert.strictEqual(status(run(0, {}), run(1, {}, { executionStatus: "waiting" })), "waiting")
    assert.strictEqual(status({ error: "text" }), "error")
    assert.strictEqual(status({}), "success")
    assert.strictEqual(status(), "unknown")
  })

  it("has the time from start to stop", () => {
    const times = { startedAt: "2026-11-21T20:59:48.835Z", stoppedAt: "2026-11-21T20:59:50.000Z" }
    assert.strictEqual(ExecutionHead.duration({ id: "1", ...times }), 1165)
    assert.strictEqual(ExecutionHead.duration({ id: "1", ...times, stoppedAt: "2026-11-21T20:59:48.000Z" }), 0)
    for (const stoppedAt of [null, "", "soon"]) assert.isNull(ExecutionHead.duration({ id: "1", ...times, stoppedAt }))
    assert.isNull(ExecutionHead.duration({ id: 1 }))
  })
})

describe("outputName", () => {
  const [code, two, none] = ["n8n-nodes-base.code", [[], items({})], undefined]

  const name = (type: string, outputs: ReadonlyArray<unknown>, index: number, more: object = {}) => {
    const ran = lastRun(fromApi(document({ A: [run(0, { main: outputs, ai_tool: [[]] })] })), "A")
    const shape = { ...node("A", type), onError: "continueErrorOutput", ...more }
    return Execution.outputName(shape, ran, { type: "main", index }, namesOf)
  }

  const classifier = "@n8n/n8n-nodes-langchain.textClassifier"

  it.each<[string, string, ReadonlyArray<ReadonlyArray<unknown>>, ReadonlyArray<string | undefined>, object?]>([
    ["the last output where the node sends errors on", code, two, [none, "error"]],
    ["no only output", code, [items({})], [none]],
    ["none of a node that goes on", code, two, [none, none], { onError: "continueRegularOutput" }],
    ["the last behind names that are not known", classifier, [...two, ...two], [none, none, none, "error"]],
    ["the last behind names that are", "n8n-nodes-base.if", [[], ...two], ["true", "false", "error"]]
  ])("calls error %s", (_, type, outputs, expected, more) => {
    assert.deepStrictEqual(outputs.map((_, index) => name(type, outputs, index, more)), expected)
  })
})

describe("an execution without added nodes", () => {
  const added = new Map([["call", undefined], ["pin Api", "Api"]])

  it("has the inputs of a row of nodes at the node that it replaces", () => {
    const execution = Execution.without(
      fromApi(document({
        call: [run(0, { main: [items({ a: 1 })] })],
        Before: [run(1, { main: [items({ a: 1 }, { a: 2 })] }, { source: [from("call")] })],
        "pin Api": [run(2, { main: [items({ b: 1 })] }, { source: [from("Before")] })],
        Api: [run(3, { main: [items({ b: 1 })] }, { source: [from("pin Api")] })]
      })),
      added,
      "Start"
    )
    assert.deepStrictEqual([...execution.runs.keys()], ["Before", "Api"])
    assert.deepStrictEqual(whole(execution, "Api"), [{ a: 1 }, { a: 2 }])
  })

  it("fails at the node whose row fails, or at the start", () => {
    const error = { message: "no" }
    const inRow = Execution.without(
      fromApi(document({ "pin Api": [failed(0, error, { source: [from("Before")] })] }, {
        status: "error",
        result: { lastNodeExecuted: "pin Api" }
      })),
      added,
      "Start"
    )
    assert.strictEqual(inRow.lastNode, "Api")
    assert.deepStrictEqual([...inRow.runs.keys()], ["Api"])
    assert.strictEqual(Execution.failure(inRow)?.node, "Api")
    const entrance = Execution.without(fromApi(document({ call: [failed(0, error)] })), added, "Start")
    assert.deepStrictEqual([...entrance.runs.keys()], ["Start"])
  })
})

it("has other texts in its items and errors, read at a position or in segments", () => {
  const { copy, original } = {
    copy: { id: "c0pyId", name: "effect-n8n-mcp test copy m-1-t0: Orde" },
    original: { id: "w1", name: "Orders \"É\"" }
  }
  const query = new URLSearchParams({ of: "effect-n8n-mcp test copy m-1-t0: Other" }).toString()
  const execution = Execution.withTexts(
    fromApi(document({
      A: [run(0, { main: [items({ name: copy.name, url: `https://n8n.test/workflow/${copy.id}?${query}` })] })],
      B: [failed(1, { message: `${copy.name} failed` })]
    }, { status: "error" })),
    (text, isJson) => TestMark.originalText({ copy, original }, text, isJson)
  )
  const expected = [{ name: original.name, url: "https://n8n.test/workflow/w1?of=Other" }]
  const slot: Execution.Slot = { node: "A", run: 0, side: "output", port: { type: "main", index: 0 } }
  const jsonOf = (item: unknown) => obj(item)?.["json"]
  assert.deepStrictEqual(execution.items(slot, 0, 5).map(jsonOf), expected)
  assert.deepStrictEqual([...execution.segments(slot)].flatMap(({ items }) => items()).map(jsonOf), expected)
  assert.strictEqual(Execution.errorDetail(Execution.failure(execution)?.error).message, "Orders \"É\" failed")
})

it("orders the new runs of a retry after those that n8n took over", () => {
  const before = { startTime: Date.parse("2026-11-21T20:59:00Z") }
  const of = (mode: string) =>
    fromApi({
      ...document({
        Hook: [run(0, { main: [items({})] }, before)],
        Check: [run(1, { main: [items({})] }, before)],
        Send: [run(0, { main: [items({})] })],
        Done: [run(1, { main: [items({})] })]
      }),
      mode,
      startedAt: "2026-11-21T20:59:30.000Z"
    })
  const retried = of("retry")
  assert.strictEqual(Execution.lastToRun(retried), "Done")
  assert.deepStrictEqual(
    [...retried.runs].map(([name, [run]]) => [name, run?.order, run && Execution.isReused(retried, run)]),
    [["Hook", 0, true], ["Check", 1, true], ["Send", 2, false], ["Done", 3, false]]
  )
  assert.deepStrictEqual([...of("trigger").runs.values()].map(([run]) => run?.order), [0, 1, 0, 1])
})
