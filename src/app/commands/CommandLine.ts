/** Complete program: every command with its services. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Argument from "effect/cli/Argument"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { version } from "../../base/Version.ts"
import * as Options from "../config/Options.ts"
import * as Environment from "../Environment.ts"
import { explain } from "../explain.ts"
import * as Serving from "../Serving.ts"
import * as Terminal from "../Terminal.ts"
import { edit, upgrade } from "./bulk.ts"
import { audit, check } from "./check.ts"
import { credential } from "./credential.ts"
import { doctor } from "./doctor.ts"
import { map, picture } from "./drawings.ts"
import * as flags from "./flags.ts"
import { diff, promote, pull, push, status } from "./folders.ts"
import * as Help from "./help.ts"
import { init } from "./init.ts"
import { executions, why, workflows } from "./look.ts"
import { health, watch } from "./monitor.ts"
import { prove, test } from "./prove.ts"
import { root, row } from "./row.ts"
import { call, tools } from "./tools.ts"

const width = () => Math.min(Help.maxWidth, Terminal.screen().width)

const presenter: CliOutput.Presenter = {
  present: (event) => {
    switch (event._tag) {
      case "Help":
        return Terminal.say(Help.page(event.helpDoc, width()))
      case "Version":
        return Terminal.print(event.version)
      case "InvalidInvocation":
        return Terminal.warn(Help.refusal(event.errors, event.helpDoc))
    }
  }
}

const builtIns = GlobalFlag.BuiltIns.filter((flag) => flag !== GlobalFlag.Wizard)

const showHelp = (topics: ReadonlyArray<string>): Effect.Effect<void, Options.InvalidOption, Command.Environment> => {
  const [topic] = topics
  const names = Help.namesIn(commandLine.subcommands)
  const show = (...args: ReadonlyArray<string>) =>
    Effect.orDie(Command.runWith(commandLine, { version })([...args, "--help"]))
  if (topic === "options") {
    const present = (event: CliOutput.Presenter.Event) =>
      event._tag === "Help" ? Terminal.say(Help.options(event.helpDoc, width())) : Effect.void
    return Effect.provideService(show(), CliOutput.Presenter, { present })
  }
  return topic === undefined || names.includes(topic)
    ? show(...topics)
    : Options.refuse(Help.unknownCommand(topic, names))
}

const help = row({
  name: "help",
  description: "Explain a command, or the options that all commands share",
  flags: {
    topics: flags.argument("command", "Command to explain, or 'options' for the options that all commands share").pipe(
      Argument.variadic()
    )
  },
  form: "none",
  services: () => Layer.empty,
  run: ({ topics }) => showHelp(topics)
})

export const commandLine = root.pipe(
  Command.withHandler((options) =>
    // A person, not a client.
    options.transport === "stdio" && Terminal.isInteractive() ? showHelp([]) : Serving.serve(options)
  ),
  Command.withSubcommands([
    { group: "Start", commands: [init, doctor, help] },
    { group: "See what happens", commands: [why, executions, workflows, health, watch, picture, map] },
    { group: "Check and change", commands: [check, audit, test, prove, edit, upgrade, credential] },
    { group: "Workflows as files", commands: [pull, status, diff, push, promote] },
    { group: "What AI clients use", commands: [tools, call] }
  ])
)

export const run = Command.run(commandLine, { version }).pipe(
  Effect.tapCause(explain),
  Effect.provide(Layer.mergeAll(
    NodeServices.layer,
    Layer.succeed(CliOutput.Presenter, presenter),
    CliConfig.layer({ builtIns })
  )),
  Effect.provide(Environment.layer)
)
