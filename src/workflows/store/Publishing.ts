/** Publishing and unpublishing: asynchronous on n8n 2.x, and refused for a workflow that cannot run. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { Hint } from "../../base/Advice.ts"
import * as Deadline from "../../base/Deadline.ts"
import * as Errors from "../../base/Errors.ts"
import { equals, type Obj, obj } from "../../base/Json.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { hasStatus, isV1, N8nClient, type VersionLabels } from "../../n8n/N8nClient.ts"
import { puttingBack } from "../../n8n/WriteGuard.ts"
import * as Schedules from "../../workflow/Schedules.ts"
import * as Webhooks from "../../workflow/Webhooks.ts"
import { formerSettings } from "./FormerSettings.ts"
import { cleared, type Patch } from "./Outcome.ts"

/** Milliseconds within which publishing and unpublishing take effect, mostly within a second. */
const settlingMillis = 10_000
const settling = { schedule: Schedule.spaced("250 millis"), times: 40 }

/** Milliseconds during which n8n 2.x may run the previous version although it reports the new one as active. */
const takingOver = 750

const isStillPublished = (error: Errors.N8nError) => /a published workflow/.test(Errors.detailsOf(error) ?? "")

/**
 * Deletes a workflow that was just unpublished: for a moment n8n answers 409, sometimes 500. `whenPublished` runs before
 * the next try if the workflow is still published.
 */
export const deleteUnpublished = (id: string, whenPublished: Effect.Effect<void> = Effect.void) =>
  N8nClient.use((n8n) => n8n.deleteWorkflow(id)).pipe(
    Effect.tapError((error) => isStillPublished(error) ? whenPublished : Effect.void),
    Effect.retry({
      ...settling,
      while: hasStatus(409, 500)
    })
  )

const mayBeDone: Hint = "The change may have been applied anyway: read the workflow before you write again."

/** Reads the workflow after a write whose answer was lost; fails with a hint at that if it cannot be read. */
export const afterUncertain = (id: string, error: Errors.ApiError) =>
  N8nClient.use((n8n) => n8n.getWorkflow(id)).pipe(
    Effect.mapError(() => Errors.advised(error, { before: mayBeDone }))
  )

/** Webhooks of the workflow whose paths have no parameters, each with the paths at which it may answer. */
const webhooks = (workflow: Workflow.Workflow) => {
  const whole = Webhooks.of(workflow.id, workflow).filter(({ isPrefix, segments }) =>
    !isPrefix && !segments.some((segment) => segment.startsWith(":"))
  )
  return Rows.grouped(whole, ({ node }) => node).map(({ first: { methods = [], node: name }, rows }) => ({
    name,
    paths: rows.map(({ segments }) => segments.map(encodeURIComponent).join("/")),
    methods
  }))
}

interface Webhook {
  readonly name: string
  readonly paths: ReadonlyArray<string>
  /** Path at which it answers, if it does. */
  readonly path: string | undefined
  /** Whether n8n answers for webhooks at all. */
  readonly isSeen: boolean
}

const answering = Effect.fnUntraced(function*({ methods, name, paths }: ReturnType<typeof webhooks>[number]) {
  const { webhookMethods } = yield* N8nClient
  for (const path of paths) {
    const answers = yield* webhookMethods(path)
    if (answers === undefined) return { name, paths, path: undefined, isSeen: false } satisfies Webhook as Webhook
    if (methods.every((method) => answers.includes(method))) return { name, paths, path, isSeen: true }
  }
  return { name, paths, path: undefined, isSeen: true }
})

/** Elements that are asked about in a round while none of them settles. */
const few = 4

/**
 * States of elements, asked about until each is settled, within these milliseconds and the time that is left of the
 * call: each once, then a few in turn, and again all that are open as soon as one has settled. Without a state: those
 * for which there was no time.
 */
const settled = Effect.fnUntraced(function*<A, B, R>(
  items: ReadonlyArray<A>,
  look: (item: A) => Effect.Effect<B, never, R>,
  isSettled: (state: B, item: A) => boolean,
  millis: number
) {
  const states = new Map<A, B>()
  const isOpen = (item: A) => !states.has(item) || !isSettled(states.get(item) as B, item)
  let [open, turn] = [items, items]
  const round = Effect.suspend(() =>
    Effect.map(
      Effect.forEach(turn, (item) => Effect.map(look(item), (state) => states.set(item, state)), {
        concurrency: few,
        discard: true
      }),
      () => {
        const rest = [...open.filter((item) => !turn.includes(item)), ...turn].filter(isOpen)
        turn = rest.length < open.length ? rest : rest.slice(0, few)
        open = rest
      }
    )
  )
  yield* Effect.timeoutOption(
    Effect.repeat(round, { schedule: Schedule.exponential("250 millis", 1.3), until: () => open.length === 0 }),
    Math.min(millis, yield* Deadline.left)
  )
  return states
})

/** Reads the workflow if the answer of publishing or unpublishing was lost; fails unless it was applied. */
const orAlready = (
  id: string,
  isDone: (now: Workflow.Workflow) => boolean,
  switching: Effect.Effect<Workflow.Workflow, Errors.N8nError>
) =>
  Effect.catchIf(switching, Errors.isUncertain, (error) =>
    Effect.gen(function*() {
      const now = yield* afterUncertain(id, error)
      return isDone(now) ? now : yield* error
    }))

/** A workflow after a step of a write, and the warnings of all steps so far. */
export interface Progress {
  readonly workflow: Workflow.Workflow
  readonly warnings: ReadonlyArray<string>
}

/** Workflow that was published or unpublished, as n8n answered. */
interface Publication {
  readonly workflow: Workflow.Workflow
  readonly isPublished: boolean
  /** Whether another version ran before. */
  readonly replaces: boolean
  /** Whether its triggers start now, and may fail to. */
  readonly mayStart: boolean
}

/** Collects publications, of which {@link together} waits once for all, instead of waiting until each takes effect. */
const Unsettled = Context.Reference<Array<Publication> | undefined>("effect-n8n-mcp/Unsettled", {
  defaultValue: () => undefined
})

const warningsOf = (isPublished: boolean, all: ReadonlyArray<Webhook> | undefined): ReadonlyArray<string> => {
  if (!isPublished) {
    return all?.some(({ path }) => path !== undefined) === true
      ? ["unpublished, but n8n still answers at its webhook: it may take a few more seconds"]
      : []
  }
  if (all?.some(({ isSeen }) => !isSeen)) {
    return [
      "published; n8n does not answer for webhooks at this address, so whether its webhook is registered is unknown"
    ]
  }
  return all === undefined || all.some(({ path }) => path === undefined)
    ? ["published, but n8n has not registered its webhook yet: it may take a few more seconds"]
    : all.flatMap(({ name, path, paths }) =>
      path === paths[0] ? [] : [`'${name}' has no webhookId, so it answers at /webhook/${path}`]
    )
}

/** Triggers that others start, and that n8n does not count. */
export const isCounted = (node: Workflow.Node) =>
  node.disabled !== true && Workflow.isTrigger(node) && !/\.(executeWorkflow|error|manual\w*)Trigger$/.test(node.type)

/** Warnings of schedules with which n8n 2.x publishes a workflow that it never starts by them. */
export const scheduleWarnings = (workflow: Workflow.Workflow, after: number) => {
  const running = Workflow.running(workflow) ?? workflow
  const never = Schedules.upcoming(running, { after, count: 1, isV1: false })?.never ?? []
  return never.length === 0
    ? []
    : [`published, but n8n never starts it by ${Visible.line(Rows.listed(never, 3, "; "))}`]
}

/** Milliseconds within which n8n 2.x starts the triggers of a workflow, unless it fails to. */
const startingMillis = 2_500

/** Number of triggers that n8n has started; `undefined` if it does not say. */
const started = ({ workflow: { id } }: Publication) =>
  N8nClient.use((n8n) => n8n.getWorkflow(id)).pipe(
    Effect.map(({ active, triggerCount }) => active ? triggerCount : undefined),
    Effect.orElseSucceed(() => undefined)
  )

/** Waits, within the time that is left of the call, until publications have taken effect; their warnings by id. */
const takeEffect = Effect.fnUntraced(function*(publications: ReadonlyArray<Publication>) {
  // The webhooks of the previous version answer too.
  if (publications.some(({ replaces }) => replaces)) yield* Effect.sleep(Math.min(takingOver, yield* Deadline.left))
  const called = publications.filter(({ workflow }) => webhooks(workflow).length > 0)
  const answers = yield* settled(
    called,
    ({ workflow }) => Effect.forEach(webhooks(workflow), answering),
    (all, { isPublished }) => all.every(({ isSeen, path }) => !isSeen || (path !== undefined) === isPublished),
    settlingMillis
  )
  // n8n 2.x publishes before it starts the triggers; the count of an earlier version stays until then.
  const counts = yield* settled(
    publications.filter(({ mayStart, workflow }) => mayStart && workflow.nodes.some(isCounted)),
    started,
    (count) => count !== 0,
    startingMillis
  )
  return new Map(publications.map((publication) => [publication.workflow.id, [
    ...called.includes(publication) ? warningsOf(publication.isPublished, answers.get(publication)) : [],
    ...counts.get(publication) === 0
      ? ["published, but n8n has not started its triggers yet, and tries again: its editor and log name the reason"]
      : []
  ]]))
})

/** Waits until a publication has taken effect, unless {@link together} does for all; with the warnings of that. */
const takenEffect = Effect.fnUntraced(function*(publication: Publication) {
  const unsettled = yield* Unsettled
  unsettled?.push(publication)
  const warnings = unsettled === undefined ? (yield* takeEffect([publication])).get(publication.workflow.id) ?? [] : []
  return { workflow: publication.workflow, warnings } satisfies Progress
})

/** Runs writes that publish and unpublish, and waits for all of these together at the end; with their warnings by id. */
export const together = Effect.fnUntraced(function*<A, E, R>(writes: Effect.Effect<A, E, R>) {
  const publications: Array<Publication> = []
  const result = yield* Effect.provideService(writes, Unsettled, publications)
  // Of a workflow that was published twice, only the last version takes effect.
  const last = [...new Map(publications.map((each) => [each.workflow.id, each])).values()]
  return { result, warnings: yield* takeEffect(last) }
})

/** Publishes a workflow, and waits until it takes effect: n8n 2.x answers before its webhooks and triggers do. */
export const published = Effect.fnUntraced(function*(
  before: Workflow.Workflow,
  versionId?: string,
  labels?: VersionLabels
) {
  const n8n = yield* N8nClient
  const { id } = before
  const workflow = yield* orAlready(
    id,
    (now) => now.active && (versionId === undefined ? !Workflow.hasDraft(now) : now.activeVersionId === versionId),
    n8n.publishWorkflow(id, versionId, labels)
  )
  const silent = scheduleWarnings(workflow, yield* Clock.currentTimeMillis)
  const { activeVersionId } = workflow
  const progress = yield* takenEffect({
    workflow,
    isPublished: true,
    replaces: before.active && typeof activeVersionId === "string" && activeVersionId !== before.activeVersionId,
    mayStart: !before.active && silent.length === 0
  })
  return { workflow, warnings: [...progress.warnings, ...silent] } satisfies Progress
})

/** Version that waits in a published workflow; n8n chooses that of another one. */
export const waitingVersion = (workflow: Workflow.Workflow): string | undefined =>
  workflow.active && Workflow.awaitsPublishing(workflow) ? workflow.versionId ?? undefined : undefined

/** Publishes a workflow: if it is published already, exactly the draft that was read. */
export const publishedWaiting = (workflow: Workflow.Workflow) => published(workflow, waitingVersion(workflow))

/** Body that puts back the parts of a patch; what was not set gets the value that means so. */
const asBefore = (before: Workflow.Workflow, patch: Patch, isFirst: boolean): Obj => ({
  ...Object.fromEntries(
    Object.keys(patch).flatMap((key) => {
      const value = before[key] ?? cleared[key]
      return value === undefined ? [] : [[key, value]]
    })
  ),
  settings: patch.settings === undefined
    ? Workflow.settingsToName(before)
    : formerSettings({ ...obj(before.settings), ...patch.settings }, before.settings, isFirst).settings,
  name: before.name,
  nodes: before.nodes,
  connections: before.connections
})

/**
 * Reverts a refused change. n8n 1.x stores a change that leaves an active workflow without a trigger, and deactivates
 * the workflow, before it refuses the change.
 */
export const takeBack = Effect.fnUntraced(function*(
  before: Workflow.Workflow,
  patch: Patch,
  error: Errors.ApiError
) {
  const n8n = yield* N8nClient
  const isFirst = isV1(yield* n8n.release)
  const now = yield* n8n.getWorkflow(before.id)
  if (now.active === before.active && equals(now.nodes, before.nodes)) return yield* error
  yield* puttingBack(
    Effect.andThen(n8n.putWorkflow(before.id, asBefore(before, patch, isFirst)), n8n.publishWorkflow(before.id))
  )
  return yield* Errors.withDetails(error, `${error.reason.details}. The workflow was reverted, and is active`)
})

/** Whether the same version runs, or neither does: the answer of a publication can be lost after it took effect. */
const runsAs = (before: Workflow.Workflow, now: Workflow.Workflow) =>
  now.active === before.active &&
  (!now.active || (now.activeVersionId ?? before.activeVersionId) === before.activeVersionId)

/** Publishes a change; if n8n refuses that, puts the earlier draft back. */
export const publishOrPutBack = Effect.fnUntraced(function*(
  before: Workflow.Workflow,
  after: Workflow.Workflow,
  patch: Patch
) {
  const n8n = yield* N8nClient
  const isFirst = isV1(yield* n8n.release)
  const refused = (error: Errors.ApiError, outcome: string, hint: Hint) =>
    Errors.withDetails(error, `${error.reason.details}. ${outcome}`, hint)
  return yield* published(before, before.active ? after.versionId ?? undefined : undefined).pipe(
    Effect.catchTag(
      "ApiError",
      (error) =>
        puttingBack(n8n.putWorkflow(after.id, asBefore(before, patch, isFirst))).pipe(
          Effect.matchEffect({
            onSuccess: (now) =>
              runsAs(before, now)
                ? refused(
                  error,
                  "The earlier draft was put back; what runs is unchanged",
                  { _tag: "CorrectRefused" }
                )
                : refused(
                  error,
                  "n8n had published the change, which runs now; the draft is the earlier one again",
                  "Publish the draft to undo the change, or write the change again to keep it."
                ),
            onFailure: ({ message }) =>
              refused(
                error,
                `The new draft is still there: putting the earlier one back failed (${message})`,
                { _tag: "RestoreEarlierVersion", workflowId: after.id }
              )
          })
        )
    )
  )
})

/** Unpublishes a workflow, and waits until its webhooks no longer answer. */
export const unpublished = Effect.fnUntraced(function*(id: string) {
  const n8n = yield* N8nClient
  const workflow = yield* orAlready(id, (now) => !now.active, n8n.unpublishWorkflow(id))
  return yield* takenEffect({ workflow, isPublished: false, replaces: false, mayStart: false })
})
