/** Creations, and the removal of what was created in vain. */
import * as Effect from "effect/Effect"
import * as Errors from "../../base/Errors.ts"
import { defined, isEmpty, type Obj, without } from "../../base/Json.ts"
import { mapStrings } from "../../base/JsonPath.ts"
import { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../../n8n/N8nClient.ts"
import { preview, puttingBack } from "../../n8n/WriteGuard.ts"
import type { Created } from "../../workflow/edit/WorkflowEdit.ts"
import * as Placeholders from "../../workflow/Placeholders.ts"
import { applied, checkParts, type Made, type Outcome, type Patch, type Publish } from "./Outcome.ts"
import { deleteUnpublished, type Progress, published, unpublished } from "./Publishing.ts"
import {
  adding,
  checkName,
  checkTags,
  type CompleteOptions,
  type Dependencies,
  explained,
  judged,
  keep,
  orWarning,
  tagged,
  target
} from "./steps.ts"
import { lostConnections, notInV1, prepare, taken, withoutRefused } from "./WorkflowBody.ts"

/** Creates a workflow: what n8n takes only for an existing one, and the publication, are later steps. */
export const create = Effect.fnUntraced(function*(
  dependencies: Dependencies,
  input: unknown,
  place: Obj,
  { dryRun = false, problems, publish, source }: CompleteOptions
) {
  const n8n = yield* N8nClient
  const whole = yield* Placeholders.restore(defined({ ...input as Obj }), undefined)
  yield* checkParts({ publish, settings: whole["settings"], tags: whole["tags"] })
  const { parts: all, warnings: omissions } = taken(
    without(whole, (value, key) => notInV1.has(key) && isEmpty(value)),
    yield* n8n.release
  )
  const { description, tags = [], ...parts } = all
  const names = Workflow.tagNames({ tags })
  const repaired = yield* Effect.provideService(prepare(parts, source), NodeCatalogue, dependencies.catalogue)
  const body = repaired.workflow
  yield* checkName(body.name)
  yield* checkTags(names)
  const outcome = (workflow: Workflow.Workflow, progress: Pick<Progress, "warnings">, isWritten: boolean) =>
    Effect.map(judged(dependencies, undefined, workflow, problems), ({ warnings: remarks, ...judgement }): Outcome => ({
      ...judgement,
      place: { kind: "n8n", id: workflow.id },
      before: workflow,
      workflow,
      result: undefined,
      patch: all,
      changed: "created",
      state: workflow.active ? "live" : "unpublished",
      inForce: [],
      held: [],
      hasDrafts: false,
      isReset: false,
      former: undefined,
      isWritten,
      made: [],
      warnings: [
        ...omissions,
        ...repaired.warnings,
        ...progress.warnings,
        ...remarks
      ]
    }))
  if (dryRun) {
    yield* preview({ after: { ...body } }, n8n.getWorkflow)
    const foreseen = applied({ id: "", active: false, ...body } as Workflow.Workflow, {
      tags: names,
      ...typeof description === "string" ? { description } : {}
    })
    return yield* outcome(foreseen, { warnings: [] }, false)
  }
  const posted = yield* withoutRefused(body, (body) => n8n.createWorkflow({ ...body as Workflow.New, ...place })).pipe(
    Effect.catchIf(Errors.isUncertain, (error) =>
      new Errors.ApiError({
        ...error,
        hint: { _tag: "LookForCreated", name: body.name }
      })),
    explained(dependencies, body)
  )
  let progress: Progress = posted
  if (typeof description === "string" && description !== "") {
    const { connections, name, nodes } = posted.workflow
    const next = { name, nodes, connections, settings: Workflow.settingsToName(posted.workflow), description }
    const step = Effect.map(n8n.putWorkflow(posted.workflow.id, next), (workflow) => ({ workflow, warnings: [] }))
    progress = yield* orWarning("created, but its description could not be set", progress, adding(progress, step))
  }
  if (names.length > 0) {
    progress = yield* orWarning("created, but its tags could not be set", progress, tagged(progress, names))
  }
  if (publish === "now") {
    const publishing = explained(dependencies, posted.workflow)(adding(progress, published(posted.workflow)))
    progress = yield* orWarning("created, but it could not be published", progress, publishing)
  }
  const workflow = yield* n8n.getWorkflow(posted.workflow.id).pipe(Effect.orElseSucceed(() => progress.workflow))
  return yield* outcome(workflow, { warnings: [...progress.warnings, ...lostConnections(body, workflow)] }, true)
})

const withIds = (nodes: Patch["nodes"], ids: ReadonlyMap<string, string>): Patch["nodes"] =>
  mapStrings(
    nodes,
    (text) => [...ids].reduce((result, [before, after]) => result.replaceAll(before, after), text)
  ) as Patch["nodes"]

export const withNewIds = (patch: Patch, ids: ReadonlyMap<string, string>): Patch =>
  ids.size === 0 || patch.nodes === undefined ? patch : { ...patch, nodes: withIds(patch.nodes, ids) ?? [] }

/** Creates the workflows that a changed one calls; n8n 2 runs them for a published caller only if they are published. */
export const createCalled = Effect.fnUntraced(function*(
  dependencies: Dependencies,
  created: ReadonlyArray<Created>,
  publish: Publish,
  made: Array<Made>
) {
  const isFirst = isV1(yield* N8nClient.use((n8n) => n8n.release))
  const ids = new Map<string, string>()
  for (const { id, workflow } of created) {
    const input = withNewIds(workflow as Patch, ids)
    const { warnings, workflow: stored } = yield* create(dependencies, input, {}, {
      operation: "create",
      source: "stored",
      publish: isFirst ? "keep" : "now",
      problems: "none"
    })
    made.push({ id: stored.id, name: stored.name, active: stored.active, warnings })
    ids.set(id, stored.id)
    if (publish === "valid" && !stored.active && !isFirst) {
      return yield* Errors.invalid(
        "publish",
        `The new workflow '${stored.name}' cannot be published: ${warnings.join("; ")}`,
        "Nothing was changed. Correct this in the same operations, or leave out publish."
      )
    }
  }
  return ids
})

/** Deletes a workflow; a published one is unpublished first, and published again if deleting fails. */
export const remove = Effect.fnUntraced(function*(dependencies: Dependencies, id: string) {
  const n8n = yield* N8nClient
  const before = yield* target(id)
  yield* keep(dependencies, before, "delete_workflow")
  if (!before.active) return yield* n8n.deleteWorkflow(id)
  yield* unpublished(id)
  yield* deleteUnpublished(id).pipe(
    Effect.catchTag(
      "ApiError",
      (error) =>
        puttingBack(n8n.publishWorkflow(id, before.activeVersionId ?? undefined)).pipe(
          Effect.matchEffect({
            onSuccess: () => error,
            onFailure: () =>
              Errors.withDetails(
                error,
                `${error.reason.details}. It is unpublished now: publishing it again failed too`
              )
          })
        )
    )
  )
})

/** Removes created workflows that the caller does not name; returns those that are still there. */
export const discard = Effect.fnUntraced(function*(dependencies: Dependencies, callerId: string, made: Array<Made>) {
  if (made.length === 0) return []
  const caller = yield* N8nClient.use((n8n) => n8n.getWorkflow(callerId)).pipe(Effect.option)
  const text = caller._tag === "None" ? undefined : JSON.stringify(caller.value)
  const remaining = yield* Effect.forEach(made.splice(0), (each) =>
    text === undefined || text.includes(`"${each.id}"`)
      ? Effect.succeed([each])
      : puttingBack(remove(dependencies, each.id)).pipe(
        Effect.as([]),
        Effect.orElseSucceed(() => [each])
      ))
  return remaining.flat()
})

/** Removes created workflows if the effect fails or is interrupted; names those that could not be removed. */
export const discarding =
  (dependencies: Dependencies, callerId: string, made: Array<Made>) =>
  <A, R>(effect: Effect.Effect<A, Errors.N8nError, R>) =>
    effect.pipe(
      Effect.catch((error) =>
        Effect.flatMap(Effect.uninterruptible(discard(dependencies, callerId, made)), (remaining) =>
          Effect.fail(
            remaining.length === 0 ? error : Errors.advised(error, {
              after: `The new workflow ${
                remaining.map(({ id, name }) => `'${name}' (${id})`).join(", ")
              } is still there: ` +
                `if workflow '${callerId}' does not call it, delete it.`
            })
          ))
      ),
      Effect.onInterrupt(() => Effect.ignore(discard(dependencies, callerId, made)))
    )
