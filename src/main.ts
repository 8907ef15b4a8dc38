#!/usr/bin/env node
/** The command line: wiring only. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as CommandLine from "./app/commands/CommandLine.ts"
import * as Output from "./app/commands/Output.ts"
import * as Logging from "./app/Logging.ts"
import * as Options from "./app/Options.ts"
import * as Telemetry from "./app/Telemetry.ts"
import { version } from "./base/Version.ts"

const variables = Options.variables(process.env)

Command.run(CommandLine.make(process.versions.node), { version }).pipe(
  Effect.tapCause(Output.explain),
  Effect.provide(
    Layer.mergeAll(NodeServices.layer, Layer.succeed(CliOutput.Presenter, Output.presenter)).pipe(
      Layer.provideMerge(Telemetry.layer(variables)),
      Layer.provideMerge(Logging.layer),
      Layer.provideMerge(ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables })))
    )
  ),
  // runMain would report failures on stdout, outside any logger provided here.
  NodeRuntime.runMain({
    disableErrorReporting: true,
    // A signal or the end of stdin is a normal exit; open connections must not delay it.
    teardown: (exit) =>
      process.exit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? process.exitCode ?? 0 : 1)
  })
)
