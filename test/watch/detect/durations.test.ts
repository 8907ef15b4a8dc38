import { assert, describe, it } from "@effect/vitest"
import type { Slow, Stuck } from "../../../src/watch/detect/Detector.ts"
import { detect, type Memory } from "../../../src/watch/detect/durations.ts"
import type { Run } from "../../../src/watch/Observation.ts"
import { begin, day, hour, normal, uniform } from "./arrivals.ts"
import { run, spanOf } from "./spans.ts"

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

/** Judges runs in order of their starts. */
const judged = (runs: ReadonlyArray<Run>, memory?: Memory) => detect(memory, spanOf({ ended: runs }))

const slowIn = (runs: ReadonlyArray<Run>, memory?: Memory) =>
  judged(runs, memory).episodes.flatMap((episode) => episode.kind === "slow" ? [episode as Slow] : [])

/** History of six weeks, and the slow episodes after the first two of them. */
const live = (seed: number, draw: Draw, daily: number) => {
  const next = uniform(seed)
  const runs = Array.from({ length: 42 * daily }, (_, index) => {
    const at = begin + Math.floor(index * day / daily)
    return run(at, draw(next, (at - begin) / day / 7, Math.floor(at / hour) % 24))
  })
  const { episodes, memory } = judged(runs)
  return { memory, alarms: episodes.filter(({ to }) => to > begin + 14 * day).length, count: 28 * daily, next }
}

/** Runs of two seconds, one an hour. */
const usual = (count: number, ms = 2000) =>
  Array.from({ length: count }, (_, index) => run(begin + index * hour, ms + index % 7 * ms / 20))
const after = (count: number, durations: ReadonlyArray<number>, step = hour) =>
  durations.map((ms, index) => run(begin + count * hour + index * step, ms))
const steady = (count: number) => judged(usual(count)).memory

describe("slow", () => {
  it("is not a run that takes as long as others did: none in a month of fifty workflows", () => {
    let [alarms, count] = [0, 0]
    for (let seed = 0; seed < 50; seed++) {
      const [, draw] = kinds[seed % kinds.length] ?? ["", quick]
      const outcome = live(seed, draw, [4, 24, 72][seed % 3] ?? 1)
      alarms += outcome.alarms
      count += outcome.count
      assert.isBelow(JSON.stringify(outcome.memory).length, 1200)
    }
    assert.strictEqual(alarms, 0)
    assert.isAbove(count, 40_000)
  })

  it("is one that takes ten times as long, in the first or second run", () => {
    let [inOne, inTwo] = [0, 0]
    const rounds = 40
    for (let seed = 0; seed < rounds; seed++) {
      const { memory, next } = live(seed, logNormal(2000, 0.3), 24)
      const runs = [run(begin + 43 * day, 20_000), run(begin + 43 * day + hour, 20_000 * (0.8 + next() / 2))]
      if (slowIn(runs.slice(0, 1), memory).length > 0) inOne++
      if (slowIn(runs, memory).length > 0) inTwo++
    }
    assert.strictEqual(inTwo, rounds)
    assert.isAbove(inOne, rounds / 2)
  })

  it("is a single one after twenty runs, and from five seconds more than usual", () => {
    const slow = run(begin + 90 * day, 60_000)
    assert.deepStrictEqual(slowIn([slow], steady(19)), [])
    const [episode, ...more] = slowIn([slow], steady(20))
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(episode, {
      kind: "slow",
      from: slow.startedAt,
      to: slow.startedAt,
      count: 1,
      usual: 2300,
      p95: 2600,
      now: 60_000,
      former: `${begin + 19 * hour}`,
      run: slow.id,
      isOver: false
    })
    assert.deepStrictEqual(slowIn([{ ...slow, status: "error" }], steady(20)), [])
    assert.deepStrictEqual(slowIn([{ ...slow, mode: "manual" }], steady(20)), [])
    assert.deepStrictEqual(judged([slow], steady(20)).episodes.length, 1)
    const fast = judged(Array.from({ length: 30 }, (_, index) => run(begin + index * hour, 20))).memory
    assert.deepStrictEqual(slowIn([run(begin + 90 * day, 4000)], fast), [])
  })

  it("is a workflow that becomes ten times slower after eight runs, in the fifth of them", () => {
    for (const [before, now] of [[2000, 20_000], [400, 4000], [60_000, 600_000]] as const) {
      for (const count of [8, 12, 19]) {
        const runs = [...usual(count, before), ...after(count, [1, 0.9, 1.2, 1, 0.95].map((part) => part * now))]
        assert.deepStrictEqual(slowIn(runs.slice(0, -1)), [], `${before} after ${count}`)
        const [episode] = slowIn(runs)
        assert.deepInclude(episode, {
          from: begin + count * hour,
          count: 5,
          now,
          former: `${begin + (count - 1) * hour}`
        })
      }
      assert.deepStrictEqual(slowIn([...usual(7, before), ...after(7, [now, now, now, now, now])]), [])
    }
    // A pause in between makes them two kinds of input.
    const mixed = [...usual(8, 400), ...after(8, [4000, 4000, 400, 4000, 4000, 4000, 400, 4000])]
    assert.deepStrictEqual(slowIn(mixed), [])
  })

  it("is over after three usual runs, or as many as were slow, and then worth another report", () => {
    const slow = Array.from({ length: 6 }, () => 30_000)
    const states = (rest: ReadonlyArray<number>) =>
      slowIn([...usual(20), ...after(20, [...slow, ...rest])]).map(({ count, isOver, from }) => [
        count,
        isOver,
        (from - begin) / hour
      ])
    assert.deepStrictEqual(states([2000, 2000]), [[6, false, 20]])
    assert.deepStrictEqual(states([2000, 2000, 2000]), [[6, true, 20]])
    assert.deepStrictEqual(states([2000, 2000, 30_000, 2000]), [[7, false, 20]])
    assert.deepStrictEqual(states([2000, 2000, 2000, 60_000, 60_000]), [[6, true, 20], [2, false, 29]])
    assert.deepStrictEqual(
      slowIn([...usual(20), ...after(20, [30_000, 2000])]).map(({ count, isOver }) => [count, isOver]),
      [[1, true]]
    )
  })

  it("is what is usual after two weeks", () => {
    const weeks = Array.from({ length: 16 * 24 }, () => 30_000)
    const { episodes, memory } = judged([...usual(30), ...after(30, weeks)])
    assert.deepStrictEqual(
      episodes.map((episode) => [episode.kind, episode.isOver, Math.floor((episode.to - episode.from) / day)]),
      [["slow", false, 14]]
    )
    assert.isUndefined(memory.slow)
    const at = begin + (31 + weeks.length) * hour
    assert.deepStrictEqual(slowIn([run(at, 35_000), run(at + hour, 31_000)], memory), [])
    assert.lengthOf(slowIn([run(at, 300_000)], memory), 1)
  })
})

describe("stuck", () => {
  const open: Run = { id: "2", workflowId: "w", status: "running", mode: "trigger", startedAt: begin + 100 * day }
  const stuck = (memory: Memory, ms: number, waited: ReadonlySet<string> = new Set(), run = open) =>
    detect(memory, spanOf({ from: open.startedAt, to: open.startedAt + ms, running: [run], waited }))
  const found = (...args: Parameters<typeof stuck>) => stuck(...args).episodes[0] as Stuck | undefined

  it("is a run that goes on for ten minutes and far longer than usual", () => {
    const [short, none] = [steady(20), steady(3)]
    assert.isUndefined(found(short, 9 * 60_000))
    assert.deepInclude(found(short, 11 * 60_000), { kind: "stuck", run: "2", p95: 2600, isOver: false })
    assert.isUndefined(found(none, 50 * 60_000))
    assert.isDefined(found(none, 61 * 60_000))
    assert.isUndefined(found(short, 30 * day, new Set(["2"])))
    assert.isUndefined(found(short, 30 * day, new Set(), { ...open, mode: "manual" }))
    const { memory } = live(1, kinds[3]?.[1] ?? quick, 24)
    assert.isUndefined(found(memory, 2 * hour))
  })

  it("is not a run that had ended before others became quicker", () => {
    const failed = run(begin + 15 * hour, 24 * 60_000, "error")
    const [first, second] = [[...usual(15), failed], usual(30).slice(16)]
    assert.deepStrictEqual(judged([...first, ...second]).episodes, [])
    assert.deepStrictEqual(judged(second, judged(first).memory).episodes, [])
  })

  it("is over when it ends, and its time is not slowness", () => {
    const { memory } = stuck(steady(20), 11 * 60_000)
    const to = open.startedAt + 40 * 60_000
    for (const status of ["success", "error", "crashed", "canceled"]) {
      const { episodes, memory: next } = detect(memory, spanOf({ to, ended: [{ ...open, status, stoppedAt: to }] }))
      assert.deepStrictEqual(episodes.map(({ isOver, kind, to }) => [kind, isOver, to]), [["stuck", true, to]], status)
      assert.deepStrictEqual(next.stuck, [])
    }
  })
})
