/** Complete program: every command with its services. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import type * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { version } from "../../base/Version.ts"
import type { UnreadablePackage } from "../../catalogue/data/Packages.ts"
import type { McpTransport } from "../../mcp/McpTransport.ts"
import * as Stdio from "../../mcp/stdio/Stdio.ts"
import * as Options from "../config/Options.ts"
import type * as Profiles from "../config/Profiles.ts"
import * as Logging from "../Logging.ts"
import * as Telemetry from "../Telemetry.ts"
import { audit } from "./audit.ts"
import { check } from "./check.ts"
import { credential } from "./credential.ts"
import { doctor } from "./doctor.ts"
import { edit } from "./edit.ts"
import { map } from "./map.ts"
import { picture } from "./picture.ts"
import { promote } from "./promote.ts"
import { prove } from "./prove.ts"
import { name, print, warn } from "./root.ts"
import { serve, StdioTransport } from "./serve.ts"
import { diff, pull, push, status } from "./sync.ts"
import { test } from "./test.ts"
import { call, tools } from "./tools.ts"
import { upgrade } from "./upgrade.ts"

const presenter: CliOutput.Presenter = {
  present: (event) => {
    const formatter = CliOutput.defaultFormatter()
    switch (event._tag) {
      case "Help":
        return print(formatter.formatHelpDoc(event.helpDoc))
      case "Version":
        return print(event.version)
      case "InvalidInvocation":
        return warn(`${formatter.formatErrors(event.errors).trim()}\n\nSee ${name} --help`)
    }
  }
}

type Failure = CliError.CliError | Options.InvalidOption | Profiles.InvalidProfile | UnreadablePackage

/** Prints the reason of exit status 1 on stderr; configuration errors have no stack, usage errors are already printed. */
const explain = (cause: Cause.Cause<Failure>) => {
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  switch (failure?._tag) {
    case "ShowHelp":
      return Effect.void
    case "InvalidOption":
    case "InvalidProfile":
    case "UnreadablePackage":
      return warn(`${name}: ${failure.message}`)
  }
  return Effect.forEach(Cause.prettyErrors(cause), (error) => warn(`${name}: ${error.stack ?? error.message}`))
}

const commandLine = serve.pipe(
  Command.withSubcommands([
    tools,
    call,
    doctor,
    audit,
    check,
    credential,
    test,
    prove,
    upgrade,
    pull,
    status,
    diff,
    push,
    promote,
    edit,
    picture,
    map
  ])
)

export const make = (stdio: Layer.Layer<McpTransport> = Stdio.layer) =>
  Effect.suspend(() => {
    const variables = Options.variables(process.env)
    return Command.run(commandLine, { version }).pipe(
      Effect.tapCause(explain),
      Effect.provideService(StdioTransport, stdio),
      Effect.provide(
        Layer.mergeAll(NodeServices.layer, Layer.succeed(CliOutput.Presenter, presenter)).pipe(
          Layer.provideMerge(Telemetry.layer(variables)),
          Layer.provideMerge(Logging.layer),
          Layer.provideMerge(ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables })))
        )
      )
    )
  })
