/** Conditions of the first If, Filter and Switch, which compare as JavaScript does, as conditions of a filter. */
import type { Parse } from "../../base/JavaScript.ts"
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import { left, type Outcome } from "./mapping.ts"
import { literal, type Operand, operand } from "./operands.ts"

export type Condition = Obj

const unary = new Set(["true", "false", "empty", "notEmpty"])

const native = (type: string, operation: string, leftValue: unknown, rightValue: unknown = ""): Condition => ({
  leftValue,
  rightValue,
  operator: { type, operation, ...(unary.has(operation) ? { singleValue: true } : {}) }
})

/** Condition on a comparison in JavaScript; where it fails, it is not true. */
const whether = (code: string, is = true): Condition => native("boolean", String(is), `={{ ${code} }}`)

/** Whether only the same text is converted to this text. */
const isPlain = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.trim() === value && Number.isNaN(Number(value)) &&
  !/^(?:true|false|null|undefined|NaN|-?Infinity|[[{"\d].*)$/s.test(value)

const equality = (one: Operand, other: Operand, is: boolean): Condition | undefined => {
  const operation = is ? "equals" : "notEquals"
  const isText = (each: Operand) => each.isLiteral ? typeof each.value === "string" : each.isMixed === true
  if (isPlain(one.value) || isPlain(other.value) || isText(one) && isText(other)) {
    return native("string", operation, one.raw, other.raw)
  }
  if (one.kind === "boolean" && typeof other.value === "boolean" && !one.isLiteral) {
    return native("boolean", operation, one.raw, other.value)
  }
  if (one.isLiteral || other.isLiteral) {
    return one.code === undefined || other.code === undefined || one.isDated && other.kind === undefined
      ? undefined
      : whether(`${one.code} === ${other.code}`, is)
  }
  return one.guarded === undefined || other.guarded === undefined || one.isDated || other.isDated
    ? undefined
    : whether(`${one.guarded} === ${other.guarded}`, is)
}

/** Text that the old operations made of a value. */
const text = (each: Operand): unknown | undefined => {
  if (each.isLiteral) return String(each.value || "")
  return each.kind === "string"
    ? each.raw
    : each.code === undefined
    ? undefined
    : `={{ (${each.code} || "").toString() }}`
}

/** Text that JavaScript makes of an argument. */
const argument = (each: Operand): unknown | undefined =>
  each.isLiteral
    ? String(each.value)
    : each.isMixed === true
    ? each.raw
    : each.isDated || each.guarded === undefined
    ? undefined
    : `={{ String(${each.guarded}) }}`

const textual = (operation: string, one: Operand, other: Operand): Condition | undefined => {
  const isConverted = /contains|regex/i.test(operation)
  const [before, after] = isConverted ? [text(one), text(other)] : [one.raw, argument(other)]
  return before === undefined || after === undefined ? undefined : native("string", operation, before, after)
}

const signs: { readonly [operation: string]: readonly [native: string, sign: string] } = {
  larger: ["gt", ">"],
  largerEqual: ["gte", ">="],
  smaller: ["lt", "<"],
  smallerEqual: ["lte", "<="]
}

const numeric = (operation: string, one: Operand, other: Operand): Condition | undefined => {
  const [name = "", sign] = signs[operation] ?? []
  const value = (each: Operand) =>
    each.isLiteral
      ? each.value || 0
      : each.code === undefined
      ? undefined
      : each.kind === "number"
      ? `={{ ${each.guarded} || 0 }}`
      : `={{ Number(${each.guarded} || 0) }}`
  const isNumber = (each: Operand) => each.kind === "number" || each.isLiteral && !each.value
  if (isNumber(one) || isNumber(other)) {
    const [before, after] = [value(one), value(other)]
    if (
      before !== undefined && after !== undefined && !(typeof before === "string" && one.isLiteral) &&
      !(typeof after === "string" && other.isLiteral)
    ) {
      return native("number", name, before, after)
    }
  }
  const operands = [one, other].map((each) =>
    each.isLiteral ? literal(each.value || 0) : each.guarded && `(${each.guarded} || 0)`
  )
  const [before, after] = operands
  return before === undefined || after === undefined || one.isDated || other.isDated
    ? undefined
    : whether(`${before} ${sign} ${after}`)
}

const emptiness = (one: Operand, is: boolean): Condition | undefined => {
  const operation = is ? "empty" : "notEmpty"
  if (one.isLiteral || one.kind === "string" || one.kind === "boolean") {
    return typeof one.value === "object" ? undefined : native("string", operation, one.raw)
  }
  if (one.kind === "number") return native("number", operation, one.raw)
  return one.code === undefined || one.isDated
    ? undefined
    : native("string", operation, `={{ $ifEmpty(${one.code}, "") }}`)
}

const temporal = (operation: string, one: Operand, other: Operand): Condition | undefined => {
  const time = (each: Operand) =>
    each.code === undefined
      ? undefined
      : typeof each.value === "number"
      ? each.value
      : each.kind === "string" || each.isDated
      ? `={{ new Date(${each.code}).getTime() }}`
      : `={{ typeof ${each.code} === "number" ? ${each.code} : new Date(${each.code}).getTime() }}`
  const [before, after] = [time(one), time(other)]
  return before === undefined || after === undefined
    ? undefined
    : native("number", operation === "after" ? "gt" : "lt", before, after)
}

const textOperations = new Set([
  "contains",
  "notContains",
  "startsWith",
  "notStartsWith",
  "endsWith",
  "notEndsWith",
  "regex",
  "notRegex"
])

/** Condition of a filter for one of the old; `undefined` where it is not known to mean the same. */
export const condition = (old: Obj, fallback: string, parse: Parse): Condition | undefined => {
  const operation = (str(old["operation"]) ?? fallback).replace(/^=/, "")
  const [one, other] = [operand(old["value1"], parse), operand(old["value2"], parse)]
  if (operation === "equal" || operation === "notEqual") return equality(one, other, operation === "equal")
  if (operation === "isEmpty" || operation === "isNotEmpty") return emptiness(one, operation === "isEmpty")
  if (operation === "after" || operation === "before") return temporal(operation, one, other)
  if (textOperations.has(operation)) return textual(operation, one, other)
  return Object.hasOwn(signs, operation) ? numeric(operation, one, other) : undefined
}

/** Options of a filter that converts types, as the newest versions write them. */
export const filter = (conditions: ReadonlyArray<Condition>, combinator: string): Obj => ({
  options: { caseSensitive: true, leftValue: "", typeValidation: "loose", version: 3 },
  conditions,
  combinator
})

const others = /\$node|\$\(|\$items?\b|\$input/

export const undecided = (old: Obj): Outcome =>
  left(
    `It is not known how the new version compares ${JSON.stringify(old["value1"])} and ${
      JSON.stringify(old["value2"])
    } by ${JSON.stringify(old["operation"])}.`,
    "Write this condition for the new version by hand."
  )

/** Parameters of If 2 and Filter 2 from those of If 1 and Filter 1. */
export const ofTypes = (conditions: unknown, combinator: string, parse: Parse): Obj | Outcome => {
  const types = ["boolean", "dateTime", "number", "string"]
    .map((type) => ({ type, list: arr(obj(conditions)?.[type]).map((each) => obj(each) ?? {}) }))
    .filter(({ list }) => list.length > 0)
  const late = types.slice(1).flatMap(({ list }) => list).find((each) => others.test(JSON.stringify(each)))
  if (late !== undefined && types.length > 1) {
    return left(
      "It reads other nodes only where the conditions of another type have not decided; the new version always does.",
      "Check that those nodes have always run, then write the conditions for the new version by hand."
    )
  }
  const all: Array<Condition> = []
  for (const { list, type } of types) {
    for (const each of list) {
      const made = condition(each, type === "number" ? "smaller" : type === "dateTime" ? "after" : "equal", parse)
      if (made === undefined) return undecided(each)
      all.push(made)
    }
  }
  return { conditions: filter(all, combinator), looseTypeValidation: true, options: {} }
}
