import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Services from "../../../src/app/Services.ts"
import { CallContext } from "../../../src/base/CallContext.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import * as runData from "../../executions/runData.ts"
import * as fixtures from "../../support/scenarios/recorded.ts"
import * as TestTime from "../../support/TestTime.ts"

const recorded = Layer.merge(FakeN8n.layer(fixtures.seed), Services.layerMemory)

describe("get_execution", () => {
  it.effect("recommends for a success with many items the calls that are cheap there", () =>
    Effect.gen(function*() {
      const { items, node, run } = runData
      const example = (count: number, names: ReadonlyArray<string> = ["Hook", "Load", "End"]) => {
        const execution = runData.document(
          Object.fromEntries(names.map((name, index) => [name, [
            run(index, { main: [items(...Array.from({ length: index === 0 ? 1 : count }, (_, n) => ({ n })))] })
          ]])),
          { nodes: names.map((name) => node(name)) }
        )
        return Effect.map(
          Effect.provide(tools.getExecution.answer({ id: "77" }), runData.holding(execution)),
          ({ data }) => data._guidance?.example
        )
      }
      assert.strictEqual(yield* example(50), "compare_items(id: '77', from: 'Load', to: 'End')")
      assert.strictEqual(yield* example(50, ["Hook", "End"]), "search_execution(id: '77', nodes: ['End'], limit: 3)")
      assert.strictEqual(yield* example(20), "get_execution_by_node(id: '77', nodeName: 'End')")
    }))

  describe("wait", () => {
    const { items, run } = runData

    /** An n8n whose execution 77 is over after `polls` looks at its status. */
    const running = Effect.fnUntraced(function*(polls: number) {
      let left = polls
      const told: Array<ReadonlyArray<unknown>> = []
      let dataAskedAt = Number.NaN
      const over = runData.document({ A: [run(0, { main: [items({ a: 1 })] })] })
      const api = yield* N8nApi.make({ workflows: [], executions: [over] }, {
        before: ({ url }) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            if (!/\/executions\/77/.test(url) || left === 0) return
            if (url.includes("includeData")) dataAskedAt = now
            else left--
            return Response.json({ ...over, status: "running", stoppedAt: null, data: { resultData: { runData: {} } } })
          })
      })
      const n8n = N8nClient.layer({ url: new URL("http://n8n.test"), apiKey: Redacted.make("k") }).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient, api.client))
      )
      const caller = {
        progress: (...progress: ReadonlyArray<unknown>) => Effect.sync(() => void told.push(progress)),
        confirm: () => Effect.succeed("unasked" as const)
      }
      const asked = (withData: boolean) =>
        Effect.map(api.requests, (all) => all.filter(({ url }) => url.includes("includeData") === withData).length)
      const get = (id: string, wait?: number) =>
        tools.getExecution.answer({ id, nodeOffset: 0, ...(wait === undefined ? {} : { wait }) }).pipe(
          Effect.map(({ data }) => data),
          Effect.provideService(CallContext, caller),
          Effect.provide(Layer.merge(n8n, Layer.fresh(Services.layerMemory)))
        )
      return { asked, dataAskedAt: () => dataAskedAt, get, told }
    })

    it.effect("answers as soon as it is over, having asked for the data once", () =>
      Effect.gen(function*() {
        const { asked, get, told } = yield* running(3)
        assert.deepInclude(yield* TestTime.run(get("77", 50)), { status: "success" })
        assert.deepStrictEqual(told.map(([, ...rest]) => rest), [
          [50, "running"],
          [50, "running"],
          [50, "running"],
          [50, "success"]
        ])
        assert.deepStrictEqual([yield* asked(false), yield* asked(true)], [4, 1])
      }))

    it.effect("answers what there is when the time is up, and how to wait on", () =>
      Effect.gen(function*() {
        const { dataAskedAt, get } = yield* running(1_000)
        const { _guidance, status } = yield* TestTime.run(get("77", 5))
        assert.strictEqual(status, "running")
        assert.strictEqual(_guidance?.example, "get_execution(id: '77', wait: 30)")
        assert.isAtLeast(dataAskedAt(), 5_000)
      }))

    it.effect("leaves time to read the data within the call", () =>
      Effect.gen(function*() {
        const { dataAskedAt, get } = yield* running(1_000)
        assert.strictEqual((yield* TestTime.run(get("77", 50))).status, "running")
        assert.isBelow(dataAskedAt(), 45_000)
      }))

    it.effect("asks for no status without it, and waits for nothing that is not there", () =>
      Effect.gen(function*() {
        const { asked, get } = yield* running(100)
        assert.strictEqual((yield* get("77")).status, "running")
        assert.strictEqual(yield* asked(false), 0)
        assert.strictEqual((yield* Effect.flip(get("78", 50)))._tag, "NotFoundError")
      }))

    it.effect("takes 0 to 50 seconds", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(tools.getExecution.run({ id: "77", wait: 51 }))
        assert.deepInclude(error, { _tag: "ValidationError", field: "wait", message: "wait must be from 0 to 50" })
      }).pipe(Effect.provide(recorded)))
  })
})
