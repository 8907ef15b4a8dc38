/** Publishing and unpublishing: asynchronous on n8n 2.x, and refused when the workflow cannot run. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { Hint } from "../../base/Advice.ts"
import * as Errors from "../../base/Errors.ts"
import { equals, type Obj, obj, str } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import { puttingBack } from "../../n8n/WriteGuard.ts"

/** How long publishing and unpublishing may take to have effect: mostly under a second, 10 at most. */
const settling = { schedule: Schedule.spaced("250 millis"), times: 40 }

/** How long n8n 2.x goes on running the version before, though it says that the other is active: no API tells. */
const takingOver = "750 millis"

const isStillPublished = (error: Errors.N8nError) =>
  error._tag === "ApiError" && /a published workflow/.test(error.errorDetails ?? "")

/**
 * Deletes a workflow that was just unpublished: for a moment n8n answers 409, now and then 500. `whenPublished` runs
 * where it was published after all, before the next try.
 */
export const deleteUnpublished = (id: string, whenPublished: Effect.Effect<void> = Effect.void) =>
  N8nClient.use((n8n) => n8n.deleteWorkflow(id)).pipe(
    Effect.tapError((error) => isStillPublished(error) ? whenPublished : Effect.void),
    Effect.retry({
      ...settling,
      while: (error) => error._tag === "ApiError" && (error.statusCode === 409 || error.statusCode === 500)
    })
  )

/** The answer was lost on the way: the write may have happened. */
export const isUncertain = (error: Errors.N8nError): error is Errors.ApiError =>
  error._tag === "ApiError" && (error.statusCode === undefined || error.statusCode >= 500)

const mayBeDone: Hint = "It may have been done all the same: read the workflow before you write again."

/** The workflow as it is after a write whose answer was lost; where that cannot be read either, the error says so. */
export const afterUncertain = (id: string, error: Errors.ApiError) =>
  N8nClient.use((n8n) => n8n.getWorkflow(id)).pipe(
    Effect.mapError(() =>
      new Errors.ApiError({ ...error, hint: [mayBeDone, ...Array.isArray(error.hint) ? error.hint : [error.hint]] })
    )
  )

/** Webhooks of the workflow; n8n 1 puts ids before the path of a node without a `webhookId`. */
const webhooks = (workflow: Workflow.Workflow) =>
  workflow.nodes.flatMap((node) => {
    const path = str(obj(node.parameters)?.["path"])
    const isWebhook = node.type === "n8n-nodes-base.webhook" && node.disabled !== true
    if (!isWebhook || path === undefined || path.includes(":")) return []
    const withIds = `${workflow.id}/${encodeURIComponent(node.name.toLowerCase())}/${path}`
    const hasId = str(node["webhookId"]) !== undefined
    return [{
      name: node.name,
      paths: hasId ? [path] : [path, withIds],
      method: str(obj(node.parameters)?.["httpMethod"]) ?? "GET"
    }]
  })

type Webhook = ReturnType<typeof webhooks>[number]

/** The path at which a webhook answers, if it does. */
const pathOf = Effect.fnUntraced(function*({ method, paths }: Webhook) {
  const n8n = yield* N8nClient
  return yield* Effect.findFirst(paths, (path) => Effect.map(n8n.webhookMethods(path), (all) => all.includes(method)))
})

/** Waits until all of the workflow's webhooks answer, or none does; whether they got there in time. */
const webhooksSettle = (workflow: Workflow.Workflow, wanted: "up" | "gone") => {
  const areSettled = Effect.forEach(webhooks(workflow), pathOf).pipe(
    Effect.map((paths) => paths.every((path) => Option.isSome(path) === (wanted === "up")))
  )
  return Effect.repeat(areSettled, { ...settling, until: (isDone) => isDone })
}

/** Webhooks that answer elsewhere than at their path. */
const elsewhere = (workflow: Workflow.Workflow) =>
  Effect.map(
    Effect.forEach(webhooks(workflow).filter(({ paths }) => paths.length > 1), (webhook) =>
      Effect.map(pathOf(webhook), (path) =>
        Option.isNone(path) || path.value === webhook.paths[0]
          ? []
          : [`'${webhook.name}' has no webhookId, so it answers at /webhook/${path.value}`])),
    (warnings) =>
      warnings.flat()
  )

/** A switch whose answer was lost may have been thrown: n8n knows. */
const orAlready = (
  id: string,
  isDone: (now: Workflow.Workflow) => boolean,
  switching: Effect.Effect<Workflow.Workflow, Errors.N8nError>
) =>
  Effect.catchIf(switching, isUncertain, (error) =>
    Effect.gen(function*() {
      const now = yield* afterUncertain(id, error)
      return isDone(now) ? now : yield* error
    }))

/** A workflow as n8n has it after a step of a write, and what there is to say of the steps so far. */
export interface Progress {
  readonly workflow: Workflow.Workflow
  readonly warnings: ReadonlyArray<string>
}

/** Takes effect on 2.x only some time after n8n has answered: the webhook tells, without running anything. */
export const published = Effect.fnUntraced(function*(before: Workflow.Workflow, versionId?: string) {
  const n8n = yield* N8nClient
  const { id } = before
  const answer = yield* orAlready(
    id,
    (now) => now.active && (versionId === undefined ? !Workflow.hasDraft(now) : now.activeVersionId === versionId),
    n8n.publishWorkflow(id, versionId)
  )
  // The webhooks of the version before answer, too.
  if (
    before.active && typeof answer.activeVersionId === "string" && answer.activeVersionId !== before.activeVersionId
  ) {
    yield* Effect.sleep(takingOver)
  }
  const isUp = yield* webhooksSettle(answer, "up")
  const warnings = isUp
    ? yield* elsewhere(answer)
    : ["published, but n8n has not registered its webhook yet: it may take some seconds more"]
  return { workflow: answer, warnings } satisfies Progress
})

/** Publishes what waits: a workflow that is not published, or exactly the draft that was seen of a published one. */
export const publishedWaiting = (workflow: Workflow.Workflow) =>
  published(workflow, workflow.active ? workflow.versionId ?? undefined : undefined)

/** What a change has touched, as it was before. */
const asBefore = (before: Workflow.Workflow, patch: Obj): Obj => ({
  settings: Workflow.settingsToName(before),
  ...Object.fromEntries(
    Object.keys(patch).filter((key) => before[key] !== undefined).map((key) => [key, before[key]])
  ),
  name: before.name,
  nodes: before.nodes,
  connections: before.connections
})

/**
 * 1.x refuses a change that leaves an active workflow without a trigger, but only after it has stored it and switched
 * the workflow off: both are taken back.
 */
export const takeBack = Effect.fnUntraced(function*(before: Workflow.Workflow, patch: Obj, error: Errors.ApiError) {
  const n8n = yield* N8nClient
  const now = yield* n8n.getWorkflow(before.id)
  if (now.active === before.active && equals(now.nodes, before.nodes)) return yield* error
  yield* puttingBack(
    Effect.andThen(n8n.putWorkflow(before.id, asBefore(before, patch)), n8n.publishWorkflow(before.id))
  )
  return yield* new Errors.ApiError({
    ...error,
    errorDetails: `${error.errorDetails ?? "refused"}. The workflow was put back as it was, and is active`
  })
})

/** Keeps what was written from being published when it is refused: the earlier draft comes back. */
export const publishOrPutBack = Effect.fnUntraced(function*(
  before: Workflow.Workflow,
  after: Workflow.Workflow,
  patch: Obj
) {
  const n8n = yield* N8nClient
  const refused = (error: Errors.ApiError, outcome: string, hint: Hint) =>
    new Errors.ApiError({
      ...error,
      errorDetails: `${error.errorDetails ?? "publishing failed"}. ${outcome}`,
      hint
    })
  return yield* published(before, after.versionId ?? undefined).pipe(
    Effect.catchTag("ApiError", (error) =>
      puttingBack(n8n.putWorkflow(after.id, asBefore(before, patch))).pipe(
        Effect.matchEffect({
          onSuccess: () =>
            refused(
              error,
              "The earlier draft was put back; what runs is unchanged",
              "Put right what errorDetails names, and write again."
            ),
          onFailure: ({ message }) =>
            refused(
              error,
              `The new draft is still there: putting the earlier one back failed (${message})`,
              { _tag: "RestoreEarlierVersion", workflowId: after.id }
            )
        })
      ))
  )
})

/** Unpublishes, and waits until its webhooks are gone. */
export const unpublished = Effect.fnUntraced(function*(id: string) {
  const n8n = yield* N8nClient
  const answer = yield* orAlready(id, (now) => !now.active, n8n.unpublishWorkflow(id))
  yield* webhooksSettle(answer, "gone")
  return answer
})
