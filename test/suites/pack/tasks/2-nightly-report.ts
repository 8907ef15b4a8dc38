/** A nightly report: what failed since yesterday, by workflow and node, most frequent first. */
import { N8nClient, Services, tools } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const report = Effect.gen(function*() {
  const n8n = yield* N8nClient.N8nClient
  const since = DateTime.subtract(yield* DateTime.now, { days: 1 })
  const failed = yield* n8n.streamExecutions({ status: "error", startedAfter: DateTime.formatIso(since) }).pipe(
    Stream.mapEffect(({ id }) => tools.getExecution.call({ id: String(id) }), { concurrency: 4 }),
    Stream.runCollect
  )
  const byPlace = Map.groupBy(failed, ({ failure, workflowName }) => `${workflowName} / ${failure?.node}`)
  return [...byPlace]
    .map(([place, runs]) => ({ place, times: runs.length, last: runs[0]?.failure?.error.message }))
    .toSorted((a, b) => b.times - a.times)
})

const workflow = (id: string, name: string) => ({ id, name, nodes: [{ name: "Pay", type: "n8n-nodes-base.code" }] })
const orders = workflow("w1", "Orders")
const refunds = workflow("w2", "Refunds")

export const test = Effect.gen(function*() {
  const fake = yield* FakeN8n.FakeN8n
  for (const each of [refunds, orders, orders]) {
    yield* fake.addExecution(FakeN8n.failedExecution({ workflow: each, node: "Pay", message: "card declined" }))
  }
  return yield* report
}).pipe(
  Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [orders, refunds], executions: [] }), Services.layerMemory))
)

export const expected = [
  { place: "Orders / Pay", times: 2, last: "card declined" },
  { place: "Refunds / Pay", times: 1, last: "card declined" }
]
