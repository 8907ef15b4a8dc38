/** Change of one of many workflows by bulk operations, exactly repeatable. Pure. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { sha256 } from "../base/Hash.ts"
import { canonical, equals, type Obj, obj, without } from "../base/Json.ts"
import * as Turn from "../base/Turn.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { newSteps } from "../workflow/check/WorkflowProblems.ts"
import * as WorkflowEdit from "../workflow/edit/WorkflowEdit.ts"
import * as Placeholders from "../workflow/Placeholders.ts"
import type { Left } from "../workflow/upgrade/Upgrade.ts"
import { isUnset } from "../workflows/store/FormerSettings.ts"
import { matcher, type Operation, type Step, stepsFor, type Swap, upgraded } from "./Operations.ts"
import * as places from "./places.ts"
import type * as Plans from "./Plans.ts"

/** Settings that n8n adds to a workflow that is written. */
const ofN8n = new Set(["callerPolicy", "availableInMCP", "executionOrder", "binaryMode"])

/** Whether operations may change a setting: those that n8n fills in itself only if an operation sets them. */
export const mayChange = (operations: ReadonlyArray<Operation>) => {
  const own = new Set(
    operations.flatMap((each) => each.op === "settings" ? Object.keys(each.settings) : [])
  )
  return (key: string) => !ofN8n.has(key) || own.has(key)
}

/** Parts of a plan that its changes depend on. */
export type Planned = Pick<Plans.Plan, "id" | "operations" | "created">

/** Ids of created sub-workflows as the plan names them, so that digests are those of the plan. */
const inPlan = ({ created = [] }: Pick<Planned, "created">, text: string) =>
  created.reduce((result, { id = "", key }) => id === "" ? result : result.replaceAll(id, key), text)

/**
 * Returns the digest of the parts of a workflow that the operations may change: name, nodes, connections and settings.
 * It is the same for a list's entry, for the workflow itself, and after a write of the same content: only settings that
 * they {@link mayChange} count, and a setting at its default counts as unset.
 */
export const digester = (plan: Pick<Planned, "created" | "operations">) => {
  const isOwn = mayChange(plan.operations)
  return (workflow: Obj): string => {
    const settings = without(obj(workflow["settings"]) ?? {}, (value, key) => isUnset(value) || !isOwn(key))
    const connections = without(obj(workflow["connections"]) ?? {}, (value) => equals(value, {}))
    const text = canonical({
      name: workflow["name"],
      nodes: Workflow.nodes(workflow).map(places.nodeOf),
      connections,
      settings
    })
    return sha256(inPlan(plan, text)).slice(0, 32)
  }
}

/** Ids of new nodes that depend only on the plan and the workflow, so that the same change can be made again. */
export const idsOf = (plan: string, workflow: string) => {
  let count = 0
  return () => {
    const hex = sha256(`${plan} ${workflow} ${count++}`)
    return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
      .join("-")
  }
}

export interface Changed {
  readonly workflow: Obj
  readonly steps: ReadonlyArray<Step & { readonly operationIndex: number }>
  readonly left: ReadonlyArray<Left>
  readonly publication: Plans.Entry["publication"]
}

/** Plan with what its operations need of n8n. */
export interface Context extends Planned {
  readonly swaps: ReadonlyArray<Swap | undefined>
  readonly lookups: Omit<WorkflowEdit.Lookups, "newId">
}

const decode = Schema.decodeUnknownResult(Schema.Array(WorkflowEdit.Operation))

/** Publication by an operation; `undefined` if the workflow has that state already. */
const publicationOf = (op: string, workflow: Obj): Plans.Entry["publication"] => {
  const isActive = workflow["active"] === true
  return op === "publish"
    ? isActive && !Workflow.hasDraft(workflow as Workflow.Workflow) ? undefined : "publish"
    : isActive
    ? "unpublish"
    : undefined
}

/** Applies the operations in order; fails with the reason why this workflow is refused. */
export const make = function*(
  before: Obj,
  { created = [], id, lookups, operations, swaps }: Context
): Turn.Steps<Result.Result<Changed, string>> {
  const callees = new Map(
    created.flatMap((each) => [[each.key, each.workflow], ...each.id ? [[each.id, each.workflow] as const] : []])
  )
  const own: WorkflowEdit.Lookups = {
    ...lookups,
    newId: idsOf(id, String(before["id"])),
    callee: (id) => callees.get(id) ?? lookups.callee?.(id)
  }
  const steps: Array<Changed["steps"][number]> = []
  const left: Array<Left> = []
  let publication: Plans.Entry["publication"]
  let workflow = before
  for (const [operationIndex, operation] of operations.entries()) {
    if (!matcher(operation)(before)) continue
    if (operation.op === "publish" || operation.op === "unpublish") {
      publication = publicationOf(operation.op, before)
      if (publication !== undefined) steps.push({ operation, change: operation.op, operationIndex })
      continue
    }
    if (operation.op === "upgrade") {
      const outcome = yield* upgraded(workflow, operation, lookups)
      if (outcome.fault !== undefined) return Result.fail(outcome.fault)
      steps.push(...outcome.steps.map((step) => ({ ...step, operationIndex })))
      left.push(...outcome.left)
      workflow = outcome.workflow
      continue
    }
    const sub = created.find((each) => each.operation === operationIndex)
    const ofNodes = stepsFor(workflow, operation, swaps[operationIndex]).map((step) =>
      sub === undefined ? step : { ...step, operation: calling(step.operation, sub.id || sub.key) }
    )
    const edits = decode(ofNodes.map((step) => step.operation))
    if (Result.isFailure(edits)) return Result.fail(edits.failure.message)
    for (const [index, edit] of edits.success.entries()) {
      const edited = yield* WorkflowEdit.steps(workflow, [edit], own)
      if (Result.isFailure(edited)) {
        const { hint, message } = edited.failure
        return Result.fail(typeof hint === "string" ? `${message} ${hint}` : message)
      }
      const step = ofNodes[index]
      const { changes: [line = ""], workflow: next } = edited.success
      if (step !== undefined && !equals(next, workflow)) {
        steps.push({ ...step, operationIndex, ...step.change === "" ? { change: line } : {} })
      }
      workflow = next
    }
  }
  if (!equals(workflow, before)) {
    const fault = Placeholders.fault(workflow, before)
    if (fault !== undefined) return Result.fail(fault)
    const { problems } = yield* newSteps(before, workflow, own)
    const problem = problems.find(({ severity }) => severity === "error")
    if (problem !== undefined) {
      return Result.fail(`${problem.node === undefined ? "" : `'${problem.node}': `}${problem.message}`)
    }
  }
  return Result.succeed({ workflow, steps, left, publication })
}

/** Extraction that calls a sub-workflow of the plan instead of creating one. */
const calling = ({ name: _, ...extraction }: Obj, workflowId: string): Obj => ({ ...extraction, workflowId })

/** Places of a change, as a plan stores them. */
export const placesOf = (before: Obj, after: Obj, plan: Planned): ReadonlyArray<places.Place> =>
  places.between(before, after, mayChange(plan.operations))

const digestIn = (plan: Planned, value: unknown) =>
  plan.created === undefined ? places.digest(value) : places.digest(JSON.parse(inPlan(plan, canonical(value ?? null))))

export const stored = (plan: Planned, { after, at, before, values }: places.Place): Plans.Place => ({
  at: [...at],
  before: digestIn(plan, before),
  after: digestIn(plan, after),
  values: values()
})

/**
 * Reason why a plan's change cannot be made on a state that differs from the plan's: it differs at a place of the
 * change, or the operations would now change another place. A place that has the planned value already is done.
 */
export const conflict = (plan: Planned, entry: Plans.Entry, now: Obj, after: Obj): string | undefined => {
  const planned = entry.places
  if (planned === undefined) return "it has changed since the plan"
  for (const { after, at, before, values } of planned) {
    const { node, shown, value } = places.valueAt(now, at)
    const digest = digestIn(plan, value)
    if (digest === before || digest === after) continue
    const path = places.pathOf(at)
    return `${node === undefined ? "" : `'${node}' `}${path} has changed since the plan: planned ${values}, now ${
      places.brief(shown)
    }`
  }
  const known = new Map(planned.map((place) => [JSON.stringify(place.at), place.after]))
  const other = placesOf(now, after, plan).find((place) =>
    known.get(JSON.stringify(place.at)) !== digestIn(plan, place.after)
  )
  return other === undefined
    ? undefined
    : `the operations would now also change ${other.node === undefined ? "" : `'${other.node}' `}${
      other.path || other.kind
    }: ${other.values()}`
}
