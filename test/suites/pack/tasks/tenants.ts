/** One n8n per tenant on one server: a token names the tenant, a `LayerMap` has the clients, executions stay apart. */
import { N8nClient, Services, tools } from "effect-n8n-mcp"
import { McpServer, Refusal } from "effect-n8n-mcp/mcp"
import { FakeN8n, N8nApi } from "effect-n8n-mcp/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as LayerMap from "effect/LayerMap"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

class UnknownTenant extends Schema.TaggedError<UnknownTenant>()("UnknownTenant", { tenant: Schema.String }) {
  override get message() {
    return `'${this.tenant}' has no n8n here`
  }
  get hint() {
    return "Ask us to connect it."
  }
}

const connected = new Set(["a", "b"])

/** In production: the tenant's URL and key, and one `FetchHttpClient.layer` for all. */
const clientOf = (tenant: string) =>
  Layer.unwrap(Effect.gen(function*() {
    if (!connected.has(tenant)) return yield* new UnknownTenant({ tenant })
    const { client } = yield* N8nApi.make(seedOf(tenant))
    return N8nClient.layer({
      url: new URL(`https://${tenant}.example.test`),
      apiKey: Redacted.make(`key of ${tenant}`)
    })
      .pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, client)))
  }))

class Tenants extends LayerMap.Service<Tenants>()("app/Tenants", { lookup: clientOf, idleTimeToLive: "5 minutes" }) {}

const seedOf = (tenant: string) => {
  const workflow = { id: "1", name: "Orders", nodes: [{ name: "Pay", type: "n8n-nodes-base.code" }] }
  return {
    workflows: [workflow],
    executions: [FakeN8n.failedExecution({ workflow, node: "Pay", message: `${tenant} failed` })]
  }
}

// What `access` knows of a caller is typed in `contextFor`, whose error the model reads as the tool's.
const server = McpServer.layerHttpWith(
  {
    name: "our-n8n",
    version: "1.0.0",
    tools: tools.standard,
    access: (authorization) => {
      const [, tenant] = /^Bearer token-of-(.+)$/.exec(authorization ?? "") ?? []
      return tenant === undefined
        ? Effect.fail(Refusal.unauthorized(authorization !== undefined))
        : Effect.succeed({ client: tenant, key: tenant, data: { tenant } })
    }
  },
  ({ data }) => Tenants.contextEffect(data.tenant)
)

class Tenant extends Context.Service<Tenant, string>()("app/Tenant") {}

/** In production: the tenant of the session's cookie. */
const session = HttpRouter.middleware<{ provides: Tenant }>()((route) =>
  Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    ({ headers }) => Effect.provideService(route, Tenant, headers["x-session"] ?? "nobody")
  )
)

// The app's own middleware knows the tenant: without it, `HttpRouter.toWebHandler` asks for the `Tenant`.
const behindSession = McpServer.layerHttpWith(
  { path: "/session/mcp", health: "/session/health", name: "our-n8n", version: "1.0.0", tools: tools.standard },
  () => Effect.flatMap(Tenant, (tenant) => Tenants.contextEffect(tenant))
).pipe(Layer.provide(session.layer))

// Caches of executions are by n8n, so one set of services is for all tenants.
const app = Layer.merge(server, behindSession).pipe(
  HttpRouter.provideRequest(Tenants.layer),
  Layer.provide([Services.layerMemory, HttpServer.layerServices])
)

const why = (tenant: string) => ({
  method: "POST",
  headers: {
    "content-type": "application/json",
    accept: "application/json",
    ...(tenant === "" ? {} : { authorization: `Bearer token-of-${tenant}` })
  },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "get_execution", arguments: { id: "1" } }
  })
})

export const test = Effect.promise(async () => {
  const { dispose, handler } = HttpRouter.toWebHandler(app, { disableLogger: true })
  const answers = await Promise.all(["a", "b", "a", "c", ""].map(async (tenant) => {
    const response = await handler(new Request("http://localhost/mcp", why(tenant)))
    const text = await response.text()
    const [reason] = /(a|b) failed|'c' has no n8n here/.exec(text) ?? []
    return reason ?? response.status
  }))
  const request = why("")
  const headers = { ...request.headers, "x-session": "b" }
  const response = await handler(new Request("http://localhost/session/mcp", { ...request, headers }))
  const [reason] = /(a|b) failed/.exec(await response.text()) ?? []
  await dispose()
  return [...answers, reason]
})

export const expected = ["a failed", "b failed", "a failed", "'c' has no n8n here", 401, "b failed"]
