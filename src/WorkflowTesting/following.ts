/** One execution, followed to its end. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { CallContext } from "../CallContext.ts"
import * as Execution from "../domain/executions/Execution.ts"
import * as TestCopy from "../domain/testing/TestCopy.ts"
import { Executions } from "../Executions.ts"
import { isUnregistered, N8nClient, type WebhookAnswer, type WebhookCall } from "../N8nClient.ts"
import * as N8nError from "../N8nError.ts"

/** How long a webhook may take to be there after n8n has published its workflow. */
const patience = 10_000

/** Calls a webhook once it is there: where nothing listens, nothing runs. */
export const call = (path: string, request: WebhookCall) =>
  Effect.gen(function*() {
    const n8n = yield* N8nClient
    const until = (yield* Clock.currentTimeMillis) + patience
    for (;;) {
      const answer = yield* n8n.callWebhook(path, request)
      if (!isUnregistered(answer) || (yield* Clock.currentTimeMillis) > until) return answer
      yield* Effect.sleep("50 millis")
    }
  })

/** A webhook that was called: its answer comes when it comes. */
export type Calling = Fiber.Fiber<WebhookAnswer, N8nError.N8nError>

/** How long n8n may take to show an execution after the webhook has answered. */
const showing = 5_000

const nothingRan = (detail: string, answer: WebhookAnswer | undefined) =>
  new N8nError.Api({
    operation: "test workflow",
    ...(answer === undefined ? {} : { statusCode: answer.status }),
    errorDetails: detail.slice(0, 500),
    hint: answer !== undefined && (answer.status === 404 || answer.status === 405)
      ? "Where n8n's webhooks answer at another address than N8N_URL, set --webhook-url (N8N_MCP_WEBHOOK_URL)."
      : "n8n's log tells more."
  })

/** A search: what it found, or what of that which still runs it may be. */
export type Search = Effect.Effect<
  { readonly id?: string; readonly mayBe?: ReadonlyArray<string> },
  N8nError.N8nError,
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

/** Waits for the execution that a search finds. */
export const begun = Effect.fnUntraced(function*(calling: Calling, find: Search) {
  let answeredAt: number | undefined
  for (;;) {
    const { id, mayBe = [] } = yield* find
    if (id !== undefined) return id
    if (mayBe.length > 0) answeredAt = undefined
    const now = yield* Clock.currentTimeMillis
    const exit = calling.pollUnsafe()
    if (exit !== undefined) {
      answeredAt ??= now
      const isAnswer = exit._tag === "Success" && exit.value.status < 300
      if (exit._tag === "Success" && isUnregistered(exit.value)) {
        return yield* nothingRan(exit.value.text, exit.value)
      }
      if (exit._tag === "Failure" && now - answeredAt > showing / 2) return yield* Effect.failCause(exit.cause)
      if (exit._tag === "Success" && now - answeredAt > (isAnswer ? showing : showing / 2)) {
        return yield* nothingRan(
          isAnswer
            ? "the webhook answered, but n8n shows no execution: does the workflow keep its executions?"
            : `the webhook answered ${exit.value.status}: ${exit.value.text}`,
          exit.value
        )
      }
    }
    yield* Effect.sleep("150 millis")
  }
})

/** Nothing more happens for now: it is over, or waits. */
export const isSettled = (status: string) => Execution.isOver(status) || status === "waiting"

const statusOf = (id: string) =>
  N8nClient.use((n8n) => Effect.map(n8n.executionHead(id), ({ status }) => status ?? "unknown"))

/** Waits until the execution is over or waits, telling how far it has come where n8n writes that down. */
export const settled = Effect.fnUntraced(function*(id: string, nodeCount: number, added: number) {
  const { progress } = yield* CallContext
  const started = yield* Clock.currentTimeMillis
  let told = started
  let node = 0
  for (;;) {
    const status = yield* statusOf(id)
    if (isSettled(status)) return status
    const now = yield* Clock.currentTimeMillis
    if (now - told > 1_500) {
      told = now
      const runs = yield* Executions.use((executions) => executions.get(id)).pipe(
        Effect.timeout("1 second"),
        Effect.map((execution) => execution.runs.size - added),
        Effect.orElseSucceed(() => 0)
      )
      node = Math.max(node, Math.min(runs, nodeCount))
      // Each has to be more than the one before, also while one node runs.
      const onward = (now - started) / (now - started + 60_000)
      yield* progress(2 + node + onward, nodeCount + 3, `running: node ${node} of ${nodeCount}`)
    }
    const ran = now - started
    yield* Effect.sleep(ran < 300 ? "40 millis" : ran < 3_000 ? "150 millis" : "500 millis")
  }
})

/** n8n ends an execution after the node that runs. */
const stopping = { schedule: Schedule.spaced("250 millis"), times: 20 }

/** Ends it, and waits until n8n has written down what ran; 1.x cannot be told, and ends it by the copy's time limit. */
export const stopped = Effect.fnUntraced(function*(id: string) {
  const n8n = yield* N8nClient
  yield* Effect.ignore(n8n.stopExecution(id))
  yield* Effect.ignore(Effect.repeat(statusOf(id), { ...stopping, until: isSettled }))
})
