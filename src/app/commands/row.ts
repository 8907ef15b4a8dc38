/** A command as a row: its flags, the services that it needs, what it does, and the forms of its report. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Errors from "../../base/Errors.ts"
import * as Options from "../config/Options.ts"
import type * as Layout from "../report/Layout.ts"
import type * as Report from "../report/Report.ts"
import * as SyncReport from "../report/SyncReport.ts"
import * as Terminal from "../Terminal.ts"
import * as flags from "./flags.ts"
import { exit, root } from "./root.ts"

/** Flags by the forms of a report. */
const forms = {
  /** The command prints by itself, or nothing. */
  none: {},
  /** Lines, or JSON on request. */
  lines: { json: flags.json },
  /** Lines in a terminal, JSON on request and for a program. */
  data: { json: flags.toggle("json", "Print JSON, as in a pipe") }
}

interface Reports {
  readonly none: void
  readonly lines: Report.Report | void
  readonly data: Report.Report
}

/** Form in which a command reports, for one that prints while it works. */
export interface Form {
  /** Whether stdout takes one JSON document and nothing else. */
  readonly isJson: boolean
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

/** Prints a report, and sets the exit status. */
const present = Effect.fnUntraced(function*({ advice = [], exit: code = 0, json, text }: Report.Report, form: Form) {
  if (form.isJson) yield* Terminal.print(JSON.stringify(json))
  else {
    yield* Effect.forEach(text(form.screen), Terminal.say, { discard: true })
    yield* Effect.forEach(advice, Terminal.warn, { discard: true })
  }
  yield* exit(code)
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
      const { json = false } = input as { readonly json?: boolean }
      const how: Form = { isJson: json || form === "data" && Terminal.isPiped(), screen: Terminal.screen() }
      return run(input as never, options, how).pipe(
        Effect.flatMap((report) => report === undefined ? Effect.void : present(report, how)),
        Effect.provide(services(input as never, options))
      )
    }).pipe(
      Effect.mapError((error) =>
        Errors.isN8nError(error) ? Options.refuse(SyncReport.explain(error)) : error as Exclude<E | ES, Errors.N8nError>
      )
    )).pipe(Command.withDescription(description))
