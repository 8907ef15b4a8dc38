/** Start of the command line: wiring only. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { setFlagsFromString } from "node:v8"
import * as LeanStart from "./LeanStart.ts"
import * as Outputs from "./Outputs.ts"

// A closed pipe (`| head`) does not stop the work or decide the exit status.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error
  })
}

const load = <A>(importing: () => Promise<A>) =>
  Effect.tapDefect(
    Effect.promise(importing),
    (defect) =>
      Effect.sync(() => void process.stderr.write(`effect-n8n-mcp cannot be loaded; install it again: ${defect}\n`))
  )

// A person at a terminal is not in a hurry, and is advised by the program.
const prepared = process.stdin.isTTY ? undefined : LeanStart.read(new URL("start.json", import.meta.url))
const plan = prepared && LeanStart.plan(prepared, process.argv.slice(2), process.env)

/**
 * Bounds the heap of a server for one client. What it reads is garbage soon: a larger heap would only be filled. The
 * young generation stays at its first size (peak after an audit of 1,000 workflows: 182 MB instead of 301), and the old
 * one grows at most by half between collections (a search of 100 MB: 229 MB instead of 371), both in the same time.
 *
 * **Gotchas**
 *
 * V8 then takes no compiled code from a cache, also of Node's own modules, which doubles the time that they take to load.
 */
const boundHeap = () => setFlagsFromString("--semi-space-growth-factor=1 --heap-growing-percent=50")

const main: Effect.Effect<unknown, unknown> = prepared === undefined || plan === undefined
  ? Effect.flatMap(load(() => import("./commands/CommandLine.ts")), ({ run }) => run)
  : LeanStart.serve(prepared, plan, {
    firstCalls: Effect.flatMap(
      load(() => import("./FirstCalls.ts")),
      ({ make }) => make(plan.values, prepared.options)
    ),
    program: (transport) =>
      Effect.flatMap(
        load(() => import("./Serving.ts")),
        ({ servePlain }) => {
          boundHeap()
          return servePlain(plan.values, prepared.options, transport)
        }
      )
  })

NodeRuntime.runMain(main, {
  // It would report failures on stdout, outside the logger.
  disableErrorReporting: true,
  // A signal or the end of stdin is a normal exit; open connections must not delay it, nor a reader after a signal.
  teardown: (exit) => {
    if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) process.exit()
    // The logger writes at the end of the turn.
    setImmediate(() => Outputs.end(Exit.isSuccess(exit) ? process.exitCode : 1))
  }
})
