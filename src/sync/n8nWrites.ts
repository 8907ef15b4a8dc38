/** Writes contents to n8n. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Batch from "../base/Batch.ts"
import * as Errors from "../base/Errors.ts"
import { type Obj, obj } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import * as Schedules from "../workflow/Schedules.ts"
import * as ReferenceProblems from "../workflows/ReferenceProblems.ts"
import { isCounted } from "../workflows/store/Publishing.ts"
import { type Outcome, type Patch, WorkflowStore } from "../workflows/store/WorkflowStore.ts"
import * as content from "./content.ts"
import * as Locals from "./locals.ts"

/** Reason why no other write is begun after this error: n8n does not answer, or takes the key no more. */
const lost = (error: Errors.N8nError): string | undefined =>
  Errors.statusOf(error) === 401 || Errors.isUncertain(error) && error.reason._tag !== "Status"
    ? Errors.inOneLine(error)
    : undefined

/**
 * Writes one workflow after another within the time of the call, as long as n8n answers. Each that was begun has an
 * outcome, reported by `onStep`: a write without an answer, too.
 */
export const writeAll = Effect.fnUntraced(function*<
  A,
  B extends { readonly name: string; readonly error?: Errors.N8nError },
  R,
  R2
>(
  tasks: ReadonlyArray<A>,
  { entryOf, isContinued, onStep }: {
    readonly entryOf: (task: A) => B
    readonly isContinued?: boolean
    readonly onStep: (outcome: B) => Effect.Effect<void, never, R2>
  },
  write: (task: A) => Effect.Effect<B, Errors.N8nError, R>
) {
  const outcomes = new Map<A, B>()
  const { stopped } = yield* Batch.run(tasks, {
    ...Locals.bounds,
    isContinued,
    stopIf: lost,
    message: (_, __, task) => entryOf(task).name
  }, (task) =>
    Effect.gen(function*() {
      const result = yield* Effect.result(write(task))
      const outcome = result._tag === "Success" ? result.success : { ...entryOf(task), error: result.failure }
      outcomes.set(task, outcome)
      yield* onStep(outcome)
      return yield* Effect.fromResult(result)
    }))
  return { outcomes, remaining: tasks.length - outcomes.size, isStopped: stopped !== undefined }
})

/** Waits for a workflow that n8n may still be creating after a request whose answer was lost. */
const arrival = { schedule: Schedule.spaced("2 seconds"), times: 5 }

/**
 * Workflow that an earlier call began to create without getting an answer: of this name, with the ids of these nodes,
 * and no one else's. Looked for until it is there, or is not expected any more.
 */
export const begun = Effect.fnUntraced(function*(target: Obj, isKnown: (id: string) => boolean) {
  const n8n = yield* N8nClient
  const ids = Locals.nodeIds(target)
  const arrived = yield* n8n.listWorkflows({ fullName: String(target["name"]) }).pipe(
    Effect.map(({ workflows }) => workflows.find((each) => !isKnown(each.id) && Locals.hasNodes(each, ids))),
    Effect.repeat({ ...arrival, until: (workflow) => workflow !== undefined })
  )
  return arrived && (yield* n8n.getWorkflow(arrived.id))
})

export interface Options {
  readonly operation: string
  readonly publishes: boolean
  readonly dryRun?: boolean | undefined
}

export const create = (target: Obj, { dryRun, operation, publishes }: Options) =>
  WorkflowStore.use((store) =>
    store.write({ kind: "new" }, target, {
      operation,
      dryRun,
      source: "file",
      publish: publishes ? "now" : "keep",
      problems: "nodes"
    })
  )

/**
 * Writes the differences, provided that the workflow has not changed since it was compared. Without publication, of a
 * published workflow only those that wait as a draft.
 */
export const update = (
  id: string,
  target: Obj,
  { dryRun, expectedHash, operation, publishes, scope }: Options & {
    readonly expectedHash: string
    readonly scope: content.Scope
  }
) =>
  WorkflowStore.use((store) =>
    store.write({ kind: "n8n", id }, (before) =>
      Effect.map(
        Locals.unchanged(`Workflow '${id}'`, before, expectedHash, scope),
        (now): Patch => content.patch(now, target, scope)
      ), {
      operation,
      dryRun,
      source: "file",
      publish: publishes ? "now" : "hold",
      problems: "nodes"
    })
  )

/** Whether n8n refused to publish a workflow that was to be published; n8n 1.x has nothing to publish without a trigger. */
export const isRefused = ({ state, workflow }: Outcome, { isV1 }: content.Scope): boolean =>
  state !== "live" && !(isV1 && !workflow.nodes.some(isCounted))

/** Errors that a write brought, as warnings. */
export const problems = ({ problems }: Outcome): ReadonlyArray<string> =>
  problems.filter(({ severity }) => severity === "error").map(ReferenceProblems.sentence)

const extraSettings = (target: Obj, workflow: Workflow.Workflow, scope: content.Scope): ReadonlyArray<string> => {
  const settings = obj(target["settings"])
  const own = scope.isV1 ? ["callerPolicy", "availableInMCP"] : []
  return settings === undefined ?
    [] :
    Object.keys(obj(content.of(workflow, scope)["settings"]) ?? {}).filter((key) =>
      !Object.hasOwn(settings, key) && !own.includes(key)
    )
}

/**
 * Remarks on a written workflow: settings that n8n keeps, schedules that never start it, which a publication names
 * itself, and changes that run although they were not to be published.
 */
export const remarks = (
  target: Obj,
  workflow: Workflow.Workflow,
  scope: content.Scope,
  { isNew, publishes }: { readonly isNew: boolean; readonly publishes: boolean }
): ReadonlyArray<string> => {
  const extra = extraSettings(target, workflow, scope)
  const isDraft = !isNew && !publishes
  const idle = publishes ?
    [] :
    workflow.nodes.filter(({ disabled }) => disabled !== true).flatMap((node) =>
      Schedules.never({ ...node }, scope.isV1).map(({ why }) => `n8n never starts it by '${node.name}': ${why}`)
    )
  return [
    ...idle,
    ...(extra.length === 0 ? [] : [`n8n keeps settings that a file leaves out: ${extra.join(", ")}`]),
    ...(isDraft && workflow.active && !scope.writesDrafts
      ? ["this n8n's API has no drafts: the pushed workflow runs immediately"]
      : [])
  ]
}
