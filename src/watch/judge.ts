/** Judgments of a poll that need no requests, from its runs. Pure. */
import { defined, obj } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import * as Rows from "../base/Rows.ts"
import * as Visible from "../base/Visible.ts"
import * as Schedules from "../workflow/Schedules.ts"
import { durations, failures, rhythm, schedules } from "./detect/index.ts"
import type { Incident } from "./Incident.ts"
import { isAttended, type Run, type Seen } from "./Observation.ts"
import type { Runs } from "./observe.ts"
import type { Entry, State } from "./state.ts"

const minute = 60_000
const hour = 60 * minute

/** Overlap of a judgment of schedules with the one before: an hour with a random minute, and late runs. */
const lookBack = 2 * hour

/** Maximum number of starts of a workflow that are remembered. */
const maxStarts = 8_000

/** Time without runs after which a rhythm is updated. */
const learnEvery = 10 * minute

/** Whether n8n starts the trigger by itself; all others wait for an event outside. */
const hasSchedule = ({ nodes }: Entry) => nodes.some((node) => Schedules.ofNode(node, { isV1: false }) !== undefined)

const byHand = /\.(?:manualTrigger|manualChatTrigger|executeWorkflowTrigger|errorTrigger|evaluationTrigger|start)$/

const listens = ({ nodes }: Entry) =>
  nodes.some((node) =>
    Schedules.ofNode(node, { isV1: false }) === undefined && !byHand.test(String(node["type"])) &&
    node["type"] !== undefined
  )

const duration = (ms: number) => {
  const [value, unit] = ms < 2 * minute
    ? [ms / 1000, "s"]
    : ms < 2 * hour
    ? [ms / minute, "min"]
    : ms < 48 * hour
    ? [ms / hour, "h"]
    : [ms / (24 * hour), "days"]
  return `${Math.max(1, Math.round(value))} ${unit}`
}

const iso = (time: number) => new Date(time).toISOString()

const clock = (time: number) => `${iso(time).slice(0, 16).replace("T", " ")} UTC`

/** Number of items at the end of a run that was read. */
export interface Sample {
  readonly run: string
  readonly items: number
  readonly version?: string
}

export type Observed = Omit<Runs, "hasRunning" | "next"> & { readonly samples?: ReadonlyArray<Sample> }

/** Workflows with the knowledge that the runs since the last poll add. */
export const learn = (
  workflows: State["workflows"],
  { ended, lostBefore, samples = [], started, waited }: Observed,
  { from, now }: { readonly from: number; readonly now: number }
): State["workflows"] => {
  const startedOf = Map.groupBy(started, ({ workflowId }) => workflowId)
  const endedOf = Map.groupBy(ended, ({ workflowId }) => workflowId)
  return Object.fromEntries(
    Object.entries(workflows).map(([id, entry]): [string, Entry] => {
      const own = startedOf.get(id) ?? []
      const over = endedOf.get(id) ?? []
      const isDue = now - (entry.rhythm?.to ?? -Infinity) >= learnEvery
      if (own.length === 0 && over.length === 0 && !(isDue && listens(entry))) return [id, entry]
      const automatic = own.filter(rhythm.isAutomatic).map(({ startedAt }) => startedAt)
      let { crashes = 0, history } = entry
      for (const run of over) {
        crashes = run.status === "crashed" ? crashes + 1 : 0
        if (!isAttended(run) && !waited.has(run.id)) {
          history = durations.add(history, run, samples.find((sample) => sample.run === run.id))
        }
      }
      const failed = failures.among(over)
      const seen = { from: Math.max(lostBefore ?? -Infinity, entry.rhythm?.to ?? from), to: now }
      const next = defined({
        starts: hasSchedule(entry)
          ? [...entry.starts ?? [], ...own.filter(schedules.isScheduled).map(({ startedAt }) => startedAt)].toSorted((
            a,
            b
          ) => a - b).slice(-maxStarts)
          : undefined,
        lastStart: automatic.length === 0 ? entry.lastStart : Math.max(entry.lastStart ?? -Infinity, ...automatic),
        lastFailure: failed.at(-1)?.startedAt ?? entry.lastFailure,
        lastSuccess: failures.succeeded(over).at(-1)?.startedAt ?? entry.lastSuccess,
        crashes: crashes === 0 ? undefined : crashes,
        saves: entry.saves === true || over.some(({ status }) => status === "success") ? true : undefined,
        history,
        rhythm: listens(entry) ? rhythm.learn(entry.rhythm, own, seen) : undefined
      })
      const { crashes: _, ...before } = entry
      return [id, { ...before, ...next }]
    })
  )
}

const savingOf = ({ settings }: Entry) => obj(settings)?.["saveDataSuccessExecution"]

/** Whether n8n saves the successful runs of a workflow. */
export const savesOf = (entry: Entry, isDefaultSaved = false) => {
  const setting = savingOf(entry)
  if (setting === "none") return "no" as const
  return setting === "all" || entry.saves === true || isDefaultSaved ? "yes" as const : "unknown" as const
}

export interface Circumstances {
  readonly now: number
  readonly seenFrom: number
  readonly zone: string | undefined
  readonly isV1: boolean
  readonly outage: State["outage"]
  readonly limit:
    | ((
      workflow: { readonly id: string; readonly name: string; readonly tags: ReadonlyArray<string> }
    ) => number | undefined)
    | undefined
}

/** Scheduled starts that did not happen, and reasons why some cannot be judged. */
export const starts = (
  workflows: State["workflows"],
  { isV1, now, outage, seenFrom, zone }: Circumstances
) => {
  const all = Object.entries(workflows)
  const isDefaultSaved = all.some(([, entry]) =>
    entry.saves === true && savingOf(entry) !== "none" && savingOf(entry) !== "all"
  )
  const incidents: Array<Incident> = []
  const unknown = new Map<string, Array<string>>()
  const next = all.map(([id, entry]): [string, Entry] => {
    if (!entry.isPublished || !hasSchedule(entry)) return [id, entry]
    const judgedTo = entry.judgedTo ?? entry.liveSince
    const seen: Seen = { from: Math.max(seenFrom, judgedTo - lookBack), to: now }
    const judgment = schedules.missed(entry, entry.starts ?? [], {
      seen,
      zone,
      isV1,
      saves: savesOf(entry, isDefaultSaved)
    })
    if (judgment.unknown !== undefined) {
      unknown.set(judgment.unknown, [...unknown.get(judgment.unknown) ?? [], entry.name])
    }
    const fresh = judgment.missed.filter((at) =>
      at > Math.max(entry.missedTo ?? -Infinity, judgedTo - lookBack / 2) && at >= entry.liveSince
    )
    const [first] = fresh
    const last = fresh.at(-1)
    if (first !== undefined && last !== undefined) {
      const isOutage = outage !== undefined && first <= (outage.until ?? now) &&
        first >= (outage.worked ?? outage.since) - schedules.grace
      incidents.push({
        kind: "missed",
        key: `missed:${id}`,
        workflowId: id,
        workflowName: entry.name,
        at: iso(first),
        count: fresh.length,
        what: `'${Visible.label(entry.name)}' did not start at ${clock(first)}${
          fresh.length > 1 ? ` and ${counted(fresh.length - 1, "later time")}` : ""
        } as its schedule says`,
        cause: isOutage
          ? `n8n did not answer from ${clock(outage.since)}${
            outage.until === undefined ? "" : ` to ${clock(outage.until)}`
          }`
          : entry.lastStart === undefined || entry.lastStart < (entry.savedAt ?? entry.liveSince)
          ? "no start of its published version was seen"
          : entry.lastStart > last
          ? "n8n starts it again, and may have been down then"
          : `n8n started it last at ${
            clock(entry.lastStart)
          }, and it is still published: n8n may have been down or lost the schedule`,
        look: { tool: "list_executions", arguments: { workflowId: id } }
      })
    }
    const keep = now - lookBack - hour
    return [id, {
      ...entry,
      judgedTo: now,
      ...last === undefined ? {} : { missedTo: last },
      ...entry.starts === undefined ? {} : { starts: entry.starts.filter((at) => at >= keep) }
    }]
  })
  return { incidents, unknown, workflows: Object.fromEntries(next) }
}

/** Number of workflows with missed schedules from which they share one incident. */
const many = 3

/** Incidents with one for the schedules that stopped together, as when n8n was down. */
export const gathered = (incidents: ReadonlyArray<Incident>): ReadonlyArray<Incident> => {
  const missed = incidents.filter(({ kind }) => kind === "missed").toSorted((a, b) => a.at < b.at ? -1 : 1)
  const [first] = missed
  if (first === undefined || missed.length < many) return incidents
  const names = Rows.names(missed.map(({ workflowName = "" }) => workflowName), 8, 24)
  const cause = missed.every((each) => each.cause === first.cause)
    ? first.cause
    : "n8n may have been down or lost the schedules"
  const { workflowId: _, workflowName: __, ...one } = first
  const all: Incident = {
    ...one,
    key: `missed:${first.at}`,
    count: missed.reduce((sum, { count }) => sum + count, 0),
    what: `${missed.length} workflows did not start as scheduled from ${clock(Date.parse(first.at))} on: ${names}`,
    ...defined({ cause }),
    look: { tool: "list_executions", arguments: { startedAfter: first.at } }
  }
  return incidents.flatMap((each) => each === first ? [all] : each.kind === "missed" ? [] : [each])
}

/** Webhooks and polling triggers that are silent against their rhythm, or beyond their limit. */
export const silences = (
  workflows: State["workflows"],
  { limit, now, outage }: Circumstances
): ReadonlyArray<Incident> =>
  Object.entries(workflows).flatMap(([id, entry]) => {
    const max = entry.isPublished ? limit?.({ id, name: entry.name, tags: entry.tags }) : undefined
    const saves = savesOf(entry)
    if (!entry.isPublished || saves === "no") return []
    // A rhythm of failures ends when their cause is fixed.
    if (max === undefined && (saves === "unknown" || !listens(entry))) return []
    const lastStart = Math.max(
      entry.lastStart ?? entry.rhythm?.last ?? -Infinity,
      entry.liveSince,
      outage?.until ?? -Infinity
    )
    const silence = entry.lastStart === undefined && max === undefined ? undefined : rhythm.silence(entry.rhythm, {
      lastStart,
      now,
      ...max === undefined ? {} : { limit: max }
    })
    if (silence === undefined) return []
    const since = entry.lastStart ?? silence.since
    return [{
      kind: "silent",
      key: `silent:${id}:${since}`,
      workflowId: id,
      workflowName: entry.name,
      at: iso(since),
      count: 1,
      what: `Nothing has started '${Visible.label(entry.name)}' since ${clock(since)}, for ${duration(now - since)}`,
      cause: silence.expected > 0
        ? `in these hours of past weeks it ran at least ${
          counted(silence.expected, "time")
        }: whatever calls it may have stopped, or its registration is lost`
        : `its limit is ${duration(max ?? 0)}`,
      look: { tool: "list_executions", arguments: { workflowId: id } }
    }]
  })

/** Runs far longer than the workflow's own, with the history before them. */
export const slowness = (
  workflows: State["workflows"],
  { ended, running, waited }: Observed,
  { isKnown, now }: { readonly now: number; readonly isKnown: (key: string) => boolean }
): ReadonlyArray<Incident> => {
  const histories = new Map(Object.entries(workflows).map(([id, { history }]) => [id, history]))
  const incident = (kind: "slow" | "stuck", run: Run, excess: durations.Excess): Incident => {
    const { changedAt, name = "", version } = workflows[run.workflowId] ?? {}
    const usual = excess.p95 > 0 ? `, usually at most ${duration(excess.p95)}` : ""
    return {
      kind,
      key: kind === "slow" ? `slow:${run.workflowId}` : `stuck:${run.id}`,
      workflowId: run.workflowId,
      workflowName: name,
      at: iso(run.startedAt),
      count: 1,
      what: `Run ${run.id} of '${Visible.label(name)}' ${kind === "slow" ? "took" : "has not ended for"} ${
        duration(excess.ms)
      }${usual}`,
      ...version !== undefined && changedAt !== undefined && changedAt <= run.startedAt && now - changedAt < 24 * hour
        ? { cause: `version ${version.slice(0, 8)} runs since ${clock(changedAt)}` }
        : {},
      look: { tool: "get_execution", arguments: { id: run.id, ...kind === "slow" ? { sortBy: "time" } : {} } }
    }
  }
  const slow = ended.flatMap((run) => {
    if (isAttended(run) || waited.has(run.id) || !Object.hasOwn(workflows, run.workflowId)) return []
    const history = histories.get(run.workflowId)
    const excess = history && durations.slow(history, run)
    histories.set(run.workflowId, durations.add(history, run))
    return excess === undefined || isKnown(`stuck:${run.id}`) ? [] : [incident("slow", run, excess)]
  })
  const stuck = running.flatMap((run) => {
    if (isAttended(run) || !Object.hasOwn(workflows, run.workflowId)) return []
    const excess = durations.stuck(histories.get(run.workflowId), run, now)
    return excess === undefined ? [] : [incident("stuck", run, excess)]
  })
  return [...slow, ...stuck]
}

/** Workflows whose runs end without the items that they usually have. */
export const emptiness = (workflows: State["workflows"], runs: Observed): ReadonlyArray<Incident> =>
  (runs.samples ?? []).flatMap(({ run: id }): ReadonlyArray<Incident> => {
    const run = runs.ended.find((each) => each.id === id)
    const entry = workflows[run?.workflowId ?? ""]
    const empty = entry?.history && durations.empty(entry.history)
    if (run === undefined || entry === undefined || empty === undefined) return []
    return [{
      kind: "empty",
      key: `empty:${run.workflowId}:${empty.since}`,
      workflowId: run.workflowId,
      workflowName: entry.name,
      at: iso(empty.since),
      count: 1,
      what: `Runs of '${Visible.label(entry.name)}' end without items since ${
        clock(empty.since)
      }; usually with ${empty.usual}`,
      cause: empty.version === undefined
        ? "the workflow has not changed: its source may be empty"
        : `since version ${empty.version.slice(0, 8)}`,
      look: { tool: "get_execution", arguments: { id: run.id } }
    }]
  })

/**
 * Runs whose data are worth a request, one of a workflow: first those of a version that is new, then of the workflows
 * that have waited longest.
 */
export const sampled = (
  workflows: State["workflows"],
  { ended, waited }: Observed,
  now: number
): ReadonlyArray<Run> => {
  const latest = ({ workflowId }: Run) => workflows[workflowId]?.history?.samples.at(-1)
  const isOfNewVersion = (run: Run) => {
    const sample = latest(run)
    return sample !== undefined && sample.version !== workflows[run.workflowId]?.version
  }
  const byRank = ended.filter((run) => {
    const entry = workflows[run.workflowId]
    return entry !== undefined && !isAttended(run) && !waited.has(run.id) && now >= (entry.sampleAfter ?? 0) &&
      durations.wantsSample(entry.history, run, now, entry.version)
  }).toSorted((a, b) =>
    Number(isOfNewVersion(b)) - Number(isOfNewVersion(a)) || (latest(a)?.at ?? 0) - (latest(b)?.at ?? 0) ||
    Number(b.id) - Number(a.id)
  )
  return [...Map.groupBy(byRank, ({ workflowId }) => workflowId).values()].flatMap(([first]) => first ?? [])
}
