/** Writes what was planned, one workflow after the other, and notes what became what. */
import * as Effect from "effect/Effect"
import type * as Errors from "../../base/Errors.ts"
import { arr, defined, type Obj, obj } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import type { WorkflowFolder } from "../../workflows/files/WorkflowFiles.ts"
import * as content from "../content.ts"
import * as writing from "../writing.ts"
import type { Facts } from "./facts.ts"
import { kept, type Plan, type Task } from "./plan.ts"
import type { PromoteOptions, Promotion } from "./promotion.ts"
import * as Record from "./record.ts"

const operation = "promote"

const withoutErrorWorkflow = (wanted: Obj): Obj => {
  const { errorWorkflow: _, ...settings } = obj(wanted["settings"]) ?? {}
  return wanted["settings"] === undefined ? wanted : { ...wanted, settings }
}

const told = (
  entry: Promotion,
  { workflow }: { readonly workflow: Workflow.Workflow },
  warnings: ReadonlyArray<string>
): Promotion =>
  defined({
    ...entry,
    target: workflow.id,
    action: entry.status === "new" ? "created" as const : "updated" as const,
    published: workflow.active ? !Workflow.hasDraft(workflow) : undefined,
    warnings: warnings.length === 0 ? undefined : arr([...new Set(warnings)]).map(String)
  })

/** Whether there is no use in going on. */
const isEnd = (error: Errors.N8nError) =>
  error._tag === "ApiError" && (error.statusCode === undefined || error.statusCode === 401)

/** The workflows that have something to be done about. */
export const due = ({ tasks }: Plan, publishes: boolean): ReadonlyArray<Task> =>
  tasks.filter(({ entry: { status }, there }) =>
    status === "new" || status === "changed" ||
    status === "same" && publishes && there !== undefined && Workflow.awaitsPublishing(there)
  )

/** The outcome of each that was due, by id. */
export const run = Effect.fnUntraced(function*<R>(
  { onStep = () => Effect.void, publishes = false, to }: PromoteOptions<R>,
  { scope }: Facts,
  plan: Plan,
  folder: WorkflowFolder,
  { others, route }: Effect.Success<ReturnType<typeof Record.read>>
) {
  const { contentFor, targetOf, tasks } = plan
  let { workflows } = route
  const record = (id: string, promoted: Record.Promoted) => {
    workflows = { ...workflows, [id]: promoted }
    return Record.write(folder, { ...route, workflows }, others)
  }
  const note = (id: string, workflow: Workflow.Workflow) =>
    record(id, { id: workflow.id, hash: content.hash(content.of(workflow, scope)) })

  const update = (there: Workflow.Workflow, wanted: Obj, publishes: boolean) =>
    writing.update(there, kept(content.of(there, scope), wanted), {
      expectedHash: content.hash(content.of(there, scope)),
      operation,
      publishes,
      scope
    })

  /** What it would call may not be there yet: then it is not published. */
  const write = Effect.fnUntraced(
    function*({ entry, there }: Task, { isLater, wanted }: ReturnType<Plan["contentFor"]>) {
      const isPublished = publishes && !isLater
      if (there === undefined) yield* record(entry.id, Record.begun)
      const written = there === undefined
        ? yield* writing.create(isLater ? withoutErrorWorkflow(wanted) : wanted, operation, isPublished)
        : yield* update(there, wanted, isPublished)
      targetOf.set(entry.id, written.workflow)
      yield* note(entry.id, written.workflow)
      const runsAtOnce = !scope.writesDrafts && written.workflow.active && there !== undefined && !publishes
      return told(entry, written, [
        ...entry.warnings ?? [],
        ...written.warnings,
        ...writing.settingsKept(wanted, written.workflow, scope),
        ...runsAtOnce ? [writing.noDrafts] : []
      ])
    }
  )

  /** Those that call one another, once all of them are there. */
  const finish = Effect.fnUntraced(function*({ entry, workflow }: Task, id: string, outcome: Promotion) {
    const there = yield* to.getWorkflow(id)
    const written = yield* update(there, contentFor(workflow, true).wanted, publishes)
    yield* note(entry.id, written.workflow)
    return told(outcome, written, [...outcome.warnings ?? [], ...written.warnings])
  })

  const outcomes = new Map<string, Promotion>()
  // Those that were found by their name, and are what was to be written.
  for (const { entry, there } of tasks) {
    if (entry.status === "same" && there !== undefined && workflows[entry.id]?.id !== there.id) {
      yield* note(entry.id, there)
    }
  }
  const all = due(plan, publishes)
  const late: Array<Task> = []
  let isOver = false
  for (const [index, task] of all.entries()) {
    const made = contentFor(task.workflow, true)
    if (made.isLater) late.push(task)
    const outcome = yield* Effect.catch(write(task, made), (error) => {
      isOver = isEnd(error)
      return Effect.succeed<Promotion>({ ...task.entry, error })
    })
    outcomes.set(task.entry.id, outcome)
    yield* onStep({ outcome, count: index + 1, total: all.length })
    if (isOver) return outcomes
  }
  for (const task of late) {
    const { id } = task.entry
    const target = targetOf.get(id)
    if (target === undefined) continue
    const outcome = outcomes.get(id) ?? task.entry
    const finished = yield* Effect.catch(
      finish(task, target.id, outcome),
      (error) => Effect.succeed<Promotion>({ ...outcome, error })
    )
    outcomes.set(id, finished)
  }
  return outcomes
}, (effect, { to }) => Effect.provideService(effect, N8nClient, to))
