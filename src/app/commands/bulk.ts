/** `edit` and `upgrade`: show what would change in many workflows, change them, undo or prove it. */
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { basename } from "node:path"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as Releases from "../../catalogue/types/Releases.ts"
import * as Fleet from "../../fleet/Fleet.ts"
import { Operation } from "../../fleet/Operations.ts"
import * as Plans from "../../fleet/Plans.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as tools from "../../tools/index.ts"
import * as batches from "../../tools/shared/Batches.ts"
import * as BatchProof from "../../trials/proof/BatchProof.ts"
import * as Breaks from "../../workflow/upgrade/Breaks.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Options from "../config/Options.ts"
import * as BatchReport from "../report/BatchReport.ts"
import * as Writer from "../report/Writer.ts"
import * as Terminal from "../Terminal.ts"
import { withFolders } from "./drawings.ts"
import * as flags from "./flags.ts"
import { last, timeout } from "./prove.ts"
import { checkWrites, isConfirmed, name, onN8n, placeOf, row } from "./row.ts"
import { jsonIn } from "./tools.ts"

const decodeOperations = Schema.decodeUnknownEffect(Schema.Array(Operation))

const example = "{\"op\": \"replace\", \"find\": \"old\", \"with\": \"new\"}"

const operationsIn = (argument: string) => Effect.map(jsonIn(argument, example), (value) => [value].flat())

export const selection = {
  ids: flags.texts("id", "WORKFLOW", "Only this workflow: its id, link or name; may be repeated"),
  named: flags.text("name", "TEXT", "Only workflows whose name contains this"),
  tags: flags.texts("tag", "TAG", "Only workflows with this tag; may be repeated")
}

/** Conditions of a selection; ids, links and names of `--id` become ids. */
export const selected = Effect.fnUntraced(function*({ ids, named, tags }: {
  readonly ids: ReadonlyArray<string>
  readonly named: string | undefined
  readonly tags: ReadonlyArray<string>
}) {
  return defined({
    ids: ids.length === 0 ? undefined : yield* Effect.forEach(ids, Reference.idOf),
    name: named,
    tags: tags.length === 0 ? undefined : tags
  })
})

const apply = Effect.fnUntraced(function*(plan: string, dryRun: boolean) {
  const outcome = yield* tools.bulkEdit.call({ plan, dryRun, confirm: true, raw: true })
  const next = outcome.notDone === undefined
    ? `Take it back: ${name} edit --restore ${plan}`
    : `Continue: ${name} edit --plan ${plan}`
  return { ...BatchReport.outcome(outcome), summary: () => next }
})

export const edit = row({
  name: "edit",
  description: "Change many workflows: shows the plan, asks, applies it; --restore takes it back",
  flags: {
    operations: flags.argument("operation", "Operation of bulk_edit as JSON, or @FILE with one or a list").pipe(
      Argument.atLeast(0)
    ),
    ...selection,
    uses: flags.text("uses", "TEXT", "Only workflows with nodes that contain this"),
    without: flags.choice("without", ["errorWorkflow", "tags", "runs"], "Only workflows without this"),
    published: flags.toggle("published", "Only published workflows"),
    draft: flags.toggle("draft", "Leave the changes of published workflows as drafts"),
    plan: flags.text("plan", "PLAN", "Apply a plan that was shown before, or continue it"),
    restore: flags.text("restore", "PLAN", "Take back what a plan has changed"),
    yes: flags.toggle("yes", "Apply without asking"),
    dryRun: flags.dryRun
  },
  form: "findings",
  services: onN8n,
  run: Effect.fnUntraced(function*(
    { draft, dryRun, plan, published, restore, uses, without, yes, ...scope },
    _,
    { format, screen }
  ) {
    const operations = (yield* Effect.forEach(scope.operations, operationsIn)).flat()
    if (!dryRun) yield* checkWrites("edit changes workflows", ", or add --dry-run")
    if (restore !== undefined) {
      const outcome = yield* tools.workflowRestore.call({ batch: restore, dryRun, confirm: true })
      return { ...BatchReport.outcome(outcome), ...(dryRun ? { text: () => [outcome.hint ?? ""] } : {}) }
    }
    if (plan !== undefined) return yield* apply(plan, dryRun)
    if (operations.length === 0) {
      return yield* Options.refuse(
        `edit needs an operation, such as '${example}' (all of them: ${name} tools bulk_edit), --plan or --restore`
      )
    }
    const select = defined({ ...yield* selected(scope), uses, without, active: published ? true : undefined })
    if (Object.keys(select).length === 0) {
      return yield* Options.refuse("edit needs a selection: --id, --name, --tag, --uses, --without or --published")
    }
    const planned = yield* tools.bulkEdit.call({
      select,
      operations: yield* Effect.mapError(decodeOperations(operations), ({ message }) => Options.refuse(message)),
      publish: draft ? "draft" : "keep",
      dryRun: true,
      raw: true
    })
    const { plan: id } = planned
    if (id === undefined) return BatchReport.outcome(planned)
    const isText = format === "text"
    const asks = !dryRun && !yes && isText && Terminal.isInteractive()
    const judgment = BatchReport.plan(yield* Plans.read(id), planned)
    if (dryRun || !yes && !asks) return { ...judgment, summary: () => `Apply: ${name} edit --plan ${id}` }
    if (isText) yield* Effect.forEach(Writer.text(judgment, screen), Terminal.say)
    return yes || (yield* isConfirmed("Apply?")) ? yield* apply(id, dryRun) : { ...judgment, text: () => [] }
  })
})

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
