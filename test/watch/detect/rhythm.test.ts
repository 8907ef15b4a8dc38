import { assert, describe, it } from "@effect/vitest"
import { learn, type Rhythm, silence } from "../../../src/watch/detect/rhythm.ts"
import type { Run } from "../../../src/watch/Observation.ts"
import * as arrivals from "./arrivals.ts"

const { begin, day, hour } = arrivals
const end = begin + arrivals.weeks * 7 * day

const runsAt = (times: ReadonlyArray<number>, mode = "webhook"): ReadonlyArray<Run> =>
  times.map((startedAt) => ({ id: String(startedAt), workflowId: "w", status: "success", mode, startedAt }))

const within = (times: ReadonlyArray<number>, from: number, to: number) =>
  times.filter((time) => time >= from && time < to)

const learnAll = (times: ReadonlyArray<number>, to: number) =>
  learn(undefined, runsAt(within(times, begin, to)), { from: begin, to })

/** Whether a silence was reported in one of the gaps of a process, learned day by day. */
const alarmOf = (times: ReadonlyArray<number>) => {
  let rhythm: Rhythm | undefined
  for (let from = begin; from < end; from += day) {
    const starts = within(times, from, from + day)
    let last = rhythm?.last
    for (const time of starts) {
      const first = last === undefined ? time : Math.max(from, last + 10 * 60_000)
      for (let now = time - 1; now >= first; now -= 2 * hour) {
        if (silence(rhythm, { lastStart: last, now }) !== undefined) return new Date(now).toISOString()
      }
      last = time
    }
    rhythm = learn(rhythm, runsAt(starts), { from, to: from + day })
  }
  return undefined
}

/** Hours until a silence is reported that begins at a time; `undefined` within eight days. */
const delayOf = (times: ReadonlyArray<number>, cut: number) => {
  const before = within(times, begin, cut)
  const lastStart = before.at(-1)
  let rhythm = learnAll(before, cut)
  for (let now = cut; now < cut + 8 * day; now += hour / 2) {
    if (now % day === 0) rhythm = learn(rhythm, [], { from: rhythm.to, to: now })
    if (silence(rhythm, { lastStart, now }) !== undefined) return (now - cut) / hour
  }
  return undefined
}

describe("rhythm", () => {
  it("is the same in whatever steps it is learned, and small", () => {
    for (const seed of [0, 2, 4, 16, 31]) {
      const { times } = arrivals.process(seed)
      const next = arrivals.uniform(seed)
      let rhythm: Rhythm | undefined
      for (let from = begin; from < end;) {
        const to = Math.min(end, from + Math.ceil(next() ** 4 * 12 * day))
        // What was learned already comes once more.
        rhythm = learn(rhythm, runsAt(within(times, from - day, to)), { from: Math.max(begin, from - day), to })
        from = to
      }
      assert.deepStrictEqual(rhythm, learnAll(times, end))
      assert.isBelow(JSON.stringify(rhythm).length, 1500)
    }
  })

  it("takes a time that was not seen neither for silence nor for a gap", () => {
    const { times } = arrivals.process(48)
    const hole = { from: begin + 40 * day + 7000, to: begin + 43 * day + 7000 }
    const first = learnAll(times, hole.from)
    const rhythm = learn(first, runsAt(within(times, hole.to, end)), { from: hole.to, to: end })
    const whole = [...learnAll(times, end).gaps.join("")]
    assert.isTrue([...rhythm.gaps.join("")].every((gap, index) => gap <= (whole[index] ?? "")))
    assert.strictEqual(rhythm.runs.join("").match(/-/g)?.length, 73 + 3 * 24)
  })
})

describe("silence", () => {
  it("is not reported while runs come as usual", () => {
    const alarms = Array.from({ length: 48 }, (_, seed) => {
      const { name, times } = arrivals.process(seed)
      const at = alarmOf(times)
      return at === undefined ? [] : [`${seed} ${name}: ${at}`]
    }).flat()
    assert.deepStrictEqual(alarms, [])
  })

  it("is reported once past weeks had many runs in its hours", () => {
    const cut = begin + 45 * day + 11 * hour
    // Steady with 30, 8 and 2 an hour; a shop with 30 and 2; nights without runs; a daily batch.
    const seeds: ReadonlyArray<readonly [seed: number, most: number]> = [
      [48, 3],
      [36, 8],
      [24, 24],
      [49, 12],
      [25, 48],
      [51, 24],
      [56, 72]
    ]
    for (const [seed, most] of seeds) {
      const { name, times } = arrivals.process(seed)
      const delay = delayOf(times, cut)
      assert.isDefined(delay, name)
      assert.isAtMost(delay ?? Infinity, most, name)
    }
  })

  it("needs two weeks, unless a limit is set", () => {
    const { times } = arrivals.process(48)
    const at = begin + 13 * day
    const rhythm = learnAll(times, at)
    assert.isUndefined(silence(rhythm, { lastStart: at, now: at + 7 * day - hour }))
    assert.isUndefined(silence(rhythm, { lastStart: at, now: at + hour, limit: 2 * hour }))
    assert.deepStrictEqual(silence(rhythm, { lastStart: at, now: at + 3 * hour, limit: 2 * hour }), {
      since: at,
      expected: 0
    })
    // Never a run since the watch began.
    const empty = learn(undefined, runsAt(times.slice(0, 5), "manual"), { from: begin, to: at })
    assert.strictEqual(silence(empty, { lastStart: undefined, now: at, limit: day })?.since, begin)
    assert.isUndefined(silence(empty, { lastStart: undefined, now: at }))
  })
})
