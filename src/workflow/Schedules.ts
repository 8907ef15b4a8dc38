/**
 * Times at which schedules start a workflow, as n8n 2.41 and 1.123 compute them. Pure.
 *
 * n8n chooses the second of a start itself unless the rule has seconds: it is 0 here. In the night in which clocks
 * change, n8n may start a workflow once more.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import { arr, num, type Obj, obj, str } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { type Fields, offsetsOf, ticks } from "./clockTimes.ts"

export { clockChanges, offsetsOf } from "./clockTimes.ts"

type Unit = "minutes" | "hours" | "days" | "weeks" | "months"

/** Least number of units between two starts; `last` is the position of the last start that n8n has stored. */
interface Recurrence {
  readonly unit: Unit
  readonly size: number
  readonly last: number | undefined
  readonly isV1: boolean
}

/** Time pattern of one rule. */
export type Timing =
  | {
    readonly _tag: "Cron"
    readonly expression: string
    readonly fields: Fields
    readonly recurrence?: Recurrence | undefined
    readonly isMinuteRandom?: boolean
  }
  /** From the moment of publication. */
  | { readonly _tag: "Every"; readonly seconds: number }
  /** Decided at run time. */
  | { readonly _tag: "Open"; readonly why: string }
  | { readonly _tag: "Never"; readonly why: string }

const presets: Readonly<Record<string, string>> = {
  "@yearly": "0 0 0 1 1 *",
  "@monthly": "0 0 0 1 * *",
  "@weekly": "0 0 0 * * 0",
  "@daily": "0 0 0 * * *",
  "@hourly": "0 0 * * * *",
  "@minutely": "0 * * * * *",
  "@secondly": "* * * * * *",
  "@weekdays": "0 0 0 * * 1-5",
  "@weekends": "0 0 0 * * 0,6"
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

const withoutNames = (name: string) =>
  months.includes(name) ? String(months.indexOf(name) + 1) : weekdays.includes(name)
    ? String(weekdays.indexOf(name))
    : name

/** Least and greatest value and number of values of each field; Sunday is 0 and 7. */
const bounds = [[0, 59, 60], [0, 59, 60], [0, 23, 24], [1, 31, 31], [1, 12, 12], [0, 7, 7]] as const

const valuesOf = (field: string, [low, high, size]: readonly [number, number, number]) => {
  const values = new Set<number>()
  for (const part of field.split(",")) {
    const match = /^(\d+)(?:-(\d+))?(?:\/(\d+))?$/.exec(part.replace(/^\*/, `${low}-${high}`))
    if (match === null) return undefined
    const [from = 0, to, step] = match.slice(1).map((text) => text === undefined ? undefined : Number(text))
    const end = to ?? (step === undefined ? from : high)
    if (step === 0 || from < low || end > high || from > end) return undefined
    for (let value = from; value <= end; value += step ?? 1) values.add(high === 7 ? value % 7 : value)
  }
  return values.size === size ? [] : [...values].toSorted((a, b) => a - b)
}

/** Fields of a cron expression as n8n reads it, which differs from `Cron.parse`; `undefined` if n8n refuses it. */
export const parse = (expression: string): Fields | undefined => {
  const text = expression.toLowerCase()
  const parts = (presets[text] ?? text).replace(/[a-z]{1,3}/g, withoutNames).trim().split(/\s+/)
  if (parts.length < 5 || parts.length > 6) return undefined
  const all = [...parts.length === 5 ? ["0"] : [], ...parts]
  const [seconds, minutes, hours, days, months, weekdays] = bounds.map((bound, index) =>
    valuesOf(all[index] ?? "", bound)
  )
  return seconds && minutes && hours && days && months && weekdays
    ? { seconds, minutes, hours, days, months, weekdays }
    : undefined
}

/** Whether a month of the pattern has a day of it. */
const hasDate = ({ days, months, weekdays }: Fields) =>
  weekdays.length > 0 || days.length === 0 || months.length === 0 ||
  months.some((month) => days.some((day) => day <= new Date(Date.UTC(2024, month, 0)).getUTCDate()))

const cron = (
  expression: string,
  more: { recurrence?: Recurrence | undefined; isMinuteRandom?: boolean } = {}
): Timing => {
  const fields = parse(expression)
  const never = (why: string): Timing => ({ _tag: "Never", why: `'${expression.slice(0, 40)}' ${why}` })
  if (fields === undefined) return never("is not a cron expression")
  return hasDate(fields) ? { _tag: "Cron", expression, fields, ...more } : never("fits no date")
}

const open: Timing = { _tag: "Open", why: "an expression decides when it starts" }

/** Value of a parameter; `undefined` for an expression. */
const literal = (value: unknown, fallback: unknown) => {
  if (value === undefined) return fallback
  const text = str(value)
  return text?.startsWith("=") === true ? text.includes("{{") ? undefined : text.slice(1) : value
}

const count = (value: unknown, fallback: number) => num(Number(literal(value, fallback)))

const units = {
  seconds: ["secondsInterval", 30, 59],
  minutes: ["minutesInterval", 5, 59],
  hours: ["hoursInterval", 1, 23],
  days: ["daysInterval", 1, 31],
  weeks: ["weeksInterval", 1, Infinity],
  months: ["monthsInterval", 1, Infinity]
} as const

/** Numbers of units that cron counts through; a divisor of them is written as a step. */
const cycleOf = { minutes: 60, hours: 24, months: 12 } as const

/** Numbers of units after which n8n's counts begin again. */
const cycles = { hours: 24, days: 365, weeks: 52 } as const

/** Last start of a rule as stored; n8n 2 forgets it when the rule has changed. */
const lastOf = (stored: Obj, index: number, unit: Unit, size: number, isV1: boolean) => {
  const last = num(arr(stored["recurrenceRules"])[index])
  const signature = arr(stored["recurrenceRuleSignatures"])[index] ?? undefined
  const isSame = signature === undefined ? unit !== "minutes" && unit !== "months" : signature === `${unit}:${size}`
  return isV1 || isSame ? last : undefined
}

interface Context {
  readonly typeVersion: number
  readonly isV1: boolean
  readonly stored: Obj
}

const scheduleTiming = (rule: Obj, index: number, { isV1, stored, typeVersion }: Context): Timing => {
  const unit = rule["field"] ?? "days"
  if (unit === "cronExpression") {
    const expression = literal(rule["expression"], "")
    return typeof expression === "string" ? cron(expression) : open
  }
  const known = Object.hasOwn(units, String(unit)) ? units[unit as keyof typeof units] : undefined
  if (known === undefined) return isV1 ? cron(String(unit)) : { _tag: "Open", why: "n8n chooses the time" }
  const [key, fallback, most] = known
  const [size, minute, hour] = [
    count(rule[key], fallback),
    count(rule["triggerAtMinute"], 0),
    count(rule["triggerAtHour"], 0)
  ]
  const day = count(rule["triggerAtDayOfMonth"], 1)
  const days = literal(rule["triggerAtDay"], [0])
  if ([size, minute, hour, day, days].includes(undefined) || size === undefined) return open
  if (typeVersion >= 1.3 && (size < 1 && unit !== "weeks" || size > most)) {
    return { _tag: "Never", why: `${key} ${size} is out of range` }
  }
  const isEven = (whole: number) => isV1 || whole % size === 0
  const isStep = unit === "seconds" ||
    unit !== "days" && unit !== "weeks" && isEven(cycleOf[unit as keyof typeof cycleOf])
  if (size === 0 || isStep && !(Number.isInteger(size) && size > 0)) {
    return { _tag: "Never", why: `${key} ${size} is not a positive whole number` }
  }
  const uneven = {
    minutes: !isEven(cycleOf.minutes),
    hours: size !== 1,
    days: size !== 1,
    weeks: size !== 1,
    months: size !== 1
  }
  if (unit === "seconds") return cron(`*/${size} * * * * *`)
  const recurrence = uneven[unit as Unit]
    ? { unit: unit as Unit, size, isV1, last: lastOf(stored, index, unit as Unit, size, isV1) }
    : undefined
  const at = (hourField: number | string, rest: string) => cron(`0 ${minute} ${hourField} ${rest}`, { recurrence })
  switch (unit as Unit) {
    case "minutes":
      return cron(`0 ${isEven(cycleOf.minutes) ? `*/${size}` : "*"} * * * *`, { recurrence })
    case "hours":
      return at(isEven(cycleOf.hours) ? `*/${size}` : "*", "* * *")
    case "days":
      return at(hour ?? 0, "* * *")
    case "weeks":
      return at(hour ?? 0, `* * ${arr(days).join(",") || "*"}`)
    case "months":
      return at(hour ?? 0, `${day} ${isEven(cycleOf.months) ? `*/${size}` : "*"} *`)
  }
}

/**
 * n8n's cron expression for a rule of a polling trigger or of the older Cron node; `undefined` if a part is not a number.
 * The second, and the minute of "every X hours", are 0; n8n chooses them at random.
 */
export const pollExpression = (rule: Obj): string | undefined => {
  const part = (key: string, fallback: number) => {
    const value = rule[key] === "*" ? "*" : count(rule[key], fallback)
    return value === "*" || Number.isInteger(value) ? String(value) : undefined
  }
  const cron = (...parts: ReadonlyArray<string | undefined>) =>
    parts.includes(undefined) ? undefined : ["0", ...parts].join(" ")
  const [minute, hour] = [part("minute", 0), part("hour", 14)]
  switch (rule["mode"] ?? "everyDay") {
    case "custom":
      return str(literal(rule["cronExpression"], "* * * * * *"))?.trim()
    case "everyMinute":
      return cron("*", "*", "*", "*", "*")
    case "everyHour":
      return cron(minute, "*", "*", "*", "*")
    case "everyX": {
      const value = part("value", 2)
      const step = value && `*/${value}`
      if (rule["unit"] === "minutes") return cron(step, "*", "*", "*", "*")
      return (rule["unit"] ?? "hours") === "hours" ? cron("0", step, "*", "*", "*") : undefined
    }
    case "everyDay":
      return cron(minute, hour, "*", "*", "*")
    case "everyWeek":
      return cron(minute, hour, "*", "*", part("weekday", 1) ?? "*")
    case "everyMonth":
      return cron(minute, hour, part("dayOfMonth", 1) ?? "*", "*", "*")
  }
  return undefined
}

const pollTiming = (rule: Obj): Timing => {
  const expression = pollExpression(rule)
  const isMinuteRandom = rule["mode"] === "everyX" && (rule["unit"] ?? "hours") === "hours"
  return expression === undefined ? open : cron(expression, { isMinuteRandom })
}

const each = (value: unknown, timing: (rule: Obj, index: number) => Timing): ReadonlyArray<Timing> =>
  Array.isArray(value) ? value.map((rule, index) => timing(obj(rule) ?? {}, index)) : [open]

const seconds: Readonly<Record<string, number>> = { seconds: 1, minutes: 60, hours: 3600 }

/** Rules of a Schedule Trigger or of the older Cron and Interval nodes; `undefined` for another node. */
export const ofNode = (
  node: Obj,
  { isV1, staticData }: { readonly isV1: boolean; readonly staticData?: unknown }
): ReadonlyArray<Timing> | undefined => {
  const { interval = 1, rule, triggerTimes, unit = "seconds" } = Workflow.parametersOf(node)
  switch (node["type"]) {
    case "n8n-nodes-base.scheduleTrigger": {
      const context = {
        isV1,
        typeVersion: num(node["typeVersion"]) ?? 1,
        stored: obj(obj(staticData)?.[`node:${Workflow.nameOf(node)}`]) ?? {}
      }
      const timing = (rule: Obj, index: number) => scheduleTiming(rule, index, context)
      return rule === undefined ? [timing({}, 0)] : each(obj(rule)?.["interval"], timing)
    }
    case "n8n-nodes-base.cron":
      return triggerTimes === undefined ? [] : each(obj(triggerTimes)?.["item"] ?? [], pollTiming)
    case "n8n-nodes-base.interval": {
      const value = count(interval, 1)
      if (value === undefined) return [open]
      return value > 0
        ? [{ _tag: "Every", seconds: value * (seconds[String(unit)] ?? 1) }]
        : [{ _tag: "Never", why: `the interval ${value} is not positive` }]
    }
  }
  return undefined
}

/** Reasons why n8n never starts a workflow by rules of a node, by the rule's position. */
export const never = (node: Obj, isV1: boolean): ReadonlyArray<{ readonly rule: number; readonly why: string }> =>
  (ofNode(node, { isV1 }) ?? []).flatMap((timing, rule) => timing._tag === "Never" ? [{ rule, why: timing.why }] : [])

/** Rules by which a trigger polls; n8n polls each minute by default. */
export const ofPolling = (node: Obj): ReadonlyArray<Timing> => {
  const { pollTimes } = Workflow.parametersOf(node)
  return pollTimes === undefined ? [{ _tag: "Every", seconds: 60 }] : each(obj(pollTimes)?.["item"], pollTiming)
}

/** Enabled nodes that start a workflow at times of its zone. */
export const zoned = ({ nodes }: { readonly nodes: ReadonlyArray<Obj> }, isV1: boolean): ReadonlyArray<Obj> =>
  nodes.filter((node) => {
    const isPolling = Workflow.parametersOf(node)["pollTimes"] !== undefined
    const timings = node["disabled"] === true ? [] : ofNode(node, { isV1 }) ?? (isPolling ? ofPolling(node) : [])
    return timings.some((timing) => timing._tag !== "Never" && !isZoneFree(timing))
  })

const minute = 60_000
const dayLength = 86_400_000

/** Position of a time in n8n's count of a unit. */
const positionOf = ({ isV1, unit }: Recurrence, time: number, offsetAt: (time: number) => number) => {
  if (unit === "minutes") return Math.floor(time / minute)
  const local = new Date(time + offsetAt(time))
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()]
  const dayNumber = Math.floor(local.getTime() / dayLength)
  /** First day of the week with January 1st. */
  const firstDay = (year: number) => {
    const first = Date.UTC(year, 0, 1)
    return first / dayLength - new Date(first).getUTCDay()
  }
  switch (unit) {
    case "hours":
      return local.getUTCHours()
    case "days":
      return dayNumber - Date.UTC(year, 0, 1) / dayLength + 1
    case "weeks": {
      const sunday = dayNumber - local.getUTCDay()
      return sunday >= firstDay(year + 1) ? 1 : (sunday - firstDay(year)) / 7 + 1
    }
    case "months":
      return isV1 ? month : year * 12 + month
  }
}

/** Whether n8n starts the workflow at a time of the rule. */
const isDue = ({ isV1, last, size, unit }: Recurrence, position: number) => {
  if (size === 0) return false
  if (last === undefined || unit === "weeks" && position === last) return true
  const cycle = unit === "months" && isV1 ? 12 : cycles[unit as keyof typeof cycles]
  if (isV1) return position === (size + last) % cycle
  return (cycle === undefined ? position - last : (position - last + cycle) % cycle) >= size
}

/** Maximum number of times between two starts of a rule: more than a year of days. */
const maxSkipped = 400

/**
 * Starts by one rule after a time (both in epoch milliseconds), in order; they may end. Of past starts, up to a time,
 * `ran` says whether they happened: what n8n counts from its last start then follows from these, beginning with the first
 * of them.
 */
export const starts = function*(
  timing: Timing,
  after: number,
  zone: DateTime.TimeZone,
  past?: { readonly to: number; readonly ran: ((time: number) => boolean) | undefined }
): Generator<number> {
  const { ran, to = Infinity } = past ?? {}
  if (timing._tag === "Every") { for (let time = after;;) yield time += timing.seconds * 1000 }
  if (timing._tag !== "Cron") return
  const { recurrence } = timing
  const offsetAt = offsetsOf(zone)
  let [last, skipped, isKnown] = [recurrence?.last, 0, ran === undefined]
  for (const time of ticks(timing.fields, after, zone)) {
    if (time >= to) return
    if (recurrence !== undefined) {
      const hasRun = ran?.(time) ?? false
      isKnown ||= hasRun
      const position = positionOf(recurrence, time, offsetAt)
      const isExpected = isKnown && isDue({ ...recurrence, last }, position)
      // n8n 1 waits for the position that follows its last start, even if that did not happen.
      if (hasRun || isExpected && (ran === undefined || !recurrence.isV1)) last = position
      if (!isExpected) {
        if (++skipped === maxSkipped && ran === undefined) return
        continue
      }
    }
    skipped = 0
    yield time
  }
}

const take = (times: Iterable<number>, count: number) => {
  const taken: Array<number> = []
  for (const time of times) {
    taken.push(time)
    if (taken.length === count) break
  }
  return taken
}

/** Whether the times are the same in every time zone: no hour or date counts, and zones differ by quarters of an hour. */
export const isZoneFree = (timing: Timing) =>
  timing._tag === "Every" || timing._tag === "Cron" &&
    (["hours", "days", "months", "weekdays"] as const).every((field) => timing.fields[field].length === 0) &&
    timing.fields.minutes.every((minute) => timing.fields.minutes.includes((minute + 15) % 60)) &&
    (timing.recurrence === undefined || timing.recurrence.unit === "minutes")

/** Time zone in a workflow's settings; `undefined` for that of n8n itself, which its API does not report. */
export const timeZoneOf = ({ settings }: { readonly settings?: unknown }): string | undefined => {
  const name = str(obj(settings)?.["timezone"])
  return name === undefined || name === "" || name === "DEFAULT" ? undefined : name
}

/** Next starts of a workflow by its schedules. */
export interface Upcoming {
  /** ISO 8601 with offset. */
  readonly starts: ReadonlyArray<string>
  readonly timeZone: string
  /** Schedules whose times are not among the starts, with the reason. */
  readonly open: ReadonlyArray<string>
  /** Schedules that never start the workflow, with the reason. */
  readonly never: ReadonlyArray<string>
}

interface Source {
  readonly nodes: ReadonlyArray<Obj>
  readonly settings?: unknown
  readonly staticData?: unknown
}

/** Next starts of a workflow by its enabled schedules; `undefined` if it has none. */
export const upcoming = (
  { nodes, settings, staticData }: Source,
  { after, count, isV1 }: { readonly after: number; readonly count: number; readonly isV1: boolean }
): Upcoming | undefined => {
  const rules = nodes.filter(({ disabled }) => disabled !== true).flatMap((node) =>
    (ofNode(node, { isV1, staticData }) ?? []).map((timing) => ({ name: `'${Workflow.nameOf(node)}'`, timing }))
  )
  if (rules.length === 0) return undefined
  const timeZone = timeZoneOf({ settings })
  const zone = timeZone === undefined ? undefined : Option.getOrUndefined(DateTime.zoneMakeNamed(timeZone))
  if (timeZone !== undefined && zone === undefined) {
    return { starts: [], timeZone, open: [], never: [`settings.timezone '${timeZone}' is not a time zone`] }
  }
  const [open, never]: [Array<string>, Array<string>] = [[], []]
  const times = rules.flatMap(({ name, timing }) => {
    if (timing._tag === "Never") never.push(`${name}: ${timing.why}`)
    else if (timing._tag === "Open") open.push(`${name}: ${timing.why}`)
    else if (timing._tag === "Cron" && timing.isMinuteRandom === true) {
      open.push(`${name}: n8n chooses the minute of '${timing.expression}' at random`)
    } else if (zone === undefined && !isZoneFree(timing)) {
      const expression = timing._tag === "Cron" ? timing.expression.replace(/^0 /, "") : ""
      open.push(`${name}: '${expression}' in n8n's own time zone, which its API does not report`)
    } else {
      const next = take(starts(timing, after, zone ?? DateTime.zoneMakeNamedUnsafe("UTC")), count)
      if (next.length === 0) never.push(`${name}: it has reached its last start`)
      return next
    }
    return []
  }).toSorted((a, b) => a - b)
  const all = times.map((time) =>
    DateTime.formatIsoOffset(DateTime.makeZonedUnsafe(time, { timeZone: zone ?? "UTC" })).replace(/(:00)?\.\d+/, "")
  )
  return { starts: [...new Set(all)].slice(0, count), timeZone: timeZone ?? "unknown", open, never }
}
