/**
 * Watch over an n8n: each poll looks at what happened since the last one, and reports each incident once.
 *
 * A poll needs few requests, and none for what it knows. Its state is in `Documents`, so that it survives a restart, and
 * so that of several watchers on one state only one polls at a time.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import * as Traffic from "../n8n/Traffic.ts"
import * as failures from "./detect/failures.ts"
import type { Incident } from "./Incident.ts"
import * as observe from "./observe.ts"
import { claim, release, save, type State } from "./state.ts"

export type { Incident, Kind } from "./Incident.ts"

export interface Options {
  /** Milliseconds between two polls; watchers of one state use the same. */
  readonly every: number
  /** IANA name of n8n's own time zone, which its API does not report. */
  readonly zone?: string | undefined
  /** Milliseconds after which a workflow without a run counts as silent; `undefined` leaves it to its rhythm. */
  readonly limit?:
    | ((
      workflow: { readonly id: string; readonly name: string; readonly tags: ReadonlyArray<string> }
    ) => number | undefined)
    | undefined
  /** Whether nothing about a workflow is reported. */
  readonly isOff?:
    | ((workflow: { readonly id: string; readonly name: string; readonly tags: ReadonlyArray<string> }) => boolean)
    | undefined
  /** Whether it is a single look, which takes place as often as it is asked for, not once in each interval. */
  readonly isOnce?: boolean
}

/** Result of a poll. */
export interface Report {
  /** New incidents, and those whose delivery has not been confirmed, oldest first. */
  readonly incidents: ReadonlyArray<Incident>
  /** Sentences about what cannot be known, each once. */
  readonly unknown: ReadonlyArray<string>
  /** Reason why n8n could not be looked at. */
  readonly fault?: string
  /** Whether another watcher of this state polls now, or polled just before. */
  readonly isSkipped: boolean
  /** Number of requests sent to n8n. */
  readonly requests: number
  /** Milliseconds until the next poll should start. */
  readonly nextAfterMs: number
  /** Start of the time slot, for {@link settle}. */
  readonly slot: number
}

/** Maximum number of requests of a poll, and of the first one, which reads back. */
const most = { first: 200, later: 8 }

const day = 86_400_000

/** Longest interval between polls of a slow n8n. */
const maxInterval = 600_000

/** Milliseconds of a request from which n8n counts as slow. */
const slow = 5_000

const maxOutbox = 200

/** Occurrences that were reported: the incidents that are new, and the record with all of them. */
const newOnes = (reported: State["reported"], incidents: ReadonlyArray<Incident>, now: number) => {
  const record = new Map(Object.entries(reported).filter(([, { last }]) => now - last < 2 * day))
  const fresh: Array<Incident> = []
  for (const incident of incidents) {
    const before = record.get(incident.key)
    const isNew = before === undefined || now - before.last >= day
    if (isNew) fresh.push(incident)
    record.set(incident.key, { last: now, count: incident.count + (isNew ? 0 : before.count) })
  }
  return { fresh, reported: Object.fromEntries(record) }
}

const reasonOf = (error: Errors.N8nError) => {
  const { context, message } = Errors.report(error)
  return context["errorDetails"] === undefined ? message : `${message}: ${context["errorDetails"].slice(0, 120)}`
}

/** Looks at n8n, and returns the next state with the incidents. */
const look = Effect.fnUntraced(
  function*(state: State | undefined, options: Options, slot: number, traffic: Traffic.Traffic) {
    const now = yield* Clock.currentTimeMillis
    const runs = yield* observe.executions(state, {
      count: Math.floor(slot / options.every),
      until: now + options.every / 2
    })
    const isNeeded = runs.started.some(({ workflowId }) => state?.workflows[workflowId] === undefined)
    const { gone: _gone, list, workflows } = yield* observe.workflows(state, isNeeded)
    const former = state?.reported ?? {}
    const found = state === undefined ? { incidents: [], unread: [] } : yield* failures.detect(
      [...state.unread, ...failures.among(runs.ended)],
      {
        entries: workflows,
        isKnown: (key) => now - (former[key]?.last ?? -Infinity) < day,
        most: Traffic.left(traffic)
      }
    )
    const { fresh, reported } = newOnes(former, found.incidents, now)
    const next: State = {
      format: 1,
      since: state?.since ?? now,
      polledAt: now,
      ...runs.next,
      unread: found.unread,
      workflows,
      list,
      reported,
      outbox: state?.outbox ?? [],
      notes: state?.notes ?? {}
    }
    return { next, fresh, unknown: [] as ReadonlyArray<string> }
  }
)

/** Incident of an n8n that does not answer, at the second poll in a row. */
const unreachable = (outage: NonNullable<State["outage"]>): Incident => ({
  kind: "unreachable",
  key: `unreachable:${outage.since}`,
  at: new Date(outage.since).toISOString(),
  count: outage.polls,
  what: `n8n could not be looked at ${outage.polls} times in a row`,
  cause: outage.why,
  look: { tool: "instance_overview", arguments: {} }
})

/** Time of the next poll, which doubles its distance while n8n is slow. */
const intervalOf = (state: State | undefined, { every }: Options, isSlow: boolean) =>
  isSlow ? Math.min(Math.max(maxInterval, every), 2 * (state?.interval ?? every)) : every

/**
 * Looks at n8n once. Call {@link settle} when the report is delivered. Fails only if the state cannot be used; an n8n
 * that cannot be looked at is in the report.
 */
export const poll = Effect.fn("Watch.poll")(function*(options: Options) {
  const start = yield* Clock.currentTimeMillis
  const slot = start - start % (options.isOnce === true ? 1_000 : options.every)
  const skipped = (nextAfterMs: number): Report => ({
    incidents: [],
    unknown: [],
    isSkipped: true,
    requests: 0,
    nextAfterMs,
    slot
  })
  const claimed = yield* claim(slot, options.every)
  if (claimed === undefined) return skipped(slot + options.every - start)
  const { state, tidy } = claimed
  if (state?.notBefore !== undefined && start < state.notBefore) {
    yield* release(slot, false)
    return skipped(state.notBefore - start)
  }
  return yield* pollClaimed(options, { start, slot, state, tidy, skipped }).pipe(
    Effect.onInterrupt(() => Effect.ignore(release(slot, false)))
  )
})

/** Looks at n8n in a slot of its own. */
const pollClaimed = Effect.fnUntraced(function*(options: Options, { skipped, slot, start, state, tidy }: {
  readonly start: number
  readonly slot: number
  readonly state: State | undefined
  readonly tidy: Effect.Effect<void>
  readonly skipped: (nextAfterMs: number) => Report
}) {
  const traffic = Traffic.make(state === undefined ? most.first : most.later, 2)
  const looked = yield* look(state, options, slot, traffic).pipe(
    Effect.provideService(Traffic.Current, traffic),
    Effect.timeoutOrElse({
      duration: 0.8 * options.every,
      orElse: () =>
        Effect.fail(
          new Errors.ApiError({
            operation: "look at n8n",
            reason: "Timeout",
            errorDetails: `it took longer than ${Math.round(0.8 * options.every / 1000)} s`,
            hint: "n8n is slow."
          })
        )
    }),
    Effect.result
  )
  const now = yield* Clock.currentTimeMillis
  const isFault = looked._tag === "Failure"
  if (isFault && state === undefined) {
    yield* release(slot, false)
    return { ...skipped(options.every), isSkipped: false, fault: reasonOf(looked.failure), requests: traffic.sent }
  }
  const isSlow = traffic.slowest > slow ||
    isFault && looked.failure._tag === "ApiError" &&
      (looked.failure.statusCode === 429 || looked.failure.reason === "Timeout")
  const interval = intervalOf(state, options, isSlow)
  const outage = isFault
    ? {
      since: state?.outage?.until === undefined ? state?.outage?.since ?? start : start,
      polls: state?.outage?.until === undefined ? (state?.outage?.polls ?? 0) + 1 : 1,
      why: reasonOf(looked.failure)
    }
    : state?.outage && { ...state.outage, until: state.outage.until ?? now }
  const base = isFault ? state as State : looked.success.next
  const fresh = isFault ? outage?.polls === 2 ? [unreachable(outage)] : [] : looked.success.fresh
  const outbox = [...base.outbox.map(({ incident }) => incident), ...fresh].slice(-maxOutbox)
  yield* save({
    ...base,
    ...defined({ outage, interval: isSlow ? interval : undefined, notBefore: isSlow ? start + interval : undefined }),
    outbox: outbox.map((incident) => ({ slot, incident }))
  } as State)
  yield* tidy
  return {
    incidents: outbox,
    unknown: [
      ...isFault ? [] : looked.success.unknown,
      ...isSlow && state?.interval === undefined
        ? ["n8n answers slowly: it is looked at less often until it does better."]
        : []
    ],
    ...isFault ? { fault: reasonOf(looked.failure) } : {},
    isSkipped: false,
    requests: traffic.sent,
    nextAfterMs: Math.max(0, interval - (now - start)),
    slot
  } satisfies Report as Report
})

/** Ends a poll: whether its incidents were delivered. Those that were not are in the next report again. */
export const settle = Effect.fn("Watch.settle")(function*({ isSkipped, slot }: Report, isDelivered: boolean) {
  if (!isSkipped) yield* release(slot, isDelivered)
})
