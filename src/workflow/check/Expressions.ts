/** Syntax errors and references to nodes in n8n's expressions, `=text {{ code }} text`, and in Code nodes. */
import type * as Acorn from "acorn"
import type { Parse } from "../../base/JavaScript.ts"
import { type Obj, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Syntax from "../../base/Syntax.ts"
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

type Node = Syntax.Node

/** Text of a name, which is not a number. */
const nameIn = (node: Node | undefined): string | undefined =>
  node?.type === "Literal" && typeof node.value === "number" ? undefined : Syntax.textOf(node)

/** Whether the node is one of n8n's variables, for the current item or for `$item(index)`. */
const isVariable = (node: Node, ...names: ReadonlyArray<string>): boolean =>
  Syntax.isNamed(node, ...names) ||
  node.type === "MemberExpression" && !node.computed && Syntax.isNamed(node.property, ...names) &&
    node.object.type === "CallExpression" && Syntax.isNamed(node.object.callee, "$item")

type Parents = ReadonlyMap<Node, Node | undefined>

const above = (node: Node, parents: Parents): Node | undefined => {
  const parent = parents.get(node)
  return parent?.type === "ChainExpression" ? above(parent, parents) : parent
}

const memberOf = (node: Node, parents: Parents) => {
  const member = above(node, parents)
  if (member?.type !== "MemberExpression" || member.property === node) return undefined
  return { member, name: member.computed ? nameIn(member.property) : Syntax.keyOf(member) }
}

const isCalled = (node: Node, parents: Parents) => {
  const call = above(node, parents)
  return call?.type === "CallExpression" && call.callee === node ? call : undefined
}

const restOf = (
  member: Node,
  parents: Parents,
  name?: string
): { readonly member: Node; readonly name: string | undefined } | undefined => {
  if (above(member, parents)?.type === "ExpressionStatement") return { member, name }
  const next = memberOf(member, parents)
  return next?.name === undefined ? undefined : restOf(next.member, parents, next.name)
}

/** Part of the code that names another node, by `$`, `$items` or `$node`. */
interface Naming {
  readonly source: Acorn.CallExpression | Acorn.MemberExpression
  readonly name: Node | undefined
}

const namingIn = (node: Node): Naming | undefined =>
  node.type === "CallExpression" && isVariable(node.callee, "$", "$items")
    ? { source: node, name: node.arguments[0] }
    : node.type === "MemberExpression" && isVariable(node.object, "$node")
    ? { source: node, name: node.property }
    : undefined

const readOf = (source: Naming["source"], parents: Parents): Read => {
  const ofNode = source.type === "MemberExpression"
  const accessor = ofNode ? { member: source, name: "node" } : memberOf(source, parents)
  const call = ofNode || accessor === undefined ? undefined : isCalled(accessor.member, parents)
  const isKnown = accessor !== undefined && Syntax.isNamed(ofNode ? source.object : source.callee, "$", "$node") &&
    (call === undefined || call.arguments.length === 0)
  const item = call ?? accessor?.member
  const json = item && memberOf(item, parents)
  const key = json?.name === "json" ? memberOf(json.member, parents) : undefined
  const isKey = key?.name !== undefined && isCalled(key.member, parents) === undefined
  const path = isKey ? restOf(key.member, parents) : undefined
  return {
    via: isKnown ? accessor.name : undefined,
    isJson: json?.name === "json",
    key: isKey ? path?.name ?? key.name : undefined,
    start: source.start,
    end: (path?.member ?? (isKey ? key.member : json?.member ?? item ?? source)).end
  }
}

const referenceOf = ({ name: node, source }: Naming, parents: Parents): Reference | undefined => {
  const isProperty = source.type === "MemberExpression" && !source.computed
  const name = isProperty ? Syntax.keyOf(source) : nameIn(node)
  return node === undefined || name === undefined ? undefined : {
    name,
    start: isProperty ? source.object.end : node.start,
    end: node.end,
    as: isProperty ? "property" : "literal",
    isGuess: false,
    read: readOf(source, parents)
  }
}

/** Whether the code defines its own `$`, as scripts with a DOM library do. */
const hasOwnDollar = (nodes: Iterable<Node>) =>
  [...nodes].some((node) =>
    Syntax.isFunction(node)
      ? [node.id, ...node.params].some((each) => Syntax.namesIn(each).includes("$"))
      : (node.type === "VariableDeclarator" || Syntax.isClass(node)) && Syntax.namesIn(node.id).includes("$")
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
  if (parsed?.program !== undefined) {
    const parents: Parents = new Map(names ? Syntax.nodes(parsed.program) : [])
    const namings = [...parents.keys()].flatMap((node) => namingIn(node) ?? [])
    const references = namings.flatMap((naming) => referenceOf(naming, parents) ?? [])
    const isOwn = as === "body" && references.length > 0 && hasOwnDollar(parents.keys())
    return {
      references: isOwn ? references.filter(({ start }) => !/\$\s*\(\s*$/.test(code.slice(0, start))) : references,
      isOpen: !isOwn && namings.length > references.length,
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
