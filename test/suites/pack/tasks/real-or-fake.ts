/** One suite for an n8n in memory and a real one: with `N8N_URL` and `N8N_API_KEY`, it runs against that n8n. */
import { N8nClient, Services, tools } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"

const isReal = process.env["N8N_URL"] !== undefined

// Nothing runs in memory: `runs` is what a webhook's call leaves behind.
const n8n: Layer.Layer<N8nClient.N8nClient, unknown> = isReal
  ? Layer.provide(N8nClient.layerConfig(), FetchHttpClient.layer)
  : FakeN8n.layer({}, { runs: (workflow) => FakeN8n.succeededExecution({ workflow }) })

const node = (name: string, type: string, parameters: object) => ({
  id: name,
  name,
  type: `n8n-nodes-base.${type}`,
  typeVersion: type === "webhook" ? 2 : 1,
  position: [0, 0],
  parameters
})

const orders = {
  name: "Orders (example)",
  nodes: [node("Hook", "webhook", { path: "orders-example", httpMethod: "POST" }), node("End", "noOp", {})],
  connections: { Hook: { main: [[{ node: "End", type: "main", index: 0 }]] } }
}

export const test = Effect.gen(function*() {
  const { id } = yield* tools.createWorkflow.call(orders)
  const outcome = yield* tools.testWorkflow.call({ workflowId: id, testData: { order: 1 } })
  const refused = yield* Effect.flip(tools.createWorkflow.call({ ...orders, nodes: [{}] }))
  yield* tools.deleteWorkflow.call({ id, confirm: true })
  const gone = yield* Effect.flip(tools.getWorkflow.call({ id }))
  return [outcome.status, refused._tag, gone._tag]
}).pipe(Effect.provide(Layer.merge(n8n, Services.layerMemory)))

export const expected = ["success", "ValidationError", "NotFoundError"]
