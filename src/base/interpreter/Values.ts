/** The values of programs: JSON, `undefined`, functions, regular expressions and dates, without host objects. */
import * as Data from "effect/Data"
import type { RE2JS } from "re2js"
import type { Obj } from "../Json.ts"

/**
 * Why a program could not be compiled or evaluated. `syntax`: not JavaScript. `refused`: JavaScript outside the
 * supported subset. `reference`: an unknown name. `type`: a value of the wrong type, or too long. `nullish`: a member
 * of null or undefined. `budget`: too many steps, too much time, or nested too deeply. `at` is the offset in the source.
 */
export class Problem extends Data.TaggedError("ExpressionProblem")<{
  readonly kind: "syntax" | "refused" | "reference" | "type" | "nullish" | "budget"
  readonly message: string
  readonly at: number
}> {}

export interface Run {
  /** Remaining steps; creating text and elements also costs steps, which bounds memory. */
  steps: number
  /** Number of remaining steps at which the clock is read again. */
  lookAt: number
  /** Deadline in milliseconds of the clock; unknown before the clock is first read. */
  until: number | undefined
  readonly now: () => number
  /** Depth of the host's stack, in nested expressions. */
  depth: number
  at: number
  scope: Obj
}

type Call = (args: ReadonlyArray<unknown>, run: Run) => unknown

export class Fn {
  readonly #call: Call
  constructor(call: Call) {
    this.#call = call
  }
  call(args: ReadonlyArray<unknown>, run: Run): unknown {
    return this.#call(args, run)
  }
}

/** A regular expression that matches in linear time. @internal */
export class Pattern {
  readonly #regExp: RE2JS
  readonly #source: string
  readonly #flags: string
  constructor(regExp: RE2JS, source: string, flags: string) {
    this.#regExp = regExp
    this.#source = source
    this.#flags = flags
  }
  get regExp() {
    return this.#regExp
  }
  get isGlobal() {
    return this.#flags.includes("g")
  }
  get text() {
    return `/${this.#source}/${this.#flags}`
  }
}

export class Instant {
  readonly #date: Date
  constructor(date: Date) {
    this.#date = date
  }
  get date() {
    return this.#date
  }
}

/** Throws a problem at the latest call. */
export const fail = (run: Run, kind: Problem["kind"], message: string): never => {
  throw new Problem({ kind, message, at: run.at })
}

const stepsPerLook = 10_000

/** Time limit of one evaluation in milliseconds, since charges by steps are estimates. */
const maxMillis = 100

/** Starts an evaluation; without a clock only its steps are bounded. */
export const start = (scope: Obj, steps: number, now: () => number = () => 0): Run => ({
  scope,
  steps,
  lookAt: steps - stepsPerLook,
  until: undefined,
  now,
  depth: 0,
  at: 0
})

const look = (run: Run): void => {
  if (!(run.steps >= 0)) fail(run, "budget", "It takes too many steps")
  run.lookAt = run.steps - stepsPerLook
  const now = run.now()
  run.until ??= now + maxMillis
  if (now > run.until) fail(run, "budget", `It takes more than ${maxMillis} ms for one item`)
}

export const charge = (run: Run, steps: number): void => {
  run.steps -= steps
  if (!(run.steps > run.lookAt && run.steps >= 0)) look(run)
}

/** Cost of a new array or object in steps, and of each of its elements. */
export const objectCost = 20
export const elementCost = 4

export const chargeText = (run: Run, length: number): void => charge(run, Math.floor(length / 16))

const maxText = 1_000_000

export const makeText = (run: Run, length: number): void => {
  if (length > maxText) fail(run, "type", `A text that an expression makes has at most ${maxText} characters`)
  chargeText(run, length)
}

/** Maximum number of nested expressions on the host's stack, with a wide margin. */
const maxDepth = 1_200

/** Increases the depth by `levels`, which the caller subtracts again. */
export const descend = (run: Run, levels: number): void => {
  run.depth += levels
  if (run.depth > maxDepth) fail(run, "budget", "It is nested too deeply")
}

export const nest = <A>(run: Run, levels: number, body: () => A): A => {
  descend(run, levels)
  const result = body()
  run.depth -= levels
  return result
}

// oxlint-disable-next-line no-extraneous-class -- a base class only
class Identity {
  constructor(value: object) {
    // oxlint-disable-next-line no-constructor-return -- a subclass adds its private field to it
    return value
  }
}

/** Marks the arrays and objects that programs create; much faster than a WeakSet. */
class Own extends Identity {
  readonly #isOwn = true
  static has(value: object): boolean {
    return #isOwn in value && value.#isOwn
  }
}

export const own = <A extends object>(value: A): A => {
  if (!Own.has(value)) void new Own(value)
  return value
}

/** Narrows to a value that the program created; others must not be mutated. */
export const changeable = <A>(run: Run, value: A): A & object =>
  typeof value === "object" && value !== null && Own.has(value)
    ? value
    : fail(run, "refused", "Only arrays and objects that the expression makes can be changed")

export const list = (run: Run, values: Array<unknown>): Array<unknown> => {
  charge(run, objectCost + elementCost * values.length)
  return own(values)
}

/** The value as an object with keys; `undefined` for any other value. */
export const record = (value: unknown): Obj | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Fn) &&
    !(value instanceof Pattern) && !(value instanceof Instant)
    ? value as Obj
    : undefined

export const put = (run: Run, object: { [key: string]: unknown }, key: string, value: unknown): void => {
  if (key === "__proto__") fail(run, "refused", "No key can be named __proto__")
  charge(run, elementCost)
  object[key] = value
}

/** Describes the kind of a value in messages: `an array`. */
export const kindOf = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
    ? "an array"
    : value instanceof Fn
    ? "a function"
    : value instanceof Pattern
    ? "a regular expression"
    : value instanceof Instant
    ? "a date"
    : typeof value === "object"
    ? "an object"
    : typeof value === "undefined"
    ? "undefined"
    : `a ${typeof value}`

type Primitive = string | number | boolean | null | undefined

export const toPrimitive = (run: Run, value: unknown, hint: "string" | "number" | "default" = "default"): Primitive => {
  if (typeof value !== "object" || value === null) {
    return typeof value === "function" || typeof value === "symbol" || typeof value === "bigint"
      ? undefined
      : value as Primitive
  }
  if (value instanceof Instant) return hint === "number" ? value.date.getTime() : String(value.date)
  if (value instanceof Pattern) return value.text
  if (value instanceof Fn) return fail(run, "type", "A function cannot be converted to a string or number")
  return Array.isArray(value) ? join(run, value, ",") : "[object Object]"
}

export const toText = (run: Run, value: unknown): string =>
  typeof value === "string" ? value : String(toPrimitive(run, value, "string"))

const maxNumber = 100

const numeric = /^\s*([-+]?(\d[\da-fox.+-]*|\.[\de+-]*|I[a-z]*))?\s*$/i

/** Text to parse as a number; a long text, which is never a number, is cut. */
export const numberText = (run: Run, text: string): string => {
  if (text.length <= maxNumber) return text
  const head = text.slice(0, maxNumber)
  return numeric.test(head) ? fail(run, "type", `A number has at most ${maxNumber} characters`) : head
}

export const dateText = (run: Run, text: string): string =>
  text.length <= maxNumber ? text : fail(run, "type", `A date has at most ${maxNumber} characters`)

export const toNumber = (run: Run, value: unknown): number => {
  if (typeof value === "number") return value
  const primitive = toPrimitive(run, value, "number")
  return Number(typeof primitive === "string" ? numberText(run, primitive) : primitive)
}

export const join = (run: Run, values: ReadonlyArray<unknown>, separator: string): string =>
  nest(run, 4, () => {
    let length = 0
    const texts = values.map((value) => {
      const text = value === undefined || value === null ? "" : toText(run, value)
      length += text.length + separator.length
      charge(run, 1)
      return text
    })
    makeText(run, Math.max(length - separator.length, 0))
    return texts.join(separator)
  })

export const callback = (run: Run, value: unknown): Fn =>
  value instanceof Fn ? value : fail(run, "type", `A function is needed here, not ${kindOf(value)}`)

export const elements = (run: Run, value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : fail(run, "type", `${kindOf(value)} is not an array`)

/** A JSON copy by the rules of JSON.stringify; `undefined` if the value has no JSON form. */
export const toJson = (run: Run, value: unknown): unknown => {
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : null
  if (typeof value === "string") chargeText(run, value.length)
  if (typeof value !== "object" || value === null) {
    return typeof value === "string" || typeof value === "boolean" || value === null ? value : undefined
  }
  if (value instanceof Fn) return undefined
  if (value instanceof Pattern) return {}
  if (value instanceof Instant) return value.date.toJSON()
  charge(run, objectCost)
  return nest(run, 4, () => {
    if (Array.isArray(value)) {
      charge(run, elementCost * value.length)
      return value.map((inner) => toJson(run, inner) ?? null)
    }
    const copy: Record<string, unknown> = {}
    for (const key of Object.keys(value)) {
      const json = toJson(run, (value as Obj)[key])
      if (json !== undefined) put(run, copy, key, json)
    }
    return copy
  })
}
