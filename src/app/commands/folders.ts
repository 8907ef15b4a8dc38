/** `pull`, `status`, `diff`, `push` and `promote`: a folder of workflows and n8n, or one n8n and another. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { execFile } from "node:child_process"
import { resolve } from "node:path"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Sync from "../../sync/Sync.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Options from "../config/Options.ts"
import * as Profiles from "../config/Profiles.ts"
import * as Upstreams from "../config/Upstreams.ts"
import type * as Layout from "../report/Layout.ts"
import * as SyncReport from "../report/SyncReport.ts"
import * as Terminal from "../Terminal.ts"
import * as ToolContext from "../ToolContext.ts"
import * as flags from "./flags.ts"
import { checkWrites, type Form, name, row } from "./row.ts"

const maxOutput = 64_000_000

/** Disables programs named by a repository's own configuration. */
const harmless = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]

const git = (folder: string, ref: string, ...args: ReadonlyArray<string>) =>
  Effect.callback<string, Options.InvalidOption>((resume) => {
    const options = { cwd: folder, maxBuffer: maxOutput }
    const child = execFile("git", [...harmless, ...args], options, (error, stdout, stderr) => {
      const why = stderr.trim().split("\n")[0]?.replace(/^fatal: /, "") || error?.message
      resume(
        error === null
          ? Effect.succeed(stdout)
          : Effect.fail(Options.refuse(`--from-git '${ref}': git cannot list the changes since it: ${why}`))
      )
    })
    return Effect.sync(() => void child.kill())
  })

/** Paths of files that differ from a commit, relative to the folder; includes uncommitted, new and deleted files. */
export const changedSince = Effect.fnUntraced(function*(folder: string, ref: string) {
  const commit = (yield* git(folder, ref, "rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`)).trim()
  const [tracked, untracked] = yield* Effect.all([
    git(folder, ref, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--relative", "-z", commit, "--", "."),
    git(folder, ref, "ls-files", "--others", "--exclude-standard", "-z", "--", ".")
  ])
  return [...tracked.split("\0"), ...untracked.split("\0")].filter((file) => file !== "")
})

const scope = {
  only: flags.only("its id, link, name, or path in the folder"),
  pinned: flags.toggle("pinned", "Synchronize pinned data too, from now on"),
  staticData: flags.toggle("static-data", "Synchronize static data too, from now on")
}

const shared = { folder: flags.folder("Folder of workflow files"), ...scope }

const fromGit = flags.text("from-git", "REF", "Only files that changed since this commit, including uncommitted ones")

const amongChanged = (folder: string, ref: string | undefined) =>
  ref === undefined ? Effect.succeed({}) : Effect.map(changedSince(folder, ref), (among) => ({ among }))

const optionsOf = ({ only, pinned, staticData }: Command.Command.Config.Infer<typeof scope>): Sync.Options => ({
  only,
  extras: [...(pinned ? ["pinData" as const] : []), ...(staticData ? ["staticData" as const] : [])]
})

/** Services with a folder as the only one; a missing one is made, or in a dry run a temporary one. */
const inFolder = (makes: boolean) =>
(
  { dryRun = false, folder }: { readonly folder: string; readonly dryRun?: boolean },
  options: Options.Options
) =>
  Layer.unwrap(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const absolute = resolve(folder)
    const exists = yield* Effect.orElseSucceed(fs.exists(absolute), () => false)
    if (!exists && !makes) return yield* Options.refuse(`Folder '${folder}' does not exist; pull creates it`)
    if (!exists && !dryRun) {
      yield* fs.makeDirectory(absolute, { recursive: true }).pipe(
        Effect.mapError(({ reason }) => Options.refuse(`Folder '${folder}' cannot be created: ${reason.message}`))
      )
    }
    const place = exists || !dryRun
      ? absolute
      : yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "n8n-mcp-pull-" }))
    return ToolContext.layer(options, () => [place])
  }))

/** Prints each workflow when it is done; `late` are the warnings that were not known then. */
export const steps = <A extends Sync.Outcome | Sync.Promotion>(
  { isJson, screen }: Form,
  lineOf: (outcome: A, screen: Layout.Screen) => string
) => {
  const shown = new Set<string>()
  const placeOf = (outcome: Sync.Outcome | Sync.Promotion) => "file" in outcome && outcome.file || outcome.name
  const lines = (outcome: A) =>
    (outcome.warnings ?? []).map((warning) => `${Visible.label(placeOf(outcome), 200)}: ${Visible.label(warning, 400)}`)
      .filter((line) => !shown.has(line))
  return {
    onStep: Effect.fnUntraced(function*(outcome: A) {
      const warnings = lines(outcome)
      for (const line of warnings) shown.add(line)
      if (isJson) return
      // A terminal shows them below their workflow; elsewhere they are for stderr, which names it.
      const { warnings: _, ...bare } = outcome
      yield* Terminal.say(lineOf(Terminal.isPiped() ? bare as A : outcome, screen))
      if (Terminal.isPiped()) yield* Effect.forEach(warnings, Terminal.warn, { discard: true })
    }),
    late: (entries: ReadonlyArray<A>) => entries.flatMap(lines)
  }
}

/** Advice that applies. */
const advice = (...all: ReadonlyArray<readonly [applies: boolean, text: string]>) =>
  all.flatMap(([applies, text]) => applies ? [`${name}: ${text}`] : [])

const publishing = "push --publish publishes the newest, with --only NAME that of one workflow."

export const status = row({
  name: "status",
  description: "Compare a folder of workflows with n8n",
  flags: shared,
  form: "lines",
  services: inFolder(false),
  run: (flags) =>
    Effect.map(
      Sync.status(".", optionsOf(flags)),
      (result) => {
        const drafts = result.entries.filter(({ draft, file }) => draft === true && file !== undefined)
        return SyncReport.sync(result, {
          isOpen: !result.isSame,
          advice: advice([
            drafts.length > 0,
            `n8n runs an older version than the newest of ${
              Rows.names(drafts.map(({ name }) => name), 3)
            }: ${publishing}`
          ])
        })
      }
    )
})

export const pull = row({
  name: "pull",
  description: "Write n8n's workflows into a folder",
  flags: {
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
  form: "lines",
  services: inFolder(true),
  run: Effect.fnUntraced(function*({ deletes, dryRun, resolve, secrets, splitsCode, ...scope }, _, form) {
    const { late, onStep } = steps<Sync.Outcome>(
      form,
      (outcome, screen) => SyncReport.outcomeLine(outcome, { ...screen, isDryRun: dryRun })
    )
    const pulling = { ...optionsOf(scope), deletes, dryRun, resolve, secrets, splitsCode, onStep }
    const result = yield* Sync.pull(".", pulling)
    return SyncReport.sync(result, {
      isDryRun: dryRun,
      isOpen: result.hasConflicts || result.hasSecrets,
      advice: [
        ...late(result.entries),
        ...advice(
          [
            result.hasConflicts,
            "changes on both sides are never overwritten. --resolve there takes n8n's state, --resolve here keeps the file's for the next push."
          ],
          [
            result.hasSecrets,
            "files with literal secrets were refused: move the secrets into credentials, or add --secrets extract."
          ]
        )
      ]
    })
  })
})

export const diff = row({
  name: "diff",
  description: "Show the differences between a folder and n8n",
  flags: { ...shared, fromGit },
  form: "lines",
  services: inFolder(false),
  run: Effect.fnUntraced(function*({ folder, fromGit, ...scope }, { showSecrets: showsSecrets }) {
    const among = yield* amongChanged(folder, fromGit)
    return SyncReport.differences(yield* Sync.diff(".", { ...optionsOf(scope), ...among, showsSecrets }))
  })
})

export const push = row({
  name: "push",
  description: "Write a folder's changes to n8n",
  flags: {
    ...shared,
    fromGit,
    dryRun: flags.dryRun,
    publishes: flags.toggle("publish", "Publish the pushed workflows"),
    deletes: flags.toggle("delete", "Delete workflows on n8n whose file was removed, unless they changed there")
  },
  form: "lines",
  services: inFolder(false),
  run: Effect.fnUntraced(function*({ deletes, dryRun, folder, fromGit, publishes, ...scope }, _, form) {
    const among = yield* amongChanged(folder, fromGit)
    if (!dryRun) yield* checkWrites("push writes to n8n", ", or add --dry-run")
    const { late, onStep } = steps<Sync.Outcome>(
      form,
      (outcome, screen) => SyncReport.outcomeLine(outcome, { ...screen, isDryRun: dryRun })
    )
    const result = yield* Sync.push(".", { ...optionsOf(scope), ...among, deletes, dryRun, publishes, onStep })
    const { entries, hasConflicts } = result
    const both = entries.flatMap(({ id, status }) => status === "both" && id !== undefined ? [id] : [])
    return SyncReport.sync(result, {
      isDryRun: dryRun,
      listsNew: false,
      isOpen: hasConflicts,
      open: hasConflicts && !form.isJson ? yield* Sync.diff(".", { ...optionsOf(scope), only: both }) : [],
      advice: [
        ...late(entries),
        ...advice(
          [
            hasConflicts,
            "what changed on both sides was left out, and is never overwritten. pull --resolve here keeps the file's state, pull --resolve there n8n's."
          ],
          [
            !dryRun && !publishes && entries.some(({ published }) => published === false),
            `n8n still runs the published versions of what was pushed: ${publishing}`
          ],
          [
            entries.some(({ status }) => status === "invalid"),
            `invalid files are not pushed${deletes ? ", and nothing is deleted" : ""}: fix them, and push again.`
          ]
        )
      ]
    })
  })
})

const readBindings = ConfigFile.reader("The bindings", Sync.Bindings)

const bindingsIn = (file: string) =>
  Effect.mapError(readBindings(file), (reason) => Options.refuse(`${file}: ${reason}`))

interface Route {
  readonly from: string | undefined
  readonly fromFolder: boolean
  readonly to: string | undefined
}

/** Source and target of the options; a folder needs no profiles. */
const route = Effect.fnUntraced(function*(options: Options.Options, { from, fromFolder, to }: Route) {
  if (fromFolder === (from !== undefined)) {
    return yield* Options.refuse("promote needs one source: --from PROFILE or --from-folder")
  }
  const { defaultUpstream, upstreams } = yield* Upstreams.load({ ...options, profile: undefined })
  const hasProfiles = upstreams.some(({ name }) => name !== undefined)
  if (!hasProfiles && (from !== undefined || to !== undefined)) {
    return yield* Options.refuse("--from and --to are profiles: name a file of profiles with --config")
  }
  const chosen = to ?? (fromFolder ? options.profile : undefined)
  const target = chosen !== undefined
    ? yield* Profiles.find(upstreams, chosen)
    : fromFolder
    ? defaultUpstream
    : undefined
  if (target === undefined) return yield* Options.refuse("promote needs a target: --to PROFILE")
  return { source: from === undefined ? "folder" as const : yield* Profiles.find(upstreams, from), target }
})

export const promote = row({
  name: "promote",
  description: "Copy workflows from an n8n or a folder to another n8n, and bind its credentials",
  flags: {
    folder: flags.folder("Folder of the record, .n8n-promotion.json, and with --from-folder of the workflow files"),
    dryRun: flags.dryRun,
    from: flags.text("from", "PROFILE", "Profile of the source n8n"),
    fromFolder: flags.toggle("from-folder", "Take the workflows from the files of the folder instead of an n8n"),
    to: flags.text("to", "PROFILE", "Profile of the target n8n; with --from-folder by default the only one"),
    bindings: flags.text(
      "bindings",
      "FILE",
      "JSON file: {\"credentials\": {\"id or name in the source\": \"id or name in the target\"}, …}"
    ),
    only: flags.only("its id, link or name; with --from-folder also its path in the folder"),
    except: flags.texts("except", "WORKFLOW", "Not this workflow, named as for --only; may be repeated"),
    pinned: flags.toggle("pinned", "Promote pinned data too"),
    overwrites: flags.toggle("overwrite", "Overwrite changes made on the target since the last promotion"),
    publishes: flags.toggle("publish", "Publish the promoted workflows")
  },
  form: "lines",
  services: () => Layer.empty,
  run: Effect.fnUntraced(
    function*({ bindings, dryRun, except, folder, only, overwrites, pinned, publishes, ...ends }, options, form) {
      const { source, target } = yield* route(options, ends)
      const to = target.name ?? "the target"
      if (target.readOnly && !dryRun) {
        return yield* Options.refuse(
          `promote writes to '${to}', which is read-only: choose another profile, or add --dry-run`
        )
      }
      const clientOf = ({ client }: Upstreams.Upstream) => Effect.map(Layer.build(client), Context.get(N8nClient))
      const { late, onStep } = steps<Sync.Promotion>(form, SyncReport.promotionLine)
      const promotion = yield* Effect.gen(function*() {
        return yield* Sync.promote(".", {
          from: source === "folder" ? source : yield* clientOf(source),
          to: yield* clientOf(target),
          bindings: bindings === undefined ? undefined : yield* bindingsIn(bindings),
          only,
          except,
          extras: pinned ? ["pinData"] : [],
          overwrites,
          publishes,
          dryRun,
          onStep
        })
      }).pipe(Effect.scoped, Effect.provide(ToolContext.layerOf(options, target, () => [resolve(folder)])))
      const bringBack = `bring them back to ${source === "folder" ? "the files" : `'${source.name}'`}`
      return SyncReport.promotion(promotion, dryRun, [
        ...dryRun ? [] : late(promotion.entries),
        ...promotion.hasConflicts
          ? [
            `${name}: changes made on '${to}' since the last promotion are not overwritten: ${bringBack}, or add --overwrite`
          ]
          : []
      ])
    }
  )
})
