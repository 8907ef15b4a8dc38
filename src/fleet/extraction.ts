/** Extractions from many workflows: equal chains become one sub-workflow, which the batch creates once. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Errors from "../base/Errors.ts"
import { defined, equals, type Obj, str } from "../base/Json.ts"
import * as Rows from "../base/Rows.ts"
import * as Turn from "../base/Turn.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import * as WorkflowEdit from "../workflow/edit/WorkflowEdit.ts"
import { WorkflowStore } from "../workflows/store/WorkflowStore.ts"
import * as Change from "./change.ts"
import { stepsFor } from "./Operations.ts"
import * as Plans from "./Plans.ts"

const Extraction = Schema.Struct({
  nodes: Schema.Array(Schema.String),
  name: Schema.optionalKey(Schema.String)
})

const decode = Schema.decodeUnknownResult(Extraction)

/** Chain of a workflow that an operation extracts, after the operations before it. */
const chainOf = function*(workflow: Obj, context: Change.Context, index: number) {
  const before = yield* Change.make(workflow, { ...context, operations: context.operations.slice(0, index) })
  const operation = context.operations[index]
  if (Result.isFailure(before) || operation === undefined) return []
  const [step] = stepsFor(before.success.workflow, operation, undefined)
  const input = step && decode(step.operation)
  if (input === undefined || Result.isFailure(input)) return []
  const newId = Change.idsOf(context.id, `sub-workflow ${index}`)
  const chain = WorkflowEdit.chain(before.success.workflow, input.success, { ...context.lookups, newId })
  return Result.isFailure(chain) ? [] : [chain.success]
}

/** Adds the sub-workflows that extractions without a `workflowId` create: each is the chain of the most workflows. */
export const planned = Effect.fnUntraced(function*<C extends Change.Context>(
  context: C,
  workflows: ReadonlyArray<Workflow.Listed>
) {
  const created: Array<Plans.Created> = []
  for (const [index, operation] of context.operations.entries()) {
    if (operation.op !== "extract" || operation.workflowId !== undefined) continue
    const chains = yield* Effect.forEach(
      workflows,
      (workflow) => Turn.run(() => chainOf({ ...workflow }, { ...context, created }, index))
    )
    const [most] = Rows.grouped(chains.flat(), ({ key }) => key).toSorted((a, b) => b.count - a.count)
    if (most !== undefined) {
      const workflow = most.first.workflow as Plans.Created["workflow"]
      created.push({ operation: index, key: `${context.id}/${index}`, workflow })
    }
  }
  return created.length === 0 ? context : { ...context, created }
})

/** Sub-workflow that an earlier call has created without getting an answer. */
const begun = Effect.fnUntraced(function*({ workflow }: Plans.Created) {
  const name = str(workflow["name"]) ?? ""
  const ids = (of: Obj) => Workflow.nodes(of).map((node) => node["id"])
  const all = yield* Stream.runCollect(
    N8nClient.use((n8n) => Effect.succeed(n8n.streamWorkflows({ fullName: name }))).pipe(Stream.unwrap)
  )
  return all.find((each) => equals(ids({ ...each }), ids(workflow)))?.id
})

/** Creates the sub-workflows of a plan that are not there yet; n8n 2 runs them for a published caller only if published. */
export const create = Effect.fnUntraced(function*<C extends Change.Context>(plan: Plans.Plan, context: C) {
  const ids = new Map((plan.created ?? []).map(({ id, key }) => [key, id]))
  const current = () =>
    plan.created === undefined
      ? plan
      : { ...plan, created: plan.created.map((each) => defined({ ...each, id: ids.get(each.key) })) }
  for (const each of plan.created ?? []) {
    if (each.id) continue
    const save = (id: string) => {
      ids.set(each.key, id)
      return Plans.save(current())
    }
    const known = each.id === undefined ? undefined : yield* begun(each)
    if (known !== undefined) {
      yield* save(known)
      continue
    }
    yield* save("")
    const isFirst = isV1(yield* N8nClient.use((n8n) => n8n.release))
    const { workflow } = yield* WorkflowStore.use((store) =>
      store.write({ kind: "new" }, each.workflow, {
        operation: "bulk_edit",
        source: "stored",
        publish: isFirst ? "keep" : "now",
        problems: "none"
      })
    )
    yield* save(workflow.id)
    if (!workflow.active && !isFirst) {
      return yield* Errors.invalid(
        "operations",
        `The sub-workflow '${workflow.name}' (${workflow.id}) was created, but cannot be published`,
        "No caller was changed. Fix and publish it, then apply the plan again."
      )
    }
  }
  const { created } = current()
  return { plan: current(), context: created === undefined ? context : { ...context, created } }
})
