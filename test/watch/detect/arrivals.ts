/** Reproducible times at which webhooks and polling triggers start workflows. */
import * as DateTime from "effect/DateTime"
import type { Detector, Episode, Span } from "../../../src/watch/detect/Detector.ts"
import { random } from "../../support/random.ts"

export const hour = 3_600_000
export const day = 24 * hour
/** Monday; the clocks of Europe change in the ninth week. */
export const begin = Date.parse("2027-08-30T00:00:00Z")
export const weeks = 10

/** Numbers between 0 and 1. */
export const uniform = (seed: number) => {
  const next = random(seed)
  return () => (next(1_000_000) + 0.5) / 1_000_000
}

/** A number of a normal distribution. */
export const normal = (next: () => number): number => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next())

interface Local {
  readonly hour: number
  /** Sunday is 0. */
  readonly weekday: number
  readonly week: number
  readonly isHoliday: boolean
}

/** Expected runs an hour. */
type Rate = (local: Local) => number

const office: Rate = ({ hour, isHoliday, weekday }) =>
  weekday === 0 || weekday === 6 || hour < 8 || hour >= 18 ? 0 : isHoliday ? 1 / 3 : 1
const shop: Rate = ({ hour, weekday }) => (weekday === 0 ? 0.6 : 1) * (hour < 6 ? 0.05 : hour < 17 ? 0.7 : 1)
const nights: Rate = ({ hour }) => hour < 7 ? 0 : 1

const scales = [0.1, 0.5, 2, 8, 30]

/** Kinds of processes, with a rate for each; `burst` is the most runs that come with one event. */
const kinds: ReadonlyArray<readonly [name: string, rate: Rate, burst?: number]> = [
  ["steady", () => 1],
  ["by day", shop],
  ["office hours and holidays", office],
  ["no nights", nights],
  ["bursts", () => 0.2, 30],
  ["bursts by day", (local) => 0.2 * shop(local), 20],
  ["growth", (local) => shop(local) * 1.2 ** local.week],
  ["decline", (local) => shop(local) * 0.8 ** local.week],
  ["daily batch", ({ hour }) => hour === 3 ? 5 : 0],
  ["weekly batch", ({ hour, weekday }) => weekday === 1 && hour === 6 ? 10 : 0],
  ["sparse", () => 0.02],
  ["holidays of a shop", (local) => local.isHoliday ? 0.3 * shop(local) : shop(local)]
]

/** Holidays, some of them together, by the number of the day. */
const holidays = (next: () => number) => {
  const days = new Set<number>()
  for (let count = 0; count < 3; count++) {
    const first = Math.floor(next() * weeks * 7)
    days.add(first)
    if (next() < 0.4) days.add(first + 1)
  }
  return days
}

const zone = DateTime.zoneMakeNamedUnsafe("Europe/Berlin")
const offsets = new Map<number, number>()
const offsetAt = (time: number) => {
  const hourOf = Math.floor(time / hour)
  const offset = offsets.get(hourOf) ?? DateTime.zonedOffset(DateTime.makeZonedUnsafe(time, { timeZone: zone }))
  offsets.set(hourOf, offset)
  return offset
}

/** Name and run times of a process. */
export const process = (seed: number): { readonly name: string; readonly times: ReadonlyArray<number> } => {
  const next = uniform(seed)
  const [kind, rate, burst = 1] = kinds[seed % kinds.length] ?? ["none", () => 0]
  const scale = scales[Math.floor(seed / kinds.length) % scales.length] ?? 1
  const free = holidays(next)
  const times: Array<number> = []
  for (let at = begin; at < begin + weeks * 7 * day; at += hour) {
    const local = new Date(at + offsetAt(at))
    const index = Math.floor((at + offsetAt(at) - begin) / day)
    const mean = scale * rate({
      hour: local.getUTCHours(),
      weekday: local.getUTCDay(),
      week: Math.floor(index / 7),
      isHoliday: free.has(index)
    })
    if (mean === 0) continue
    for (let wait = -Math.log(next()) / mean; wait < 1; wait -= Math.log(next()) / mean) {
      const count = burst === 1 ? 1 : 1 + Math.floor(next() * burst)
      for (let each = 0; each < count; each++) times.push(at + Math.floor(wait * hour) + each * 700)
    }
  }
  return { name: `${kind} × ${scale}`, times: times.toSorted((a, b) => a - b) }
}

/** Last state of each episode of a history, judged in parts that end at these times. */
export const judgedIn = <Memory>(detect: Detector<Memory>, span: Span, cuts: ReadonlyArray<number>) => {
  const episodes = new Map<string, Episode>()
  const unknown = new Set<string>()
  let memory: Memory | undefined
  let [from, next] = [span.from, 0]
  for (const to of [...cuts.toSorted((a, b) => a - b), span.to]) {
    const begin = next
    while ((span.started[next]?.startedAt ?? Infinity) < to) next++
    const judgment = detect(memory, { ...span, from, to, started: span.started.slice(begin, next) })
    // It is kept as JSON.
    memory = JSON.parse(JSON.stringify(judgment.memory)) as Memory
    if (judgment.unknown !== undefined) unknown.add(judgment.unknown)
    for (const episode of judgment.episodes) episodes.set(`${episode.kind} ${episode.from}`, episode)
    from = to
  }
  const all = [...episodes.values()].toSorted((a, b) => a.from - b.from)
  return { episodes: all, unknown: [...unknown], size: JSON.stringify(memory).length }
}

/** Times at which a history is cut: by chance, and some minutes one by one. */
export const cutsOf = (
  next: (below: number) => number,
  { from, to }: { readonly from: number; readonly to: number }
) => {
  const at = () => from + next(1000) / 1000 * (to - from)
  const minutes = at()
  return [
    ...Array.from({ length: next(12) }, () => Math.floor(at()) + next(60_000)),
    ...Array.from({ length: 60 }, (_, index) => Math.floor(minutes) + index * 60_000)
  ].filter((time) => time > from && time < to)
}
