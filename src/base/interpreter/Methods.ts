/** The methods of programs' values. */
import { isSame } from "./Operators.ts"
import * as Patterns from "./Patterns.ts"
import * as Texts from "./Texts.ts"
import * as Values from "./Values.ts"

type Args = ReadonlyArray<unknown>
type Method<Self> = (run: Values.Run, self: Self, args: Args) => unknown
type Methods<Self> = { readonly [name: string]: Method<Self> }

const integer = (run: Values.Run, value: unknown): number => Math.trunc(Values.toNumber(run, value)) || 0

export const optional = (run: Values.Run, value: unknown): number | undefined =>
  value === undefined ? undefined : integer(run, value)

const iterate = (
  apply: (self: Array<unknown>, call: (value: unknown, index: number) => unknown, run: Values.Run) => unknown
): Method<Array<unknown>> =>
(run, self, [argument]) => {
  const each = Values.callback(run, argument)
  Values.charge(run, self.length)
  return apply(self, (value, index) => each.call([value, index, self], run), run)
}

const indexOf = (run: Values.Run, self: ReadonlyArray<unknown>, wanted: unknown): number =>
  self.findIndex((value) => {
    Values.charge(run, 1)
    return isSame(run, value, wanted)
  })

const arrays: Methods<Array<unknown>> = {
  some: iterate((self, call) => self.some((value, index) => Boolean(call(value, index)))),
  every: iterate((self, call) => self.every((value, index) => Boolean(call(value, index)))),
  filter: iterate((self, call, run) => Values.list(run, self.filter((value, index) => Boolean(call(value, index))))),
  map: iterate((self, call, run) => Values.list(run, self.map(call))),
  flatMap: iterate((self, call, run) =>
    Values.list(
      run,
      self.flatMap((value, index) => {
        const part = call(value, index)
        Values.charge(run, Array.isArray(part) ? Values.elementCost * part.length : 0)
        return part
      })
    )
  ),
  find: iterate((self, call) => self.find((value, index) => Boolean(call(value, index)))),
  findIndex: iterate((self, call) => self.findIndex((value, index) => Boolean(call(value, index)))),
  reduce: (run, self, args) => {
    const each = Values.callback(run, args[0])
    Values.charge(run, self.length)
    const step = (sum: unknown, value: unknown, index: number) => each.call([sum, value, index, self], run)
    if (args.length > 1) return self.reduce(step, args[1])
    return self.length === 0 ? Values.fail(run, "type", "An empty array needs a start value") : self.reduce(step)
  },
  includes: (run, self, [value]) => indexOf(run, self, value) >= 0 || Number.isNaN(value) && self.includes(value),
  indexOf: (run, self, [value]) => indexOf(run, self, value),
  at: (run, self, [index]) => self.at(integer(run, index)),
  join: (run, self, [separator]) =>
    Values.join(run, self, separator === undefined ? "," : Values.toText(run, separator)),
  toString: (run: Values.Run, self: Array<unknown>) => Values.join(run, self, ","),
  slice: (run, self, [start, end]) => Values.list(run, self.slice(optional(run, start), optional(run, end))),
  concat: (run, self, args) => {
    const parts = args.map((value) => Array.isArray(value) ? value as Array<unknown> : [value])
    Values.charge(run, Values.elementCost * parts.reduce((sum, { length }) => sum + length, 0))
    return Values.list(run, self.concat(...parts))
  },
  push: (run, self, args) => {
    Values.charge(run, Values.elementCost * args.length)
    const target = Values.changeable(run, self)
    for (const value of args) target.push(value)
    return target.length
  }
}

const whole = (apply: (self: string) => string): Method<string> => (run, self) => {
  Values.chargeText(run, self.length)
  return apply(self)
}

const needle = (run: Values.Run, value: unknown): string =>
  value instanceof Values.Pattern
    ? Values.fail(run, "type", "A string is needed here, not a regular expression")
    : Values.toText(run, value)

const end =
  (apply: (self: string, what: string, place: number | undefined) => boolean): Method<string> =>
  (run, self, [value, place]) => {
    const what = needle(run, value)
    Values.chargeText(run, Math.min(what.length, self.length))
    return apply(self, what, optional(run, place))
  }

const range =
  (apply: (self: string, start: number | undefined, end: number | undefined) => unknown): Method<string> =>
  (run, self, [start, end]) => apply(self, optional(run, start), optional(run, end))

const replace = (isAll: boolean): Method<string> => (run, self, [what, value]) => {
  const replacement = Values.toText(run, value)
  if (replacement.includes("$")) return Values.fail(run, "refused", "A replacement with $ is not allowed here")
  if (!(what instanceof Values.Pattern)) return Texts.replace(run, self, Values.toText(run, what), replacement, isAll)
  return isAll && !what.isGlobal
    ? Values.fail(run, "type", "replaceAll needs the flag g")
    : Patterns.replace(run, what, self, replacement)
}

const texts: Methods<string> = {
  includes: (run, self, [what, from]) => Texts.find(run, self, needle(run, what), optional(run, from)) >= 0,
  indexOf: (run, self, [what, from]) => Texts.find(run, self, needle(run, what), optional(run, from)),
  startsWith: end((self, what, from) => self.startsWith(what, from)),
  endsWith: end((self, what, to) => self.endsWith(what, to)),
  toLowerCase: whole((self) => self.toLowerCase()),
  toUpperCase: whole((self) => self.toUpperCase()),
  trim: whole((self) => self.trim()),
  slice: range((self, start, end) => self.slice(start, end)),
  substring: range((self, start, end) => self.substring(start ?? 0, end)),
  at: range((self, at) => self.at(at ?? 0)),
  charAt: range((self, at) => self.charAt(at ?? 0)),
  toString: (_: Values.Run, self: string) => self,
  split: (run, self, [separator, limit]) => {
    const parts = separator === undefined ? Values.list(run, [self]) : Texts.split(run, self, needle(run, separator))
    return limit === undefined ? parts : Values.list(run, parts.slice(0, integer(run, limit) >>> 0))
  },
  replace: replace(false),
  replaceAll: replace(true),
  match: (run, self, [what]) =>
    what instanceof Values.Pattern
      ? Patterns.match(run, what, self)
      : Values.fail(run, "type", `A regular expression is needed here, /…/, not ${Values.kindOf(what)}`)
}

const digits =
  (apply: (self: number, digits: number | undefined) => string, least: number, most: number): Method<number> =>
  (run, self, [argument]) => {
    const digits = optional(run, argument)
    return digits !== undefined && (digits < least || digits > most)
      ? Values.fail(run, "type", `${digits} is not between ${least} and ${most}`)
      : apply(self, digits)
  }

const numbers: Methods<number> = {
  toFixed: digits((self, digits) => self.toFixed(digits), 0, 100),
  toString: digits((self, radix) => self.toString(radix), 2, 36)
}

const booleans: Methods<boolean> = { toString: (_: Values.Run, self: boolean) => String(self) }

const objects: Methods<object> = {
  hasOwnProperty: (run: Values.Run, self: object, [value]: Args) => {
    const key = Values.toText(run, value)
    Values.chargeText(run, key.length)
    return Object.hasOwn(self, key)
  },
  toString: () => "[object Object]"
}

const patterns: Methods<Values.Pattern> = {
  test: (run, self, [value]) => Patterns.test(run, self, Values.toText(run, value)),
  toString: (_: Values.Run, self: Values.Pattern) => self.text
}

const parts = ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"] as const

const getters = parts.flatMap((part) => [`get${part}`, `getUTC${part}`] as const)

const instants: Methods<Values.Instant> = {
  ...Object.fromEntries(
    ([...getters, "getTime", "valueOf", "toJSON", "toString"] as const)
      .map((name) => [name, (_: Values.Run, { date }: Values.Instant) => date[name]()])
  ),
  toISOString: (run, { date }) =>
    Number.isNaN(date.getTime()) ? Values.fail(run, "type", "Invalid date") : date.toISOString()
}

const tables = [arrays, texts, numbers, booleans, patterns, instants, objects] as ReadonlyArray<Methods<never>>

const tableOf = (value: unknown): Methods<never> | undefined => {
  if (Array.isArray(value)) return arrays
  if (typeof value === "string") return texts
  if (typeof value === "number") return numbers
  if (typeof value === "boolean") return booleans
  if (value instanceof Values.Pattern) return patterns
  if (value instanceof Values.Instant) return instants
  return Values.record(value) === undefined ? undefined : objects
}

export const methodOf = (value: unknown, name: string): Method<never> | undefined => {
  const table = tableOf(value)
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
}

export const isMethod = (name: string): boolean => tables.some((table) => Object.hasOwn(table, name))
