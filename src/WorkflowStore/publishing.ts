/** Publishing and unpublishing: asynchronous on n8n 2.x, and refused when the workflow cannot run. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { isDeepStrictEqual } from "node:util"
import { type Obj, obj, str } from "../domain/Json.ts"
import * as Workflow from "../domain/Workflow.ts"
import { N8nClient } from "../N8nClient.ts"
import * as N8nError from "../N8nError.ts"

/** How long publishing and unpublishing may take to have effect: mostly under a second, 10 at most. */
export const settling = { schedule: Schedule.spaced("250 millis"), times: 40 }

/** How long n8n 2.x goes on running the version before, though it says that the other is active: no API tells. */
const takingOver = "750 millis"

/** The answer was lost on the way: the write may have happened. */
export const isUncertain = (error: N8nError.N8nError): error is N8nError.Api =>
  error._tag === "ApiError" && (error.statusCode === undefined || error.statusCode >= 500)

/** Where a production webhook of the workflow answers. */
const webhooks = (workflow: Workflow.Workflow) =>
  workflow.nodes.flatMap((node) => {
    const path = str(obj(node.parameters)?.["path"])
    const isWebhook = node.type === "n8n-nodes-base.webhook" && node.disabled !== true
    return isWebhook && path !== undefined && !path.includes(":")
      ? [{ path, method: str(obj(node.parameters)?.["httpMethod"]) ?? "GET" }]
      : []
  })

/** Waits until all of the workflow's webhooks answer, or none does; whether they got there in time. */
const webhooksSettle = Effect.fnUntraced(function*(workflow: Workflow.Workflow, wanted: "up" | "gone") {
  const n8n = yield* N8nClient
  const areSettled = Effect.forEach(
    webhooks(workflow),
    ({ method, path }) =>
      Effect.map(n8n.webhookMethods(path), (methods) => methods.includes(method) === (wanted === "up"))
  ).pipe(Effect.map((settled) => settled.every(Boolean)))
  return yield* Effect.repeat(areSettled, { ...settling, until: (isDone) => isDone })
})

/** A switch whose answer was lost may have been thrown: n8n knows. */
const orAlready = (
  id: string,
  isDone: (now: Workflow.Workflow) => boolean,
  switching: Effect.Effect<Workflow.Workflow, N8nError.N8nError>
) =>
  Effect.catchIf(switching, isUncertain, (error) =>
    Effect.gen(function*() {
      const now = yield* (yield* N8nClient).getWorkflow(id)
      return isDone(now) ? now : yield* error
    }))

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
  return isUp ? [] : ["published, but n8n has not registered its webhook yet: it may take some seconds more"]
})

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
export const takeBack = Effect.fnUntraced(function*(before: Workflow.Workflow, patch: Obj, error: N8nError.Api) {
  const n8n = yield* N8nClient
  const now = yield* n8n.getWorkflow(before.id)
  if (now.active === before.active && isDeepStrictEqual(now.nodes, before.nodes)) return yield* error
  yield* n8n.putWorkflow(before.id, asBefore(before, patch))
  yield* n8n.publishWorkflow(before.id)
  return yield* new N8nError.Api({
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
  return yield* published(before, after.versionId ?? undefined).pipe(
    Effect.catchTag("ApiError", (error) =>
      n8n.putWorkflow(after.id, asBefore(before, patch)).pipe(
        Effect.matchEffect({
          onSuccess: () =>
            new N8nError.Api({
              ...error,
              errorDetails: `${
                error.errorDetails ?? "publishing failed"
              }. The earlier draft was put back; what runs is unchanged`,
              hint: "Put right what errorDetails names, and write again."
            }),
          onFailure: (second) =>
            new N8nError.Api({
              ...error,
              errorDetails: `${
                error.errorDetails ?? "publishing failed"
              }. The new draft is still there: putting the earlier one back failed (${second.message})`,
              hint: `workflow_history(id: '${after.id}') has the earlier version; what runs is unchanged.`
            })
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
