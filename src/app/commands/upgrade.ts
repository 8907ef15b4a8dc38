/** `upgrade`: moves outdated and deprecated nodes on, and proves each workflow on its recorded runs. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import * as Tool from "../../answer/Tool.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Replays from "../../trials/Replays.ts"
import * as Upgrades from "../../trials/Upgrades.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import * as UpgradeReport from "../report/UpgradeReport.ts"
import { withFolders } from "./picture.ts"
import { checkWrites, exit, explained, folder, isColoured, json, optional, print, root, toggle } from "./root.ts"
import { dryRun } from "./sync.ts"

/** Milliseconds for one replay. */
const timeout = 120_000

const onDone = (done: number, total: number) =>
  Effect.sync(() => {
    if (process.stderr.isTTY === true) {
      process.stderr.write(done === total ? "\r\u001B[K" : `\r${done} of ${total} workflows`)
    }
  })

/** Paths of the workflows below a folder, or ids of the workflows on n8n. */
const references = Effect.fnUntraced(function*(folder: string, isLive: boolean) {
  if (isLive) {
    return yield* N8nClient.use((n8n) => n8n.streamWorkflows().pipe(Stream.map(({ id }) => id), Stream.runCollect))
  }
  const path = yield* Path.Path
  const { unreadable, workflows } = yield* WorkflowFiles.use((files) => files.list(path.resolve(folder)))
  return [...workflows, ...unreadable].map((each) => each.path)
})

export const upgrade = Command.make(
  "upgrade",
  {
    folder: folder("Folder of workflow files, which are changed in place"),
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
  Effect.fnUntraced(function*({ dryRun, folder, json, last, n8n, to }) {
    const options = yield* root
    const run = Effect.gen(function*() {
      if (!dryRun && n8n) yield* checkWrites("upgrade changes workflows", ", or add --dry-run")
      const report = yield* Upgrades.run(yield* references(folder, n8n), {
        to: Option.getOrUndefined(to),
        last: Option.getOrUndefined(last),
        dryRun,
        timeout,
        redacts: yield* Tool.RedactSecrets,
        onDone
      })
      yield* json
        ? print(JSON.stringify(UpgradeReport.json(report)))
        : Effect.forEach(UpgradeReport.lines(report, dryRun, isColoured), print, { discard: true })
      yield* exit(Upgrades.exitCode(report))
    })
    yield* run.pipe(
      explained,
      Effect.provide(yield* withFolders({ ...options, filesRoot: n8n ? options.filesRoot : [folder] }))
    )
  })
).pipe(
  Command.withDescription(
    "Upgrade outdated nodes, and prove each workflow on its recorded runs"
  )
)
