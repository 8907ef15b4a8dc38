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

const week = 7 * dayLength

/** Weeks of each zone, counted from 1970, that were asked for; to find a change costs more than a start. */
const weeks = new WeakMap<DateTime.TimeZone, Map<number, ReturnType<typeof changeIn>>>()

const weekOf = (zone: DateTime.TimeZone, index: number) => {
  const own = weeks.get(zone) ?? new Map<number, ReturnType<typeof changeIn>>()
  weeks.set(zone, own)
  const span = own.get(index) ?? changeIn(index * week, (index + 1) * week, zone)
  own.set(index, span)
  return span
}

/** Offsets of a time zone. */
export const offsetsOf = (zone: DateTime.TimeZone): (time: number) => number => (time) => {
  const { change, first, last } = weekOf(zone, Math.floor(time / week))
  return time < change ? first : last
}

/** Changes of the clock in a span of time. */
export const clockChanges = (from: number, to: number, zone: DateTime.TimeZone): ReadonlyArray<number> => {
  const changes: Array<number> = []
  for (let index = Math.floor(from / week); index * week < to; index++) {
    const { change, first, last } = weekOf(zone, index)
    if (first !== last && change >= from && change < to) changes.push(change)
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
  const offsetAt = offsetsOf(zone)
  for (let date = after - after % dayLength - dayLength;; date += dayLength) {
    const day = new Date(date)
    if (months.length > 0 && !months.includes(day.getUTCMonth() + 1)) continue
    const [isDay, isWeekday] = [days.includes(day.getUTCDate()), weekdays.includes(day.getUTCDay())]
    if (days.length + weekdays.length > 0 && !isDay && !isWeekday) continue
    const [from, to] = [date - around, date + dayLength + around]
    const [change = to] = clockChanges(from, to, zone)
    for (const time of timesOn(date, fields, { change, first: offsetAt(from), last: offsetAt(to) })) {
      if (time > after) yield time
    }
  }
}
