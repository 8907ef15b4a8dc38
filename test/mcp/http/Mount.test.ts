/** MCP beside the routes of an app of its own. */
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as LayerMap from "effect/LayerMap"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Tool from "../../../src/answer/Tool.ts"
import * as Services from "../../../src/app/Services.ts"
import { arr, obj } from "../../../src/base/Json.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as Access from "../../../src/mcp/http/Access.ts"
import * as NodeServer from "../../../src/mcp/http/NodeServer.ts"
import * as Refusal from "../../../src/mcp/http/Refusal.ts"
import * as McpServer from "../../../src/mcp/McpServer.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import * as resources from "../../../src/tools/Resources.ts"
import { headersOf, request as modernRequest } from "../eras/modern.ts"

const n8n = Layer.merge(FakeN8n.layer(Demo.seed), Services.layerMemory)

const served = { name: "our-app", version: "1.2.0", tools: tools.all, resources: resources.all }

type Routes = Layer.Layer<never, never, HttpRouter.HttpRouter>

/** The app's requests, without a socket. */
const app = (mcp: Routes) =>
  Effect.gen(function*() {
    const routes = Layer.merge(HttpRouter.add("GET", "/", HttpServerResponse.text("our app")), mcp)
    const { dispose, handler } = HttpRouter.toWebHandler(Layer.provide(routes, HttpServer.layerServices), {
      disableLogger: true
    })
    yield* Effect.addFinalizer(() => Effect.promise(dispose))
    const send = (path: string, init: RequestInit = {}) =>
      Effect.promise(async () => {
        const response = await handler(new Request(`http://app.example.com${path}`, init))
        const text = await response.text()
        return {
          status: response.status,
          headers: response.headers,
          text,
          json: text.startsWith("{") && JSON.parse(text)
        }
      })
    return { handler, send }
  })

const accept = "application/json, text/event-stream"

const list = (headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", accept, ...headers },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} })
})

const connected = (transport: StreamableHTTPClientTransport) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ name: "test", version: "0" })
      await client.connect(transport as Transport)
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

class Tenant extends Context.Service<Tenant, string>()("test/Tenant") {}

class NoMember extends Schema.TaggedError<NoMember>()("NoMember", { hint: Schema.String }) {
  override readonly message = "No member"
}

/** Tells who called. */
class Name extends Context.Service<Name, string>()("test/Name") {}

const whoami = Tool.make({
  name: "whoami",
  title: "whoami",
  description: "whoami",
  annotations: Tool.readOnly,
  scopes: [],
  input: Schema.Struct({}),
  output: Schema.Struct({ name: Schema.String }),
  handler: () => Effect.map(Name, (name) => ({ name })),
  summarize: ({ name }) => ({ name }),
  message: ({ name }) => name
})

describe("an app that mounts MCP", () => {
  it.live("serves tools and resources next to an app's routes, on the app's server", () =>
    Effect.gen(function*() {
      const routes = Layer.merge(
        HttpRouter.add("GET", "/hello", HttpServerResponse.text("our app")),
        Layer.provide(McpServer.layerHttp({ ...served, path: "/ai/mcp" }), n8n)
      )
      const listening = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provideMerge(NodeServer.layer({ host: "127.0.0.1", port: 0, linger: 0 }))
      )
      const { address } = Context.get(yield* Layer.build(listening), HttpServer.HttpServer)
      const url = HttpServer.formatAddress(address)
      const client = yield* connected(new StreamableHTTPClientTransport(new URL(`${url}/ai/mcp`)))
      assert.deepInclude(client.getServerVersion(), { name: "our-app", version: "1.2.0" })
      const { tools: listed } = yield* Effect.promise(() => client.listTools())
      assert.lengthOf(listed, tools.all.length)
      const answer = yield* Effect.promise(() => client.callTool({ name: "list_workflows", arguments: { limit: 2 } }))
      assert.strictEqual(obj(obj(answer.structuredContent)?.["data"])?.["count"], 2)
      const read = yield* Effect.promise(() => client.readResource({ uri: "n8n://node/n8n-nodes-base.set" }))
      assert.lengthOf(read.contents, 1)
      assert.strictEqual(
        yield* Effect.promise(() => fetch(`${url}/hello`).then((response) => response.text())),
        "our app"
      )
    }).pipe(Effect.scoped))

  it.effect("reports the app's name and version at the app's path", () =>
    Effect.gen(function*() {
      const told = { status: "ok", name: "our-app", version: "1.2.0" }
      const { send } = yield* app(Layer.provide(McpServer.layerHttp(served), n8n))
      assert.deepStrictEqual((yield* send("/health")).json, told)
      assert.strictEqual((yield* send("/")).text, "our app")
      const elsewhere = yield* app(
        Layer.provide(
          McpServer.layerHttp({
            ...served,
            health: "/mcp/health",
            n8n: Effect.succeed("ok"),
            state: Effect.succeed("no answer")
          }),
          n8n
        )
      )
      assert.deepStrictEqual((yield* elsewhere.send("/mcp/health")).json, { ...told, n8n: "ok", state: "no answer" })
      const own = Layer.merge(
        HttpRouter.add("GET", "/health", HttpServerResponse.text("the app's")),
        Layer.provide(McpServer.layerHttp({ ...served, health: false }), n8n)
      )
      assert.strictEqual((yield* (yield* app(own)).send("/health")).text, "the app's")
    }).pipe(Effect.scoped))

  it.effect("speaks both eras, and refuses in JSON-RPC", () =>
    Effect.gen(function*() {
      const { send } = yield* app(Layer.provide(McpServer.layerHttp(served), n8n))
      const older = yield* send("/mcp", list())
      assert.lengthOf(arr(obj(older.json.result)?.["tools"]), tools.all.length)
      const message = modernRequest("server/discover")
      const modern = yield* send("/mcp", { ...list(headersOf(message)), body: JSON.stringify(message) })
      assert.strictEqual(modern.json.result.resultType, "complete")
      const broken = yield* send("/mcp", { ...list(), body: "{" })
      assert.deepStrictEqual([broken.status, broken.json.error.code], [400, -32700])
    }).pipe(Effect.scoped))

  it.effect("lets no page call but those of listed origins", () =>
    Effect.gen(function*() {
      const origin = "https://app.example.com"
      const closed = yield* app(Layer.provide(McpServer.layerHttp(served), n8n))
      assert.strictEqual((yield* closed.send("/mcp", list({ origin: "http://app.example.com" }))).status, 403)
      const { send } = yield* app(Layer.provide(McpServer.layerHttp({ ...served, allowedOrigins: [origin] }), n8n))
      const allowed = yield* send("/mcp", list({ origin }))
      assert.deepStrictEqual([allowed.status, allowed.headers.get("access-control-allow-origin")], [200, origin])
      assert.strictEqual((yield* send("/mcp", list({ origin: "https://evil.example.com" }))).status, 403)
    }).pipe(Effect.scoped))

  it.effect("keeps strangers out by the app's middleware, or by tokens that lead to an n8n each", () =>
    Effect.gen(function*() {
      const guarded = McpServer.layerHttp(served).pipe(
        Layer.provide(n8n),
        Layer.provide(
          HttpRouter.middleware((route) =>
            Effect.flatMap(
              HttpServerRequest.HttpServerRequest,
              ({ headers }) =>
                headers["x-key"] === "open sesame" ? route : Effect.succeed(HttpServerResponse.empty({ status: 401 }))
            )
          ).layer
        )
      )
      const behind = yield* app(guarded)
      assert.strictEqual((yield* behind.send("/mcp", list())).status, 401)
      assert.strictEqual((yield* behind.send("/mcp", list({ "x-key": "open sesame" }))).status, 200)

      const access = Access.make(
        ["alice", "bob"].map((client) => ({ token: Redacted.make(`${client}-token`), client }))
      )
      const { handler, send } = yield* app(
        McpServer.layerHttpWith(
          { name: "our-app", version: "1.2.0", tools: [whoami], access, callsPerMinute: 4 },
          ({ client = "nobody" }) => Effect.succeed(Context.make(Name, client))
        )
      )
      assert.strictEqual((yield* send("/mcp", list())).status, 401)
      for (const name of ["alice", "bob"]) {
        const client = yield* connected(
          new StreamableHTTPClientTransport(new URL("http://app.example.com/mcp"), {
            fetch: (url, init) => handler(new Request(url, init)),
            requestInit: { headers: { authorization: `Bearer ${name}-token` } }
          })
        )
        const { structuredContent } = yield* Effect.promise(() => client.callTool({ name: "whoami" }))
        assert.deepStrictEqual(obj(structuredContent)?.["data"], { name })
      }
      const more = list({ authorization: "Bearer alice-token" })
      const statuses = yield* Effect.forEach([1, 2, 3], () => Effect.map(send("/mcp", more), ({ status }) => status))
      assert.include(statuses, 429)
    }).pipe(Effect.scoped))

  const own = { name: "our-app", version: "1.2.0", tools: [whoami] }

  const whoamiCall = (headers: Record<string, string> = {}): RequestInit => ({
    ...list(headers),
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "whoami", arguments: {} } })
  })

  it.effect("passes what its own `access` knows of a caller to the context of the call, whose errors a model reads", () =>
    Effect.gen(function*() {
      const { send } = yield* app(McpServer.layerHttpWith(
        {
          ...own,
          access: (authorization) =>
            authorization === undefined
              ? Effect.fail(Refusal.make(403, "Members only."))
              : Effect.succeed({ client: "app", key: authorization, data: { member: authorization.slice(7) } })
        },
        ({ data }) =>
          data.member === "carol"
            ? Effect.fail(new NoMember({ hint: "Join us." }))
            : Effect.succeed(Context.make(Name, data.member))
      ))
      const refused = yield* send("/mcp", whoamiCall())
      assert.deepStrictEqual([refused.status, refused.json.error.message], [403, "Members only."])
      const answer = yield* send("/mcp", whoamiCall({ authorization: "Bearer alice" }))
      assert.deepInclude(answer.json.result.structuredContent, { data: { name: "alice" } })
      const failed = yield* send("/mcp", whoamiCall({ authorization: "Bearer carol" }))
      assert.deepInclude(JSON.parse(failed.json.result.content[0].text), {
        name: "NoMember",
        message: "No member",
        hint: "Join us."
      })
      const listed = yield* send("/mcp", list({ authorization: "Bearer carol" }))
      assert.include(listed.text, `"name":"whoami"`)
    }).pipe(Effect.scoped))

  it.effect("takes the tenant, and services of tools' middleware, from the router's middleware", () =>
    Effect.gen(function*() {
      const tenant = HttpRouter.middleware<{ provides: Tenant }>()((route) =>
        Effect.flatMap(
          HttpServerRequest.HttpServerRequest,
          ({ headers }) => Effect.provideService(route, Tenant, headers["x-tenant"] ?? "nobody")
        )
      )
      const audit: Array<string> = []
      const audited = Tool.middleware((run) =>
        Effect.flatMap(Tenant, (name) => Effect.andThen(Effect.sync(() => audit.push(name)), run))
      )
      const server = McpServer.layerHttpWith({ ...own, middleware: [audited] }, () =>
        Effect.gen(function*() {
          const { headers } = yield* HttpServerRequest.HttpServerRequest
          const name = yield* Tenant
          return Context.make(Name, `${headers["x-user"]} of ${name}`).pipe(Context.add(Tenant, name))
        }))
      // Without a middleware that provides the tenant.
      const requires: HttpRouter.Request<"Requires", Tenant> extends Layer.Services<typeof server> ? true : false = true
      assert.isTrue(requires)
      const { send } = yield* app(Layer.provide(server, tenant.layer))
      const streamed = { "x-tenant": "acme", "x-user": "alice", accept: "text/event-stream" }
      const event = yield* send("/mcp", whoamiCall(streamed))
      assert.include(event.text, `"data":{"name":"alice of acme"}`)
      const message = modernRequest("tools/call", { name: "whoami", arguments: {} })
      const modern = yield* send("/mcp", {
        ...list({ ...headersOf(message), "x-tenant": "umbrella", "x-user": "bob" }),
        body: JSON.stringify(message)
      })
      assert.deepInclude(modern.json.result.structuredContent, { data: { name: "bob of umbrella" } })
      assert.deepStrictEqual(audit, ["acme", "umbrella"])
    }).pipe(Effect.scoped))

  it.effect("keeps tenants apart whose calls are in flight together", () =>
    Effect.gen(function*() {
      const both = yield* Latch.make()
      const waiting = new Set<string>()
      const tenants = yield* LayerMap.make((name: string) => Layer.succeed(Name, name))
      const { send } = yield* app(McpServer.layerHttpWith(
        {
          ...own,
          access: (authorization = "") => Effect.succeed({ client: "app", key: authorization, data: authorization }),
          middleware: [Tool.middleware((run) =>
            Effect.gen(function*() {
              waiting.add(yield* Name)
              if (waiting.size === 2) yield* both.open
              yield* both.await
              return yield* run
            })
          )]
        },
        ({ data }) => tenants.contextEffect(data)
      ))
      const names = yield* Effect.forEach(["a", "b"], (authorization) =>
        Effect.map(
          send("/mcp", whoamiCall({ authorization })),
          ({ json }) => json.result.structuredContent.data.name
        ), { concurrency: 2 })
      assert.deepStrictEqual(names, ["a", "b"])
    }).pipe(Effect.scoped))
})
