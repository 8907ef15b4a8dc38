/** The functions and constants of programs. */
import { optional } from "./Methods.ts"
import { split } from "./Texts.ts"
import * as Values from "./Values.ts"

type Args = ReadonlyArray<unknown>
type Builtin = (run: Values.Run, args: Args) => unknown

const fn = (builtin: Builtin) => new Values.Fn((args, run) => builtin(run, args))

const mathFunctions = ["abs", "ceil", "floor", "log10", "max", "min", "pow", "round", "sign", "sqrt", "trunc"] as const

const objectOf = (run: Values.Run, value: unknown): { readonly [key: string]: unknown } => {
  if (value === null || value === undefined) return Values.fail(run, "type", `${Values.kindOf(value)} has no keys`)
  const object = typeof value === "string"
    ? split(run, value, "")
    : Array.isArray(value)
    ? value
    : Values.record(value) ?? {}
  return object as { readonly [key: string]: unknown }
}

/** Compiles Object.keys and similar functions to a list with one element per key. */
const ofKeys = (part: (key: string, value: unknown, run: Values.Run) => unknown): Values.Fn =>
  fn((run, [value]) => {
    const object = objectOf(run, value)
    const keys = Object.keys(object)
    return Values.list(run, keys.map((key) => part(key, object[key], run)))
  })

const parseJson: Builtin = (run, [value]) => {
  const source = Values.toText(run, value)
  Values.charge(run, Values.elementCost * source.length)
  try {
    return JSON.parse(source)
  } catch {
    return Values.fail(run, "type", "The text is not JSON")
  }
}

const stringify: Builtin = (run, [value, replacer, indent]) => {
  if (replacer !== undefined && replacer !== null) Values.fail(run, "refused", "JSON.stringify takes no replacer here")
  const spaces = typeof indent === "number" || typeof indent === "string" ? indent : undefined
  const text = JSON.stringify(Values.toJson(run, value), null, spaces)
  if (spaces !== undefined && text !== undefined) Values.makeText(run, text.length)
  return text
}

/** As Array.from, for an array or an object with a length. */
const from: Builtin = (run, [source, mapper]) => {
  const each = mapper === undefined ? undefined : Values.callback(run, mapper)
  if (!Array.isArray(source) && Values.record(source) === undefined) {
    return Values.fail(run, "type", `${Values.kindOf(source)} has no elements`)
  }
  const length = optional(run, (source as { readonly length?: unknown }).length) ?? 0
  Values.charge(run, Values.elementCost * Math.max(length, 0))
  const elements = source as { readonly [index: number]: unknown }
  return Values.list(
    run,
    Array.from({ length: Math.max(length, 0) }, (_, index) => {
      const value = Object.hasOwn(elements, index) ? elements[index] : undefined
      return each === undefined ? value : each.call([value, index], run)
    })
  )
}

const withoutClock = "The current time is not available here: compare with a literal date"

const dateOf = (run: Values.Run, args: Args): Date => {
  if (args.length === 0) return Values.fail(run, "refused", withoutClock)
  if (args.length > 1) {
    const [year, month, ...rest] = args.map((value) => Values.toNumber(run, value))
    return new Date(year ?? Number.NaN, month ?? 0, ...rest.slice(0, 5) as [])
  }
  const [value] = args
  if (value instanceof Values.Instant) return new Date(value.date)
  const primitive = Values.toPrimitive(run, value)
  return new Date(typeof primitive === "string" ? Values.dateText(run, primitive) : Number(primitive))
}

/** The classes that `new` accepts. */
export const constructors: { readonly [name: string]: Builtin } = {
  Date: (run, args) => new Values.Instant(dateOf(run, args))
}

const parseFloat = fn((run, [value]) => Number.parseFloat(Values.numberText(run, Values.toText(run, value))))
const parseInt = fn((run, [value, radix]) =>
  Number.parseInt(Values.numberText(run, Values.toText(run, value)), optional(run, radix))
)

export const statics: { readonly [name: string]: { readonly [name: string]: Values.Fn | number } } = {
  Math: {
    ...Object.fromEntries(mathFunctions.map((name) => [
      name,
      fn((run, args) =>
        (Math[name] as (...values: ReadonlyArray<number>) => number)(
          ...args.map((value) => Values.toNumber(run, value))
        )
      )
    ])),
    PI: Math.PI
  },
  Number: {
    isInteger: fn((_, [value]) => Number.isInteger(value)),
    isFinite: fn((_, [value]) => Number.isFinite(value)),
    isNaN: fn((_, [value]) => Number.isNaN(value)),
    parseFloat,
    parseInt
  },
  Array: { isArray: fn((_, [value]) => Array.isArray(value)), from: fn(from) },
  Object: {
    keys: ofKeys((key, _, run) => {
      Values.charge(run, Values.elementCost)
      return key
    }),
    values: ofKeys((_, value, run) => {
      Values.charge(run, Values.elementCost)
      return value
    }),
    entries: ofKeys((key, value, run) => Values.list(run, [key, value])),
    hasOwn: fn((run, [value, name]) => {
      const key = Values.toText(run, name)
      Values.chargeText(run, key.length)
      return Object.hasOwn(Values.record(value) ?? {}, key)
    })
  },
  Date: {
    parse: fn((run, [value]) => Date.parse(Values.dateText(run, Values.toText(run, value)))),
    now: fn((run) => Values.fail(run, "refused", withoutClock))
  },
  JSON: { parse: fn(parseJson), stringify: fn(stringify) }
}

const encoding = (encode: (text: string) => string) =>
  fn((run, [value]) => {
    const text = Values.toText(run, value)
    Values.makeText(run, 3 * text.length)
    try {
      return encode(text)
    } catch {
      return Values.fail(run, "type", "The text cannot be encoded or decoded")
    }
  })

export const globals: { readonly [name: string]: unknown } = {
  encodeURIComponent: encoding(encodeURIComponent),
  encodeURI: encoding(encodeURI),
  decodeURIComponent: encoding(decodeURIComponent),
  decodeURI: encoding(decodeURI),
  undefined,
  NaN: Number.NaN,
  Infinity,
  Number: fn((run, args) => args.length === 0 ? 0 : Values.toNumber(run, args[0])),
  String: fn((run, args) => args.length === 0 ? "" : Values.toText(run, args[0])),
  Boolean: fn((_, [value]) => Boolean(value)),
  parseInt,
  parseFloat,
  isNaN: fn((run, [value]) => Number.isNaN(Values.toNumber(run, value))),
  isFinite: fn((run, [value]) => Number.isFinite(Values.toNumber(run, value)))
}
