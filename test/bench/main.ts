/** The entry point of a benchmark. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { cpus, loadavg, totalmem } from "node:os"
import { fileURLToPath } from "node:url"
import { version } from "../../src/base/Version.ts"
import { say } from "../support/processes.ts"
import { type Criterion, verdict } from "./results.ts"

/** Path of a file of the benchmarks. */
export const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The machine, with its load before a benchmark. */
export const machine = () => {
  const all = cpus()
  const load = loadavg()[0] ?? 0
  const memory = `${Math.round(totalmem() / 1e9)} GB`
  const busy = load > all.length / 2 ? ", which makes times unreliable, but not processor times" : ""
  return `${all.length} × ${
    all[0]?.model.trim() ?? process.arch
  }, ${memory}, ${process.platform}, Node ${process.versions.node}, load before ${load.toFixed(1)}${busy}`
}

/** Prints texts and the verdict on criteria; the exit code is 1 if one is missed. */
export const finish = (texts: ReadonlyArray<string>, criteria: ReadonlyArray<Criterion>) =>
  Effect.sync(() => {
    process.stdout.write(`${[...texts, verdict(criteria)].join("\n\n")}\n`)
    if (criteria.some(({ isMet }) => isMet === false)) process.exitCode = 1
  })

/** The flag for a shorter run. */
export const quick = (description: string) =>
  Flag.Boolean("quick").pipe(Flag.withDescription(description), Flag.withDefault(false))

/** Runs a command and exits with 1 if it failed, or else with its own exit code; failures go to stderr. */
export const main = <Name extends string, Input, ContextInput, E extends Error>(
  command: Command.Command<Name, Input, ContextInput, E, NodeServices.NodeServices>
): void =>
  command.pipe(
    Command.run({ version }),
    Effect.tapCause((cause) =>
      Effect.forEach(
        // The command itself explains a wrong invocation.
        Cause.prettyErrors(cause).filter(({ name }) => name !== "~effect/cli/CliError/ShowHelp"),
        ({ message }) => say(message)
      )
    ),
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain({
      disableErrorReporting: true,
      teardown: (exit) => process.exit(Exit.isSuccess(exit) ? process.exitCode ?? 0 : 1)
    })
  )
