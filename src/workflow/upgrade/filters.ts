/** Conditions of the first If, Filter and Switch, which compare as JavaScript does, as conditions of a filter. */
import type * as Acorn from "acorn"
import type { Parse } from "../../base/JavaScript.ts"
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import * as Syntax from "../../base/Syntax.ts"
import { parts } from "../../n8n/model/Template.ts"
import { left, type Outcome } from "./mapping.ts"

type Kind = "string" | "number" | "boolean" | undefined

export interface Operand {
  readonly raw: unknown
  readonly isLiteral: boolean
  readonly value?: unknown
  /** JavaScript that computes the value, in parentheses if needed; absent if it is not known. */
  readonly code?: string
  /** JavaScript that is `undefined` when it fails, like n8n's expressions, so that another one can contain it. */
  readonly guarded?: string
  readonly isMixed?: boolean
  /** Whether the value does not depend on data. */
  readonly isSure?: boolean
  readonly kind: Kind
  /** Whether the value can be a date, which n8n converts to text. */
  readonly isDated: boolean
}

const strings = new Set(
  ("toString toLowerCase toUpperCase trim trimStart trimEnd slice substring replace replaceAll join padStart padEnd " +
    "toISOString toFixed charAt").split(" ")
)
const numbers = new Set(["getTime", "indexOf", "valueOf", "toMillis", "charCodeAt"])
const booleans = new Set(["includes", "startsWith", "endsWith", "test", "some", "every", "hasOwnProperty"])
const comparing = new Set(["==", "===", "!=", "!==", "<", ">", "<=", ">=", "in", "instanceof"])
const unaries: { readonly [operator: string]: Kind } = {
  "!": "boolean",
  typeof: "string",
  "-": "number",
  "+": "number"
}
const named: { readonly [name: string]: Kind } = {
  String: "string",
  Number: "number",
  parseInt: "number",
  parseFloat: "number",
  Boolean: "boolean",
  isNaN: "boolean"
}

const same = (left: Kind, right: Kind): Kind => left === right ? left : undefined

const ofCall = ({ callee }: Acorn.CallExpression): Kind => {
  if (callee.type === "Identifier") return Object.hasOwn(named, callee.name) ? named[callee.name] : undefined
  if (callee.type !== "MemberExpression") return undefined
  if (Syntax.isNamed(callee.object, "Math", "Date")) return "number"
  const method = Syntax.keyOf(callee) ?? ""
  if (method === "slice" || method === "valueOf") return undefined
  return strings.has(method)
    ? "string"
    : numbers.has(method)
    ? "number"
    : booleans.has(method)
    ? "boolean"
    : undefined
}

/** Type of the value that the code computes unless it fails. */
const kindOf = (node: Syntax.Node): Kind => {
  switch (node.type) {
    case "Literal": {
      const type = typeof node.value
      return type === "string" || type === "number" || type === "boolean" ? type : undefined
    }
    case "TemplateLiteral":
      return "string"
    case "UnaryExpression":
      return unaries[node.operator]
    case "BinaryExpression": {
      const [left, right] = [kindOf(node.left), kindOf(node.right)]
      if (node.operator !== "+") return comparing.has(node.operator) ? "boolean" : "number"
      return left === "string" || right === "string" ? "string" : left === "number" ? same(left, right) : undefined
    }
    case "LogicalExpression":
      return same(kindOf(node.left), kindOf(node.right))
    case "ConditionalExpression":
      return same(kindOf(node.consequent), kindOf(node.alternate))
    case "Identifier":
      return Syntax.isNamed(node, "$runIndex", "$itemIndex") ? "number" : undefined
    case "CallExpression":
      return ofCall(node)
    default:
      return undefined
  }
}

const simple = new Set([
  "Identifier",
  "MemberExpression",
  "CallExpression",
  "Literal",
  "TemplateLiteral",
  "ChainExpression"
])

const isNodes = (node: Syntax.Node): boolean =>
  Syntax.isNamed(node, "$node", "$input") || node.type === "CallExpression" && Syntax.isNamed(node.callee, "$")

const isEntry = (node: Syntax.Node): boolean => node.type === "MemberExpression" && isNodes(node.object)

/** Whether the value is an object whenever the code runs: a variable, or data of one of n8n's items. */
const isSolid = (node: Syntax.Node): boolean =>
  node.type === "Identifier" || isNodes(node) || isEntry(node) ||
  node.type === "MemberExpression" && /^(?:json|context|parameter)$/.test(Syntax.keyOf(node) ?? "") &&
    isEntry(node.object)

const isBase = (node: Syntax.Node): boolean =>
  node.type === "Literal" || isSolid(node) ||
  node.type === "CallExpression" &&
    (node.callee.type === "Identifier" && node.callee.name.startsWith("$") || isEntry(node.callee))

/** Path that is `undefined` when n8n's expression fails, and therefore `undefined` too; no result for other code. */
const optional = (node: Syntax.Node, code: string): string | undefined => {
  const text = ({ end, start }: Syntax.Node) => code.slice(start, end)
  if (isBase(node)) return text(node)
  if (node.type === "ChainExpression") return optional(node.expression, code)
  if (node.type !== "MemberExpression" || node.computed && node.property.type !== "Literal") return undefined
  const { computed, object, property } = node
  const before = optional(object, code)
  const dot = isSolid(object) ? computed ? "" : "." : "?."
  return before && before + dot + (computed ? `[${text(property)}]` : text(property))
}

const attempt = (code: string) => `(() => { try { return ${code} } catch (error) {} })()`

const variable = /\$(?!now\b|today\b|runIndex\b|itemIndex\b)/
const dated = /\$now|\$today|Date|toMoment|(?:plus|minus|startOf|endOf)\s*\(/

export const literal = (value: unknown): string => JSON.stringify(value ?? null).replaceAll("}}", "}\\u007d")

const ofLiteral = (raw: unknown, value: unknown): Operand => {
  const type = typeof value
  const code = value === undefined ? "undefined" : literal(value)
  return {
    raw,
    isLiteral: true,
    value,
    code,
    guarded: code,
    kind: type === "string" || type === "number" || type === "boolean" ? type : undefined,
    isDated: false
  }
}

/** Template literal of text with code in it; for n8n a missing value, `NaN` and a failure are an empty text. */
const templateOf = (text: string, parse: Parse): string | undefined => {
  let [made, from] = ["", 1]
  const plain = (part: string) => part.replace(/[`\\]|\$(?=\{)/g, String.raw`\$&`)
  for (const { end, start } of parts(text)) {
    const { guarded, kind } = operand(`=${text.slice(start, end)}`, parse)
    if (end === undefined || guarded === undefined) return undefined
    made += `${plain(text.slice(from, start))}\${${
      kind === "number" ? `[${guarded}].find((each) => each || each === 0)` : guarded
    } ?? ""}`
    from = end
  }
  const template = `\`${made}${plain(text.slice(from))}\``
  return template.includes("}}") || text.includes("\\{{") ? undefined : template
}

export const operand = (raw: unknown, parse: Parse): Operand => {
  const text = str(raw)
  if (text === undefined || !text.startsWith("=")) return ofLiteral(raw, raw)
  const [only, ...others] = parts(text)
  if (only === undefined) return ofLiteral(text.slice(1), text.slice(1))
  if (others.length > 0 || only.start !== 1 || only.end !== text.length) {
    const template = templateOf(text, parse)
    const code = template === undefined ? {} : { code: template, guarded: template }
    return { raw, isLiteral: false, isMixed: true, kind: "string", isDated: false, ...code }
  }
  const code = only.code.trim().replace(/[\s;]+$/, "")
  const expression = Syntax.expressionOf(parse(code, "expression")?.program)
  const isDated = dated.test(code)
  if (
    expression === undefined || code.includes("}}") || code.includes("${") ||
    /\/\/|\/\*/.test(code) && !/["'`]/.test(code)
  ) {
    return { raw, isLiteral: false, kind: undefined, isDated }
  }
  return {
    raw,
    isLiteral: false,
    code: simple.has(expression.type) ? code : `(${code})`,
    guarded: optional(expression, code) ??
      (kindOf(expression) !== undefined && !variable.test(code) ? `(${code})` : attempt(code)),
    kind: kindOf(expression),
    isSure: kindOf(expression) !== undefined && !variable.test(code),
    isDated
  }
}

export type Condition = Obj

const unary = new Set(["true", "false", "empty", "notEmpty"])

const native = (type: string, operation: string, leftValue: unknown, rightValue: unknown = ""): Condition => ({
  leftValue,
  rightValue,
  operator: { type, operation, ...(unary.has(operation) ? { singleValue: true } : {}) }
})

/** Condition on a comparison in JavaScript; false if the comparison fails. */
const whether = (code: string, is = true): Condition => native("boolean", String(is), `={{ ${code} }}`)

/** Whether no other value is converted to this text. */
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

const text = (each: Operand): unknown | undefined => {
  if (each.isLiteral) return String(each.value || "")
  return each.kind === "string"
    ? each.raw
    : each.code === undefined
    ? undefined
    : `={{ (${each.code} || "").toString() }}`
}

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

/** Filter condition equivalent to an old condition; `undefined` if equivalence is not certain. */
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
    "Write the condition with values that can be read, or with another operation, then upgrade again."
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
      "Let another If before this one check them, then upgrade again."
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
