/**
 * Changes of many workflows: planned, written and taken back.
 *
 * **Details**
 *
 * A plan has the digest of each workflow before and after its change. What is written is what was planned: a workflow
 * that is in another state is left out. Since the digests say what was done, a batch that ended early can be continued
 * and taken back, whatever it has recorded.
 *
 * **Example** (A new address in all workflows that have the old one)
 *
 * ```ts
 * import { Fleet, Services } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const move = (from: string, to: string, confirm: (changes: Fleet.Plan["changes"]) => Effect.Effect<boolean>) =>
 *   Effect.gen(function*() {
 *     const { plan } = yield* Fleet.plan({ select: { uses: from }, operations: [{ op: "replace", find: from, with: to }] })
 *     if (!(yield* confirm(plan.changes))) return 0
 *     const { outcomes } = yield* Fleet.apply(plan.id) // Fleet.restore(plan.id) takes it back
 *     return outcomes.size
 *   })
 *
 * const node = { name: "Call", type: "n8n-nodes-base.httpRequest", parameters: { url: "https://old.example/a" } }
 * const workflow = { id: "1", name: "Orders", nodes: [node], connections: {} }
 *
 * export const test = move("https://old.example", "https://new.example", () => Effect.succeed(true)).pipe(
 *   Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [workflow] }), Services.layerMemory))
 * )
 * ```
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { CallContext } from "../../base/CallContext.ts"
import * as Deadline from "../../base/Deadline.ts"
import * as Errors from "../../base/Errors.ts"
import { defined, type Obj, obj } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isV1, N8nClient, writesDrafts } from "../../n8n/N8nClient.ts"
import { preview } from "../../n8n/WriteGuard.ts"
import * as NodeLookups from "../NodeLookups.ts"
import { formerSettings } from "../store/FormerSettings.ts"
import { settled, Unsettled } from "../store/Publishing.ts"
import { Snapshots } from "../store/Snapshots.ts"
import { type Modification, type Patch, type UpdateOptions, WorkflowStore } from "../store/WorkflowStore.ts"
import * as Upgrade from "../upgrade/Upgrade.ts"
import { patchOf } from "../WorkflowEdit.ts"
import * as Change from "./change.ts"
import type { Operation } from "./Operations.ts"
import * as Plans from "./Plans.ts"
import * as Selection from "./Selection.ts"
import * as swaps from "./swaps.ts"

export type { Operation } from "./Operations.ts"
export type { Entry, Outcome, Plan } from "./Plans.ts"
export type { Select } from "./Selection.ts"

const writers = 4
const maxNames = 5

/** Workflows to change, and how: the conditions of list_workflows, all met, and the operations of bulk_edit. */
export interface Request {
  readonly select: Selection.Select
  readonly operations: ReadonlyArray<Operation>
  /** `keep` (default): published workflows stay published, with the change; `draft`: changes are drafts only. */
  readonly publish?: typeof Plans.Publish.Type
}

const meansOf = Effect.fnUntraced(function*(
  plan: Pick<Plans.Plan, "id" | "operations" | "swaps">,
  workflows: ReadonlyArray<{ readonly nodes: ReadonlyArray<unknown> }>
) {
  const release = yield* N8nClient.use((n8n) => n8n.release)
  const isUpgrade = plan.operations.some(({ op }) => op === "upgrade")
  const types = [
    ...workflows.flatMap(Workflow.typesOf),
    ...(isUpgrade ? workflows.flatMap(Upgrade.types) : []),
    ...plan.operations.flatMap((each) => Workflow.typeOf(each) || [])
  ]
  const lookups = yield* NodeLookups.make(new Set(types), release)
  return {
    plan: plan.id,
    operations: plan.operations,
    swaps: plan.swaps.map((swap) => swap ?? undefined),
    lookups,
    release
  }
})

type Means = Effect.Success<ReturnType<typeof meansOf>>

const isOfNode = ({ operation }: Change.Changed["steps"][number]) => operation["op"] !== "settings"

const waits = "an unpublished draft waits, and would be published too (publish: 'draft' changes the draft alone)"

/** Reason why a workflow cannot be changed in the requested way, since settings have no drafts. */
const obstacle = (
  workflow: Workflow.Listed,
  steps: Change.Changed["steps"],
  { publish }: Pick<Plans.Plan, "publish">,
  release: string | undefined
) =>
  publish === "keep" && Workflow.hasDraft(workflow) && steps.some(isOfNode)
    ? waits
    : publish === "draft" && workflow.active && release !== undefined && !writesDrafts(release)
    ? "it is published, and this n8n's API has no drafts"
    : undefined

const grouped = (steps: ReadonlyArray<Change.Changed["steps"][number] & Pick<Plans.Entry, "id" | "name">>) =>
  [...Map.groupBy(steps, ({ change }) => change)].map(([change, all]) => {
    const names = new Map(all.map(({ id, name }) => [id, name]))
    const nodes = all.filter(({ operation }) => operation["node"] !== undefined).length
    return defined({
      change,
      workflows: names.size,
      nodes: nodes === 0 ? undefined : nodes,
      names: [...names.values()].slice(0, maxNames),
      example: all[0]?.example
    })
  }).toSorted((a, b) => b.workflows - a.workflows)

const leftByDecision = (left: ReadonlyArray<Upgrade.Left & { readonly workflow: string }>): ReadonlyArray<Plans.Left> =>
  [...Map.groupBy(left, ({ decision, type, why }) => JSON.stringify([type, why, decision])).values()].map((all) => {
    const { decision = "", type = "", why = "" } = all[0] ?? {}
    const names = [...new Set(all.map(({ workflow }) => workflow))]
    return { type, nodes: all.length, workflows: names.length, why, decision, names: names.slice(0, maxNames) }
  }).toSorted((a, b) => b.nodes - a.nodes)

const changesRunning = (workflow: Workflow.Listed, means: Means) => {
  const { connections, nodes } = obj(workflow.activeVersion) ?? {}
  if (!Workflow.hasDraft(workflow) || nodes === undefined) return false
  const changed = Change.make({ ...workflow, nodes, connections }, means)
  return Result.isSuccess(changed) && changed.success.steps.some(isOfNode)
}

/** Plans a change without writing to n8n, and stores the plan. */
export const plan = Effect.fn("Fleet.plan")(function*({ operations, publish = "keep", select }: Request) {
  yield* Selection.refuseAll(select)
  const id = yield* Plans.newId
  const { missing, selected } = yield* Selection.all(select)
  const workflows = selected.map(({ workflow }) => workflow)
  const draft = { id, operations, publish, swaps: yield* Effect.forEach(operations, swaps.resolve) }
  const means = yield* meansOf(draft, workflows)
  const digest = Change.digester(operations)
  const read = swaps.readOnce((yield* N8nClient).getWorkflow)
  const entries: Array<Plans.Entry> = []
  const allSteps: Array<Parameters<typeof grouped>[0][number]> = []
  const left: Array<Parameters<typeof leftByDecision>[0][number]> = []
  const refused: Array<Plans.Refused> = missing.map(({ id, why }) => ({ id, name: "", why }))
  let unchanged = 0
  for (const listed of workflows) {
    // A plan of hundreds of workflows must not keep other calls waiting.
    yield* Effect.yieldNow
    const workflow: Obj & { readonly id: string } = { ...listed }
    const refuse = (why: string) => refused.push({ id: listed.id, name: listed.name, why })
    const changed = Change.make(workflow, means)
    if (Result.isFailure(changed)) {
      refuse(changed.failure)
      continue
    }
    const { steps, workflow: after } = changed.success
    left.push(...changed.success.left.map((each) => ({ ...each, workflow: listed.name })))
    if (publish === "keep" && !steps.some(isOfNode) && changesRunning(listed, means)) {
      refuse("only the published version would change, and a draft waits")
      continue
    }
    if (steps.length === 0) {
      unchanged++
      continue
    }
    const fault = yield* preview({ before: workflow, after }, read).pipe(Effect.flip, Effect.option)
    const why = fault._tag === "Some" ? Errors.reasonOf(fault.value) : obstacle(listed, steps, draft, means.release)
    if (why !== undefined) {
      refuse(why)
      continue
    }
    const { active, name } = listed
    const hasDraft = Workflow.hasDraft(listed)
    entries.push({ id: listed.id, name, active, hasDraft, before: digest(workflow), after: digest(after) })
    allSteps.push(...steps.map((step) => ({ ...step, id: listed.id, name })))
  }
  const createdAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  const plan: Plans.Plan = {
    ...draft,
    createdAt,
    entries,
    changes: grouped(allSteps),
    refused,
    left: leftByDecision(left)
  }
  if (entries.length > 0) yield* Plans.save(plan)
  return { plan, unchanged }
})

/** Whether a failure is n8n's and may pass, so that the workflow counts as not done. */
const mayPass = (error: Errors.N8nError) => Errors.isUncertain(error) || Errors.statusOf(error) === 429

const modification = <A>(result: A, patch: Patch = {}) => Effect.succeed({ patch, result } satisfies Modification<A>)

const changedSince = (why: string): Plans.Outcome => ({ state: "changed", why })

const isLive = ({ publish }: Plans.Plan, { active, hasDraft }: Plans.Entry) => active && !hasDraft && publish === "keep"

const write = Effect.fnUntraced(function*(plan: Plans.Plan, entry: Plans.Entry, means: Means) {
  const store = yield* WorkflowStore
  const digest = Change.digester(plan.operations)
  const options: UpdateOptions = { operation: "bulk_edit", source: "file", isDraft: plan.publish === "draft" }
  const done: Plans.Outcome = { state: "done" }
  const { published, result, warnings, workflow } = yield* store.modify(entry.id, (now) => {
    const current = digest(now)
    // An earlier attempt has written it.
    if (current === entry.after) return modification(done)
    if (current !== entry.before) return modification(changedSince("it has changed since the plan"))
    if (now.active !== entry.active) {
      return modification(changedSince(`it was ${now.active ? "" : "un"}published after the plan was made`))
    }
    const changed = Change.make(now, means)
    if (Result.isFailure(changed) || digest(changed.success.workflow) !== entry.after) {
      return modification(changedSince("the operations now give another result"))
    }
    const { steps, workflow } = changed.success
    const hindrance = obstacle(now, steps, plan, means.release)
    return hindrance === undefined
      ? modification(done, patchOf(now, workflow))
      : modification(changedSince(hindrance))
  }, options)
  if (result.state !== "done") return result
  const live = isLive(plan, entry) && workflow.active && Workflow.awaitsPublishing(workflow)
    ? yield* store.setActive(entry.id, true)
    : { published, warnings: [] }
  return {
    ...done,
    after: digest(workflow),
    ...(live.published === undefined ? {} : { published: live.published }),
    ...(warnings.length + live.warnings.length === 0 ? {} : { warnings: [...warnings, ...live.warnings] })
  } satisfies Plans.Outcome as Plans.Outcome
})

/** Milliseconds that must be left to begin another workflow, and for the steps after the last one. */
const leastTime = 8_000
const patience = 45_000

/** Runs a step for each entry, a few at a time, until time is up or n8n fails; the remaining ones have no outcome. */
const forEach = Effect.fnUntraced(function*<R>(
  entries: ReadonlyArray<Plans.Entry>,
  plan: Plans.Plan,
  step: (entry: Plans.Entry) => Effect.Effect<Plans.Outcome, Errors.N8nError, R>
) {
  const { progress } = yield* CallContext
  const published: Array<Workflow.Workflow> = []
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
      : { state: "refused", why: Errors.reasonOf(outcome.failure) }
    outcomes.set(entry.id, known)
    yield* Plans.record(plan.id, entry.id, known)
    yield* progress(outcomes.size, entries.length, "workflows")
  })
  yield* Effect.forEach(entries, one, { concurrency: writers, discard: true }).pipe(
    Effect.provideService(Unsettled, published)
  )
  const warnings = yield* settled(published)
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
  readonly stopped?: string | undefined
  readonly warnings: ReadonlyArray<{ readonly id: string; readonly text: string }>
}

/** Reads the state of a plan from its record or, without one, from n8n. */
export const state = Effect.fn("Fleet.state")(function*(id: string) {
  const plan = yield* Plans.read(id)
  const outcomes = new Map(yield* Plans.outcomes(plan))
  const open = plan.entries.filter((entry) => !outcomes.has(entry.id))
  const unpublished = new Set<string>()
  if (open.length > 0) {
    const digest = Change.digester(plan.operations)
    const { selected } = yield* Selection.all({ ids: open.map((entry) => entry.id) })
    const now = new Map(selected.map(({ workflow }) => [workflow.id, workflow]))
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
  return { plan, outcomes, unpublished, warnings: [] } satisfies State as State
})

/** Writes a plan, or continues one; workflows that have changed since are left out. */
export const apply = Effect.fn("Fleet.apply")(function*(id: string) {
  const plan = yield* Plans.read(id)
  const before = yield* Plans.outcomes(plan)
  const open = plan.entries.filter((entry) => !before.has(entry.id))
  if (open.length === 0) return { plan, outcomes: before, warnings: [] } satisfies State as State
  const { selected } = yield* Selection.all({ ids: open.map((entry) => entry.id) })
  const means = yield* meansOf(plan, selected.map(({ workflow }) => workflow))
  const { outcomes, stopped, warnings } = yield* forEach(open, plan, (entry) => write(plan, entry, means))
  return { plan, outcomes: new Map([...before, ...outcomes]), stopped, warnings } satisfies State as State
})

const snapshotBefore = Effect.fnUntraced(function*(plan: Plans.Plan, entry: Plans.Entry) {
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
  const { published, result, warnings } = yield* (yield* WorkflowStore).modify(entry.id, (now) => {
    const current = digest(now)
    const reason = irrevertible(plan, entry, now, current, left)
    if (reason !== undefined) return modification(changedSince(reason))
    // It is as it was before the batch already.
    if (current !== left || now.active !== entry.active) return modification(undefined)
    const patch = Object.fromEntries(keys.flatMap((key) => former[key] === undefined ? [] : [[key, former[key]]]))
    const { settings, warnings } = formerSettings(now.settings, former["settings"], isV1(release))
    notes = warnings
    return modification(undefined, patchOf(now, { ...now, ...patch, settings }))
  }, { operation: "workflow_restore", source: "file", ...wasLive ? { active: true } : { isDraft: true } })
  return result ?? {
    state: "restored",
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
  const { selected } = yield* Selection.all({ ids: done.map((entry) => entry.id) })
  const now = new Map(selected.map(({ workflow }) => [workflow.id, workflow]))
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
