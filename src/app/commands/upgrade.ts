/** `upgrade`: replaces outdated and deprecated nodes, and proves each workflow on its recorded runs. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { basename } from "node:path"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as Releases from "../../catalogue/types/Releases.ts"
import * as Fleet from "../../fleet/Fleet.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as batches from "../../tools/shared/Batches.ts"
import * as BatchProof from "../../trials/proof/BatchProof.ts"
import * as Breaks from "../../workflow/upgrade/Breaks.ts"
import * as Options from "../config/Options.ts"
import * as BatchReport from "../report/BatchReport.ts"
import { selected, selection } from "./edit.ts"
import * as flags from "./flags.ts"
import { withFolders } from "./picture.ts"
import { last, timeout } from "./prove.ts"
import { checkWrites, placeOf } from "./root.ts"
import { row } from "./row.ts"

/** Reasons for which a workflow that is named is not upgraded. */
const reasons: { readonly [why: string]: string } = {
  archived: "is archived",
  "test copy": "is a test copy"
}

export const upgrade = row({
  name: "upgrade",
  description: "Upgrade outdated nodes, and prove each workflow on its recorded runs",
  flags: {
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
    dryRun: flags.dryRun
  },
  form: "findings",
  services: ({ folder = ".", n8n }, options) =>
    Layer.unwrap(
      Effect.flatMap(
        placeOf(folder),
        ({ root }) => withFolders({ ...options, filesRoot: n8n ? options.filesRoot : [root] })
      )
    ),
  run: Effect.fnUntraced(function*({ dryRun, folder, last, n8n, ...scope }) {
    if (n8n && folder !== undefined) return yield* Options.refuse("Pass a folder or --n8n, not both")
    const { ids, named, tags } = scope
    if (!n8n && (named !== undefined || ids.length + tags.length > 0)) {
      return yield* Options.refuse("--id, --name and --tag select workflows on n8n: add --n8n")
    }
    const place = yield* placeOf(folder ?? ".")
    const to = scope.to === undefined ? undefined : yield* Effect.fromResult(Breaks.parseTarget(scope.to))
    if (!dryRun && n8n) yield* checkWrites("upgrade changes workflows", ", or add --dry-run")
    const connected = n8n ? yield* N8nClient.use((client) => client.release) : undefined
    if (to !== undefined && connected !== undefined && Releases.isNewer(to, connected)) {
      return yield* Options.refuse(
        `This n8n is ${connected}: it lacks what ${to} has. Upgrade n8n first, or upgrade a folder with --to ${to}`
      )
    }
    const select = yield* selected(scope)
    const { plan, unchanged } = yield* Fleet.plan({
      ...n8n
        ? { select: Object.keys(select).length === 0 ? "all" : select }
        : { files: [place.only === undefined ? place.root : basename(place.only)] },
      operations: [{ op: "upgrade" }],
      publish: "draft",
      release: to
    })
    const missing = plan.refused.find(({ name }) => n8n && name === "")
    if (missing !== undefined) {
      return yield* Options.refuse(`Workflow '${missing.id}' ${reasons[missing.why] ?? missing.why}`)
    }
    if (plan.entries.length + plan.refused.length + unchanged === 0) {
      return yield* Options.refuse("No workflows found")
    }
    if (plan.entries.length === 0) yield* Fleet.discard(plan.id)
    const isWritten = !dryRun && plan.entries.length > 0
    const state = isWritten ? yield* Fleet.apply(plan.id) : { plan, outcomes: new Map(), warnings: [] }
    const outcome = isWritten ? batches.summarize(state) : {}
    const isProven = outcome.done !== undefined && (yield* N8nClient.use((client) => client.release)) !== undefined
    const redacts = yield* Tool.RedactSecrets
    const refused = batches.grouped([...plan.refused, ...batches.leftOut(state)])
    return BatchReport.upgrade(
      defined({
        ...outcome,
        plan,
        unchanged,
        refused: refused.length === 0 ? undefined : refused,
        proof: isProven ? yield* BatchProof.prove(plan.id, { last, timeout, redacts }) : undefined
      }),
      dryRun
    )
  })
})
