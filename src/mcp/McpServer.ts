/** Servers of tools, resources and prompts: on a transport, or on the `HttpRouter` of an app. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { ParentSpan } from "effect/Tracer"
import type * as Tool from "../answer/Tool.ts"
import type * as Errors from "../base/Errors.ts"
import type { Identity } from "./http/Access.ts"
import * as Mount from "./http/Mount.ts"
import { type Caller, McpTransport, type Served } from "./McpTransport.ts"
import * as Protocol from "./Protocol.ts"

export type { Options } from "./Protocol.ts"

/** Services for all calls, without span and scope of the server's start: each call has its own. */
const sharedContext = <R>(): Effect.Effect<Context.Context<R>, never, R> =>
  Effect.map(Effect.context<R>(), (context) => Context.omit(Scope.Scope, ParentSpan)(context) as typeof context)

const serving = (served: Effect.Effect<Served>) =>
  Effect.flatMap(served, (served) => McpTransport.use(({ serve }) => serve(served)))

/**
 * Serves tools on the ambient transport until the peer disconnects, with services of each call from `contextFor`, so
 * that each caller can have an n8n of their own or be read-only (`Tool.ReadOnly`).
 *
 * **Details**
 *
 * Services that `contextFor` does not return are those of the server, the same for all calls. It may fail: the model
 * reads its error as that of the tool. Tools, prompts and templates are listed nevertheless, and other methods answer a
 * JSON-RPC error. A call that it refuses does not reach `middleware`: an audit of refused callers belongs in
 * `contextFor` itself, with `Effect.tapError`. Its scope ends with the call. Calls in flight are interrupted when serving
 * ends or the client cancels them.
 *
 * **Example** (An n8n for each client, and an answer to those without one)
 *
 * ```ts
 * import { Services, tools } from "effect-n8n-mcp"
 * import { McpServer } from "effect-n8n-mcp/mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as LayerMap from "effect/LayerMap"
 * import * as Schema from "effect/Schema"
 *
 * class UnknownClient extends Schema.TaggedError<UnknownClient>()("UnknownClient", { hint: Schema.String }) {
 *   override readonly message = "This client has no n8n"
 * }
 *
 * // In production: N8nClient.layer with the client's URL and key.
 * class Clients extends LayerMap.Service<Clients>()("app/Clients", { lookup: (_name: string) => FakeN8n.layer() }) {}
 *
 * export const server = McpServer.serveWith(
 *   { name: "our-n8n", version: "1.0.0", tools: tools.standard },
 *   ({ client }) =>
 *     client === undefined
 *       ? Effect.fail(new UnknownClient({ hint: "Ask us for a token." }))
 *       : Clients.contextEffect(client)
 * ).pipe(Effect.provide([Clients.layer, Services.layerMemory]))
 * ```
 */
export const serveWith = <T extends Tool.Any, P, E extends Errors.Failure, R, M extends Tool.Middleware = never>(
  options: Protocol.Options<T, M>,
  contextFor: (caller: Caller) => Effect.Effect<Context.Context<P>, E, R>
): Effect.Effect<void, never, McpTransport | Exclude<Tool.Services<T | M>, P> | Exclude<R, Scope.Scope>> =>
  Effect.flatMap(sharedContext<Exclude<Tool.Services<T | M>, P> | Exclude<R, Scope.Scope>>(), (shared) =>
    serving(
      Protocol.make<T, M, P>(options, shared, (caller) => {
        const own = contextFor(caller)
        // The shared services include those of `contextFor`, apart from the scope.
        return (Exit.isExit(own) ? own : Effect.provideContext(own, shared)) as Effect.Effect<
          Context.Context<P>,
          E,
          Scope.Scope
        >
      })
    ))

/** Serves tools with the ambient services: one n8n for every call. */
export const serve = <T extends Tool.Any, M extends Tool.Middleware = never>(
  options: Protocol.Options<T, M>
): Effect.Effect<void, never, McpTransport | Tool.Services<T> | Tool.Services<M>> =>
  Effect.flatMap(sharedContext<Tool.Services<T | M>>(), (shared) => serving(Protocol.make<T, M>(options, shared)))

/** Server on an app's router: its contents, paths and access. */
export interface HttpOptions<
  T extends Tool.Any,
  M extends Tool.Middleware = never,
  C extends Identity = Identity
> extends Protocol.Options<T, M>, Mount.Options<C> {}

const mounted = <T extends Tool.Any, M extends Tool.Middleware, P = never>(
  options: Protocol.Options<T, M> & Mount.Options,
  contextFor?: (caller: Caller) => Effect.Effect<Context.Context<P>, Errors.Failure, Scope.Scope>
): Layer.Layer<never, never, HttpRouter.HttpRouter | Exclude<Tool.Services<T | M>, P>> =>
  HttpRouter.use(Effect.fnUntraced(function*(router) {
    yield* Mount.add(
      router,
      yield* Protocol.make<T, M, P>(options, yield* sharedContext<Exclude<Tool.Services<T | M>, P>>(), contextFor),
      options
    )
  }))

/**
 * Mounts a server on an `HttpRouter`, with services of each call from `contextFor`, as in {@link serveWith}.
 *
 * **Details**
 *
 * `access` identifies the caller, and `contextFor` receives what it returned, with its type. Callers that one of them
 * refuses do not reach `middleware`: there is the place to audit them. `contextFor` may also need
 * the `HttpServerRequest` and whatever the app's `HttpRouter.middleware` provides: without that middleware the layer
 * does not compile. `HttpRouter.provideRequest` provides services of the app, such as a `LayerMap`. A service of a tool
 * or a middleware that the router's middleware provides is one that `contextFor` passes on:
 * `() => Effect.map(Tenant, (tenant) => Context.make(Tenant, tenant))`.
 *
 * **Example** (An n8n for each tenant, who has a token)
 *
 * ```ts
 * import { Services, tools } from "effect-n8n-mcp"
 * import { McpServer, Refusal } from "effect-n8n-mcp/mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
 * import * as Layer from "effect/Layer"
 * import * as LayerMap from "effect/LayerMap"
 *
 * // In production: N8nClient.layer with the tenant's URL and key.
 * class Tenants extends LayerMap.Service<Tenants>()("app/Tenants", { lookup: (_tenant: string) => FakeN8n.layer() }) {}
 *
 * // In production: the tenants of sessions, say, or of the digests of tokens.
 * const tenants = new Map([["Bearer token-of-a", "a"]])
 *
 * export const routes = McpServer.layerHttpWith(
 *   {
 *     name: "our-n8n",
 *     version: "1.0.0",
 *     tools: tools.standard,
 *     access: (authorization) => {
 *       const tenant = tenants.get(authorization ?? "")
 *       return tenant === undefined
 *         ? Effect.fail(Refusal.unauthorized(authorization !== undefined))
 *         : Effect.succeed({ client: "app", key: tenant, data: { tenant } })
 *     }
 *   },
 *   ({ data }) => Tenants.contextEffect(data.tenant)
 * ).pipe(HttpRouter.provideRequest(Tenants.layer), Layer.provide(Services.layerMemory))
 * ```
 */
export const layerHttpWith = <
  T extends Tool.Any,
  P,
  E extends Errors.Failure,
  R,
  M extends Tool.Middleware = never,
  C extends Identity = Identity
>(
  options: HttpOptions<T, M, C>,
  contextFor: (caller: C) => Effect.Effect<Context.Context<P>, E, R>
): Layer.Layer<
  never,
  never,
  | HttpRouter.HttpRouter
  | Exclude<Tool.Services<T | M>, P>
  | HttpRouter.Request.From<"Requires", Exclude<R, HttpRouter.Provided>>
> =>
  // `access` returns the caller, and the router provides the services of a request.
  mounted<T, M, P>(options, contextFor as never)

/**
 * Mounts a server on an existing `HttpRouter`, beside the app's other routes.
 *
 * `POST` at `path` (`/mcp`) is MCP's Streamable HTTP of both eras, without sessions; `GET` at `health` (`/health`)
 * returns name and version. The app's `HttpRouter.middleware` or `access` decides who may call; browser pages may call
 * only from `allowedOrigins`.
 *
 * **Example** (An app with another route)
 *
 * ```ts
 * import { Services, tools } from "effect-n8n-mcp"
 * import { McpServer } from "effect-n8n-mcp/mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
 * import * as HttpServer from "effect/http/HttpServer"
 * import * as HttpServerResponse from "effect/http/HttpServerResponse"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const routes = Layer.merge(
 *   HttpRouter.add("GET", "/", HttpServerResponse.text("our app")),
 *   McpServer.layerHttp({ path: "/mcp", name: "our-app", version: "1.2.0", tools: [tools.listWorkflows] })
 * )
 *
 * // In a server: HttpRouter.serve(routes), with N8nClient.layerConfig() instead of the fake.
 * export const test = Effect.promise(async () => {
 *   const n8n = Layer.merge(FakeN8n.layer({ workflows: [], executions: [] }), Services.layerMemory)
 *   const { dispose, handler } = HttpRouter.toWebHandler(
 *     routes.pipe(Layer.provide(n8n), Layer.provide(HttpServer.layerServices)),
 *     { disableLogger: true }
 *   )
 *   const response = await handler(new Request("http://localhost/health"))
 *   const health = await response.json()
 *   await dispose()
 *   return health // { status: "ok", name: "our-app", version: "1.2.0" }
 * })
 * ```
 */
export const layerHttp = <T extends Tool.Any, M extends Tool.Middleware = never>(
  options: HttpOptions<T, M>
): Layer.Layer<never, never, HttpRouter.HttpRouter | Tool.Services<T> | Tool.Services<M>> => mounted<T, M>(options)
