#!/usr/bin/env node
/** The command line: wiring only. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Argument from "effect/cli/Argument"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Doctor from "./Doctor.ts"
import { instructions } from "./instructions.ts"
import * as Logging from "./Logging.ts"
import * as McpServer from "./McpServer.ts"
import * as Options from "./Options.ts"
import * as prompts from "./prompts.ts"
import * as resources from "./resources.ts"
import * as Snapshots from "./Snapshots.ts"
import * as Telemetry from "./Telemetry.ts"
import * as Tool from "./Tool.ts"
import * as ToolContext from "./ToolContext.ts"
import * as Stdio from "./transport/Stdio.ts"
import * as Upstreams from "./Upstreams.ts"
import { version } from "./version.ts"

const name = "effect-n8n-mcp"

const print = (line: string) => Effect.sync(() => void process.stdout.write(`${line}\n`))

const root = Command.make(name).pipe(
  Command.withSharedFlags(Options.flags),
  Command.withDescription(
    "MCP server for n8n, over stdio or HTTP. Without a command it serves until stdin ends, or until it is stopped."
  )
)

const serve = root.pipe(
  Command.withHandler(Effect.fnUntraced(function*(options) {
    const runtime = Doctor.checkNode(process.versions.node)
    if (runtime.status === "failed") {
      return yield* new Options.InvalidOption({ message: `Node ${runtime.detail} is too old. ${runtime.cure}` })
    }
    const served = yield* Options.servedTools(options)
    const mcp = { name, version, instructions, tools: served, resources: resources.all, prompts: prompts.all }
    if (options.transport === "http") {
      const HttpServing = yield* Effect.promise(() => import("./HttpServing.ts"))
      return yield* HttpServing.serve(mcp, options)
    }
    yield* McpServer.serve(mcp).pipe(Effect.provide(Layer.mergeAll(Stdio.layer, ToolContext.layer(options))))
  }))
)

/** The tools that a client is shown. */
const offered = (options: Options.Options) =>
  Effect.map(Options.servedTools(options), (served) => Tool.offered(served, options.readOnly))

const listTools = Command.make(
  "tools",
  {},
  Effect.fnUntraced(function*() {
    for (const tool of yield* offered(yield* root)) yield* print(`${tool.name.padEnd(28)}${tool.description}`)
  })
).pipe(
  Command.withDescription("List the tools")
)

const call = Command.make(
  "call",
  {
    tool: Argument.String("tool").pipe(Argument.withDescription("A tool's name")),
    json: Argument.String("arguments").pipe(
      Argument.withDescription("Its arguments as JSON"),
      Argument.withDefault("{}")
    )
  },
  Effect.fnUntraced(function*({ json, tool: wanted }) {
    const options = yield* root
    const served = yield* Options.servedTools(options)
    const tool = McpServer.find(served, wanted)
    if (tool === undefined) {
      return yield* new Options.InvalidOption({ message: McpServer.unknownTool(served, wanted) })
    }
    const result = yield* McpServer.respond(tool, json).pipe(Effect.provide(ToolContext.layer(options)))
    yield* print(result.content.map((block) => block.type === "text" ? block.text : "").join("\n"))
    if (result.isError === true) process.exitCode = 1
  })
).pipe(Command.withDescription("Call one tool and print its answer"))

const doctor = Command.make(
  "doctor",
  { json: Flag.Boolean("json").pipe(Flag.withDescription("Print the checks as JSON"), Flag.withDefault(false)) },
  Effect.fnUntraced(function*({ json }) {
    const options = yield* root
    const { upstreams, usual } = yield* Upstreams.all(options)
    const offers = yield* offered(options)
    const coloured = process.stdout.isTTY && process.env["NO_COLOR"] === undefined
    for (const upstream of usual === undefined ? upstreams : [usual]) {
      const checks = yield* Doctor.examine({
        tools: offers,
        filesRoots: Options.filesRoots(options, process.env),
        stateFolder: Snapshots.defaultFolder(process.env)
      }).pipe(Effect.provide(Layer.merge(ToolContext.shared(options), Upstreams.layerOf(upstream))))
      const { name: profile } = upstream
      if (json) yield* print(JSON.stringify(profile === undefined ? checks : { profile, checks }))
      else yield* print(`${profile === undefined ? "" : `${profile}\n`}${Doctor.render(checks, coloured)}`)
      if (!Doctor.isHealthy(checks)) process.exitCode = 1
    }
  })
).pipe(Command.withDescription("Check address, key, scopes and version of n8n; 0 when all is well"))

/** Help that was asked for goes to stdout; what is wrong with an invocation goes to stderr, in a line or two. */
const presenter: CliOutput.Presenter = {
  present: (event) => {
    const formatter = CliOutput.defaultFormatter()
    switch (event._tag) {
      case "Help":
        return print(formatter.formatHelpDoc(event.helpDoc))
      case "Version":
        return print(event.version)
      case "InvalidInvocation":
        return Effect.sync(() =>
          void process.stderr.write(`${formatter.formatErrors(event.errors).trim()}\n\nSee ${name} --help\n`)
        )
    }
  }
}

/** What whoever starts the server can put right: it is told in a line, without a stack. */
const theirs = new Set(["InvalidOption", "InvalidProfile", "UnreadablePackage"])

/** Why the process ends with 1, on stderr. Usage errors were presented already. */
const explain = (error: Error) =>
  Effect.sync(() => {
    if (error.name === "~effect/cli/CliError/ShowHelp") return
    process.stderr.write(`${name}: ${theirs.has(error.name) ? error.message : error.stack ?? error.message}\n`)
  })

const variables = Options.variables(process.env)

serve.pipe(
  Command.withSubcommands([listTools, call, doctor]),
  Command.run({ version }),
  Effect.tapCause((cause) => Effect.forEach(Cause.prettyErrors(cause), explain)),
  Effect.provide(
    Layer.mergeAll(NodeServices.layer, Layer.succeed(CliOutput.Presenter, presenter)).pipe(
      Layer.provideMerge(Telemetry.layer(variables)),
      Layer.provideMerge(Logging.layer),
      Layer.provideMerge(ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables })))
    )
  ),
  // runMain would report failures on stdout, outside any logger provided here.
  NodeRuntime.runMain({
    disableErrorReporting: true,
    // Stopped by a signal or by the end of stdin, it has done its work; a lingering connection must not hold it.
    teardown: (exit) =>
      process.exit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? process.exitCode ?? 0 : 1)
  })
)
