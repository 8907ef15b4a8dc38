/**
 * MCP over HTTP, stateless: each request brings all that it needs, so any number of processes stand behind one balancer.
 *
 * | | |
 * | --- | --- |
 * | `GET /health` | that it serves, its version, and whether n8n answers |
 * | `POST /mcp` | Streamable HTTP: one JSON answer, or an event stream when the call brought a progressToken |
 * | `POST /mcp/tools` | `{tools:[{name,description,inputSchema,outputSchema}]}` |
 * | `POST /mcp/execute` | `{name, parameters}`: a tool's answer, or `{error:{message,code,details}}` |
 */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { ErrorCode } from "@modelcontextprotocol/sdk/types.js"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import type { HttpServerError } from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type { IncomingMessage } from "node:http"
import { type MakeServer, McpTransport } from "../McpTransport.ts"
import { version } from "../version.ts"
import * as AccessLog from "./http/AccessLog.ts"
import * as Exchange from "./http/Exchange.ts"
import * as Execute from "./http/Execute.ts"
import * as Gate from "./http/Gate.ts"
import * as Hosts from "./http/Hosts.ts"
import * as Refusal from "./http/Refusal.ts"
import * as RequestBody from "./http/RequestBody.ts"

/** Who may call, how much, and under which names the server goes. */
export interface Options extends Gate.Options, Hosts.Names {
  /** What `/health` tells of n8n, in a word and soon. */
  readonly n8n: Effect.Effect<string>
}

type Handled = HttpServerError | Refusal.Refusal

/** The method that each path takes. */
const methods: Readonly<Record<string, string>> = {
  "/health": "GET",
  "/mcp": "POST",
  "/mcp/tools": "POST",
  "/mcp/execute": "POST"
}

const refusalOf = (error: Handled, path: string): Refusal.Refusal => {
  if (!("_tag" in error)) return error
  const allow = methods[path]
  return allow === undefined ? Refusal.notFound : Refusal.notAllowed(allow)
}

/** What fails on the way is answered in the path's own form, and so is a bug. */
const answered = <R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, Handled, R>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const path = AccessLog.pathOf(request)
    return app.pipe(
      Effect.catch((error) => Effect.succeed(Refusal.response(path, refusalOf(error, path)))),
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError("request died", defect), Refusal.response(path, Refusal.bug))
      )
    )
  })

/** Refuses what comes under another name, or from somebody else's page. */
const ours = (names: Hosts.Names) =>
  Effect.gen(function*() {
    const { headers, source } = yield* HttpServerRequest.HttpServerRequest
    const { host, origin } = headers
    const { rawHeaders = [], socket } = source as Partial<IncomingMessage>
    const twice = Hosts.ambiguous(rawHeaders)
    if (twice !== undefined) {
      return yield* Effect.fail(Refusal.invalid(`The header '${twice}' is there twice.`, ErrorCode.InvalidRequest))
    }
    if (!Hosts.isOwnHost(names, host, socket?.localAddress)) return yield* Effect.fail(Refusal.foreignHost(host))
    if (origin !== undefined && !Hosts.isOwnOrigin(names, origin, host)) {
      return yield* Effect.fail(Refusal.foreignOrigin(origin))
    }
  })

const cors = ({ allowedOrigins }: Hosts.Names) =>
  allowedOrigins.length === 0 ? identity : HttpMiddleware.cors({
    allowedOrigins: (origin) => allowedOrigins.includes(origin),
    allowedMethods: ["GET", "POST"],
    allowedHeaders: ["authorization", "content-type", "accept", "mcp-protocol-version", "x-request-id"],
    exposedHeaders: ["x-request-id", "retry-after"]
  })

/** Serves on the ambient `HttpServer`; when it ends, calls in flight are answered and new ones refused. */
export const layer = (options: Options): Layer.Layer<McpTransport, never, HttpServer.HttpServer> =>
  Layer.effect(
    McpTransport,
    Effect.gen(function*() {
      const http = yield* Effect.context<HttpServer.HttpServer>()
      const { enter } = yield* Gate.make(options)
      const health = Effect.map(options.n8n, (n8n) => HttpServerResponse.jsonUnsafe({ status: "ok", version, n8n }))

      const routes = (makeServer: MakeServer) => {
        /** A server of the caller's own, once they are let in. */
        const entered = Effect.flatMap(enter, makeServer)
        const posted = <E, R>(
          answer: (server: Server, body: unknown) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
        ) =>
          Effect.gen(function*() {
            const server = yield* entered
            return yield* answer(server, yield* RequestBody.json)
          })
        return Layer.mergeAll(
          HttpRouter.add("GET", "/health", health),
          HttpRouter.add("POST", "/mcp", posted(Exchange.streamable)),
          HttpRouter.add("POST", "/mcp/tools", Effect.flatMap(entered, Execute.tools)),
          HttpRouter.add("POST", "/mcp/execute", posted(Execute.call))
        )
      }

      return {
        serve: (makeServer) =>
          Effect.gen(function*() {
            const routed = yield* HttpRouter.toHttpEffect(routes(makeServer))
            let draining = false
            const app = ours(options).pipe(
              Effect.andThen(Effect.suspend(() => draining ? Effect.fail(Refusal.draining) : cors(options)(routed))),
              answered,
              Effect.map((response) =>
                draining ? HttpServerResponse.setHeader(response, "connection", "close") : response
              )
            )
            yield* HttpServer.serveEffect(app, AccessLog.middleware)
            // Runs before the server stops to listen, which waits for calls in flight.
            yield* Effect.addFinalizer(() => Effect.sync(() => void (draining = true)))
            return yield* Effect.never
          }).pipe(
            Effect.scoped,
            Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(RequestBody.maxBytes)),
            Effect.provideContext(http)
          )
      }
    })
  ).pipe(Layer.provide(RateLimiter.layer), Layer.provide(RateLimiter.layerStoreMemory))
