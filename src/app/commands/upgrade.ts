/** `upgrade`: replaces outdated and deprecated nodes, and proves each workflow on its recorded runs. */
import * as Effect from "effect/Effect"
import { basename } from "node:path"
import * as Tool from "../../answer/Tool.ts"
import * as Releases from "../../catalogue/types/Releases.ts"
import * as Selection from "../../fleet/Selection.ts"
import * as Links from "../../n8n/Links.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Upgrades from "../../trials/Upgrades.ts"
import * as Breaks from "../../workflow/upgrade/Breaks.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import * as Options from "../config/Options.ts"
import * as UpgradeReport from "../report/UpgradeReport.ts"
import { selected, selection } from "./edit.ts"
import * as flags from "./flags.ts"
import { withFolders } from "./picture.ts"
import { last, timeout } from "./prove.ts"
import { checkWrites, command, exit, isColoured, placeOf, report, showProgress } from "./root.ts"

const idsOf = Effect.fnUntraced(function*({ ids = [], ...select }: Selection.Select) {
  const known = yield* Effect.mapError(Effect.forEach(ids, Links.workflowOf), Options.refuse)
  const { missing: [missing], selected } = yield* Selection.all(known.length === 0 ? select : { ...select, ids: known })
  if (missing === undefined) return selected.map(({ workflow }) => workflow.id)
  return yield* Options.refuse(
    `Workflow '${missing.id}' ${
      { unknown: "does not exist", archived: "is archived", "test copy": "is a test copy" }[missing.why]
    }`
  )
})

const pathsIn = Effect.fnUntraced(function*(folder: string) {
  const { unreadable, workflows } = yield* WorkflowFiles.use((files) => files.list(folder))
  return [...workflows, ...unreadable].map((each) => each.path)
})

export const upgrade = command(
  "upgrade",
  "Upgrade outdated nodes, and prove each workflow on its recorded runs",
  {
    folder: flags.optionalArgument(
      "folder",
      "Folder of workflow files, or one file, changed in place; the working directory by default"
    ),
    n8n: flags.toggle("n8n", "Instead, the workflows of the connected n8n, as drafts"),
    to: flags.text(
      "to",
      "VERSION",
      "Release of n8n to upgrade to; by default the connected one, else the newest known"
    ),
    ...selection,
    last,
    dryRun: flags.dryRun,
    json: flags.json
  },
  Effect.fnUntraced(function*({ dryRun, folder, json, last, n8n, ...scope }, options) {
    if (n8n && folder !== undefined) return yield* Options.refuse("Pass a folder or --n8n, not both")
    const select = selected(scope)
    if (!n8n && Object.keys(select).length > 0) {
      return yield* Options.refuse("--id, --name and --tag select workflows on n8n: add --n8n")
    }
    const place = yield* placeOf(folder ?? ".")
    const to = scope.to === undefined ? undefined : yield* Effect.fromResult(Breaks.parseTarget(scope.to))
    yield* Effect.gen(function*() {
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
        : [basename(place.only)]
      if (all.length === 0) return yield* Options.refuse("No workflows found")
      const redacts = yield* Tool.RedactSecrets
      const upgrades = yield* Upgrades.run(all, { to, last, dryRun, timeout, redacts, onDone: showProgress })
      yield* report(json, UpgradeReport.json(upgrades), () => UpgradeReport.lines(upgrades, dryRun, isColoured))
      yield* exit(Upgrades.exitCode(upgrades))
    }).pipe(
      Effect.provide(yield* withFolders({ ...options, filesRoot: n8n ? options.filesRoot : [place.root] }))
    )
  })
)
