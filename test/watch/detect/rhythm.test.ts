import { assert, describe, it } from "@effect/vitest"
import type { Episode, Span, Subject } from "../../../src/watch/detect/Detector.ts"
import { detect, listens } from "../../../src/watch/detect/rhythm.ts"
import { node } from "../../support/workflows.ts"
import * as arrivals from "./arrivals.ts"

const { begin, day, hour, judgedIn } = arrivals
const end = begin + arrivals.weeks * 7 * day

const webhook: Subject = {
  id: "w",
  name: "W",
  isPublished: true,
  liveSince: begin - 90 * day,
  nodes: [node("Webhook", "webhook", 2)],
  saves: "yes"
}

const spanOf = (times: ReadonlyArray<number>, from: number, to: number, workflow = webhook): Span => ({
  workflow,
  from,
  to,
  started: times.filter((time) => time >= from && time < to).map((startedAt) => ({
    id: `${startedAt}`,
    workflowId: "w",
    status: "success",
    mode: "webhook",
    startedAt
  })),
  ended: [],
  running: [],
  waited: new Set(),
  samples: new Map(),
  origins: new Map(),
  zone: undefined,
  isV1: false
})

/** Hours until a silence is reported that begins at a time; `undefined` within eight days. */
const delayOf = (times: ReadonlyArray<number>, cut: number, first = begin) => {
  let { memory } = detect(undefined, spanOf(times, first, cut))
  for (let to = cut + hour / 2; to < cut + 8 * day; to += hour / 2) {
    const judgment = detect(memory, spanOf([], to - hour / 2, to))
    if (judgment.episodes.length > 0) return (to - cut) / hour
    memory = judgment.memory
  }
  return undefined
}

/** Calls by the hour from 8:00 to 18:00 on weekdays, and at other times, from a Monday on. */
const office = (seed: number, busy: number, calm = 0, share = 0) => {
  const next = arrivals.uniform(seed)
  const free = new Set(Array.from({ length: 3 }, () => Math.floor(next() * 56)))
  return Array.from({ length: 56 * 24 }, (_, index) => {
    const [date, at] = [Math.floor(index / 24), index % 24]
    const isBusy = date % 7 < 5 && at >= 8 && at < 18
    const rate = (isBusy ? busy : calm) * (share > 0 && free.has(date) ? share : 1)
    const times: Array<number> = []
    for (let wait = -Math.log(next()) / rate; wait < 1; wait -= Math.log(next()) / rate) {
      times.push(begin + (index + wait) * hour)
    }
    return times
  }).flat()
}

describe("silence", () => {
  it("is not reported while runs come as usual", () => {
    const alarms = Array.from({ length: 48 }, (_, seed) => {
      const { name, times } = arrivals.process(seed)
      return judgedIn(detect, spanOf(times, begin, end), []).episodes.map(({ from, to }) =>
        `${seed} ${name}: ${new Date(from).toISOString()} ${(to - from) / hour}`
      )
    }).flat()
    assert.deepStrictEqual(alarms, [])
    const rates = [[12, 0], [60, 0], [3, 0.12], [30, 30], [6, 1]] as const
    const holidays = Array.from({ length: 40 }, (_, seed) => {
      const [busy, calm] = rates[seed % rates.length] ?? [0, 0]
      return judgedIn(detect, spanOf(office(seed, busy, calm, 1 / 3), begin, begin + 56 * day), []).episodes
    }).flat()
    assert.deepStrictEqual(holidays, [])
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
      assert.isAtMost(delayOf(times, cut) ?? Infinity, most, name)
    }
  })

  it("of busy hours is reported on the same day, whatever nights and weekends are like", () => {
    const wednesday = begin + 30 * day + 10 * hour + hour / 12
    assert.isAtMost(delayOf(office(1, 12), wednesday) ?? Infinity, 4)
    assert.isAtMost(delayOf(office(2, 60), wednesday) ?? Infinity, 4)
    // Its day has fewer than enough calls.
    assert.isAtMost(delayOf(office(3, 3, 0.12), wednesday) ?? Infinity, 24.5)
    // Into the evening.
    assert.isAtMost(delayOf(office(4, 10, 0.2), begin + 30 * day + 13 * hour) ?? Infinity, 7)
  })

  it("needs two weeks, unless a limit is set", () => {
    const { times } = arrivals.process(48)
    const at = begin + 13 * day
    const judge = (to: number, more: Partial<Subject> = {}, list = times) =>
      judgedIn(detect, spanOf(list.filter((time) => time < at), begin, to, { ...webhook, ...more }), []).episodes
    const before = times.findLast((time) => time < at) ?? 0
    assert.isEmpty(judge(at + 7 * day - hour))
    assert.isEmpty(judge(at + hour, { silent: 2 * hour }))
    const to = at + 3 * hour
    const silent: Episode = { kind: "silent", from: before, to, count: 1, isOver: false, limit: 2 * hour }
    assert.deepStrictEqual(judge(to, { silent: 2 * hour }), [silent])
    // Never a run since it is known; of a schedule, too.
    const nodes = [node("S", "scheduleTrigger", 1.2)]
    assert.isFalse(listens({ nodes }))
    assert.isTrue(listens(webhook))
    assert.deepInclude(judge(at, { silent: day, nodes }, [])[0], { from: begin, limit: day })
    assert.isEmpty(judge(at, {}, []))
    assert.isEmpty(judge(to, { silent: 2 * hour, saves: "no" }))
  })

  it("is over with the next run, and not read from a time that was not seen", () => {
    const { times } = arrivals.process(48)
    const hole = { from: begin + 40 * day + 7000, to: begin + 43 * day + 7000 }
    const rest = times.filter((time) => time < hole.from || time >= hole.to)
    const [silent] = judgedIn(detect, spanOf(rest, begin, end), []).episodes
    assert.strictEqual(silent?.to, rest.find((time) => time >= hole.to))
    assert.isTrue(silent?.isOver)
    const { memory } = detect(undefined, spanOf(rest, begin, hole.from))
    const after = detect(memory, spanOf(rest, hole.to, end))
    assert.isEmpty(after.episodes)
    assert.strictEqual(after.memory.runs.match(/-/g)?.length, 73)
    assert.isEmpty(detect(memory, { ...spanOf(rest, hole.from, end), lostBefore: hole.to }).episodes)
  })
})
