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
import * as Traffic from "../n8n/Traffic.ts"
import { credentials, publications } from "./detect/Detectors.ts"
import { gather, type Gathered } from "./gather.ts"
import type { Incident } from "./Incident.ts"
import * as Judgment from "./Judgment.ts"
import { day } from "./Observation.ts"
import * as observe from "./observe.ts"
import * as reading from "./reading.ts"
import * as tell from "./tell.ts"
import * as Thresholds from "./Thresholds.ts"
import { claim, format, release, save, type State } from "./watchState.ts"

export type { Incident } from "./Incident.ts"

export interface Options {
  /** Milliseconds between two polls; watchers of one state use the same. */
  readonly every: number
  /** IANA name of n8n's own time zone; by default, as runs of Schedule Triggers show it. */
  readonly zone?: string | undefined
  /** Thresholds by the id or name of a workflow, beside those in tags. */
  readonly rules?: Thresholds.Rules | undefined
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
  /** Error that no later poll changes: a missing or wrong address or key. */
  readonly denied?: Errors.N8nError
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

/** Maximum number of requests of a poll, and of the first one, which reads back. */
const most = { first: 200, later: 8 }

/** Longest interval between polls of a slow n8n. */
const maxInterval = 600_000

/** Milliseconds of a request from which n8n counts as slow. */
const slow = 5_000

const maxOutbox = 200

/** Incident, and its last occurrence. */
interface Seen<A> {
  readonly incident: A
  readonly last: number
}

/** Separates new incidents from known ones, and adds all to the record. */
const newOnes = <A extends { readonly key: string }>(
  reported: State["reported"],
  seen: ReadonlyArray<Seen<A>>,
  now: number
) => {
  const record = new Map(Object.entries(reported).filter(([, last]) => now - last < 2 * day))
  const fresh: Array<A> = []
  for (const { incident, last } of seen) {
    const before = record.get(incident.key)
    if (before === undefined || last - before >= day) fresh.push(incident)
    record.set(incident.key, Math.max(before ?? -Infinity, last))
  }
  return { fresh, reported: Object.fromEntries(record) }
}

/** Sentences that are new, and the record with them. */
const newNotes = (notes: State["notes"], sentences: ReadonlyMap<string, string>, now: number) => ({
  unknown: [...sentences].flatMap(([key, sentence]) => Object.hasOwn(notes, key) ? [] : [sentence]),
  notes: { ...notes, ...Object.fromEntries(Array.from(sentences.keys(), (key) => [key, now])) }
})

/** Sentences about names in a file that n8n lacks; none while the list of workflows is incomplete. */
const unusedRules = (rules: Thresholds.Rules | undefined, { list, workflows }: Pick<State, "list" | "workflows">) =>
  list.cursor === undefined
    ? Thresholds.unused(rules, workflows).map((key) =>
      [
        `unused:${key}`,
        `Which workflow '${Visible.label(key)}' in the thresholds file means: none has this id or name.`
      ] as const
    )
    : []

/** Sentences about tags that mean nothing, silence that cannot be seen, and schedules that cannot be judged. */
const unclear = (
  ruled: Gathered["ruled"],
  schedules: ReadonlyMap<string, ReadonlyArray<string>>
): ReadonlyArray<readonly [key: string, sentence: string]> => [
  ...ruled.flatMap(({ entry: { name }, id, mistakes }) =>
    mistakes.map((text) =>
      [
        `rule:${id}:${text}`,
        `What the tag 'watch: ${Visible.label(text, 30)}' of '${Visible.label(name)}' means: ${Thresholds.forms}.`
      ] as const
    )
  ),
  ...ruled.flatMap(({ entry, id, silent }) =>
    silent !== undefined && Judgment.savesOf(entry) === "no"
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

/** Keys of episodes that are new. */
const freshOf = (reported: State["reported"], episodes: ReadonlyArray<Judgment.WorkflowEpisode>, now: number) => {
  const seen = episodes.map((each) => ({ incident: { key: tell.keyOf(each) }, last: each.episode.to }))
  return new Set(newOnes(reported, seen, now).fresh.map(({ key }) => key))
}

const versionOf = ({ episode }: Judgment.WorkflowEpisode) =>
  episode.kind === "failed"
    ? episode.origin.isCrash ? undefined : episode.origin.version
    : episode.kind === "empty"
    ? episode.version
    : undefined

/** Incidents of episodes; for new ones, n8n is asked when it published the version, once a workflow. */
const describe = Effect.fnUntraced(function*(
  episodes: ReadonlyArray<Judgment.WorkflowEpisode>,
  workflows: State["workflows"],
  { fresh, isV1, left, now, outage }: {
    readonly fresh: ReadonlySet<string>
    readonly isV1: boolean
    readonly left: number
    readonly now: number
    readonly outage: State["outage"]
  }
) {
  const changed = episodes.filter((each) => fresh.has(tell.keyOf(each)) && versionOf(each) !== undefined)
  const ids = [...new Set(changed.map(({ workflowId }) => workflowId))].slice(0, Math.max(0, left))
  const published = new Map(
    yield* Effect.forEach(ids, (id) => Effect.map(reading.publishedAt(id), (times) => [id, times] as const), {
      concurrency: 2
    })
  )
  return episodes.map((each): Seen<Incident> => {
    const { changedAt, name = each.workflowId, savedAt, version } = workflows[each.workflowId] ?? {}
    const incident = tell.incident(each, {
      now,
      name,
      beginOf: (version) => {
        const at = published.get(each.workflowId)?.get(version)
        return at === undefined ? undefined : { at, event: "published" }
      },
      savedAt: isV1 ? savedAt : undefined,
      version: version === undefined || changedAt === undefined ? undefined : { id: version, since: changedAt },
      outages: outage === undefined ? [] : [{ from: outage.since, to: outage.until, worked: outage.worked }]
    })
    return { incident, last: each.episode.to }
  })
})

/** Looks at n8n, and returns the next state with the incidents. */
const look = Effect.fnUntraced(function*(
  state: State | undefined,
  { rules, traffic, zone: named, ...options }: Options & { readonly slot: number; readonly traffic: Traffic.Traffic }
) {
  const now = yield* Clock.currentTimeMillis
  const { gone, known, list, observed, off, release, ruled, unlisted, unread, zone, ...read } = yield* gather(state, {
    ...options,
    rules,
    traffic,
    zone: named
  })
  const circumstances: Judgment.Circumstances = {
    now,
    seenFrom: read.runs.next.seenFrom,
    zone: named ?? zone?.name,
    isV1: release.isV1,
    silentOf: (workflow) => Thresholds.of(workflow, rules).silent
  }
  let { runs } = read
  let judgment = Judgment.judge(known, observed, circumstances)
  // A missing execution may be running: running ones are listed separately.
  const isMissing = judgment.episodes.some(({ episode: { isOver, kind } }) =>
    !isOver && (kind === "missed" || kind === "silent")
  )
  if (state !== undefined && isMissing && !runs.hasRunning && Traffic.left(traffic) > 0) {
    const more = yield* observe.running(runs)
    runs = { ...runs, next: more.next }
    const started = [...observed.started, ...more.started]
    judgment = Judgment.judge(known, { ...observed, started, running: more.running }, circumstances)
  }
  const { unknown: schedules, workflows } = judgment
  const outage = state?.outage && { ...state.outage, until: state.outage.until ?? now }
  const isRecent = ({ episode: { isOver, kind, to } }: Judgment.WorkflowEpisode) =>
    !isOver || kind === "failed" || kind === "missed" || kind === "stuck" || to >= (state?.polledAt ?? now)
  const episodes = Judgment.withoutCallers(
    judgment.episodes.filter((each) => !off.has(each.workflowId) && isRecent(each)),
    workflows
  )
  const fresh = state === undefined ? new Set<string>() : freshOf(state.reported, episodes, now)
  const { isV1 } = release
  const incidents = yield* describe(episodes, workflows, { fresh, isV1, left: Traffic.left(traffic), now, outage })
  if (state === undefined) {
    const { notes, unknown } = newNotes({}, new Map(unusedRules(rules, { list, workflows })), now)
    const times = { since: now, polledAt: now, ...runs.next }
    const { reported } = newOnes({}, incidents, now)
    const nothing = { unread: [], unlisted, credentials: {}, outbox: [], ...defined({ zone }) }
    const next: State = { format, ...times, ...nothing, reported, workflows, list, release, notes }
    return { next, fresh: [], unknown }
  }
  const tests = yield* credentials.detect(state.credentials, workflows, {
    left: Traffic.left(traffic),
    refused: episodes.flatMap((each) =>
      each.episode.kind === "failed" && fresh.has(tell.keyOf(each)) && reading.isRefused(each.episode.origin)
        ? [each.workflowId]
        : []
    ),
    since: state.since
  })
  const others = [
    ...publications.detect(state.workflows, workflows, { gone: gone.map(([id]) => id), now, outageEnd: outage?.until }),
    ...tests.incidents
  ].filter(({ workflowId }) => workflowId === undefined || !off.has(workflowId))
  const record = newOnes(state.reported, [...incidents, ...others.map((incident) => ({ incident, last: now }))], now)
  const sentences = new Map([
    ...unclear(ruled, schedules),
    ...unusedRules(rules, { list, workflows: { ...state.workflows, ...workflows } }),
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
    unread,
    unlisted,
    workflows,
    list,
    reported: record.reported,
    credentials: tests.credentials,
    release,
    ...defined({ zone }),
    notes
  }
  // A report is of now: only the end of an incident is news.
  const current = tell.gathered(record.fresh, tell.crashesOf(episodes)).map(({ isOver, ...rest }): Incident =>
    isOver === true ? { ...rest, isOver } : rest
  )
  return { next, fresh: current, unknown }
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
  const { setAside, state, tidy } = claimed
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
    const isDenied = error?._tag === "ValidationError" || error?._tag === "ApiError" &&
        ([401, 403].includes(Errors.statusOf(error) ?? 0) || error.reason._tag === "Unreadable")
    if (fault !== undefined && state === undefined) {
      yield* release(slot, false)
      return {
        ...skipped(options.every),
        isSkipped: false,
        fault,
        requests: traffic.sent,
        ...isDenied ? { denied: error } : {}
      }
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
        ? [
          ...setAside === undefined ? [] : [setAside],
          ...unknown,
          "n8n answers slowly: it is looked at less often until it does better."
        ]
        : [...setAside === undefined ? [] : [setAside], ...unknown],
      ...defined({ fault, denied: isDenied ? error : undefined }),
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
