/** Batches: what a plan has written so far, by its record and by what n8n has. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { CallContext } from "../base/CallContext.ts"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import { defined, type Obj, obj } from "../base/Json.ts"
import * as Deprecated from "../n8n/Deprecated.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { together } from "../workflows/store/Publishing.ts"
import { Snapshots } from "../workflows/store/Snapshots.ts"
import type { Modification, Patch, Publish } from "../workflows/store/WorkflowStore.ts"
import * as Change from "./change.ts"
import * as Differences from "./Differences.ts"
import * as Plans from "./Plans.ts"
import * as Selection from "./Selection.ts"

const writers = 4

/** Whether a failure is n8n's and may pass, so that the workflow counts as not done. */
const mayPass = (error: Errors.N8nError) => Errors.isUncertain(error) || Errors.statusOf(error) === 429

export const modification = <A>(result: A, patch: Patch, publish: Publish): Modification<A> => ({
  patch,
  result,
  publish
})

export const changedSince = (why: string): Plans.Outcome => ({ state: "changed", why })

/** Leaves a workflow as it is: neither written nor published. */
export const untouched = (why: string): Modification<Plans.Outcome> => modification(changedSince(why), {}, "keep")

export const isLive = ({ publish }: Plans.Plan, { active, hasDraft }: Plans.Entry) =>
  active && !hasDraft && publish === "keep"

/** Milliseconds that must be left to begin another workflow, and for the steps after the last one. */
const leastTime = 8_000
const patience = 45_000

/**
 * Runs a step for each entry, a few at a time, until time is up or n8n fails; the remaining ones have no outcome. Final
 * outcomes are recorded.
 */
export const forEach = Effect.fnUntraced(function*<R>(
  entries: ReadonlyArray<Plans.Entry>,
  plan: Plans.Plan,
  step: (entry: Plans.Entry) => Effect.Effect<Plans.Outcome, Errors.N8nError, R>,
  isFinal: (outcome: Plans.Outcome) => boolean = () => true
) {
  const { progress } = yield* CallContext
  const outcomes = new Map<string, Plans.Outcome>()
  let stopped: string | undefined
  const one = Effect.fnUntraced(function*(entry: Plans.Entry) {
    if (stopped !== undefined) return
    yield* Deadline.grantIfHeard(patience)
    if ((yield* Deadline.left) < leastTime) {
      stopped = "time is up"
      return
    }
    const outcome = yield* Effect.result(step(entry))
    if (Result.isFailure(outcome) && mayPass(outcome.failure)) {
      stopped = Errors.reasonOf(outcome.failure)
      return
    }
    const known: Plans.Outcome = Result.isSuccess(outcome)
      ? outcome.success
      : defined({
        state: "refused" as const,
        why: Errors.reasonOf(outcome.failure),
        deprecated: Deprecated.isRefusal(outcome.failure)
          ? Deprecated.refusedNodes(Errors.detailsOf(outcome.failure))
          : undefined
      })
    outcomes.set(entry.id, known)
    if (isFinal(known)) yield* Plans.record(plan.id, entry.id, known)
    yield* progress(outcomes.size, entries.length, "workflows")
  })
  const { warnings } = yield* together(Effect.forEach(entries, one, { concurrency: writers, discard: true }))
  return {
    outcomes,
    stopped,
    warnings: entries.flatMap(({ id }) => (warnings.get(id) ?? []).map((text) => ({ id, text })))
  }
})

/** State of a plan, by the outcome of each workflow. */
export interface State {
  readonly plan: Plans.Plan
  readonly outcomes: ReadonlyMap<string, Plans.Outcome>
  readonly total?: number
  readonly unpublished?: ReadonlySet<string>
  /** Whether each published workflow that has the change runs with it; otherwise the change waits as a draft. */
  readonly live?: ReadonlyMap<string, boolean>
  readonly stopped?: string | undefined
  readonly warnings: ReadonlyArray<{ readonly id: string; readonly text: string }>
}

/** Workflows of entries as n8n has them now, by id; none of those that were deleted or archived. */
export const nowById = (entries: ReadonlyArray<Plans.Entry>) =>
  Effect.map(
    Selection.all({ ids: entries.map(({ id }) => id) }),
    ({ selected }) => new Map(selected.map(({ workflow }) => [workflow.id, workflow]))
  )

/** Adds which changes are live by what n8n has now, whatever the batch has done; a warning if n8n does not tell in time. */
export const withLive = (state: State): Effect.Effect<State, never, N8nClient> => {
  const { outcomes, plan } = state
  const done = plan.entries.filter(({ id }) => outcomes.get(id)?.state === "done")
  const digest = Change.digester(plan.operations)
  const isRunning = (entry: Plans.Entry, workflow: Workflow.Listed) => {
    const { connections, nodes } = obj(workflow.activeVersion) ?? {}
    return !Workflow.hasDraft(workflow) ||
      digest({ ...workflow, nodes, connections }) === (outcomes.get(entry.id)?.after ?? entry.after)
  }
  return Effect.flatMap(Deadline.left, (left) => Effect.timeout(nowById(done), left)).pipe(
    Effect.map((now) => ({
      ...state,
      live: new Map(done.flatMap((entry) => {
        const workflow = now.get(entry.id)
        return workflow?.active === true ? [[entry.id, isRunning(entry, workflow)] as const] : []
      }))
    })),
    Effect.orElseSucceed(() => ({
      ...state,
      warnings: [...state.warnings, { id: plan.id, text: "n8n did not tell in time which of the changes are live" }]
    }))
  )
}

/** Reads the state of a plan from its record or, without one, from n8n. */
export const state = Effect.fn("Fleet.state")(function*(id: string) {
  const plan = yield* Plans.read(id)
  const outcomes = new Map(yield* Plans.outcomes(plan))
  const open = plan.entries.filter((entry) => !outcomes.has(entry.id))
  const unpublished = new Set<string>()
  if (open.length > 0) {
    const digest = Change.digester(plan.operations)
    const now = yield* nowById(open)
    for (const entry of open) {
      const workflow = now.get(entry.id)
      const current = workflow && digest({ ...workflow })
      if (workflow === undefined) outcomes.set(entry.id, changedSince("it was deleted or archived"))
      else if (current === entry.after) {
        if (isLive(plan, entry) && workflow.active && Workflow.hasDraft(workflow)) unpublished.add(entry.id)
        else outcomes.set(entry.id, { state: "done" })
      } else if (current !== entry.before) outcomes.set(entry.id, changedSince("it has changed since the plan"))
    }
  }
  return yield* withLive({ plan, outcomes, unpublished, warnings: [] })
})

/** Returns the workflow as it was before the batch; nothing if its snapshot is gone. */
export const snapshotBefore = Effect.fnUntraced(function*(plan: Plans.Plan, entry: Plans.Entry) {
  const { instance } = yield* N8nClient
  const snapshots = yield* Snapshots
  const digest = Change.digester(plan.operations)
  const all = (yield* snapshots.list(instance, entry.id)).filter(({ operation }) => operation === "bulk_edit")
  for (const { version } of all) {
    const { workflow } = yield* snapshots.read(instance, entry.id, version)
    if (digest(workflow as Obj) === entry.before) return workflow as Obj
  }
  return undefined
})

/** Differences of what a batch has changed to what it was before, and the number of workflows without a snapshot. */
export const differences = Effect.fn("Fleet.differences")(function*({ outcomes, plan }: State) {
  const done = plan.entries.filter(({ id }) => outcomes.get(id)?.state === "done")
  const now = yield* nowById(done)
  const pairs = yield* Effect.forEach(done, (entry) => {
    const after = now.get(entry.id)
    return Effect.map(snapshotBefore(plan, entry), (before) => before && after && { before, after: { ...after } })
  }, { concurrency: 8 })
  const known = pairs.filter((pair) => pair !== undefined)
  return { groups: Differences.group(known), unknown: done.length - known.length }
})
