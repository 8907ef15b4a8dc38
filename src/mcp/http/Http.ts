/**
 * MCP over HTTP, stateless, so that any number of processes can run behind one load balancer.
 *
 * | | |
 * | --- | --- |
 * | `GET /health` | name and version, and whether n8n and the database answer |
 * | `POST /mcp` | Streamable HTTP of both eras: one JSON answer, or an event stream if the call has a progressToken |
 * | `POST /mcp/tools` | `{tools:[{name,description,inputSchema,outputSchema}]}` |
 * | `POST /mcp/execute` | `{name, parameters}`: a tool's answer, or `{error:{message,code,details}}` |
 * | `GET /.well-known/oauth-protected-resource` | with an identity provider: where clients obtain a token (RFC 9728) |
 */
import * as Effect from "effect/Effect"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type * as Scope from "effect/Scope"
import type { IncomingMessage } from "node:http"
import * as contexts from "../contexts.ts"
import { McpTransport, type Served } from "../McpTransport.ts"
import * as Rpc from "../Rpc.ts"
import * as AccessLog from "./accessLog.ts"
import * as Exchange from "./exchange.ts"
import * as Execute from "./execute.ts"
import * as Gate from "./gate.ts"
import * as Hosts from "./Hosts.ts"
import * as Refusal from "./Refusal.ts"
import { cors, foreignOrigin, type Health, health, only, posted } from "./route.ts"

/** Access, limits and host names of the server; each has a default. */
export interface Options extends Gate.Options, Hosts.Names, Health {
  /** Store of rate limits; by default in this process only. */
  readonly limits?: Layer.Layer<RateLimiter.RateLimiterStore> | undefined
  /** Metadata that shows clients where to obtain a token, and its paths (RFC 9728). */
  readonly resource?: { readonly metadata: object; readonly paths: ReadonlyArray<string> } | undefined
}

/** Selects a route by the exact path: a router would decode it and ignore case, unlike the rules of a proxy. */
const dispatch = Effect.fnUntraced(
  function*<A, R>(routes: Readonly<Record<string, Effect.Effect<A, Refusal.Refusal, R>>>) {
    const path = AccessLog.pathOf(yield* HttpServerRequest.HttpServerRequest)
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined
    if (route === undefined) {
      const paths = "This server has GET /health, POST /mcp, POST /mcp/tools and POST /mcp/execute."
      return yield* Effect.fail(Refusal.make(404, `Not found. ${paths}`))
    }
    yield* Effect.annotateCurrentSpan("http.route", path)
    // The server makes it uninterruptible, but a caller who disconnects must end the call.
    return yield* Effect.interruptible(route)
  }
)

/** Refuses requests to another host and from other sites' pages. */
const checkSource = Effect.fnUntraced(function*(names: Hosts.Names) {
  const { headers, source } = yield* HttpServerRequest.HttpServerRequest
  const { host, origin } = headers
  const { rawHeaders = [], socket } = source as Partial<IncomingMessage>
  const twice = Hosts.ambiguous(rawHeaders)
  if (twice !== undefined) {
    return yield* Effect.fail(Refusal.invalid(`The header '${twice}' occurs twice.`, Rpc.codes.invalidRequest))
  }
  if (!Hosts.isOwnHost(names, host, socket?.localAddress)) {
    const message = host === undefined
      ? "A Host header is needed."
      : `Host '${host}' is not a name of this server. The operator can add it with --allowed-hosts.`
    return yield* Effect.fail(Refusal.make(403, message))
  }
  if (origin !== undefined && !Hosts.isOwnOrigin(names, origin, host)) {
    return yield* Effect.fail(foreignOrigin(origin))
  }
})

/**
 * Serves on the ambient `HttpServer`; at the end, calls in flight are answered and new connections refused.
 *
 * Everything has a default. Without `access`, everyone who reaches the server may call.
 *
 * **Example** (A server with a token)
 *
 * ```ts
 * import { N8nClient, Services, tools } from "effect-n8n-mcp"
 * import { Access, Http, McpServer, NodeServer } from "effect-n8n-mcp/mcp"
 * import * as Config from "effect/Config"
 * import * as Effect from "effect/Effect"
 * import * as FetchHttpClient from "effect/http/FetchHttpClient"
 * import * as Layer from "effect/Layer"
 *
 * const transport = Layer.unwrap(
 *   Effect.map(Config.Redacted("OUR_TOKEN"), (token) => Http.layer({ access: Access.make([{ token, client: "us" }]) }))
 * )
 *
 * export const main = McpServer.serve({ name: "our-n8n", version: "1.0.0", tools: tools.standard }).pipe(
 *   Effect.provide([
 *     Layer.provide(transport, NodeServer.layer({ port: 3000 })),
 *     Layer.provide(N8nClient.layerConfig(), FetchHttpClient.layer),
 *     Services.layer()
 *   ])
 * )
 * ```
 */
export const layer = (options: Options = {}): Layer.Layer<McpTransport, never, HttpServer.HttpServer> =>
  Layer.effect(
    McpTransport,
    Effect.gen(function*() {
      const http = yield* Effect.context<HttpServer.HttpServer>()
      const gate = yield* Gate.make(options)
      const { admit, identify } = gate
      const { metadata = {}, paths = [] } = options.resource ?? {}
      const metadataRoute = only("GET", Effect.sync(() => HttpServerResponse.jsonUnsafe(metadata)))

      const post = posted(gate)
      const routes = (served: Served) => ({
        ...Object.fromEntries(paths.map((path) => [path, metadataRoute])),
        "/health": only("GET", health(served, options)),
        "/mcp": post((caller, body) => Exchange.streamable(served, caller, body)),
        "/mcp/tools": only(
          "POST",
          Effect.flatMap(identify, (caller) => Effect.andThen(admit(caller), Execute.tools(served, caller)))
        ),
        "/mcp/execute": post((caller, body) => Execute.call(served, caller, body))
      })

      return {
        serve: (served) =>
          Effect.gen(function*() {
            let draining = false
            const answers = routes(served)
            const app = checkSource(options).pipe(
              Effect.andThen(cors(options.allowedOrigins ?? [])(dispatch(answers))),
              Refusal.handle((path) => path === "/mcp"),
              Effect.map((response) =>
                draining ? HttpServerResponse.setHeader(response, "connection", "close") : response
              )
            )
            yield* HttpServer.serveEffect(app, AccessLog.middleware).pipe(
              Effect.updateContext(contexts.layered<HttpServer.HttpServer | Scope.Scope>),
              Effect.provideService(HttpMiddleware.SpanNameGenerator, (request) => {
                const path = AccessLog.pathOf(request)
                return Object.hasOwn(answers, path) ? `${request.method} ${path}` : request.method
              }),
              // Load balancers poll it.
              Effect.provideService(HttpMiddleware.TracerDisabledWhen, (request) =>
                AccessLog.pathOf(request) === "/health")
            )
            // Runs before the server stops listening; the next answer on an open connection is its last.
            yield* Effect.addFinalizer(() =>
              Effect.sync(() => void (draining = true))
            )
            return yield* Effect.never
          }).pipe(Effect.scoped, Effect.provideContext(http))
      }
    })
  ).pipe(Layer.provide(RateLimiter.layer), Layer.provide(options.limits ?? RateLimiter.layerStoreMemory))
