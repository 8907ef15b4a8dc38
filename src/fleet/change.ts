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
import { type Operation, type Step, stepsFor, type Swap, upgraded } from "./Operations.ts"

/** Node with the fields that a write does not change on its own. */
const nodeOf = (node: Obj) => {
  const { createdAt: _, disabled, updatedAt: __, ...rest } = node
  return disabled === true ? { ...rest, disabled } : rest
}

/** Settings that n8n adds to a workflow that is written. */
const ofN8n = new Set(["callerPolicy", "availableInMCP", "executionOrder", "binaryMode"])

/** Whether operations may change a setting: those that n8n fills in itself only if an operation sets them. */
export const mayChange = (operations: ReadonlyArray<Operation>) => {
  const own = new Set(
    operations.flatMap(({ op, settings }) => op === "settings" ? Object.keys(obj(settings) ?? {}) : [])
  )
  return (key: string) => !ofN8n.has(key) || own.has(key)
}

/**
 * Returns the digest of the parts of a workflow that the operations may change: name, nodes, connections and settings.
 * It is the same for a list's entry, for the workflow itself, and after a write of the same content: only settings that
 * they {@link mayChange} count, and a setting at its default counts as unset.
 */
export const digester = (operations: ReadonlyArray<Operation>) => (workflow: Obj): string => {
  const isOwn = mayChange(operations)
  const settings = without(obj(workflow["settings"]) ?? {}, (value, key) => isUnset(value) || !isOwn(key))
  const connections = without(obj(workflow["connections"]) ?? {}, (value) => equals(value, {}))
  return sha256(canonical({
    name: workflow["name"],
    nodes: Workflow.nodes(workflow).map(nodeOf),
    connections,
    settings
  })).slice(0, 32)
}

/** Ids of new nodes that depend only on the plan and the workflow, so that the same change can be made again. */
const idsOf = (plan: string, workflow: string) => {
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
}

export interface Means {
  readonly plan: string
  readonly operations: ReadonlyArray<Operation>
  readonly swaps: ReadonlyArray<Swap | undefined>
  readonly lookups: Omit<WorkflowEdit.Lookups, "newId">
}

const decode = Schema.decodeUnknownResult(Schema.Array(WorkflowEdit.Operation))

/** Applies the operations in order; fails with the reason why this workflow is refused. */
export const make = function*(
  before: Obj,
  { lookups, operations, plan, swaps }: Means
): Turn.Steps<Result.Result<Changed, string>> {
  const own: WorkflowEdit.Lookups = { ...lookups, newId: idsOf(plan, String(before["id"])) }
  const steps: Array<Changed["steps"][number]> = []
  const left: Array<Left> = []
  let workflow = before
  for (const [operationIndex, operation] of operations.entries()) {
    if (operation.op === "upgrade") {
      const outcome = yield* upgraded(workflow, operation, lookups)
      steps.push(...outcome.steps.map((step) => ({ ...step, operationIndex })))
      left.push(...outcome.left)
      workflow = outcome.workflow
      continue
    }
    const ofNodes = stepsFor(workflow, operation, swaps[operationIndex])
    const edits = decode(ofNodes.map((step) => step.operation))
    if (Result.isFailure(edits)) return Result.fail(edits.failure.message)
    for (const [index, edit] of edits.success.entries()) {
      const edited = yield* WorkflowEdit.steps(workflow, [edit], own)
      if (Result.isFailure(edited)) {
        const { hint, message } = edited.failure
        return Result.fail(typeof hint === "string" ? `${message} ${hint}` : message)
      }
      const step = ofNodes[index]
      const next = edited.success.workflow
      if (step !== undefined && !equals(next, workflow)) steps.push({ ...step, operationIndex })
      workflow = next
    }
  }
  if (steps.length > 0) {
    const fault = Placeholders.fault(workflow, before)
    if (fault !== undefined) return Result.fail(fault)
    const { problems } = yield* newSteps(before, workflow, own)
    const problem = problems.find(({ severity }) => severity === "error")
    if (problem !== undefined) {
      return Result.fail(`${problem.node === undefined ? "" : `'${problem.node}': `}${problem.message}`)
    }
  }
  return Result.succeed({ workflow, steps, left })
}
