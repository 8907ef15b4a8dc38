/** Decisions of a batch about workflows as they are now: done, to be changed, or left as they are. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import type { Obj } from "../base/Json.ts"
import * as Turn from "../base/Turn.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient, writesDrafts } from "../n8n/N8nClient.ts"
import * as WorkflowEdit from "../workflow/edit/WorkflowEdit.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import { patchOf } from "../workflows/WorkflowEdit.ts"
import {
  changedSince,
  isLive,
  isOwnDraft,
  modification,
  nowById,
  type State,
  untouched,
  withLive
} from "./batchState.ts"
import * as Change from "./change.ts"
import * as Plans from "./Plans.ts"

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
