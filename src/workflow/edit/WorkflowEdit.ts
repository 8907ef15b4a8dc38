/** Edits of a workflow, all or nothing; parts that no operation names stay as they are, even broken ones. */
import * as Result from "effect/Result"
import type { Obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Turn from "../../base/Turn.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { sparing } from "../check/CheckedWorkflow.ts"
import * as Upgrade from "../upgrade/Upgrade.ts"
import { tidy } from "./Arrangement.ts"
import * as Connect from "./connect.ts"
import * as Extract from "./extract.ts"
import * as Nodes from "./nodes.ts"
import type { Operation } from "./operation.ts"
import * as Rename from "./rename.ts"
import type { Added, Created, Edit, LongEdit, Lookups, Refusal, Report } from "./step.ts"
import * as Update from "./update.ts"
import * as Value from "./value.ts"

export { chain } from "./extract.ts"
export { faultAmong, type Fields, members, onWire, Operation, type OperationName } from "./operation.ts"
export type { Added, Created, Lookups, Refusal, Report } from "./step.ts"
export { occurrences } from "./value.ts"

export interface Edited {
  readonly workflow: Obj
  /** At least one line for each operation. */
  readonly changes: ReadonlyArray<string>
  /** Indexes of the lines of settings in `changes`. */
  readonly ofSettings: ReadonlySet<number>
  readonly added: ReadonlyArray<Added>
  readonly created: ReadonlyArray<Created>
  /** Nodes that an upgrade could not bring to the newest version. */
  readonly left: ReadonlyArray<Upgrade.Left>
  readonly reports: ReadonlyArray<Report>
}

const edits: { readonly [Op in Operation["op"]]: Edit<Op> | LongEdit<Op> } = {
  add: Nodes.add,
  update: Update.update,
  set: Value.set,
  replace: Value.replace,
  replaceNode: Nodes.replaceNode,
  rename: Rename.rename,
  remove: Rename.remove,
  enable: Update.toggle,
  disable: Update.toggle,
  move: Update.move,
  connect: Connect.connect,
  disconnect: Connect.disconnect,
  settings: Update.settings,
  name: Update.name,
  tidy,
  upgrade: Update.upgrade,
  extract: Extract.extract
}

/** Applies the operations in order; if one is refused, none is applied. Fields are such as `operations[2].node`. */
export const apply = (
  workflow: Obj,
  operations: ReadonlyArray<Operation>,
  lookups: Lookups
): Result.Result<Edited, Refusal> => Turn.finish(steps(workflow, operations, lookups))

/** {@link apply} in steps: an operation each, or a node of it. */
export const steps = function*(
  workflow: Obj,
  operations: ReadonlyArray<Operation>,
  given: Lookups
): Turn.Steps<Result.Result<Edited, Refusal>> {
  const lookups = sparing(given)
  const changes: Array<string> = []
  const ofSettings = new Set<number>()
  const added: Array<string> = []
  const removed: Array<readonly [line: number, name: string]> = []
  const created: Array<Created> = []
  const left: Array<Upgrade.Left> = []
  const reports: Array<Report> = []
  let current = workflow
  for (const [index, operation] of operations.entries()) {
    yield
    const edit = edits[operation.op] as Edit<Operation["op"]> | LongEdit<Operation["op"]>
    const work = edit(current, operation, lookups)
    const attempt = "next" in work ? yield* work : work
    if (Result.isFailure(attempt)) {
      const { field, ...refusal } = attempt.failure
      return Result.fail({ ...refusal, field: JsonPath.join(JsonPath.member("operations", index), field) })
    }
    const step = attempt.success
    current = step.workflow
    for (const change of step.changes) {
      if (step.isOfSettings === true) ofSettings.add(changes.length)
      changes.push(change)
    }
    if (step.added !== undefined) added.push(step.added)
    if (step.created !== undefined) created.push(step.created)
    left.push(...step.left ?? [])
    if (step.report !== undefined) reports.push(step.report)
    if (step.removed !== undefined) removed.push([changes.length - 1, step.removed])
  }
  // A later operation may have replaced the references.
  for (const [line, name] of removed) {
    yield
    changes[line] += Rename.stillNamed(current, name, lookups)
  }
  const nodes = new Map(Workflow.nodes(current).map((node) => [node["id"], node]))
  return Result.succeed({
    workflow: current,
    changes,
    ofSettings,
    created,
    left,
    reports,
    // A later operation may have removed a node.
    added: added.flatMap((id) => nodes.has(id) ? [{ id, name: Workflow.nameOf(nodes.get(id)) }] : [])
  })
}

/** Ids of existing workflows that extractions call, to be read before the edit. */
export const calleesOf = (operations: ReadonlyArray<Operation>): ReadonlyArray<string> =>
  operations.flatMap((each) => each.op === "extract" ? each.workflowId ?? [] : [])

export const typesOf = (
  workflow: Obj,
  operations: ReadonlyArray<{ readonly [key: string]: unknown }>
): ReadonlyArray<string> => [
  ...new Set([
    ...Workflow.typesOf(workflow),
    ...operations.flatMap((each) =>
      each["op"] === "extract"
        ? Extract.types
        : each["op"] === "upgrade"
        ? Upgrade.types(workflow)
        : Workflow.typeOf(each) || []
    )
  ])
]
