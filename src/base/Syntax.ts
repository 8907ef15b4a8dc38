/** Syntax trees of JavaScript: their nodes, names and patterns. The types are acorn's, which users of the package lack. */
import type * as Acorn from "acorn"

export type Node = Acorn.AnyNode

type Part = Node | null | undefined

/** Node with a property's name. */
type Keyed =
  | Acorn.AssignmentProperty
  | Acorn.MemberExpression
  | Acorn.MethodDefinition
  | Acorn.Property
  | Acorn.PropertyDefinition

type Function =
  | Acorn.AnonymousFunctionDeclaration
  | Acorn.ArrowFunctionExpression
  | Acorn.FunctionDeclaration
  | Acorn.FunctionExpression

type Class = Acorn.AnonymousClassDeclaration | Acorn.ClassDeclaration | Acorn.ClassExpression

export const isFunction = (node: Part): node is Function =>
  node?.type === "ArrowFunctionExpression" || node?.type === "FunctionDeclaration" ||
  node?.type === "FunctionExpression"

export const isClass = (node: Part): node is Class =>
  node?.type === "ClassDeclaration" || node?.type === "ClassExpression"

/** Whether the node is one of these identifiers. */
export const isNamed = (node: Part, ...names: ReadonlyArray<string>): node is Acorn.Identifier =>
  node?.type === "Identifier" && names.includes(node.name)

/** Whether the node is the object of the member expression above it. */
export const isObjectOf = (node: Node, parent: Part): parent is Acorn.MemberExpression =>
  parent?.type === "MemberExpression" && parent.object === node

/** Whether the node is called by the node above it. */
export const isCalleeOf = (node: Node, parent: Part): parent is Acorn.CallExpression | Acorn.NewExpression =>
  (parent?.type === "CallExpression" || parent?.type === "NewExpression") && parent.callee === node

const isNode = (value: unknown): value is Node => typeof (value as Partial<Node> | null | undefined)?.type === "string"

/** Parts of a node, with the properties in which they are. */
export const children = (node: Node): ReadonlyArray<readonly [key: string, child: Node]> => {
  const parts: Array<readonly [key: string, child: Node]> = []
  const entries: ReadonlyArray<readonly [key: string, value: unknown]> = Object.entries(node)
  for (const [key, value] of entries) {
    // Most values are no parts: lists are not made for them.
    if (Array.isArray(value)) { for (const each of value) if (isNode(each)) parts.push([key, each]) }
    else if (isNode(value)) parts.push([key, value])
  }
  return parts
}

/** All nodes, each before its parts, with the node above it. */
export const nodes = function*(root: Node): Generator<readonly [node: Node, parent: Node | undefined]> {
  const stack: Array<readonly [node: Node, parent: Node | undefined]> = [[root, undefined]]
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    yield top
    const [node] = top
    for (const [, child] of children(node).toReversed()) stack.push([child, node])
  }
}

/** Whether a node is more than this number of levels below the root. */
export const isDeeper = (root: Node, levels: number): boolean => {
  let level: ReadonlyArray<Node> = [root]
  for (let depth = 0; depth <= levels && level.length > 0; depth++) {
    level = level.flatMap((node) => children(node).map(([, child]) => child))
  }
  return level.length > 0
}

/** Expression that is the whole program. */
export const expressionOf = (program: Acorn.Program | undefined): Acorn.Expression | undefined => {
  const [statement, more] = program?.body ?? []
  return statement?.type === "ExpressionStatement" && more === undefined ? statement.expression : undefined
}

/** Text of a literal text or number, or of a template without expressions. */
export const textOf = (node: Part): string | undefined => {
  if (node?.type === "Literal") return /string|number/.test(typeof node.value) ? String(node.value) : undefined
  return node?.type === "TemplateLiteral" && node.expressions.length === 0
    ? node.quasis[0]?.value.cooked ?? undefined
    : undefined
}

/** Name of a property, unless it is computed from more than a literal. */
export const keyOf = (node: Keyed): string | undefined => {
  const key = "property" in node ? node.property : node.key
  return !node.computed && "name" in key ? key.name : textOf(key)
}

/** Names and members to which a pattern gives values. */
export const targets = (pattern: Part): ReadonlyArray<Acorn.Identifier | Acorn.MemberExpression> => {
  switch (pattern?.type) {
    case "Identifier":
    case "MemberExpression":
      return [pattern]
    case "ObjectPattern":
      return pattern.properties.flatMap((each) => targets(each.type === "RestElement" ? each : each.value))
    case "ArrayPattern":
      return pattern.elements.flatMap(targets)
    case "RestElement":
      return targets(pattern.argument)
    case "AssignmentPattern":
      return targets(pattern.left)
  }
  return []
}

/** Names that a declared pattern binds. */
export const namesIn = (pattern: Part): ReadonlyArray<string> =>
  targets(pattern).flatMap((target) => target.type === "Identifier" ? target.name : [])
