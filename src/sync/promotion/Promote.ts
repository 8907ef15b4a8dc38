/** Promotion of workflows from one n8n, or from a folder, to another n8n. */
import * as Effect from "effect/Effect"
import * as Errors from "../../base/Errors.ts"
import { defined, type Obj, obj } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import { WorkflowFiles, type WorkflowFolder } from "../../workflows/files/WorkflowFiles.ts"
import * as ReferenceProblems from "../../workflows/ReferenceProblems.ts"
import { isLive } from "../../workflows/store/Outcome.ts"
import { together } from "../../workflows/store/Publishing.ts"
import type { Outcome } from "../../workflows/store/WorkflowStore.ts"
import * as content from "../content.ts"
import * as Locals from "../locals.ts"
import * as n8nWrites from "../n8nWrites.ts"
import { nonEmpty, withWarnings } from "../outcomes.ts"
import { type Facts, type Plan, planOf, readFacts, refuse, type Task, withTargetSettings } from "./plan.ts"
import {
  addressOf,
  begun,
  check,
  type Promoted,
  type PromoteOptions,
  type Promotion,
  type PromotionReport,
  readRecord,
  withRecordedIds,
  writeRecord
} from "./source.ts"

const operation = "promote"

const withoutErrorWorkflow = (target: Obj): Obj => {
  const { errorWorkflow: _, ...settings } = obj(target["settings"]) ?? {}
  return target["settings"] === undefined ? target : { ...target, settings }
}

const outcomeOf = (
  entry: Promotion,
  written: Outcome,
  warnings: ReadonlyArray<string>,
  scope: content.Scope,
  isRefused = false
): Promotion =>
  defined({
    ...entry,
    target: written.workflow.id,
    action: entry.status === "new"
      ? "created" as const
      : written.changed !== "nothing" || entry.action === "updated"
      ? "updated" as const
      : undefined,
    changed: entry.action === undefined && entry.changed !== undefined
      ? content.changedLine(content.of(written.before, scope), content.of(written.workflow, scope))
      : entry.changed,
    held: nonEmpty(written.held),
    published: isLive(written),
    notPublished: isRefused ? true as const : undefined,
    warnings: nonEmpty([...new Set([...warnings, ...n8nWrites.problems(written)])])
  })

const due = ({ tasks }: Plan, publishes: boolean): ReadonlyArray<Task> =>
  tasks.filter(({ current, entry: { blocked, status } }) =>
    blocked !== true && (status === "new" || status === "changed" ||
      status === "same" && publishes && current !== undefined && Workflow.awaitsPublishing(current))
  )

const applied = Effect.fnUntraced(function*<R>(
  { onStep = () => Effect.void, publishes = false, to }: PromoteOptions<R>,
  { scope, targets }: Facts,
  plan: Plan,
  folder: WorkflowFolder,
  { others, route }: Effect.Success<ReturnType<typeof readRecord>>
) {
  const { contentFor, targetOf, tasks } = plan
  let { workflows } = route
  const written = new Map<string, Workflow.Workflow>()
  const record = (id: string, promoted: Promoted) => {
    workflows = { ...workflows, [id]: promoted }
    return writeRecord(folder, { ...route, workflows }, others)
  }
  const note = (id: string, workflow: Workflow.Workflow) =>
    record(id, { id: workflow.id, hash: content.hash(content.of(workflow, scope)) })

  const update = (current: Workflow.Workflow, target: Obj, publishes: boolean) => {
    const now = content.of(current, scope)
    return n8nWrites.update(current.id, withTargetSettings(now, target), {
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
      // An earlier promotion may have got no answer, and n8n may still be creating the workflow.
      const existing = current === undefined && workflows[entry.id]?.id === begun.id
        ? yield* n8nWrites.begun(target, (id) => targets.some((each) => each.id === id))
        : current
      if (existing === undefined) yield* record(entry.id, begun)
      const outcome = existing === undefined
        ? yield* n8nWrites.create(isIncomplete ? withoutErrorWorkflow(target) : target, {
          operation,
          publishes: isPublished
        })
        : yield* update(existing, target, isPublished)
      const { warnings, workflow } = outcome
      targetOf.set(entry.id, workflow)
      written.set(entry.id, workflow)
      yield* note(entry.id, workflow)
      return outcomeOf(
        entry,
        outcome,
        [
          ...entry.warnings ?? [],
          ...warnings,
          ...n8nWrites.remarks(target, workflow, scope, { isNew: current === undefined, publishes })
        ],
        scope,
        isPublished && n8nWrites.isRefused(outcome, scope)
      )
    }
  )

  /** Completes a workflow whose callees did not exist when it was written. */
  const complete = Effect.fnUntraced(function*({ entry, workflow }: Task, id: string, outcome: Promotion) {
    const current = yield* to.getWorkflow(id)
    const whole = yield* update(current, contentFor(workflow, true).target, publishes)
    written.set(entry.id, whole.workflow)
    yield* note(entry.id, whole.workflow)
    const isRefused = publishes && n8nWrites.isRefused(whole, scope)
    return outcomeOf(outcome, whole, [...outcome.warnings ?? [], ...whole.warnings], scope, isRefused)
  })

  const outcomes = new Map<string, Promotion>()
  const writes = Effect.gen(function*() {
    // Workflows that were matched by name and already have the content.
    for (const { current, entry } of tasks) {
      if (entry.status === "same" && current !== undefined && workflows[entry.id]?.id !== current.id) {
        yield* note(entry.id, current)
      }
    }
    const incomplete: Array<Task> = []
    const keep = (outcome: Promotion) => Effect.sync(() => void outcomes.set(outcome.id, outcome))
    const first = yield* n8nWrites.writeAll(due(plan, publishes), {
      entryOf: ({ entry }) => entry,
      onStep: (outcome) => Effect.andThen(keep(outcome), onStep(outcome))
    }, (task) => {
      const version = contentFor(task.workflow, true)
      if (version.isIncomplete) incomplete.push(task)
      const missing = tasks.find(({ id }) => outcomes.get(id)?.error !== undefined && task.needs.includes(id))
      return missing === undefined ? write(task, version) : Effect.fail(
        Errors.invalid("only", `It depends on '${missing.entry.name}', which failed`, "Fix that, then promote again.")
      )
    })
    // Workflows that are not written wait for the next promotion, and so do their callers.
    const callers = first.isStopped ? [] : incomplete.filter(({ id }) => targetOf.has(id))
    const entryOf = ({ entry, id }: Task) => outcomes.get(id) ?? entry
    const second = yield* n8nWrites.writeAll(
      callers,
      { entryOf, isContinued: true, onStep: keep },
      (task) => complete(task, targetOf.get(task.id)?.id ?? "", entryOf(task))
    )
    return first.remaining + second.remaining
  })
  const { result: remaining, warnings } = yield* together(writes)
  const faults = yield* ReferenceProblems.warnings([...written.values()], true)
  const byId = new Map([...written.keys()].map((id, index) => [id, faults[index] ?? []]))
  const all = new Map([...outcomes].map(([id, outcome]) => [
    id,
    withWarnings(outcome, [...warnings.get(outcome.target ?? "") ?? [], ...byId.get(id) ?? []])
  ]))
  return { outcomes: all, remaining }
}, (effect, { to }) => Effect.provideService(effect, N8nClient, to))

export { Bindings, type Obstacle, type PromoteOptions, type Promotion, type PromotionReport } from "./source.ts"

/** Outcome that a promotion would have. */
const foreseen = Effect.fnUntraced(function*<R>(
  { publishes = false }: PromoteOptions<R>,
  { scope }: Facts,
  { contentFor }: Plan,
  { current, entry, workflow }: Task
) {
  if (current === undefined) return { ...entry, action: "created" } satisfies Promotion as Promotion
  const now = content.of(current, scope)
  const written = yield* Effect.option(n8nWrites.update(
    current.id,
    withTargetSettings(now, contentFor(workflow, true).target),
    { expectedHash: content.hash(now), operation, publishes, dryRun: true, scope }
  ))
  return written._tag === "None"
    ? { ...entry, action: "updated" } satisfies Promotion as Promotion
    : outcomeOf(entry, written.value, [...entry.warnings ?? [], ...written.value.warnings], scope)
}, (effect, { to }) => Effect.provideService(effect, N8nClient, to))

/**
 * Promotes workflows from one n8n, or from the files of the folder, to another n8n: creates missing ones, and updates
 * those that it created or that are bound. Credentials, called workflows, error workflows and data tables are replaced
 * by those of the second n8n: by the bindings, by earlier promotions, else by type and name. A workflow with something
 * that cannot be resolved is not written, nor one that changed on the second n8n since the last promotion, nor those
 * that depend on them; the report lists all obstacles. The folder's `.n8n-promotion.json` maps the ids; it is written
 * after each workflow. Nothing is published unless asked. An unbound workflow of the second n8n that only has the same
 * name is never overwritten.
 */
export const promote = Effect.fn("Sync.promote")(function*<R = never>(
  userPath: string,
  options: PromoteOptions<R>
) {
  yield* check(options)
  const { dryRun = false, from, publishes = false, to } = options
  const folder = yield* WorkflowFiles.use((files) => files.folder(userPath))
  return yield* folder.exclusively(Effect.gen(function*() {
    const address = yield* addressOf(from, folder)
    if (address === Locals.hostOf(to.instance.url)) {
      return yield* from === "folder"
        ? refuse(`'${folder.path}' is synced with ${address}`, "Use push for this n8n, or choose another one.")
        : refuse("Both profiles are the same n8n", "Give two profiles with different addresses.")
    }
    const facts = yield* readFacts(options, folder, userPath)
    const recorded = withRecordedIds(yield* readRecord(folder, address, to.instance.url), facts.source.refs)
    const plan = yield* planOf(options, facts, recorded.route)
    const { obstacles } = plan
    const { outcomes, remaining = 0 } = dryRun
      ? {
        outcomes: new Map(
          yield* Effect.forEach(
            due(plan, publishes),
            (task) => Effect.map(foreseen(options, facts, plan, task), (outcome) => [task.entry.id, outcome] as const)
          )
        )
      }
      : yield* applied(options, facts, plan, folder, recorded)
    const planned = new Map(plan.tasks.map(({ entry }) => [entry.id, entry]))
    const entries = [...facts.chosen].flatMap((id) => outcomes.get(id) ?? planned.get(id) ?? [])
    const report: PromotionReport = {
      entries,
      ...remaining === 0 ? {} : { remaining },
      obstacles,
      hasConflicts: entries.some(({ status }) => status === "conflict"),
      hasErrors: obstacles.length > 0 ||
        entries.some(({ error, notPublished }) => error !== undefined || notPublished === true)
    }
    return report
  }))
})
