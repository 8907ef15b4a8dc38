import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Minimize from "../../src/answer/Minimize.ts"
import { marksIn } from "../../src/answer/Truncated.ts"
import * as Executions from "../../src/executions/Executions.ts"
import type { NodeExecution } from "../../src/executions/NodeExecution.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { getExecutionByNode } from "../../src/tools/executions/getExecutionByNode.ts"
import { catalogue } from "../support/catalogue.ts"
import * as fixtures from "../support/scenarios/recorded.ts"
import { rounds } from "../support/seed.ts"
import { ask, build, document, failed, from, holding, items, node, Recipe, recount, run } from "./runData.ts"

const recorded = Layer.mergeAll(FakeN8n.layer(fixtures.seed), Executions.layer(), catalogue)

interface Options {
  readonly runIndex?: number
  readonly outputIndex?: number
  readonly itemOffset?: number
  readonly itemLimit?: number
}

const askFor = (id: string, nodeName: string, options: Options = {}) =>
  Effect.map(ask(getExecutionByNode, { id, nodeName, itemOffset: 0, itemLimit: 50, ...options }), ({ data }) => data)

const look = (execution: N8nApi.Execution, nodeName: string, options?: Options) =>
  Effect.provide(askFor(execution.id, nodeName, options), holding(execution))

const jsons = (side: NodeExecution["input"] | NodeExecution["output"]) => side.items.map(({ json }) => json)

layer(recorded)("recorded executions", (it) => {
  const at = (name: fixtures.Name, nodeName: string, options?: Options) =>
    askFor(fixtures.executionId(name), nodeName, options)

  const numbers = (...all: ReadonlyArray<number>) => all.map((i) => ({ i }))
  const evens = [0, 2, 4, 6, 8].map((i) => ({ i, even: true }))
  const ports = (...all: ReadonlyArray<readonly [items: number, name?: string]>) =>
    all.map(([items, name], index) => ({ output: `main[${index}]`, ...name === undefined ? {} : { name }, items }))

  it.effect.each<
    [fixtures.Name, string, Options, runs: string, string | undefined, ReadonlyArray<object>, ports?: object]
  >([
    ["branch", "Even?", {}, "0 of 1", "main[0]", evens, ports([5, "true"], [5, "false"])],
    ["branch", "Even?", { outputIndex: 1 }, "0 of 1", "main[1]", evens.map(({ i }) => ({ i: i + 1, even: false }))],
    // The last run, or the one asked for; the first output that holds items, not the first one.
    ["loop", "Loop Over Items", { itemLimit: 1 }, "3 of 4", "main[0]", numbers(0), ports([12, "done"], [0, "loop"])],
    ["loop", "Loop Over Items", { runIndex: 0 }, "0 of 4", "main[1]", numbers(0, 1, 2, 3)],
    ["loop", "Inside", { runIndex: 1 }, "1 of 3", "main[0]", numbers(40, 50, 60, 70)],
    ["contErr", "Risky", {}, "0 of 1", "main[1]", [{ error: "soft failure [line 1]" }], ports([0], [1, "error"])],
    ["fail", "Boom", {}, "0 of 1", undefined, []]
  ])("%s: the items of '%s' %j", ([name, nodeName, options, runs, output, shown, outputs]) =>
    Effect.gen(function*() {
      const data = yield* at(name, nodeName, options)
      assert.strictEqual(`${data.runIndex} of ${data.runCount}`, runs)
      assert.deepStrictEqual<unknown>([data.output.output, jsons(data.output)], [output, shown])
      if (outputs !== undefined) assert.deepStrictEqual<unknown>(data.outputs, outputs)
    }))

  it.effect("the items that a run received, and from where", () =>
    Effect.gen(function*() {
      const source = [{ input: "main[0]", node: "Even?", output: 1, run: 0, count: 5 }]
      assert.deepStrictEqual<unknown>((yield* at("branch", "Odds")).input.sources, source)
      assert.strictEqual((yield* at("loop", "Loop Over Items")).input.sources[0]?.run, 2)
      assert.deepStrictEqual(jsons((yield* at("loop", "Inside", { runIndex: 1 })).input), numbers(4, 5, 6, 7))
    }))

  it.effect("branch: times, type and parameters", () =>
    Effect.gen(function*() {
      assert.deepInclude<unknown>(yield* at("branch", "Even?"), {
        executionId: "3",
        nodeName: "Even?",
        nodeType: "n8n-nodes-base.if",
        status: "success",
        executionTime: 54,
        startTime: "2026-11-21T20:59:48.888Z",
        endTime: "2026-11-21T20:59:48.942Z",
        error: null
      })
      const { input, parameters } = yield* at("branch", "Webhook")
      assert.deepInclude(parameters, { path: "fx-branch", httpMethod: "POST" })
      assert.deepStrictEqual<unknown>(input, { sources: [], items: [] })
    }))

  it.effect("fail: the error, and the input page by page", () =>
    Effect.gen(function*() {
      const { error, input, status } = yield* at("fail", "Boom")
      const expected = { name: "WrappedExecutionError", message: "boom here [line 1]", lineNumber: 1 }
      assert.deepStrictEqual<unknown>([status, error], ["error", expected])
      const next = "get_execution_by_node(id: '5', nodeName: 'Boom', itemOffset: 50)"
      assert.deepStrictEqual<unknown>(marksIn(input), [{ path: "input.items", kept: 50, total: 120, next }])
    }))
})

describe("a node that did not run", () => {
  const connections = {
    Start: { main: [[{ node: "Switch", type: "main", index: 0 }]] },
    Switch: { main: [null, [{ node: "Later", type: "main", index: 0 }], [{ node: "Right", type: "main", index: 0 }]] },
    Later: { main: [[{ node: "Last", type: "main", index: 0 }]] },
    Right: { main: [[{ node: "After", type: "main", index: 0 }]] },
    Tool: { ai_tool: [[{ node: "Agent", type: "ai_tool", index: 0 }]] },
    Off: { main: [[{ node: "Agent", type: "main", index: 0 }]] }
  }
  const names = ["Start", "Switch", "Later", "Last", "Right", "After", "Tool", "Agent", "Alone"]
  const nodes = [
    ...names.map((name) => node(name)),
    node("Off", "n8n-nodes-base.set", { disabled: true, parameters: { value: 7 } })
  ]
  const ran = {
    Start: [run(0, { main: [items({})] })],
    Switch: [run(1, { main: [[], [], items({})] }, { source: [from("Start")] })]
  }
  const note = Effect.fnUntraced(function*(runData: unknown, name: string) {
    const data = yield* look(document(runData, { nodes, connections, status: "error" }), name)
    const { parameters, type } = nodes.find((each) => each.name === name) ?? assert.fail(name)
    assert.deepInclude<unknown>(data, {
      nodeName: name,
      nodeType: type,
      parameters,
      status: "notRun",
      runCount: 0,
      outputs: [],
      input: { sources: [], items: [] },
      output: { items: [] },
      error: null
    })
    for (const key of ["startTime", "endTime", "executionTime", "runIndex"]) assert.notProperty(data, key)
    return data.note
  })

  const right = { Right: [failed(2, { message: "no" }, { source: [from("Switch", 2)] })] }

  it.effect.each<[name: string, why: string, more?: object]>([
    ["Later", "'Switch', the node before it, ran and sent no items to main[1]."],
    ["Last", "'Later', the node before it, did not run either."],
    ["After", "'Right', the node before it, failed.", right],
    ["Right", "'Switch', the node before it, sent it items, but the execution did not reach it."],
    ["Off", "It is disabled."],
    ["Alone", "Nothing is connected to it, and it did not start the execution."],
    ["Tool", "It serves 'Agent', which did not use it."],
    // A sub-node does not feed items, so only the main connection counts.
    ["Agent", "'Off', the node before it, did not run either."]
  ])("says why: %s", ([name, why, more]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* note({ ...ran, ...more }, name), `This node did not run. ${why}`)
    }))
})

describe("odd nodes", () => {
  it.effect("one that was renamed since: under its name of then", () =>
    Effect.gen(function*() {
      const execution = document({ "Old name": [run(0, { main: [items({ a: 1 })] })] }, { nodes: [node("New name")] })
      const old = yield* look(execution, "Old name")
      assert.deepInclude<unknown>(old, { status: "success", nodeType: "unknown", parameters: {} })
      assert.deepStrictEqual<unknown>(jsons(old.output), [{ a: 1 }])
      assert.strictEqual((yield* look(execution, "New name")).status, "notRun")
    }))

  it.effect("times that no date can hold, or none at all", () =>
    Effect.gen(function*() {
      for (const startTime of [1e300, -5, 0, null, "soon", undefined, Number.MAX_SAFE_INTEGER]) {
        const data = yield* look(document({ A: [run(0, { main: [[]] }, { startTime })] }), "A")
        assert.notProperty(data, "startTime", String(startTime))
        assert.strictEqual(data.executionTime, 5)
      }
      const data = yield* look(document({ A: [run(0, { main: [[]] }, { executionTime: 1e300 })] }), "A")
      assert.property(data, "startTime")
      assert.notProperty(data, "endTime")
    }))

  it.effect("runs of odd shapes: never an exception", () =>
    Effect.gen(function*() {
      const shapes: ReadonlyArray<unknown> = [
        {},
        null,
        "text",
        { error: "just text" },
        { error: 7, data: { main: [items({ a: 1 })] } },
        { data: null },
        { data: { main: null } },
        { data: { main: [null, [null, "x", 7, { json: null }], {}] }, source: {} },
        { data: [], source: [1, null, {}], executionStatus: 7 },
        run(0, { main: [items({})] }, { inputOverride: { ai_tool: [[{}]], main: null } })
      ]
      for (const shape of shapes) {
        const data = yield* look(document({ A: [shape], B: shape }), "A")
        assert.strictEqual(data.runCount, 1)
      }
      const [, , , text] = yield* Effect.forEach(shapes, (shape) => look(document({ A: [shape] }), "A"))
      assert.deepInclude<unknown>(text, { status: "error", error: { message: "just text" } })
      for (const runs of [null, "x", {}, 7, []]) {
        assert.strictEqual((yield* look(document({ A: runs }), "A")).status, "notRun")
      }
    }))
})

describe("a budget", () => {
  const longName = "顧客からの注文を確認して請求書を作成し、担当者に送信する".repeat(4)
  const execution = document({
    A: [
      run(0, { main: [items(...Array.from({ length: 60 }, (_, id) => ({ id, text: "lorem ipsum ".repeat(id * 2) })))] })
    ],
    [longName]: [
      run(1, { main: [items(...Array.from({ length: 20 }, (_, id) => ({ id, big: "z ".repeat(3_000) })))] }, {
        source: [from("A"), from("A"), from("A")],
        error: {
          message: "m ".repeat(9_000),
          description: "d ".repeat(9_000),
          messages: [...Array(500).keys()].map(String)
        }
      })
    ]
  }, { nodes: [node("A"), node(longName, "n8n-nodes-base.code", { parameters: { jsCode: "x = 1\n".repeat(5_000) } })] })

  it.effect("of the smallest size keeps the shape, and every list goes on", () =>
    Effect.gen(function*() {
      const answer = yield* getExecutionByNode.run({ id: "77", nodeName: longName })
      assert.isAtMost(JSON.stringify(answer).length, 4_000)
      assert.isAtMost(countTokens(JSON.stringify(answer)), 2_500)
      const { data } = yield* ask(getExecutionByNode, { id: "77", nodeName: longName, itemOffset: 0, itemLimit: 50 })
      assert.isAbove(data.input.items.length, 0)
      assert.strictEqual(data.output.items.length, 1)
      assert.deepInclude(marksIn(data.output)[0], { path: "output.items", kept: 1, total: 20 })
      assert.deepInclude(marksIn(data.input)[0], { path: "input.items", kept: data.input.items.length, total: 180 })
      assert.include(JSON.stringify(data.parameters), "chars]")
      assert.include(JSON.stringify(data.error), "_truncated")
    }).pipe(Effect.provide(holding(execution)), Effect.provideService(Minimize.MaxResultChars, 4_000)))
})

describe("any run data", () => {
  it.effect.prop("every run of every node is shown inside the schema, and counted right", {
    recipe: Recipe,
    chars: Schema.Literals([4_000, 40_000])
  }, ({ chars, recipe }) => {
    const execution = build({ ...recipe, nodes: recipe.nodes > 12 ? 12 : recipe.nodes })
    return Effect.gen(function*() {
      for (const { name, runs } of recount(execution).nodes.slice(0, 5)) {
        for (const [runIndex, { outputs }] of runs.slice(0, 3).entries()) {
          const data = yield* askFor("77", name, { runIndex })
          assert.strictEqual(data.runCount, runs.length)
          assert.deepStrictEqual(data.outputs.map((output) => output.items), outputs.map(({ items }) => items.length))
        }
      }
    }).pipe(Effect.provide(holding(execution)), Effect.provideService(Minimize.MaxResultChars, chars))
  }, { arbitrary: { runs: rounds(12) } })
})
