/** Usual times of the runs of webhooks and polling triggers, and silence against them. Pure. */
import * as Schema from "effect/Schema"
import * as Schedules from "../../workflow/Schedules.ts"
import { day, hour, minute, type Run, week } from "../Observation.ts"
import type { Detector, Silent, Subject } from "./Detector.ts"

const hoursOfWeek = 168
/** Time in which what happens once a day happens once. */
const short = 20 * hour
/** Number of past weeks that a silence is compared with. */
const weeks = 5
/** Least number of runs that past weeks need in the hours of a silence; on a holiday a third of them still occur. */
const enough = { withinDay: 24, later: 8 }
/** Multiple of the usual runs in the calmest time without a run. */
const factor = 2.4
/** Usual runs in a time without a run from which that is remembered. */
const notable = 3

/** Runs of past weeks: small, and JSON. */
export const Memory = Schema.Struct({
  /** Begin of the uninterrupted observation, and its end. */
  from: Schema.Finite,
  to: Schema.Finite,
  /** Start of the last run since `from`. */
  last: Schema.optionalKey(Schema.Finite),
  /** First of the hours since 1970 (UTC) that are known. */
  hour: Schema.Finite,
  /** A character for each hour up to the last run: `-` if it was not seen as a whole, else its minutes with a run. */
  runs: Schema.String,
  /** Times without a run: their end, and the usual runs in them. Later ones are calmer than those after them. */
  calms: Schema.Array(Schema.Tuple([Schema.Finite, Schema.Finite]))
})
export type Memory = typeof Memory.Type

const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

const modes = new Set(["trigger", "webhook", "chat", "cron"])
/** Whether something outside started the run: not a person, a retry or another workflow. */
export const isAutomatic = ({ mode }: Run): boolean => modes.has(mode)

const byHand = /\.(?:manualTrigger|manualChatTrigger|executeWorkflowTrigger|errorTrigger|evaluationTrigger|start)$/

/** Whether events outside n8n start the workflow. */
export const listens = ({ nodes }: Pick<Subject, "nodes">): boolean =>
  nodes.some((node) =>
    node["type"] !== undefined && !byHand.test(String(node["type"])) &&
    Schedules.ofNode(node, { isV1: false }) === undefined
  )

/**
 * Least number of runs in the hours of a time, in any of two or more known weeks before. Clocks may have changed by an
 * hour: in less than a day all hours move by it, and later those of the first or the last day.
 */
const usual = (first: number, runs: ReadonlyArray<number>, from: number, to: number) => {
  const sumOf = (from: number, to: number) => {
    let sum = 0
    for (let index = Math.floor(from / hour); index * hour < to; index++) {
      const value = runs[index - first] ?? -1
      sum += value < 0 ? NaN : value * (Math.min(to, (index + 1) * hour) - Math.max(from, index * hour)) / hour
    }
    return sum
  }
  const sums: Array<number> = []
  for (let back = week; back <= weeks * week; back += week) {
    const soon = Math.min(to, from + short) - back
    const moved = [-hour, 0, hour].map((shift) => sumOf(from - back + shift, soon + shift))
    const inner = to - from > short ? sumOf(from - back + hour, to - back - hour) : 0
    const sum = Math.max(Math.min(...moved), inner)
    if (!Number.isNaN(sum)) sums.push(sum)
  }
  return sums.length > 1 ? Math.min(...sums) : 0
}

export const detect: Detector<Memory> = (memory, { from, lostBefore = -Infinity, started, to, workflow }) => {
  const isContinued = memory !== undefined && from <= memory.to && lostBefore <= memory.to
  const begin = isContinued ? memory.from : Math.max(from, lostBefore)
  const after = isContinued ? memory.to : begin
  const isLearned = listens(workflow)
  const first = memory?.hour ?? Math.floor(begin / hour)
  const runs = [...memory?.runs ?? ""].map((digit) => digits.indexOf(digit))
  let calms = memory?.calms ?? []
  let last = isContinued ? memory.last : undefined
  /** Enters the hours up to a time as seen; `isWhole` unless the observation ends in the last of them. */
  const fill = (time: number, value = 0) => {
    if (isLearned) { while (first + runs.length < time / hour) runs.push(value) }
  }
  if (!isContinued) {
    if (memory !== undefined) {
      const whole = Math.floor(memory.to / hour)
      fill(whole * hour)
      runs.length = Math.min(runs.length, Math.max(0, whole - first))
    }
    // The hours of a hole, and the one in which it ends, are not known.
    fill(begin, -1)
  }
  const episodes: Array<Silent> = []
  const { isPublished, liveSince, saves, silent: limit } = workflow
  const judge = (time: number, isOver: boolean) => {
    const since = Math.max(last ?? begin, liveSince)
    if (!isPublished || saves === "no" || time <= since) return
    const common = { kind: "silent", from: since, to: time, count: 1, isOver } as const
    if (limit !== undefined) {
      if (time - since > limit) episodes.push({ ...common, limit })
      return
    }
    // A rhythm of failures ends when their cause is fixed.
    if (saves === "unknown" || !isLearned || time - since < minute) return
    const expected = usual(first, runs, since, Math.min(time, since + week - 2 * hour))
    const calmest = Math.max(0, ...calms.filter(([at]) => at >= since - (weeks + 1) * week).map(([, runs]) => runs))
    if (expected >= Math.max(factor * calmest, time - since < day ? enough.withinDay : enough.later)) {
      episodes.push({ ...common, expected: Math.floor(expected) })
    } else if (isOver && expected >= notable) {
      calms = [...calms.filter(([at, runs]) => at >= since - (weeks + 1) * week && runs > expected), [
        time,
        Math.ceil(expected)
      ]]
    }
  }
  for (const run of started) {
    const time = run.startedAt
    if (!isAutomatic(run) || time < begin) continue
    // A run may be seen late, for n8n lists it when it ends.
    if (time >= after) judge(time, true)
    fill(time + 1)
    const index = Math.floor(time / hour) - first
    const isSame = last !== undefined && Math.floor(last / minute) === Math.floor(time / minute)
    const value = runs[index] ?? -1
    if (value >= 0 && !isSame) runs[index] = value + 1
    last = Math.max(last ?? time, time)
  }
  judge(to, false)
  const dropped = Math.max(0, runs.length - (weeks + 1) * hoursOfWeek)
  return {
    memory: {
      from: begin,
      to: Math.max(to, after),
      ...last === undefined ? {} : { last },
      hour: first + dropped,
      runs: runs.slice(dropped).map((value) => digits[value] ?? "-").join(""),
      calms
    },
    episodes
  }
}
