import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import type { Obj } from "../../../src/base/Json.ts"
import type { Missed, Span, Subject } from "../../../src/watch/detect/Detector.ts"
import { detect } from "../../../src/watch/detect/missed.ts"
import * as Schedules from "../../../src/workflow/Schedules.ts"
import { random } from "../../support/random.ts"
import { node } from "../../support/workflows.ts"
import { cutsOf, day, hour, judgedIn } from "./arrivals.ts"

const minute = 60_000
const from = Date.parse("2026-11-02T00:00:00Z")
const seen = { from, to: from + 14 * day }

const rules = (...interval: ReadonlyArray<Obj>) => node("S", "scheduleTrigger", 1.2, { rule: { interval } })
const cron = (expression: string) => rules({ field: "cronExpression", expression })
const old = (item: Obj) => node("S", "cron", 1, { triggerTimes: { item: [item] } })

const workflow = (nodes: ReadonlyArray<Obj>, more: Partial<Subject> = {}): Subject => ({
  id: "w",
  name: "W",
  isPublished: true,
  liveSince: from - 90 * day,
  nodes,
  settings: { timezone: "Europe/Berlin" },
  saves: "yes",
  ...more
})

const ordered = (times: ReadonlyArray<number>) => times.toSorted((a, b) => a - b)

interface Options {
  readonly seen: { readonly from: number; readonly to: number }
  readonly zone: string | undefined
  readonly isV1: boolean
}

const spanOf = (watched: Subject, starts: ReadonlyArray<number>, options: Partial<Options>): Span => {
  const { from, to } = options.seen ?? seen
  const run = (startedAt: number) => ({
    id: `${startedAt}`,
    workflowId: "w",
    status: "success",
    mode: "trigger",
    startedAt
  })
  return {
    workflow: watched,
    from,
    to,
    started: starts.filter((time) => time >= from && time < to).map(run),
    ended: [],
    running: [],
    waited: new Set(),
    samples: new Map(),
    origins: new Map(),
    zone: options.zone,
    isV1: options.isV1 ?? false
  }
}

/** Missed starts, all of them where each is an episode of its own, else the first and the last. */
const judge = (watched: Subject, starts: ReadonlyArray<number>, options: Partial<Options> = {}) => {
  const span = spanOf(watched, starts, options)
  const { episodes, unknown } = judgedIn(detect, span, [])
  const parts = judgedIn(detect, span, cutsOf(random(starts.length), span))
  assert.deepStrictEqual(parts.episodes, episodes)
  const all = episodes.filter((episode): episode is Missed => episode.kind === "missed")
  return {
    missed: all.flatMap(({ from, to }) => from === to ? [from] : [from, to]),
    count: all.reduce((sum, { count }) => sum + count, 0),
    unsure: all.reduce((sum, { unsure = 0 }) => sum + unsure, 0),
    all,
    unknown: unknown[0]
  }
}

/** Starts of the one rule of a workflow, as n8n computes them. */
const startsOf = ({ nodes, settings }: Subject, span: Options["seen"] = seen, isV1 = false) => {
  const zone = DateTime.zoneMakeNamedUnsafe(Schedules.timeZoneOf({ settings }) ?? "UTC")
  const times: Array<number> = []
  for (const timing of nodes.flatMap((each) => Schedules.ofNode(each, { isV1 }) ?? [])) {
    for (const time of Schedules.starts(timing, span.from - 1, zone)) {
      if (time >= span.to) break
      times.push(time)
    }
  }
  return times.toSorted((a, b) => a - b)
}

const iso = (times: ReadonlyArray<number>) => times.map((time) => new Date(time).toISOString())

/** A rule of each kind, with its parts by chance. */
const generate = (seed: number) => {
  const next = random(seed)
  const pick = <A extends ReadonlyArray<unknown>>(...values: A) => values[next(values.length)] as A[number]
  const at = { triggerAtMinute: next(60), triggerAtHour: pick(0, 2, 3, 9, 23) }
  const schedule = pick(
    () => rules({ field: "hours", hoursInterval: 1 + next(23), ...at }),
    () => rules({ field: "days", daysInterval: 1 + next(6), ...at }),
    () => rules({ field: "weeks", weeksInterval: 1 + next(3), triggerAtDay: pick([0], [1, 3], []), ...at }),
    () => rules({ field: "months", monthsInterval: 1 + next(4), triggerAtDayOfMonth: 1 + next(28), ...at }),
    () => cron(`${pick("5,40", next(60))} ${pick("*", "9-17", "*/6", next(24))} ${pick("* *", "*/9 *")} *`),
    () => cron(`${next(60)} ${next(60)} ${next(24)} * * ${pick("1-5", "0", "*")}`),
    () => old({ mode: "everyHour", minute: next(60) }),
    () => old({ mode: "everyWeek", weekday: String(next(7)), hour: next(24) }),
    () => old({ mode: "everyX", value: 1 + next(11), unit: "hours" })
  )()
  const timezone = pick("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata")
  return { next, watched: workflow([schedule], { liveSince: 0, settings: { timezone } }) }
}

const year = { from: Date.parse("2027-01-01T00:00:00Z"), to: Date.parse("2028-01-08T00:00:00Z") }

describe("missed starts", () => {
  it.each([0, 25])("are exactly the starts without a run, even if runs are late (seeds from %i)", (first) => {
    let removals = 0
    for (let seed = first; seed < first + 25; seed++) {
      const { next, watched } = generate(seed)
      const starts = startsOf(watched, year)
      const chosen = next(50) * 1000
      const isExact = JSON.stringify(watched.nodes).includes("cronExpression")
      const times = starts.map((time) => time + (isExact ? 0 : chosen) + (next(12) === 0 ? next(100_000) : next(900)))
      const runs = ordered(times)
      const about = JSON.stringify([seed, watched.nodes[0]?.["parameters"], watched.settings])
      assert.deepStrictEqual(iso(judge(watched, runs, { seen: year }).missed), [], about)
      const index = 1 + next(starts.length - 1)
      const start = starts[index] ?? 0
      const zone = DateTime.zoneMakeNamedUnsafe(Schedules.timeZoneOf(watched) ?? "UTC")
      const [change] = Schedules.clockChanges(start - 2 * day, start + 2 * day, zone)
      if (starts.length < 3 || index > starts.length - 2 || Math.abs((change ?? 0) - start) < 2 * hour) continue
      removals++
      const without = judge(watched, runs.filter((_, position) => position !== index), { seen: year })
      assert.deepStrictEqual(iso(without.missed), iso([start]), about)
    }
    assert.isAbove(removals, 15)
  })

  it("are found among the starts of each minute, wherever n8n puts the second", () => {
    const watched = workflow([rules({ field: "minutes", minutesInterval: 1 })])
    const starts = startsOf(watched)
    for (const chosen of [0, 3, 30, 59]) {
      for (const lost of [10, 5000, starts.length - 10]) {
        const runs = ordered(starts.map((time) => time + chosen * 1000 + 900).filter((_, index) => index !== lost))
        assert.deepStrictEqual(iso(judge(watched, runs).missed), iso([starts[lost] ?? 0]), `${chosen} ${lost}`)
      }
    }
    // Shortly after a publication.
    const live = { ...watched, liveSince: starts[2000] ?? 0 }
    const soon = ordered(starts.filter((_, index) => index !== 2007).map((time) => time + 15_000))
    assert.deepStrictEqual(iso(judge(live, soon).missed), iso([starts[2007] ?? 0]))
    // A busy queue for twenty minutes, and an extra start.
    const late = starts.map((time, index) =>
      time + 20_000 + (index > 500 && index < 520 ? 70_000 + index * 17_000 % 60_000 : 0)
    )
    assert.deepStrictEqual(iso(judge(watched, ordered([...late, (late[900] ?? 0) + 5])).missed), [])
  })

  it("are those of an outage", () => {
    const watched = workflow([rules({ field: "minutes", minutesInterval: 15 })])
    const starts = startsOf(watched)
    const lost = starts.slice(100, 104)
    const runs = ordered(starts.filter((time) => !lost.includes(time)).map((time) => time + 7000))
    const outage = judge(watched, runs)
    assert.deepStrictEqual(iso(outage.missed), iso([lost[0] ?? 0, lost[3] ?? 0]))
    assert.deepInclude(outage.all[0], { count: 4, isOver: true, lastStart: starts[99] ?? 0 })
    // n8n counts from the first start after it.
    const uneven = workflow([rules({ field: "minutes", minutesInterval: 50 })])
    const all = startsOf(uneven)
    const times = all.map((time, index) => index < 20 ? time : time + 7 * minute).filter((_, index) =>
      index < 15 || index > 19
    )
    const { count, missed: gaps } = judge(uneven, ordered(times))
    assert.deepStrictEqual(iso(gaps), iso([all[15] ?? 0, all[20] ?? 0]))
    assert.strictEqual(count, 6)
  })

  it("of an uneven interval follow its first start, which comes right after the publication", () => {
    const watched = workflow([rules({ field: "minutes", minutesInterval: 7 })], { liveSince: from + 10_000 })
    const first = from + minute
    const soon = { seen: { from, to: from + 30 * minute } }
    const lost = judge(watched, ordered([first + 18_000]), soon)
    assert.deepStrictEqual(iso(lost.missed), iso([7, 21].map((later) => first + later * minute)))
    assert.strictEqual(lost.count, 3)
    // However long it is since the last start, the next is due within the interval; whatever ran in between is not one.
    const hourly = workflow([rules({ field: "hours", hoursInterval: 5 })], { liveSince: from })
    const never = judge(hourly, [from + 30 * minute], { seen: { from, to: from + day } })
    assert.deepStrictEqual(iso(never.missed), iso([from + 5 * hour, from + 20 * hour]))
    assert.strictEqual(never.count, 4)
  })

  it("are judged only between publication and the last minutes", () => {
    const watched = workflow([rules({ field: "hours" })])
    assert.isEmpty(judge({ ...watched, isPublished: false }, []).all)
    const late = judge({ ...watched, liveSince: seen.to - 150 * minute }, [])
    assert.deepStrictEqual(iso(late.missed), iso([seen.to - 2 * hour, seen.to - hour]))
  })

  it("are not reported of a time that was not seen", () => {
    const watched = workflow([rules({ field: "minutes", minutesInterval: 1 })])
    const runs = ordered(startsOf(watched).map((time) => time + 7000))
    const hole = { from: from + day, to: from + 2 * day }
    const without = (each: number) => each < hole.from || each >= hole.to
    const first = spanOf(watched, runs, { seen: { from, to: hole.from } })
    const { memory } = detect(undefined, first)
    const rest = spanOf(watched, runs.filter(without), { seen: { from: hole.from, to: seen.to } })
    assert.isEmpty(detect(memory, { ...rest, lostBefore: hole.to }).episodes)
    assert.isEmpty(detect(memory, spanOf(watched, runs, { seen: { from: hole.to, to: seen.to } })).episodes)
    assert.isNotEmpty(detect(memory, rest).episodes)
  })

  it("are counted in the night of a change of clocks, but for those at which releases of n8n differ", () => {
    const outage = (timezone: string, summer: boolean, ...rule: ReadonlyArray<Obj>) => {
      const zone = DateTime.zoneMakeNamedUnsafe(timezone)
      const begin = Date.parse(summer ? "2027-01-15T00:00:00Z" : "2027-07-15T00:00:00Z")
      const [change = 0] = Schedules.clockChanges(begin, begin + 150 * day, zone)
      const span = { from: change - 3 * day, to: change + 3 * day }
      const watched = workflow(rule, { settings: { timezone } })
      const night = { from: change - 4 * hour, to: change + 4 * hour }
      const runs = startsOf(watched, span).filter((time) => time < night.from || time >= night.to)
      const { count, unsure } = judge(watched, runs, { seen: span })
      return [count, unsure]
    }
    const hourly = rules({ field: "hours" })
    for (const timezone of ["Europe/Berlin", "America/New_York"]) {
      assert.deepStrictEqual(outage(timezone, true, rules({ field: "minutes", minutesInterval: 5 })), [96, 0])
      assert.deepStrictEqual(outage(timezone, true, hourly), [8, 0])
      assert.deepStrictEqual(outage(timezone, false, rules({ field: "minutes", minutesInterval: 5 })), [84, 12])
      assert.deepStrictEqual(outage(timezone, false, hourly), [7, 1])
    }
    // At 0:30, 1:30, 2:30, 3:30, 4:30 and 5:30, of which 2:30 is skipped, or repeated.
    const named = cron("30 0-5 * * *")
    assert.deepStrictEqual(outage("Europe/Berlin", true, named), [5, 1])
    assert.deepStrictEqual(outage("Europe/Berlin", false, named), [5, 1])
    assert.deepStrictEqual(outage("Australia/Lord_Howe", true, hourly), [8, 0])
  })

  it("are unknown without runs, a time zone or a rule that can be computed", () => {
    const daily = workflow([rules({ triggerAtHour: 9 })], { settings: {} })
    assert.match(judge(daily, []).unknown ?? "", /time zone/)
    const tokyo = { zone: "Asia/Tokyo" }
    assert.strictEqual(judge(daily, [], tokyo).count, 14)
    assert.match(judge({ ...daily, saves: "no" }, [], tokyo).unknown ?? "", /does not save/)
    assert.match(judge({ ...daily, saves: "unknown" }, [], tokyo).unknown ?? "", /not known whether/)
    const mixed = workflow([rules({ triggerAtHour: "={{ 9 }}" }, { field: "hours", hoursInterval: 6 }, {})])
    const { count, unknown } = judge(mixed, [])
    assert.strictEqual(count, 14)
    assert.match(unknown ?? "", /expression decides .*; n8n counts from the last start/)
  })

  it("of an interval follow its runs, which begin again with n8n", () => {
    const watched = workflow([node("S", "interval", 1, { interval: 10, unit: "minutes" })])
    const times = Array.from({ length: 2016 }, (_, index) => from + index * 10 * minute + index)
    assert.deepStrictEqual(judge(watched, ordered(times)).missed.length, 0)
    const lost = judge(watched, ordered(times.filter((_, index) => index !== 700)))
    assert.deepStrictEqual(lost.missed.map((time) => Math.round((time - from) / minute)), [7000])
    // A restart shortly before a start.
    const restarted = times.map((time, index) => index < 700 ? time : time + 9 * minute)
    assert.deepStrictEqual(judge(watched, ordered(restarted)).missed, [])
    assert.isNotEmpty(judge(watched, ordered(times.slice(0, 700))).missed)
  })

  it("are few where a start of each second is judged", () => {
    const watched = workflow([rules({ field: "seconds", secondsInterval: 1 })])
    const times = Array.from({ length: 27_000 }, (_, index) => from + index * 1000)
    const lost = from + 10_000_000
    const span = { from, to: from + 27_000_000 }
    assert.deepStrictEqual(
      iso(judge(watched, times.filter((time) => time !== lost), { seen: span }).missed),
      iso([lost])
    )
  })
})
