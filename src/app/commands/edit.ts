/** `edit`: changes many workflows, shows what would change first, and takes a batch back. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CallContext } from "../../base/CallContext.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as tools from "../../tools/index.ts"
import * as ToolContext from "../ToolContext.ts"
import { checkWrites, exit, explained, json, name, optional, print, root, showProgress, toggle } from "./root.ts"
import { dryRun } from "./sync.ts"
import { jsonIn } from "./tools.ts"

type Planned = Effect.Success<ReturnType<typeof tools.bulkEdit.call>>
type Outcome = Partial<Pick<Planned, "done" | "notDone" | "refused" | "stopped" | "warnings">> & {
  readonly restored?: number
}

const several = (flag: string, metavar: string, description: string) =>
  Flag.String(flag).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), Flag.atLeast(0))

const text = (value: string) => Visible.label(value, 200)

const leftOut = (refused: Outcome["refused"] = []) =>
  refused.map(({ id, name, why }) => `  left out: ${text(name)} (${text(id)}): ${text(why)}`)

const planLines = ({ changes = [], published, refused, unchanged = 0, workflows }: Planned) => [
  ...changes.flatMap(({ change, example, names, nodes, workflows }) => {
    const more = workflows - names.length
    return [
      `${text(change)}: ${nodes === undefined ? "" : `${counted(nodes, "place")} in `}${
        counted(workflows, "workflow")
      }`,
      ...(example === undefined ? [] : [`  ${text(example)}`]),
      `  ${names.map(text).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
    ]
  }),
  ...leftOut(refused),
  `${counted(workflows, "workflow")} would change` +
  (published === undefined ? "" : `, ${published} of them published`) +
  (unchanged === 0 ? "" : `; ${unchanged} unchanged`)
]

const outcomeLines = ({ done, notDone, refused, restored, stopped, warnings = [] }: Outcome) => [
  ...leftOut(refused),
  ...warnings.map((warning) => `  ${text(warning)}`),
  [
    ...(restored === undefined ? [`${done ?? 0} changed`] : [`${restored} restored`]),
    ...(notDone === undefined ? [] : [`${notDone} not done${stopped === undefined ? "" : ` (${text(stopped)})`}`]),
    ...(refused === undefined ? [] : [`${refused.length} left out`])
  ].join(", ")
]

const operationsIn = (argument: string) =>
  Effect.map(jsonIn(argument, "{\"op\": \"replace\", \"find\": \"old\", \"with\": \"new\"}"), (value) => [value].flat())

const watched = Effect.provideService(CallContext, {
  confirm: () => Effect.succeed("unasked" as const),
  progress: showProgress
})

const isTerminal = () => process.stdin.isTTY === true && process.stdout.isTTY === true

/** Options that select workflows on n8n. */
export const selection = {
  id: several("id", "WORKFLOW", "Only this workflow; may be repeated"),
  named: optional("name", "TEXT", "Only workflows whose name contains this"),
  tag: several("tag", "TAG", "Only workflows with this tag; may be repeated")
}

export const selected = ({ id, named, tag }: {
  readonly id: ReadonlyArray<string>
  readonly named: Option.Option<string>
  readonly tag: ReadonlyArray<string>
}) =>
  defined({
    ids: id.length === 0 ? undefined : id,
    name: Option.getOrUndefined(named),
    tags: tag.length === 0 ? undefined : tag
  })

export const edit = Command.make(
  "edit",
  {
    operations: Argument.String("operation").pipe(
      Argument.withDescription("Operation of bulk_edit as JSON, or @FILE with one or a list"),
      Argument.atLeast(0)
    ),
    ...selection,
    uses: optional("uses", "TEXT", "Only workflows with nodes that contain this"),
    without: Flag.Literals("without", ["errorWorkflow", "tags", "runs"]).pipe(
      Flag.withDescription("Only workflows without this"),
      Flag.optional
    ),
    published: toggle("published", "Only published workflows"),
    draft: toggle("draft", "Leave the changes of published workflows as drafts"),
    plan: optional("plan", "PLAN", "Apply a plan that was shown before, or continue it"),
    restore: optional("restore", "PLAN", "Take back what a plan has changed"),
    yes: toggle("yes", "Apply without asking"),
    dryRun,
    json
  },
  Effect.fnUntraced(function*({ draft, dryRun, json, plan, restore, yes, ...given }) {
    const options = yield* root
    const operations = (yield* Effect.forEach(given.operations, operationsIn)).flat()
    const report = (value: object, lines: ReadonlyArray<string>) =>
      json ? print(JSON.stringify(value)) : Effect.forEach(lines, print, { discard: true })
    const ended = (outcome: Outcome) => exit(outcome.notDone !== undefined ? 1 : outcome.refused !== undefined ? 2 : 0)
    yield* Effect.gen(function*() {
      if (!dryRun) yield* checkWrites("edit changes workflows", ", or add --dry-run")
      if (Option.isSome(restore)) {
        const outcome = yield* tools.workflowRestore.call({ batch: restore.value, dryRun, confirm: true })
        yield* report(outcome, dryRun ? [outcome.hint ?? ""] : outcomeLines(outcome))
        return yield* ended(outcome)
      }
      const apply = Effect.fnUntraced(function*(id: string) {
        const outcome = yield* tools.bulkEdit.call({ plan: id, dryRun, confirm: true, raw: true })
        yield* report(outcome, [
          ...outcomeLines(outcome),
          outcome.notDone === undefined
            ? `Take it back: ${name} edit --restore ${id}`
            : `Continue: ${name} edit --plan ${id}`
        ])
        yield* ended(outcome)
      })
      if (Option.isSome(plan)) return yield* apply(plan.value)
      const select = defined({
        ...selected(given),
        uses: Option.getOrUndefined(given.uses),
        without: Option.getOrUndefined(given.without),
        active: given.published ? true : undefined
      })
      const { data: planned } = yield* tools.bulkEdit.run({
        select,
        operations,
        publish: draft ? "draft" : "keep",
        dryRun: true,
        raw: true
      })
      const result = planned as Planned
      const id = result.plan
      const asks = !dryRun && !yes && !json && id !== undefined && isTerminal()
      const isApplied = id !== undefined && !dryRun && (yes || asks)
      if (!json || !isApplied) yield* report(result, planLines(result))
      if (id === undefined) return yield* exit(result.refused === undefined ? 0 : 2)
      if (
        asks &&
        !(yield* Effect.orElseSucceed(Prompt.run(Prompt.Confirm({ message: "Apply?", initial: false })), () => false))
      ) return
      if (isApplied) return yield* apply(id)
      if (!json) yield* print(`Apply: ${name} edit --plan ${id}`)
    }).pipe(watched, explained, Effect.provide(ToolContext.layer(options)))
  })
).pipe(
  Command.withDescription(
    "Change many workflows: shows the plan, asks, applies it; --restore takes it back"
  )
)
