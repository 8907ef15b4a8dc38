/** `pull` and `status`: a folder of workflows in step with n8n. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as Errors from "../../base/Errors.ts"
import * as Sync from "../../sync/Sync.ts"
import * as Options from "../Options.ts"
import * as SyncReport from "../report/SyncReport.ts"
import * as ToolContext from "../ToolContext.ts"
import { print, root } from "./root.ts"

const warn = (line: string) => Effect.sync(() => void process.stderr.write(`${line}\n`))

const refuse = (message: string) => new Options.InvalidOption({ message })

const folder = Argument.String("folder").pipe(
  Argument.withDescription("The folder of workflow files; the working directory if none"),
  Argument.withDefault(".")
)

const json = Flag.Boolean("json").pipe(Flag.withDescription("Print the report as JSON"), Flag.withDefault(false))

const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

const extras = {
  pinned: toggle("pinned", "Keep pinned data in step too, from now on"),
  staticData: toggle("static-data", "Keep static data in step too, from now on")
}

const only = Flag.String("only").pipe(
  Flag.withDescription("Only this workflow: an id, or a path in the folder; may be repeated"),
  Flag.withMetavar("WORKFLOW"),
  Flag.atLeast(1),
  Flag.optional
)

const dryRun = toggle("dry-run", "Only show what would be done")

interface Common {
  readonly pinned: boolean
  readonly staticData: boolean
  readonly only: Option.Option<ReadonlyArray<string>>
}

const optionsOf = ({ only, pinned, staticData }: Common): Sync.Options => ({
  only: Option.getOrUndefined(only),
  extras: [...(pinned ? ["pinData" as const] : []), ...(staticData ? ["staticData" as const] : [])]
})

const exit = (code: number) => Effect.sync(() => void (process.exitCode = code))

/** 1 where something failed, 2 where `isDifferent`, else 0. */
const conclude = (report: Sync.Report, isDifferent: boolean) =>
  report.hasErrors ? exit(1) : isDifferent ? exit(2) : Effect.void

/** Runs with the folder as the only files root, and tells what went wrong in a line. */
const inFolder = <A, R>(
  userPath: string,
  run: Effect.Effect<A, Errors.N8nError, R>,
  { makes }: { readonly makes: boolean } = { makes: false }
) =>
  Effect.gen(function*() {
    const options = yield* root
    const path = yield* Path.Path
    const absolute = path.resolve(userPath)
    const fs = yield* FileSystem.FileSystem
    if (makes) {
      yield* fs.makeDirectory(absolute, { recursive: true }).pipe(
        Effect.mapError(({ reason }) => refuse(`The folder '${userPath}' cannot be made: ${reason.message}`))
      )
    } else if (!(yield* Effect.orElseSucceed(fs.exists(absolute), () => false))) {
      return yield* refuse(`There is no folder '${userPath}': pull makes one`)
    }
    return yield* run.pipe(
      Effect.catch((error) => Effect.fail(refuse(SyncReport.explain(error)))),
      Effect.provide(ToolContext.layer({ ...options, transport: "stdio", filesRoot: [absolute] }))
    )
  })

/** Tells what happens as it happens: secrets on stderr, once, and each workflow on stdout. */
const onStep = (json: boolean, isDryRun: boolean) => {
  const told = new Set<string>()
  return (step: Sync.Step) => {
    if (step._tag === "Secrets") {
      for (const warning of step.warnings) told.add(warning)
      return Effect.forEach(step.warnings, (warning) => warn(`${step.file}: ${warning}`), { discard: true })
    }
    const { warnings = [], ...outcome } = step.outcome
    const rest = { ...outcome, warnings: warnings.filter((warning) => !told.has(warning)) }
    return json ? Effect.void : print(`[${step.count}/${step.total}] ${SyncReport.outcomeLine(rest, isDryRun)}`)
  }
}

/** What was left, and how many of each. */
const tell = (report: Sync.Report<Sync.Outcome>, json: boolean) =>
  json ? print(JSON.stringify(SyncReport.json(report))) : Effect.gen(function*() {
    for (const entry of report.entries) {
      if (entry.action === undefined && entry.error === undefined && entry.status !== "same") {
        yield* print(SyncReport.entryLine(entry))
      }
    }
    yield* print(SyncReport.summary(report))
  })

export const status = Command.make(
  "status",
  { folder, json, only, ...extras },
  Effect.fnUntraced(function*({ folder, json, ...options }) {
    const report = yield* inFolder(folder, Sync.status(".", optionsOf(options)))
    yield* tell(report, json)
    yield* conclude(report, !report.isSame)
  })
).pipe(Command.withDescription("Compare a folder of workflows with n8n; 0 when they are the same, 2 when not"))

export const pull = Command.make(
  "pull",
  {
    folder,
    json,
    only,
    ...extras,
    dryRun,
    deletes: toggle("delete", "Remove files whose workflow n8n has no more, unless they changed"),
    resolve: Flag.Literals("resolve", ["here", "there"]).pipe(
      Flag.withDescription(
        "Settle what changed on both sides: there takes n8n's state, here keeps the file for a push to write"
      ),
      Flag.optional
    )
  },
  Effect.fnUntraced(function*({ deletes, dryRun, folder, json, resolve, ...options }) {
    const report = yield* inFolder(
      folder,
      Sync.pull(".", {
        ...optionsOf(options),
        deletes,
        dryRun,
        resolve: Option.getOrUndefined(resolve),
        onStep: onStep(json, dryRun)
      }),
      { makes: !dryRun }
    )
    yield* tell(report, json)
    yield* conclude(report, report.hasConflicts)
  })
).pipe(Command.withDescription("Write n8n's workflows into a folder; 2 when what changed on both sides was left"))
