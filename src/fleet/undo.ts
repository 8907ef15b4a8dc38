/** Undoing of batches: workflows that have changed since are left out. */
import * as Effect from "effect/Effect"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import { formerSettings } from "../workflows/store/FormerSettings.ts"
import { isLive } from "../workflows/store/Outcome.ts"
import { WorkflowStore } from "../workflows/store/WorkflowStore.ts"
import { patchOf } from "../workflows/WorkflowEdit.ts"
import { changedSince, forEach, modification, nowById, snapshotBefore, type State, state, untouched } from "./Batch.ts"
import * as Change from "./change.ts"
import type { Operation } from "./Operations.ts"
import * as Plans from "./Plans.ts"

const movesPins = (operations: ReadonlyArray<Operation>) =>
  operations.some(({ op }) => op === "rename" || op === "remove")

/** Reason why the change of a workflow cannot be reverted; `left` is its digest as the batch left it. */
const irrevertible = (
  plan: Plans.Plan,
  entry: Plans.Entry,
  now: Parameters<typeof Workflow.hasDraft>[0] & { readonly active: boolean },
  digest: string,
  left: string
) => {
  if (digest !== left || now.active !== entry.active) {
    return digest === entry.before ? undefined : "it has changed since the batch"
  }
  const isPublished = plan.publish === "draft" && entry.active && !entry.hasDraft && !Workflow.hasDraft(now)
  return isPublished
    ? "its draft was published since the batch: workflow_restore(id, version) can go back"
    : undefined
}

/** Reverts the change of one workflow, which must be as the batch left it. */
const takeBack = Effect.fnUntraced(function*(plan: Plans.Plan, entry: Plans.Entry, left: string) {
  const digest = Change.digester(plan.operations)
  const former = yield* snapshotBefore(plan, entry)
  const release = yield* N8nClient.use((n8n) => n8n.release)
  if (former === undefined) return changedSince("its snapshot is gone: workflow_history lists what there is")
  const wasLive = entry.active && !entry.hasDraft
  const keys = ["name", "nodes", "connections", "nodeGroups", ...movesPins(plan.operations) ? ["pinData"] : []]
  let notes: ReadonlyArray<string> = []
  const written = yield* (yield* WorkflowStore).write({ kind: "n8n", id: entry.id }, (now) =>
    Effect.sync(() => {
      const current = digest(now)
      const reason = irrevertible(plan, entry, now, current, left)
      if (reason !== undefined) return untouched(reason)
      // It is as it was before the batch already.
      if (current !== left || now.active !== entry.active) {
        return modification<Plans.Outcome>({ state: "restored" }, {}, "keep")
      }
      const patch = Object.fromEntries(keys.flatMap((key) => former[key] === undefined ? [] : [[key, former[key]]]))
      const { settings, warnings } = formerSettings(now.settings, former["settings"], isV1(release))
      notes = warnings
      return modification<Plans.Outcome>(
        { state: "restored" },
        patchOf(now, { ...now, ...patch, settings }),
        wasLive ? "now" : "draft"
      )
    }), { operation: "workflow_restore", problems: "none" })
  const { result, warnings } = written
  const published = isLive(written)
  return result.state !== "restored" ? result : {
    ...result,
    ...(published === undefined ? {} : { published }),
    ...(warnings.length + notes.length === 0 ? {} : { warnings: [...notes, ...warnings] })
  } satisfies Plans.Outcome as Plans.Outcome
})

/** Workflows that a batch changed, and what was restored of it before. */
const changedBy = Effect.fnUntraced(function*(id: string) {
  const { outcomes, plan, unpublished } = yield* state(id)
  return {
    plan,
    outcomes,
    done: plan.entries.filter((entry) => outcomes.get(entry.id)?.state === "done" || unpublished?.has(entry.id)),
    // Workflows that the batch did not change do not count as left out.
    earlier: [...outcomes].filter(([, { state }]) => state === "restored")
  }
})

/** State that {@link restore} would find: `done` would be restored, and those that have changed since are left out. */
export const previewRestore = Effect.fn("Fleet.previewRestore")(function*(id: string) {
  const { done, earlier, outcomes, plan } = yield* changedBy(id)
  const digest = Change.digester(plan.operations)
  const now = yield* nowById(done)
  const previews = done.map((entry): [string, Plans.Outcome] => {
    const workflow = now.get(entry.id)
    const left = outcomes.get(entry.id)?.after ?? entry.after
    const reason = workflow === undefined
      ? "it was deleted or archived"
      : irrevertible(plan, entry, workflow, digest({ ...workflow }), left)
    return [entry.id, reason === undefined ? { state: "done" } : changedSince(reason)]
  })
  return {
    plan,
    outcomes: new Map([...earlier, ...previews]),
    total: done.length,
    stopped: undefined,
    warnings: []
  } satisfies State as State
})

/** Reverts a batch; workflows that have changed since are left out. */
export const restore = Effect.fn("Fleet.restore")(function*(id: string) {
  const { done, earlier, outcomes: before, plan } = yield* changedBy(id)
  const { outcomes, stopped, warnings } = yield* forEach(
    done,
    plan,
    (entry) => takeBack(plan, entry, before.get(entry.id)?.after ?? entry.after)
  )
  return {
    plan,
    outcomes: new Map([...earlier, ...outcomes]),
    total: done.length,
    stopped,
    warnings
  } satisfies State as State
})
