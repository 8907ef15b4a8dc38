import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Executions from "../../../src/executions/Executions.ts"
import * as SubRuns from "../../../src/executions/SubRuns.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as CallersProof from "../../../src/trials/proof/CallersProof.ts"
import { document, failed, from, items, node, run } from "../../executions/runData.ts"
import { catalogue } from "../../support/catalogue.ts"
import { main, node as placed } from "../../support/workflows.ts"
import { inMemory } from "../../support/world.ts"

const calling = (mode: "once" | "each", more: object = {}) =>
  node("Price", "n8n-nodes-base.executeWorkflow", {
    typeVersion: 1.3,
    parameters: { mode, workflowId: { __rl: true, mode: "id", value: "price" } },
    ...more
  })

/** Runs of the called workflow: its items, or the message of its failure. */
const sub = (id: string, result: ReadonlyArray<object> | string) => {
  const own = document({
    Called: [run(0, { main: [items({})] })],
    Compute: [
      typeof result === "string"
        ? failed(1, { message: result }, { source: [from("Called")] })
        : run(1, { main: [items(...result)] }, { source: [from("Called")] })
    ]
  }, {
    status: typeof result === "string" ? "error" : "success",
    result: { lastNodeExecuted: "Compute", ...typeof result === "string" ? { error: { message: result } } : {} }
  })
  const data = { ...own.data as object, parentExecution: { executionId: "77", workflowId: "wf1" } }
  return { ...own, id, data, workflowId: "price", mode: "integrated" }
}

const started = (executionId: string) => ({ metadata: { subExecution: { executionId, workflowId: "price" } } })

/** Execution of a caller: two runs of the call, each with items, and the ids of what they started. */
const caller = (call: ReturnType<typeof calling>, ids: ReadonlyArray<string>) => {
  const isEach = call.parameters["mode" as keyof typeof call.parameters] === "each"
  return document({
    Lines: [
      run(0, { main: [items({ sku: "a" }, { sku: "b" })] }),
      run(2, { main: [items({ sku: "c" }, { sku: "d" })] })
    ],
    Price: [0, 1].map((index) =>
      run(1 + 2 * index, {
        main: [
          isEach
            ? [0, 1].map((item) => ({ ...items({ old: item })[0], ...started(ids[2 * index + item] ?? "") }))
            : items({ old: 1 }, { old: 2 })
        ]
      }, {
        source: [from("Lines", 0, index)],
        ...isEach ? { metadata: { subExecutionsCount: 2 } } : started(ids[index] ?? "")
      })
    )
  }, { nodes: [node("Lines"), call] })
}

const pinned = (call: ReturnType<typeof calling>, subs: Record<string, ReadonlyArray<object> | string>) =>
  Effect.gen(function*() {
    const executions = yield* Executions.Executions
    const record = yield* executions.get("77")
    const own = record.workflow?.nodes.find(({ name }) => name === "Price") ?? assert.fail()
    const { runs } = yield* SubRuns.of(record)
    const byRun = SubRuns.byRun(record, own, runs) ?? assert.fail("some are missing")
    const find = (id: string) => Effect.mapError(executions.get(id), ({ message }) => message)
    return yield* CallersProof.pinOf(record, { now: own, former: own }, byRun, find)
  }).pipe(Effect.provide(Layer.mergeAll(
    FakeN8n.layer({
      workflows: [],
      executions: [caller(call, Object.keys(subs)), ...Object.entries(subs).map(([id, result]) => sub(id, result))]
    }),
    Executions.layer(),
    catalogue
  )))

const jsonOf = (runs: ReadonlyArray<ReadonlyArray<ReadonlyArray<unknown>>>) =>
  runs.map((outputs) => outputs.map((all) => all.map((item) => (item as { readonly json: unknown }).json)))

describe("a call of a workflow", () => {
  it.effect("returns in each of its runs what that run started", () =>
    Effect.gen(function*() {
      const { errors, runs } = yield* pinned(calling("once"), { 81: [{ n: 1 }, { n: 2 }], 82: [{ n: 3 }] })
      assert.deepStrictEqual(jsonOf(runs), [[[{ n: 1 }, { n: 2 }]], [[{ n: 3 }]]])
      assert.deepStrictEqual(errors, [undefined, undefined])
    }))

  it.effect("returns the items of several runs in the order of its own items", () =>
    Effect.gen(function*() {
      const { runs } = yield* pinned(calling("each"), {
        81: [{ n: 1 }, { n: 2 }],
        82: [],
        83: [{ n: 3 }],
        84: [{ n: 4 }]
      })
      assert.deepStrictEqual(jsonOf(runs), [[[{ n: 1 }, { n: 2 }]], [[{ n: 3 }, { n: 4 }]]])
      const links = runs[1]?.[0]?.map((item) => (item as { readonly pairedItem: unknown }).pairedItem)
      assert.deepStrictEqual(links, [{ item: 0 }, { item: 1 }])
    }))

  it.effect("fails, or goes on at the output for errors, as n8n's node does", () =>
    Effect.gen(function*() {
      const once = { 81: [{ n: 1 }], 82: "no price list" }
      assert.deepStrictEqual((yield* pinned(calling("once"), once)).errors, [undefined, "no price list"])
      const each = { 81: [{ n: 1 }], 82: "no price list", 83: [{ n: 3 }], 84: [{ n: 4 }] }
      const { errors } = yield* pinned(calling("each"), each)
      assert.deepStrictEqual(errors, ["Error executing workflow with item at index 1", undefined])
      const regular = yield* pinned(calling("each", { onError: "continueRegularOutput" }), each)
      assert.deepStrictEqual(jsonOf(regular.runs)[0], [[{ n: 1 }, { error: "no price list" }]])
      const other = yield* pinned(calling("each", { onError: "continueErrorOutput" }), each)
      assert.deepStrictEqual(jsonOf(other.runs)[0], [[{ n: 1 }], [{ sku: "b", error: "no price list" }]])
      const empty = yield* pinned(calling("once", { alwaysOutputData: true }), { 81: [], 82: [{ n: 1 }] })
      assert.deepStrictEqual(jsonOf(empty.runs), [[[{}]], [[{ n: 1 }]]])
    }))
})

const price = {
  id: "price",
  name: "Price",
  active: true,
  nodes: [placed("Called", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" }), placed("End", "noOp")],
  connections: { Called: main("End") },
  settings: {}
}

const lines = placed("Lines", "manualTrigger")

const other = (name: string, nodes: ReadonlyArray<object>, more: object = {}) => ({
  ...price,
  id: name,
  name,
  nodes,
  connections: {},
  ...more
})

describe("a proof of callers", () => {
  const prove = CallersProof.prove("price", { timeout: 25_000, redacts: true })

  it.effect("refuses a workflow that none calls", () =>
    inMemory(function*(api) {
      const error = yield* Effect.flip(prove)
      assert.match(error.message, /^No workflow calls 'Price'$/)
      assert.isFalse((yield* api.requests).some(({ method }) => method === "POST"))
    }, { seed: { workflows: [price], executions: [] } }))

  it.effect("names those that are not replayed, with the reason", () =>
    inMemory(function*() {
      const { next, notReplayed, runs, verdict, workflows } = yield* prove
      assert.deepStrictEqual([workflows, runs, next], [2, 0, undefined])
      assert.match(verdict, /^0 of 2 workflows the same on 0 recorded runs; 2 not proven$/)
      assert.sameDeepMembers(notReplayed.map(({ names, why }) => [names.join(), why]), [
        ["Caller", "n8n has not stored every run that it started"],
        ["Silent", "The workflow has no recorded runs to replay"],
        ["Agent", "calls it as a tool: when, the model decides"],
        ["Alerting", "starts it when it fails: test that by itself"]
      ])
    }, {
      seed: {
        workflows: [
          price,
          other("Caller", [lines, calling("once")], { connections: { Lines: main("Price") } }),
          other("Silent", [lines, calling("once")], { connections: { Lines: main("Price") } }),
          other("Agent", [
            placed("Ask", "@n8n/n8n-nodes-langchain.toolWorkflow", 2, { workflowId: { mode: "id", value: "price" } })
          ]),
          other("Alerting", [lines], { settings: { errorWorkflow: "price" } })
        ],
        executions: [{
          ...document({
            Lines: [run(0, { main: [items({})] })],
            Price: [run(1, { main: [items({ old: 1 })] }, { source: [from("Lines")] })]
          }, { nodes: [lines, calling("once")] }),
          workflowId: "Caller"
        }]
      }
    }))
})
