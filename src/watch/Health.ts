/** Health of an n8n over a span of the past, judged from its stored executions. */
import * as Effect from "effect/Effect"
import { defined } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import * as Rows from "../base/Rows.ts"
import * as Visible from "../base/Visible.ts"
import * as Traffic from "../n8n/Traffic.ts"
import * as Schedules from "../workflow/Schedules.ts"
import { failures, publications, rhythm } from "./detect/Detectors.ts"
import { byUrgency, type Incident, Kind } from "./Incident.ts"
import { hour, type Run } from "./Observation.ts"
import * as past from "./past.ts"
import * as reading from "./reading.ts"
import * as tell from "./tell.ts"

/** Day in the zone of the report. */
export interface Day {
  /** `2026-11-28`. */
  readonly date: string
  readonly runs: number
  readonly failed: number
  /** Kinds of incidents that touched the day, with the number of these incidents. */
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
  /** Milliseconds by which n8n's clock is ahead of this machine's, 0 if less than 2 seconds; absent if no answer tells. */
  readonly ahead?: number
  /** IANA name of n8n's own time zone; absent if no run tells. */
  readonly zone?: string
  /** Run that records the zone, or `option` where the caller named it. */
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
  /** Incidents of several workflows together, such as a time without n8n. */
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

/** Longest span that is offered, in days. */
export const maxDays = 31

export interface Options {
  /** Epoch milliseconds. */
  readonly since: number
  /** Ids of the workflows to judge; default all. */
  readonly workflows?: ReadonlyArray<string> | undefined
  /** IANA name of n8n's own time zone, if the caller knows it. */
  readonly zone?: string | undefined
  /** IANA name of the zone of days if n8n's own is not known; default UTC. */
  readonly readerZone?: string | undefined
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

/** Order of workflows: those with an incident that goes on first, then by its urgency. */
const worst = ({ incidents }: Row) => {
  const [first] = incidents.toSorted((a, b) => Number(a.isOver === true) - Number(b.isOver === true) || byUrgency(a, b))
  return first === undefined
    ? [2, 0] as const
    : [first.isOver === true ? 1 : 0, Kind.literals.indexOf(first.kind)] as const
}

const byWorst = (a: Row, b: Row) => {
  const [[isOver, kind], [otherIsOver, otherKind]] = [worst(a), worst(b)]
  return isOver - otherIsOver || kind - otherKind || b.failed - a.failed
}

/** First publication of a version, else its first save. */
const beginIn = (changes: ReadonlyArray<Change>, version: string): tell.Begin | undefined => {
  const own = changes.filter((change) => change.version === version)
  const first = own.find(({ event }) => event === "published") ?? own.find(({ event }) => event === "saved")
  return first && { at: Date.parse(first.at), event: first.event === "published" ? "published" : "saved" }
}

/** Published workflows of the span that are no longer published, as far as their runs show. */
const unpublishedOf = ({ entries, now, observed, since }: past.Past): ReadonlyArray<Incident> => {
  const last = new Map(
    observed.started.flatMap((run) =>
      run.startedAt >= since && rhythm.isAutomatic(run) && entries[run.workflowId]?.isPublished === false
        ? [[run.workflowId, run.startedAt] as const]
        : []
    )
  )
  const before = Object.fromEntries(
    Object.entries(entries).flatMap(([id, entry]) => last.has(id) ? [[id, { ...entry, isPublished: true }]] : [])
  )
  return publications.detect(before, entries, { gone: [], now, outageEnd: undefined, isWatched: false }).map(
    (incident) => {
      const at = last.get(incident.workflowId ?? "")
      return at === undefined
        ? incident
        : {
          ...incident,
          at: new Date(at).toISOString(),
          what: `${incident.what}; it ran last at ${tell.clock(at)}`
        }
    }
  )
}

/** Incidents of the episodes, each of a workflow. */
const incidentsOf = ({ changes, circumstances, entries, episodes, now, paces, runs, ...whole }: past.Past) =>
  episodes.map((each) => {
    const { episode, workflowId } = each
    const published = (whole.publications.get(workflowId) ?? []).filter(({ event }) => event === "published")
    const live = published.findLast(({ at }) => at <= episode.from)
    const hasRun = runs.started.some((run) =>
      run.workflowId === workflowId && run.startedAt < episode.from &&
      run.startedAt > (live?.at ?? Infinity) + tell.takeover
    )
    return tell.incident(each, {
      now,
      name: entries[workflowId]?.name ?? workflowId,
      beginOf: (version) => beginIn(changes.get(workflowId) ?? [], version),
      savedAt: circumstances.isV1 ? entries[workflowId]?.savedAt : undefined,
      version: live?.version === undefined || hasRun ? undefined : { id: live.version, since: live.at },
      ranOthers: (from, to) =>
        runs.started.some((run) => run.workflowId !== workflowId && run.startedAt > from && run.startedAt < to),
      pace: episode.kind === "slow" ? paces.get(episode) : undefined
    })
  })

/** Sentences about what n8n does not reveal, or was not read. */
const unknownOf = (
  { circumstances: { isV1, seenFrom }, entries, isLate, observed, since, unknown, unread, unsampled }: past.Past
) => {
  const newer = Object.entries(entries).flatMap(([id, { isPublished, name, nodes, savedAt = 0 }]) =>
    isPublished && savedAt > since && nodes.some((node) => Schedules.ofNode(node, { isV1 }) !== undefined) &&
      observed.started.some((run) => run.workflowId === id && run.startedAt >= since && run.startedAt < savedAt)
      ? [name]
      : []
  )
  return [
    ...seenFrom > since
      ? [
        `What ran before ${
          new Date(seenFrom).toISOString().slice(0, 16)
        }Z: n8n has no older runs, or there were too many to read.`
      ]
      : [],
    ...unread > 0 ? [`Why ${counted(unread, "run")} failed: not all failed runs were read.`] : [],
    ...isLate ? ["Whether all runs had items: not all that were chosen could be read in time."] : [],
    ...unsampled > 0
      ? [`Whether runs of ${counted(unsampled, "workflow")} had items: only those of the others were read.`]
      : [],
    ...newer.length > 0
      ? [
        `Whether ${counted(newer.length, "workflow")} started as scheduled before the present version (${
          Rows.names(newer, 3, 30)
        }): n8n does not say when earlier versions were published.`
      ]
      : [],
    ...Array.from(
      unknown,
      ([reason, names]) =>
        `Whether ${counted(names.length, "workflow")} started as scheduled (${Rows.names(names, 3, 30)}): ${reason}.`
    )
  ]
}

const look = Effect.fnUntraced(function*(options: Options, traffic: Traffic.Traffic) {
  const whole = yield* past.read(options)
  const { changes, circumstances: { seenFrom, zone }, entries, episodes, now, observed, off, runs, since, source } =
    whole
  const incidents = [...incidentsOf(whole), ...unpublishedOf(whole)]
  const gathered = tell.gathered(
    incidents,
    tell.crashesOf(episodes),
    (from, to) => !runs.started.some(({ startedAt }) => startedAt > from && startedAt < to)
  )
  const inSpan = (run: Run) => run.startedAt >= since
  const runsOf = Map.groupBy(observed.started.filter(inSpan), ({ workflowId }) => workflowId)
  const incidentsByWorkflow = Map.groupBy(incidents, ({ workflowId = "" }) => workflowId)
  const span = { dateOf: dateIn(zone ?? options.readerZone ?? "UTC"), since, now }
  const rows = Array.from(incidentsByWorkflow, ([workflowId, all]): Row => {
    const own = runsOf.get(workflowId) ?? []
    return {
      workflowId,
      ...defined({ workflowName: entries[workflowId]?.name }),
      isPublished: entries[workflowId]?.isPublished ?? false,
      runs: own.length,
      failed: own.filter(failures.hasFailed).length,
      incidents: all.filter((each) => gathered.includes(each)).toSorted((a, b) => a.at < b.at ? -1 : 1),
      changes: reading.changesNear(changes.get(workflowId) ?? [], all.map(({ at }) => Date.parse(at))),
      days: daysOf(own, all, span)
    }
  })
  const healthy = Array.from(runsOf, ([workflowId, own]): HealthyRow => ({
    workflowId,
    workflowName: entries[workflowId]?.name ?? workflowId,
    runs: own.length,
    days: daysOf(own, [], span)
  })).filter(({ workflowId }) => !incidentsByWorkflow.has(workflowId))
  const all = [...observed.started, ...runs.started.filter(({ workflowId }) => off.has(workflowId))].filter(inSpan)
  return {
    since: new Date(since).toISOString(),
    until: new Date(now).toISOString(),
    ...seenFrom > since ? { readFrom: new Date(seenFrom).toISOString() } : {},
    clock: defined({
      ahead: traffic.clock && (Traffic.ahead(traffic) ?? 0),
      zone,
      zoneFrom: options.zone === undefined ? source?.run : "option"
    }),
    runs: all.length,
    failed: all.filter(failures.hasFailed).length,
    shared: gathered.filter((each) => !incidents.includes(each)),
    rows: rows.toSorted(byWorst),
    healthy: healthy.toSorted((a, b) => b.runs - a.runs),
    idle: Object.entries(entries).filter(([id, { isPublished }]) =>
      isPublished && !runsOf.has(id) && !incidentsByWorkflow.has(id)
    ).length,
    off: off.size,
    unknown: unknownOf(whole).map((each) =>
      Visible.line(each)
    ),
    requests: traffic.sent
  } satisfies Health as Health
})

/** Judges the stored executions since a time. */
export const read = Effect.fn("Health.read")((options: Options) => {
  const traffic = Traffic.make(past.most.requests, past.most.concurrency)
  return look(options, traffic).pipe(Effect.provideService(Traffic.Current, traffic))
})
