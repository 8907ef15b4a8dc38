/** Runs a command of the program in this process. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { vi } from "vitest"
import { commandLine } from "../../src/app/commands/Program.ts"

/** What a command printed on stdout, the message of its failure, and its exit status. */
export const printed = Effect.fnUntraced(
  function*<A, E extends { readonly message: string }, R>(run: Effect.Effect<A, E, R>) {
    let stdout = ""
    const spy = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      stdout += String(text)
      return true
    })
    process.exitCode = undefined
    const error = yield* run.pipe(
      Effect.as(""),
      Effect.catch((error) => Effect.succeed(error.message)),
      Effect.ensuring(Effect.sync(() => spy.mockRestore()))
    )
    const { exitCode } = process
    process.exitCode = undefined
    return { stdout, error, exitCode }
  }
)

/** The same of a command with its arguments, without variables of the environment. */
export const command = (...args: ReadonlyArray<string>) =>
  printed(
    Command.runWith(commandLine, { version: "0" })(args).pipe(
      Effect.provideService(CliOutput.Presenter, { present: () => Effect.void }),
      Effect.provide(Layer.merge(NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env: {} }))))
    )
  )
