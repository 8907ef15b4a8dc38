/** `pull`, `status`, `diff` and `push`: synchronize a folder of workflows with n8n. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { resolve } from "node:path"
import { CallContext, type Service as CallContextService } from "../../base/CallContext.ts"
import * as Visible from "../../base/Visible.ts"
import * as Sync from "../../sync/Sync.ts"
import * as Options from "../config/Options.ts"
import * as Git from "../Git.ts"
import * as SyncReport from "../report/SyncReport.ts"
import * as ToolContext from "../ToolContext.ts"
import * as flags from "./flags.ts"
import { checkWrites, command, exit, name, printMarked as print, report, showLine, warn } from "./root.ts"

const scope = {
  only: flags.only("an id, or a path in the folder"),
  pinned: flags.toggle("pinned", "Synchronize pinned data too, from now on"),
  staticData: flags.toggle("static-data", "Synchronize static data too, from now on")
}

const shared = { folder: flags.folder("Folder of workflow files"), json: flags.json, ...scope }

const fromGit = flags.text("from-git", "REF", "Only files that changed since this commit, including uncommitted ones")

const amongChanged = (folder: string, ref: string | undefined) =>
  ref === undefined ? Effect.succeed({}) : Effect.map(Git.changedSince(folder, ref), (among) => ({ among }))

const optionsOf = ({ only, pinned, staticData }: Command.Command.Config.Infer<typeof scope>): Sync.Options => ({
  only,
  extras: [...(pinned ? ["pinData" as const] : []), ...(staticData ? ["staticData" as const] : [])]
})

const conclude = (report: Sync.Report, isDifferent: boolean) =>
  report.hasErrors ? exit(1) : isDifferent ? exit(2) : Effect.void

/** Shows the progress of a command on the terminal. */
export const hearing = Effect.updateService(CallContext, (context): CallContextService => ({
  ...context,
  progress: (done, total, message) =>
    showLine(done === total ? "" : `${done} of ${total}: ${Visible.label(message, 80)}`)
}))

const inFolder = Effect.fnUntraced(function*<A, E, R>(
  options: Options.Options,
  userPath: string,
  run: Effect.Effect<A, E, R>,
  whenMissing: "refuse" | "create" | "pretend" = "refuse"
) {
  const fs = yield* FileSystem.FileSystem
  let absolute = resolve(userPath)
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
  return yield* Effect.provide(hearing(run), ToolContext.layer(options, () => [absolute]))
}, Effect.scoped)

/** Prints each workflow when it is done, and afterwards the warnings that were not known then, on stderr. */
export const steps = <A extends Sync.Outcome | Sync.Promotion>(json: boolean, lineOf: (outcome: A) => string) => {
  const reported = new Set<string>()
  const onSecrets = (file: string, warnings: ReadonlyArray<string> = []) =>
    Effect.forEach(warnings.filter((warning) => !reported.has(`${file}\0${warning}`)), (warning) => {
      reported.add(`${file}\0${warning}`)
      return warn(`${Visible.label(file, 200)}: ${Visible.label(warning, 400)}`)
    }, { discard: true })
  const placeOf = (outcome: Sync.Outcome | Sync.Promotion) => "file" in outcome && outcome.file || outcome.name
  return {
    onSecrets,
    onStep: (outcome: A) => {
      const warnings = outcome.warnings?.filter((warning) => !reported.has(`${placeOf(outcome)}\0${warning}`))
      for (const warning of warnings ?? []) reported.add(`${placeOf(outcome)}\0${warning}`)
      return json
        ? Effect.void
        : Effect.andThen(showLine(""), print(lineOf({ ...outcome, ...warnings && { warnings } })))
    },
    finish: (entries: ReadonlyArray<A>) =>
      Effect.forEach(json ? [] : entries, (entry) => onSecrets(placeOf(entry), entry.warnings), { discard: true })
  }
}

const printReport = (result: Sync.Report<Sync.Outcome>, json: boolean, isDryRun = false) =>
  report(json, SyncReport.json(result), () => [
    ...result.entries.flatMap((entry) =>
      entry.action === undefined && entry.error === undefined && (entry.status !== "same" || entry.refused)
        ? SyncReport.entryLine(entry)
        : []
    ),
    SyncReport.summary(result, isDryRun)
  ], print)

const printDifferences = (all: ReadonlyArray<Sync.Entry | Sync.Difference>, json = false) =>
  report(json, all, () => all.map(SyncReport.difference), print)

export const status = command(
  "status",
  "Compare a folder of workflows with n8n",
  shared,
  Effect.fnUntraced(function*({ folder, json, ...scope }, options) {
    const result = yield* inFolder(options, folder, Sync.status(".", optionsOf(scope)))
    yield* printReport(result, json)
    yield* conclude(result, !result.isSame)
  })
)

export const pull = command(
  "pull",
  "Write n8n's workflows into a folder",
  {
    ...shared,
    dryRun: flags.dryRun,
    splitsCode: Flag.Boolean("split-code").pipe(
      Flag.withDescription(
        "Store long code (JavaScript, Python, SQL, HTML, CSS) in files beside the workflows, from now on; --no-split-code reverts this"
      ),
      Flag.withDefault(undefined)
    ),
    deletes: flags.toggle("delete", "Remove files whose workflow no longer exists on n8n, unless they changed"),
    secrets: flags.choice(
      "secrets",
      ["refuse", "extract", "allow"],
      "Literal secrets: refuse writes no file that has some (exit 2), extract stores them in .n8n-secrets.json, which git ignores, from now on, and allow writes them into the workflows"
    ),
    resolve: flags.choice(
      "resolve",
      ["here", "there"],
      "Resolve changes on both sides: there takes n8n's state, here keeps the file's for the next push"
    )
  },
  Effect.fnUntraced(function*({ deletes, dryRun, folder, json, resolve, secrets, splitsCode, ...scope }, options) {
    const { finish, ...heard } = steps<Sync.Outcome>(json, (outcome) => SyncReport.outcomeLine(outcome, dryRun))
    const result = yield* inFolder(
      options,
      folder,
      Sync.pull(".", { ...optionsOf(scope), deletes, dryRun, resolve, secrets, splitsCode, ...heard }),
      dryRun ? "pretend" : "create"
    )
    yield* finish(result.entries)
    yield* printReport(result, json, dryRun)
    if (result.hasConflicts && !json) {
      yield* warn(
        `${name}: changes on both sides are never overwritten. --resolve there takes n8n's state, --resolve here keeps the file's for the next push.`
      )
    }
    if (result.hasSecrets && !json) {
      yield* warn(
        `${name}: files with literal secrets were refused: move the secrets into credentials, or add --secrets extract.`
      )
    }
    yield* conclude(result, result.hasConflicts || result.hasSecrets)
  })
)

export const diff = command(
  "diff",
  "Show the differences between a folder and n8n",
  { ...shared, fromGit },
  Effect.fnUntraced(function*({ folder, fromGit, json, ...scope }, options) {
    const among = yield* amongChanged(folder, fromGit)
    const differences = yield* inFolder(
      options,
      folder,
      Sync.diff(".", { ...optionsOf(scope), ...among, showsSecrets: options.showSecrets })
    )
    yield* printDifferences(differences, json)
    yield* exit(differences.some(({ status }) => status === "invalid") ? 1 : differences.length > 0 ? 2 : 0)
  })
)

export const push = command(
  "push",
  "Write a folder's changes to n8n",
  {
    ...shared,
    fromGit,
    dryRun: flags.dryRun,
    publishes: flags.toggle("publish", "Publish the pushed workflows"),
    deletes: flags.toggle("delete", "Delete workflows on n8n whose file was removed, unless they changed there")
  },
  Effect.fnUntraced(function*({ deletes, dryRun, folder, fromGit, json, publishes, ...scope }, options) {
    const among = yield* amongChanged(folder, fromGit)
    const { finish, onStep } = steps<Sync.Outcome>(json, (outcome) => SyncReport.outcomeLine(outcome, dryRun))
    const result = yield* inFolder(
      options,
      folder,
      Effect.andThen(
        dryRun ? Effect.void : checkWrites("push writes to n8n", ", or add --dry-run"),
        Sync.push(".", {
          ...optionsOf(scope),
          ...among,
          deletes,
          dryRun,
          publishes,
          onStep
        })
      )
    )
    yield* finish(result.entries)
    yield* printReport(result, json, dryRun)
    if (result.hasConflicts && !json) {
      const ids = result.entries.flatMap(({ id, status }) => status === "both" && id !== undefined ? [id] : [])
      yield* printDifferences(yield* inFolder(options, folder, Sync.diff(".", { ...optionsOf(scope), only: ids })))
      yield* warn(
        `${name}: what changed on both sides was left out, and is never overwritten. pull --resolve here keeps the file's state, pull --resolve there n8n's.`
      )
    }
    const hasInvalid = result.entries.some(({ status }) => status === "invalid")
    if (hasInvalid && !json) {
      yield* warn(
        `${name}: invalid files are not pushed${deletes ? ", and nothing is deleted" : ""}: fix them, and push again.`
      )
    }
    yield* conclude(result, result.hasConflicts)
  })
)
