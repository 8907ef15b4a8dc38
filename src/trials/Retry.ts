/**
 * Retries of many runs: from the failed node, as n8n does, or from the start.
 *
 * From the start, a webhook, form or chat trigger receives its recorded request again at its production address; any
 * other trigger returns its recorded items in a temporary copy of the published version, of which every node runs.
 * `RetryLog` records each before it is sent; n8n records the retries from a failed node itself.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { CallContext } from "../base/CallContext.ts"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import { counted } from "../base/Plural.ts"
import * as Rows from "../base/Rows.ts"
import * as Visible from "../base/Visible.ts"
import * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import { keyOf, RetryLog } from "../executions/RetryLog.ts"
import { isUnregistered, N8nClient, type WebhookAnswer } from "../n8n/N8nClient.ts"
import { isCaller } from "../workflow/References.ts"
import * as executionWatch from "./executionWatch.ts"
import * as retryAdvice from "./retryAdvice.ts"
import * as retryPlan from "./retryPlan.ts"
import { detailed, type Options, type Plan, retryAfter, Skipped } from "./retryPlan.ts"
import * as retryRequests from "./retryRequests.ts"
import * as SentRequests from "./SentRequests.ts"
import * as WorkflowTesting from "./WorkflowTesting.ts"

export type { Skipped } from "./retryPlan.ts"

/** Run that was retried; without `newId`, n8n does not show which the new one is. */
export interface Retried {
  readonly id: string
  readonly newId?: string
  readonly status: string
  readonly version?: string | undefined
  readonly execution?: Execution.Execution | undefined
  readonly note?: string
}

export type Outcome = Effect.Success<ReturnType<typeof run>>

/** Milliseconds that must be left to start a retry; a copy also has to be removed. */
const least = { resume: 6_000, send: 8_000, copy: 17_000 } as const

/** Milliseconds that a retry may take: the rest of the call, without the time in which its outcome is read. */
const timeLeft = Effect.map(Deadline.left, (left) => Math.max(0, Math.min(left, Deadline.callMillis) - 2_000))

const ask = Effect.fnUntraced(function*(planned: ReadonlyArray<Plan>, { force, from }: Options) {
  if (planned.length === 0 || planned.length === 1 && from === "failure" && !force) return
  const n8n = yield* N8nClient
  const { confirm } = yield* CallContext
  const names = Rows.grouped(planned, ({ workflowId }) => workflowId).map(({ count, first }) =>
    `${count} of workflow ${first.workflowId} (${Rows.quote(first.workflowName ?? "", 40)})`
  )
  const ways = Rows.grouped(planned, ({ way }) => way).map(({ count, first }) =>
    first.way === "send"
      ? `${counted(count, "recorded request")} to ${new URL(n8n.webhookAddress("")).origin}`
      : `${counted(count, "run")} in a temporary copy`
  )
  const repeats = [...new Set(planned.flatMap((plan) => plan.repeats ?? []))]
  const effects = repeats.length === 0 ? "" : `, which repeats ${Rows.names(repeats, 4, 30)}`
  const start = from === "failure" ? "failed node" : `start (${ways.join(", ")})`
  const doubt = force ? ", also if they may have been sent again already" : ""
  const question = `Retry ${counted(planned.length, "run")} from the ${start}${effects}${doubt}: ${
    Rows.listed(names, 4)
  }?`
  if ((yield* confirm(Visible.label(question, 500))) !== "no") return
  return yield* new Errors.ValidationError({
    reason: "The user did not agree, or could not be asked",
    hint: "Nothing was sent. Ask the user what to do instead."
  })
})

const outcomeOf = (id: string, newId: string, status: string) =>
  Effect.map(
    Effect.option(Executions.use((executions) => executions.get(newId))),
    Option.match({
      onNone: (): Retried => ({ id, newId, status }),
      onSome: (execution): Retried => ({ id, newId, status, execution, version: execution.version })
    })
  )

const taken = "another call retries it"

const startedNothing = (error: Errors.N8nError) => error._tag === "ApiError" && executionWatch.startedNothing(error)

/** Lets n8n retry a run from the failed node, unless another call has meanwhile. */
const resume = Effect.fnUntraced(function*({ attempt, id, newest, workflowId }: Plan, latest: boolean) {
  const n8n = yield* N8nClient
  const log = yield* RetryLog
  const key = keyOf(n8n.instance)
  // Without a writable record, n8n's own is all there is.
  if (!(yield* Effect.orElseSucceed(log.claim(key, attempt), () => true))) {
    return yield* new Skipped({ id, reason: taken })
  }
  const other = yield* Effect.onError(retryAfter(workflowId, id, newest), () => log.release(key, attempt))
  if (other !== undefined) {
    yield* log.release(key, attempt)
    return yield* new Skipped({ id, reason: "another call retried it", as: String(other.id) })
  }
  const answer = yield* n8n.retryExecution(id, latest).pipe(
    Effect.timeoutOption(yield* timeLeft),
    Effect.tapError((error) => !Errors.isUncertain(error) ? log.release(key, attempt) : Effect.void)
  )
  if (Option.isSome(answer)) {
    const [newId, status] = [String(answer.value.id), answer.value.status ?? "unknown"]
    yield* log.settle(key, { ...attempt, newId, status })
    return yield* outcomeOf(id, newId, status)
  }
  const started = yield* retryAfter(workflowId, id, newest)
  return (started === undefined
    ? { id, status: "unknown", note: "n8n has not answered yet" }
    : { id, newId: String(started.id), status: started.status ?? "running" }) satisfies Retried as Retried
})

const refusalOf = (answer: Result.Result<WebhookAnswer, Errors.N8nError>): string | undefined => {
  if (Result.isFailure(answer)) {
    const error = answer.failure
    return error._tag === "ValidationError" || startedNothing(error) ? detailed(error) : undefined
  }
  if (isUnregistered(answer.success)) {
    const { text } = answer.success
    return text.startsWith("<") ? "n8n does not serve its form" : text.slice(0, 200)
  }
  return retryRequests.refusal(answer.success)
}

/**
 * Requests to a workflow and the runs that they start. n8n does not say which, and the requests are not marked: a run
 * belongs to a request if its trigger has returned the same.
 */
const makeWatch = Effect.fnUntraced(function*(workflowId: string) {
  const { pending, refresh, settled } = yield* executionWatch.newRuns(
    workflowId,
    (execution) => retryRequests.fingerprint(retryPlan.startItemOf(execution)?.item)
  )
  const sent = new Map<string, string>()
  const resolve = (id: string) => {
    const equal = [...sent.keys()].filter((each) => sent.get(each) === sent.get(id))
    const runs = [...settled].flatMap(([newId, { value }]) => value === sent.get(id) ? [newId] : [])
      .toSorted((a, b) => Number(a) - Number(b))
    return {
      isComplete: runs.length >= equal.length,
      newId: runs.length > equal.length ? undefined : runs[equal.indexOf(id)],
      candidates: [...runs, ...pending]
    }
  }
  return { sent, pending, refresh, settled, resolve }
})

type Watch = Effect.Success<ReturnType<typeof makeWatch>>

const settle = Effect.fnUntraced(function*({ attempt, id }: Pick<Plan, "attempt" | "id">, watch: Watch) {
  const { instance } = yield* N8nClient
  const { newId } = watch.resolve(id)
  const status = watch.settled.get(newId ?? "")?.status
  if (newId === undefined || status === undefined) return undefined
  yield* RetryLog.use((log) => log.settle(keyOf(instance), { ...attempt, newId, status }))
  return { newId, status }
})

const send = Effect.fnUntraced(function*({ attempt, id, workflowId }: Plan, watch: Watch) {
  const n8n = yield* N8nClient
  const log = yield* RetryLog
  const key = keyOf(n8n.instance)
  const { request } = yield* retryPlan.requestOf(id, yield* n8n.getWorkflow(workflowId))
  if (request === undefined) return yield* new Skipped({ id, reason: "its trigger was replaced" })
  const { fingerprint, path, text: _, ...call } = request
  if (!(yield* log.claim(key, attempt))) return yield* new Skipped({ id, reason: taken })
  watch.sent.set(id, fingerprint)
  const seconds = (yield* timeLeft) / 1_000
  const answer = yield* Effect.result(n8n.callWebhook(path, { ...call, seconds }))
  const reason = refusalOf(answer)
  if (reason !== undefined) {
    watch.sent.delete(id)
    yield* log.release(key, attempt)
    return yield* new Skipped({ id, reason })
  }
  const answeredAt = yield* Clock.currentTimeMillis
  yield* Effect.andThen(watch.refresh, Clock.currentTimeMillis).pipe(
    Effect.repeat({
      schedule: Schedule.spaced("250 millis"),
      until: (now) =>
        watch.resolve(id).isComplete || watch.pending.size === 0 && now - answeredAt > executionWatch.listingDelay
    }),
    Effect.timeout(yield* timeLeft),
    Effect.ignore
  )
  // Recorded now in case the server stops, unless a run that goes on could be the one.
  if (watch.pending.size === 0) yield* settle({ attempt, id }, watch)
  const note = Result.isSuccess(answer) ? `the webhook answered ${answer.success.status}` : detailed(answer.failure)
  return { id, status: "unknown", note } satisfies Retried as Retried
})

const copy = Effect.fnUntraced(function*(
  { attempt, id, reference = "", version }: Plan
): Effect.fn.Return<Retried, Errors.N8nError, RetryLog | Effect.Services<ReturnType<typeof WorkflowTesting.run>>> {
  const key = keyOf((yield* N8nClient).instance)
  const log = yield* RetryLog
  let isStarted = false
  const rerun = Effect.gen(function*() {
    isStarted = yield* log.claim(key, attempt)
    if (!isStarted) return yield* new Errors.ValidationError({ reason: taken })
  })
  const timeout = (yield* timeLeft) - 5_000
  const test = yield* Effect.result(WorkflowTesting.run(reference, { mode: "copy", replay: id, rerun, timeout }))
  if (Result.isFailure(test)) {
    const error = test.failure
    if (isStarted && !startedNothing(error)) {
      return { id, status: "unknown", note: `it may have run: ${detailed(error)}` }
    }
    if (isStarted) yield* log.release(key, attempt)
    return yield* error
  }
  const { execution, timedOut } = test.success
  const { id: newId, status } = execution
  yield* log.settle(key, { ...attempt, newId, status })
  const note = timedOut ? { note: `stopped after ${Math.round(timeout / 1_000)} s, the time of one call` } : {}
  return { id, newId, status, version, execution, ...note }
})

/** Adds the new run to a request that was sent; certain when all requests are over. */
const withNewRun = Effect.fnUntraced(function*(retried: Retried, plan: Plan, watch: Watch) {
  const started = yield* settle(plan, watch)
  if (started !== undefined) return yield* outcomeOf(plan.id, started.newId, started.status)
  const { candidates } = watch.resolve(plan.id)
  const which = candidates.length === 0
    ? "n8n lists no run of it"
    : `its run is one of ${Rows.listed(candidates, 5)}`
  return { ...retried, note: `${retried.note}; ${which}` }
})

const carryOut = Effect.fnUntraced(function*(planned: ReadonlyArray<Plan>, { latest }: Options) {
  const log = yield* RetryLog
  const sending = new Set(planned.flatMap(({ way, workflowId }) => way === "send" ? [workflowId] : []))
  const watches = new Map(
    yield* Effect.forEach(sending, (id) => Effect.map(makeWatch(id), (watch) => [id, watch] as const))
  )
  const { results, skipped } = yield* retryPlan.forEachRun(planned, {
    needs: Math.max(...planned.map(({ way }) => least[way])),
    message: () => "runs retried"
  }, (plan) => {
    const watch = watches.get(plan.workflowId)
    const step: Effect.Effect<Retried, Errors.N8nError | Skipped, Effect.Services<ReturnType<typeof copy>>> =
      plan.way === "copy"
        ? copy(plan)
        : plan.way === "send" && watch !== undefined
        ? send(plan, watch)
        : resume(plan, latest)
    return Effect.map(log.oneAtATime(plan.attempt.run)(step), (result) => ({ plan, result }))
  })
  yield* Effect.forEach(watches.values(), ({ refresh }) => Effect.ignore(refresh), { discard: true })
  return {
    skipped,
    retried: yield* Effect.forEach(results, ({ plan, result }) => {
      const watch = watches.get(plan.workflowId)
      return watch?.sent.has(plan.id) === true ? withNewRun(result, plan, watch) : Effect.succeed(result)
    }, { concurrency: retryPlan.concurrency })
  }
})

const maxCalls = 10

/** Requests of the nodes that ran in an execution, not of those whose items it reuses, and of the workflows it called. */
const sentBy = Effect.fnUntraced(function*(
  execution: Execution.Execution,
  redacts: boolean,
  depth = 1
): Effect.fn.Return<
  ReadonlyArray<SentRequests.Row>,
  Errors.N8nError,
  Effect.Services<ReturnType<typeof retryAdvice.outsideNodes>> | Executions | N8nClient
> {
  const outside = yield* retryAdvice.outsideNodes(execution.workflow?.nodes ?? [])
  const rows = [
    ...yield* SentRequests.byAddress(
      { execution, outside: outside.filter(({ node }) => !isCaller(node.type)) },
      redacts
    )
  ]
  if (depth > 3) return rows
  for (const { node } of outside.filter(({ node }) => isCaller(node.type))) {
    const calls = (execution.runs.get(node.name) ?? []).filter((run) => !Execution.isReused(execution, run))
      .flatMap((run) => Execution.calls(execution, node.name, run, maxCalls))
    for (const { executionId } of calls.slice(0, maxCalls)) {
      const child = yield* Effect.option(Executions.use((executions) => executions.get(executionId)))
      if (Option.isNone(child)) continue
      const inner = yield* sentBy(child.value, redacts, depth + 1)
      rows.push(...inner.map((row) => ({ ...row, node: `${node.name} > ${row.node}` })))
    }
  }
  return rows
})

export const run = Effect.fn("Retry.run")(function*(options: Options & { readonly redacts: boolean }) {
  const { cursor, heads, next, note, skipped } = yield* retryPlan.choose(options)
  const plan = yield* retryPlan.make(options, heads)
  const planned = plan.results
  if (!options.dryRun) yield* ask(planned, options)
  const done = options.dryRun ? { retried: [], skipped: [] } : yield* carryOut(planned, options)
  const all = [...skipped, ...plan.skipped, ...done.skipped].toSorted((a, b) => Number(a.id) - Number(b.id))
  const sent = yield* Effect.forEach(done.retried, ({ execution, id }) =>
    Effect.map(
      execution === undefined ? Effect.succeed([]) : Effect.orElseSucceed(sentBy(execution, options.redacts), () => []),
      (rows) => rows.map((row) => ({ id, row }))
    ))
  return {
    planned,
    retried: done.retried,
    /** Requests of the new runs, with the ids of the runs that were retried. */
    sent: sent.flat(),
    skipped: all.filter(({ reason }) => reason !== retryPlan.unreached),
    unreached: all.flatMap(({ id, reason }) => reason === retryPlan.unreached ? [id] : []),
    next,
    /** Cursor of older runs that match, besides those requested. */
    cursor,
    note
  }
})
