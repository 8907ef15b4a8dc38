/** Change of one of many workflows by bulk operations, exactly repeatable. Pure. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { sha256 } from "../../base/Hash.ts"
import { canonical, equals, type Obj, obj, without } from "../../base/Json.ts"
import * as Turn from "../../base/Turn.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { newProblems } from "../check/WorkflowProblems.ts"
import * as WorkflowEdit from "../edit/WorkflowEdit.ts"
import { isUnset } from "../store/FormerSettings.ts"
import type { Left } from "../upgrade/Upgrade.ts"
import { type Operation, type Step, stepsFor, type Swap, upgraded } from "./Operations.ts"

/** Node with the fields that a write does not change on its own. */
const nodeOf = (node: Obj) => {
  const { createdAt: _, disabled, updatedAt: __, ...rest } = node
  return disabled === true ? { ...rest, disabled } : rest
}

/** Settings that n8n adds to a workflow that is written. */
const ofN8n = new Set(["callerPolicy", "availableInMCP", "executionOrder", "binaryMode"])

const settingsIn = (operations: ReadonlyArray<Operation>) =>
  operations.flatMap(({ op, settings }) => op === "settings" ? Object.keys(obj(settings) ?? {}) : [])

/**
 * Returns the digest of the parts of a workflow that the operations may change: name, nodes, connections and settings.
 * It is the same for a list's entry, for the workflow itself, and after a write of the same content: settings that n8n
 * fills in itself count only if an operation sets them, and a setting at its default counts as unset.
 */
export const digester = (operations: ReadonlyArray<Operation>) => (workflow: Obj): string => {
  const own = new Set(settingsIn(operations))
  const isLeftOut = (value: unknown, key: string) => isUnset(value) || ofN8n.has(key) && !own.has(key)
  const settings = without(obj(workflow["settings"]) ?? {}, isLeftOut)
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
export const make = function*(before: Obj, means: Means): Turn.Steps<Result.Result<Changed, string>> {
  const newId = idsOf(means.plan, String(before["id"]))
  const changed = edited(before, means, newId)
  if (Result.isFailure(changed) || changed.success.steps.length === 0) return changed
  yield
  const lookups: WorkflowEdit.Lookups = { ...means.lookups, newId }
  const { problems } = yield* newProblems(before, changed.success.workflow, lookups)
  const problem = problems.find(({ severity }) => severity === "error")
  return problem === undefined
    ? changed
    : Result.fail(`${problem.node === undefined ? "" : `'${problem.node}': `}${problem.message}`)
}

const edited = (
  before: Obj,
  { lookups, operations, swaps }: Means,
  newId: () => string
): Result.Result<Changed, string> =>
  Result.gen(function*() {
    const steps: Array<Changed["steps"][number]> = []
    const left: Array<Left> = []
    let workflow = before
    for (const [operationIndex, operation] of operations.entries()) {
      if (operation.op === "upgrade") {
        const outcome = upgraded(workflow, operation, lookups)
        steps.push(...outcome.steps.map((step) => ({ ...step, operationIndex })))
        left.push(...outcome.left)
        workflow = outcome.workflow
        continue
      }
      const own = stepsFor(workflow, operation, swaps[operationIndex])
      const edits = yield* Result.mapError(decode(own.map((step) => step.operation)), ({ message }) => message)
      for (const [index, edit] of edits.entries()) {
        const edited = yield* Result.mapError(
          WorkflowEdit.apply(workflow, [edit], { ...lookups, newId }),
          ({ hint, message }) => typeof hint === "string" ? `${message} ${hint}` : message
        )
        const step = own[index]
        if (step !== undefined && !equals(edited.workflow, workflow)) steps.push({ ...step, operationIndex })
        workflow = edited.workflow
      }
    }
    return { workflow, steps, left }
  })
