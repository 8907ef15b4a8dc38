/** Complete program: every command with its services. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { version } from "../base/Version.ts"
import type { McpTransport } from "../mcp/McpTransport.ts"
import * as Stdio from "../mcp/stdio/Stdio.ts"
import { commandLine } from "./commands/CommandLine.ts"
import * as Output from "./commands/Output.ts"
import * as Options from "./config/Options.ts"
import * as Logging from "./Logging.ts"
import { StdioTransport } from "./StdioTransport.ts"
import * as Telemetry from "./Telemetry.ts"

/** Runs the command line; failures are printed on stderr. */
export const make = (stdio: Layer.Layer<McpTransport> = Stdio.layer) =>
  Effect.suspend(() => {
    const variables = Options.variables(process.env)
    return Command.run(commandLine, { version }).pipe(
      Effect.tapCause(Output.explain),
      Effect.provideService(StdioTransport, stdio),
      Effect.provide(
        Layer.mergeAll(NodeServices.layer, Layer.succeed(CliOutput.Presenter, Output.presenter)).pipe(
          Layer.provideMerge(Telemetry.layer(variables)),
          Layer.provideMerge(Logging.layer),
          Layer.provideMerge(ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables })))
        )
      )
    )
  })
