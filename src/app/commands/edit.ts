/** `edit`: changes many workflows after showing what would change, and undoes a batch. */
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defined } from "../../base/Json.ts"
import { Operation } from "../../fleet/Operations.ts"
import * as Plans from "../../fleet/Plans.ts"
import * as tools from "../../tools/index.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Options from "../config/Options.ts"
import * as BatchReport from "../report/BatchReport.ts"
import * as Writer from "../report/Writer.ts"
import * as Terminal from "../Terminal.ts"
import * as flags from "./flags.ts"
import { checkWrites, isConfirmed, name } from "./root.ts"
import { onN8n, row } from "./row.ts"
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
