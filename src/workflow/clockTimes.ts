/** Times that fit a cron pattern on the clock of a time zone. Pure. */
import * as DateTime from "effect/DateTime"

/** Values of the fields of a cron expression; an empty list is every value. */
export type Fields = {
  readonly [Field in "seconds" | "minutes" | "hours" | "days" | "months" | "weekdays"]: ReadonlyArray<number>
}

const minute = 60_000
const dayLength = 24 * 60 * minute

/** Hours around a date of UTC in which some time zone has that date. */
const around = 15 * 60 * minute

/** Change of the clock in a span of at most some days, and the offsets before and after it. */
const changeIn = (from: number, to: number, timeZone: DateTime.TimeZone) => {
  const offset = (at: number) => DateTime.zonedOffset(DateTime.makeZonedUnsafe(at, { timeZone }))
  let [before, change] = [from, to]
  const [first, last] = [offset(from), offset(to)]
  if (first === last) return { change, first, last }
  while (change - before > 1) {
    const middle = Math.floor((before + change) / 2)
    if (offset(middle) === first) before = middle
    else change = middle
  }
  return { change, first, last }
}

/** Offsets of a time zone, quick for times in order. */
export const offsetsOf = (zone: DateTime.TimeZone): (time: number) => number => {
  let [from, to, span] = [0, 0, { change: 0, first: 0, last: 0 }]
  return (time: number) => {
    if (time < from || time >= to) {
      ;[from, to] = [time, time + 14 * dayLength]
      span = changeIn(from, to, zone)
    }
    return time < span.change ? span.first : span.last
  }
}

/** Changes of the clock in a span of time. */
export const clockChanges = (from: number, to: number, zone: DateTime.TimeZone): ReadonlyArray<number> => {
  const changes: Array<number> = []
  for (let at = from; at < to; at += 7 * dayLength) {
    const { change, first, last } = changeIn(at, at + 7 * dayLength, zone)
    if (first !== last) changes.push(change)
  }
  return changes
}

/** Times of a date on a zone's clock: one that the clock skips is that of the change. */
const timesOn = function*(
  date: number,
  { hours, minutes, seconds }: Fields,
  { change, first, last }: ReturnType<typeof changeIn>
) {
  const all = (values: ReadonlyArray<number>, size: number) =>
    values.length > 0 ? values : Array.from({ length: size }, (_, value) => value)
  const [allMinutes, allSeconds] = [all(minutes, 60), all(seconds, 60)]
  const changed = new Set<number>()
  for (const hour of all(hours, 24)) {
    for (const minuteOf of allMinutes) {
      for (const second of allSeconds) {
        const time = date + ((hour * 60 + minuteOf) * 60 + second) * 1000
        if (first === last) yield time - first
        else {
          changed.add(time - first < change ? time - first : Math.max(time - last, change))
          // A time of each hour comes twice when the clock is put back.
          if (time - first < change && time - last >= change && hours.length === 0) changed.add(time - last)
        }
      }
    }
  }
  yield* [...changed].toSorted((a, b) => a - b)
}

/** Times that fit a pattern. */
export const ticks = function*(fields: Fields, after: number, zone: DateTime.TimeZone): Generator<number> {
  const { days, months, weekdays } = fields
  const spanOf = (date: number, length: number) => ({
    until: date + length,
    ...changeIn(date - around, date + length + around, zone)
  })
  let span = { until: 0, change: 0, first: 0, last: 0 }
  for (let date = after - after % dayLength - dayLength;; date += dayLength) {
    const day = new Date(date)
    if (months.length > 0 && !months.includes(day.getUTCMonth() + 1)) continue
    const [isDay, isWeekday] = [days.includes(day.getUTCDate()), weekdays.includes(day.getUTCDay())]
    if (days.length + weekdays.length > 0 && !isDay && !isWeekday) continue
    if (date >= span.until) {
      span = spanOf(date, 14 * dayLength)
      if (span.first !== span.last) span = spanOf(date, dayLength)
    }
    for (const time of timesOn(date, fields, span)) if (time > after) yield time
  }
}
