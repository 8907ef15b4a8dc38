/** A test of an app's logic: it switches off what fails three times in a row, though n8n stumbles meanwhile. */
import { N8nClient } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

const switchOff = (workflowId: string) =>
  Effect.gen(function*() {
    const n8n = yield* N8nClient.N8nClient
    const last = yield* n8n.streamExecutions({ workflowId }).pipe(Stream.take(3), Stream.runCollect)
    if (last.length < 3 || last.some(({ status }) => status !== "error")) return false
    yield* n8n.unpublishWorkflow(workflowId)
    return true
  })

const workflow = {
  id: "w1",
  name: "Orders",
  active: true,
  nodes: [{ name: "Pay", type: "n8n-nodes-base.code" }]
}

export const test = Effect.gen(function*() {
  const fake = yield* FakeN8n.FakeN8n
  const fails = fake.addExecution(FakeN8n.failedExecution({ workflow, node: "Pay", message: "card declined" }))
  yield* fails
  yield* fails
  const early = yield* switchOff("w1")
  yield* fails
  yield* fake.failTimes(2, 503)
  const running = yield* Effect.forkChild(switchOff("w1"))
  yield* TestClock.adjust("1 minute")
  const late = yield* Fiber.join(running)
  const [{ active } = {}] = yield* fake.workflows
  return { early, late, active }
}).pipe(
  Effect.provide([FakeN8n.layer({ workflows: [workflow], executions: [] }), TestClock.layer()])
)

export const expected = { early: false, late: true, active: false }
