/** A command as a row: its flags, the services that it needs, what it does, and the forms of its report. */
import * as Command from "effect/cli/Command"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Layer from "effect/Layer"
import { dirname, resolve } from "node:path"
import * as Errors from "../../base/Errors.ts"
import { defined } from "../../base/Json.ts"
import * as Options from "../config/Options.ts"
import type * as Layout from "../report/Layout.ts"
import type * as Report from "../report/Report.ts"
import * as SyncReport from "../report/SyncReport.ts"
import * as Writer from "../report/Writer.ts"
import * as Terminal from "../Terminal.ts"
import * as flags from "./flags.ts"
import { exit, root } from "./root.ts"

const judged = {
  format: flags.choice("format", Writer.formats, "Format of the report"),
  junit: flags.text("junit", "FILE", "Also write the report as JUnit XML")
}

/** Flags by the forms of a report. */
const forms = {
  /** The command prints by itself, or nothing. */
  none: {},
  /** Lines, or JSON on request. */
  lines: { json: flags.json },
  /** Lines in a terminal, JSON on request and for a program. */
  data: { json: flags.toggle("json", "Print JSON, as in a pipe") },
  /** Findings in the formats of CI systems. */
  findings: { ...judged, json: flags.json },
  /** The same, JSON for a program. */
  findingsOrData: { ...judged, json: flags.toggle("json", "Print JSON, as in a pipe") }
}

interface Reports {
  readonly none: void
  readonly lines: Report.Report | void
  readonly data: Report.Report
  readonly findings: Report.Judgment
  readonly findingsOrData: Report.Judgment | void
}

/** Form in which a command reports, for one that prints while it works. */
export interface Form {
  /** Whether stdout takes one JSON document and nothing else. */
  readonly isJson: boolean
  readonly format: Writer.Format
  /** Whether the person named the format. */
  readonly isChosen: boolean
  readonly screen: Layout.Screen
}

export interface Row<Name extends string, Config, F extends keyof Reports, S, E, R, ES, RS> {
  readonly name: Name
  readonly description: string
  readonly flags: Config
  readonly form: F
  /** Services of this start, such as an n8n with the folders that a person names. */
  readonly services: (
    flags: Command.Command.Config.Infer<Config & Command.Command.Config>,
    options: Options.Options
  ) => Layer.Layer<S, ES, RS>
  readonly run: (
    flags: Command.Command.Config.Infer<Config & Command.Command.Config>,
    options: Options.Options,
    form: Form
  ) => Effect.Effect<Reports[F], E, R>
}

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
  report: Report.Report | Report.Judgment,
  { format, screen }: Form,
  { command, junit, startedAt }: { readonly command: string; readonly junit?: string; readonly startedAt: number }
) {
  const isJudgment = "findings" in report
  const judgment = isJudgment ? report : { ...report, findings: [] }
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
    const json = format === "sarif" ? Writer.sarif(judgment) : isJudgment ? Writer.json(report) : report.json
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
  Command.make(name, { ...flags, ...forms[form] } as Config, (input) =>
    Effect.flatMap(root, (options) => {
      const { format, json = false, junit } = input as {
        readonly json?: boolean
        readonly format?: Writer.Format
        readonly junit?: string
      }
      const isData = json || (form === "data" || form === "findingsOrData") && Terminal.isPiped()
      const how: Form = {
        isJson: format === undefined ? isData : format === "json",
        format: format ?? (isData ? "json" : "text"),
        isChosen: json || format !== undefined,
        screen: Terminal.screen()
      }
      return Effect.flatMap(Clock.currentTimeMillis, (startedAt) =>
        run(input as never, options, how).pipe(
          Effect.flatMap((report) =>
            report === undefined
              ? Effect.void
              : present(report, how, { command: name, startedAt, ...defined({ junit }) })
          ),
          Effect.provide(services(input as never, options))
        ))
    }).pipe(
      Effect.mapError((error) =>
        Errors.isN8nError(error) ? Options.refuse(SyncReport.explain(error)) : error as Exclude<E | ES, Errors.N8nError>
      )
    )).pipe(Command.withDescription(description))
