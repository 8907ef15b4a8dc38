/** State of batches: what a plan has written so far, by its record and by what n8n has, and what is to be done next. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import * as Batch from "../base/Batch.ts"
import { Author } from "../base/CallContext.ts"
import * as Errors from "../base/Errors.ts"
import { arr, defined, type Obj, obj, str } from "../base/Json.ts"
import * as Turn from "../base/Turn.ts"
import * as Deprecated from "../n8n/Deprecated.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient, writesDrafts } from "../n8n/N8nClient.ts"
import * as Contents from "../workflow/Contents.ts"
import * as WorkflowEdit from "../workflow/edit/WorkflowEdit.ts"
import { WorkflowFiles } from "../workflows/files/WorkflowFiles.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import { selectorOf } from "../workflows/Reference.ts"
import { together } from "../workflows/store/Publishing.ts"
import { Snapshots } from "../workflows/store/Snapshots.ts"
import type { Modification, Patch, Publish } from "../workflows/store/WorkflowStore.ts"
import { patchOf } from "../workflows/WorkflowEdit.ts"
import * as Change from "./change.ts"
import * as places from "./places.ts"
import * as Plans from "./Plans.ts"
import * as WorkflowSelection from "./WorkflowSelection.ts"

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

/** Whether a published workflow runs with the change. */
export const isLive = ({ publish }: Pick<Plans.Plan, "publish">, { active, hasDraft, publication }: Plans.Entry) =>
  publication === "publish" || active && !hasDraft && publish === "keep" && publication === undefined

/**
 * Runs a step for each entry, a few at a time, until time is up or n8n fails; the remaining ones have no outcome.
 * Outcomes that are done or restored are recorded.
 */
export const forEach = Effect.fnUntraced(function*<R>(
  entries: ReadonlyArray<Plans.Entry>,
  plan: Plans.Plan,
  step: (entry: Plans.Entry) => Effect.Effect<Plans.Outcome, Errors.N8nError, R>
) {
  const options = {
    needs: 8_000,
    grants: 45_000,
    concurrency: 4,
    stopIf: (error: Errors.N8nError) => mayPass(error) ? Errors.reasonOf(error) : undefined,
    message: () => "workflows"
  }
  const work = Batch.run(entries, options, (entry) =>
    Effect.tap(
      step(entry),
      (outcome) =>
        outcome.state === "done" || outcome.state === "restored"
          ? Plans.record(plan.id, entry.id, Struct.omit(outcome, ["why"]))
          : Effect.void
    ))
  const { result: { done, failed, stopped }, warnings } = yield* together(work)
  const refused = [...failed].map(([{ id }, error]): readonly [string, Plans.Outcome] => [
    id,
    defined({
      state: "refused" as const,
      why: Errors.reasonOf(error),
      deprecated: Deprecated.isRefusal(error) ? Deprecated.refusedNodes(Errors.detailsOf(error)) : undefined
    })
  ])
  return {
    outcomes: new Map([...[...done].map(([{ id }, outcome]) => [id, outcome] as const), ...refused]),
    stopped,
    warnings: entries.flatMap(({ id }) => (warnings.get(id) ?? []).map((text) => ({ id, text })))
  }
})

/** State of a plan, by the outcome of each workflow. */
export interface State {
  readonly plan: Plans.Plan
  readonly outcomes: ReadonlyMap<string, Plans.Outcome>
  readonly total?: number
  /** Workflows that were written, but not published yet, by a call that was interrupted. */
  readonly unpublished?: ReadonlySet<string>
  readonly stopped?: string | undefined
  readonly warnings: ReadonlyArray<{ readonly id: string; readonly text: string }>
}

/** Workflows of entries as they are now, by id or path; none of those that were deleted or archived. */
export const nowById = Effect.fnUntraced(function*(entries: ReadonlyArray<Plans.Entry>) {
  const ids = entries.flatMap(({ id, isFile }) => isFile === true ? [] : [id])
  const { selected } = ids.length === 0 ? { selected: [] } : yield* WorkflowSelection.all({ ids })
  const files = yield* Effect.forEach(
    entries.filter(({ isFile }) => isFile),
    ({ id }) => Effect.map(Effect.option(fileNow(id)), (now) => now._tag === "Some" ? [[id, now.value] as const] : [])
  )
  return new Map<string, Workflow.Listed>([
    ...selected.map(({ workflow }) => [workflow.id, workflow] as const),
    ...files.flat()
  ])
})

/** Workflow of a file, as one that is not published. */
export const ofFile = (path: string, workflow: Obj) =>
  ({
    ...workflow,
    id: path,
    name: str(workflow["name"]) ?? path,
    active: false,
    nodes: arr(workflow["nodes"])
  }) as unknown as Workflow.Workflow

export const fileNow = (path: string) =>
  Effect.map(WorkflowFiles.use((files) => files.workflow(path)), ({ value }) => ofFile(path, value))

/** Whether a published workflow that has the change runs with it, by what n8n has. */
const isRunning = (plan: Plans.Plan, after: string, workflow: Workflow.Listed) => {
  if (!workflow.active) return undefined
  const { connections, nodes } = obj(workflow.activeVersion) ?? {}
  return !Workflow.hasDraft(workflow) || Change.digester(plan)({ ...workflow, nodes, connections }) === after
}

/** Outcomes with what n8n runs now. */
export const withLive = (
  plan: Plans.Plan,
  outcomes: ReadonlyMap<string, Plans.Outcome>,
  now: ReadonlyMap<string, Workflow.Listed>
): ReadonlyMap<string, Plans.Outcome> =>
  new Map(plan.entries.flatMap((entry) => {
    const outcome = outcomes.get(entry.id)
    if (outcome === undefined) return []
    const workflow = now.get(entry.id)
    const { published: _, ...rest } = outcome
    const published = workflow && isRunning(plan, outcome.after ?? entry.after, workflow)
    return [[entry.id, outcome.state !== "done" ? outcome : defined({ ...rest, published })] as const]
  }))

/** Snapshots of a workflow that the caller's writes have stored, newest first, and those of files. */
const snapshotsOf = Effect.fnUntraced(function*({ id, isFile }: Pick<Plans.Entry, "id" | "isFile">) {
  const instance = isFile === true ? (yield* WorkflowFiles).instance : (yield* N8nClient).instance
  const place = isFile === true ? yield* WorkflowFiles.use((files) => files.locate(id)) : id
  const snapshots = yield* Snapshots
  const author = yield* Author
  const all = (yield* snapshots.list(instance, place)).filter((each) => each.author === author)
  const read = (version: string) =>
    Effect.map(snapshots.read(instance, place, version), ({ workflow }) => {
      if (isFile !== true) return workflow as Obj
      const inside = Contents.one(Contents.read(str(obj(workflow)?.["text"]) ?? ""), selectorOf(id))
      return Result.isSuccess(inside) ? inside.success.workflow : {}
    })
  return { all, read }
})

/** Snapshot with this digest among those that the caller's writes have stored; `undefined` without one. */
export const snapshotWith = Effect.fnUntraced(function*(
  plan: Plans.Plan,
  entry: Plans.Entry,
  digest: string,
  operation?: string
) {
  const { all, read } = yield* snapshotsOf(entry)
  const digestOf = Change.digester(plan)
  for (const each of all) {
    if (operation !== undefined && each.operation !== operation) continue
    const workflow = yield* read(each.version)
    yield* Turn.pause
    if (digestOf(workflow) === digest) return workflow
  }
  return undefined
})

/** Returns the workflow as it was before the batch; nothing if its snapshot is gone. */
export const snapshotBefore = (plan: Plans.Plan, entry: Plans.Entry, outcome: Plans.Outcome | undefined) =>
  snapshotWith(plan, entry, outcome?.before ?? entry.before, "bulk_edit")

/** Whether the draft of a published workflow is the caller's: their writes began with the version that runs. */
export const isOwnDraft = Effect.fnUntraced(function*(workflow: Workflow.Listed) {
  const { activeVersionId } = workflow
  if (typeof activeVersionId !== "string") return false
  const { all } = yield* snapshotsOf({ id: workflow.id })
  return all.some(({ versionId }) => versionId === activeVersionId)
})

/** Differences of what a batch has changed to what it was before, and the number of workflows without a snapshot. */
export const differences = Effect.fn("Fleet.differences")(function*({ outcomes, plan }: State) {
  const done = plan.entries.filter(({ id }) => outcomes.get(id)?.state === "done")
  const now = yield* nowById(done)
  const changes = yield* Effect.forEach(
    done,
    (entry) =>
      Effect.map(snapshotBefore(plan, entry, outcomes.get(entry.id)), (before) => {
        const after = now.get(entry.id)
        return before && after &&
          places.between(before, { ...after }).map((place): Plans.Change => ({
            change: place.kind,
            node: place.node,
            values: [{ values: place.values() }],
            id: entry.id,
            name: after.name
          }))
      }),
    { concurrency: 8 }
  )
  const known = changes.filter((each) => each !== undefined)
  return { groups: Plans.grouped(known.flat()), unknown: done.length - known.length }
})

/** Plan with the node types and workflows that its operations need. */
export const contextOf = Effect.fnUntraced(function*(
  plan: Pick<Plans.Plan, "created" | "id" | "operations" | "release" | "swaps">,
  workflows: ReadonlyArray<{ readonly nodes: ReadonlyArray<unknown> }>
) {
  const n8n = yield* N8nClient
  const connected = yield* n8n.release
  const release = plan.release ?? connected
  const types = workflows.flatMap((workflow) => WorkflowEdit.typesOf({ ...workflow }, plan.operations))
  const callees = new Map(
    yield* Effect.forEach(
      new Set(plan.operations.flatMap((each) => each.op === "extract" ? each.workflowId ?? [] : [])),
      (id) => Effect.map(n8n.getWorkflow(id), (workflow) => [id, workflow as Obj] as const)
    )
  )
  const lookups = yield* NodeLookups.make(new Set(types), release)
  return {
    ...Struct.pick(plan, ["id", "operations"]),
    ...plan.created === undefined ? {} : { created: plan.created },
    swaps: plan.swaps.map((swap) => swap ?? undefined),
    lookups: { ...lookups, callee: (id: string) => callees.get(id) },
    connected
  } satisfies Change.Context & { readonly connected: string | undefined }
})

export type Context = Effect.Success<ReturnType<typeof contextOf>>

/** Whether a step changes nodes, which have drafts. */
export const isOfNode = ({ operation: { op } }: Change.Changed["steps"][number]) =>
  op !== "settings" && op !== "publish" && op !== "unpublish"

const waits = "an unpublished draft waits, and would be published too (publish: 'draft' changes the draft alone)"

/** Reason why a workflow cannot be changed in the requested way, since settings have no drafts. */
export const obstacle = (
  workflow: Workflow.Listed,
  { publication, steps }: Pick<Change.Changed, "publication" | "steps">,
  { publish }: Pick<Plans.Plan, "publish">,
  hasDraft: boolean,
  connected: string | undefined
) =>
  hasDraft && (publish === "keep" && steps.some(isOfNode) || publication === "publish")
    ? waits
    : publish === "draft" && workflow.active && connected !== undefined && !writesDrafts(connected) &&
        steps.some(isOfNode)
    ? "it is published, and this n8n's API has no drafts"
    : undefined

/** Decision for a workflow as it is now: the planned change, wherever else it has changed since. */
export const decide = Effect.fnUntraced(function*(
  plan: Plans.Plan,
  entry: Plans.Entry,
  now: Workflow.Listed,
  context: Context
) {
  const digest = Change.digester(plan)
  const current = digest({ ...now })
  const publish = entry.publication === "unpublish"
    ? "never"
    : isLive(plan, entry)
    ? "now"
    : plan.publish === "draft"
    ? "draft"
    : "keep"
  // An earlier attempt has written it.
  if (current === entry.after) return modification<Plans.Outcome>({ state: "done" }, {}, publish)
  if (now.active !== entry.active) {
    return untouched(`it was ${now.active ? "" : "un"}published after the plan was made`)
  }
  const changed = yield* Turn.run(() => Change.make({ ...now }, context))
  if (Result.isFailure(changed)) return untouched(changed.failure)
  const { workflow } = changed.success
  if (current !== entry.before) {
    const conflict = Change.conflict(plan, entry, { ...now }, workflow)
    if (conflict !== undefined) return untouched(conflict)
    const isStranger = Workflow.hasDraft(now) && !entry.hasDraft && !(yield* isOwnDraft(now))
    if (isStranger && publish === "now") return untouched(`${waits}, made since the plan`)
  } else if (digest(workflow) !== entry.after) return untouched("the operations now give another result")
  const hindrance = obstacle(now, changed.success, plan, entry.hasDraft, context.connected)
  if (hindrance !== undefined) return untouched(hindrance)
  const patch = patchOf({ ...now }, workflow)
  // Where nothing is left to change, an earlier attempt has written it.
  const isFormer = current === entry.before || Object.keys(patch).length === 0
  return modification<Plans.Outcome>({ state: "done", ...isFormer ? {} : { before: current } }, patch, publish)
})

/** Reads the state of a plan from its record and from what n8n has; writes nothing. */
export const state = Effect.fn("Fleet.state")(function*(id: string) {
  const plan = yield* Plans.read(id)
  const recorded = yield* Plans.outcomes(plan)
  const now = yield* nowById(plan.entries)
  const open = plan.entries.filter((entry) => !recorded.has(entry.id))
  const context = yield* contextOf(plan, open.flatMap((entry) => now.get(entry.id) ?? []))
  const outcomes = new Map(recorded)
  const unpublished = new Set<string>()
  for (const entry of open) {
    const workflow = now.get(entry.id)
    if (workflow === undefined) {
      outcomes.set(entry.id, changedSince("it was deleted or archived"))
      continue
    }
    const { patch, publish, result } = yield* decide(plan, entry, workflow, context)
    // Written by a call that was interrupted before it was recorded; what is to be published is not done.
    const isDone = result.state === "done" && Object.keys(patch).length === 0 &&
      (publish !== "now" || !Workflow.awaitsPublishing(workflow)) && (publish !== "never" || !workflow.active)
    if (result.state === "changed" || isDone && plan.isBegun === true) outcomes.set(entry.id, result)
    else if (Object.keys(patch).length === 0 && plan.isBegun === true) unpublished.add(entry.id)
  }
  return { plan, outcomes: withLive(plan, outcomes, now), unpublished, warnings: [] } satisfies State as State
})
