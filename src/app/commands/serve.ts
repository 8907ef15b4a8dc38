/** Serves MCP. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { join } from "node:path"
import * as Interpreter from "../../base/Interpreter.ts"
import * as JavaScript from "../../base/JavaScript.ts"
import * as Sealing from "../../mcp/eras/Sealing.ts"
import * as McpServer from "../../mcp/McpServer.ts"
import * as Mcp from "../Mcp.ts"
import type * as Options from "../Options.ts"
import * as State from "../State.ts"
import { StdioTransport } from "../StdioTransport.ts"
import * as ToolContext from "../ToolContext.ts"
import { root, servedTools } from "./root.ts"

/** After the first answer nobody waits for it; before the package could be replaced, it is there. */
const preloadAfter = "100 millis"

/** Loads what the first use would: a server goes on with what it started with. */
const preload = (transport: Options.Options["transport"]) =>
  Effect.all([
    JavaScript.parser,
    Interpreter.load,
    // Over stdio a client that needs it says so first of all; over HTTP any client may come at any time.
    transport === "http" ? Effect.promise(() => import("../../mcp/eras/Legacy.ts")) : Effect.void
  ], { discard: true }).pipe(
    Effect.delay(preloadAfter),
    Effect.catchCause((cause) => Effect.logWarning("what is needed later could not be loaded", cause)),
    Effect.forkDetach
  )

/** How long a server that was told to end may still put things in order: milliseconds. */
const graceMillis = 3_000

/** An n8n that answers no more must not hold a process that its client has left; a copy that stays is swept later. */
const endInTime = Effect.sync(() => {
  const end = () => void setTimeout(() => process.exit(0), graceMillis).unref()
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end)
  process.stdin.once("end", end)
})

/** Kept with the rest of the state; the demo's ends with it. */
const sealingOf = Effect.fnUntraced(function*(options: Options.Options) {
  const place = yield* State.place(options, process.env)
  if (place._tag === "Database") {
    const [{ make }, database] = yield* Effect.all([
      Effect.promise(() => import("../../mcp/eras/SqlSealing.ts")),
      Layer.build(place.database)
    ])
    return yield* Effect.provideContext(make, database)
  }
  return yield* options.demo && Option.isNone(options.state)
    ? Sealing.memory
    : Sealing.folder(join(place.folder, "sealing"))
})

export const serve = root.pipe(
  Command.withHandler(Effect.fnUntraced(function*(options) {
    const tools = yield* servedTools(options)
    const sealing = yield* sealingOf(options)
    yield* preload(options.transport)
    const mcp = { ...Mcp.options(tools), sealing }
    if (options.transport === "http") {
      const ServeHttp = yield* Effect.promise(() => import("../ServeHttp.ts"))
      return yield* ServeHttp.serve(mcp, options)
    }
    yield* endInTime
    yield* McpServer.serve(mcp).pipe(Effect.provide(Layer.mergeAll(yield* StdioTransport, ToolContext.layer(options))))
  }, Effect.scoped))
)
