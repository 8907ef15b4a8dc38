/** `upgrade`: moves outdated and deprecated nodes on, and proves each workflow on its recorded runs. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import * as Tool from "../../answer/Tool.ts"
import * as Releases from "../../catalogue/types/Releases.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Replays from "../../trials/Replays.ts"
import * as Upgrades from "../../trials/Upgrades.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import * as Breaks from "../../workflows/upgrade/Breaks.ts"
import * as Options from "../config/Options.ts"
import * as UpgradeReport from "../report/UpgradeReport.ts"
import { withFolders } from "./picture.ts"
import { checkWrites, exit, explained, isColoured, json, optional, print, root, showProgress, toggle } from "./root.ts"
import { dryRun } from "./sync.ts"

/** Milliseconds for one replay. */
const timeout = 120_000

/** Paths of the workflows below a folder, or ids of the workflows on n8n. */
const references = Effect.fnUntraced(function*(folder: string, isLive: boolean) {
  if (isLive) {
    return yield* N8nClient.use((n8n) => n8n.streamWorkflows().pipe(Stream.map(({ id }) => id), Stream.runCollect))
  }
  const { unreadable, workflows } = yield* WorkflowFiles.use((files) => files.list(folder))
  return [...workflows, ...unreadable].map((each) => each.path)
})

/** Absolute folder of the workflows, and the name of the only one if a file is given. */
const placeOf = Effect.fnUntraced(function*(userPath: string) {
  const [fs, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
  const absolute = path.resolve(userPath)
  const { type } = yield* Effect.mapError(
    fs.stat(absolute),
    () => Options.refuse(`'${userPath}' does not exist, or cannot be read`)
  )
  return type === "Directory"
    ? { root: absolute, only: undefined }
    : { root: path.dirname(absolute), only: path.basename(absolute) }
})

export const upgrade = Command.make(
  "upgrade",
  {
    folder: Argument.String("folder").pipe(
      Argument.withDescription(
        "Folder of workflow files, or one file, changed in place; the working directory by default"
      ),
      Argument.optional
    ),
    n8n: toggle("n8n", "Instead, all workflows of the connected n8n, as drafts"),
    to: optional("to", "VERSION", "Release of n8n to upgrade to; by default the connected one, else the newest known"),
    last: Flag.Int("last").pipe(
      Flag.withDescription(`Number of recorded runs to prove each workflow with (default ${Replays.defaultLast})`),
      Flag.withMetavar("N"),
      Flag.filter((value) => value >= 1 && value <= Replays.maxRuns, () => `between 1 and ${Replays.maxRuns}`),
      Flag.optional
    ),
    dryRun,
    json
  },
  Effect.fnUntraced(function*({ dryRun, json, last, n8n, ...flags }) {
    const options = yield* root
    if (n8n && Option.isSome(flags.folder)) return yield* Options.refuse("Pass a folder or --n8n, not both")
    const place = yield* placeOf(Option.getOrElse(flags.folder, () => "."))
    const to = Option.isNone(flags.to)
      ? undefined
      : yield* explained(Effect.fromResult(Breaks.parseTarget(flags.to.value)))
    const run = Effect.gen(function*() {
      if (!dryRun && n8n) yield* checkWrites("upgrade changes workflows", ", or add --dry-run")
      const connected = n8n ? yield* N8nClient.use((client) => client.release) : undefined
      if (to !== undefined && connected !== undefined && Releases.isNewer(to, connected)) {
        return yield* Options.refuse(
          `This n8n is ${connected}: it lacks what ${to} has. Upgrade n8n first, or upgrade a folder with --to ${to}`
        )
      }
      const all = place.only === undefined || n8n ? yield* references(place.root, n8n) : [place.only]
      if (all.length === 0) return yield* Options.refuse("No workflows found")
      const report = yield* Upgrades.run(all, {
        to,
        last: Option.getOrUndefined(last),
        dryRun,
        timeout,
        redacts: yield* Tool.RedactSecrets,
        onDone: showProgress
      })
      yield* json
        ? print(JSON.stringify(UpgradeReport.json(report)))
        : Effect.forEach(UpgradeReport.lines(report, dryRun, isColoured), print, { discard: true })
      yield* exit(Upgrades.exitCode(report))
    })
    yield* run.pipe(
      explained,
      Effect.provide(yield* withFolders({ ...options, filesRoot: n8n ? options.filesRoot : [place.root] }))
    )
  })
).pipe(
  Command.withDescription(
    "Upgrade outdated nodes, and prove each workflow on its recorded runs"
  )
)
