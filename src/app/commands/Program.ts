/** Complete program: every command with its services. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Argument from "effect/cli/Argument"
import * as CliConfig from "effect/cli/CliConfig"
import type * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
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
import { audit, check } from "./check.ts"
import { credential } from "./credential.ts"
import { doctor } from "./doctor.ts"
import { edit } from "./edit.ts"
import * as flags from "./flags.ts"
import * as Help from "./help.ts"
import { init } from "./init.ts"
import { executions, why, workflows } from "./look.ts"
import { map, picture } from "./picture.ts"
import { promote } from "./promote.ts"
import { prove, test } from "./prove.ts"
import { command, name, print, warn } from "./root.ts"
import { serve, StdioTransport } from "./serve.ts"
import { diff, pull, push, status } from "./sync.ts"
import { call, tools } from "./tools.ts"
import { upgrade } from "./upgrade.ts"
import { watch } from "./watch.ts"

const presenter: CliOutput.Presenter = {
  present: (event) => {
    switch (event._tag) {
      case "Help":
        return print(Help.page(event.helpDoc))
      case "Version":
        return print(event.version)
      case "InvalidInvocation":
        return warn(Help.refusal(event.errors, event.helpDoc))
    }
  }
}

const builtIns = GlobalFlag.BuiltIns.filter((flag) => flag !== GlobalFlag.Wizard)

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

const showHelp = (topics: ReadonlyArray<string>): Effect.Effect<void, Options.InvalidOption, Command.Environment> => {
  const [topic] = topics
  const names = Help.namesIn(commandLine.subcommands)
  const show = (...args: ReadonlyArray<string>) =>
    Effect.orDie(Command.runWith(commandLine, { version })([...args, "--help"]))
  if (topic === "options") {
    const present = (event: CliOutput.Presenter.Event) =>
      event._tag === "Help" ? print(Help.options(event.helpDoc)) : Effect.void
    return Effect.provideService(show(), CliOutput.Presenter, { present })
  }
  return topic === undefined || names.includes(topic)
    ? show(...topics)
    : Options.refuse(Help.unknownCommand(topic, names))
}

const help = command(
  "help",
  "Explain a command, or the options that all commands share",
  {
    topics: flags.argument("command", "Command to explain, or 'options' for the options that all commands share").pipe(
      Argument.variadic()
    )
  },
  ({ topics }) => showHelp(topics)
)

export const commandLine = serve.pipe(
  Command.withSubcommands([
    { group: "Start", commands: [init, doctor, help] },
    { group: "See what happens", commands: [why, executions, workflows, watch, picture, map] },
    { group: "Check and change", commands: [check, audit, test, prove, edit, upgrade, credential] },
    { group: "Workflows as files", commands: [pull, status, diff, push, promote] },
    { group: "What AI clients use", commands: [tools, call] }
  ])
)

export const make = (stdio: Layer.Layer<McpTransport> = Stdio.layer) =>
  Effect.suspend(() => {
    const variables = Options.variables(process.env)
    return Command.run(commandLine, { version }).pipe(
      Effect.tapCause(explain),
      Effect.provideService(StdioTransport, stdio),
      Effect.provide(
        Layer.mergeAll(NodeServices.layer, Layer.succeed(CliOutput.Presenter, presenter), CliConfig.layer({ builtIns }))
          .pipe(
            Layer.provideMerge(Telemetry.layer(variables)),
            Layer.provideMerge(Logging.layer),
            Layer.provideMerge(ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables })))
          )
      )
    )
  })
