/** `pull`, `status`, `diff` and `push`: synchronize a folder of workflows with n8n. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as Errors from "../../base/Errors.ts"
import * as Visible from "../../base/Visible.ts"
import * as Sync from "../../sync/Sync.ts"
import * as Options from "../config/Options.ts"
import * as Git from "../Git.ts"
import * as SyncReport from "../report/SyncReport.ts"
import * as ToolContext from "../ToolContext.ts"
import {
  checkWrites,
  exit,
  explained,
  folder,
  json,
  name,
  only as onlyOf,
  optional,
  printMarked as print,
  root,
  toggle,
  warn
} from "./root.ts"

const workflows = folder("Folder of workflow files")

const extras = {
  pinned: toggle("pinned", "Synchronize pinned data too, from now on"),
  staticData: toggle("static-data", "Synchronize static data too, from now on")
}

const only = onlyOf("an id, or a path in the folder")

const fromGit = optional("from-git", "REF", "Only files that changed since this commit, including uncommitted ones")

const amongChanged = (folder: string, ref: Option.Option<string>) =>
  Option.isNone(ref) ? Effect.succeed({}) : Effect.map(Git.changedSince(folder, ref.value), (among) => ({ among }))

export const dryRun = toggle("dry-run", "Only show what would change")

interface Common {
  readonly pinned: boolean
  readonly staticData: boolean
  readonly only: Option.Option<ReadonlyArray<string>>
}

/** Replaces the line of the terminal that shows progress. */
const showProgress = (line: string) =>
  Effect.sync(() => {
    if (process.stderr.isTTY === true) process.stderr.write(`\r\u001B[K${line}`)
  })

const onRead = (count: number, total: number) =>
  showProgress(count === total ? "" : `Read ${count} of ${total} workflows`)

const optionsOf = ({ only, pinned, staticData }: Common): Sync.Options => ({
  only: Option.getOrUndefined(only),
  onRead,
  extras: [...(pinned ? ["pinData" as const] : []), ...(staticData ? ["staticData" as const] : [])]
})

/** Exits with 1 for errors, 2 for differences, else 0. */
const conclude = (report: Sync.Report, isDifferent: boolean) =>
  report.hasErrors ? exit(1) : isDifferent ? exit(2) : Effect.void

const inFolder = Effect.fnUntraced(function*<A, R>(
  userPath: string,
  run: Effect.Effect<A, Errors.N8nError | Options.InvalidOption, R>,
  whenMissing: "refuse" | "create" | "pretend" = "refuse"
) {
  const options = yield* root
  const fs = yield* FileSystem.FileSystem
  let absolute = (yield* Path.Path).resolve(userPath)
  const isMissing = !(yield* Effect.orElseSucceed(fs.exists(absolute), () => false))
  if (isMissing && whenMissing === "create") {
    yield* fs.makeDirectory(absolute, { recursive: true }).pipe(
      Effect.mapError(({ reason }) => Options.refuse(`Folder '${userPath}' cannot be created: ${reason.message}`))
    )
  } else if (isMissing && whenMissing === "pretend") {
    absolute = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "n8n-mcp-pull-" }))
  } else if (isMissing) {
    return yield* Options.refuse(`Folder '${userPath}' does not exist; pull creates it`)
  }
  return yield* run.pipe(
    explained,
    Effect.provide(ToolContext.layer({ ...options, transport: "stdio" }, () => [absolute]))
  )
}, Effect.scoped)

/** Prints steps immediately: warnings about secrets on stderr, once, and each workflow on stdout. */
const onStep = (json: boolean, isDryRun: boolean) => {
  const reported = new Set<string>()
  return (step: Sync.Step) => {
    if (step._tag === "Secrets") {
      for (const warning of step.warnings) reported.add(warning)
      return Effect.forEach(
        step.warnings,
        (warning) => warn(`${Visible.label(step.file, 200)}: ${Visible.label(warning, 400)}`),
        { discard: true }
      )
    }
    const { warnings = [], ...outcome } = step.outcome
    const rest = { ...outcome, warnings: warnings.filter((warning) => !reported.has(warning)) }
    return json
      ? Effect.void
      : Effect.andThen(
        showProgress(""),
        print(`[${step.count}/${step.total}] ${SyncReport.outcomeLine(rest, isDryRun)}`)
      )
  }
}

const printReport = (report: Sync.Report<Sync.Outcome>, json: boolean, isDryRun = false) =>
  json ? print(JSON.stringify(SyncReport.json(report))) : Effect.gen(function*() {
    for (const entry of report.entries) {
      if (entry.action === undefined && entry.error === undefined && (entry.status !== "same" || entry.refused)) {
        yield* print(SyncReport.entryLine(entry))
      }
    }
    yield* print(SyncReport.summary(report, isDryRun))
  })

export const status = Command.make(
  "status",
  { folder: workflows, json, only, ...extras },
  Effect.fnUntraced(function*({ folder, json, ...options }) {
    const report = yield* inFolder(folder, Sync.status(".", optionsOf(options)))
    yield* printReport(report, json)
    yield* conclude(report, !report.isSame)
  })
).pipe(Command.withDescription("Compare a folder of workflows with n8n"))

export const pull = Command.make(
  "pull",
  {
    folder: workflows,
    json,
    only,
    ...extras,
    dryRun,
    splitCode: Flag.Boolean("split-code").pipe(
      Flag.withDescription(
        "Store long code (JavaScript, Python, SQL, HTML, CSS) in files beside the workflows, from now on; --no-split-code reverts this"
      ),
      Flag.optional
    ),
    deletes: toggle("delete", "Remove files whose workflow no longer exists on n8n, unless they changed"),
    secrets: Flag.Literals("secrets", ["refuse", "extract", "allow"]).pipe(
      Flag.withDescription(
        "Literal secrets: refuse writes no file that has some (exit 2), extract stores them in .n8n-secrets.json, which git ignores, from now on, and allow writes them into the workflows"
      ),
      Flag.optional
    ),
    resolve: Flag.Literals("resolve", ["here", "there"]).pipe(
      Flag.withDescription(
        "Resolve changes on both sides: there takes n8n's state, here keeps the file's for the next push"
      ),
      Flag.optional
    )
  },
  Effect.fnUntraced(function*({ deletes, dryRun, folder, json, resolve, secrets, splitCode, ...options }) {
    const report = yield* inFolder(
      folder,
      Sync.pull(".", {
        ...optionsOf(options),
        deletes,
        dryRun,
        resolve: Option.getOrUndefined(resolve),
        secrets: Option.getOrUndefined(secrets),
        splitsCode: Option.getOrUndefined(splitCode),
        onStep: onStep(json, dryRun)
      }),
      dryRun ? "pretend" : "create"
    )
    yield* printReport(report, json, dryRun)
    if (report.hasConflicts && !json) {
      yield* warn(
        `${name}: changes on both sides are never overwritten. --resolve there takes n8n's state, --resolve here keeps the file's for the next push.`
      )
    }
    if (report.hasSecrets && !json) {
      yield* warn(
        `${name}: files with literal secrets were refused: move the secrets into credentials, or add --secrets extract.`
      )
    }
    yield* conclude(report, report.hasConflicts || report.hasSecrets)
  })
).pipe(Command.withDescription("Write n8n's workflows into a folder"))

export const diff = Command.make(
  "diff",
  { folder: workflows, json, only, fromGit, ...extras },
  Effect.fnUntraced(function*({ folder, fromGit, json, ...options }) {
    const { showSecrets } = yield* root
    const among = yield* amongChanged(folder, fromGit)
    const differences = yield* inFolder(
      folder,
      Sync.diff(".", { ...optionsOf(options), ...among, showsSecrets: showSecrets })
    )
    if (json) yield* print(JSON.stringify(differences))
    else yield* Effect.forEach(differences, (entry) => print(SyncReport.difference(entry)), { discard: true })
    yield* exit(differences.some(({ status }) => status === "invalid") ? 1 : differences.length > 0 ? 2 : 0)
  })
).pipe(Command.withDescription("Show the differences between a folder and n8n"))

export const push = Command.make(
  "push",
  {
    folder: workflows,
    json,
    only,
    fromGit,
    ...extras,
    dryRun,
    publishes: toggle("publish", "Publish the pushed workflows"),
    deletes: toggle("delete", "Delete workflows on n8n whose file was removed, unless they changed there")
  },
  Effect.fnUntraced(function*({ deletes, dryRun, folder, fromGit, json, publishes, ...options }) {
    const among = yield* amongChanged(folder, fromGit)
    const report = yield* inFolder(
      folder,
      Effect.gen(function*() {
        if (!dryRun) yield* checkWrites("push writes to n8n", ", or add --dry-run")
        return yield* Sync.push(".", {
          ...optionsOf(options),
          ...among,
          deletes,
          dryRun,
          publishes,
          onStep: onStep(json, dryRun)
        })
      })
    )
    yield* printReport(report, json, dryRun)
    if (report.hasConflicts && !json) {
      const ids = report.entries.flatMap(({ id, status }) => status === "both" && id !== undefined ? [id] : [])
      const conflicts = yield* inFolder(folder, Sync.diff(".", { ...optionsOf(options), only: ids }))
      yield* Effect.forEach(conflicts, (entry) => print(SyncReport.difference(entry)), { discard: true })
      yield* warn(
        `${name}: nothing was pushed: changes on both sides are never overwritten. pull --resolve here keeps the file's state, pull --resolve there n8n's.`
      )
    }
    const hasInvalid = report.entries.some(({ status }) => status === "invalid")
    if (hasInvalid && !dryRun && !json) {
      yield* warn(
        `${name}: nothing was pushed: fix the files that cannot be read${
          Option.isNone(options.only) ? ", or select others with --only" : ""
        }.`
      )
    }
    yield* conclude(report, report.hasConflicts)
  })
).pipe(
  Command.withDescription("Write a folder's changes to n8n")
)
