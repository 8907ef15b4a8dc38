/** Schedule Trigger, and the triggers before it, with equal starts. */
import * as Result from "effect/Result"
import { arr, int, type Obj, obj } from "../../base/Json.ts"
import { isExpression } from "../../catalogue/parameters/ParameterValues.ts"
import * as Schedules from "../Schedules.ts"
import { seesMore } from "./downstream.ts"
import { left, type Mapping, type Step } from "./mapping.ts"

const limits: Readonly<Record<string, readonly [key: string, fallback: number, greatest: number]>> = {
  seconds: ["secondsInterval", 30, 59],
  minutes: ["minutesInterval", 5, 59],
  hours: ["hoursInterval", 1, 23],
  days: ["daysInterval", 1, 31],
  months: ["monthsInterval", 1, Infinity]
}

const rulesOf = (own: Obj) => arr(obj(own["rule"])?.["interval"]).map((rule) => obj(rule) ?? {})

const toChecked: Mapping = ({ own }) => {
  const wrong = rulesOf(own).find((rule) => {
    const limit = limits[String(rule["field"] ?? "days")]
    const value = limit && (rule[limit[0]] ?? limit[1])
    return limit !== undefined && !isExpression(value) && !(Number(value) >= 1 && Number(value) <= limit[2])
  })
  return wrong === undefined ? Result.succeed({ parameters: own }) : left(
    `From version 1.3 on, n8n refuses the interval of the rule for ${String(wrong["field"] ?? "days")}.`,
    "Choose an interval within its unit, or a cron expression; then upgrade again."
  )
}

export const scheduleTrigger: ReadonlyArray<Step> = [{ to: 1.2 }, { to: 1.3, change: toChecked }, { to: 1.4 }]

const within = (value: unknown, low: number, high: number) => {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : int(value)
  return number !== undefined && number >= low && number <= high ? number : undefined
}

/** Rule of one trigger time; n8n chooses the second, and the minute of every so many hours, itself. */
const ruleOf = (time: Obj): Obj | undefined => {
  const { dayOfMonth = 1, hour = 14, minute = 0, mode = "everyDay", unit = "hours", value = 2, weekday = "1" } = time
  const [m, h] = [within(minute, 0, 59), within(hour, 0, 23)]
  const at = m === undefined || h === undefined ? undefined : { triggerAtHour: h, triggerAtMinute: m }
  const [day, date] = [within(weekday, 0, 6), within(dayOfMonth, 1, 31)]
  const every = within(value, 1, unit === "minutes" ? 59 : 23)
  if (mode === "everyMinute") return { field: "minutes", minutesInterval: 1 }
  if (mode === "everyHour" && m !== undefined) return { field: "hours", hoursInterval: 1, triggerAtMinute: m }
  if (mode === "everyX" && every !== undefined && (unit === "minutes" ? 60 : 24) % every === 0) {
    return unit === "minutes" ? { field: "minutes", minutesInterval: every } : { field: "hours", hoursInterval: every }
  }
  if (mode === "everyDay" && at !== undefined) return { field: "days", daysInterval: 1, ...at }
  if (mode === "everyWeek" && at !== undefined && day !== undefined) {
    return { field: "weeks", weeksInterval: 1, triggerAtDay: [day], ...at }
  }
  if (mode === "everyMonth" && at !== undefined && date !== undefined) {
    return { field: "months", monthsInterval: 1, triggerAtDayOfMonth: date, ...at }
  }
  const expression = Schedules.pollExpression(time)
  return expression === undefined ? undefined : { field: "cronExpression", expression }
}

const fields = left(
  "A Schedule Trigger gives an item with the time of its start, this node an empty one.",
  "If what follows can take those fields, replace it by a Schedule Trigger with the same times."
)

export const fromCron: Mapping = ({ name, own, workflow }) => {
  const times = arr(obj(own["triggerTimes"])?.["item"]).map((time) => obj(time) ?? {})
  if (times.length === 0) return left("It has no times, so it never starts.", "Add a time, or replace it.")
  const interval = times.map(ruleOf)
  if (times.some((time) => Object.values(time).some(isExpression)) || interval.includes(undefined)) {
    return left("An expression or an unknown mode decides when it starts.", "Write the times.")
  }
  return seesMore(workflow, name, "timestamp") ? fields : Result.succeed({ parameters: { rule: { interval } } })
}

const seconds: Readonly<Record<string, number>> = { seconds: 1, minutes: 60, hours: 3600 }
const units = [["days", 86_400, 2], ["hours", 3600, 24], ["minutes", 60, 60], ["seconds", 1, 60]] as const

export const fromInterval: Mapping = ({ name, parameters, workflow }) => {
  const total = Number(parameters["interval"]) * (seconds[String(parameters["unit"])] ?? Number.NaN)
  const unit = units.find(([, size, cycle]) => total >= size && total < size * cycle && (size * cycle) % total === 0)
  if (unit === undefined) {
    return left("Its interval divides neither a minute, an hour nor a day.", "Choose another interval.")
  }
  const [field, size] = unit
  return seesMore(workflow, name, "timestamp")
    ? fields
    : Result.succeed({ parameters: { rule: { interval: [{ field, [`${field}Interval`]: total / size }] } } })
}
