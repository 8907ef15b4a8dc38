/**
 * MCP as routes of an app's `HttpRouter`: the app listens, logs, and decides with its middleware who may call.
 *
 * **Details**
 *
 * Requests from browser pages are refused unless their origin is listed, since a page could otherwise call a server on
 * the user's machine (DNS rebinding). Programs send no `Origin`.
 */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type { Served } from "../McpTransport.ts"
import * as Access from "./Access.ts"
import * as Exchange from "./exchange.ts"
import * as Gate from "./gate.ts"
import * as Refusal from "./refusal.ts"
import * as RequestBody from "./requestBody.ts"
import { cors, type Health, health, posted } from "./route.ts"

/** Paths and access, besides the app's own middleware. */
export interface Options extends Partial<Gate.Options>, Health {
  /** Path of MCP. Default: `/mcp`. */
  readonly path?: HttpRouter.PathInput
  /** Path of name and version, or `false` for none. Default: `/health`. */
  readonly health?: HttpRouter.PathInput | false
  /** Origins of pages that may call, such as `https://app.example.com`. Default: none. */
  readonly allowedOrigins?: ReadonlyArray<string>
}

/** Default maximum of concurrent calls. */
const maxInFlight = 256

/** Adds the routes. */
export const add = Effect.fnUntraced(function*(router: HttpRouter.HttpRouter, served: Served, options: Options) {
  const { allowedOrigins = [], path = "/mcp" } = options
  const gate = yield* Gate.make({
    access: Access.make([], undefined),
    callsPerMinute: undefined,
    maxInFlight,
    ...options
  })
  const answer = posted(gate)((caller, body) => Exchange.streamable(served, caller, body))

  const mounted = <R>(
    method: "GET" | "POST",
    route: Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal.Refusal, R>
  ) =>
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const origin = request.headers["origin"]
      if (origin !== undefined && !allowedOrigins.includes(origin)) {
        return yield* Effect.fail(Refusal.foreignOrigin(origin))
      }
      if (request.method !== method && !(request.method === "HEAD" && method === "GET")) {
        return yield* Effect.fail(Refusal.notAllowed(method))
      }
      return yield* route
    }).pipe(
      cors(allowedOrigins),
      Refusal.answered(() => method === "POST"),
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(RequestBody.maxBytes))
    )

  yield* router.add("*", path, mounted("POST", answer))
  if (options.health !== false) {
    yield* router.add("*", options.health ?? "/health", mounted("GET", health(served, options)))
  }
}, (effect) => effect.pipe(Effect.provide(RateLimiter.layer), Effect.provide(RateLimiter.layerStoreMemory)))
