/** `upgrade`: moves outdated and deprecated nodes on, and proves each workflow on its recorded runs. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Tool from "../../answer/Tool.ts"
import * as Releases from "../../catalogue/types/Releases.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Upgrades from "../../trials/Upgrades.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import * as Selection from "../../workflows/fleet/Selection.ts"
import * as Breaks from "../../workflows/upgrade/Breaks.ts"
import * as Options from "../config/Options.ts"
import * as UpgradeReport from "../report/UpgradeReport.ts"
import { selected, selection } from "./edit.ts"
import { withFolders } from "./picture.ts"
import { last, timeout } from "./prove.ts"
import {
  checkWrites,
  exit,
  explained,
  isColoured,
  json,
  optional,
  placeOf,
  print,
  root,
  showProgress,
  toggle
} from "./root.ts"
import { dryRun } from "./sync.ts"

/** Ids of selected workflows on n8n. */
const idsOf = Effect.fnUntraced(function*(select: Selection.Select) {
  const { missing: [missing], selected } = yield* Selection.all(select)
  if (missing === undefined) return selected.map(({ workflow }) => workflow.id)
  return yield* Options.refuse(
    `Workflow '${missing.id}' ${
      { unknown: "does not exist", archived: "is archived", "test copy": "is a test copy" }[missing.why]
    }`
  )
})

/** Paths of the workflows below a folder. */
const pathsIn = Effect.fnUntraced(function*(folder: string) {
  const { unreadable, workflows } = yield* WorkflowFiles.use((files) => files.list(folder))
  return [...workflows, ...unreadable].map((each) => each.path)
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
    n8n: toggle("n8n", "Instead, the workflows of the connected n8n, as drafts"),
    to: optional("to", "VERSION", "Release of n8n to upgrade to; by default the connected one, else the newest known"),
    ...selection,
    last,
    dryRun,
    json
  },
  Effect.fnUntraced(function*({ dryRun, json, last, n8n, ...flags }) {
    const options = yield* root
    const path = yield* Path.Path
    if (n8n && Option.isSome(flags.folder)) return yield* Options.refuse("Pass a folder or --n8n, not both")
    const select = selected(flags)
    if (!n8n && Object.keys(select).length > 0) {
      return yield* Options.refuse("--id, --name and --tag select workflows on n8n: add --n8n")
    }
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
      const all = n8n
        ? yield* idsOf(select)
        : place.only === undefined
        ? yield* pathsIn(place.root)
        : [path.basename(place.only)]
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
