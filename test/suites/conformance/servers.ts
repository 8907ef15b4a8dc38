/** Starts the servers under test, each on its own port. */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import * as Sealing from "../../../src/mcp/eras/Sealing.ts"
import * as Http from "../../../src/mcp/http/Http.ts"
import * as NodeServer from "../../../src/mcp/http/NodeServer.ts"
import * as McpServer from "../../../src/mcp/McpServer.ts"
import { McpTransport, UnknownTool } from "../../../src/mcp/McpTransport.ts"
import { options } from "../../mcp/http/served.ts"
import { ConformanceError } from "./ConformanceError.ts"
import type { Server } from "./expected.ts"
import * as byHand from "./fixtures/byHand.ts"
import { prompts, resources, tools } from "./fixtures/ours.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))

/** The program with the demo's n8n, which logs its address on stderr. */
const program = Effect.gen(function*() {
  const address = yield* Deferred.make<string, ConformanceError>()
  const said: Array<string> = []
  const handle = yield* ChildProcess.make(
    process.execPath,
    ["src/main.ts", "--transport", "http", "--demo", "--port", "0"],
    { cwd: root, env: { PATH: process.env["PATH"] }, stdin: "ignore", forceKillAfter: "5 seconds" }
  )
  yield* handle.all.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => {
      said.push(line)
      const [, url] = /address=(http\S+)/.exec(line) ?? []
      return url === undefined ? Effect.void : Deferred.succeed(address, url)
    }),
    Effect.ensuring(
      Effect.suspend(() =>
        Deferred.fail(address, new ConformanceError({ step: "starting the server", detail: said.join("\n") }))
      )
    ),
    Effect.forkScoped
  )
  return yield* Deferred.await(address)
}).pipe(
  Effect.catchTag(
    "PlatformError",
    ({ message }) => Effect.fail(new ConformanceError({ step: "starting the server", detail: message }))
  )
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
  ChildProcessSpawner.ChildProcessSpawner | Scope.Scope
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
