/** All methods, functions and constants of programs. */
import * as Patterns from "./Patterns.ts"
import {
  callback,
  changeable,
  charge,
  chargeText,
  elementCost,
  elements,
  fail,
  Fn,
  Instant,
  join,
  kindOf,
  list,
  nest,
  objectCost,
  own,
  Pattern,
  put,
  record,
  type Run,
  toJson,
  toNumber,
  toPrimitive,
  toText
} from "./Values.ts"

type Args = ReadonlyArray<unknown>
type Method<Self> = (run: Run, self: Self, args: Args) => unknown
type Methods<Self> = { readonly [name: string]: Method<Self> }

const integer = (run: Run, value: unknown): number => Math.trunc(toNumber(run, value)) || 0
const optional = (run: Run, value: unknown): number | undefined => value === undefined ? undefined : integer(run, value)

const truthy = (value: unknown) => Boolean(value)

/** A method that passes each element to its callback. */
const iterate = (
  apply: (self: Array<unknown>, call: (value: unknown, index: number) => unknown, run: Run) => unknown
): Method<Array<unknown>> =>
(run, self, [argument]) => {
  const each = callback(run, argument)
  charge(run, self.length)
  return apply(self, (value, index) => each.call([value, index, self], run), run)
}

const fold = (isRight: boolean): Method<Array<unknown>> => (run, self, args) => {
  const each = callback(run, args[0])
  charge(run, self.length)
  const step = (sum: unknown, value: unknown, index: number) => each.call([sum, value, index, self], run)
  if (args.length < 2 && self.length === 0) return fail(run, "type", "An empty array needs a start value")
  if (isRight) return args.length < 2 ? self.reduceRight(step) : self.reduceRight(step, args[1])
  return args.length < 2 ? self.reduce(step) : self.reduce(step, args[1])
}

const flatten = (run: Run, values: ReadonlyArray<unknown>, depth: number): Array<unknown> =>
  nest(run, 4, () =>
    values.flatMap((value) => {
      charge(run, elementCost)
      return Array.isArray(value) && depth >= 1 ? flatten(run, value, depth - 1) : [value]
    }))

const sort = (run: Run, self: ReadonlyArray<unknown>, compare: unknown): Array<unknown> => {
  charge(run, self.length * Math.ceil(Math.log2(self.length + 2)))
  if (compare !== undefined) {
    const order = callback(run, compare)
    return self.toSorted((a, b) => toNumber(run, order.call([a, b], run)))
  }
  const keyed = self.map((value) => ({ value, text: value === undefined ? "" : toText(run, value) }))
  return keyed.toSorted((a, b) =>
    a.value === undefined || b.value === undefined
      ? Number(a.value === undefined) - Number(b.value === undefined)
      : Number(a.text > b.text) - Number(a.text < b.text)
  ).map(({ value }) => value)
}

/** Replaces the contents of an array. */
const refill = (run: Run, self: Array<unknown>, values: ReadonlyArray<unknown>) => {
  charge(run, self.length)
  const target = changeable(run, self)
  values.forEach((value, index) => target[index] = value)
  return target
}

const arrays: Methods<Array<unknown>> = {
  some: iterate((self, call) => self.some((value, index) => truthy(call(value, index)))),
  every: iterate((self, call) => self.every((value, index) => truthy(call(value, index)))),
  filter: iterate((self, call, run) => list(run, self.filter((value, index) => truthy(call(value, index))))),
  map: iterate((self, call, run) => list(run, self.map(call))),
  flatMap: iterate((self, call, run) => list(run, flatten(run, self.map(call), 1))),
  forEach: iterate((self, call) => self.forEach((value, index) => void call(value, index))),
  find: iterate((self, call) => self.find((value, index) => truthy(call(value, index)))),
  findIndex: iterate((self, call) => self.findIndex((value, index) => truthy(call(value, index)))),
  findLast: iterate((self, call) => self.findLast((value, index) => truthy(call(value, index)))),
  findLastIndex: iterate((self, call) => self.findLastIndex((value, index) => truthy(call(value, index)))),
  reduce: fold(false),
  reduceRight: fold(true),
  includes: (run, self, [value]) => (charge(run, self.length), self.includes(value)),
  indexOf: (run, self, [value]) => (charge(run, self.length), self.indexOf(value)),
  lastIndexOf: (run, self, [value]) => (charge(run, self.length), self.lastIndexOf(value)),
  at: (run, self, [index]) => self.at(integer(run, index)),
  join: (run, self, [separator]) => join(run, self, separator === undefined ? "," : toText(run, separator)),
  toString: (run: Run, self: Array<unknown>) => join(run, self, ","),
  slice: (run, self, [start, end]) => list(run, self.slice(optional(run, start), optional(run, end))),
  concat: (run, self, args) => {
    const parts = args.map((value) => Array.isArray(value) ? value as Array<unknown> : [value])
    charge(run, elementCost * parts.reduce((sum, { length }) => sum + length, self.length))
    return own(self.concat(...parts))
  },
  flat: (run, self, [depth]) => own(flatten(run, self, depth === undefined ? 1 : toNumber(run, depth))),
  toSorted: (run, self, [compare]) => list(run, sort(run, self, compare)),
  toReversed: (run, self) => list(run, self.toReversed()),
  sort: (run, self, [compare]) => refill(run, self, sort(run, self, compare)),
  reverse: (run, self) => refill(run, self, self.toReversed()),
  push: (run, self, args) => {
    charge(run, elementCost * args.length)
    const target = changeable(run, self)
    for (const value of args) target.push(value)
    return target.length
  },
  unshift: (run, self, args) => {
    charge(run, elementCost * args.length + self.length)
    return changeable(run, self).unshift(...args)
  },
  pop: (run, self) => changeable(run, self).pop(),
  shift: (run, self) => (charge(run, self.length), changeable(run, self).shift())
}

const withoutArguments = (apply: (self: string) => unknown): Method<string> => (run, self) => {
  chargeText(run, self.length)
  return apply(self)
}

const withSearchString =
  (apply: (self: string, what: string, place: number | undefined) => unknown): Method<string> =>
  (run, self, [what, place]) => {
    if (what instanceof Pattern) return fail(run, "type", "A string is needed here, not a regular expression")
    chargeText(run, self.length)
    return apply(self, toText(run, what), optional(run, place))
  }

const withRange =
  (apply: (self: string, start: number | undefined, end: number | undefined) => unknown): Method<string> =>
  (run, self, [start, end]) => apply(self, optional(run, start), optional(run, end))

const pad = (isStart: boolean): Method<string> => (run, self, [length, filler]) => {
  const size = integer(run, length)
  chargeText(run, Math.max(size, 0))
  const fill = filler === undefined ? " " : toText(run, filler)
  return isStart ? self.padStart(size, fill) : self.padEnd(size, fill)
}

const replace = (isAll: boolean): Method<string> => (run, self, [what, replacement]) => {
  if (isAll && what instanceof Pattern && !what.isGlobal) return fail(run, "type", "replaceAll needs the flag g")
  const pattern = what instanceof Pattern ? what : toText(run, what)
  return Patterns.replace(run, self, pattern, replacement, pattern instanceof Pattern ? pattern.isGlobal : isAll)
}

const pattern = (run: Run, value: unknown): Pattern =>
  value instanceof Pattern
    ? value
    : fail(run, "type", `A regular expression is needed here, /…/, not ${kindOf(value)}`)

const texts: Methods<string> = {
  includes: withSearchString((self, what, from) => self.includes(what, from)),
  startsWith: withSearchString((self, what, from) => self.startsWith(what, from)),
  endsWith: withSearchString((self, what, to) => self.endsWith(what, to)),
  indexOf: withSearchString((self, what, from) => self.indexOf(what, from)),
  lastIndexOf: withSearchString((self, what, from) => self.lastIndexOf(what, from ?? Infinity)),
  toLowerCase: withoutArguments((self) => self.toLowerCase()),
  toUpperCase: withoutArguments((self) => self.toUpperCase()),
  trim: withoutArguments((self) => self.trim()),
  trimStart: withoutArguments((self) => self.trimStart()),
  trimEnd: withoutArguments((self) => self.trimEnd()),
  slice: withRange((self, start, end) => self.slice(start, end)),
  substring: withRange((self, start, end) => self.substring(start ?? 0, end)),
  charAt: withRange((self, at) => self.charAt(at ?? 0)),
  charCodeAt: withRange((self, at) => self.charCodeAt(at ?? 0)),
  at: withRange((self, at) => self.at(at ?? 0)),
  toString: (_: Run, self: string) => self,
  concat: (run, self, args) => join(run, [self, ...args.map((value) => toText(run, value))], ""),
  padStart: pad(true),
  padEnd: pad(false),
  repeat: (run, self, [count]) => {
    const times = integer(run, count)
    if (times < 0 || times === Infinity) return fail(run, "type", "The count of repeat is out of range")
    chargeText(run, self.length * times)
    return self.repeat(times)
  },
  split: (run, self, [separator, limit]) => {
    charge(run, self.length)
    const parts = separator instanceof Pattern
      ? Patterns.split(run, separator, self)
      : separator === undefined
      ? [self]
      : self.split(toText(run, separator))
    return list(run, limit === undefined ? parts : parts.slice(0, integer(run, limit) >>> 0))
  },
  replace: replace(false),
  replaceAll: replace(true),
  match: (run, self, [what]) => Patterns.match(run, pattern(run, what), self),
  search: (run, self, [what]) => Patterns.search(run, pattern(run, what), self)
}

const digits =
  (apply: (self: number, digits: number | undefined) => string, least: number, most: number) =>
  (run: Run, self: number, [argument]: Args) => {
    const digits = optional(run, argument)
    return digits !== undefined && (digits < least || digits > most)
      ? fail(run, "type", `${digits} is not between ${least} and ${most}`)
      : apply(self, digits)
  }

const numbers: Methods<number> = {
  toFixed: digits((self, digits) => self.toFixed(digits), 0, 100),
  toPrecision: digits((self, digits) => self.toPrecision(digits), 1, 100),
  toString: digits((self, radix) => self.toString(radix), 2, 36)
}

const booleans: Methods<boolean> = { toString: (_: Run, self: boolean) => String(self) }

const objects: Methods<object> = {
  hasOwnProperty: (run: Run, self: object, [key]: Args) => Object.hasOwn(self, toText(run, key)),
  toString: () => "[object Object]"
}

const patterns: Methods<Pattern> = {
  test: (run, self, [value]) => Patterns.test(run, self, toText(run, value)),
  exec: (run, self, [value]) =>
    self.isGlobal
      ? fail(run, "refused", "exec has no flag g here: use match")
      : Patterns.match(run, self, toText(run, value)),
  toString: (_: Run, self: Pattern) => self.text
}

const instants: Methods<Instant> = {
  ...Object.fromEntries(
    ([
      "getTime",
      "valueOf",
      "getFullYear",
      "getMonth",
      "getDate",
      "getDay",
      "getHours",
      "getMinutes",
      "getSeconds",
      "getMilliseconds",
      "getUTCFullYear",
      "getUTCMonth",
      "getUTCDate",
      "getUTCDay",
      "getUTCHours",
      "getUTCMinutes",
      "getUTCSeconds",
      "getUTCMilliseconds",
      "getTimezoneOffset",
      "toJSON",
      "toString",
      "toDateString",
      "toUTCString"
    ] as const).map((name) => [name, (_: Run, { date }: Instant) => date[name]()])
  ),
  toISOString: (run, { date }) => Number.isNaN(date.getTime()) ? fail(run, "type", "Invalid date") : date.toISOString()
}

const tables = [arrays, texts, numbers, booleans, patterns, instants, objects] as ReadonlyArray<Methods<never>>

const tableOf = (value: unknown): Methods<never> | undefined =>
  Array.isArray(value)
    ? arrays
    : typeof value === "string"
    ? texts
    : typeof value === "number"
    ? numbers
    : typeof value === "boolean"
    ? booleans
    : value instanceof Pattern
    ? patterns
    : value instanceof Instant
    ? instants
    : record(value) === undefined
    ? undefined
    : objects

/** The method of a value with this name, if there is one. */
export const methodOf = (value: unknown, name: string): Method<never> | undefined => {
  const table = tableOf(value)
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
}

/** Whether any kind of value has a method with this name. */
export const isMethod = (name: string): boolean => tables.some((table) => Object.hasOwn(table, name))

// ---- functions

const mathFunctions = [
  "abs",
  "acos",
  "asin",
  "atan",
  "atan2",
  "cbrt",
  "ceil",
  "cos",
  "exp",
  "floor",
  "hypot",
  "log",
  "log10",
  "log2",
  "max",
  "min",
  "pow",
  "round",
  "sign",
  "sin",
  "sqrt",
  "tan",
  "trunc"
] as const

type Builtin = (run: Run, args: Args) => unknown
const fn = (builtin: Builtin) => new Fn((args, run) => builtin(run, args))

/** The object whose entries Object.keys and similar functions read. */
const objectOf = (run: Run, value: unknown): object => {
  if (value === null || value === undefined) return fail(run, "type", `${kindOf(value)} has no keys`)
  return Array.isArray(value) ? value : typeof value === "string" ? [...elements(run, value)] : record(value) ?? {}
}

const parseJson: Builtin = (run, [value]) => {
  const source = toText(run, value)
  charge(run, elementCost * source.length)
  try {
    return JSON.parse(source)
  } catch {
    return fail(run, "type", "The text is not JSON")
  }
}

const stringify: Builtin = (run, [value, replacer, indent]) =>
  (replacer === undefined || replacer === null) && indent === undefined
    ? JSON.stringify(toJson(run, value))
    : fail(run, "refused", "JSON.stringify takes one argument here")

const from: Builtin = (run, [source, mapper]) => {
  const length = record(source) === undefined ? undefined : integer(run, toNumber(run, ownValue(source, "length")))
  const each = mapper === undefined ? undefined : callback(run, mapper)
  charge(run, elementCost * Math.max(length ?? 0, 0))
  const values = length === undefined
    ? elements(run, source)
    : Array.from({ length: Math.max(length, 0) }, (_, index) => ownValue(source, String(index)))
  return list(run, values.map((value, index) => each === undefined ? value : each.call([value, index], run)))
}

const ownValue = (value: unknown, key: string): unknown =>
  Object.hasOwn(value as object, key) ? (value as Record<string, unknown>)[key] : undefined

const assignEntries = (
  run: Run,
  pairs: ReadonlyArray<readonly [string, unknown]>,
  into: { [key: string]: unknown }
) => {
  for (const [key, value] of pairs) put(run, into, key, value)
  return own(into)
}

const withoutClock = "The current time is not available here: compare with a literal date"

const dateOf = (run: Run, args: Args): Date => {
  if (args.length === 0) return fail(run, "refused", withoutClock)
  if (args.length > 1) {
    const [year, month, ...rest] = args.map((value) => toNumber(run, value))
    return new Date(year ?? Number.NaN, month ?? 0, ...rest.slice(0, 5) as [])
  }
  const [value] = args
  if (value instanceof Instant) return new Date(value.date)
  const primitive = toPrimitive(run, value)
  return new Date(typeof primitive === "string" ? primitive : Number(primitive))
}

/** The classes that `new` accepts. */
export const constructors: { readonly [name: string]: Builtin } = {
  Date: (run, args) => new Instant(dateOf(run, args))
}

/** Functions and constants of namespaces, such as `Math.max`. */
export const statics: { readonly [name: string]: { readonly [name: string]: Fn | number } } = {
  Math: {
    ...Object.fromEntries(mathFunctions.map((name) => [
      name,
      fn((run, args) =>
        (Math[name] as (...values: ReadonlyArray<number>) => number)(
          ...args.map((value) => toNumber(run, value))
        )
      )
    ])),
    PI: Math.PI,
    E: Math.E
  },
  Number: {
    isInteger: fn((_, [value]) => Number.isInteger(value)),
    isSafeInteger: fn((_, [value]) => Number.isSafeInteger(value)),
    isFinite: fn((_, [value]) => Number.isFinite(value)),
    isNaN: fn((_, [value]) => Number.isNaN(value)),
    parseFloat: fn((run, [value]) => Number.parseFloat(toText(run, value))),
    parseInt: fn((run, [value, radix]) => Number.parseInt(toText(run, value), optional(run, radix))),
    MAX_SAFE_INTEGER: Number.MAX_SAFE_INTEGER,
    MIN_SAFE_INTEGER: Number.MIN_SAFE_INTEGER,
    EPSILON: Number.EPSILON
  },
  Array: {
    isArray: fn((_, [value]) => Array.isArray(value)),
    from: fn(from),
    of: fn((run, args) => list(run, [...args]))
  },
  Object: {
    keys: fn((run, [value]) => list(run, Object.keys(objectOf(run, value)))),
    values: fn((run, [value]) => list(run, Object.values(objectOf(run, value)))),
    entries: fn((run, [value]) => {
      const entries = Object.entries(objectOf(run, value))
      charge(run, objectCost * entries.length)
      return list(run, entries)
    }),
    fromEntries: fn((run, [pairs]) =>
      assignEntries(
        run,
        elements(run, pairs).map((pair) => {
          const [key, value] = Array.isArray(pair) ? pair : fail(run, "type", "An entry is [key, value]")
          return [toText(run, key), value] as const
        }),
        {}
      )
    ),
    hasOwn: fn((run, [value, key]) => Object.hasOwn(record(value) ?? {}, toText(run, key)))
  },
  Date: {
    parse: fn((run, [value]) => Date.parse(toText(run, value))),
    UTC: fn((run, args) => {
      const [year, ...rest] = args.map((value) => toNumber(run, value))
      return Date.UTC(year ?? Number.NaN, ...rest.slice(0, 6) as [])
    }),
    now: fn((run) => fail(run, "refused", withoutClock))
  },
  JSON: { parse: fn(parseJson), stringify: fn(stringify) }
}

/** Global functions and constants. */
export const globals: { readonly [name: string]: unknown } = {
  undefined,
  NaN: Number.NaN,
  Infinity,
  Number: fn((run, args) => args.length === 0 ? 0 : toNumber(run, args[0])),
  String: fn((run, args) => args.length === 0 ? "" : toText(run, args[0])),
  Boolean: fn((_, [value]) => Boolean(value)),
  parseInt: fn((run, [value, radix]) => Number.parseInt(toText(run, value), optional(run, radix))),
  parseFloat: fn((run, [value]) => Number.parseFloat(toText(run, value))),
  isNaN: fn((run, [value]) => Number.isNaN(toNumber(run, value))),
  isFinite: fn((run, [value]) => Number.isFinite(toNumber(run, value)))
}
