/**
 * Syntax errors and references to nodes in n8n's expressions, `=text {{ code }} text`, and in the JavaScript of Code
 * nodes.
 */
import type { Parse } from "../../base/JavaScript.ts"
import { arr, deeper, mapValues, type Obj, obj, str } from "../../base/Json.ts"
import { parts } from "../../n8n/model/Template.ts"

export interface Reference {
  readonly name: string
  /** Range to replace when renaming: the literal with its quotes, or the `.Name` of `$node.Name`. */
  readonly start: number
  readonly end: number
  readonly as: "literal" | "property"
  /** Whether it was matched by pattern in code that does not parse, so that it may be in a comment or a string. */
  readonly isGuess: boolean
}

/** References and mistakes in a text; offsets are those of the text. */
export interface Findings {
  readonly references: ReadonlyArray<Reference>
  readonly mistakes: ReadonlyArray<{ readonly code: string; readonly message: string; readonly at: number }>
}

const nodesIn = function*(program: Obj): Generator<Obj> {
  const stack: Array<unknown> = [program]
  while (stack.length > 0) {
    const value = stack.pop()
    if (typeof value !== "object" || value === null) continue
    const node = obj(value)
    if (node !== undefined) yield node
    const inner: ReadonlyArray<unknown> = Object.values(value)
    for (let index = inner.length - 1; index >= 0; index--) stack.push(inner[index])
  }
}

const literal = (value: unknown): string | undefined => {
  const node = obj(value)
  if (node?.["type"] === "Literal") return str(node["value"])
  const [quasi, ...more] = arr(node?.["quasis"])
  return node?.["type"] === "TemplateLiteral" && more.length === 0
    ? str(obj(obj(quasi)?.["value"])?.["cooked"])
    : undefined
}

const isNamed = (value: unknown, ...names: ReadonlyArray<string>) => {
  const node = obj(value)
  return node?.["type"] === "Identifier" && names.includes(String(node["name"]))
}

/** Whether the value is one of n8n's variables, for the current item or for `$item(index)`. */
const isVariable = (value: unknown, ...names: ReadonlyArray<string>) => {
  const node = obj(value)
  return isNamed(node, ...names) ||
    node?.["type"] === "MemberExpression" && node["computed"] !== true && isNamed(node["property"], ...names) &&
      isNamed(obj(node["object"])?.["callee"], "$item")
}

const offset = (value: unknown, key: "start" | "end") => Number(obj(value)?.[key])

const namedIn = (node: Obj): Reference | undefined => {
  const [first] = arr(node["arguments"])
  const argument = node["type"] === "CallExpression" && isVariable(node["callee"], "$", "$items")
    ? first
    : node["type"] === "MemberExpression" && isVariable(node["object"], "$node")
    ? node["property"]
    : undefined
  const end = offset(argument, "end")
  if (node["type"] === "MemberExpression" && argument !== undefined && node["computed"] !== true) {
    const name = str(obj(argument)?.["name"])
    const start = offset(node["object"], "end")
    return name === undefined ? undefined : { name, start, end, as: "property", isGuess: false }
  }
  const name = literal(argument)
  return name === undefined
    ? undefined
    : { name, start: offset(argument, "start"), end, as: "literal", isGuess: false }
}

/** Whether the code defines its own `$`, as scripts with a DOM library do. */
const hasOwnDollar = (program: Obj) =>
  [...nodesIn(program)].some((node) =>
    isNamed(node["id"], "$") || arr(node["params"]).some((param) => isNamed(param, "$"))
  )

const mayName = (text: string) => /\$(?:\(|node\b|items\b|\s)/.test(text)

/** A quoted name after `$(`, `$items(` or `$node[`, or a bare one after `$node.` */
const pattern =
  /(\$(?:(?:items)?\(|node\s*\[)\s*)(["'`])((?:\\.|(?!\2\s*[)\],])[^\\\n])*)\2|(\$node)\??\.([\p{L}_$][\p{L}\p{N}_$]*)/gu

/** References in code that does not parse, matched by pattern as n8n does. */
const guesses = (text: string): ReadonlyArray<Reference> =>
  [...text.matchAll(pattern)].map(({ 0: { length }, 1: before, 3: quoted, 4: variable, 5: property, index }) => ({
    name: property ?? (quoted ?? "").replaceAll(/\\(.)/g, "$1"),
    start: index + (before ?? variable ?? "").length,
    end: index + length,
    as: property === undefined ? "literal" : "property",
    isGuess: true
  }))

const inCode = (code: string, as: "expression" | "body", parse: Parse): Findings => {
  const parsed = parse(code, as)
  const names = mayName(code)
  if (parsed !== undefined && "program" in parsed) {
    const references = names ? [...nodesIn(parsed.program)].flatMap((node) => namedIn(node) ?? []) : []
    return {
      references: as === "body" && references.length > 0 && hasOwnDollar(parsed.program)
        ? references.filter(({ start }) => !/\$\s*\(\s*$/.test(code.slice(0, start)))
        : references,
      mistakes: []
    }
  }
  return {
    references: names ? guesses(code) : [],
    mistakes: parsed === undefined ? [] : [{ code, message: parsed.mistake, at: parsed.at }]
  }
}

/** Findings in an expression, including references outside of brackets, as after a forgotten one. */
export const inExpression = (expression: string, parse: Parse): Findings => {
  const codes = parts(expression)
  const outside = mayName(expression)
    ? guesses(expression).filter(({ start }) =>
      codes.every(({ place }) => start < place(0) || start > place(Number.POSITIVE_INFINITY))
    )
    : []
  const findings = codes.map(({ code, place }): Findings => {
    const { mistakes, references } = inCode(code, "expression", parse)
    return {
      references: references.map((each) => ({ ...each, start: place(each.start), end: place(each.end) })),
      mistakes: mistakes.map((each) => ({ ...each, at: place(each.at) }))
    }
  })
  return {
    references: [...findings.flatMap(({ references }) => references), ...outside],
    mistakes: findings.flatMap(({ mistakes }) => mistakes)
  }
}

export const inScript = (script: string, parse: Parse): Findings => inCode(script, "body", parse)

/** References in a text without `=` in which the node itself evaluates `{{ … }}`. */
const inTemplate = (template: string, parse: Parse): Findings => ({
  references: inExpression(`=${template}`, parse).references.map((each) => ({
    ...each,
    start: each.start - 1,
    end: each.end - 1
  })),
  // The brackets may belong to another template language.
  mistakes: []
})

const empty: Findings = { references: [], mistakes: [] }

/** Text in a node's parameters that n8n evaluates or looks as if it should. */
export interface Text {
  /** Path in the node: `parameters.url`. */
  readonly path: string
  readonly text: string
  /**
   * `template`: the node itself evaluates code in brackets, without `=`.
   *
   * `unmarked`: code in brackets without a leading `=`, which n8n treats as literal text.
   */
  readonly kind: "expression" | "script" | "template" | "unmarked"
}

const scripts: ReadonlySet<string> = new Set(["parameters.jsCode", "parameters.functionCode"])

/** Parameters in which nodes evaluate brackets themselves. */
const templates = /(?:^|\.)(?:query|sqlQuery|html|customFilter)$/i

/** Parameters in which brackets have another meaning. */
const foreign = /(?:^|\.)(?:jsonOutput|workflowJson|\w*code)$/i

const bracketed = /\{\{\s*\$(?:json|node|items?|input|binary|\()/

const kindOf = (path: string, value: string): Text["kind"] | undefined =>
  value.startsWith("=")
    ? "expression"
    : scripts.has(path)
    ? "script"
    : !value.includes("{{") || foreign.test(path)
    ? undefined
    : templates.test(path)
    ? "template"
    : bracketed.test(value)
    ? "unmarked"
    : undefined

/** All expressions, scripts and templates in parameters, in order. */
export const texts = (parameters: unknown): ReadonlyArray<Text> => {
  const all: Array<Text> = []
  const stack: Array<readonly [path: string, value: unknown]> = [["parameters", parameters]]
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const [path, value] = top
    if (typeof value === "string") {
      const kind = kindOf(path, value)
      if (kind !== undefined) all.push({ path, text: value, kind })
    } else if (typeof value === "object" && value !== null) {
      const isList = Array.isArray(value)
      const inner = Object.entries(value)
      for (let index = inner.length - 1; index >= 0; index--) {
        const [key, value] = inner[index] ?? ["", undefined]
        stack.push([deeper(path, isList ? Number(key) : key), value])
      }
    }
  }
  return all
}

/** Changes every expression, script and template in the value at a path. */
export const mapTexts = (value: unknown, change: (text: Text) => string, path = "parameters"): unknown => {
  if (typeof value === "string") {
    const kind = kindOf(path, value)
    return kind === undefined ? value : change({ path, text: value, kind })
  }
  if (Array.isArray(value)) return value.map((inner, index) => mapTexts(inner, change, deeper(path, index)))
  const object = obj(value)
  return object === undefined ? value : mapValues(object, (inner, key) => mapTexts(inner, change, deeper(path, key)))
}

export const inText = ({ kind, text }: Text, parse: Parse): Findings =>
  kind === "expression"
    ? inExpression(text, parse)
    : kind === "script"
    ? inScript(text, parse)
    : kind === "template"
    ? inTemplate(text, parse)
    : empty
