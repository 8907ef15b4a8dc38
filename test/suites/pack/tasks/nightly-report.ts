/** A nightly report at six: what failed since yesterday, most frequent first; an n8n that is away is asked again. */
import { Executions, Hints, Triage } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"

const report = Effect.gen(function*() {
  const startedAfter = DateTime.subtract(yield* DateTime.now, { days: 1 })
  const { groups, names } = yield* Triage.byFailure({ startedAfter, last: 500 })
  return groups.map(({ count, message, node, workflowId }) =>
    `${count} x ${names.get(workflowId)} / ${node}: ${message}`
  )
}).pipe(
  Effect.retry({ times: 3, while: (error) => error._tag === "ApiError" && error.isRetryable }),
  Effect.catch((error) => Effect.succeed([Hints.explain(error)]))
)

export const main = report.pipe(Effect.tap(Effect.log), Effect.schedule(Schedule.cron("0 6 * * *", "Asia/Tokyo")))

const workflow = (id: string, name: string) => ({ id, name, nodes: [{ name: "Pay", type: "n8n-nodes-base.code" }] })
const orders = workflow("w1", "Orders")
const refunds = workflow("w2", "Refunds")

export const test = Effect.gen(function*() {
  const fake = yield* FakeN8n.FakeN8n
  for (const [index, each] of [refunds, orders, orders].entries()) {
    const message = `card ${index} declined`
    yield* fake.addExecution(FakeN8n.failedExecution({ workflow: each, node: "Pay", message }))
  }
  const failures = yield* report
  yield* fake.failTimes(100, 401)
  return [...failures, ...yield* report]
}).pipe(
  Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [orders, refunds], executions: [] }), Executions.layer()))
)

export const expected = [
  "2 x Orders / Pay: card {1} declined",
  "1 x Refunds / Pay: card 0 declined",
  "Failed to list executions (HTTP 401): simulated failure. n8n rejected the API key. Create keys in n8n under Settings > n8n API."
]
