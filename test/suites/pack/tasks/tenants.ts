/** One n8n per tenant in one program: a `LayerMap` of clients, whose executions stay apart. */
import { N8nClient, Services, tools } from "effect-n8n-mcp"
import { FakeN8n, N8nApi } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as LayerMap from "effect/LayerMap"
import * as Redacted from "effect/Redacted"

/** In production: the tenant's URL and key, and one `FetchHttpClient.layer` for all. */
const clientOf = (tenant: string) =>
  N8nClient.layer({ url: new URL(`https://${tenant}.example.test`), apiKey: Redacted.make(`key of ${tenant}`) }).pipe(
    Layer.provide(
      Layer.unwrap(
        Effect.map(N8nApi.make(seedOf(tenant)), ({ client }) => Layer.succeed(HttpClient.HttpClient, client))
      )
    )
  )

class Tenants extends LayerMap.Service<Tenants>()("app/Tenants", { lookup: clientOf, idleTimeToLive: "5 minutes" }) {}

const why = (tenant: string, id: string) =>
  tools.getExecution.call({ id }).pipe(
    Effect.map(({ failure }) => failure?.error.message),
    Effect.provide(Tenants.get(tenant))
  )

const seedOf = (tenant: string) => {
  const workflow = { id: "1", name: "Orders", nodes: [{ name: "Pay", type: "n8n-nodes-base.code" }] }
  return {
    workflows: [workflow],
    executions: [FakeN8n.failedExecution({ workflow, node: "Pay", message: `${tenant} failed` })]
  }
}

// Caches of executions are by n8n, so one set of services is for all tenants.
export const test = Effect.all([why("a", "1"), why("b", "1"), why("a", "1")]).pipe(
  Effect.provide([Tenants.layer, Services.layerMemory])
)

export const expected = ["a failed", "b failed", "a failed"]
