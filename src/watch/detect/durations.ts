/** Runs that take far longer than usual, or do not end. Pure. */
import * as Schema from "effect/Schema"
import { percentile } from "../../executions/Profile.ts"
import { day, hour, isAttended, minute, type Run, second } from "../Observation.ts"
import type { Detector, Slow, Stuck } from "./Detector.ts"

const Timed = Schema.Struct({ id: Schema.String, at: Schema.Finite, ms: Schema.Finite })
type Timed = typeof Timed.Type

const Episode = Schema.Struct({
  from: Schema.Finite,
  to: Schema.Finite,
  count: Schema.Finite,
  usual: Schema.Finite,
  p95: Schema.Finite,
  former: Schema.String,
  run: Schema.String,
  /** Milliseconds of its runs, latest last. */
  durations: Schema.Array(Schema.Finite),
  /** Usual runs since its last one. */
  calm: Schema.Array(Timed)
})
type Episode = typeof Episode.Type

/** Durations of a workflow's successful runs: small, and JSON. */
export const Memory = Schema.Struct({
  /** Milliseconds of usual runs, latest last. */
  usual: Schema.Array(Schema.Finite),
  /** Newest usual run. */
  former: Schema.optionalKey(Schema.String),
  /** Longest durations of past weeks, each with its start. */
  peaks: Schema.Array(Schema.Struct({ ms: Schema.Finite, at: Schema.Finite })),
  /** Latest long runs, too few for a judgment. */
  long: Schema.Array(Timed),
  slow: Schema.optionalKey(Episode),
  stuck: Schema.Array(Schema.Struct({ id: Schema.String, p95: Schema.Finite }))
})
export type Memory = typeof Memory.Type

/** Maximum number of durations and of peaks, and the time for which a peak counts. */
const stored = { durations: 60, peaks: 5, peakAge: 56 * day }

/** Least number of usual runs for a judgment of several long ones in a row, and of one. */
const enough = { several: 8, one: 20 }

/** Number of long runs in a row that are slow, after few usual runs and after many. */
const inRow = { few: 5, many: 2 }

/** Number of usual runs after which slowness is over, and the time after which it is what is usual. */
const calmRuns = 3
const newUsual = 14 * day

const nothing: Memory = { usual: [], peaks: [], long: [], stuck: [] }

/** Milliseconds above which a run is long, above which two in a row are slow, and above which one is. */
const limitsOf = ({ peaks, usual }: Memory) => {
  const [p50, p95] = [Math.max(percentile(usual, 0.5), 1), Math.max(percentile(usual, 0.95), 1)]
  const [spread, peak] = [p95 / p50, peaks[0]?.ms ?? 0]
  const least = usual.length < enough.one ? Infinity : p95 + 5 * second
  return {
    p50,
    p95,
    long: usual.length < enough.several ? Infinity : Math.max(1.5 * p95, 3 * p50, 1.1 * peak, p50 + second),
    several: Math.max(p95 * Math.max(3, spread), 1.1 * peak, least),
    one: Math.max(p95 * Math.max(5, spread ** 2), 1.5 * peak, least),
    stuck: Math.max(
      10 * minute,
      least === Infinity ? Math.max(hour, 5 * peak) : Math.max(p95 * Math.max(5, spread ** 2), 1.5 * peak, least)
    )
  }
}

const withUsual = (memory: Memory, runs: ReadonlyArray<Timed>): Memory => {
  const latest = runs.at(-1)
  if (latest === undefined) return memory
  const peaks = [...memory.peaks, ...runs.map(({ at, ms }) => ({ ms, at }))]
    .filter(({ at }) => at > latest.at - stored.peakAge).toSorted((a, b) => b.ms - a.ms).slice(0, stored.peaks)
  const usual = [...memory.usual, ...runs.map(({ ms }) => ms)].slice(-stored.durations)
  return { ...memory, usual, former: latest.id, peaks }
}

const withoutEpisode = ({ slow: _, ...memory }: Memory): Memory => memory

const slowOf = ({ calm: _, durations, ...episode }: Episode, isOver: boolean): Slow => ({
  kind: "slow",
  ...episode,
  now: percentile(durations, 0.5),
  isOver
})

/** Goes on with an episode, which ends after some usual runs, or when it has become what is usual. */
const goOn = (memory: Memory, slow: Episode, run: Timed) => {
  if (run.ms <= limitsOf(memory).long) {
    const calm = [...slow.calm, run]
    if (calm.length < Math.min(calmRuns, slow.count)) return { memory: { ...memory, slow: { ...slow, calm } } }
    const worst = { ms: Math.max(...slow.durations), at: slow.to }
    const peaks = [...memory.peaks, worst]
    return { memory: withUsual({ ...withoutEpisode(memory), peaks }, calm), episode: slowOf(slow, true) }
  }
  const durations = [...slow.durations, run.ms].slice(-stored.durations)
  const next: Episode = { ...slow, to: run.at, count: slow.count + 1, run: run.id, durations, calm: [] }
  const rest = withUsual(memory, slow.calm)
  if (run.at - slow.from < newUsual) return { memory: { ...rest, slow: next }, episode: slowOf(next, false) }
  return { memory: { ...withoutEpisode(rest), usual: durations, former: run.id }, episode: slowOf(next, false) }
}

/** Judges a successful run after those in the memory. */
const judge = (memory: Memory, run: Timed): { readonly memory: Memory; readonly episode?: Slow } => {
  if (memory.slow !== undefined) return goOn(memory, memory.slow, run)
  const { long: least, one, p50: usual, p95, several } = limitsOf(memory)
  if (run.ms <= least) return { memory: withUsual({ ...memory, long: [] }, [...memory.long, run]) }
  const long = [...memory.long, run]
  const pair = long.slice(-inRow.many)
  const isSlow = run.ms > one || long.length >= inRow.few ||
    pair.length === inRow.many && pair.every(({ ms }) => ms > several)
  if (!isSlow) return { memory: { ...memory, long } }
  const slow: Episode = {
    from: long[0]?.at ?? run.at,
    to: run.at,
    count: long.length,
    usual,
    p95,
    former: memory.former ?? "",
    run: run.id,
    durations: long.map(({ ms }) => ms),
    calm: []
  }
  return { memory: { ...memory, long: [], slow }, episode: slowOf(slow, false) }
}

/** Time at which all that is known of a run in a span ends. */
const endOf = (run: Run, to: number) => run.stoppedAt ?? to

/** Detects slow runs and runs that do not end. */
export const detect: Detector<Memory> = (before = nothing, { ended, running, to, waited }) => {
  let memory = before
  const episodes = new Map<string, Slow | Stuck>()
  const stuck = new Map(before.stuck.map(({ id, p95 }) => [id, p95]))
  const candidates = [...ended, ...running].filter((run) =>
    !isAttended(run) && !waited.has(run.id) && endOf(run, to) - run.startedAt > 10 * minute
  )
  const findStuck = (at: number) => {
    if (candidates.length === 0) return
    const { p95, stuck: patience } = limitsOf(memory)
    for (const run of candidates) {
      if (endOf(run, to) >= at && at - run.startedAt > patience && !stuck.has(run.id)) {
        stuck.set(run.id, memory.usual.length < enough.several ? 0 : p95)
      }
    }
  }
  for (const run of ended) {
    const at = endOf(run, to)
    findStuck(at)
    if (run.status !== "success" || isAttended(run) || waited.has(run.id)) continue
    const timed = { id: run.id, at: run.startedAt, ms: at - run.startedAt }
    if (stuck.has(run.id)) {
      memory = withUsual(memory, [timed])
      continue
    }
    const { episode, memory: next } = judge(memory, timed)
    memory = next
    if (episode !== undefined) episodes.set(`slow ${episode.from}`, episode)
  }
  findStuck(to)
  for (const run of candidates) {
    const p95 = stuck.get(run.id)
    if (p95 === undefined) continue
    const isOver = run.stoppedAt !== undefined
    episodes.set(run.id, {
      kind: "stuck",
      from: run.startedAt,
      to: endOf(run, to),
      count: 1,
      isOver,
      run: run.id,
      p95
    })
  }
  const open = running.flatMap(({ id }) => {
    const p95 = stuck.get(id)
    return p95 === undefined ? [] : [{ id, p95 }]
  })
  return { memory: { ...memory, stuck: open }, episodes: [...episodes.values()] }
}
