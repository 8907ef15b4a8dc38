/**
 * Watch over an n8n: each poll looks at what happened since the last one, and reports each incident once.
 *
 * A poll needs few requests, and none for known facts. Its state is in `Documents`, so that it survives a restart, and
 * so that of several watchers on one state only one polls at a time.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import * as Rows from "../base/Rows.ts"
import * as Visible from "../base/Visible.ts"
import { itemCount } from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import * as Traffic from "../n8n/Traffic.ts"
import { credentials, failures, publications } from "./detect/index.ts"
import type { Incident } from "./Incident.ts"
import * as judge from "./judge.ts"
import type { Run } from "./Observation.ts"
import * as observe from "./observe.ts"
import * as Rules from "./Rules.ts"
import { claim, type Entry, release, save, type State } from "./state.ts"

export type { Incident } from "./Incident.ts"

export interface Options {
  /** Milliseconds between two polls; watchers of one state use the same. */
  readonly every: number
  /** IANA name of n8n's own time zone, which its API does not report. */
  readonly zone?: string | undefined
  /** Thresholds by the id or name of a workflow, beside those in tags. */
  readonly rules?: Rules.Rules | undefined
  /** Whether this is a single poll on request, which is not limited to one in each interval. */
  readonly isOnce?: boolean
}

/** Result of a poll. */
export interface Report {
  /** New incidents, and those whose delivery has not been confirmed, oldest first. */
  readonly incidents: ReadonlyArray<Incident>
  /** Sentences about what n8n does not reveal, each once. */
  readonly unknown: ReadonlyArray<string>
  /** Reason why n8n could not be polled. */
  readonly fault?: string
  /** Whether it was the first poll, which learns and reports nothing. */
  readonly isFirst?: boolean
  /** Whether another watcher of this state polls now, or polled just before. */
  readonly isSkipped: boolean
  /** Number of requests sent to n8n. */
  readonly requests: number
  /** Milliseconds until the next poll should start. */
  readonly nextAfterMs: number
  /** Start of the time slot, for {@link settle}. */
  readonly slot: number
}

/** Maximum number of requests of a poll, and of the first one, which reads back, and of runs whose data a poll reads. */
const most = { first: 200, later: 8, samples: 3 }

const day = 86_400_000

/** Longest interval between polls of a slow n8n. */
const maxInterval = 600_000

/** Milliseconds of a request from which n8n counts as slow. */
const slow = 5_000

const maxOutbox = 200

/** Separates new incidents from known ones, and adds all to the record. */
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

/** Number of items at the end of a run; `undefined` if it cannot be read. */
const sampleOf = Effect.fnUntraced(function*(run: Run) {
  const start = yield* Clock.currentTimeMillis
  const execution = yield* Executions.use(({ get }) => get(run.id)).pipe(Effect.orElseSucceed(() => undefined))
  const took = (yield* Clock.currentTimeMillis) - start
  const last = execution?.lastNode
  return {
    workflowId: run.workflowId,
    sample: execution === undefined || last === undefined ? undefined : {
      run: run.id,
      items: itemCount(execution.runs.get(last) ?? []),
      ...defined({ version: execution.version })
    } satisfies judge.Sample,
    // Large data is a burden for n8n: the next read for this workflow is tomorrow.
    after: took > 3_000 ? start + day : undefined
  }
})

/** n8n's release, since 1.x counts the units of schedules differently. */
const releaseOf = Effect.fnUntraced(function*(state: State | undefined, now: number) {
  if (state !== undefined && now - state.release.at < day) return state.release
  const release = yield* N8nClient.use((n8n) => n8n.release)
  return { at: now, isV1: isV1(release) }
})

/** Sentences that are new, and the record with them. */
const newNotes = (notes: State["notes"], sentences: ReadonlyMap<string, string>, now: number) => ({
  unknown: [...sentences].flatMap(([key, sentence]) => Object.hasOwn(notes, key) ? [] : [sentence]),
  notes: { ...notes, ...Object.fromEntries(Array.from(sentences.keys(), (key) => [key, now])) }
})

/** Sentences about names in a file that n8n lacks; none while the list of workflows is incomplete. */
const unusedRules = (rules: Rules.Rules | undefined, { list, workflows }: Pick<State, "list" | "workflows">) =>
  list.cursor === undefined
    ? Rules.unused(rules, workflows).map((key) =>
      [
        `unused:${key}`,
        `Which workflow '${Visible.label(key)}' in the thresholds file means: none has this id or name.`
      ] as const
    )
    : []

const ruledOf = (workflows: State["workflows"], rules: Rules.Rules | undefined) =>
  Object.entries(workflows).map(([id, entry]) => ({ id, entry, ...Rules.of({ id, ...entry }, rules) }))

/** Sentences about tags that mean nothing, silence that cannot be seen, and schedules that cannot be judged. */
const unclear = (
  ruled: ReturnType<typeof ruledOf>,
  schedules: ReturnType<typeof judge.starts>["unknown"]
): ReadonlyArray<readonly [key: string, sentence: string]> => [
  ...ruled.flatMap(({ entry: { name }, id, mistakes }) =>
    mistakes.map((text) =>
      [
        `rule:${id}:${text}`,
        `What the tag 'watch: ${Visible.label(text, 30)}' of '${Visible.label(name)}' means: ${Rules.forms}.`
      ] as const
    )
  ),
  ...ruled.flatMap(({ entry, id, silent }) =>
    silent !== undefined && judge.savesOf(entry) === "no"
      ? [
        [
          `silent:${id}`,
          `Whether '${Visible.label(entry.name)}' is silent: n8n does not save its successful runs.`
        ] as const
      ]
      : []
  ),
  ...[...schedules].map(([reason, names]) =>
    [
      `schedules:${reason}`,
      `Whether ${counted(names.length, "workflow")} started as scheduled (${Rows.names(names, 3, 30)}): ${reason}.`
    ] as const
  )
]

/** Looks at n8n, and returns the next state with the incidents. */
const look = Effect.fnUntraced(function*(
  state: State | undefined,
  { every, rules, slot, traffic, zone }: Options & { readonly slot: number; readonly traffic: Traffic.Traffic }
) {
  const now = yield* Clock.currentTimeMillis
  const count = Math.floor(slot / every)
  let runs: observe.Runs = yield* observe.executions(state, { count, until: now + every / 2 })
  const n8n = yield* releaseOf(state, now)
  const isNeeded = runs.started.some(({ workflowId }) => state?.workflows[workflowId] === undefined)
  const { gone, list, workflows: listed } = yield* observe.workflows(state, {
    every,
    isNeeded,
    left: Traffic.left(traffic)
  })
  const candidates = state === undefined ? [] : judge.sampled(listed, runs, now)
  const readings = yield* Effect.forEach(
    candidates.slice(0, Math.min(most.samples, Math.max(0, Traffic.left(traffic) - 3))),
    sampleOf
  )
  const observed = { ...runs, samples: readings.flatMap(({ sample }) => sample ?? []) }
  const from = state?.polledAt ?? runs.next.seenFrom
  const learned = judge.learn(listed, observed, { from, now })
  const later = readings.flatMap(({ after, workflowId }): ReadonlyArray<readonly [string, Entry]> => {
    const entry = learned[workflowId]
    return after === undefined || entry === undefined ? [] : [[workflowId, { ...entry, sampleAfter: after }]]
  })
  let known = { ...learned, ...Object.fromEntries(later) }
  if (state === undefined) {
    const { notes, unknown } = newNotes({}, new Map(unusedRules(rules, { list, workflows: known })), now)
    const times = { since: now, polledAt: now, ...runs.next }
    const nothing = { unread: [], reported: {}, credentials: {}, outbox: [] }
    const next: State = { format: 1, ...times, ...nothing, workflows: known, list, release: n8n, notes }
    return { next, fresh: [], unknown }
  }
  const outage = state.outage && { ...state.outage, until: state.outage.until ?? now }
  const circumstances: judge.Circumstances = {
    now,
    seenFrom: runs.next.seenFrom,
    zone,
    isV1: n8n.isV1,
    outage,
    limit: (workflow) => Rules.of(workflow, rules).silent
  }
  const judged = () => ({ starts: judge.starts(known, circumstances), silences: judge.silences(known, circumstances) })
  let { silences, starts } = judged()
  // A missing execution may be running: running ones are listed separately.
  if (!runs.hasRunning && starts.incidents.length + silences.length > 0 && Traffic.left(traffic) > 0) {
    const more = yield* observe.running(runs)
    known = judge.learn(known, { ...more, ended: [], waited: new Set() }, { from, now })
    runs = { ...runs, ...more }
    ;({ silences, starts } = judged())
  }
  const all = { ...state.workflows, ...known }
  const ruled = ruledOf(all, rules)
  const off = new Set(ruled.flatMap(({ id, isOff }) => isOff ? [id] : []))
  const isKnown = (key: string) => now - (state.reported[key]?.last ?? -Infinity) < day
  const failed = yield* failures.detect(
    [...state.unread, ...failures.among(runs.ended)].filter((each) => !off.has(each.workflowId)),
    {
      before: state.workflows,
      ended: runs.ended,
      entries: known,
      isKnown,
      left: Traffic.left(traffic)
    }
  )
  const tests = yield* credentials.detect(state.credentials, known, {
    left: Traffic.left(traffic),
    refused: failed.refused,
    since: state.since
  })
  const incidents = [
    ...failed.incidents,
    ...publications.detect(state.workflows, known, {
      gone: gone.map(([id]) => id),
      now,
      outageEnd: outage?.until
    }),
    ...starts.incidents,
    ...silences,
    ...judge.emptiness(known, observed),
    ...judge.slowness(listed, observed, { now, isKnown }),
    ...tests.incidents
  ]
  const { fresh, reported } = newOnes(
    state.reported,
    incidents.filter(({ workflowId }) => workflowId === undefined || !off.has(workflowId)),
    now
  )
  const sentences = new Map([
    ...unclear(ruled, starts.unknown),
    ...unusedRules(rules, { list, workflows: all }),
    ...tests.unknown,
    ...runs.lostBefore === undefined ? [] : [
      [
        `lost:${Math.floor(now / day)}`,
        `What ran before ${
          new Date(runs.lostBefore).toISOString()
        } since the last poll: there were too many runs to read.`
      ] as const
    ]
  ])
  const { notes, unknown } = newNotes(state.notes, sentences, now)
  const next: State = {
    ...state,
    polledAt: now,
    ...runs.next,
    unread: failed.unread,
    workflows: starts.workflows,
    list,
    reported,
    credentials: tests.credentials,
    release: n8n,
    notes
  }
  return { next, fresh: judge.gathered(fresh), unknown }
})

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

/** Time of the next poll; the interval doubles while n8n is slow. */
const intervalOf = (state: State | undefined, { every }: Options, isSlow: boolean) =>
  isSlow ? Math.min(Math.max(maxInterval, every), 2 * (state?.interval ?? every)) : every

const tooSlow = (duration: number) =>
  Effect.fail(
    new Errors.ApiError({
      operation: "look at n8n",
      reason: new Errors.Timeout({
        details: `it took longer than ${Math.round(duration / 1000)} s`,
        duration: Duration.millis(duration)
      }),
      hint: "n8n is slow."
    })
  )

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
  return yield* Effect.gen(function*() {
    const traffic = Traffic.make(state === undefined ? most.first : most.later, 2)
    const looked = yield* look(state, { ...options, slot, traffic }).pipe(
      Effect.provideService(Traffic.Current, traffic),
      Effect.timeoutOrElse({ duration: 0.8 * options.every, orElse: () => tooSlow(0.8 * options.every) }),
      Effect.result
    )
    const now = yield* Clock.currentTimeMillis
    const error = looked._tag === "Failure" ? looked.failure : undefined
    const fault = error && Errors.inOneLine(error, 120)
    if (fault !== undefined && state === undefined) {
      yield* release(slot, false)
      return { ...skipped(options.every), isSkipped: false, fault, requests: traffic.sent }
    }
    const isSlow = traffic.slowest > slow ||
      error?._tag === "ApiError" && (Errors.statusOf(error) === 429 || error.reason._tag === "Timeout")
    const interval = intervalOf(state, options, isSlow)
    const before = state?.outage?.until === undefined ? state?.outage : undefined
    const outage = fault === undefined
      ? state?.outage && { ...state.outage, until: state.outage.until ?? now }
      : {
        since: before?.since ?? start,
        polls: (before?.polls ?? 0) + 1,
        why: fault,
        ...defined({ worked: state?.polledAt })
      }
    const { fresh, next, unknown } = looked._tag === "Success" ? looked.success : {
      fresh: outage?.polls === 2 ? [unreachable(outage)] : [],
      next: state as State,
      unknown: []
    }
    const incidents = [...next.outbox.map(({ incident }) => incident), ...fresh].slice(-maxOutbox)
    const { interval: _, notBefore: __, ...rest } = next
    yield* save({
      ...rest,
      ...defined({ outage }),
      ...isSlow ? { interval, notBefore: start + interval } : {},
      outbox: incidents.map((incident) => ({ slot, incident }))
    })
    yield* tidy
    return {
      incidents,
      unknown: isSlow && state?.interval === undefined
        ? [...unknown, "n8n answers slowly: it is looked at less often until it does better."]
        : unknown,
      ...defined({ fault }),
      isFirst: state === undefined,
      isSkipped: false,
      requests: traffic.sent,
      nextAfterMs: Math.max(0, interval - (now - start)),
      slot
    } satisfies Report
  }).pipe(Effect.onInterrupt(() => Effect.ignore(release(slot, false))))
})

/** Ends a poll. Incidents that were not delivered are in the next report again. */
export const settle = Effect.fn("Watch.settle")(function*({ isSkipped, slot }: Report, isDelivered: boolean) {
  if (!isSkipped) yield* release(slot, isDelivered)
})
