/** Operands of old conditions: literals, text with code, and code whose type and failures are known from its syntax. */
import type { Parse } from "../../base/JavaScript.ts"
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import { parts } from "../../n8n/model/Template.ts"

type Kind = "string" | "number" | "boolean" | undefined

export interface Operand {
  /** Parameter as it is. */
  readonly raw: unknown
  readonly isLiteral: boolean
  /** Value of a literal. */
  readonly value?: unknown
  /** JavaScript that gives the value, in parentheses where it needs some; absent where that is not known. */
  readonly code?: string
  /** JavaScript that is `undefined` where it fails, as n8n's expressions are, so that it can be part of another one. */
  readonly guarded?: string
  /** Whether it is text with code in it. */
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
const named: { readonly [name: string]: Kind } = {
  String: "string",
  Number: "number",
  parseInt: "number",
  parseFloat: "number",
  Boolean: "boolean",
  isNaN: "boolean"
}

const inner = (node: Obj | undefined, key: string): Obj | undefined => obj(node?.[key])
const propertyOf = (member: Obj | undefined): string | undefined =>
  member?.["computed"] === true ? str(inner(member, "property")?.["value"]) : str(inner(member, "property")?.["name"])
const same = (left: Kind, right: Kind): Kind => left === right ? left : undefined

const ofCall = (node: Obj): Kind => {
  const callee = inner(node, "callee")
  const name = str(callee?.["name"])
  if (name !== undefined) return Object.hasOwn(named, name) ? named[name] : undefined
  const method = propertyOf(callee) ?? ""
  const owner = str(inner(callee, "object")?.["name"])
  if (owner === "Math" || owner === "Date") return "number"
  if (method === "slice" || method === "valueOf") return undefined
  return strings.has(method)
    ? "string"
    : numbers.has(method)
    ? "number"
    : booleans.has(method)
    ? "boolean"
    : undefined
}

/** Type of a value that the code gives unless it fails. */
const kindOf = (node: Obj | undefined): Kind => {
  switch (node?.["type"]) {
    case "Literal": {
      const type = typeof node["value"]
      return type === "string" || type === "number" || type === "boolean" ? type : undefined
    }
    case "TemplateLiteral":
      return "string"
    case "UnaryExpression":
      return ({ "!": "boolean", "typeof": "string", "-": "number", "+": "number" } as const)[String(node["operator"])]
    case "BinaryExpression": {
      const operator = String(node["operator"])
      const [left, right] = [kindOf(inner(node, "left")), kindOf(inner(node, "right"))]
      if (operator !== "+") return comparing.has(operator) ? "boolean" : "number"
      return left === "string" || right === "string" ? "string" : left === "number" ? same(left, right) : undefined
    }
    case "LogicalExpression":
      return same(kindOf(inner(node, "left")), kindOf(inner(node, "right")))
    case "ConditionalExpression":
      return same(kindOf(inner(node, "consequent")), kindOf(inner(node, "alternate")))
    case "Identifier":
      return node["name"] === "$runIndex" || node["name"] === "$itemIndex" ? "number" : undefined
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

/** `$node`, `$input` or `$('Name')`. */
const isNodes = (node: Obj | undefined): boolean =>
  node?.["name"] === "$node" || node?.["name"] === "$input" ||
  node?.["type"] === "CallExpression" && inner(node, "callee")?.["name"] === "$"

const isMember = (node: Obj | undefined) => node?.["type"] === "MemberExpression"
const isEntry = (node: Obj | undefined): boolean => isMember(node) && isNodes(inner(node, "object"))

/** Whether the value is an object whenever the code runs: a variable, or data of one of n8n's items. */
const isSolid = (node: Obj | undefined): boolean =>
  node?.["type"] === "Identifier" || isNodes(node) || isEntry(node) ||
  isMember(node) && ["json", "context", "parameter"].includes(propertyOf(node) ?? "") && isEntry(inner(node, "object"))

const isBase = (node: Obj): boolean => {
  const callee = inner(node, "callee")
  return node["type"] === "Literal" || isSolid(node) ||
    node["type"] === "CallExpression" && (String(callee?.["name"]).startsWith("$") || isEntry(callee))
}

/** Path that is `undefined` where n8n's expression fails, and so is; `undefined` for other code. */
const optional = (node: Obj | undefined, code: string): string | undefined => {
  const text = (part: Obj | undefined) => code.slice(Number(part?.["start"]), Number(part?.["end"]))
  if (node === undefined || isBase(node)) return node && text(node)
  if (node["type"] === "ChainExpression") return optional(inner(node, "expression"), code)
  const [object, property] = [inner(node, "object"), inner(node, "property")]
  const isIndex = node["computed"] === true
  if (!isMember(node) || isIndex && property?.["type"] !== "Literal") return undefined
  const before = optional(object, code)
  const dot = isSolid(object) ? isIndex ? "" : "." : "?."
  return before && before + dot + (isIndex ? `[${text(property)}]` : text(property))
}

/** Code that is `undefined` where it fails, as n8n's expressions are. */
const attempt = (code: string) => `(() => { try { return ${code} } catch (error) {} })()`

/** A variable whose value can be missing. */
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

/** Template literal of text with code in it; n8n writes nothing for what is missing, `NaN` or fails. */
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
  const parsed = parse(code, "expression")
  const isDated = dated.test(code)
  if (parsed === undefined || !("program" in parsed) || code.includes("}}") || code.includes("${")) {
    return { raw, isLiteral: false, kind: undefined, isDated }
  }
  const [statement, ...more] = arr(parsed.program["body"])
  const expression = inner(obj(statement), "expression")
  if (more.length > 0 || expression === undefined || /\/\/|\/\*/.test(code) && !/["'`]/.test(code)) {
    return { raw, isLiteral: false, kind: undefined, isDated }
  }
  return {
    raw,
    isLiteral: false,
    code: simple.has(String(expression["type"])) ? code : `(${code})`,
    guarded: optional(expression, code) ??
      (kindOf(expression) !== undefined && !variable.test(code) ? `(${code})` : attempt(code)),
    kind: kindOf(expression),
    isSure: kindOf(expression) !== undefined && !variable.test(code),
    isDated
  }
}
