/** Runs that take far longer than usual, do not end, or end without their usual items. Pure. */
import * as Schema from "effect/Schema"
import type { Run } from "../Observation.ts"

const Sample = Schema.Struct({
  at: Schema.Number,
  items: Schema.Number,
  version: Schema.optionalKey(Schema.String)
})

/** Durations of a workflow's successful runs and item counts of sampled ones: small, and JSON. */
export const History = Schema.Struct({
  /** Milliseconds, latest last. */
  durations: Schema.Array(Schema.Number),
  /** Longest durations of past weeks, each with its end. */
  peaks: Schema.Array(Schema.Struct({ ms: Schema.Number, at: Schema.Number })),
  /** Latest last. */
  samples: Schema.Array(Sample),
  /** Time since which no sample was empty, apart from the empty ones at the end. */
  fullSince: Schema.optionalKey(Schema.Number)
})
export type History = typeof History.Type

export interface Excess {
  readonly ms: number
  readonly p95: number
}

export interface Emptiness {
  /** Start of the first empty run. */
  readonly since: number
  /** Median number of items. */
  readonly usual: number
  /** Version that began with an empty run. */
  readonly version?: string
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const week = 168 * hour

/** Maximum number of durations, of samples and of peaks, and the time for which a peak counts. */
const stored = { durations: 60, samples: 12, peaks: 5, peakAge: 8 * week }
/** Least number of runs, and of samples, that define the usual. */
const enough = { runs: 20, samples: 5 }

/** Least excess that is worth a report. */
const excess = 5 * second

const nothing: History = { durations: [], peaks: [], samples: [] }

const quantile = (sorted: Float64Array, part: number) => sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0

const ordered = (values: ReadonlyArray<number>) => Float64Array.from(values).toSorted()

const durationOf = ({ startedAt, stoppedAt }: Run) => stoppedAt === undefined ? undefined : stoppedAt - startedAt

/** Adds a successful run to the history, with the number of items at its end if they were read. */
export const add = (
  history: History = nothing,
  run: Run,
  sample?: { readonly items: number; readonly version?: string }
): History => {
  const ms = durationOf(run)
  if (run.status !== "success" || ms === undefined) return history
  const peaks = [...history.peaks, { ms, at: run.startedAt }].filter(({ at }) => at > run.startedAt - stored.peakAge)
    .toSorted((a, b) => b.ms - a.ms).slice(0, stored.peaks)
  const durations = [...history.durations, ms].slice(-stored.durations)
  if (sample === undefined) return { ...history, durations, peaks }
  const samples = [...history.samples, { at: run.startedAt, ...sample }].slice(-stored.samples)
  const wasEmpty = history.samples.at(-1)?.items === 0
  const fullSince = sample.items === 0
    ? history.fullSince
    : wasEmpty || history.fullSince === undefined
    ? run.startedAt
    : history.fullSince
  return { durations, peaks, samples, ...fullSince === undefined ? {} : { fullSince } }
}

/** Longest durations that are not reported, for one run and for two of three; `undefined` if too few runs are known. */
const limits = ({ durations, peaks }: History) => {
  if (durations.length < enough.runs) return undefined
  const sorted = ordered(durations)
  const [p50, p95] = [Math.max(quantile(sorted, 0.5), 1), Math.max(quantile(sorted, 0.95), 1)]
  const spread = p95 / p50
  const peak = peaks[0]?.ms ?? 0
  return {
    p95,
    one: Math.max(p95 * Math.max(5, spread ** 2), 1.5 * peak, p95 + excess),
    two: Math.max(p95 * Math.max(3, spread), 1.1 * peak, p95 + excess)
  }
}

/** A finished run that took far longer than the earlier runs in `history`. */
export const slow = (history: History, run: Run): Excess | undefined => {
  const ms = durationOf(run)
  if (run.status !== "success" || ms === undefined || ms <= excess) return undefined
  const limit = limits(history)
  if (limit !== undefined && ms > limit.one) return { ms, p95: limit.p95 }
  const latest = history.durations.slice(-2)
  const before = limits({
    ...history,
    durations: history.durations.slice(0, -2),
    peaks: history.peaks.filter((peak) => !latest.includes(peak.ms))
  })
  return before !== undefined && ms > before.two && latest.some((each) => each > before.two)
    ? { ms, p95: before.p95 }
    : undefined
}

/** A run that takes far longer than the workflow's other runs. */
export const stuck = (history: History = nothing, run: Run, now: number): Excess | undefined => {
  if (run.status !== "running" || run.stoppedAt !== undefined) return undefined
  const ms = now - run.startedAt
  const limit = limits(history)
  const longest = limit === undefined ? Math.max(hour, 5 * (history.peaks[0]?.ms ?? 0)) : limit.one
  return ms > Math.max(longest, 10 * minute)
    ? { ms, p95: limit?.p95 ?? quantile(ordered(history.durations), 0.95) }
    : undefined
}

/** The empty samples at the end, if none before them was empty. */
export const empty = ({ fullSince, samples }: History): Emptiness | undefined => {
  const last = samples.findLastIndex(({ items }) => items > 0)
  const first = samples[last + 1]
  const before = samples.slice(0, last + 1)
  if (fullSince === undefined || first === undefined || samples.length - last - 1 < 2) return undefined
  if (before.length < enough.samples || before.some(({ items }) => items === 0)) return undefined
  const isNew = first.version !== undefined && first.version !== before.at(-1)?.version
  // Without a new version, a night or a weekend without items looks the same.
  if (!isNew && first.at - fullSince < week) return undefined
  return {
    since: first.at,
    usual: quantile(ordered(before.map(({ items }) => items)), 0.5),
    ...isNew && first.version !== undefined ? { version: first.version } : {}
  }
}

/** Whether the data of a run are worth a request; `version` is the one that is live. */
export const wantsSample = (history: History | undefined, run: Run, now: number, version?: string): boolean => {
  if (run.status !== "success" || run.stoppedAt === undefined) return false
  const samples = history?.samples ?? []
  const last = samples.at(-1)
  if (last === undefined || samples.length < enough.samples) return true
  const ofVersion = samples.filter((sample) => sample.version === version).length
  if (version !== undefined && ofVersion < 2) return true
  // Another empty one decides.
  if (last.items === 0 && samples.at(-2)?.items !== 0) return true
  return now - last.at >= hour
}
