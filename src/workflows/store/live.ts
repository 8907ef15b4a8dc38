/** Writes on n8n: read, change, look again, put, publish, tag, read back. */
import * as Effect from "effect/Effect"
import type { Hint } from "../../base/Advice.ts"
import * as Errors from "../../base/Errors.ts"
import { equals, type Obj } from "../../base/Json.ts"
import * as Rows from "../../base/Rows.ts"
import * as Turn from "../../base/Turn.ts"
import { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isV1, N8nClient, writesDrafts } from "../../n8n/N8nClient.ts"
import { preview } from "../../n8n/WriteGuard.ts"
import * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import * as Placeholders from "../../workflow/Placeholders.ts"
import * as Schedules from "../../workflow/Schedules.ts"
import * as WorkflowValidation from "../WorkflowValidation.ts"
import { isConflict, isSameVersion, isWritten, moved, overwritten } from "./conflict.ts"
import { createCalled, discard, discarding, withNewIds } from "./create.ts"
import { settingsToWrite } from "./FormerSettings.ts"
import {
  applied,
  checkParts,
  difference,
  inForce,
  isOfVersion,
  type Made,
  missingParts,
  type Modification,
  type Options,
  type Outcome,
  type Publish,
  split,
  stateOf
} from "./Outcome.ts"
import {
  afterUncertain,
  type Progress,
  published,
  publishedWaiting,
  publishOrPutBack,
  takeBack,
  unpublished,
  waitingVersion
} from "./Publishing.ts"
import {
  adding,
  checkName,
  checkTags,
  type CompleteOptions,
  type Dependencies,
  explained,
  judged,
  keep,
  type MakeChange,
  orWarning,
  readBack,
  tagged,
  target
} from "./steps.ts"
import { badRequest, lostConnections, merge, taken, withoutRefused } from "./WorkflowBody.ts"

/** Fails unless the changed workflow may be published: it is valid, and no draft of someone else waits. */
const checkPublishing = Effect.fnUntraced(
  function*({ catalogue }: Dependencies, before: Workflow.Workflow, { created = [], patch }: Modification<unknown>) {
    const refuse = (reason: string, hint: Hint) =>
      Errors.invalid("publish", reason, ["Nothing was written.", hint].flat())
    if (Workflow.hasDraft(before)) {
      return yield* refuse("An unpublished draft waits, perhaps with someone else's changes", {
        _tag: "PublishDraft",
        workflowId: before.id
      })
    }
    // The new workflows do not exist yet.
    const own = withNewIds(patch, new Map(created.map(({ id }) => [id, before.id])))
    const faults = yield* Effect.forEach(
      [applied(before, own), ...created.map((each) => each.workflow)],
      WorkflowValidation.faults
    ).pipe(Effect.provideService(NodeCatalogue, catalogue))
    if (faults.flat().length === 0) return
    return yield* refuse(
      `The result is not valid: ${WorkflowValidation.inWords(faults.flat())}`,
      "Correct this in the same operations, or leave out publish."
    )
  }
)

/** Reads the workflow, makes the change, and prepares its body; a dry run ends here. */
const decideOnce = Effect.fnUntraced(function*<A, R>(
  dependencies: Dependencies,
  id: string,
  make: MakeChange<A, R>,
  made: Array<Made>,
  { dryRun = false, expected, operation, publish: usual = "keep", source }: CompleteOptions
) {
  const n8n = yield* N8nClient
  const before = yield* target(id)
  if (before.isArchived === true) {
    return yield* Errors.invalid(
      "id",
      `Workflow '${id}' is archived`,
      "Nothing was written. Unarchive it in n8n first."
    )
  }
  const seen = typeof expected === "string" ? expected : expected?.versionId ?? undefined
  if (seen !== undefined && seen !== before.versionId) return yield* moved(dependencies.snapshots, seen, before)
  const modification = yield* make(before)
  const { created = [], publish = usual, result } = modification
  if (typeof expected === "object") {
    if (!isSameVersion(before, expected, Object.keys(modification.patch))) {
      return yield* moved(dependencies.snapshots, expected.versionId ?? "?", before, expected)
    }
  }
  if (publish === "valid") yield* checkPublishing(dependencies, before, modification)
  // Someone else has written since: this is a second attempt.
  yield* discard(dependencies, id, made)
  const ids = dryRun ? new Map<string, string>() : yield* createCalled(dependencies, created, publish, made)
  const release = yield* n8n.release
  const hasDrafts = writesDrafts(release)
  const { settings } = modification.patch
  yield* checkParts({ settings })
  const { parts: whole, warnings: omissions } = taken({
    ...withNewIds(modification.patch, ids),
    ...settings === undefined ? {} : { settings: settingsToWrite(before.settings, settings, isV1(release)) }
  }, release)
  const { held, patch } = publish === "hold" && hasDrafts && before.active
    ? split(before, whole)
    : { held: [], patch: whole }
  const { tags, ...parts } = patch
  if (parts.name !== before.name) yield* checkName(parts.name)
  yield* checkParts({ publish, tags })
  yield* checkTags(tags ?? [])
  const { body, warnings: repairs } = yield* Effect.provideService(
    merge(before, { ...parts }, source),
    NodeCatalogue,
    dependencies.catalogue
  )
  const changed = missingParts(before, Object.fromEntries(Object.keys(parts).map((key) => [key, body[key]])))
  const isPut = Object.keys(changed).length > 0
  const retagged = tags === undefined || Object.keys(missingParts(before, { tags })).length === 0 ? undefined : tags
  const decision = {
    before,
    body,
    changed,
    created,
    hasDrafts,
    held,
    isPut,
    patch,
    publish,
    result,
    tags: retagged,
    warnings: [...omissions, ...repairs]
  }
  if (dryRun) {
    for (const { workflow } of created) {
      yield* Placeholders.restore(workflow, undefined)
      yield* preview({ after: workflow }, n8n.getWorkflow)
    }
    if (isPut) yield* preview({ before, after: applied(before, changed) }, n8n.getWorkflow)
    return decision
  }
  if (!isPut && retagged === undefined) return decision
  yield* keep(dependencies, before, operation)
  if (isPut) {
    // The lock is for our own writers only, and n8n's PUT has no precondition: only a second look, after looking up
    // nodes and storing the snapshot, protects the changes of others.
    const now = yield* n8n.getWorkflow(id)
    if (!isSameVersion(now, before, Object.keys(parts))) {
      return yield* moved(dependencies.snapshots, before.versionId ?? "?", now, before)
    }
  }
  return decision
})

type Decision<A> = Effect.Success<ReturnType<typeof decideOnce<A, never>>>

const isWanted = (publish: Publish) => publish === "now" || publish === "valid"

/** Sends a `PUT`; if the answer is lost, reads whether it was applied. */
const put = Effect.fnUntraced(
  function*({ snapshots }: Dependencies, before: Workflow.Workflow, body: Obj, publish: Publish) {
    const n8n = yield* N8nClient
    // A draft of someone else is not published.
    const publishes = isWanted(publish) || !Workflow.hasDraft(before)
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
  }
)

/** Writes the body; a published workflow is published again, unless a draft is requested or was waiting before. */
const putAndPublish = Effect.fnUntraced(function*<A>(
  dependencies: Dependencies,
  { before, body, changed, publish }: Decision<A>
) {
  const { warnings: refused, workflow: after } = yield* put(dependencies, before, body, publish).pipe(
    Effect.catchIf(badRequest, (error) => before.active ? takeBack(before, changed, error) : Effect.fail(error))
  )
  const progress: Progress = { workflow: after, warnings: [...refused, ...yield* overwritten(before, after)] }
  // Publishing would also publish a draft that was waiting before, perhaps of someone else.
  const waits = publish === "draft" || publish === "hold" || publish === "never" ||
    Workflow.hasDraft(before) && !isWanted(publish)
  const isPublished = before.active ? Workflow.hasDraft(after) && !waits : publish === "valid"
  return isPublished
    ? yield* adding(progress, publishOrPutBack(before, after, changed))
    : progress
})

/** Fails although n8n accepted a publication. */
const notPublished = ({ active, activeVersionId, id }: Workflow.Workflow) =>
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

/** Publishes or unpublishes; `undefined` if n8n has that state already. */
const switched = (
  progress: Progress,
  publish: Publish,
  publication: Options["publication"] = {}
) => {
  const { workflow } = progress
  const { versionId, ...labels } = publication
  const isChosen = versionId !== undefined && versionId !== workflow.activeVersionId
  const isLabelled = Object.values(labels).some((label) => label !== undefined)
  if (isWanted(publish) && (isChosen || isLabelled || versionId === undefined && Workflow.awaitsPublishing(workflow))) {
    const step = Effect.flatMap(
      versionId === undefined && !isLabelled
        ? publishedWaiting(workflow)
        : published(workflow, versionId ?? waitingVersion(workflow), labels),
      readBack
    )
    const checked = Effect.tap(
      step,
      ({ workflow: now }) =>
        now.active && (versionId === undefined || now.activeVersionId === versionId)
          ? Effect.void
          : notPublished(now)
    )
    return { refused: "written, but it could not be published", step: adding(progress, checked) }
  }
  if (publish === "never" && workflow.active) {
    return { refused: "written, but it could not be unpublished", step: adding(progress, unpublished(workflow.id)) }
  }
  return undefined
}

/** State that a dry run foresees. */
const foreseen = <A>({ before, changed, hasDrafts, patch, publish, tags }: Decision<A>) => {
  const workflow = applied(before, tags === undefined ? changed : { ...changed, tags })
  const active = publish !== "never" && (before.active || isWanted(publish))
  const waits = hasDrafts && !isWanted(publish) &&
    (Workflow.hasDraft(before) || publish !== "keep" && isOfVersion(patch))
  return {
    workflow: { ...workflow, active },
    state: active ? waits ? "draft" as const : "live" as const : "unpublished" as const
  }
}

/** Warning of triggers that n8n has registered with the former time zone, and leaves so when a version is published. */
const zoneWarnings = (before: Workflow.Workflow, now: Workflow.Workflow): ReadonlyArray<string> => {
  if (!before.active || !now.active || Schedules.timeZoneOf(before) === Schedules.timeZoneOf(now)) return []
  const former = (Workflow.running(before) ?? before).nodes
  const names = Schedules.zoned(Workflow.running(now) ?? now, false).flatMap((node) =>
    former.some((each) => equals(each, node)) ? [Workflow.nameOf(node)] : []
  )
  return names.length === 0 ? [] : [
    `${Rows.names(names)} still starts by the former time zone, which n8n took when it registered the trigger: ` +
    `unpublish the workflow and publish it again, and n8n registers it by the new one`
  ]
}

/** Writes to a workflow on n8n; `retries` is the number of times that the change is made again on a newer state. */
export const write = Effect.fnUntraced(function*<A, R>(
  dependencies: Dependencies,
  id: string,
  make: MakeChange<A, R>,
  options: CompleteOptions,
  retries: number
): Effect.fn.Return<Outcome<A>, Errors.N8nError, N8nClient | R> {
  const made: Array<Made> = []
  const attempt = Effect.gen(function*() {
    const decision = yield* decideOnce(dependencies, id, make, made, options).pipe(
      Effect.retry({ times: options.expected === undefined ? retries : 0, while: isConflict })
    )
    const { before, body, isPut, publish, tags } = decision
    const outcome = Effect.fnUntraced(function*(
      { warnings, workflow }: Progress,
      isWritten: boolean,
      versionId?: string | null,
      expectedState?: Outcome["state"]
    ) {
      const named = [...Object.keys(decision.patch), ...tags === undefined ? [] : ["tags"]]
      const { warnings: remarks, ...judgement } = yield* judged(
        dependencies,
        before,
        workflow,
        // What changes nothing brings no problems. A dry run's new workflows do not exist yet.
        !isPut && tags === undefined
          ? "none"
          : options.dryRun === true && decision.created.length > 0 && options.problems !== "none"
          ? "nodes"
          : options.problems
      )
      const isPublication = workflow.active &&
        (options.dryRun === true ? isWanted(publish) : workflow.activeVersionId !== before.activeVersionId)
      // Of a publication, the changes are those to the version that ran.
      const running = isPublication ? Workflow.running(before) : undefined
      const diff = running === undefined
        ? difference(before, workflow, named)
        : difference(running, options.dryRun === true ? workflow : Workflow.running(workflow) ?? workflow, named)
      const state = expectedState ?? stateOf(workflow, versionId ?? options.publication?.versionId)
      return {
        ...judgement,
        place: { kind: "n8n", id },
        before,
        // Someone else may have written since: the caller knows only the version that it wrote.
        workflow: versionId === undefined ? workflow : { ...workflow, versionId },
        result: decision.result,
        patch: tags === undefined ? decision.changed : { ...decision.changed, tags },
        changed: WorkflowDiff.line(diff, running === undefined || isPut ? undefined : 10),
        state,
        inForce: inForce(diff, state),
        held: decision.held,
        hasDrafts: decision.hasDrafts,
        isReset: state === "live" && isPut && Workflow.hasDraft(before) &&
          workflow.activeVersionId === before.activeVersionId && WorkflowDiff.isOfVersion(diff),
        former: isPublication && before.active && options.dryRun !== true
          ? before.activeVersionId ?? undefined
          : undefined,
        isWritten,
        made,
        warnings: [...warnings, ...decision.hasDrafts ? zoneWarnings(before, workflow) : [], ...remarks]
      } satisfies Outcome<A> as Outcome<A>
    })
    let progress: Progress = { workflow: before, warnings: decision.warnings }
    if (options.dryRun === true) {
      const { state, workflow } = foreseen(decision)
      return yield* outcome({ ...progress, workflow }, false, undefined, state)
    }
    let versionId: string | null | undefined
    if (isPut) {
      progress = yield* explained(dependencies, { ...applied(before, decision.changed) })(
        adding(progress, putAndPublish(dependencies, decision))
      )
      versionId = progress.workflow.versionId
    }
    if (tags !== undefined) {
      const step = tagged(progress, tags)
      progress = yield* isPut ? orWarning("the tags could not be set", progress, step) : step
    }
    const switching = switched(progress, publish, options.publication)
    if (switching !== undefined) {
      const { refused, step } = switching
      const explainedStep = explained(dependencies, progress.workflow)(step)
      progress = yield* isPut || tags !== undefined ? orWarning(refused, progress, explainedStep) : explainedStep
    }
    const isWritten = isPut || tags !== undefined || switching !== undefined
    const last = isWritten ? yield* readBack(progress) : progress
    yield* Turn.pause
    return yield* outcome(
      { ...last, warnings: isPut ? [...last.warnings, ...lostConnections(body, last.workflow)] : last.warnings },
      isWritten || made.length > 0,
      versionId
    )
  })
  return yield* attempt.pipe(discarding(dependencies, id, made))
})
