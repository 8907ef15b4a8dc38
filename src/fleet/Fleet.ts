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
import * as Struct from "effect/Struct"
import * as Errors from "../base/Errors.ts"
import { type Obj, obj } from "../base/Json.ts"
import * as Rows from "../base/Rows.ts"
import * as Turn from "../base/Turn.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient, writesDrafts } from "../n8n/N8nClient.ts"
import { preview } from "../n8n/WriteGuard.ts"
import * as Upgrade from "../workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import { isLive as isPublished, outside } from "../workflows/store/Outcome.ts"
import { WorkflowStore } from "../workflows/store/WorkflowStore.ts"
import { patchOf } from "../workflows/WorkflowEdit.ts"
import { forEach, isLive, modification, untouched, withLive } from "./Batch.ts"
import * as Change from "./change.ts"
import type { Operation } from "./Operations.ts"
import * as Plans from "./Plans.ts"
import * as Selection from "./Selection.ts"
import * as swaps from "./swaps.ts"

export { differences, type State, state } from "./Batch.ts"
export type { Operation } from "./Operations.ts"
export type { Entry, Outcome, Plan } from "./Plans.ts"
export type { Select } from "./Selection.ts"
export { previewRestore, restore } from "./undo.ts"

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

const leftByDecision = (left: ReadonlyArray<Upgrade.Left & { readonly workflow: string }>): ReadonlyArray<Plans.Left> =>
  Rows.grouped(left, ({ decision, type, why }) => [type, why, decision]).map(({ count, first, rows }) => {
    const names = [...new Set(rows.map(({ workflow }) => workflow))]
    return { ...Struct.pick(first, ["type", "why", "decision"]), nodes: count, workflows: names.length, names }
  }).toSorted((a, b) => b.nodes - a.nodes)

const changesRunning = Effect.fnUntraced(function*(workflow: Workflow.Listed, means: Means) {
  const { connections, nodes } = obj(workflow.activeVersion) ?? {}
  if (!Workflow.hasDraft(workflow) || nodes === undefined) return false
  const changed = yield* Turn.run(() => Change.make({ ...workflow, nodes, connections }, means))
  return Result.isSuccess(changed) && changed.success.steps.some(isOfNode)
})

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
  const allSteps: Array<Plans.Change> = []
  const left: Array<Parameters<typeof leftByDecision>[0][number]> = []
  const refused: Array<Plans.Refused> = missing.map(({ id, why }) => ({ id, name: "", why }))
  let unchanged = 0
  for (const listed of workflows) {
    yield* Turn.pause
    const workflow: Obj & { readonly id: string } = { ...listed }
    const refuse = (why: string) => refused.push({ id: listed.id, name: listed.name, why })
    const changed = yield* Turn.run(() => Change.make(workflow, means))
    if (Result.isFailure(changed)) {
      refuse(changed.failure)
      continue
    }
    const { steps, workflow: after } = changed.success
    left.push(...changed.success.left.map((each) => ({ ...each, workflow: listed.name })))
    if (publish === "keep" && !steps.some(isOfNode) && (yield* changesRunning(listed, means))) {
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
    const hasNodes = steps.some(isOfNode)
    const immediate = active && (hasDraft || publish === "draft" && hasNodes) ? outside(workflow, after) : []
    entries.push({
      id: listed.id,
      name,
      active,
      hasDraft,
      hasNodes,
      before: digest(workflow),
      after: digest(after),
      ...immediate.length === 0 ? {} : { inForce: immediate }
    })
    allSteps.push(
      ...steps.map(({ change, example, operation: { node } }) => ({ change, example, node, id: listed.id, name }))
    )
  }
  const createdAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  const plan: Plans.Plan = {
    ...draft,
    createdAt,
    entries,
    changes: Plans.grouped(allSteps),
    refused,
    left: leftByDecision(left)
  }
  if (entries.length > 0) yield* Plans.save(plan)
  return { plan, unchanged }
})

/** Writes the change of a workflow, and publishes it if it was live; `left` is its digest as the batch left it. */
const write = Effect.fnUntraced(function*(plan: Plans.Plan, entry: Plans.Entry, means: Means, left = entry.after) {
  const digest = Change.digester(plan.operations)
  const publish = plan.publish === "draft" ? "draft" : isLive(plan, entry) ? "now" : "keep"
  const written = yield* WorkflowStore.use((store) =>
    store.write(
      { kind: "n8n", id: entry.id },
      Effect.fnUntraced(function*(now: Workflow.Workflow) {
        const current = digest(now)
        // An earlier attempt has written it.
        if (current === left) return modification<Plans.Outcome>({ state: "done" }, {}, publish)
        if (current !== entry.before) return untouched("it has changed since the plan")
        if (now.active !== entry.active) {
          return untouched(`it was ${now.active ? "" : "un"}published after the plan was made`)
        }
        const changed = yield* Turn.run(() => Change.make(now, means))
        if (Result.isFailure(changed) || digest(changed.success.workflow) !== entry.after) {
          return untouched("the operations now give another result")
        }
        const { steps, workflow } = changed.success
        const hindrance = obstacle(now, steps, plan, means.release)
        return hindrance === undefined
          ? modification<Plans.Outcome>({ state: "done" }, patchOf(now, workflow), publish)
          : untouched(hindrance)
      }),
      { operation: "bulk_edit", problems: "none" }
    )
  )
  const { result, warnings, workflow } = written
  if (result.state !== "done") return result
  const published = isPublished(written)
  return {
    ...result,
    after: digest(workflow),
    ...(published === undefined ? {} : { published }),
    ...(warnings.length === 0 ? {} : { warnings })
  } satisfies Plans.Outcome as Plans.Outcome
})

/**
 * Writes a plan, or continues one; workflows that have changed since are left out. With `keep`, the drafts that it has
 * made of published workflows are published too, and {@link restore} makes live again what was live before.
 */
export const apply = Effect.fn("Fleet.apply")(function*(id: string, publish?: "keep") {
  const stored = yield* Plans.read(id)
  const plan = publish === undefined ? stored : { ...stored, publish }
  if (plan.publish !== stored.publish) yield* Plans.save(plan)
  const before = yield* Plans.outcomes(plan)
  const isOpen = (entry: Plans.Entry) => {
    const { published, state } = before.get(entry.id) ?? {}
    return state === undefined || state === "done" && isLive(plan, entry) && published === false
  }
  const open = plan.entries.filter(isOpen)
  const waiting = publish === undefined
    ? []
    : plan.entries.filter(({ active, hasDraft, id }) => active && hasDraft && before.get(id)?.state === "done")
      .map(({ id }) => ({ id, text: "a draft waited before the batch: activate_workflow publishes both" }))
  if (open.length === 0) return yield* withLive({ plan, outcomes: before, warnings: waiting })
  const { selected } = yield* Selection.all({ ids: open.map((entry) => entry.id) })
  const means = yield* meansOf(plan, selected.map(({ workflow }) => workflow))
  const { outcomes, stopped, warnings } = yield* forEach(
    open,
    plan,
    (entry) => write(plan, entry, means, before.get(entry.id)?.after)
  )
  return yield* withLive({
    plan,
    outcomes: new Map([...before, ...outcomes]),
    stopped,
    warnings: [...warnings, ...waiting]
  })
})
