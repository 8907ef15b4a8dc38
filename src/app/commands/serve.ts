/** Serves MCP. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as Interpreter from "../../base/Interpreter.ts"
import * as JavaScript from "../../base/JavaScript.ts"
import { version } from "../../base/Version.ts"
import * as Sealing from "../../mcp/eras/Sealing.ts"
import * as McpServer from "../../mcp/McpServer.ts"
import * as Stdio from "../../mcp/stdio/Stdio.ts"
import { instructions } from "../../tools/Instructions.ts"
import * as prompts from "../../tools/Prompts.ts"
import * as resources from "../../tools/Resources.ts"
import * as Snapshots from "../../workflows/store/Snapshots.ts"
import * as Options from "../Options.ts"
import * as ToolContext from "../ToolContext.ts"
import { name, root } from "./root.ts"

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

export const serve = root.pipe(
  Command.withHandler(Effect.fnUntraced(function*(options) {
    const tools = yield* Options.servedTools(options)
    const sealing = yield* options.demo
      ? Sealing.memory
      : Sealing.folder(join(Snapshots.defaultFolder(process.env), "sealing"))
    yield* preload(options.transport)
    const mcp = { name, version, instructions, tools, resources: resources.all, prompts: prompts.all, sealing }
    if (options.transport === "http") {
      const ServeHttp = yield* Effect.promise(() => import("../ServeHttp.ts"))
      return yield* ServeHttp.serve(mcp, options)
    }
    yield* endInTime
    yield* McpServer.serve(mcp).pipe(Effect.provide(Layer.mergeAll(Stdio.layer, ToolContext.layer(options))))
  }))
)
