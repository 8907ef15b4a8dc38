/** Search for the execution that a webhook call starts, and its observation until it ends. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import { CallContext } from "../base/CallContext.ts"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import type * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { isUnregistered, N8nClient, type WebhookAnswer, type WebhookCall } from "../n8n/N8nClient.ts"
import * as pins from "./pins.ts"
import type { Copy } from "./TestCopy.ts"

/** Wait for n8n to register a webhook after publishing its workflow. */
const registration = Schedule.upTo(Schedule.spaced("50 millis"), { duration: "10 seconds" })

/** Calls a webhook as soon as it is registered: a call before that runs nothing. */
export const callWebhook = (path: string, request: WebhookCall) =>
  N8nClient.use((n8n) => n8n.callWebhook(path, request)).pipe(
    Effect.repeat({ schedule: registration, while: isUnregistered })
  )

/** Webhook call that may not be answered yet. */
export type PendingCall = Fiber.Fiber<WebhookAnswer, Errors.N8nError>

/** Milliseconds that n8n may take to list an execution after the webhook has answered. */
export const listingDelay = 5_000

const nothingRan = (detail: string, answer: WebhookAnswer | undefined) =>
  new Errors.ApiError({
    operation: "test workflow",
    reason: answer === undefined
      ? new Errors.Timeout({ details: detail.slice(0, 500), duration: Duration.millis(listingDelay) })
      : new Errors.Status({ details: detail.slice(0, 500), statusCode: answer.status }),
    hint: answer !== undefined && (answer.status === 404 || answer.status === 405)
      ? { _tag: "SetWebhookUrl" }
      : "Check n8n's log."
  })

/** Search for an execution: its id, or running executions that may be it. */
export type Search = Effect.Effect<
  { readonly id?: string; readonly candidates?: ReadonlyArray<string> },
  Errors.N8nError,
  N8nClient | Executions
>

/** Status filters that together list all executions. Those that end between the two requests are in both lists. */
export const statusFilters = ["running", undefined] as const

const maxListed = 100

/** Runs that webhooks of a workflow start from now on, with what `read` makes of those that have ended or wait. */
export const newRuns = Effect.fnUntraced(function*<A>(
  workflowId: string,
  read: (execution: Execution.Execution) => A
) {
  const n8n = yield* N8nClient
  const list = (limit: number) =>
    Effect.map(
      Effect.forEach(statusFilters, (status) => n8n.listExecutions({ workflowId, status, limit })),
      (lists) => lists.flatMap(({ executions }) => executions)
    )
  const before = Math.max(0, ...(yield* list(1)).map(({ id }) => Number(id)))
  const settled = new Map<string, { readonly status: string; readonly value: A }>()
  const pending = new Set<string>()
  const turn = Semaphore.makeUnsafe(1)
  const refresh = turn.withPermit(Effect.gen(function*() {
    const others = (yield* list(maxListed)).flatMap(({ id: rawId, mode, status }) => {
      const id = String(rawId)
      const isNew = Number(id) > before && !settled.has(id) && (mode === "webhook" || mode === "chat")
      return isNew ? [{ id, status: status ?? "" }] : []
    })
    pending.clear()
    for (const { id } of others) pending.add(id)
    for (const { id, status } of others) {
      if (!isSettled(status)) continue
      const execution = yield* Executions.use((executions) => executions.get(id))
      settled.set(id, { status, value: read(execution) })
      pending.delete(id)
    }
  }))
  return { refresh, settled, pending }
})

/**
 * Searches for the execution of a copy.
 *
 * A copy that does not respond itself answers with the id. Otherwise n8n lists the execution, the first after those of
 * earlier calls, unless calls overlap; 1.x does not list one that waits, but its id is then in the copy's static data.
 */
export const findCopyExecution = (
  workflowId: string,
  { storesId, responds }: Pick<Copy, "storesId" | "responds">,
  earlier: ReadonlySet<string> | undefined
) =>
(pendingCall: PendingCall): Search =>
  Effect.gen(function*() {
    const n8n = yield* N8nClient
    if (!responds) {
      const answer = yield* Fiber.join(pendingCall).pipe(Effect.option, Effect.timeoutOption("1 second"))
      const id = pins.idInResponse(Option.getOrUndefined(Option.flatten(answer))?.text ?? "")
      if (id !== undefined) return { id }
    }
    if (earlier === undefined) return {}
    for (const status of statusFilters) {
      const { executions } = yield* n8n.listExecutions({ workflowId, status, limit: 5 })
      const execution = executions.findLast(({ id, mode }) => mode !== "error" && !earlier.has(String(id)))
      if (execution !== undefined) return { id: String(execution.id) }
    }
    const id = storesId ? pins.idInStaticData((yield* n8n.getWorkflow(workflowId))["staticData"]) : undefined
    return id === undefined || earlier.has(id) ? {} : { id }
  })

/** Failure of a call that ended `since` milliseconds ago; `undefined` while its execution may still start. */
export const failureAfter = (exit: Exit.Exit<WebhookAnswer, Errors.N8nError>, since: number) => {
  if (exit._tag === "Failure") return since > listingDelay / 2 ? Effect.failCause(exit.cause) : undefined
  const { status, text } = exit.value
  if (isUnregistered(exit.value)) return nothingRan(text, exit.value)
  const isAnswer = status < 300
  if (since <= (isAnswer ? listingDelay : listingDelay / 2)) return undefined
  return nothingRan(
    isAnswer
      ? "the webhook answered, but n8n lists no execution: does the workflow save its executions?"
      : `the webhook answered ${status}: ${text}`,
    exit.value
  )
}

export const awaitStart = (pendingCall: PendingCall, find: Search) =>
  Effect.suspend(() => {
    let answeredAt: number | undefined
    return Effect.gen(function*() {
      const { candidates = [], id } = yield* find
      if (id !== undefined) return id
      if (candidates.length > 0) answeredAt = undefined
      const exit = pendingCall.pollUnsafe()
      if (exit === undefined) return undefined
      const now = yield* Clock.currentTimeMillis
      answeredAt ??= now
      return yield* failureAfter(exit, now - answeredAt) ?? Effect.undefined
    }).pipe(Effect.repeat({ schedule: Schedule.spaced("150 millis"), until: Predicate.isNotUndefined }))
  })

export const isSettled = (status: string) => ExecutionHead.isOver(status) || status === "waiting"

const statusOf = (id: string) =>
  N8nClient.use((n8n) => Effect.map(n8n.executionHead(id), ({ status }) => status ?? "unknown"))

/** Frequent polls at first: most executions take a moment, the others minutes. */
const polling = Schedule.modifyDelay(
  Schedule.forever,
  ({ elapsed }) => Effect.succeed(elapsed < 300 ? "40 millis" : elapsed < 3_000 ? "150 millis" : "500 millis")
)

/** Waits until the execution has ended or waits, and reports progress if n8n saves it. */
export const awaitSettled = Effect.fnUntraced(function*(id: string, nodeCount: number, added: number) {
  const { progress } = yield* CallContext
  const started = yield* Clock.currentTimeMillis
  let reportedAt = started
  let node = 0
  const reportProgress = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    if (now - reportedAt <= 1_500) return
    reportedAt = now
    const runs = yield* Executions.use((executions) => executions.get(id)).pipe(
      Effect.timeout("1 second"),
      Effect.map((execution) => execution.runs.size - added),
      Effect.orElseSucceed(() => 0)
    )
    node = Math.max(node, Math.min(runs, nodeCount))
    // Progress must increase with each report, even while the same node runs.
    const fraction = (now - started) / (now - started + 60_000)
    yield* progress(2 + node + fraction, nodeCount + 3, `running: node ${node} of ${nodeCount}`)
  })
  return yield* statusOf(id).pipe(
    Effect.tap((status) => isSettled(status) ? Effect.void : reportProgress),
    Effect.repeat({ schedule: polling, until: isSettled })
  )
})

/** Wait for n8n to stop an execution, which it does only after the current node. */
const stopping = { schedule: Schedule.spaced("250 millis"), times: 20 }

/** Stops an execution and waits until n8n has saved it; 1.x relies on the copy's timeout. */
export const stop = Effect.fnUntraced(function*(id: string) {
  const n8n = yield* N8nClient
  yield* Effect.ignore(n8n.stopExecution(id))
  yield* Effect.ignore(Effect.repeat(statusOf(id), { ...stopping, until: isSettled }))
})

/** Time limit of an observation. */
export interface ObserveOptions {
  readonly timeout: number
  /**
   * Whether the call's deadline is extended to the timeout, because its caller asked for it or receives progress.
   * Otherwise the test ends with the call's deadline.
   */
  readonly grantsTimeout?: boolean | undefined
}

/** Time reserved for stopping an execution and reading it. */
const wrapUpMillis = 6_000

/** Whether a webhook call certainly started nothing. */
export const startedNothing = ({ operation, reason }: Errors.ApiError) =>
  reason._tag === "Status"
    ? operation === "test workflow" && [404, 405, 501].includes(reason.statusCode)
    : reason._tag === "Unreachable" && operation === "call the webhook" &&
      (reason.code === "ECONNREFUSED" || reason.code === "ENOTFOUND")

/** Failure after the webhook was called: the workflow's nodes may have had effects. */
const inDoubt = (error: Errors.N8nError): Errors.N8nError => {
  if (error._tag === "ValidationError" || error._tag === "ApiError" && startedNothing(error)) return error
  return Errors.advised(error, {
    before: "The workflow may have run: check its nodes' effects before testing it again."
  })
}

/** Calls a webhook, watches the execution that it starts, and reads it before the copy is deleted. */
export const observe = Effect.fnUntraced(
  function*(options: ObserveOptions, { added, nodeCount, ...subject }: {
    readonly searchTimeout: number
    readonly call: Effect.Effect<WebhookAnswer, Errors.N8nError, N8nClient>
    readonly find: (call: PendingCall) => Search
    readonly nodeCount: number
    readonly added: number
    readonly read: (id: string) => Effect.Effect<Execution.Execution, Errors.N8nError, N8nClient>
  }) {
    const bounded = Effect.fnUntraced(function*(millis: number) {
      if (options.grantsTimeout === true) yield* Deadline.grant(options.timeout + wrapUpMillis)
      return Math.min(millis, Math.max(0, (yield* Deadline.left) - wrapUpMillis))
    })
    const searchTimeout = yield* bounded(subject.searchTimeout)
    const call = yield* Effect.forkScoped(subject.call)
    const find = subject.find(call)
    const start = yield* awaitStart(call, find).pipe(Effect.timeoutOption(searchTimeout))
    let id = Option.getOrUndefined(start)
    const timeout = yield* bounded(options.timeout)
    const end = id === undefined
      ? Option.none()
      : yield* awaitSettled(id, nodeCount, added).pipe(Effect.timeoutOption(timeout))
    const timedOut = !Option.isSome(end)
    if (id === undefined) {
      const { candidates = [], id: foundId } = yield* find
      id = foundId ?? (candidates.length === 1 ? candidates[0] : undefined)
    }
    if (id === undefined) {
      const exit = call.pollUnsafe()
      if (exit !== undefined) yield* failureAfter(exit, Infinity) ?? Effect.void
      return yield* new Errors.ApiError({
        operation: "test workflow",
        reason: Errors.timeout(searchTimeout, "execution"),
        hint: "Raise timeout; n8n may be busy."
      })
    }
    if (timedOut) yield* stop(id)
    const execution = yield* subject.read(id)
    const answer = yield* Fiber.join(call).pipe(Effect.timeoutOption("1 second"), Effect.exit)
    return {
      execution,
      timedOut,
      timeout,
      answer: Exit.isSuccess(answer) ? Option.getOrUndefined(answer.value) : undefined
    }
  },
  Effect.mapError(inDoubt),
  Effect.scoped
)
