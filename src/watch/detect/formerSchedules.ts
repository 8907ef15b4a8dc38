/** Scheduled starts that did not happen. Pure. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schedules from "../../workflow/Schedules.ts"
import type { Run, Seen } from "../Observation.ts"
import type { Entry } from "../state.ts"

export interface Judgment {
  /** Expected starts without a run, in order. */
  readonly missed: ReadonlyArray<number>
  /** Reason why the workflow, or some of its rules, cannot be judged. */
  readonly unknown?: string
  /** Earliest judged time, if there are too many starts to judge all of them. */
  readonly since?: number
}

export interface Options {
  readonly seen: Seen
  /** Name of n8n's own time zone, if it is known. */
  readonly zone: string | undefined
  readonly isV1: boolean
  /** Whether n8n saves successful runs of the workflow. */
  readonly saves: "yes" | "no" | "unknown"
}

const second = 1000
const minute = 60 * second
const dayLength = 1440 * minute

/** Tolerance for late runs, when n8n is busy or its queue is full. */
export const grace = 3 * minute
/** Tolerance for early runs, since clocks differ. */
const early = minute
/** Time that n8n may take to register a publication's schedules. */
const registration = 2 * minute
/** Time around a clock change that is not judged, since releases of n8n skip or repeat starts differently. */
const clockChange = 61 * minute
/** Maximum number of starts of a workflow that are judged: two weeks of minutes, or seven hours of seconds. */
export const maxJudged = 25_000

type Cron = Schedules.Timing & { readonly _tag: "Cron" }

/** Start of a rule, and the length of the window in which n8n picks the moment. */
interface Start {
  readonly time: number
  readonly width: number
}

const widthOf = ({ fields, isMinuteRandom }: Cron) =>
  isMinuteRandom === true ? 60 * minute : fields.seconds.length === 1 ? minute : second

/** Maximum number of starts a day. */
const daily = ({ fields: { hours, minutes, seconds } }: Cron) =>
  (hours.length || 24) * (minutes.length || 60) * (seconds.length || 60)

/** Position of the first value that is at least this one. */
const firstAt = (sorted: ReadonlyArray<number>, value: number) => {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Delay after its minute, or its second, within which a run is on time. */
const slackOf = (width: number) => Math.min(10 * second, width / 6)

/** Costs of an assignment of runs to starts. The sums of the small ones stay below that of a missed start for an hour. */
const costs = { missed: 1, extra: 0.5, early: 0.2, late: 0.02, slack: 0.0005 }

const matchCost = (offset: number, width: number) =>
  offset < -Math.min(second, width / 2)
    ? costs.early
    : offset < width
    ? 0
    : offset < width + slackOf(width)
    ? costs.slack
    : costs.late

/**
 * Starts without a run in the cheapest assignment of runs to starts that keeps their order. A late run does not count as
 * the next start, and a missing one does not shift all that follow.
 */
const unmatched = (starts: ReadonlyArray<Start>, runs: ReadonlyArray<number>, isSure: (start: Start) => boolean) => {
  const [from, to, own] = [0, 1, 2].map(() => new Int32Array(starts.length)) as [Int32Array, Int32Array, Int32Array]
  let [low, high, first] = [0, 0, 0]
  for (const [index, { time, width }] of starts.entries()) {
    while (low < runs.length && (runs[low] ?? 0) < time - early) low++
    while (first < runs.length && (runs[first] ?? 0) < time) first++
    while (high < runs.length && (runs[high] ?? 0) < time + width + grace) high++
    ;[from[index], to[index], own[index]] = [low, high, first]
  }
  /** Least cost of the remaining starts, by the number of remaining runs. */
  let next = [0]
  let [nextLow, nextHigh] = [runs.length, runs.length]
  const moves: Array<ReadonlyArray<number>> = []
  for (let index = starts.length - 1; index >= 0; index--) {
    const start = starts[index]
    const [low = 0, high = 0] = [from[index], to[index]]
    if (start === undefined) break
    const { time, width } = start
    const [row, move]: [Array<number>, Array<number>] = [[], []]
    const hasOwn = (runs[own[index] ?? 0] ?? Infinity) < time + width + slackOf(width)
    const price = isSure(start) || hasOwn ? costs.missed : 0
    const after = (position: number) => {
      const taken = Math.max(position, nextLow)
      return (taken - position) * costs.extra + (next[nextHigh - taken] ?? Infinity)
    }
    for (let position = high; position >= low; position--) {
      let [best, choice] = [price + after(position), 0]
      if (position < high) {
        const offset = (runs[position] ?? 0) - time
        const match = offset < width + grace ? matchCost(offset, width) + after(position + 1) : Infinity
        const skip = costs.extra + (row[high - position - 1] ?? Infinity)
        if (match <= best) [best, choice] = [match, 1]
        if (skip < best) [best, choice] = [skip, 2]
      }
      row.push(best)
      move.push(choice)
    }
    ;[next, nextLow, nextHigh] = [row, low, high]
    moves[index] = move
  }
  const missing: Array<Start> = []
  let position = 0
  for (const [index, start] of starts.entries()) {
    const high = to[index] ?? 0
    position = Math.max(position, from[index] ?? 0)
    while (moves[index]?.[high - position] === 2) position++
    if (moves[index]?.[high - position] === 1) position++
    else missing.push(start)
  }
  return missing
}

/** Missed starts of an interval, which restarts with each publication and each start of n8n. */
const unmatchedEvery = (length: number, runs: ReadonlyArray<number>, from: number, to: number) => {
  const missing: Array<number> = []
  const times = [from, ...runs.filter((run) => run >= from)]
  for (const [index, time] of times.entries()) {
    const next = times[index + 1]
    const gap = (next ?? to - grace) - time
    const whole = Math.round(gap / length)
    const isOnTime = next !== undefined && index > 0 &&
      Math.abs(gap - whole * length) < Math.min(5 * second, length / 4)
    const lost = isOnTime ? whole - 1 : Math.floor((gap - (next === undefined ? 0 : grace)) / length) - 1
    for (let step = 1; step <= Math.min(lost, maxJudged); step++) missing.push(time + step * length)
  }
  return missing
}

/** Whether a schedule may have started the run. */
export const isScheduled = ({ mode }: Run): boolean => mode === "trigger" || mode === "cron"

/** Parts of a workflow that determine its starts. */
export type Watched = Pick<Entry, "isPublished" | "liveSince" | "nodes" | "settings" | "staticData">

/** Expected starts that did not happen; `happened` are those within `seen`, in order. */
export const missed = (
  workflow: Watched,
  happened: ReadonlyArray<number>,
  { isV1, saves, seen, zone: instanceZone }: Options
): Judgment => {
  if (!workflow.isPublished) return { missed: [] }
  const rules = workflow.nodes.filter(({ disabled }) => disabled !== true).flatMap((node) =>
    Schedules.ofNode(node, { isV1, staticData: workflow.staticData }) ?? []
  ).filter(({ _tag }) => _tag !== "Never")
  if (rules.length === 0) return { missed: [] }
  if (saves === "no") return { missed: [], unknown: "n8n does not save its successful runs" }
  if (saves === "unknown") return { missed: [], unknown: "it is not known whether n8n saves its successful runs" }
  const name = Schedules.timeZoneOf(workflow) ?? instanceZone
  const zone = name === undefined ? undefined : Option.getOrUndefined(DateTime.zoneMakeNamed(name))
  const reasons = new Set<string>()
  const judged = rules.filter((timing) => {
    if (timing._tag === "Open") reasons.add(timing.why)
    else if (zone === undefined && !Schedules.isZoneFree(timing)) reasons.add("n8n's own time zone is not known")
    else if (timing._tag === "Cron" && timing.recurrence !== undefined && rules.length > 1) {
      reasons.add("n8n counts from the last start of a rule, and the runs of other rules look the same")
    } else return true
    return false
  })
  const first = Math.max(seen.from, workflow.liveSince + registration)
  const crons = judged.filter((timing) => timing._tag === "Cron")
  const most = crons.reduce((sum, timing) => sum + daily(timing), 0) * (seen.to - first) / dayLength
  const from = most > maxJudged ? Math.ceil(seen.to - (seen.to - first) * maxJudged / most) : first
  const times = happened.filter((at) => at >= Math.max(seen.from, from - 2 * minute))
  const every = judged.flatMap((timing) =>
    timing._tag !== "Every"
      ? []
      : rules.length > 1
      ? (reasons.add("an interval begins when n8n starts, and the runs of other rules look the same"), [])
      : unmatchedEvery(timing.seconds * second, times, first, seen.to)
  )
  const utc = DateTime.zoneMakeNamedUnsafe("UTC")
  const expected = crons.flatMap((timing) => {
    const width = widthOf(timing)
    const live = times.filter((time) => time >= workflow.liveSince)
    const ran = (time: number) => {
      const next = live[firstAt(live, time - second)]
      return next !== undefined && next < time + (timing.recurrence?.unit === "minutes" ? width : width + grace)
    }
    const list: Array<Start> = []
    const past = { to: seen.to, ran: live.length > 0 ? ran : undefined }
    // n8n counts from a start right after the publication, which is not judged.
    const begin = Math.min(from, live[0] ?? from) - width - slackOf(width)
    for (const time of Schedules.starts(timing, begin, zone ?? utc, past)) {
      if (list.length > maxJudged) break
      list.push({ time, width })
    }
    return list
  }).toSorted((a, b) => a.time - b.time)
  const changes = zone === undefined ? [] : Schedules.clockChanges(from - dayLength, seen.to, zone)
  const isSure = ({ time, width }: Start) =>
    time >= from && time + width + slackOf(width) <= seen.to &&
    !changes.some((change) => Math.abs(time - change) <= clockChange)
  // Runs of earlier starts would count as late or early.
  const firstStart = expected[0]?.time ?? 0
  const cron = unmatched(expected, times.filter((time) => time >= firstStart - second), isSure).filter((start) =>
    isSure(start) && start.time + start.width + grace <= seen.to
  ).map(({ time }) => time)
  return {
    missed: [...every, ...cron],
    ...reasons.size > 0 ? { unknown: [...reasons].join("; ") } : {},
    ...from > first ? { since: from } : {}
  }
}
