/** One execution, followed to its end. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import { CallContext } from "../base/CallContext.ts"
import * as Errors from "../base/Errors.ts"
import { Executions } from "../executions/Executions.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { isUnregistered, N8nClient, type WebhookAnswer, type WebhookCall } from "../n8n/N8nClient.ts"
import * as TestCopy from "./TestCopy.ts"

/** How long a webhook may take to be there after n8n has published its workflow. */
const registering = Schedule.upTo(Schedule.spaced("50 millis"), { duration: "10 seconds" })

/** Calls a webhook once it is there: where nothing listens, nothing runs. */
export const call = (path: string, request: WebhookCall) =>
  N8nClient.use((n8n) => n8n.callWebhook(path, request)).pipe(
    Effect.repeat({ schedule: registering, while: isUnregistered })
  )

/** A webhook that was called: its answer comes when it comes. */
export type Calling = Fiber.Fiber<WebhookAnswer, Errors.N8nError>

/** How long n8n may take to show an execution after the webhook has answered. */
const showing = 5_000

const nothingRan = (detail: string, answer: WebhookAnswer | undefined) =>
  new Errors.ApiError({
    operation: "test workflow",
    ...(answer === undefined ? {} : { statusCode: answer.status }),
    errorDetails: detail.slice(0, 500),
    hint: answer !== undefined && (answer.status === 404 || answer.status === 405)
      ? { _tag: "SetWebhookUrl" }
      : "n8n's log tells more."
  })

/** A search: what it found, or what of that which still runs it may be. */
export type Search = Effect.Effect<
  { readonly id?: string; readonly mayBe?: ReadonlyArray<string> },
  Errors.N8nError,
  N8nClient | Executions
>

/** What to list to see all executions: those that run are shown only to whom asks for them. */
export const listed = [undefined, "running"] as const

/**
 * The search for the execution of a copy.
 *
 * **Details**
 *
 * A copy that does not respond answers with the id. Of one that does, the execution is listed; 1.x lists none that
 * has begun to wait, but its id is then in the copy's static data.
 */
export const ofCopy = (
  workflowId: string,
  { notesId, responds }: Pick<TestCopy.Copy, "notesId" | "responds">
) =>
(calling: Calling): Search =>
  Effect.gen(function*() {
    const n8n = yield* N8nClient
    if (!responds) {
      const answer = yield* Fiber.join(calling).pipe(Effect.option, Effect.timeoutOption("1 second"))
      const id = TestCopy.idInAnswer(Option.getOrUndefined(Option.flatten(answer))?.text ?? "")
      if (id !== undefined) return { id }
    }
    for (const status of listed) {
      const { executions } = yield* n8n.listExecutions({ workflowId, status, limit: 5 })
      const found = executions.findLast(({ mode }) => mode !== "error")
      if (found !== undefined) return { id: String(found.id) }
    }
    const id = notesId ? TestCopy.idInStaticData((yield* n8n.getWorkflow(workflowId))["staticData"]) : undefined
    return id === undefined ? {} : { id }
  })

/** Why no execution will come of a call that ended `since` milliseconds ago; `undefined` while one still may. */
const givingUp = (exit: Exit.Exit<WebhookAnswer, Errors.N8nError>, since: number) => {
  if (exit._tag === "Failure") return since > showing / 2 ? Effect.failCause(exit.cause) : undefined
  const { status, text } = exit.value
  if (isUnregistered(exit.value)) return nothingRan(text, exit.value)
  const isAnswer = status < 300
  if (since <= (isAnswer ? showing : showing / 2)) return undefined
  return nothingRan(
    isAnswer
      ? "the webhook answered, but n8n shows no execution: does the workflow keep its executions?"
      : `the webhook answered ${status}: ${text}`,
    exit.value
  )
}

/** Waits for the execution that a search finds. */
export const begun = (calling: Calling, find: Search) =>
  Effect.suspend(() => {
    let answeredAt: number | undefined
    return Effect.gen(function*() {
      const { id, mayBe = [] } = yield* find
      if (id !== undefined) return id
      if (mayBe.length > 0) answeredAt = undefined
      const exit = calling.pollUnsafe()
      if (exit === undefined) return undefined
      const now = yield* Clock.currentTimeMillis
      answeredAt ??= now
      return yield* givingUp(exit, now - answeredAt) ?? Effect.undefined
    }).pipe(Effect.repeat({ schedule: Schedule.spaced("150 millis"), until: Predicate.isNotUndefined }))
  })

/** Nothing more happens for now: it is over, or waits. */
export const isSettled = (status: string) => ExecutionHead.isOver(status) || status === "waiting"

const statusOf = (id: string) =>
  N8nClient.use((n8n) => Effect.map(n8n.executionHead(id), ({ status }) => status ?? "unknown"))

/** Often at first: most executions take a moment, the others minutes. */
const watching = Schedule.modifyDelay(
  Schedule.forever,
  ({ elapsed }) => Effect.succeed(elapsed < 300 ? "40 millis" : elapsed < 3_000 ? "150 millis" : "500 millis")
)

/** Waits until the execution is over or waits, telling how far it has come where n8n writes that down. */
export const settled = Effect.fnUntraced(function*(id: string, nodeCount: number, added: number) {
  const { progress } = yield* CallContext
  const started = yield* Clock.currentTimeMillis
  let toldAt = started
  let node = 0
  const tell = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    if (now - toldAt <= 1_500) return
    toldAt = now
    const runs = yield* Executions.use((executions) => executions.get(id)).pipe(
      Effect.timeout("1 second"),
      Effect.map((execution) => execution.runs.size - added),
      Effect.orElseSucceed(() => 0)
    )
    node = Math.max(node, Math.min(runs, nodeCount))
    // Each has to be more than the one before, also while one node runs.
    const onward = (now - started) / (now - started + 60_000)
    yield* progress(2 + node + onward, nodeCount + 3, `running: node ${node} of ${nodeCount}`)
  })
  return yield* statusOf(id).pipe(
    Effect.tap((status) => isSettled(status) ? Effect.void : tell),
    Effect.repeat({ schedule: watching, until: isSettled })
  )
})

/** n8n ends an execution after the node that runs. */
const stopping = { schedule: Schedule.spaced("250 millis"), times: 20 }

/** Ends it, and waits until n8n has written down what ran; 1.x cannot be told, and ends it by the copy's time limit. */
export const stopped = Effect.fnUntraced(function*(id: string) {
  const n8n = yield* N8nClient
  yield* Effect.ignore(n8n.stopExecution(id))
  yield* Effect.ignore(Effect.repeat(statusOf(id), { ...stopping, until: isSettled }))
})
