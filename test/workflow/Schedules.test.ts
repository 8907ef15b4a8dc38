import { assert, describe, it } from "@effect/vitest"
import type { Obj } from "../../src/base/Json.ts"
import * as Schedules from "../../src/workflow/Schedules.ts"
import { node } from "../support/workflows.ts"

const rules = (...interval: ReadonlyArray<Obj>) => node("S", "scheduleTrigger", 1.2, { rule: { interval } })
const cron = (expression: string) => rules({ field: "cronExpression", expression })
const old = (...item: ReadonlyArray<Obj>) => node("S", "cron", 1, { triggerTimes: { item } })

const berlin = { timezone: "Europe/Berlin" }

const upcoming = (
  nodes: ReadonlyArray<Obj>,
  after = "2026-11-23T14:20:30Z",
  { isV1 = false, settings = berlin as Obj, staticData }: {
    readonly isV1?: boolean
    readonly settings?: Obj
    readonly staticData?: Obj
  } = {}
) => Schedules.upcoming({ nodes, settings, staticData }, { after: Date.parse(after), count: 3, isV1 })

/** The next starts, without the century and the minutes of offsets in whole hours. */
const starts = (...args: Parameters<typeof upcoming>) =>
  upcoming(...args)?.starts.map((each) => each.slice(2).replace(/([+-]\d\d):00$/, "$1")).join(" ")

const expressionOf = (node: Obj, isV1: boolean) =>
  (Schedules.ofNode(node, { isV1 }) ?? []).map((timing) =>
    timing._tag !== "Cron" ? timing._tag : timing.recurrence === undefined
      ? timing.expression
      : `${timing.expression} (every ${timing.recurrence.size} ${timing.recurrence.unit})`
  ).join(" | ")

describe("never", () => {
  it("names rules that n8n cannot register, and those that never are due", () => {
    const whole = (key: string, size: number) => `${key} ${size} is not a positive whole number`
    const rows: ReadonlyArray<readonly [rule: Obj, isV1: boolean, why: string | undefined]> = [
      [{ field: "hours", hoursInterval: 1.5 }, false, whole("hoursInterval", 1.5)],
      [{ field: "minutes", minutesInterval: 100 / 60 }, true, whole("minutesInterval", 100 / 60)],
      [{ field: "minutes", minutesInterval: 0 }, false, whole("minutesInterval", 0)],
      [{ field: "seconds", secondsInterval: -5 }, false, whole("secondsInterval", -5)],
      [{ field: "days", daysInterval: 0 }, false, whole("daysInterval", 0)],
      [{ field: "cronExpression", expression: "*/1.5 * * * *" }, false, "'*/1.5 * * * *' is not a cron expression"],
      [{ field: "cronExpression", expression: "0 0 31 2 *" }, false, "'0 0 31 2 *' fits no date"],
      [{ field: "hours", hoursInterval: 5 }, false, undefined],
      [{ field: "minutes", minutesInterval: "={{ 1.5 }}" }, false, undefined]
    ]
    for (const [rule, isV1, why] of rows) {
      assert.deepStrictEqual(
        Schedules.never(rules({}, rule), isV1),
        why === undefined ? [] : [{ rule: 1, why }],
        JSON.stringify(rule)
      )
    }
    const checked = node("S", "scheduleTrigger", 1.3, { rule: { interval: [{ field: "hours", hoursInterval: 48 }] } })
    assert.deepStrictEqual(Schedules.never(checked, false), [{ rule: 0, why: "hoursInterval 48 is out of range" }])
  })
})

describe("rules", () => {
  // As n8n 2.41.1 and 1.123.81 log them when they register them, with 0 for the second that they choose.
  const hours = (more: Obj) => rules({ field: "hours", ...more })
  const months = (more: Obj) => rules({ field: "months", ...more })
  const registered: ReadonlyArray<readonly [Obj, string, string?]> = [
    [node("S", "scheduleTrigger", 1.2), "0 0 0 * * *"],
    [rules(), ""],
    [rules({}), "0 0 0 * * *"],
    [rules({ field: "seconds" }), "*/30 * * * * *"],
    [rules({ field: "seconds", secondsInterval: 45 }), "*/45 * * * * *"],
    [rules({ field: "minutes" }), "0 */5 * * * *"],
    [rules({ field: "minutes", minutesInterval: 50 }), "0 * * * * * (every 50 minutes)", "0 */50 * * * *"],
    [rules({ field: "hours" }), "0 0 */1 * * *"],
    [hours({ hoursInterval: 5, triggerAtMinute: 7 }), "0 7 * * * * (every 5 hours)", "0 7 */5 * * * (every 5 hours)"],
    [rules({ field: "hours", hoursInterval: 6 }), "0 0 */6 * * * (every 6 hours)"],
    [rules({ field: "days", daysInterval: 3, triggerAtHour: 9, triggerAtMinute: 15 }), "0 15 9 * * * (every 3 days)"],
    [rules({ field: "weeks" }), "0 0 0 * * 0"],
    [rules({ field: "weeks", weeksInterval: 2, triggerAtDay: [1, 3] }), "0 0 0 * * 1,3 (every 2 weeks)"],
    [rules({ field: "weeks", triggerAtDay: [] }), "0 0 0 * * *"],
    [rules({ field: "months" }), "0 0 0 1 */1 *"],
    [
      months({ monthsInterval: 5, triggerAtDayOfMonth: 31 }),
      "0 0 0 31 * * (every 5 months)",
      "0 0 0 31 */5 * (every 5 months)"
    ],
    [rules({ field: "months", monthsInterval: 4 }), "0 0 0 1 */4 * (every 4 months)"],
    [rules({ triggerAtHour: "9" }), "0 0 9 * * *"],
    [rules({ triggerAtHour: "={{ 5 + 4 }}" }), "Open"],
    [rules({ triggerAtHour: 9 }, { field: "hours", hoursInterval: 3 }), "0 0 9 * * * | 0 0 */3 * * * (every 3 hours)"],
    [old({ mode: "everyHour", minute: "*" }), "0 * * * * *"],
    [old({ mode: "everyX", value: 59, unit: "minutes" }), "0 */59 * * * *"],
    [old({}), "0 0 14 * * *"],
    [old({ mode: "everyWeek" }), "0 0 14 * * 1"],
    [old({ mode: "everyMonth", dayOfMonth: 3 }), "0 0 14 3 * *"],
    [old({ mode: "custom", cronExpression: " */10 * * * * * " }), "*/10 * * * * *"],
    [node("S", "cron"), ""]
  ]

  it("have the cron expressions that n8n registers", () => {
    for (const [schedule, on2, on1 = on2] of registered) {
      const name = JSON.stringify(schedule["parameters"])
      assert.deepStrictEqual([expressionOf(schedule, false), expressionOf(schedule, true)], [on2, on1], name)
    }
  })

  it("never start the workflow if n8n refuses them", () => {
    const crons = ["99 * * * *", "", "0 9 * *", "0 9 L * *", "* */0 * * *", "9-5 * * * *"].map(cron)
    const months = rules({ field: "months", monthsInterval: 0 })
    const seconds = { rule: { interval: [{ field: "seconds", secondsInterval: 70 }] } }
    const others = [node("S", "scheduleTrigger", 1.3, seconds), node("S", "interval", 1, { interval: 0 })]
    for (const refused of [...crons, months, ...others]) {
      const { never, starts } = upcoming([refused]) ?? { never: [], starts: ["?"] }
      assert.deepStrictEqual([never.length, starts.length], [1, 0], JSON.stringify(refused.parameters))
    }
    assert.deepStrictEqual(upcoming([cron("0 0 31 2 *")])?.never, ["'S': '0 0 31 2 *' fits no date"])
    assert.isNotEmpty(starts([cron("0 0 29 2 *")]))
    assert.match(upcoming([rules({})], undefined, { settings: { timezone: "Mars/Base" } })?.never[0] ?? "", /Mars/)
    assert.isUndefined(upcoming([node("Hook", "webhook"), { ...cron("* * * * *"), disabled: true }]))
  })
})

describe("next starts", () => {
  const daily = [rules({ triggerAtHour: 2, triggerAtMinute: 30 })]
  const either = [cron("30 9 * * 1-5"), rules({ field: "days", triggerAtHour: 9, triggerAtMinute: 45 })]
  const kolkata = { settings: { timezone: "Asia/Kolkata" } }
  const hours = [rules({ field: "hours", hoursInterval: 5 })]
  it.each<[string, Parameters<typeof starts>, string]>([
    ["in the time zone", [[cron("0 9 * * mon-fri")]], "26-11-24T09:00+01 26-11-25T09:00+01 26-11-26T09:00+01"],
    ["of two rules", [either, undefined, kolkata], "26-11-24T09:30+05:30 26-11-24T09:45+05:30 26-11-25T09:30+05:30"],
    [
      "of an interval",
      [[node("S", "interval", 1, { interval: 2, unit: "hours" })]],
      "26-11-23T17:20:30+01 26-11-23T19:20:30+01 26-11-23T21:20:30+01"
    ],
    [
      "of a Cron node",
      [[old({ mode: "custom", cronExpression: "15 0 0 1 1 *" })]],
      "27-01-01T00:00:15+01 28-01-01T00:00:15+01 29-01-01T00:00:15+01"
    ],
    [
      "by a day of the month or of the week, as n8n reads it",
      [[cron("0 0 */15 * 7")]],
      "26-11-29T00:00+01 26-12-01T00:00+01 26-12-06T00:00+01"
    ],
    [
      "at the change where the clock skips them",
      [daily, "2027-03-27T12:00:00Z"],
      "27-03-28T03:00+02 27-03-29T02:30+02 27-03-30T02:30+02"
    ],
    [
      "once where the clock repeats them",
      [daily, "2027-10-30T12:00:00Z"],
      "27-10-31T02:30+02 27-11-01T02:30+01 27-11-02T02:30+01"
    ],
    [
      "of each hour that the clock repeats",
      [[rules({ field: "hours" })], "2027-10-30T23:30:00Z"],
      "27-10-31T02:00+02 27-10-31T02:00+01 27-10-31T03:00+01"
    ],
    ["of each fifth hour", [hours], "26-11-23T16:00+01 26-11-23T21:00+01 26-11-24T02:00+01"],
    ["to the end where n8n 1 misses its own count", [hours, undefined, { isV1: true }], "26-11-23T20:00+01"]
  ])("are %s", (_, given, expected) => assert.strictEqual(starts(...given), expected))

  it("follow the last start that n8n has stored", () => {
    const days = [rules({ daysInterval: 3, triggerAtHour: 9 })]
    const stored = (last: number, signature?: string) => ({
      staticData: { "node:S": { recurrenceRules: [last], recurrenceRuleSignatures: [signature] } }
    })
    // November 23rd is the 327th day.
    assert.strictEqual(starts(days), "26-11-24T09:00+01 26-11-27T09:00+01 26-11-30T09:00+01")
    const next = "26-11-26T09:00+01 26-11-29T09:00+01 26-12-02T09:00+01"
    assert.strictEqual(starts(days, undefined, stored(327, "days:3")), next)
    assert.strictEqual(starts(days, undefined, stored(327)), next)
    // n8n forgets the start of a rule that has changed.
    assert.strictEqual(starts(days, undefined, stored(327, "days:2")), starts(days))
    assert.strictEqual(
      starts([rules({ field: "weeks", weeksInterval: 2, triggerAtDay: [1, 3] })], "2026-12-22T00:00:00Z"),
      "26-12-23T00:00+01 27-01-04T00:00+01 27-01-06T00:00+01"
    )
  })

  it("are those of every time zone if n8n's is unknown, and the others are named", () => {
    const nodes = [
      { ...rules({ triggerAtHour: 9 }), name: "Daily" },
      rules({ field: "minutes", minutesInterval: 15 }),
      { ...rules({ field: "minutes", minutesInterval: 20 }), name: "Uneven" },
      { ...old({ mode: "everyX", value: 3 }), name: "Drawn" }
    ]
    const { open, starts, timeZone } = upcoming(nodes, undefined, { settings: { timezone: "DEFAULT" } }) ?? {}
    assert.deepStrictEqual(starts, ["2026-11-23T14:30+00:00", "2026-11-23T14:45+00:00", "2026-11-23T15:00+00:00"])
    assert.strictEqual(timeZone, "unknown")
    assert.deepStrictEqual(open, [
      "'Daily': '0 9 * * *' in n8n's own time zone, which its API does not report",
      "'Uneven': '*/20 * * * *' in n8n's own time zone, which its API does not report",
      "'Drawn': n8n chooses the minute of '0 0 */3 * * *' at random"
    ])
  })
})
