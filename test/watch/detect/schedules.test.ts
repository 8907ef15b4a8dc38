import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import type { Obj } from "../../../src/base/Json.ts"
import { maxJudged, missed, type Options, type Watched } from "../../../src/watch/detect/schedules.ts"
import * as Schedules from "../../../src/workflow/Schedules.ts"
import { random } from "../../support/random.ts"
import { node } from "../../support/workflows.ts"
import { day, hour } from "./arrivals.ts"

const minute = 60_000
const from = Date.parse("2026-11-02T00:00:00Z")
const seen = { from, to: from + 14 * day }

const rules = (...interval: ReadonlyArray<Obj>) => node("S", "scheduleTrigger", 1.2, { rule: { interval } })
const cron = (expression: string) => rules({ field: "cronExpression", expression })
const old = (item: Obj) => node("S", "cron", 1, { triggerTimes: { item: [item] } })

const workflow = (nodes: ReadonlyArray<Obj>, more: Partial<Watched> = {}): Watched => ({
  isPublished: true,
  liveSince: from - 90 * day,
  nodes,
  settings: { timezone: "Europe/Berlin" },
  ...more
})

const ordered = (times: ReadonlyArray<number>) => times.toSorted((a, b) => a - b)

const judge = (watched: Watched, starts: ReadonlyArray<number>, options: Partial<Options> = {}) =>
  missed(watched, starts, { seen, zone: undefined, isV1: false, saves: "yes", ...options })

/** Starts of the one rule of a workflow, as n8n computes them. */
const startsOf = ({ nodes, settings }: Watched, span: Options["seen"] = seen, isV1 = false) => {
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
    const late = starts.map((time, index) => time + 20_000 + (index > 500 && index < 520 ? 100_000 : 0))
    assert.deepStrictEqual(iso(judge(watched, ordered([...late, (late[900] ?? 0) + 5])).missed), [])
  })

  it("are those of an outage", () => {
    const watched = workflow([rules({ field: "minutes", minutesInterval: 15 })])
    const starts = startsOf(watched)
    const lost = starts.slice(100, 104)
    const runs = ordered(starts.filter((time) => !lost.includes(time)).map((time) => time + 7000))
    assert.deepStrictEqual(iso(judge(watched, runs).missed), iso(lost))
    // n8n counts from the first start after it.
    const uneven = workflow([rules({ field: "minutes", minutesInterval: 50 })])
    const all = startsOf(uneven)
    const times = all.map((time, index) => index < 20 ? time : time + 7 * minute).filter((_, index) =>
      index < 15 || index > 19
    )
    const { missed: gaps } = judge(uneven, ordered(times))
    assert.deepStrictEqual(iso(gaps), iso(all.slice(15, 21)))
  })

  it("of an uneven interval follow its first start, which comes right after the publication", () => {
    const watched = workflow([rules({ field: "minutes", minutesInterval: 7 })], { liveSince: from + 10_000 })
    const first = from + minute
    const soon = { seen: { from, to: from + 30 * minute } }
    const lost = judge(watched, ordered([first + 18_000]), soon)
    assert.deepStrictEqual(iso(lost.missed), iso([7, 14, 21].map((later) => first + later * minute)))
    // From a run at a time that is not one of its own nothing follows, however long.
    const hourly = workflow([rules({ field: "hours", hoursInterval: 5 })], { liveSince: from })
    assert.deepStrictEqual(judge(hourly, ordered([from + 30 * minute])), { missed: [] })
  })

  it("are judged only between publication and the last minutes, and not around a change of the clock", () => {
    const watched = workflow([rules({ field: "hours" })])
    assert.deepStrictEqual(judge({ ...watched, isPublished: false }, []), { missed: [] })
    const late = judge({ ...watched, liveSince: seen.to - 150 * minute }, [])
    assert.deepStrictEqual(iso(late.missed), iso([seen.to - 2 * hour, seen.to - hour]))
    const [change = 0] = Schedules.clockChanges(from - 14 * day, from, DateTime.zoneMakeNamedUnsafe("Europe/Berlin"))
    const night = judge(watched, [], { seen: { from: change - 4 * hour, to: change + 4 * hour } })
    assert.deepStrictEqual(
      night.missed.map((time) => (time - change) / hour),
      [-4, -3, -2, 2, 3]
    )
  })

  it("are unknown without runs, a time zone or a rule that can be computed", () => {
    const daily = workflow([rules({ triggerAtHour: 9 })], { settings: {} })
    assert.match(judge(daily, []).unknown ?? "", /time zone/)
    assert.lengthOf(judge(daily, [], { zone: "Asia/Tokyo" }).missed, 14)
    assert.match(judge(daily, [], { saves: "no", zone: "Asia/Tokyo" }).unknown ?? "", /does not save/)
    assert.match(judge(daily, [], { saves: "unknown", zone: "Asia/Tokyo" }).unknown ?? "", /not known whether/)
    const mixed = workflow([rules({ triggerAtHour: "={{ 9 }}" }, { field: "hours", hoursInterval: 6 }, {})])
    const { missed: times, unknown } = judge(mixed, [])
    assert.lengthOf(times, 14)
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

  it("are judged for the latest starts if there are too many", () => {
    const watched = workflow([rules({ field: "seconds", secondsInterval: 1 })])
    const to = seen.to - 30_000
    const times = Array.from({ length: 27_000 }, (_, index) => to - index * 1000).filter((time) =>
      time !== to - 3_600_000
    )
    const { missed: lost, since = 0 } = judge(watched, ordered(times))
    assert.strictEqual((seen.to - since) / 1000, maxJudged)
    assert.isAtMost(Math.abs((lost[0] ?? 0) - (to - 3_600_000)), minute)
    assert.lengthOf(lost, 1)
  })
})
