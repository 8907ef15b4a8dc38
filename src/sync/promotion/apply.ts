/** Writes a planned promotion, one workflow after the other, and records the id of each on the second n8n. */
import * as Effect from "effect/Effect"
import * as Errors from "../../base/Errors.ts"
import { defined, type Obj, obj } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import type { WorkflowFolder } from "../../workflows/files/WorkflowFiles.ts"
import * as content from "../content.ts"
import { nonEmpty } from "../report.ts"
import * as writing from "../writing.ts"
import type { Facts } from "./facts.ts"
import type { PromoteOptions, Promotion } from "./options.ts"
import { type Plan, type Task, withTargetSettings } from "./plan.ts"
import * as Record from "./record.ts"

const operation = "promote"

const withoutErrorWorkflow = (target: Obj): Obj => {
  const { errorWorkflow: _, ...settings } = obj(target["settings"]) ?? {}
  return target["settings"] === undefined ? target : { ...target, settings }
}

const outcomeOf = (entry: Promotion, workflow: Workflow.Workflow, warnings: ReadonlyArray<string>): Promotion =>
  defined({
    ...entry,
    target: workflow.id,
    action: entry.status === "new" ? "created" as const : "updated" as const,
    published: workflow.active ? !Workflow.hasDraft(workflow) : undefined,
    warnings: nonEmpty([...new Set(warnings)])
  })

export const due = ({ tasks }: Plan, publishes: boolean): ReadonlyArray<Task> =>
  tasks.filter(({ current, entry: { blocked, status } }) =>
    blocked !== true && (status === "new" || status === "changed" ||
      status === "same" && publishes && current !== undefined && Workflow.awaitsPublishing(current))
  )

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

  const update = (current: Workflow.Workflow, target: Obj, publishes: boolean) => {
    const now = content.of(current, scope)
    return writing.update(current, withTargetSettings(now, target), {
      expectedHash: content.hash(now),
      operation,
      publishes,
      scope
    })
  }

  /** A workflow is not published while one that it calls does not exist. */
  const write = Effect.fnUntraced(
    function*({ current, entry }: Task, { isIncomplete, target }: ReturnType<Plan["contentFor"]>) {
      const isPublished = publishes && !isIncomplete
      if (current === undefined) yield* record(entry.id, Record.begun)
      const { warnings, workflow } = current === undefined
        ? yield* writing.create(isIncomplete ? withoutErrorWorkflow(target) : target, operation, isPublished)
        : yield* update(current, target, isPublished)
      targetOf.set(entry.id, workflow)
      yield* note(entry.id, workflow)
      return outcomeOf(entry, workflow, [
        ...entry.warnings ?? [],
        ...warnings,
        ...writing.remarks(target, workflow, scope, current !== undefined && !publishes)
      ])
    }
  )

  /** Completes a workflow whose callees did not exist when it was written. */
  const complete = Effect.fnUntraced(function*({ entry, workflow }: Task, id: string, outcome: Promotion) {
    const current = yield* to.getWorkflow(id)
    const written = yield* update(current, contentFor(workflow, true).target, publishes)
    yield* note(entry.id, written.workflow)
    return outcomeOf(outcome, written.workflow, [...outcome.warnings ?? [], ...written.warnings])
  })

  const outcomes = new Map<string, Promotion>()
  // Workflows that were matched by name and already have the content.
  for (const { current, entry } of tasks) {
    if (entry.status === "same" && current !== undefined && workflows[entry.id]?.id !== current.id) {
      yield* note(entry.id, current)
    }
  }
  const all = due(plan, publishes)
  const incomplete: Array<Task> = []
  const failed = new Set<string>()
  for (const [index, task] of all.entries()) {
    const made = contentFor(task.workflow, true)
    if (made.isIncomplete) incomplete.push(task)
    const missing = tasks.find(({ id }) => failed.has(id) && task.needs.includes(id))
    const result = yield* Effect.result(
      missing === undefined ? write(task, made) : Effect.fail(
        Errors.invalid("only", `It depends on '${missing.entry.name}', which failed`, "Fix that, then promote again.")
      )
    )
    if (result._tag === "Failure") failed.add(task.id)
    const outcome: Promotion = result._tag === "Success" ? result.success : { ...task.entry, error: result.failure }
    outcomes.set(task.entry.id, outcome)
    yield* onStep({ outcome, count: index + 1, total: all.length })
    if (result._tag === "Failure" && writing.isConnectionLost(result.failure)) return outcomes
  }
  for (const task of incomplete) {
    const { id } = task.entry
    const target = targetOf.get(id)
    if (target === undefined) continue
    const outcome = outcomes.get(id) ?? task.entry
    const completed = yield* Effect.catch(
      complete(task, target.id, outcome),
      (error) => Effect.succeed<Promotion>({ ...outcome, error })
    )
    outcomes.set(id, completed)
  }
  return outcomes
}, (effect, { to }) => Effect.provideService(effect, N8nClient, to))
