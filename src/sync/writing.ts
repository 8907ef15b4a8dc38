/** Writes contents to n8n. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Errors from "../base/Errors.ts"
import { type Obj, obj } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import * as Schedules from "../workflow/Schedules.ts"
import { isCounted } from "../workflows/store/Publishing.ts"
import { WorkflowStore } from "../workflows/store/WorkflowStore.ts"
import * as content from "./content.ts"
import * as Locals from "./locals.ts"

export const isConnectionLost = (error: Errors.N8nError): boolean =>
  Errors.statusOf(error) === 401 || Errors.isUncertain(error) && error.reason._tag !== "Status"

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

/** Creates a workflow; its description follows, since n8n accepts that only for an existing one. */
export const create = Effect.fnUntraced(function*(target: Obj, operation: string, publishes: boolean) {
  const store = yield* WorkflowStore
  const { description, tags, ...body } = target
  const names = Array.isArray(tags) ? tags.map(String) : undefined
  const written = yield* store.create(body, { source: "file", tags: names, active: publishes })
  if (description === undefined) return written
  const { workflow } = yield* store.update(written.workflow.id, { description: description as string }, {
    operation,
    source: "file"
  })
  return { ...written, workflow }
})

/** Writes the differences, provided that the workflow has not changed since it was compared. */
export const update = Effect.fnUntraced(function*(
  { id, tags }: { readonly id: string; readonly tags?: Workflow.Workflow["tags"] | undefined },
  target: Obj,
  { expectedHash, operation, publishes, scope }: {
    readonly expectedHash: string
    readonly operation: string
    readonly publishes: boolean
    readonly scope: content.Scope
  }
) {
  return yield* (yield* WorkflowStore).modify(id, (before) =>
    Effect.map(
      Locals.unchanged(`Workflow '${id}'`, before, expectedHash, scope),
      (now) => ({ patch: content.patch(now, target, scope), result: undefined })
    ), {
    operation,
    source: "file",
    tags: content.tagPatch(content.of({ tags }, scope), target),
    active: publishes ? true : undefined,
    isDraft: !publishes
  })
})

/** Whether n8n refused to publish a workflow that was to be published; n8n 1.x has nothing to publish without a trigger. */
export const isRefused = (workflow: Workflow.Workflow, { isV1 }: content.Scope): boolean =>
  (!workflow.active || Workflow.hasDraft(workflow)) && !(isV1 && !workflow.nodes.some(isCounted))

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
