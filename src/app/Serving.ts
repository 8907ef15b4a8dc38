/** MCP server by the options, over stdio or HTTP. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Documents } from "../base/Documents.ts"
import * as Interpreter from "../base/Interpreter.ts"
import * as JavaScript from "../base/JavaScript.ts"
import * as NodeCatalogue from "../catalogue/NodeCatalogue.ts"
import * as Sealing from "../mcp/eras/Sealing.ts"
import * as McpServer from "../mcp/McpServer.ts"
import type { McpTransport } from "../mcp/McpTransport.ts"
import * as Stdio from "../mcp/stdio/Stdio.ts"
import * as Modules from "../trials/Modules.ts"
import * as Options from "./config/Options.ts"
import type * as PlainOptions from "./config/PlainOptions.ts"
import * as State from "./config/State.ts"
import * as Environment from "./Environment.ts"
import { explain } from "./explain.ts"
import * as Mcp from "./Mcp.ts"
import * as Outputs from "./Outputs.ts"
import * as Terminal from "./Terminal.ts"
import * as ToolContext from "./ToolContext.ts"

/** Delay of preloading: after the first answer, and before the package could be replaced. */
const preloadAfter = "2 seconds"

/** Loads lazy modules, so that a server survives a replacement of its package. */
const preload = Effect.all([
  JavaScript.parser,
  Interpreter.load,
  NodeCatalogue.loadSearch,
  ...Object.values(Modules)
], { discard: true }).pipe(
  Effect.delay(preloadAfter),
  Effect.catchCause((cause) => Effect.logWarning("preloading failed", cause)),
  Effect.forkDetach
)

const graceMillis = 3_000

/** Ends the process even if n8n no longer answers; leftover test copies are deleted later. */
const endInTime = Effect.sync(() => {
  const later = (end: () => void) => void setTimeout(end, graceMillis).unref()
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => later(() => process.exit(0)))
  // A client that reads slowly still gets the answers.
  process.stdin.once("end", () => later(() => Outputs.end(0)))
})

/** Sealing with a key in the state; the demo's is in memory. */
const sealingOf = Effect.fnUntraced(function*(options: Options.Options) {
  if (options.demo && options.state === undefined) return yield* Sealing.memory
  const documents = yield* Layer.build(State.documents(yield* State.place(options, process.env)))
  return yield* Sealing.shared(Context.get(documents, Documents).collection("sealing", ""))
})

/** Serves until the client disconnects. */
export const serve = (options: Options.Options, stdio: Layer.Layer<McpTransport> = Stdio.layer) =>
  Effect.scoped(Effect.gen(function*() {
    const tools = yield* Mcp.servedTools(options)
    const sealing = yield* sealingOf(options)
    yield* preload
    const mcp = { ...Mcp.options(tools, options), sealing }
    if (options.transport === "http") {
      const ServeHttp = yield* Effect.promise(() => import("./ServeHttp.ts"))
      return yield* ServeHttp.serve(mcp, options)
    }
    if (process.stdin.isTTY) {
      yield* Terminal.warn(
        `${Environment.name} is waiting for an MCP client on stdin; Ctrl+C ends it. To use it here: ${Environment.name} help. To set it up: ${Environment.name} init`
      )
    }
    yield* endInTime
    yield* McpServer.serve(mcp).pipe(Effect.provide(Layer.merge(stdio, ToolContext.layer(options))))
  }))

/** Serves over `stdio` by options in plain forms, without a command line. */
export const servePlain = (
  values: PlainOptions.Values,
  declarations: ReadonlyArray<PlainOptions.Option>,
  stdio: Layer.Layer<McpTransport>
) =>
  serve(Options.fromPlain(values, declarations), stdio).pipe(
    Effect.tapCause(explain),
    Effect.provide(Environment.layer)
  )
