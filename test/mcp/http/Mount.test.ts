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
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Tool from "../../../src/answer/Tool.ts"
import * as Services from "../../../src/app/Services.ts"
import { arr, obj } from "../../../src/base/Json.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as Access from "../../../src/mcp/http/Access.ts"
import * as NodeServer from "../../../src/mcp/http/NodeServer.ts"
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
        ["alice", "bob"].map((client) => ({ token: Redacted.make(`${client}-token`), client })),
        undefined
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
})
