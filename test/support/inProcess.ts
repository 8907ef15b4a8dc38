/** Runs a command in this process, which is much faster than in one of its own. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { vi } from "vitest"
import { commandLine } from "../../src/app/commands/Program.ts"

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
