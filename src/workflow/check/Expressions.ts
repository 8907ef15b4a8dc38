/** Syntax errors and references to nodes in n8n's expressions, `=text {{ code }} text`, and in Code nodes. */
import type { Parse } from "../../base/JavaScript.ts"
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { parts } from "../../n8n/model/Template.ts"

export interface Reference {
  readonly name: string
  readonly start: number
  readonly end: number
  readonly as: "literal" | "property"
  /** Whether it was matched by pattern in code that does not parse, so that it may be in a comment or a string. */
  readonly isGuess: boolean
  readonly read?: Read
}

export interface Read {
  /** `item`, `first`, `last`, `all` or another property of `$('X')`, without arguments; `node` for `$node["X"]`. */
  readonly via: string | undefined
  readonly isJson: boolean
  /** First property below `json`, or the last if the whole code is a path: in other code a later one may throw. */
  readonly key: string | undefined
  readonly start: number
  readonly end: number
}

export interface Findings {
  readonly references: ReadonlyArray<Reference>
  /** Whether the code may name other nodes too: by an expression, or in code that does not parse. */
  readonly isOpen: boolean
  readonly mistakes: ReadonlyArray<{ readonly code: string; readonly message: string; readonly at: number }>
}

const nodesIn = function*(program: Obj): Generator<readonly [node: Obj, parent: Obj | undefined]> {
  const stack: Array<readonly [value: unknown, parent: Obj | undefined]> = [[program, undefined]]
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const [value, parent] = top
    if (typeof value !== "object" || value === null) continue
    const node = obj(value)
    if (node !== undefined) yield [node, parent]
    const inner: ReadonlyArray<unknown> = Object.values(value)
    for (let index = inner.length - 1; index >= 0; index--) stack.push([inner[index], node ?? parent])
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

type Parents = ReadonlyMap<Obj, Obj | undefined>

const above = (node: Obj, parents: Parents): Obj | undefined => {
  const parent = parents.get(node)
  return parent?.["type"] === "ChainExpression" ? above(parent, parents) : parent
}

const memberOf = (node: Obj | undefined, parents: Parents) => {
  const member = node && above(node, parents)
  if (member?.["type"] !== "MemberExpression" || member["property"] === node) return undefined
  const { computed, property } = member
  return { member, name: computed === true ? literal(property) : str(obj(property)?.["name"]) }
}

const isCalled = (node: Obj, parents: Parents) => {
  const call = above(node, parents)
  return call?.["type"] === "CallExpression" && call["callee"] === node ? call : undefined
}

const restOf = (
  member: Obj,
  parents: Parents,
  name?: string
): { readonly member: Obj; readonly name: string | undefined } | undefined => {
  if (above(member, parents)?.["type"] === "ExpressionStatement") return { member, name }
  const next = memberOf(member, parents)
  return next?.name === undefined ? undefined : restOf(next.member, parents, next.name)
}

const readOf = (source: Obj, parents: Parents): Read => {
  const ofNode = source["type"] === "MemberExpression"
  const accessor = ofNode ? { member: source, name: "node" } : memberOf(source, parents)
  const call = ofNode || accessor === undefined ? undefined : isCalled(accessor.member, parents)
  const isKnown = accessor !== undefined && isNamed(ofNode ? source["object"] : source["callee"], "$", "$node") &&
    (call === undefined || arr(call["arguments"]).length === 0)
  const json = memberOf(call ?? accessor?.member, parents)
  const key = json?.name === "json" ? memberOf(json.member, parents) : undefined
  const isKey = key?.name !== undefined && isCalled(key.member, parents) === undefined
  let last = isKey ? key.member : json?.member ?? call ?? accessor?.member ?? source
  let name = isKey ? key.name : undefined
  const path = isKey ? restOf(key.member, parents) : undefined
  if (path !== undefined) {
    last = path.member
    name = path.name ?? name
  }
  return {
    via: isKnown ? accessor.name : undefined,
    isJson: json?.name === "json",
    key: name,
    start: offset(source, "start"),
    end: offset(last, "end")
  }
}

const namedIn = (node: Obj, parents: Parents): Reference | undefined => {
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
    return name === undefined
      ? undefined
      : { name, start, end, as: "property", isGuess: false, read: readOf(node, parents) }
  }
  const name = literal(argument)
  return name === undefined
    ? undefined
    : { name, start: offset(argument, "start"), end, as: "literal", isGuess: false, read: readOf(node, parents) }
}

/** Whether the code defines its own `$`, as scripts with a DOM library do. */
const hasOwnDollar = (program: Obj) =>
  [...nodesIn(program)].some(([node]) =>
    isNamed(node["id"], "$") || arr(node["params"]).some((param) => isNamed(param, "$"))
  )

/** Whether the node of a reference is known only when the code runs. */
const isOpen = (node: Obj) =>
  node["type"] === "CallExpression" && isVariable(node["callee"], "$", "$items")
    ? literal(arr(node["arguments"])[0]) === undefined
    : node["type"] === "MemberExpression" && node["computed"] === true && isVariable(node["object"], "$node") &&
      literal(node["property"]) === undefined

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
    const parents: Parents = new Map(names ? nodesIn(parsed.program) : [])
    const references = [...parents.keys()].flatMap((node) => namedIn(node, parents) ?? [])
    const isOwn = as === "body" && references.length > 0 && hasOwnDollar(parsed.program)
    return {
      references: isOwn ? references.filter(({ start }) => !/\$\s*\(\s*$/.test(code.slice(0, start))) : references,
      isOpen: !isOwn && [...parents.keys()].some(isOpen),
      mistakes: []
    }
  }
  return {
    references: names ? guesses(code) : [],
    isOpen: names,
    mistakes: parsed === undefined ? [] : [{ code, message: parsed.mistake, at: parsed.at }]
  }
}

const placed = (reference: Reference, place: (at: number) => number): Reference => {
  const { end, read, start } = reference
  return {
    ...reference,
    start: place(start),
    end: place(end),
    ...(read === undefined ? {} : { read: { ...read, start: place(read.start), end: place(read.end) } })
  }
}

/** Findings in an expression, including references outside of brackets, as after a forgotten one. */
export const inExpression = (expression: string, parse: Parse): Findings => {
  const codes = parts(expression)
  let next = 0
  // Both are in the order of the text.
  const outside = !mayName(expression) ? [] : guesses(expression).filter(({ start }) => {
    while (start > (codes[next]?.place(Number.POSITIVE_INFINITY) ?? Infinity)) next++
    return start < (codes[next]?.place(0) ?? Infinity)
  })
  const findings = codes.map(({ code, place }): Findings => {
    const { mistakes, references, ...rest } = inCode(code, "expression", parse)
    return {
      ...rest,
      references: references.map((each) => placed(each, place)),
      mistakes: mistakes.map((each) => ({ ...each, at: place(each.at) }))
    }
  })
  return {
    references: [...findings.flatMap(({ references }) => references), ...outside],
    isOpen: findings.some((each) => each.isOpen),
    mistakes: findings.flatMap(({ mistakes }) => mistakes)
  }
}

export const inScript = (script: string, parse: Parse): Findings => inCode(script, "body", parse)

/** References in a text without `=` in which the node itself evaluates `{{ … }}`. */
const inTemplate = (template: string, parse: Parse): Findings => {
  const { isOpen, references } = inExpression(`=${template}`, parse)
  // The brackets may belong to another template language.
  return { references: references.map((each) => placed(each, (at) => at - 1)), isOpen, mistakes: [] }
}

const empty: Findings = { references: [], isOpen: false, mistakes: [] }

/** Text in a node's parameters that n8n evaluates or looks as if it should. */
export interface Text {
  /** From the node: `parameters.url`. */
  readonly path: string
  readonly text: string
  /** `template`: the node itself evaluates `{{ code }}`; `unmarked`: without `=`, which n8n takes literally. */
  readonly kind: "expression" | "script" | "template" | "unmarked"
}

const scripts: ReadonlySet<unknown> = new Set(["jsCode", "functionCode"])

/** Parameters in which nodes evaluate brackets themselves. */
const templates = /^(?:query|sqlQuery|html|customFilter)$/i
const foreign = /^(?:jsonOutput|workflowJson|\w*code)$/i
const bracketed = /\{\{\s*\$(?:json|node|items?|input|binary|\()/

const kindOf = (path: JsonPath.Path, value: string): Text["kind"] | undefined => {
  const key = String(path.at(-1))
  return value.startsWith("=")
    ? "expression"
    : path.length === 2 && scripts.has(key)
    ? "script"
    : !value.includes("{{") || foreign.test(key)
    ? undefined
    : templates.test(key)
    ? "template"
    : bracketed.test(value)
    ? "unmarked"
    : undefined
}

const textAt = (path: JsonPath.Path, text: string): Text | undefined => {
  const kind = kindOf(path, text)
  return kind && { path: JsonPath.print(path), text, kind }
}

export const texts = (parameters: unknown): ReadonlyArray<Text> =>
  JsonPath.strings({ parameters }).flatMap(([path, text]) => textAt(path, text) ?? [])

export const mapTexts = (parameters: Obj, change: (text: Text) => string): Obj =>
  obj(JsonPath.walk(parameters, ["parameters"], (value, path) => {
    const text = typeof value === "string" ? textAt(path, value) : undefined
    return text === undefined ? value : change(text)
  })) ?? parameters

export const inText = ({ kind, text }: Text, parse: Parse): Findings =>
  kind === "expression"
    ? inExpression(text, parse)
    : kind === "script"
    ? inScript(text, parse)
    : kind === "template"
    ? inTemplate(text, parse)
    : empty
