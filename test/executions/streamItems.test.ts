import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Executions from "../../src/executions/Executions.ts"
import type { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"

const run = (...outputs: ReadonlyArray<ReadonlyArray<unknown>>) => ({
  startTime: 1,
  executionTime: 1,
  executionIndex: 0,
  source: [],
  data: { main: outputs.map((items) => items.map((json) => ({ json, pairedItem: { item: 0 } }))) }
})

/** Execution whose node `Loop` ran twice with two outputs; `Idle` did not run. */
const stored = (first: ReadonlyArray<unknown>, data: object = {}) => ({
  id: "7",
  workflowId: "w",
  status: "success",
  startedAt: "2026-01-01T00:00:00.000Z",
  workflowData: {
    name: "W",
    nodes: ["受注", "Idle"].map((name) => ({ name, type: "n8n-nodes-base.noOp" })),
    connections: {}
  },
  data: { resultData: { runData: { "受注": [run(first, [{ n: -1 }]), run([{ n: 100 }], [{ n: -100 }])] } }, ...data }
})

const many = Array.from({ length: 5_000 }, (_, n) => ({ n, text: `注文 ${n} `.repeat(10) }))

const on = <A, E>(
  execution: FakeN8n.Execution,
  effect: Effect.Effect<A, E, FakeN8n.FakeN8n | Executions.Executions | N8nClient>
) => Effect.provide(effect, Layer.merge(FakeN8n.layer({ workflows: [], executions: [execution] }), Executions.layer()))

const Row = Schema.Struct({ n: Schema.Int })

const numbers = (options: Omit<Executions.ItemsOptions, "node" | "schema">) =>
  Stream.runCollect(Executions.streamItems("7", { node: "受注", schema: Row, ...options })).pipe(
    Effect.map((rows) => rows.map(({ n }) => n))
  )

describe("streamItems", () => {
  it.effect("gives all items of all runs and outputs in order, or those of one", () =>
    on(
      stored(many),
      Effect.gen(function*() {
        const first = many.map(({ n }) => n)
        assert.deepStrictEqual(yield* numbers({}), [...first, -1, 100, -100])
        assert.deepStrictEqual(yield* numbers({ run: 0 }), [...first, -1])
        assert.deepStrictEqual(yield* numbers({ output: 1 }), [-1, -100])
        assert.deepStrictEqual(yield* numbers({ run: 1, output: 0 }), [100])
        assert.deepStrictEqual(yield* numbers({ output: 2 }), [])
        assert.deepStrictEqual(yield* Stream.runCollect(Executions.streamItems("7", { node: "Idle" })), [])
        const [item] = yield* Stream.runCollect(Stream.take(Executions.streamItems("7", { node: "受注" }), 1))
        assert.deepStrictEqual(item, many[0])
        const { requests } = yield* FakeN8n.FakeN8n
        assert.lengthOf(yield* requests, 1)
      })
    ))

  it.effect("parses no more than is asked for", () =>
    on(
      stored([...many, { n: "not a number" }]),
      Effect.gen(function*() {
        const rows = Executions.streamItems("7", { node: "受注", schema: Row })
        assert.lengthOf(yield* Stream.runCollect(Stream.take(rows, many.length)), many.length)
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(rows)))._tag, "SchemaError")
      })
    ))

  it.effect("has secrets as n8n stored them, unless asked to redact", () => {
    const secret = { password: "hunter2hunter2", n: 1 }
    const items = (redact?: boolean) =>
      Stream.runCollect(Executions.streamItems("7", { node: "受注", run: 0, output: 0, redact }))
    return on(
      stored([secret]),
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* items(), [secret])
        assert.notInclude(JSON.stringify(yield* items(true)), "hunter2")
      })
    )
  })

  it.effect("refuses what the execution does not have", () =>
    on(
      stored(many),
      Effect.gen(function*() {
        const failure = (id: string, node: string, run?: number) =>
          Effect.map(Effect.flip(Stream.runDrain(Executions.streamItems(id, { node, run }))), String)
        assert.include(yield* failure("7", "受注 "), "Node '受注 ' not found in execution '7'")
        assert.include(yield* failure("7", "受注", 2), "Node '受注' has no run 2")
        assert.include(yield* failure("8", "受注"), "Execution '8' not found")
      })
    ))

  it.effect("fails if n8n hides the items", () =>
    on(
      stored([{}], { redactionInfo: { isRedacted: true } }),
      Effect.gen(function*() {
        const error = yield* Effect.flip(Stream.runDrain(Executions.streamItems("7", { node: "受注" })))
        assert.include(String(error), "n8n hides the items of execution '7'")
      })
    ))
})
