/**
 * MCP as routes of an app's `HttpRouter`: the app listens, logs, and decides with its middleware who may call.
 *
 * Requests from browser pages are refused unless their origin is listed, since a page could otherwise call a server on
 * the user's machine (DNS rebinding). Programs send no `Origin`.
 */
import * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type { Served } from "../McpTransport.ts"
import type { Identity } from "./Access.ts"
import * as Exchange from "./exchange.ts"
import * as Gate from "./gate.ts"
import * as Refusal from "./Refusal.ts"
import { cors, foreignOrigin, type Health, health, only, posted } from "./route.ts"

/** Paths and access, besides the app's own middleware. */
export interface Options<C extends Identity = Identity> extends Gate.Options<C>, Health {
  /** Path of MCP. Default: `/mcp`. */
  readonly path?: HttpRouter.PathInput
  /** Path that returns name and version, or `false` for no such route. Default: `/health`. */
  readonly health?: HttpRouter.PathInput | false
  /** Origins of pages that may call, such as `https://app.example.com`. Default: none. */
  readonly allowedOrigins?: ReadonlyArray<string>
}

export const add = Effect.fnUntraced(function*(router: HttpRouter.HttpRouter, served: Served, options: Options) {
  const { allowedOrigins = [], path = "/mcp" } = options
  const gate = yield* Gate.make(options)
  const mounted = <R>(
    isRpc: boolean,
    route: Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal.Refusal, R>
  ) =>
    Effect.gen(function*() {
      const { headers: { origin } } = yield* HttpServerRequest.HttpServerRequest
      if (origin !== undefined && !allowedOrigins.includes(origin)) return yield* Effect.fail(foreignOrigin(origin))
      return yield* route
    }).pipe(cors(allowedOrigins), Refusal.handle(() => isRpc))

  const post = posted(gate)((caller, body) => Exchange.streamable(served, caller, body))
  yield* router.add("*", path, mounted(true, post))
  if (options.health !== false) {
    yield* router.add("*", options.health ?? "/health", mounted(false, only("GET", health(served, options))))
  }
}, Effect.provide(Layer.provide(RateLimiter.layer, RateLimiter.layerStoreMemory)))
