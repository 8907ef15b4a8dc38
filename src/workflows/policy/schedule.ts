/** Time between the starts of a workflow by its schedules. Pure. */
import * as Cron from "effect/Cron"
import * as Result from "effect/Result"
import { num, type Obj, obj, str } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"

/** Starts by one rule: seconds of a day, or the number of seconds between two starts. */
type Times = { readonly starts: ReadonlyArray<number> } | { readonly gap: number }

/** Rules of one node; `undefined` for a rule that only n8n can evaluate, such as an expression. */
type Rules = ReadonlyArray<Times | undefined>

const day = 86_400

const all = (size: number) => Array.from({ length: size }, (_, index) => index)

const presets: Readonly<Record<string, string>> = {
  "@minutely": "0 * * * * *",
  "@hourly": "0 0 * * * *",
  "@daily": "0 0 0 * * *",
  "@weekly": "0 0 0 * * *",
  "@monthly": "0 0 0 * * *"
}

/** Seconds of a day at which a cron expression starts a workflow, on any day. */
const ofCron = (expression: string): Times | undefined => {
  const fields = (presets[expression.trim()] ?? expression).trim().split(/\s+/)
  const [seconds, minutes, hours] = fields.length === 5 ? ["0", ...fields] : fields
  if (fields.length < 5 || fields.length > 6) return undefined
  const parsed = Cron.parse(`${seconds} ${minutes} ${hours} * * *`)
  if (Result.isFailure(parsed)) return undefined
  // An empty set is every value.
  const valuesOf = (set: ReadonlySet<number>, size: number) => set.size === 0 ? all(size) : [...set]
  const [s, m, h] = [
    valuesOf(parsed.success.seconds, 60),
    valuesOf(parsed.success.minutes, 60),
    valuesOf(parsed.success.hours, 24)
  ]
  return { starts: h.flatMap((hour) => m.flatMap((minute) => s.map((second) => (hour * 60 + minute) * 60 + second))) }
}

const count = (value: unknown, fallback: number) => value === undefined ? fallback : num(Number(value))

const everyOf = (value: unknown, fallback: number, cron: (step: number) => string) => {
  const step = count(value, fallback)
  return step === undefined ? undefined : ofCron(cron(step))
}

const interval = (rule: Obj): Times | undefined => {
  const minute = count(rule["triggerAtMinute"], 0)
  const field = str(rule["field"] ?? "days") ?? ""
  if (field === "seconds") return everyOf(rule["secondsInterval"], 30, (step) => `*/${step} * * * * *`)
  if (field === "minutes") return everyOf(rule["minutesInterval"], 5, (step) => `0 */${step} * * * *`)
  if (field === "hours") return everyOf(rule["hoursInterval"], 1, (step) => `0 ${minute} */${step} * * *`)
  if (field === "cronExpression") return ofCron(str(rule["expression"]) ?? "")
  return ["days", "weeks", "months"].includes(field)
    ? everyOf(rule["triggerAtHour"], 0, (hour) => `0 ${minute} ${hour} * * *`)
    : undefined
}

const units: Readonly<Record<string, number>> = { seconds: 1, minutes: 60, hours: 3600 }

/** n8n's cron expression of a polling rule, `undefined` without numbers; what n8n chooses at random is 0. */
export const pollExpression = (rule: Obj): string | undefined => {
  const part = (key: string, fallback: number) => {
    const value = count(rule[key], fallback)
    return value !== undefined && Number.isInteger(value) ? String(value) : undefined
  }
  const cron = (...parts: ReadonlyArray<string | undefined>) =>
    parts.includes(undefined) ? undefined : ["0", ...parts].join(" ")
  const [minute, hour] = [part("minute", 0), part("hour", 14)]
  const mode = rule["mode"] ?? "everyDay"
  if (mode === "custom") return (str(rule["cronExpression"]) ?? "* * * * * *").trim()
  if (mode === "everyMinute") return cron("*", "*", "*", "*", "*")
  if (mode === "everyHour") return cron(minute, "*", "*", "*", "*")
  if (mode === "everyDay") return cron(minute, hour, "*", "*", "*")
  if (mode === "everyWeek") return cron(minute, hour, "*", "*", part("weekday", 1) ?? "*")
  if (mode === "everyMonth") return cron(minute, hour, part("dayOfMonth", 1) ?? "*", "*", "*")
  if (mode !== "everyX") return undefined
  const value = part("value", 2)
  const step = value && `*/${value}`
  if (rule["unit"] === "minutes") return cron(step, "*", "*", "*", "*")
  return (rule["unit"] ?? "hours") === "hours" ? cron("0", step, "*", "*", "*") : undefined
}

const pollTime = (rule: Obj): Times | undefined => {
  const expression = pollExpression(rule)
  const times = expression === undefined ? undefined : ofCron(expression)
  // n8n chooses the minute at random: only the time between starts is known.
  const isRandom = rule["mode"] === "everyX" && (rule["unit"] ?? "hours") === "hours"
  return isRandom && times !== undefined ? { gap: shortestGap([times]) } : times
}

const each = (value: unknown, times: (rule: Obj) => Times | undefined): Rules =>
  Array.isArray(value) ? value.map((rule) => times(obj(rule) ?? {})) : [undefined]

/** Schedule rules of a node. `isPolling` is undefined if the node's type is unknown. */
export const rulesOf = (node: Obj, isPolling: boolean | undefined): Rules => {
  const parameters = Workflow.parametersOf(node)
  switch (node["type"]) {
    case "n8n-nodes-base.scheduleTrigger":
      return parameters["rule"] === undefined ? [interval({})] : each(obj(parameters["rule"])?.["interval"], interval)
    case "n8n-nodes-base.cron":
      return parameters["triggerTimes"] === undefined ? [] : each(obj(parameters["triggerTimes"])?.["item"], pollTime)
    case "n8n-nodes-base.interval": {
      const value = count(parameters["interval"], 1)
      return [value === undefined ? undefined : { gap: value * (units[str(parameters["unit"]) ?? "seconds"] ?? 1) }]
    }
  }
  const seemsPolling = parameters["pollTimes"] !== undefined && /trigger$/i.test(Workflow.typeOf(node))
  if (!(isPolling ?? seemsPolling)) return []
  // n8n polls each minute by default.
  return parameters["pollTimes"] === undefined ? [{ gap: 60 }] : each(obj(parameters["pollTimes"])?.["item"], pollTime)
}

/** Shortest time between two starts by any of the rules, in seconds; starts at the same second count once. */
export const shortestGap = (rules: ReadonlyArray<Times>): number => {
  const starts = [...new Set(rules.flatMap((times) => "starts" in times ? times.starts : []))].toSorted((a, b) => a - b)
  const between = starts.map((start, index) => (starts[index + 1] ?? (starts[0] ?? 0) + day) - start)
  const apart = rules.flatMap((times) => "gap" in times ? [times.gap] : [])
  return [...between, ...apart].reduce((least, gap) => Math.min(least, gap), Infinity)
}

export const inWords = (seconds: number): string => {
  const [amount, unit] = seconds % 60 === 0 ? [seconds / 60, "minute"] : [seconds, "second"]
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`
}

export const enabled = (workflow: Obj): ReadonlyArray<Obj> =>
  Workflow.nodes(workflow).filter(({ disabled }) => disabled !== true)
