import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as Documents from "../../src/base/Documents.ts"
import * as Executions from "../../src/executions/Executions.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as Watch from "../../src/watch/Watch.ts"
import { main, node, workflow } from "../support/workflows.ts"

const minute = 60_000
const start = Date.parse("2026-03-02T08:00:00Z")
const iso = (time: number) => new Date(time).toISOString()

const orders = workflow("orders", [node("Call", "webhook", 2), node("Pay", "code", 2)], {
  active: true,
  connections: { Call: main("Pay") }
})

const fail = (at: number, message: string) =>
  FakeN8n.failedExecution({ workflow: orders, node: "Pay", message, startedAt: iso(at) })

const layer = (seed: Parameters<typeof FakeN8n.layer>[0]) =>
  Layer.mergeAll(FakeN8n.layer(seed), Executions.layer(), Documents.layerMemory)

const poll = Effect.gen(function*() {
  const report = yield* Watch.poll({ every: minute })
  yield* Watch.settle(report, true)
  return report
})

describe("a watch", () => {
  it.effect("reports nothing of the past, and each cause once", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const fake = yield* FakeN8n.FakeN8n
      assert.deepStrictEqual((yield* poll).incidents, [])
      yield* TestClock.adjust(minute)
      assert.deepStrictEqual((yield* poll).incidents, [])
      yield* fake.addExecution(fail(start + minute + 1, "card 1 declined"))
      yield* fake.addExecution(fail(start + minute + 2, "card 2 declined"))
      yield* TestClock.adjust(minute)
      const { incidents, requests } = yield* poll
      assert.deepStrictEqual(incidents.map(({ count, kind, what }) => [kind, count, what]), [
        ["failed", 2, "'orders' failed at 'Pay': card 2 declined"]
      ])
      assert.isAtMost(requests, 8)
      yield* fake.addExecution(fail(start + 2 * minute + 1, "card 3 declined"))
      yield* TestClock.adjust(minute)
      assert.deepStrictEqual((yield* poll).incidents, [])
    }).pipe(
      Effect.provide(
        layer({
          workflows: [orders],
          executions: [{ ...fail(start - minute, "old"), id: "1", startedAt: iso(start - minute) }]
        })
      )
    ))
})
