/**
 * The root command, whose options all commands share, and a command as a row: its flags, the services that it needs, what
 * it does, and the forms of its report.
 */
import * as Command from "effect/cli/Command"
import * as Prompt from "effect/cli/Prompt"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Layer from "effect/Layer"
import { dirname, relative, resolve } from "node:path"
import * as Tool from "../../answer/Tool.ts"
import * as Errors from "../../base/Errors.ts"
import * as Browser from "../Browser.ts"
import * as Declarations from "../config/Declarations.ts"
import * as Options from "../config/Options.ts"
import { name } from "../Environment.ts"
import * as Mcp from "../Mcp.ts"
import * as Layout from "../report/Layout.ts"
import * as SyncReport from "../report/SyncReport.ts"
import * as Writer from "../report/Writer.ts"
import * as Terminal from "../Terminal.ts"
import * as ToolContext from "../ToolContext.ts"
import * as flags from "./flags.ts"

export { name } from "../Environment.ts"

export const root = Command.make(name).pipe(
  Command.withSharedFlags(Declarations.flags),
  Command.withDescription(
    "Without a command it is an MCP server, over stdio or HTTP, until stdin ends or it is stopped."
  )
)

/** Real path of a folder and its name in reports, and the file if the path leads to one. */
export const placeOf = Effect.fnUntraced(function*(userPath: string) {
  const fs = yield* FileSystem.FileSystem
  const { real, type } = yield* Effect.flatMap(
    fs.realPath(userPath),
    (real) => Effect.map(fs.stat(real), ({ type }) => ({ real, type }))
  ).pipe(Effect.mapError(() => Options.refuse(`'${userPath}' does not exist, or cannot be read`)))
  const isFile = type !== "Directory"
  const shown = relative("", resolve(userPath))
  return {
    root: isFile ? dirname(real) : real,
    shownAs: isFile ? dirname(shown) : shown,
    only: isFile ? real : undefined
  }
})

/** Fails if the n8n is read-only; `deed` says what the command does, `otherwise` names an alternative. */
export const checkWrites = (deed: string, otherwise = "") =>
  Effect.flatMap(Tool.ReadOnly, (isReadOnly) =>
    isReadOnly
      ? Options.refuse(
        `${deed}, but this n8n is read-only: remove --read-only, or choose another profile${otherwise}`
      )
      : Effect.void)

/** Whether a person agrees; one who leaves the question does not. */
export const isConfirmed = (message: string) =>
  Effect.orElseSucceed(Prompt.run(Prompt.Confirm({ message, initial: false })), () => false)

/** Program with the options that choose the same n8n again, for commands that a report suggests. */
export const programFor = ({ demo, profile }: Options.Options) =>
  `${name}${demo ? " --demo" : profile === undefined ? "" : ` --profile ${Layout.shellWord(profile)}`}`

export const exit = (code: number) => Effect.sync(() => void (process.exitCode = code))

export const offeredTools = (options: Options.Options) =>
  Effect.map(Mcp.servedTools(options), (served) => Tool.offered(served, options.readOnly))

const data = { json: flags.toggle("json", "Print JSON, as in a pipe") }

const findings = {
  format: flags.choice("format", Writer.formats, "Format of the report"),
  junit: flags.text("junit", "FILE", "Also write the report as JUnit XML"),
  json: flags.json
}

const page = {
  out: flags.text("out", "FILE", "Write a page, whose name ends in .html"),
  open: flags.toggle("open", "Open the page in the browser: FILE, or a temporary one")
}

/** Flags by the forms of a report, and those of which a program gets JSON without asking. */
const forms = {
  /** The command prints by itself, or nothing. */
  none: { flags: {} },
  /** Lines, or JSON on request. */
  lines: { flags: { json: flags.json } },
  /** Lines in a terminal, JSON on request and for a program. */
  data: { flags: data, isForPrograms: true },
  /** Data, or a page of them. */
  page: { flags: { ...data, ...page }, isForPrograms: true },
  /** A page, or a drawing. */
  drawing: {
    flags: {
      ...page,
      out: flags.text("out", "FILE", "File of the picture: .html for a page, as at a terminal, or .svg, as in a pipe")
    }
  },
  /** Findings in the formats of CI systems. */
  findings: { flags: findings },
  /** Findings, data for a program, or a page of them. */
  overview: { flags: { ...findings, ...data, ...page }, isForPrograms: true }
}

/** Report without JSON. */
type Lines = Omit<Writer.Report, "json">

interface Reports {
  readonly none: void
  readonly lines: Writer.Report | void
  readonly data: Writer.Report
  readonly page: Writer.Report
  readonly drawing: Lines
  readonly findings: Writer.Judgment
  readonly overview: Writer.Judgment
}

/** Form in which a command reports, for one that prints while it works. */
export interface Form {
  /** Whether stdout takes one JSON document and nothing else. */
  readonly isJson: boolean
  readonly format: Writer.Format
  readonly screen: Layout.Screen
  /** Page that was asked for. */
  readonly page?: Browser.Target
}

/** Form of a row; a drawing always has a place. */
type FormOf<F> = F extends "drawing" ? Form & { readonly page: Browser.Target } : Form

export interface Row<Name extends string, Config, F extends keyof Reports, S, E, R, ES, RS> {
  readonly name: Name
  readonly description: string
  readonly flags: Config
  readonly form: F
  /** Services of this start, such as an n8n with the folders that a person names. */
  readonly services: (
    flags: Command.Command.Config.Infer<Config & Command.Command.Config>,
    options: Options.Options,
    form: FormOf<F>
  ) => Layer.Layer<S, ES, RS>
  readonly run: (
    flags: Command.Command.Config.Infer<Config & Command.Command.Config>,
    options: Options.Options,
    form: FormOf<F>
  ) => Effect.Effect<Reports[F], E, R>
}

/** Services of a command that needs an n8n and nothing that a person names. */
export const onN8n = (_: unknown, options: Options.Options) => ToolContext.layer(options)

/** Writes a JUnit document with its folder. */
const writeJUnit = Effect.fnUntraced(function*(file: string, document: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(dirname(resolve(file)), { recursive: true }).pipe(
    Effect.andThen(fs.writeFileString(file, document)),
    Effect.mapError(({ reason }) => Options.refuse(`--junit: '${file}' cannot be written: ${reason.message}`))
  )
})

/** Prints a report in its format, and sets the exit status, which is the same in all. */
const present = Effect.fnUntraced(function*(
  report: Lines | Writer.Report | Writer.Judgment,
  { format, screen }: Form,
  { command, junit, startedAt }: {
    readonly command: string
    readonly junit: string | undefined
    readonly startedAt: number
  }
) {
  const judgment = "findings" in report ? report : { json: undefined, ...report, findings: [] }
  const milliseconds = (yield* Clock.currentTimeMillis) - startedAt
  const document = () => Writer.junit(judgment, command, { milliseconds, startedAt })
  if (format === "text") {
    yield* Effect.forEach(Writer.text(judgment, screen), Terminal.say, { discard: true })
    yield* Effect.forEach(report.advice ?? [], Terminal.warn, { discard: true })
  } else if (format === "github") {
    // Commands for GitHub, which `print` would escape.
    yield* Terminal.write(Writer.github(judgment).map((each) => `${each}\n`).join(""))
    yield* Terminal.print(Writer.conclusion(judgment))
  } else if (format === "junit") yield* Terminal.print(document().trimEnd())
  else {
    const json = format === "sarif"
      ? Writer.sarif(judgment)
      : "findings" in report
      ? Writer.json(report)
      : judgment.json
    yield* Terminal.print(JSON.stringify(json))
  }
  if (junit !== undefined) yield* writeJUnit(junit, document())
  yield* exit(Writer.exitOf(judgment))
})

/** Command of a row; refusals are printed in one line. */
export const row = <
  const Name extends string,
  const Config extends Command.Command.Config,
  F extends keyof Reports,
  S,
  E,
  R,
  ES,
  RS
>({ description, flags, form, name, run, services }: Row<Name, Config, F, S, E, R, ES, RS>) =>
  Command.make(name, { ...flags, ...forms[form].flags } as Config, (input) =>
    Effect.gen(function*() {
      const options = yield* root
      const startedAt = yield* Clock.currentTimeMillis
      const { format, json = false, junit, ...page } = input as Partial<
        Command.Command.Config.Infer<typeof forms.overview.flags>
      >
      const target = yield* Browser.targetOf(page, form === "drawing", json ? "--json" : format && `--format ${format}`)
      const isForProgram = "isForPrograms" in forms[form] && target === undefined && Terminal.isPiped()
      const shown = format ?? (json || isForProgram ? "json" : "text")
      const how = {
        isJson: shown === "json",
        format: shown,
        screen: Terminal.screen(),
        ...target && { page: target }
      } as FormOf<F>
      const report = yield* run(input as never, options, how).pipe(
        Terminal.watching,
        Effect.provide(services(input as never, options, how))
      )
      if (report !== undefined) yield* present(report, how, { command: name, junit, startedAt })
    }).pipe(
      Effect.mapError((error) =>
        Errors.isN8nError(error) ? Options.refuse(SyncReport.explain(error)) : error as Exclude<E | ES, Errors.N8nError>
      )
    )).pipe(Command.withDescription(description))
