/** Scheduled starts that did not happen. Pure. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { defined } from "../../base/Json.ts"
import * as Schedules from "../../workflow/Schedules.ts"
import { day, hour, minute, type Run, second } from "../Observation.ts"
import type { Detector, Missed, Subject } from "./Detector.ts"

/** Tolerance for late runs, when n8n is busy or its queue is full. */
export const grace = 3 * minute
/** Tolerance for early runs, since clocks differ. */
const early = minute
/** Time that n8n may take to register a publication's schedules. */
const registration = 2 * minute
/** Number of runs of one new moment within the window after which n8n has chosen another one. */
const steady = 5

/** Start of a rule, the length of the window in which n8n picks the moment, and whether a run belongs to it. */
const Start = Schema.Struct({
  time: Schema.Finite,
  width: Schema.Finite,
  isUnsure: Schema.optionalKey(Schema.Literal(true)),
  hasRun: Schema.optionalKey(Schema.Literal(true)),
  /** Time until which a run that belongs to it may come. */
  until: Schema.Finite
})
interface Start extends Schema.Schema.Type<typeof Start> {}

/** State between the parts of a history. */
export const Memory = Schema.Struct({
  /** Begin of the uninterrupted observation, and its end. */
  from: Schema.Finite,
  to: Schema.Finite,
  lastStart: Schema.optionalKey(Schema.Finite),
  /** Starts without a verdict, from the first that may still get a run. */
  starts: Schema.Array(Start),
  /** Usual delay of a run, the last other one, and the number of runs with that. */
  phase: Schema.optionalKey(Schema.Finite),
  other: Schema.optionalKey(Schema.Struct({ phase: Schema.Finite, count: Schema.Finite })),
  /** Last run that fits no start before it. */
  spare: Schema.optionalKey(Schema.Finite),
  /** Last runs, for rules that count from them: the last that they count from, or the assumed first. */
  runs: Schema.Array(Schema.Finite),
  anchor: Schema.optionalKey(Schema.Struct({ time: Schema.Finite, isRun: Schema.Boolean })),
  episode: Schema.optionalKey(Schema.Struct({
    from: Schema.Finite,
    to: Schema.Finite,
    count: Schema.Finite,
    unsure: Schema.Finite,
    /** Unsure starts since `to`. */
    open: Schema.Finite,
    lastStart: Schema.optionalKey(Schema.Finite)
  }))
})
export type Memory = typeof Memory.Type

type Cron = Schedules.Timing & { readonly _tag: "Cron" }

const widthOf = ({ fields, isMinuteRandom }: Cron) =>
  isMinuteRandom === true ? hour : fields.seconds.length === 1 ? minute : second
/** Lead of the moment from which runs belong to a start: timers are that exact. */
const lead = 50
/** Time before a start from which a run may be at its usual moment. */
const ahead = 5 * second
/** Delay after its minute, or its second, within which a run is on time. */
const slackOf = (width: number) => Math.min(10 * second, width / 6)
/** Difference of the delays of runs at one moment of the window. */
const jitterOf = (width: number) => width < minute ? second : ahead

/** Whether a schedule may have started the run. */
export const isScheduled = ({ mode }: Run): boolean => mode === "trigger" || mode === "cron"

/**
 * Whether releases of n8n differ at a start: they move or repeat those of a skipped or repeated hour that a rule names,
 * and some start nothing in an hour that is repeated.
 */
const unsureBy = (zone: DateTime.TimeZone | undefined, from: number, to: number) => {
  const offset = zone === undefined ? () => 0 : Schedules.offsetsOf(zone)
  const changes = (zone === undefined ? [] : Schedules.clockChanges(from - 2 * day, to + 2 * day, zone)).map((
    time
  ) => ({
    time,
    after: offset(time),
    by: offset(time) - offset(time - 1)
  }))
  return ({ fields: { hours, minutes }, recurrence }: Cron, time: number) =>
    changes.some((change) => {
      const local = new Date(time + change.after)
      const isMoved = hours.length > 0 && !hours.includes(local.getUTCHours()) ||
        minutes.length > 0 && !minutes.includes(local.getUTCMinutes())
      if (change.by > 0) return time === change.time && isMoved
      const namesHour = hours.length > 0 || recurrence !== undefined && recurrence.unit !== "minutes"
      return time >= change.time + (namesHour ? change.by : 0) && time < change.time - change.by
    })
}

/** Rules of a workflow whose starts can be computed, and reasons why others cannot. */
const rulesOf = ({ nodes, settings, staticData }: Subject, zoneOfN8n: string | undefined, isV1: boolean) => {
  const rules = nodes.filter(({ disabled }) => disabled !== true).flatMap((node) =>
    Schedules.ofNode(node, { isV1, staticData }) ?? []
  ).filter(({ _tag }) => _tag !== "Never")
  const name = Schedules.timeZoneOf({ settings }) ?? zoneOfN8n
  const zone = name === undefined ? undefined : Option.getOrUndefined(DateTime.zoneMakeNamed(name))
  const reasons = new Set<string>()
  const judged = rules.filter((timing) => {
    if (timing._tag === "Open") reasons.add(timing.why)
    else if (zone === undefined && !Schedules.isZoneFree(timing)) reasons.add("n8n's own time zone is not known")
    else if (timing._tag === "Every" && rules.length > 1) {
      reasons.add("an interval begins when n8n starts, and the runs of other rules look the same")
    } else if (timing._tag === "Cron" && timing.recurrence !== undefined && rules.length > 1) {
      reasons.add("n8n counts from the last start of a rule, and the runs of other rules look the same")
    } else return true
    return false
  })
  return { rules, judged, zone, reasons }
}

/** Account of the starts that happened and that did not, in order. */
const accountOf = (before: Pick<Memory, "episode" | "lastStart"> | undefined, first: number) => {
  let { episode, lastStart } = before ?? {}
  let isLonger = false
  const episodes = new Map<number, Missed>()
  const report = (isOver: boolean) => {
    if (episode === undefined) return
    const { open: _, unsure, ...rest } = episode
    episodes.set(episode.from, { kind: "missed", ...rest, ...unsure === 0 ? {} : { unsure }, isOver })
    if (isOver) episode = undefined
    isLonger = false
  }
  return {
    episodes,
    last: () => lastStart,
    state: () => {
      if (isLonger) report(false)
      return defined({ episode, lastStart })
    },
    happened: (time: number) => {
      report(true)
      lastStart = Math.max(lastStart ?? -Infinity, time)
    },
    failed: (time: number, isUnsure = false) => {
      if (time < first) return
      if (isUnsure) {
        if (episode !== undefined) episode = { ...episode, open: episode.open + 1 }
        return
      }
      const { count, open, unsure } = episode ?? { count: 0, open: 0, unsure: 0 }
      const begin = episode ?? { from: time, ...defined({ lastStart }) }
      episode = { ...begin, to: time, count: count + 1, unsure: unsure + open, open: 0 }
      isLonger = true
    }
  }
}

/** Part of a history, from `after` to `to`, with the runs that schedules may have started in it. */
interface Part {
  readonly begin: number
  readonly first: number
  readonly after: number
  readonly to: number
  readonly runs: ReadonlyArray<number>
  readonly zone: DateTime.TimeZone
  readonly unsure: (timing: Cron, time: number) => boolean
  readonly account: ReturnType<typeof accountOf>
}

/** Judges an interval, which begins again with each publication and each start of n8n. */
const judgeInterval = (length: number, memory: Memory | undefined, { account, after, first, runs, to }: Part) => {
  const before = memory?.anchor
  let { isRun, time } = before === undefined || before.time < first ? { isRun: false, time: first } : before
  /** Number of steps after `time` that are judged. */
  let steps = before === undefined ? 0 : Math.max(0, Math.floor((after - grace - time) / length) - 1)
  const pass = (count: number) => {
    while (steps < count) account.failed(time + ++steps * length)
  }
  for (const run of runs) {
    if (run < first) continue
    const whole = Math.round((run - time) / length)
    const isOnTime = isRun && Math.abs(run - time - whole * length) < Math.min(5 * second, length / 4)
    pass(isOnTime ? whole - 1 : Math.floor((run - grace - time) / length) - 1)
    account.happened(run)
    ;[isRun, time, steps] = [true, run, 0]
  }
  pass(Math.floor((to - grace - time) / length) - 1)
  return { anchor: { isRun, time } }
}

/** Judges a rule that n8n counts from its last start. */
const judgeCounted = (
  timing: Cron,
  unit: string | undefined,
  memory: Memory | undefined,
  liveSince: number,
  isV1: boolean,
  { account, after, begin, first, runs: fresh, to, unsure, zone }: Part
) => {
  const runs = [...memory?.runs ?? [], ...fresh]
  let anchor = memory?.anchor
  const known = anchor?.time
  const length = widthOf(timing) + grace
  const own = unit === "minutes" ? widthOf(timing) : length
  const done = Math.max(begin, after - length)
  const ranIn = (low: number, high: number) => runs.some((run) => run >= low && run < high && run >= liveSince)
  const ran = (time: number) => {
    if (time === known) return true
    const isRun = ranIn(time - second, time + own)
    if (isRun && time >= done) account.happened(time)
    // Whatever the last start was, another one is due as long after the first time that is seen.
    if (isRun || anchor === undefined) anchor = { time, isRun: isRun || anchor?.isRun === true }
    return isRun || !anchor.isRun && anchor.time === time
  }
  for (
    const time of Schedules.starts(timing, (known ?? Math.max(begin, liveSince)) - 1, zone, { to: to - length, ran })
  ) {
    if (time < done || time === anchor?.time) continue
    if (ranIn(time - early, time + length)) account.happened(time)
    else if (anchor?.isRun === true || unit !== "weeks" || time >= first + 7 * day) {
      account.failed(time, unsure(timing, time))
    }
    if (!isV1) anchor = { time, isRun: anchor?.isRun === true }
  }
  return { runs: runs.filter((run) => run >= to - length - early - second), ...defined({ anchor }) }
}

/** Judges rules by the runs that belong to their starts. */
const judgeStarts = (
  crons: ReadonlyArray<Cron>,
  memory: Memory | undefined,
  { account, after, begin, first, runs, to, unsure, zone }: Part
) => {
  let { other, phase, spare }: Partial<Memory> = memory ?? {}
  const queue: Array<{ -readonly [K in keyof Start]: Start[K] }> = (memory?.starts ?? []).filter(({ hasRun, time }) =>
    hasRun || time >= first
  ).map((start) => ({ ...start }))
  const expected = crons.flatMap((timing) => {
    const width = widthOf(timing)
    const list: Array<Start> = []
    for (const time of Schedules.starts(timing, (after > begin ? after + ahead : begin) - 1, zone)) {
      if (time - ahead >= to) break
      list.push({ time, width, until: time + width + grace, ...unsure(timing, time) ? { isUnsure: true } : {} })
    }
    return list
  }).toSorted((a, b) => a.time - b.time)
  /** Judges the starts that no run after this time can belong to. */
  const settle = (now: number) => {
    let judged = 0
    for (const [index, start] of queue.entries()) {
      const { hasRun, isUnsure, time, until, width } = start
      if (hasRun !== true && until > now) break
      const isEarly = spare !== undefined && spare >= time - early && spare < time
      // The run of the first of them may have begun in the window before.
      const isFirst = time < begin + width + slackOf(width) &&
        (queue[index + 1]?.time ?? Infinity) <= time + width + slackOf(width)
      if (hasRun === true || isEarly) account.happened(time)
      else if (!isFirst) account.failed(time, isUnsure)
      judged++
    }
    queue.splice(0, judged)
  }
  const arrive = (run: number) => {
    settle(run)
    const open = queue.filter(({ hasRun, until }) => hasRun !== true && until > run)
    const latest = queue.findLast(({ time }) => time - lead <= run)
    const current = latest?.hasRun === true ? undefined : latest
    const off = ({ time }: Start) => Math.abs(run - time - (phase ?? NaN))
    const usual = queue.filter((start) => (start.hasRun || start.until > run) && off(start) <= jitterOf(start.width))
      .toSorted((a, b) => off(a) - off(b))[0]
    // At the usual moment of a start that has a run, another may be that of an earlier one.
    const earlier = open.findLast((start) => start !== latest && start.time <= run)
    const start = usual === undefined ? current ?? earlier : usual.hasRun ? earlier ?? current : usual
    if (start === undefined) {
      const width = latest?.width ?? Math.max(...crons.map(widthOf))
      if (run >= (latest?.time ?? account.last() ?? -Infinity) + width + grace) spare = run
      return
    }
    start.hasRun = true
    if (start !== usual && start !== current) return
    const offset = run - start.time
    const isSame = Math.abs(offset - (other?.phase ?? NaN)) <= jitterOf(start.width)
    if (usual === undefined && phase !== undefined && crons.length === 1) {
      other = { phase: offset, count: isSame ? (other?.count ?? 0) + 1 : 1 }
      // While runs are late, that of an earlier start may count as the next one's, up to a surplus at the end.
      for (const each of open) {
        if (each !== start) each.until = Math.max(each.until, Math.min(run + each.width + grace, each.time + hour))
      }
      if (other.count < steady) return
      phase = offset
    } else phase = Math.min(phase ?? offset, offset)
    other = undefined
  }
  let next = 0
  for (const run of [...runs, Infinity]) {
    for (let start = expected[next]; start !== undefined && start.time - ahead <= run; start = expected[++next]) {
      queue.push({ ...start })
    }
    if (run < Infinity) arrive(run)
  }
  settle(to)
  return { starts: queue, ...defined({ other, phase, spare }) }
}

/** Scheduled starts that did not happen. */
export const detect: Detector<Memory> = (
  memory,
  { from, isV1, lostBefore = -Infinity, started, to, workflow, zone: zoneOfN8n }
) => {
  const before = memory !== undefined && from <= memory.to && lostBefore <= memory.to ? memory : undefined
  const begin = before?.from ?? Math.max(from, lostBefore)
  const after = before?.to ?? begin
  const first = Math.max(begin, workflow.liveSince + registration)
  const { judged, reasons, rules, zone } = rulesOf(workflow, zoneOfN8n, isV1)
  const account = accountOf(memory, first)
  const { isPublished, liveSince, saves } = workflow
  if (rules.length > 0 && saves !== "yes") {
    reasons.clear()
    reasons.add(
      saves === "no"
        ? "n8n does not save its successful runs"
        : "it is not known whether n8n saves its successful runs"
    )
  }
  const part: Part = {
    begin,
    first,
    after,
    to,
    // A run may be seen late, for n8n lists it when it ends.
    runs: started.filter((run) => isScheduled(run) && run.startedAt >= begin).map(({ startedAt }) => startedAt),
    zone: zone ?? DateTime.zoneMakeNamedUnsafe("UTC"),
    unsure: unsureBy(zone, after - hour, to),
    account
  }
  const [rule] = judged
  const crons = judged.filter((timing) => timing._tag === "Cron")
  const counted = crons.find(({ recurrence }) => recurrence !== undefined)
  const state = !isPublished || rule === undefined || saves !== "yes"
    ? {}
    : rule._tag === "Every"
    ? judgeInterval(rule.seconds * second, before, part)
    : counted === undefined
    ? judgeStarts(crons, before, part)
    : judgeCounted(counted, counted.recurrence?.unit, before, liveSince, isV1, part)
  return {
    memory: { from: begin, to: Math.max(to, after), starts: [], runs: [], ...account.state(), ...state },
    episodes: [...account.episodes.values()],
    ...isPublished && reasons.size > 0 ? { unknown: [...reasons].join("; ") } : {}
  }
}
