/**
 * Retries of many runs: from the failed node, as n8n does, or from the start.
 *
 * **Details**
 *
 * From the start, a webhook, form or chat trigger receives its recorded request again at its production address; any
 * other trigger returns its recorded items in a temporary copy of the published version, of which every node runs.
 * `RetryLog` records each before it is sent; n8n records the retries from a failed node itself.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { CallContext } from "../base/CallContext.ts"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import { counted } from "../base/Plural.ts"
import * as Visible from "../base/Visible.ts"
import type * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import { RetryLog } from "../executions/RetryLog.ts"
import type * as Selection from "../executions/Selection.ts"
import { isUnregistered, N8nClient, type WebhookAnswer } from "../n8n/N8nClient.ts"
import * as retryHistory from "./retryHistory.ts"
import * as retryPlan from "./retryPlan.ts"
import { detailed, type Options, type Plan, type Planned, Skipped } from "./retryPlan.ts"
import * as retryWatch from "./retryWatch.ts"
import * as WorkflowTesting from "./WorkflowTesting.ts"

export type { Options, Planned, Skipped } from "./retryPlan.ts"

/** Run that was retried; without `newId`, n8n does not show which the new one is. */
export interface Retried {
  readonly id: string
  readonly newId?: string
  readonly status: string
  readonly version?: string | undefined
  readonly execution?: Execution.Execution | undefined
  /** Peculiarity of the outcome. */
  readonly note?: string
}

/** Outcome of a call. */
export interface Outcome {
  readonly planned: ReadonlyArray<Planned>
  readonly retried: ReadonlyArray<Retried>
  readonly skipped: ReadonlyArray<Skipped>
  /** Runs that were not reached in time. */
  readonly unreached: ReadonlyArray<string>
  /** Arguments that continue an incomplete set of runs. */
  readonly next: ReturnType<typeof Selection.next>
  readonly note: string | undefined
}

/** Milliseconds of one call, unless its deadline is earlier. */
const callMillis = 45_000

/** Milliseconds that must be left to start a retry; a copy also has to be removed. */
const least = { resume: 4_000, send: 6_000, copy: 15_000 } as const

/** Asks the user whether to retry more than one run, or any from the start. */
const ask = Effect.fnUntraced(function*(planned: ReadonlyArray<Plan>, { from }: Options) {
  if (planned.length === 0 || planned.length === 1 && from === "failure") return
  const n8n = yield* N8nClient
  const groups = [...Map.groupBy(planned, ({ workflowId }) => workflowId)]
  const names = groups.slice(0, 4).map(([id, all]) =>
    `${all.length} of workflow ${id} ('${Visible.label(all[0]?.workflowName ?? "", 40)}')`
  )
  const more = groups.length > names.length ? `, and those of ${groups.length - names.length} more` : ""
  const sent = planned.filter(({ action }) => action === "send").length
  const copied = planned.filter(({ action }) => action === "copy").length
  const ways = [
    ...(sent === 0 ? [] : [`${counted(sent, "recorded request")} to ${new URL(n8n.webhookAddress("")).origin}`]),
    ...(copied === 0 ? [] : [`${counted(copied, "run")} in a temporary copy`])
  ]
  const question = `Retry ${counted(planned.length, "run")} from the ${
    from === "start" ? `start (${ways.join(", ")})` : "failed node"
  }: ${names.join(", ")}${more}?`
  const { confirm } = yield* CallContext
  if ((yield* confirm(Visible.label(question, 500))) !== "no") return
  return yield* new Errors.ValidationError({
    reason: "The user did not agree",
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

/** Lets n8n retry a run from the failed node, unless another call has meanwhile. */
const resume = Effect.fnUntraced(function*({ id, newest, workflowId }: Plan, latest: boolean, end: number) {
  const n8n = yield* N8nClient
  const other = yield* retryHistory.retryAfter(workflowId, id, newest)
  if (other !== undefined) return yield* new Skipped({ id, reason: "another call retried it", as: String(other.id) })
  const left = end - (yield* Clock.currentTimeMillis)
  const answer = yield* n8n.retryExecution(id, latest).pipe(Effect.timeoutOption(left))
  if (Option.isSome(answer)) {
    return yield* outcomeOf(id, String(answer.value.id), answer.value.status ?? "unknown")
  }
  const started = yield* retryHistory.retryAfter(workflowId, id, newest)
  const retried: Retried = started === undefined
    ? { id, status: "unknown", note: "n8n has not answered yet" }
    : { id, newId: String(started.id), status: started.status ?? "running" }
  return retried
})

const taken = "another call has sent its request"

/** Answers that n8n gives before it starts a run: the caller is not authorized. */
const isRefusal = ({ status, text }: WebhookAnswer) =>
  status === 401 || status === 403 && /authoriz|IP is not allowed|^$/i.test(text)

/** Reason why a request has certainly started nothing. */
const nothingStarted = (answer: Result.Result<WebhookAnswer, Errors.N8nError>): string | undefined => {
  if (Result.isFailure(answer)) {
    const error = answer.failure
    const isCertain = error._tag === "ValidationError" ||
      error._tag === "ApiError" && WorkflowTesting.startedNothing(error)
    return isCertain ? detailed(error) : undefined
  }
  const { status, text } = answer.success
  return isUnregistered(answer.success) ? text.slice(0, 200) : `the webhook refused it (HTTP ${status})`
}

/** Sends the recorded request of a run again, and waits for the end of the run that it starts. */
const send = Effect.fnUntraced(function*(planned: Plan, watch: retryWatch.Watch, end: number) {
  const { attempt, id, workflowId } = planned
  const n8n = yield* N8nClient
  const log = yield* RetryLog
  const { key } = n8n.instance
  const { request } = yield* retryPlan.requestOf(id, yield* n8n.getWorkflow(workflowId))
  if (request === undefined) return yield* new Skipped({ id, reason: "its trigger was replaced" })
  const { fingerprint, path, text: _, ...call } = request
  if (!(yield* log.claim(key, attempt))) return yield* new Skipped({ id, reason: taken })
  watch.expect(id, fingerprint)
  const left = end - (yield* Clock.currentTimeMillis)
  const answer = yield* Effect.result(n8n.callWebhook(path, { ...call, seconds: left / 1_000 }))
  const isRefused = Result.isFailure(answer) || isUnregistered(answer.success) || isRefusal(answer.success)
  const reason = isRefused ? nothingStarted(answer) : undefined
  if (reason !== undefined) {
    watch.forget(id, fingerprint)
    yield* log.release(key, attempt)
    return yield* new Skipped({ id, reason })
  }
  yield* Effect.ignore(watch.awaitEnd(fingerprint))
  const note = Result.isSuccess(answer) ? `the webhook answered ${answer.success.status}` : detailed(answer.failure)
  const retried: Retried = { id, status: "sent", note }
  return retried
})

/** Runs a workflow with the recorded items of a run's trigger, as a temporary copy. */
const copy = Effect.fnUntraced(function*(
  { attempt, id, reference, version }: Plan,
  end: number
): Effect.fn.Return<Retried, Errors.N8nError, RetryLog | Effect.Services<ReturnType<typeof WorkflowTesting.run>>> {
  const { instance: { key } } = yield* N8nClient
  const log = yield* RetryLog
  let isStarted = false
  const rerun = Effect.gen(function*() {
    if (yield* log.claim(key, attempt)) isStarted = true
    else return yield* new Errors.ValidationError({ reason: taken, hint: [] })
  })
  const timeout = end - (yield* Clock.currentTimeMillis) - 5_000
  const test = yield* Effect.result(WorkflowTesting.run(reference, { mode: "copy", replay: id, rerun, timeout }))
  if (Result.isFailure(test)) {
    const isNothing = test.failure._tag === "ApiError" && WorkflowTesting.startedNothing(test.failure)
    if (!isStarted) return yield* test.failure
    if (!isNothing) return { id, status: "unknown", note: `it may have run: ${detailed(test.failure)}` }
    yield* log.release(key, attempt)
    return yield* test.failure
  }
  const { execution, timedOut } = test.success
  const { id: newId, status } = execution
  yield* log.settle(key, { ...attempt, newId, status })
  const note = timedOut ? { note: `stopped after ${Math.round(timeout / 1_000)} s, the time of one call` } : {}
  return { id, newId, status, version, execution, ...note }
})

/** Adds the new runs to requests that were sent. */
const withMatches = Effect.fnUntraced(function*(
  planned: ReadonlyArray<Plan>,
  retried: ReadonlyArray<Retried>,
  watches: ReadonlyMap<string, retryWatch.Watch>
) {
  const { instance } = yield* N8nClient
  const log = yield* RetryLog
  const matches = new Map<string, retryWatch.Match>()
  for (const watch of watches.values()) for (const [id, match] of yield* watch.resolve) matches.set(id, match)
  return yield* Effect.forEach(retried, (each) =>
    Effect.gen(function*() {
      const match = matches.get(each.id)
      if (match === undefined) return each
      if ("candidates" in match) {
        const which = match.candidates.length === 0
          ? "n8n lists no run of it"
          : `its run is one of ${match.candidates.slice(0, 5).join(", ")}`
        return { ...each, note: `${each.note}; ${which}` }
      }
      const attempt = planned.find(({ id }) => id === each.id)?.attempt
      if (attempt !== undefined) yield* log.settle(instance.key, { ...attempt, ...match })
      return yield* outcomeOf(each.id, match.newId, match.status)
    }), { concurrency: retryPlan.concurrency })
})

const carryOut = Effect.fnUntraced(function*(planned: ReadonlyArray<Plan>, { latest }: Options, end: number) {
  const { progress } = yield* CallContext
  const log = yield* RetryLog
  const sending = new Set(planned.flatMap(({ action, workflowId }) => action === "send" ? [workflowId] : []))
  const watches = new Map(
    yield* Effect.forEach(sending, (id) => Effect.map(retryWatch.make(id), (watch) => [id, watch] as const))
  )
  const unreached: Array<string> = []
  let done = 0
  const results = yield* Effect.forEach(planned, (each) =>
    Effect.gen(function*() {
      if (end - (yield* Clock.currentTimeMillis) < least[each.action]) {
        unreached.push(each.id)
        return undefined
      }
      const watch = watches.get(each.workflowId)
      const step: Effect.Effect<Retried, Errors.N8nError | Skipped, Effect.Services<ReturnType<typeof copy>>> =
        each.action === "copy"
          ? copy(each, end)
          : each.action === "send" && watch !== undefined
          ? send(each, watch, end)
          : resume(each, latest, end)
      const result = yield* retryPlan.orSkipped(each.id)(log.oneAtATime(each.attempt.run)(step))
      yield* progress(++done, planned.length, "runs retried")
      return result
    }), { concurrency: retryPlan.concurrency })
  const { done: retried, skipped } = retryPlan.partition(results.filter((result) => result !== undefined))
  return { unreached, skipped, retried: yield* withMatches(planned, retried, watches) }
})

/** Retries runs, after asking the user, within the time of one call. */
export const run = Effect.fn("Retry.run")(function*(options: Options) {
  const start = yield* Clock.currentTimeMillis
  const { heads, next, note, skipped } = yield* retryPlan.choose(options)
  const planned = yield* retryPlan.make(options, heads, start + callMillis / 2)
  const spent = (yield* Clock.currentTimeMillis) - start
  if (!options.dryRun) yield* ask(planned.planned, options)
  const left = Math.min(callMillis - spent, yield* Deadline.left) - 2_000
  const { retried, ...rest } = options.dryRun
    ? { retried: [], skipped: [], unreached: [] }
    : yield* carryOut(planned.planned, options, (yield* Clock.currentTimeMillis) + left)
  const byId = (a: { readonly id: string }, b: { readonly id: string }) => Number(a.id) - Number(b.id)
  return {
    planned: planned.planned,
    retried,
    skipped: [...skipped, ...planned.skipped, ...rest.skipped].toSorted(byId),
    unreached: [...planned.unreached, ...rest.unreached],
    next,
    note
  } satisfies Outcome
})
