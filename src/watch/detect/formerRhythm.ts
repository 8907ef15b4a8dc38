/** Usual times of the runs of webhooks and polling triggers, and silence against them. Pure. */
import * as Schema from "effect/Schema"
import type { Run, Seen } from "../Observation.ts"

/**
 * Runs of past weeks: small, and JSON. A week is 168 hours from Thursday, 0:00 UTC; its hours have one character each:
 * `-` for an hour that was not seen as a whole, else the number of runs, at most 61.
 */
export const Rhythm = Schema.Struct({
  /** Latest uninterrupted span of observation. */
  from: Schema.Number,
  to: Schema.Number,
  /** Start of the last run. */
  last: Schema.optionalKey(Schema.Number),
  /** Number of the latest week. */
  week: Schema.Number,
  /** Numbers of runs, latest week first. */
  runs: Schema.Array(Schema.String),
  /** Longest gap that overlaps each hour of the day, by week, in logarithmic steps. */
  gaps: Schema.Array(Schema.String)
})
export type Rhythm = typeof Rhythm.Type

export interface Silence {
  /** Start of the last run. */
  readonly since: number
  /** Least number of runs in the same hours of past weeks; 0 if only a limit was passed. */
  readonly expected: number
}

const minute = 60_000
const hour = 60 * minute
const hoursOfWeek = 168
const week = hoursOfWeek * hour
/** Number of weeks that are remembered, including the current one. */
const weeks = 6
/** Least number of runs that past weeks need in the hours of a silence; on a holiday a third of them still occur. */
const enough = { withinDay: 24, later: 8 }
/** Multiple of the longest gap that counts as silence, with few weeks known and with more. */
const factors = { few: 3, many: 2.4 }

const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
const most = digits.length - 1
const valueOf = (digit: string | undefined) => digit === undefined ? -1 : digits.indexOf(digit)
const digitOf = (value: number) => digits[Math.min(value, most)] ?? "0"

/** Steps of a gap's length: four for each doubling, from a minute. */
const stepOf = (gap: number) => Math.max(0, Math.ceil(4 * Math.log2(Math.max(1, gap / minute))))
const lengthOf = (step: number) => step <= 0 ? 0 : minute * 2 ** (step / 4)

const modes = new Set(["trigger", "webhook", "chat", "cron"])
/** Whether something outside started the run: not a person, a retry or another workflow. */
export const isAutomatic = ({ mode }: Run): boolean => modes.has(mode)

/** Rows of characters by week, of which few change. */
const rowsOf = (rows: ReadonlyArray<string>, former: number, latest: number, empty: string) => {
  const changed = new Map<number, Array<string>>()
  const text = (number: number) => rows[former - number] ?? empty
  return {
    row: (number: number) => {
      if (number > latest || number <= latest - weeks) return undefined
      const row = changed.get(number) ?? [...text(number)]
      changed.set(number, row)
      return row
    },
    all: () =>
      Array.from({ length: weeks }, (_, index) => changed.get(latest - index)?.join("") ?? text(latest - index))
  }
}

/** Adds the runs of a span of time to the rhythm; overlaps with earlier spans count once. */
export const learn = (rhythm: Rhythm | undefined, runs: ReadonlyArray<Run>, seen: Seen): Rhythm => {
  const isContinued = rhythm !== undefined && seen.from <= rhythm.to
  const from = isContinued ? rhythm.to : seen.from
  if (isContinued && seen.to <= from) return rhythm
  const latest = Math.floor(Math.max(seen.to - 1, rhythm?.to ?? 0) / week)
  const former = rhythm?.week ?? 0
  const counts = rowsOf(rhythm?.runs ?? [], former, latest, "-".repeat(hoursOfWeek))
  const gaps = rowsOf(rhythm?.gaps ?? [], former, latest, "0".repeat(24))
  const at = (index: number) => [counts.row(Math.floor(index / hoursOfWeek)), index % hoursOfWeek] as const
  const set = (index: number, change: (value: number) => string) => {
    const [row, place] = at(index)
    if (row !== undefined) row[place] = change(valueOf(row[place]))
  }
  // After a hole, neither the last hour of the former span nor the gap to the next run is known completely.
  if (!isContinued && rhythm !== undefined && rhythm.to % hour > 0) set(Math.floor(rhythm.to / hour), () => "-")
  for (let index = Math.max(Math.ceil(from / hour), (latest - weeks) * hoursOfWeek); index * hour < seen.to; index++) {
    set(index, () => "0")
  }
  let last = isContinued ? rhythm.last : undefined
  const starts = runs.filter((run) => isAutomatic(run) && run.startedAt >= from && run.startedAt < seen.to).map((run) =>
    run.startedAt
  ).toSorted((a, b) => a - b)
  for (const start of starts) {
    const index = Math.floor(start / hour)
    set(index, (value) => value < 0 ? "-" : digitOf(value + 1))
    const row = gaps.row(Math.floor(start / week))
    if (last !== undefined && row !== undefined) {
      const digit = digitOf(stepOf(start - last))
      for (let touched = Math.max(Math.floor(last / hour), index - 23); touched <= index; touched++) {
        if (valueOf(row[touched % 24]) < valueOf(digit)) row[touched % 24] = digit
      }
    }
    last = start
  }
  return {
    from: isContinued ? rhythm.from : from,
    to: seen.to,
    ...last === undefined ? {} : { last },
    week: latest,
    runs: counts.all(),
    gaps: gaps.all()
  }
}

/** Least number of runs in the hours of a span, in each of the past weeks that are known; clocks may have changed. */
const usual = ({ runs, week: latest }: Rhythm, from: number, to: number) => {
  const counts: Array<number> = []
  for (let back = Math.ceil((to - from) / week); back < weeks; back++) {
    let least = Infinity
    for (const shift of [-1, 0, 1]) {
      let sum = 0
      for (let index = Math.floor(from / hour); index * hour < to; index++) {
        const past = index - back * hoursOfWeek + shift
        const value = valueOf(runs[latest - Math.floor(past / hoursOfWeek)]?.[past % hoursOfWeek])
        const part = (Math.min(to, (index + 1) * hour) - Math.max(from, index * hour)) / hour
        sum += value < 0 ? NaN : value * part
      }
      least = Math.min(least, sum)
    }
    if (!Number.isNaN(least)) counts.push(least)
  }
  return counts
}

/** Silence of a workflow that its rhythm does not explain; `limit` is a maximum set by the operator. */
export const silence = (
  rhythm: Rhythm | undefined,
  { lastStart = rhythm?.last, limit, now }: {
    readonly lastStart: number | undefined
    readonly now: number
    readonly limit?: number
  }
): Silence | undefined => {
  const since = lastStart ?? (limit === undefined ? undefined : rhythm?.from)
  if (since === undefined) return undefined
  const gap = now - since
  if (limit !== undefined) return gap > limit ? { since, expected: 0 } : undefined
  if (rhythm === undefined) return undefined
  const hours = Math.min(24, Math.floor(now / hour) - Math.floor(since / hour) + 3)
  const longest = lengthOf(
    Math.max(
      ...rhythm.gaps.flatMap((row) =>
        Array.from({ length: hours }, (_, index) => valueOf(row[(Math.floor(since / hour) - 1 + index) % 24]))
      )
    )
  )
  if (gap < factors.many * longest) return undefined
  const counts = usual(rhythm, since, Math.min(now, since + week))
  const expected = Math.floor(Math.min(...counts))
  const isLong = gap >= (counts.length > 3 ? factors.many : factors.few) * longest
  return counts.length > 1 && isLong && expected >= (gap < 24 * hour ? enough.withinDay : enough.later)
    ? { since, expected }
    : undefined
}
