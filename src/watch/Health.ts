/** Health of an n8n over a span of the past, judged from its stored executions. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { defined, type Obj } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import * as Rows from "../base/Rows.ts"
import type * as Publications from "../n8n/model/Publications.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import * as Traffic from "../n8n/Traffic.ts"
import * as Schedules from "../workflow/Schedules.ts"
import * as Changes from "./Changes.ts"
import { failures, type Sample } from "./detect/index.ts"
import * as History from "./History.ts"
import type { Incident, Kind } from "./Incident.ts"
import * as InstanceClock from "./InstanceClock.ts"
import { isAttended, type Run } from "./Observation.ts"
import * as observe from "./observe.ts"
import * as Pace from "./Pace.ts"
import * as reading from "./reading.ts"
import * as Rules from "./Rules.ts"
import type { Entry, State } from "./state.ts"
import * as tell from "./tell.ts"

/** Day in the zone of the report. */
export interface Day {
  /** `2026-11-28`. */
  readonly date: string
  readonly runs: number
  readonly failed: number
  /** Kinds of incidents that touched the day, with their numbers of occurrences. */
  readonly incidents: { readonly [K in Kind]?: number }
}

/** Change of a workflow near an incident's beginning. */
export interface Change {
  /** ISO 8601. */
  readonly at: string
  readonly event: "published" | "unpublished" | "saved"
  readonly version?: string
}

/** Workflow with incidents in the span. */
export interface Row {
  readonly workflowId: string
  /** Absent if n8n no longer has the workflow. */
  readonly workflowName?: string
  readonly isPublished: boolean
  readonly runs: number
  readonly failed: number
  /** In order of their beginnings. */
  readonly incidents: ReadonlyArray<Incident>
  readonly changes: ReadonlyArray<Change>
  readonly days: ReadonlyArray<Day>
}

/** Workflow without incidents. */
export interface HealthyRow {
  readonly workflowId: string
  readonly workflowName: string
  readonly runs: number
  readonly days: ReadonlyArray<Day>
}

/** Clock of n8n. */
export interface InstanceTime {
  /** Milliseconds by which n8n's clock is ahead of this machine's; absent if no answer tells. */
  readonly ahead?: number
  /** IANA name of n8n's own time zone; absent if no run tells. */
  readonly zone?: string
  /** Run that told the zone, or `option` where the caller named it. */
  readonly zoneFrom?: string
}

export interface Health {
  /** ISO 8601. */
  readonly since: string
  readonly until: string
  /** Time from which all saved runs of the span were read, if that is later than `since`. */
  readonly readFrom?: string
  readonly clock: InstanceTime
  readonly runs: number
  readonly failed: number
  /** Incidents of several workflows at once, such as a time without n8n. */
  readonly shared: ReadonlyArray<Incident>
  /** Workflows with incidents, the worst first. */
  readonly rows: ReadonlyArray<Row>
  readonly healthy: ReadonlyArray<HealthyRow>
  /** Number of published workflows without a run and without an incident. */
  readonly idle: number
  /** Number of workflows that are not judged, because of a tag `watch: off`. */
  readonly off: number
  /** Sentences about what n8n does not reveal, or was not read. */
  readonly unknown: ReadonlyArray<string>
  readonly requests: number
}

export interface Options {
  /** Epoch milliseconds. */
  readonly since: number
  /** Ids of the workflows to judge; default all. */
  readonly workflows?: ReadonlyArray<string> | undefined
  /** IANA name of n8n's own time zone, if the caller knows it. */
  readonly zone?: string | undefined
}

const hour = 3_600_000
const day = 24 * hour

/** Span before the judged one that shows what is usual. */
const usualSpan = 10 * day

/** Maximum numbers of requests, of pages of executions, and of runs that are read for a reason and for items. */
const most = { requests: 1_500, pages: 60, origins: 150, samples: 600, concurrency: 4 }

/** Milliseconds for the list of executions, and for the runs whose data are read. */
const time = { list: 12_000, read: 8_000 }

/** Maximum number of failed runs of a workflow that are read, and of its runs whose items are counted. */
const perWorkflow = { origins: 8, samples: 40, spread: 12 }

/** Maximum number of workflows whose versions are read, and of episodes of slow runs that are looked into. */
const details = { changes: 20, pace: 10 }

/** Elements of a list in equal distances, with the first and the last. */
const spread = <A>(list: ReadonlyArray<A>, count: number): ReadonlyArray<A> =>
  list.length <= count
    ? list
    : [...new Set(Array.from({ length: count }, (_, index) => Math.round(index * (list.length - 1) / (count - 1))))]
      .flatMap((index) => list[index] ?? [])

const groupsOf = (runs: ReadonlyArray<Run>) => [...Map.groupBy(runs, ({ workflowId }) => workflowId).values()]

/** Failed runs whose reasons are read: some of each workflow, and the last one before the judged span. */
const suspects = (ended: ReadonlyArray<Run>, since: number) => {
  const groups = groupsOf(ended.filter(failures.hasFailed)).map((all) => {
    const first = all.findIndex(({ startedAt }) => startedAt >= since)
    return first < 0
      ? { earlier: [], own: [] }
      : { earlier: all.slice(Math.max(0, first - 1), first), own: all.slice(first) }
  })
  const each = Math.max(2, Math.min(perWorkflow.origins, Math.floor(most.origins / Math.max(1, groups.length))))
  return groups.flatMap(({ earlier, own }) => [...spread(own, each), ...earlier]).slice(0, most.origins)
}

/** Counts the items of a workflow's runs: of all, or of some and of those between a full and an empty one. */
const samplesOf = Effect.fnUntraced(function*(runs: ReadonlyArray<Run>, until: number) {
  const samples = new Map<string, Sample>()
  let isLarge = false
  const read = (own: ReadonlyArray<Run>) =>
    Effect.forEach(own.filter(({ id }) => !samples.has(id)), (run) =>
      Effect.gen(function*() {
        if (isLarge || (yield* Clock.currentTimeMillis) > until) return
        const { after, sample } = yield* reading.sample(run)
        isLarge = after !== undefined
        if (sample !== undefined) samples.set(run.id, sample)
      }), { concurrency: 2 })
  yield* read(spread(runs, runs.length <= perWorkflow.samples ? runs.length : perWorkflow.spread))
  const isFull = (run: Run | undefined) => (samples.get(run?.id ?? "")?.items ?? 0) > 0
  for (let step = 0; step < perWorkflow.spread; step++) {
    const known = runs.flatMap(({ id }, index) => samples.has(id) ? [index] : [])
    const gap = known.findIndex((index, place) =>
      place > 0 && index - (known[place - 1] ?? 0) > 1 && isFull(runs[known[place - 1] ?? 0]) && !isFull(runs[index])
    )
    const [from = 0, to = 0] = gap < 0 ? [] : [known[gap - 1], known[gap]]
    const middle = runs[Math.floor((from + to) / 2)]
    if (gap < 0 || middle === undefined) break
    yield* read([middle])
    if (!samples.has(middle.id)) break
  }
  return samples
})

/** History in parts: whether a workflow was published changes between them. */
const judged = (
  entries: State["workflows"],
  publications: ReadonlyMap<string, ReadonlyArray<Publications.Publication>>,
  observed: History.Observed,
  circumstances: History.Circumstances
) => {
  const { now, seenFrom } = circumstances
  const cuts = [...new Set([...publications.values()].flatMap((all) => all.map(({ at }) => at)))]
    .filter((at) => at > seenFrom && at < now).toSorted((a, b) => a - b)
  let workflows = entries
  const found = new Map<string, History.Found>()
  let unknown: ReadonlyMap<string, ReadonlyArray<string>> = new Map()
  let from = -Infinity
  for (const to of [...cuts, now]) {
    const isWithin = (at: number) => at > from && at <= to
    const isOpen = ({ startedAt, stoppedAt }: Run) => startedAt <= to && (stoppedAt === undefined || stoppedAt > to)
    workflows = Object.fromEntries(
      Object.entries(workflows).map(([id, entry]) => {
        const events = publications.get(id)
        if (events === undefined) return [id, entry]
        const last = events.findLast(({ at }) => at <= Math.max(from, seenFrom))
        return [id, { ...entry, isPublished: last?.event === "published", liveSince: last?.at ?? now }]
      })
    )
    const judgment = History.judge(workflows, {
      ...observed,
      started: observed.started.filter(({ startedAt }) => isWithin(startedAt)),
      ended: observed.ended.filter(({ startedAt, stoppedAt }) => isWithin(stoppedAt ?? startedAt)),
      running: to === now ? observed.running : [...observed.ended, ...observed.running].filter(isOpen)
    }, { ...circumstances, now: to })
    for (const each of judgment.found) found.set(`${tell.keyOf(each)} ${each.episode.from}`, each)
    ;({ unknown, workflows } = judgment)
    from = to
  }
  return { found: [...found.values()], unknown, workflows }
}

/** Formats a time as the date in a zone. */
const dateIn = (zone: string) => {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" })
  return (time: number) => format.format(time)
}

/** Days of a span with the runs and incidents of a workflow. */
const daysOf = (
  runs: ReadonlyArray<Run>,
  incidents: ReadonlyArray<Incident>,
  { dateOf, now, since }: { readonly dateOf: (time: number) => string; readonly since: number; readonly now: number }
): ReadonlyArray<Day> => {
  const dates = new Set<string>()
  for (let at = since; at < now; at += 6 * hour) dates.add(dateOf(at))
  dates.add(dateOf(now))
  const runsOf = Map.groupBy(runs, ({ startedAt }) => dateOf(startedAt))
  const spans = incidents.map(({ at, kind, until = at }) => ({
    kind,
    from: dateOf(Math.max(since, Date.parse(at))),
    to: dateOf(Date.parse(until))
  }))
  return Array.from(dates, (date) => {
    const own = runsOf.get(date) ?? []
    return {
      date,
      runs: own.length,
      failed: own.filter(failures.hasFailed).length,
      incidents: Rows.counts(spans.filter(({ from, to }) => from <= date && date <= to), ({ kind }) => kind)
    }
  })
}

/** Order of incidents and workflows: what goes on first, then by kind. */
const urgency: ReadonlyArray<Kind> = ["missed", "failed", "stuck", "silent", "empty", "slow"]

const rank = ({ isOver, kind }: Incident) => urgency.indexOf(kind) + (isOver === true ? urgency.length : 0)

const worst = ({ incidents }: Row) => Math.min(...incidents.map(rank), Infinity)

const look = Effect.fnUntraced(function*({ since, workflows: only, zone: named }: Options, traffic: Traffic.Traffic) {
  const now = yield* Clock.currentTimeMillis
  const [runs, { workflows: listed }, release] = yield* Effect.all([
    observe.executions(undefined, {
      until: now + time.list,
      most: most.pages,
      span: now - since + Math.max(usualSpan, now - since),
      workflowIds: only
    }),
    observe.workflows(undefined, { every: 1, isNeeded: true, left: most.requests }),
    N8nClient.use((n8n) => n8n.release)
  ], { concurrency: 2 })
  const asked = Object.entries(listed).map(([id, entry]) => [id, { ...entry, liveSince: entry.savedAt ?? 0 }] as const)
    .filter(([id]) => only?.includes(id) ?? true)
  const off = new Set(asked.flatMap(([id, entry]) => Rules.of({ id, ...entry }).isOff ? [id] : []))
  const entries: State["workflows"] = Object.fromEntries(asked.filter(([id]) => !off.has(id)))
  const isKnown = ({ workflowId }: Run) => Object.hasOwn(entries, workflowId)
  const [started, ended] = [runs.started.filter(isKnown), runs.ended.filter(isKnown)]
  const isUnzoned = (entry: Entry) =>
    entry.isPublished && Schedules.timeZoneOf(entry) === undefined &&
    Schedules.zoned(entry as { readonly nodes: ReadonlyArray<Obj> }, isV1(release)).length > 0
  const told = named !== undefined || !Object.values(entries).some(isUnzoned)
    ? undefined
    : yield* InstanceClock.zone(Object.entries(listed).map(([id, entry]) => ({ id, ...entry })), runs.ended)
  const zone = named ?? told?.zone
  const circumstances: History.Circumstances = {
    now,
    seenFrom: runs.next.seenFrom,
    zone,
    isV1: isV1(release),
    silentOf: (workflow) => Rules.of(workflow).silent
  }
  const until = (yield* Clock.currentTimeMillis) + time.read
  const chosen = suspects(ended, since)
  const origins = yield* reading.origins(chosen, most.concurrency)
  const full = groupsOf(ended.filter((run) => run.status === "success" && !isAttended(run) && !runs.waited.has(run.id)))
    .filter((all) => all.some(({ startedAt }) => startedAt >= since))
  const samples = new Map(
    (yield* Effect.forEach(full, (all) => samplesOf(all, until), { concurrency: most.concurrency })).flatMap((
      all
    ) => [...all])
  )
  // Failures before the span were not read, but for the last one of each workflow.
  const past = ended.filter((run) => run.startedAt >= since || !failures.hasFailed(run))
  const observed: History.Observed = {
    ...runs,
    started,
    ended: past,
    samples,
    origins: failures.assumed(past, origins)
  }
  const earlier = new Map(
    chosen.flatMap((run) => {
      const origin = run.startedAt < since ? origins.get(run.id) : undefined
      return origin === undefined ? [] : [[failures.causeOf(run.workflowId, origin), run.startedAt] as const]
    })
  )
  const isOwn = ({ episode: { isOver, kind, to } }: History.Found) => to >= since || !isOver && kind !== "failed"
  // The list says when a version was saved, not when it was published.
  const first = judged(entries, new Map(), observed, circumstances)
  const doubtful = [...new Set(first.found.flatMap((each) => isOwn(each) ? [each.workflowId] : []))].slice(
    0,
    details.changes
  )
  const changes = new Map(
    yield* Effect.forEach(doubtful, (id) => Effect.map(Changes.of(id), (all) => [id, all] as const), {
      concurrency: most.concurrency
    })
  )
  const publications = new Map(
    Array.from(changes, ([id, all]) =>
      [
        id,
        all.flatMap(({ at, event, version }) =>
          event === "saved" ? [] : [{ at: Date.parse(at), event, ...defined({ version }) }]
        )
      ] as const).filter(([, all]) => all.length > 0)
  )
  const { found, unknown, workflows } = publications.size === 0
    ? first
    : judged(entries, publications, observed, circumstances)
  const own = History.withoutCallers(found.filter(isOwn), workflows).map((each): History.Found => {
    const { episode } = each
    const before = episode.kind === "failed" ? earlier.get(episode.cause) : undefined
    return before === undefined ? each : { ...each, episode: { before, ...episode } as typeof episode }
  })
  const paces = new Map(
    yield* Effect.forEach(
      own.flatMap((each) => each.episode.kind === "slow" ? [each.episode] : []).slice(0, details.pace),
      (episode) => Effect.map(Pace.of([episode.former], [episode.run]), (pace) => [episode, pace] as const)
    )
  )
  const incidents = own.map((each) => {
    const published = publications.get(each.workflowId) ?? []
    const live = published.findLast(({ at, event }) => event === "published" && at <= each.episode.from)
    return tell.incident(each, {
      now,
      name: entries[each.workflowId]?.name ?? each.workflowId,
      publishedAt: (version) => published.find((event) => event.version === version && event.event === "published")?.at,
      version: live?.version === undefined ? undefined : { id: live.version, since: live.at },
      ranOthers: (from, to) =>
        runs.started.some(({ startedAt, workflowId }) =>
          workflowId !== each.workflowId && startedAt > from && startedAt < to
        ),
      pace: each.episode.kind === "slow" ? paces.get(each.episode) : undefined
    })
  })
  const crashed = new Set(
    own.flatMap((each) => each.episode.kind === "failed" && each.episode.origin.isCrash ? [tell.keyOf(each)] : [])
  )
  const isQuiet = (from: number, to: number) =>
    !runs.started.some(({ startedAt }) => startedAt > from && startedAt < to)
  const gathered = tell.gathered(incidents, crashed, isQuiet)
  const inSpan = (run: Run) => run.startedAt >= since
  const runsOf = Map.groupBy(started.filter(inSpan), ({ workflowId }) => workflowId)
  const incidentsOf = Map.groupBy(incidents, ({ workflowId = "" }) => workflowId)
  const span = { dateOf: dateIn(zone ?? "UTC"), since, now }
  const rows = Array.from(incidentsOf, ([workflowId, all]): Row => {
    const mine = runsOf.get(workflowId) ?? []
    return {
      workflowId,
      ...defined({ workflowName: entries[workflowId]?.name }),
      isPublished: entries[workflowId]?.isPublished ?? false,
      runs: mine.length,
      failed: mine.filter(failures.hasFailed).length,
      incidents: all.filter((each) => gathered.includes(each)).toSorted((a, b) => a.at < b.at ? -1 : 1),
      changes: Changes.near(changes.get(workflowId) ?? [], all.map(({ at }) => Date.parse(at))),
      days: daysOf(mine, all, span)
    }
  })
  const healthy = Array.from(runsOf, ([workflowId, mine]): HealthyRow => ({
    workflowId,
    workflowName: entries[workflowId]?.name ?? workflowId,
    runs: mine.length,
    days: daysOf(mine, [], span)
  })).filter(({ workflowId }) => !incidentsOf.has(workflowId))
  const isOff = ({ workflowId }: Run) => off.has(workflowId)
  const all = [...started, ...runs.started.filter(isOff)].filter(inSpan)
  const readFrom = runs.next.seenFrom
  const unreadFailures = ended.filter((run) => inSpan(run) && failures.hasFailed(run) && !origins.has(run.id))
  const unseen = unreadFailures.filter(({ workflowId }) =>
    !chosen.some((run) => run.workflowId === workflowId && origins.has(run.id))
  )
  return {
    since: new Date(since).toISOString(),
    until: new Date(now).toISOString(),
    ...readFrom > since ? { readFrom: new Date(readFrom).toISOString() } : {},
    clock: defined({ ahead: Traffic.ahead(traffic), zone, zoneFrom: named === undefined ? told?.run : "option" }),
    runs: all.length,
    failed: all.filter(failures.hasFailed).length,
    shared: gathered.filter((each) => !incidents.includes(each)),
    rows: rows.toSorted((a, b) => worst(a) - worst(b) || b.failed - a.failed),
    healthy: healthy.toSorted((a, b) => b.runs - a.runs),
    idle: Object.entries(entries).filter(([id, entry]) =>
      entry.isPublished && !runsOf.has(id) && !incidentsOf.has(id)
    ).length,
    off: off.size,
    unknown: [
      ...readFrom > since
        ? [
          `What ran before ${
            new Date(readFrom).toISOString().slice(0, 16)
          }Z: n8n has no older runs, or there were too many to read.`
        ]
        : [],
      ...unseen.length > 0 ? [`Why ${counted(unseen.length, "run")} failed: not all failed runs were read.`] : [],
      ...samples.size === 0 && full.length > 0 ? ["Whether runs were empty: none could be read in time."] : [],
      ...Array.from(
        unknown,
        ([reason, names]) =>
          `Whether ${counted(names.length, "workflow")} started as scheduled (${Rows.names(names, 3, 30)}): ${reason}.`
      )
    ],
    requests: traffic.sent
  } satisfies Health as Health
})

/** Judges the stored executions since a time. */
export const read = Effect.fn("Health.read")((options: Options) => {
  const traffic = Traffic.make(most.requests, most.concurrency)
  return look(options, traffic).pipe(Effect.provideService(Traffic.Current, traffic))
})
