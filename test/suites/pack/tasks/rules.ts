/** A rule of one's own: reported by every validation, and never written, whichever way a write takes. */
import { N8nClient, Policy, Services, tools, WorkflowValidation } from "effect-n8n-mcp"
import { Workflow } from "effect-n8n-mcp/domain"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const noPlainHttp: WorkflowValidation.Rule = {
  id: "acme/no-plain-http",
  check: (workflow) =>
    Workflow.nodes(workflow).flatMap((node, index) =>
      String(Workflow.parametersOf(node)["url"]).startsWith("http:")
        ? [{ severity: "error", path: `nodes[${index}].parameters.url`, message: "This is not https." }]
        : []
    )
}

const rules = Layer.merge(WorkflowValidation.layerRules([noPlainHttp]), Policy.layer({}, [noPlainHttp]))

const node = { id: "a", name: "Call", type: "n8n-nodes-base.httpRequest", typeVersion: 4, position: [0, 0] }
const orders = { name: "Orders", nodes: [{ ...node, parameters: { url: "http://a.example" } }], connections: {} }
const n8n = Layer.merge(FakeN8n.layer({ workflows: [{ id: "1", ...orders }] }), Services.layerMemory)

export const test = Effect.gen(function*() {
  const { problems } = yield* tools.validateWorkflow.call({ workflowId: "1" })
  const byTool = yield* Effect.flip(tools.createWorkflow.call(orders))
  const byClient = yield* N8nClient.N8nClient.use((client) => Effect.flip(client.createWorkflow(orders)))
  return [problems.some(({ message }) => message === "This is not https."), byTool.message, byClient._tag]
}).pipe(Effect.provide(Layer.provideMerge(rules, n8n)))

export const expected = [true, "The policy forbids it. acme/no-plain-http: This is not https", "ValidationError"]
