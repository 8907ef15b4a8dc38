import { assert, describe, it } from "@effect/vitest"
import * as durations from "../../../src/watch/detect/durations.ts"
import type { Run } from "../../../src/watch/Observation.ts"
import { begin, day, hour, normal, uniform } from "./arrivals.ts"

const run = (startedAt: number, ms: number, status = "success"): Run => ({
  id: "1",
  workflowId: "w",
  status,
  mode: "trigger",
  startedAt,
  stoppedAt: startedAt + Math.round(ms)
})

type Draw = (next: () => number, week: number, hourOfDay: number) => number

const logNormal = (median: number, spread: number): Draw => (next) => median * Math.exp(spread * normal(next))
const either = (part: number, one: Draw, other: Draw): Draw => (...args) =>
  args[0]() < part ? one(...args) : other(...args)

const [quick, minutes] = [logNormal(1500, 0.4), logNormal(40_000, 0.3)]

const kinds: ReadonlyArray<readonly [name: string, draw: Draw]> = [
  ["narrow", logNormal(1000, 0.3)],
  ["wide", logNormal(5000, 1)],
  ["two kinds of input", either(0.2, minutes, quick)],
  ["a wait", (next) => hour + quick(next, 0, 0)],
  ["a wait sometimes", either(0.3, (next) => hour * (1 + 5 * next()), quick)],
  ["growth", (next, week) => quick(next, 0, 0) * 1.15 ** week],
  ["heavy nights", (next, _, hourOfDay) => (hourOfDay < 6 ? minutes : quick)(next, 0, 0)]
]

/** History of six weeks, and the runs after the first two that seemed slow. */
const live = (seed: number, draw: Draw, daily: number) => {
  const next = uniform(seed)
  let history: durations.History | undefined
  let [alarms, count] = [0, 0]
  for (let index = 0; index < 42 * daily; index++) {
    const at = begin + Math.floor(index * day / daily)
    const each = run(at, draw(next, (at - begin) / day / 7, Math.floor(at / hour) % 24))
    if (at > begin + 14 * day && history !== undefined) {
      count++
      if (durations.slow(history, each) !== undefined) alarms++
    }
    history = durations.add(history, each)
  }
  return { history, alarms, count, next }
}

const steady = (count: number) =>
  Array.from({ length: count }, (_, index) => run(begin + index * hour, 2000 + index % 7 * 100)).reduce<
    durations.History | undefined
  >((history, each) => durations.add(history, each), undefined)

describe("slow", () => {
  it("is not a run that takes as long as others did: none in a month of fifty workflows", () => {
    let [alarms, count] = [0, 0]
    for (let seed = 0; seed < 50; seed++) {
      const [, draw] = kinds[seed % kinds.length] ?? ["", quick]
      const outcome = live(seed, draw, [4, 24, 72][seed % 3] ?? 1)
      alarms += outcome.alarms
      count += outcome.count
      assert.isBelow(JSON.stringify(outcome.history).length, 1200)
    }
    assert.strictEqual(alarms, 0)
    assert.isAbove(count, 40_000)
  })

  it("is one that takes ten times as long, in the first or second run", () => {
    let [inOne, inTwo] = [0, 0]
    const rounds = 40
    for (let seed = 0; seed < rounds; seed++) {
      const { history, next } = live(seed, logNormal(2000, 0.3), 24)
      const [first, second] = [run(begin + 43 * day, 20_000), run(begin + 43 * day + hour, 20_000 * (0.8 + next() / 2))]
      if (history === undefined) continue
      const isFirst = durations.slow(history, first) !== undefined
      if (isFirst) inOne++
      if (isFirst || durations.slow(durations.add(history, first), second) !== undefined) inTwo++
    }
    assert.strictEqual(inTwo, rounds)
    assert.isAbove(inOne, rounds / 2)
  })

  it("needs twenty runs, and five seconds more than usual", () => {
    const slow = run(begin + 90 * day, 60_000)
    assert.isUndefined(durations.slow(steady(19) ?? assert.fail(), slow))
    assert.deepStrictEqual(durations.slow(steady(20) ?? assert.fail(), slow), { ms: 60_000, p95: 2600 })
    assert.isUndefined(durations.slow(steady(20) ?? assert.fail(), { ...slow, status: "error" }))
    const fast = Array.from({ length: 30 }, (_, index) => run(begin + index * hour, 20)).reduce<
      durations.History | undefined
    >((history, each) => durations.add(history, each), undefined)
    assert.isUndefined(durations.slow(fast ?? assert.fail(), run(begin + 90 * day, 4000)))
  })
})

describe("stuck", () => {
  it("is a run that goes on for ten minutes and far longer than usual", () => {
    const open: Run = { id: "2", workflowId: "w", status: "running", mode: "trigger", startedAt: begin }
    const [short, none] = [steady(20) ?? assert.fail(), steady(3) ?? assert.fail()]
    assert.isUndefined(durations.stuck(short, open, begin + 9 * 60_000))
    assert.strictEqual(durations.stuck(short, open, begin + 11 * 60_000)?.p95, 2600)
    assert.isUndefined(durations.stuck(none, open, begin + 50 * 60_000))
    assert.isDefined(durations.stuck(none, open, begin + 61 * 60_000))
    assert.isUndefined(durations.stuck(short, { ...open, status: "waiting" }, begin + 30 * day))
    const { history } = live(1, kinds[3]?.[1] ?? quick, 24)
    assert.isUndefined(durations.stuck(history ?? assert.fail(), open, begin + 2 * hour))
  })
})

describe("empty", () => {
  const sampled = (items: ReadonlyArray<number>, versions: ReadonlyArray<string> = [], step = hour) =>
    items.reduce<durations.History | undefined>((history, count, index) => {
      const version = versions[index]
      const sample = version === undefined ? { items: count } : { items: count, version }
      return durations.add(history, run(begin + index * step, 1000), sample)
    }, undefined) ?? assert.fail()

  it("are two runs in a row after a new version, if none was before", () => {
    const versions = ["a", "a", "a", "a", "a", "b", "b"]
    assert.deepStrictEqual(durations.empty(sampled([9, 7, 8, 9, 30, 0, 0], versions)), {
      since: begin + 5 * hour,
      usual: 9,
      version: "b"
    })
    assert.isUndefined(durations.empty(sampled([9, 7, 8, 9, 30, 0], versions)))
    assert.isUndefined(durations.empty(sampled([9, 7, 0, 9, 30, 0, 0], versions)))
    assert.isUndefined(durations.empty(sampled([9, 7, 8, 9, 0, 0], versions.slice(1))))
  })

  it("without a new version are judged after a week without any", () => {
    const items = [9, 7, 8, 9, 30, 11, 9, 9, 0, 0]
    assert.isUndefined(durations.empty(sampled(items)))
    assert.deepStrictEqual(durations.empty(sampled(items, [], day)), { since: begin + 8 * day, usual: 9 })
    // Weekends without items, for ten weeks, at each hour.
    const hours = Array.from({ length: 70 * 24 }, (_, index) => Math.floor(index / 24) % 7 > 4 ? 0 : 5)
    let history: durations.History | undefined
    for (const [index, count] of hours.entries()) {
      history = durations.add(history, run(begin + index * hour, 1000), { items: count })
      assert.isUndefined(durations.empty(history), `hour ${index}`)
    }
    assert.isBelow(JSON.stringify(history).length, 1500)
  })

  it("costs a request for the first runs, after a publication and hourly", () => {
    const wants = (history: durations.History | undefined, after: number, version?: string) =>
      durations.wantsSample(history, run(begin, 1000), begin + after, version)
    const full = sampled([3, 3, 3, 3, 3], ["a", "a", "a", "a", "a"], 0)
    assert.isTrue(wants(undefined, 0))
    assert.isTrue(wants(sampled([3, 3]), 2 * hour))
    assert.deepStrictEqual([wants(full, 60_000, "a"), wants(full, 61 * 60_000, "a")], [false, true])
    assert.isTrue(wants(full, 60_000, "b"))
    assert.isTrue(wants(sampled([3, 3, 3, 3, 3, 0], ["a", "a", "a", "a", "a", "a"], 0), 60_000, "a"))
    assert.isFalse(durations.wantsSample(undefined, run(begin, 1000, "error"), begin))
  })
})
