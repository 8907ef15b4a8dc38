/** Edits of a workflow, all or nothing; what no operation names stays as it is, be it broken. */
import * as Result from "effect/Result"
import type { Obj } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Add from "./add.ts"
import * as Connect from "./connect.ts"
import { disconnect } from "./disconnect.ts"
import type { Operation } from "./operation.ts"
import * as Rename from "./rename.ts"
import * as Step from "./step.ts"
import type { Added, Lookups, Refusal } from "./step.ts"
import { tidy } from "./tidy.ts"
import * as Update from "./update.ts"
import * as Value from "./value.ts"

export { Operation } from "./operation.ts"
export { replace } from "./replace.ts"
export type { Added, Lookups, Refusal } from "./step.ts"

/** What the operations made of the workflow. */
export interface Edited {
  readonly workflow: Obj
  /** At least one line for each operation. */
  readonly changes: ReadonlyArray<string>
  /** The new nodes, as they are named in the end. */
  readonly added: ReadonlyArray<Added>
}

/** The first operation that cannot be done; `field` is such as `operations[2].node`. */
export interface Refused extends Refusal {
  readonly operation: number
}

const step = (workflow: Obj, operation: Operation, lookups: Lookups): Step.Attempt<Step.Step> => {
  switch (operation.op) {
    case "add":
      return Add.add(workflow, operation, lookups)
    case "update":
      return Update.update(workflow, operation, lookups)
    case "set":
      return Value.set(workflow, operation, lookups)
    case "replace":
      return Value.replace(workflow, operation, lookups)
    case "rename":
      return Rename.rename(workflow, operation, lookups)
    case "remove":
      return Rename.remove(workflow, operation, lookups)
    case "enable":
    case "disable":
      return Update.toggle(workflow, operation, lookups)
    case "move":
      return Update.move(workflow, operation, lookups)
    case "connect":
      return Connect.connect(workflow, operation, lookups)
    case "disconnect":
      return disconnect(workflow, operation, lookups)
    case "settings":
      return Result.succeed(Update.settings(workflow, operation))
    case "name":
      return Update.name(workflow, operation)
    case "tidy":
      return Result.succeed(tidy(workflow, lookups))
  }
}

/** Does one operation after the other; if one cannot be done, none is. */
export const apply = (
  workflow: Obj,
  operations: ReadonlyArray<Operation>,
  lookups: Lookups
): Result.Result<Edited, Refused> =>
  Result.gen(function*() {
    const changes: Array<string> = []
    const added: Array<string> = []
    const removed: Array<readonly [line: number, name: string]> = []
    let current = workflow
    for (const [index, operation] of operations.entries()) {
      const made = yield* Result.mapError(step(current, operation, lookups), (refusal): Refused => ({
        operation: index,
        ...refusal,
        field: `operations[${index}].${refusal.field}`
      }))
      current = made.workflow
      changes.push(...made.changes)
      if (made.added !== undefined) added.push(made.added)
      if (made.removed !== undefined) removed.push([changes.length - 1, made.removed])
    }
    // A later operation may have replaced what named it.
    for (const [line, name] of removed) changes[line] += Rename.stillNamed(current, name, lookups)
    return { workflow: current, changes, added: added.flatMap((id) => Step.addedOf(current, id)) }
  })

/** The types that have to be looked up before: those that are added, and those there are. */
export const typesOf = (
  workflow: Obj,
  operations: ReadonlyArray<{ readonly [key: string]: unknown }>
): ReadonlyArray<string> => [
  ...new Set([...Workflow.typesOf(workflow), ...operations.flatMap((each) => Workflow.typeOf(each) || [])])
]
