import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Documents from "../../src/base/Documents.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import { cron, iso, layer, minute, poll, published, webhook } from "./simulation.ts"

const start = Date.parse("2026-03-02T08:00:00Z")

const workflows = Array.from(
  { length: 500 },
  (_, index) =>
    published(`w${index}`, index % 2 === 0 ? cron(`${index % 60} * * * *`) : webhook, { name: `在庫 ${index}` })
)

const executions = Array.from({ length: 12_000 }, (_, index) => {
  const at = start - (12_000 - index) * minute
  return {
    id: String(index + 1),
    workflowId: `w${index % 500}`,
    mode: index % 2 === 0 ? "trigger" : "webhook",
    status: index % 10 === 0 ? "error" : "success",
    startedAt: iso(at),
    stoppedAt: iso(at + 2_000)
  }
})

it.effect("the first poll of 500 workflows reads 10,000 runs, reports none of them and stays small", () =>
  Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const first = yield* poll()
    assert.deepStrictEqual(first.incidents, [])
    assert.isAtMost(first.requests, 40 + 1 + 4 + 1)
    yield* TestClock.adjust(minute)
    const second = yield* poll()
    assert.deepStrictEqual([second.incidents, second.unknown], [[], []])
    assert.isAtMost(second.requests, 8)
    const { instance } = yield* N8nClient
    const bytes = yield* (yield* Documents.Documents).collection("watch", instance.key).read("state.json.gz")
    assert.isBelow(bytes?.length ?? Infinity, 400_000)
  }).pipe(Effect.provide(layer({ workflows, executions }))))
