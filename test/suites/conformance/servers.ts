/** Starts the servers under test, each on its own port. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { fileURLToPath } from "node:url"
import * as Sealing from "../../../src/mcp/eras/Sealing.ts"
import * as Http from "../../../src/mcp/http/Http.ts"
import * as NodeServer from "../../../src/mcp/http/NodeServer.ts"
import * as McpServer from "../../../src/mcp/McpServer.ts"
import { McpTransport, UnknownTool } from "../../../src/mcp/McpTransport.ts"
import { options } from "../../mcp/http/served.ts"
import { serving } from "../../support/serving.ts"
import { ConformanceError } from "./ConformanceError.ts"
import type { Server } from "./expected.ts"
import * as byHand from "./fixtures/byHand.ts"
import { prompts, resources, tools } from "./fixtures/ours.ts"

const main = fileURLToPath(new URL("../../../src/main.ts", import.meta.url))

/** The program with the demo's n8n. */
const program = serving(["--demo"], {}, main).pipe(
  Effect.map(({ url }) => url),
  Effect.mapError((detail) => new ConformanceError({ step: "starting the server", detail }))
)

/** A server on the program's transport, in this process. */
const listening = (serve: Effect.Effect<void, never, McpTransport>) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(
      Layer.provideMerge(Http.layer(options), NodeServer.layer({ port: 0, linger: 0 }))
    )
    yield* Effect.forkScoped(Effect.provideContext(serve, context))
    return HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
  }).pipe(
    Effect.catchTag("ServeError", ({ cause }) =>
      Effect.fail(new ConformanceError({ step: "listening", detail: String(cause) })))
  )

/** Starts all servers and returns their addresses. */
export const start: Effect.Effect<
  Readonly<Record<Server, string>>,
  ConformanceError,
  Scope.Scope
> = Effect.all({
  demo: program,
  ours: listening(McpServer.serve({ name: "ours", version: "0", tools, resources, prompts })),
  byHand: listening(
    Effect.flatMap(Effect.all([McpTransport, Sealing.memory]), ([{ serve }, sealing]) =>
      serve({
        ...byHand,
        sealing,
        list: () => Effect.succeed([]),
        call: (_caller, name) => Effect.fail(new UnknownTool({ message: name }))
      }))
  )
}, { concurrency: "unbounded" })
