/** Time between the starts of a workflow by its schedules and polling triggers. Pure. */
import type { Obj } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Schedules from "../Schedules.ts"

const day = 86_400

const range = (values: ReadonlyArray<number>, size: number) =>
  values.length > 0 ? values : Array.from({ length: size }, (_, index) => index)

/** Seconds of a day at which a rule starts a workflow, on any day. */
const startsOf = ({ fields }: Schedules.Timing & { readonly _tag: "Cron" }) =>
  range(fields.hours, 24).flatMap((hour) =>
    range(fields.minutes, 60).flatMap((minute) =>
      range(fields.seconds, 60).map((second) => (hour * 60 + minute) * 60 + second)
    )
  )

/** Schedule rules of a node; those of 1.x leave the least time between starts. `isPolling` is undefined if unknown. */
export const rulesOf = (node: Obj, isPolling: boolean | undefined): ReadonlyArray<Schedules.Timing> => {
  const schedule = Schedules.ofNode(node, { isV1: true })
  if (schedule !== undefined) return schedule
  const seemsPolling = Workflow.parametersOf(node)["pollTimes"] !== undefined && /trigger$/i.test(Workflow.typeOf(node))
  return isPolling ?? seemsPolling ? Schedules.ofPolling(node) : []
}

/** Whether only n8n can evaluate a rule, such as an expression. */
export const isOpen = ({ _tag }: Schedules.Timing): boolean => _tag === "Open"

const gapIn = (starts: ReadonlyArray<number>) => {
  const sorted = [...new Set(starts)].toSorted((a, b) => a - b)
  return sorted.reduce(
    (least, start, index) => Math.min(least, (sorted[index + 1] ?? (sorted[0] ?? 0) + day) - start),
    Infinity
  )
}

/** Shortest time between two starts by any of the rules, in seconds; starts at the same second count once. */
export const shortestGap = (rules: ReadonlyArray<Schedules.Timing>): number => {
  const isFixed = (timing: Schedules.Timing & { readonly _tag: "Cron" }) => timing.isMinuteRandom !== true
  const crons = rules.filter((timing) => timing._tag === "Cron")
  return Math.min(
    gapIn(crons.filter(isFixed).flatMap(startsOf)),
    // Of a random minute, only the time between starts is known.
    ...crons.filter((timing) => !isFixed(timing)).map((timing) => gapIn(startsOf(timing))),
    ...rules.flatMap((timing) => timing._tag === "Every" ? [timing.seconds] : [])
  )
}

export const inWords = (seconds: number): string => {
  const [amount, unit] = seconds % 60 === 0 ? [seconds / 60, "minute"] : [seconds, "second"]
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`
}

export const enabled = (workflow: Obj): ReadonlyArray<Obj> =>
  Workflow.nodes(workflow).filter(({ disabled }) => disabled !== true)
