/** Runs a command in this process, which is much faster than in one of its own. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Semaphore from "effect/Semaphore"
import { Readable } from "node:stream"
import { vi } from "vitest"
import { commandLine, run } from "../../src/app/commands/CommandLine.ts"
import { type Exit, main } from "./cli.ts"

/** Runs an effect; returns what it printed, and how it ended. */
export const printed = Effect.fnUntraced(function*<E extends { readonly message: string }, R>(
  run: Effect.Effect<void, E, R>
) {
  const output = { stdout: "", stderr: "" }
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      output[name] += String(text)
      return true
    })
  )
  process.exitCode = undefined
  const error = yield* run.pipe(
    Effect.as(""),
    Effect.catch((error) => Effect.succeed(error.message)),
    Effect.ensuring(Effect.sync(() => {
      for (const spy of spies) spy.mockRestore()
    }))
  )
  const { exitCode } = process
  process.exitCode = undefined
  return { ...output, error, exitCode }
})

/** Event that a run of a command line presents: help, or a refusal. */
export const presented = Effect.fnUntraced(function*<A, E>(
  run: Effect.Effect<A, E, NodeServices.NodeServices>
) {
  const events = yield* Ref.make<ReadonlyArray<CliOutput.Presenter.Event>>([])
  yield* run.pipe(
    Effect.ignore,
    Effect.provideService(CliOutput.Presenter, { present: (event) => Ref.update(events, (all) => [...all, event]) }),
    Effect.provide(Layer.merge(NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env: {} }))))
  )
  const [event] = yield* Ref.get(events)
  return event
})

/** Runs a command with only these variables. */
export const commandWith = (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  printed(
    Command.runWith(commandLine, { version: "0" })(args).pipe(
      Effect.provideService(CliOutput.Presenter, { present: () => Effect.void }),
      Effect.provide(Layer.merge(NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))
    )
  )

const turns = Semaphore.makeUnsafe(1)

/** Lends this process to a command: its folder, variables, arguments and streams. */
const lent = Effect.sync(() => {
  const { argv, env, exitCode } = process
  const folder = process.cwd()
  const stdin = Object.getOwnPropertyDescriptor(process, "stdin")
  const output = { stdout: "", stderr: "", output: "" }
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text, ...rest) => {
      output[name] += String(text)
      output.output += String(text)
      for (const done of rest) if (typeof done === "function") (done as () => void)()
      return true
    })
  )
  const logs = vi.spyOn(console, "error").mockImplementation((text) => void process.stderr.write(`${text}\n`))
  const giveBack = () => {
    for (const spy of [logs, ...spies]) spy.mockRestore()
    if (stdin !== undefined) Object.defineProperty(process, "stdin", stdin)
    process.chdir(folder)
    Object.assign(process, { argv, env, exitCode })
  }
  return { output, giveBack }
})

/**
 * Runs a command in a folder as a program of its own does, with only these variables and a state folder that is not the
 * user's. For pipes, terminals, signals and colours see `cli.ts`, which starts one.
 */
export const runWith = (
  stdin: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
  ...args: ReadonlyArray<string>
): Effect.Effect<Exit> =>
  Effect.acquireUseRelease(
    lent,
    ({ output }) =>
      Effect.gen(function*() {
        process.chdir(cwd)
        process.argv = [process.execPath, main, ...args]
        process.env = {
          PATH: process.env["PATH"],
          XDG_STATE_HOME: `${cwd}/.state`,
          XDG_CONFIG_HOME: `${cwd}/.config`,
          ...env
        }
        process.exitCode = undefined
        Object.defineProperty(process, "stdin", { value: Readable.from([stdin]), configurable: true })
        const { _tag } = yield* Effect.exit(run)
        // The logger writes at the end of the turn.
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        return { code: _tag === "Failure" ? 1 : Number(process.exitCode ?? 0), ...output }
      }),
    ({ giveBack }) => Effect.sync(giveBack)
  ).pipe(turns.withPermits(1))

/** The same without input. */
export const runIn = (cwd: string, env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  runWith("", cwd, env, ...args)

/** The same without other variables. */
export const runAt = (cwd: string, ...args: ReadonlyArray<string>) => runIn(cwd, {}, ...args)
