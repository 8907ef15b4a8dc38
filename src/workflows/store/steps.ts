/** The steps of a write: put, publish, tag, activate, read back. */
import * as Effect from "effect/Effect"
import * as Errors from "../../base/Errors.ts"
import type { Obj } from "../../base/Json.ts"
import * as Turn from "../../base/Turn.ts"
import { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import * as Placeholders from "../../workflow/Placeholders.ts"
import {
  type Change,
  checkName,
  decided,
  isSameVersion,
  isWritten,
  type Means,
  type Modified,
  moved,
  overwritten,
  type UpdateOptions,
  type Written
} from "./change.ts"
import {
  afterUncertain,
  type Progress,
  published,
  publishedWaiting,
  publishOrPutBack,
  takeBack,
  unpublished
} from "./Publishing.ts"
import { badRequest, lostConnections, prepare, withoutRefused } from "./WorkflowBody.ts"

/** Turns the failure of a later step into a warning, so that the caller learns what was written. */
const orWarning = <R>(what: string, progress: Progress, step: Effect.Effect<Progress, Errors.N8nError, R>) =>
  Effect.catch(
    step,
    (error) =>
      Effect.succeed<Progress>({ ...progress, warnings: [...progress.warnings, `${what}: ${Errors.reasonOf(error)}`] })
  )

/** Reads the workflow; falls back to its state after the last step. */
export const readBack = ({ warnings, workflow }: Progress): Effect.Effect<Progress, never, N8nClient> =>
  N8nClient.use((n8n) => n8n.getWorkflow(workflow.id)).pipe(
    Effect.map((now) => ({ workflow: now, warnings })),
    Effect.catch((error) =>
      Effect.succeed({
        workflow,
        warnings: [...warnings, `done, but it could not be read back: ${Errors.reasonOf(error)}`]
      })
    )
  )

const tagged = ({ warnings, workflow }: Progress, tags: ReadonlyArray<string>) =>
  Effect.as(N8nClient.use((n8n) => n8n.setWorkflowTags(workflow.id, tags)), { warnings, workflow })

const adding = <E, R>({ warnings }: Progress, step: Effect.Effect<Progress, E, R>) =>
  Effect.map(step, (next): Progress => ({ workflow: next.workflow, warnings: [...warnings, ...next.warnings] }))

export const create = ({ catalogue }: Means) =>
  Effect.fn("WorkflowStore.create")(function*(
    input: unknown,
    { active, place, source, tags = [] }: Pick<UpdateOptions, "source" | "tags" | "active"> & { readonly place?: Obj }
  ) {
    const n8n = yield* N8nClient
    const { warnings, workflow: body } = yield* Effect.provideService(
      prepare((yield* Placeholders.restore({ input }, undefined))["input"], source),
      NodeCatalogue,
      catalogue
    )
    yield* checkName(body.name)
    const posted = yield* withoutRefused(body, (body) => n8n.createWorkflow({ ...body, ...place })).pipe(
      Effect.catchIf(Errors.isUncertain, (error) =>
        new Errors.ApiError({
          ...error,
          hint: { _tag: "LookForCreated", name: body.name }
        }))
    )
    let progress: Progress = posted
    if (tags.length > 0) {
      progress = yield* orWarning("created, but its tags could not be set", progress, tagged(progress, tags))
    }
    if (active === true) {
      const publishing = adding(progress, published(posted.workflow))
      progress = yield* orWarning("created, but it could not be published", progress, publishing)
    }
    const workflow = yield* n8n.getWorkflow(posted.workflow.id).pipe(Effect.orElseSucceed(() => progress.workflow))
    return {
      workflow,
      warnings: [...warnings, ...progress.warnings, ...lostConnections(body, workflow)]
    } satisfies Written
  })

/** Sends a `PUT`; if the answer is lost, reads whether it was applied. */
const put = Effect.fnUntraced(function*(
  { snapshots }: Means,
  before: Workflow.Workflow,
  body: Obj,
  active: boolean | undefined
) {
  const n8n = yield* N8nClient
  // A draft of someone else is not published.
  const publishes = active === true || !Workflow.hasDraft(before)
  return yield* withoutRefused(body, (body) => n8n.putWorkflow(before.id, body, { publishes })).pipe(
    Effect.catchIf(Errors.isUncertain, (error) =>
      Effect.flatMap(afterUncertain(before.id, error), (now) => {
        // First, because `isWritten` ignores settings and credentials.
        if (isSameVersion(now, before, Object.keys(body))) return Effect.fail(error)
        return isWritten(now, body)
          ? Effect.succeed({ workflow: now, warnings: [] })
          : moved(snapshots, before.versionId ?? "?", now, before)
      }))
  )
})

/** Writes the body; a published workflow is published again, unless a draft is requested or was waiting before. */
const putAndPublish = Effect.fnUntraced(function*(
  means: Means,
  { before, body, patch }: { readonly before: Workflow.Workflow; readonly body: Obj; readonly patch: Obj },
  { active, isAllOrNothing = false, isDraft = false }: UpdateOptions
) {
  const { warnings: refused, workflow: after } = yield* put(means, before, body, active).pipe(
    Effect.catchIf(badRequest, (error) => before.active ? takeBack(before, patch, error) : Effect.fail(error))
  )
  const progress: Progress = { workflow: after, warnings: [...refused, ...yield* overwritten(before, after)] }
  // Publishing would also publish a draft that was waiting before, perhaps of someone else.
  const waits = isDraft || Workflow.hasDraft(before) && active !== true
  const isPublished = before.active ? Workflow.hasDraft(after) && !waits : active === true && isAllOrNothing
  return isPublished
    ? yield* adding(progress, publishOrPutBack(before, after, patch))
    : progress
})

const switched = (progress: Progress, active: boolean | undefined) => {
  const { workflow } = progress
  if (active === true && Workflow.awaitsPublishing(workflow)) {
    return { refused: "written, but it could not be published", step: adding(progress, publishedWaiting(workflow)) }
  }
  if (active === false && workflow.active) {
    const off = Effect.map(unpublished(workflow.id), (workflow): Progress => ({ ...progress, workflow }))
    return { refused: "written, but it could not be unpublished", step: off }
  }
  return undefined
}

/** Changes between the versions that run before and after a publication; `undefined` if there are none. */
export const wentLive = (before: Workflow.Workflow, now: Workflow.Workflow): string | undefined => {
  const former = Workflow.running(before) ?? (Workflow.hasDraft(before) ? undefined : before)
  if (!before.active || former === undefined) return undefined
  const diff = WorkflowDiff.make(former, Workflow.running(now) ?? now)
  const changed = WorkflowDiff.line(diff, 10)
  return changed === "nothing" ? undefined : changed
}

/** Fails although n8n accepted a publication. */
export const notPublished = ({ active, activeVersionId, id }: Workflow.Workflow) =>
  new Errors.ApiError({
    operation: "publish workflow",
    resourceType: "Workflow",
    resourceId: id,
    reason: new Errors.NotApplied({
      details: active
        ? `n8n accepted it, but runs version ${activeVersionId ?? "?"}`
        : "n8n accepted it, but the workflow is not published"
    }),
    hint: { _tag: "ReadAgain" }
  })

/**
 * Changes by a write, and whether the written version runs. If nothing was written and a draft was published, the
 * changes are those to the version that ran before. A draft that was reset to what runs is not a publication.
 */
export const outcome = (
  before: Workflow.Workflow,
  now: Workflow.Workflow,
  written?: string | null
): Pick<Written, "changed" | "published" | "isReset"> => {
  const runs = now.active && (!Workflow.hasDraft(now) || now.activeVersionId === written)
  const since = written === undefined && runs && Workflow.hasDraft(before) ? Workflow.running(before) : undefined
  const isReset = runs && Workflow.hasDraft(before) && now.activeVersionId === before.activeVersionId
  return {
    changed: WorkflowDiff.line(WorkflowDiff.make(since ?? before, now)),
    ...(isReset ? { isReset } : now.active ? { published: runs } : {})
  }
}

export const write = Effect.fnUntraced(function*<A, R>(
  means: Means,
  id: string,
  make: Change<A, R>,
  options: UpdateOptions,
  retries: number
): Effect.fn.Return<Modified<A>, Errors.N8nError, N8nClient | R> {
  const change = yield* decided(means, id, make, options, retries)
  const { before, body, isPut, result } = change
  const { active, tags } = options
  let progress: Progress = { workflow: before, warnings: change.warnings }
  let versionId: string | null | undefined
  if (isPut) {
    progress = yield* adding(progress, putAndPublish(means, change, options))
    versionId = progress.workflow.versionId
  }
  if (tags !== undefined) {
    const step = tagged(progress, tags)
    progress = yield* isPut ? orWarning("the tags could not be set", progress, step) : step
  }
  const switching = switched(progress, active)
  if (switching !== undefined) {
    const { refused, step } = switching
    progress = yield* isPut || tags !== undefined ? orWarning(refused, progress, step) : step
  }
  const { warnings, workflow } = yield* readBack(progress)
  yield* Turn.pause
  return {
    before,
    result,
    // Someone else may have written since: the caller knows only the version that it wrote.
    workflow: versionId === undefined ? workflow : { ...workflow, versionId },
    warnings: isPut ? [...warnings, ...lostConnections(body, workflow)] : warnings,
    ...outcome(before, workflow, versionId)
  }
})
