/** Undoing of batches: workflows that have changed since are left out. */
import * as Effect from "effect/Effect"
import { arr, equals, type Obj, obj, str, without } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import { placeOf } from "../workflows/Reference.ts"
import { formerSettings } from "../workflows/store/FormerSettings.ts"
import { isLive } from "../workflows/store/Outcome.ts"
import { WorkflowStore } from "../workflows/store/WorkflowStore.ts"
import { patchOf } from "../workflows/WorkflowEdit.ts"
import {
  changedSince,
  forEach,
  modification,
  nowById,
  ofFile,
  snapshotBefore,
  type State,
  state,
  untouched
} from "./batchState.ts"
import * as Change from "./change.ts"
import * as Plans from "./Plans.ts"

/**
 * Changed parts of a workflow as they were before a batch. Nodes and connections are those of `former`, since no one has
 * changed them. Of pinned data and groups, which others may have changed, only what belongs to changed nodes goes back:
 * pinned data goes with its node, and a removed node returns to its group.
 */
const partsBefore = (former: Obj, now: Obj): Obj => {
  const namesIn = (workflow: Obj) =>
    new Map(Workflow.nodes(workflow).map((node) => [str(node["id"]) ?? Workflow.nameOf(node), Workflow.nameOf(node)]))
  const [names, formerNames] = [namesIn(now), namesIn(former)]
  const moved = [...new Set([...formerNames.keys(), ...names.keys()])].filter((id) =>
    names.get(id) !== formerNames.get(id)
  )
  const [pins, formerPins] = [obj(now["pinData"]) ?? {}, obj(former["pinData"]) ?? {}]
  const back = moved.flatMap((id) => {
    const [name, formerName] = [names.get(id), formerNames.get(id)]
    const pin = name === undefined ? formerPins[formerName ?? ""] : pins[name]
    return formerName === undefined || pin === undefined ? [] : [[formerName, pin] as const]
  })
  const movedNames = new Set(moved.map((id) => names.get(id)))
  const groups = new Map(arr(now["nodeGroups"]).map((group) => [obj(group)?.["id"], obj(group) ?? {}]))
  for (const group of arr(former["nodeGroups"])) {
    const { id, nodeIds } = obj(group) ?? {}
    const [members, current] = [arr(nodeIds), arr(groups.get(id)?.["nodeIds"])]
    const removed = members.filter((each) => !names.has(String(each)))
    // A group of which other nodes are left was removed by someone.
    if (removed.length === 0 || !groups.has(id) && removed.length < members.length) continue
    const own = members.filter((each) => removed.includes(each) || current.includes(each))
    groups.set(id, {
      ...obj(group),
      ...groups.get(id),
      nodeIds: [...own, ...current.filter((each) => !own.includes(each))]
    })
  }
  const pinData = { ...without(pins, (_, name) => movedNames.has(name)), ...Object.fromEntries(back) }
  return {
    nodes: former["nodes"],
    connections: former["connections"],
    ...equals(pinData, pins) ? {} : { pinData },
    ...groups.size === 0 ? {} : { nodeGroups: [...groups.values()] }
  }
}

/** Reason why the change of a workflow cannot be reverted; `left` is its digest as the batch left it. */
const irrevertible = (
  plan: Plans.Plan,
  entry: Plans.Entry,
  now: Parameters<typeof Workflow.hasDraft>[0],
  left: string,
  before: string,
  outcome: Plans.Outcome | undefined
) => {
  const digest = Change.digester(plan)({ ...now })
  if (entry.publication === undefined && digest === before) return undefined
  if (digest !== left) return "it has changed since the batch"
  const active = entry.publication === undefined ? entry.active : entry.publication === "publish"
  if (now.active !== active) return `it was ${now.active ? "" : "un"}published since the batch`
  const { hasNodes = plan.operations.some(({ op }) => op !== "settings") } = entry
  // Settings have no draft.
  const isPublished = plan.publish === "draft" && hasNodes && entry.active && !entry.hasDraft && !Workflow.hasDraft(now)
  return isPublished && entry.publication === undefined && outcome?.published !== true
    ? "its draft was published since the batch: restore an earlier version to go back"
    : undefined
}

/** Reverts the change of one workflow, which must be as the batch left it. */
const takeBack = Effect.fnUntraced(function*(plan: Plans.Plan, entry: Plans.Entry, outcome: Plans.Outcome | undefined) {
  const [left, start] = [outcome?.after ?? entry.after, outcome?.before ?? entry.before]
  const digest = Change.digester(plan)
  const isOwn = Change.mayChange(plan.operations)
  const ownSettings = ({ settings }: { readonly settings?: unknown }) =>
    without(obj(settings) ?? {}, (_, key) => !isOwn(key))
  // A publication alone has changed no content.
  const hasContent = entry.places?.length !== 0
  const snapshot = hasContent ? yield* snapshotBefore(plan, entry, outcome) : {}
  const release = yield* N8nClient.use((n8n) => n8n.release)
  if (snapshot === undefined) return changedSince("its snapshot is gone: restore one of the versions in its history")
  const former: Obj = entry.isFile === true ? { ...ofFile(entry.id, snapshot) } : snapshot
  // A draft waited, or the batch has published or unpublished: the version that ran is published again by itself.
  const hadDraft = entry.isFile !== true &&
    Workflow.hasDraft({ ...snapshot, active: entry.active } as Workflow.Workflow)
  const running = entry.active && (hadDraft || entry.publication !== undefined) ? entry.running : undefined
  const publish = entry.isFile === true
    ? "keep"
    : !entry.active && entry.publication !== undefined
    ? "never"
    : entry.active && !entry.hasDraft && running === undefined
    ? "now"
    : "draft"
  let notes: ReadonlyArray<string> = []
  const written = yield* (yield* WorkflowStore).write(placeOf(entry.id), (state: Obj) =>
    Effect.sync(() => {
      const now = entry.isFile === true ? ofFile(entry.id, state) : state as Workflow.Workflow
      const { settings, warnings } = hasContent
        ? formerSettings(ownSettings(now), ownSettings(former), isV1(release))
        : { settings: {}, warnings: [] }
      const parts = hasContent ? partsBefore(former, now) : {}
      const before = { ...now, ...parts, settings: { ...obj(now.settings), ...settings } }
      const patch = patchOf({ ...now }, before)
      const isUndone = now.active === entry.active && (digest({ ...now }) === start || Object.keys(patch).length === 0)
      // It is as it was before the batch already; settings that were unset may have the value that means so.
      if (isUndone && (entry.publication === undefined || now.activeVersionId === entry.running)) {
        return modification<Plans.Outcome>({ state: "restored" }, {}, "keep")
      }
      const reason = irrevertible(plan, entry, now, left, start, outcome)
      if (reason !== undefined) return untouched(reason)
      notes = warnings
      return modification<Plans.Outcome>(
        { state: "restored" },
        patch.settings === undefined ? patch : { ...patch, settings },
        publish
      )
    }), { operation: "workflow_restore", problems: "none" })
  const last =
    running !== undefined && written.result.state === "restored" && written.workflow["activeVersionId"] !== running
      ? yield* (yield* WorkflowStore).write({ kind: "n8n", id: entry.id }, {}, {
        operation: "workflow_restore",
        publish: "now",
        publication: { versionId: running },
        problems: "none"
      })
      : undefined
  const { result } = written
  const warnings = [...written.warnings, ...last?.warnings ?? []]
  const published = isLive(last ?? written)
  return result.state !== "restored" ? result : {
    ...result,
    ...(published === undefined ? {} : { published }),
    ...(warnings.length + notes.length === 0 ? {} : { warnings: [...notes, ...warnings] })
  } satisfies Plans.Outcome as Plans.Outcome
})

/** Workflows that a batch changed, and what was restored of it before. */
const changedBy = Effect.fnUntraced(function*(id: string) {
  const { outcomes, plan, unpublished } = yield* state(id)
  // By its record, not by what n8n has: someone else may have published a draft since.
  const recorded = yield* Plans.outcomes(plan)
  return {
    plan,
    recorded,
    done: plan.entries.filter((entry) => outcomes.get(entry.id)?.state === "done" || unpublished?.has(entry.id)),
    // Workflows that the batch did not change do not count as left out.
    earlier: [...outcomes].filter(([, { state }]) => state === "restored")
  }
})

/** State that {@link restore} would find: `done` would be restored, and those that have changed since are left out. */
export const previewRestore = Effect.fn("Fleet.previewRestore")(function*(id: string) {
  const { done, earlier, plan, recorded } = yield* changedBy(id)
  const now = yield* nowById(done)
  const previews = done.map((entry): [string, Plans.Outcome] => {
    const [workflow, outcome] = [now.get(entry.id), recorded.get(entry.id)]
    const reason = workflow === undefined
      ? "it was deleted or archived"
      : irrevertible(plan, entry, workflow, outcome?.after ?? entry.after, outcome?.before ?? entry.before, outcome)
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

/** Reverts a batch; workflows that have changed since are left out. Sub-workflows that it has created stay. */
export const restore = Effect.fn("Fleet.restore")(function*(id: string) {
  const { done, earlier, plan, recorded } = yield* changedBy(id)
  // Once what keeps a workflow from being restored is gone, the next call restores it.
  const { outcomes, stopped, warnings } = yield* forEach(
    done,
    plan,
    (entry) => takeBack(plan, entry, recorded.get(entry.id))
  )
  return {
    plan,
    outcomes: new Map([...earlier, ...outcomes]),
    total: done.length,
    stopped,
    warnings
  } satisfies State as State
})
