/** Scopes of a JavaScript program: the names that it defines, and their possible values. */
import type * as Acorn from "acorn"
import * as Syntax from "../../base/Syntax.ts"

type Node = Syntax.Node

/** Value in a scope; without a node, any value. */
export interface Written {
  readonly node: Node | null | undefined
  readonly scope: Scope
}

export interface Binding {
  readonly values: Array<Written>
  /** Whether it may have other values too: a parameter, a part of a value. */
  isOpen: boolean
  /** Whether it is a function that the language passes in, such as `resolve` of a promise. */
  isCallable: boolean
}

/** Function or block; in it, `this` is an instance of a class of the program, or possibly the global object. */
export interface Scope {
  readonly names: Map<string, Binding>
  readonly parent: Scope | undefined
  readonly isFunction: boolean
  readonly receiver: "global" | "class"
}

/** Properties whose values the language or its functions call by themselves. */
export const implicit: ReadonlySet<string> = new Set(
  "then toJSON toString valueOf toLocaleString get set next return throw done value has size keys add exec".split(" ")
)

/** Properties that lead from any value to the functions that make functions. */
export const reflective: ReadonlySet<string> = new Set(
  ("constructor __proto__ caller callee __lookupGetter__ __lookupSetter__ __defineGetter__ __defineSetter__ " +
    "_idleNext _idlePrev _onTimeout _timerArgs").split(" ")
)

/** Whether an operator, or the assignment by it, always results in a number. */
const isArithmetic = (operator: string) => /^(?:[-*/%|&^]|\*\*|<<|>>>?)=?$/.test(operator)

/** Whether a value may be a function: it is not a literal, the result of an operator, an object or a list. */
export const mayBeFunction = (node: Node | null | undefined): boolean =>
  !/^(?:Literal|TemplateLiteral|ObjectExpression|ArrayExpression|BinaryExpression|UnaryExpression|UpdateExpression)$/
    .test(node?.type ?? "") && !(node?.type === "AssignmentExpression" && isArithmetic(node.operator))

/** Whether an identifier is the name of a property or a label rather than a reference. */
const isLabel = (parent: Node, key: string): boolean => {
  switch (parent.type) {
    case "MemberExpression":
      return key === "property" && !parent.computed
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
      return key === "key" && !parent.computed
    case "LabeledStatement":
    case "BreakStatement":
    case "ContinueStatement":
    case "MetaProperty":
      return true
  }
  return false
}

const nearestFunction = (scope: Scope): Scope =>
  scope.isFunction || scope.parent === undefined ? scope : nearestFunction(scope.parent)

const outsideClass = (scope: Scope): Scope =>
  scope.receiver === "class" && scope.parent !== undefined ? outsideClass(scope.parent) : scope

/** Whether the platform or n8n may define a global of this name. */
export const isPlatform = (name: string): boolean =>
  name in globalThis ||
  /^(?:\$.*|require|module|exports|global|window|self|helpers|items?|execute\w*|get[A-Z]\w*|logNodeOutput)$/.test(name)

export type Scopes = ReturnType<typeof make>

const find = (scope: Scope | undefined, name: string): Binding | undefined =>
  scope === undefined ? undefined : scope.names.get(name) ?? find(scope.parent, name)

const push = (map: Map<string, Array<Written>>, name: string, value: Written) => {
  const values = map.get(name)
  if (values === undefined) map.set(name, [value])
  else values.push(value)
}

const declare = (scope: Scope, pattern: Node | null | undefined, node?: Node | null, isOpen = false) => {
  const isPlain = pattern?.type === "Identifier"
  for (const name of Syntax.namesIn(pattern)) {
    const binding = scope.names.get(name) ?? { values: [], isOpen: false, isCallable: false }
    if (isPlain && node) binding.values.push({ node, scope })
    if (isOpen || !isPlain) binding.isOpen = true
    scope.names.set(name, binding)
  }
}

const scopeIn = (node: Node, parent: Node | undefined, outer: Scope): Scope => {
  const isFunction = Syntax.isFunction(node)
  const isClass = Syntax.isClass(node)
  if (
    !isFunction && !isClass &&
    !/^(?:BlockStatement|StaticBlock|For\w*Statement|SwitchStatement|CatchClause)$/.test(node.type)
  ) {
    return outer
  }
  const scope: Scope = {
    names: new Map(),
    parent: outer,
    // Variables of a function's body are not seen by the defaults of its parameters.
    isFunction: isFunction || Syntax.isFunction(parent) || node.type === "StaticBlock",
    receiver: isClass ? "class" : outer.receiver
  }
  if (isFunction) {
    if (node.type !== "ArrowFunctionExpression") {
      scope.names.set("arguments", { values: [], isOpen: true, isCallable: false })
    }
    for (const param of node.params) declare(scope, param, undefined, true)
    const isExecutor = parent?.type === "NewExpression" && Syntax.isNamed(parent.callee, "Promise")
    if (isExecutor) { for (const binding of scope.names.values()) binding.isCallable = true }
  }
  if (node.type === "FunctionExpression" || isClass) declare(scope, node.id, node)
  if (node.type === "CatchClause") declare(scope, node.param, undefined, true)
  return scope
}

interface Writes {
  /** Values assigned to names after their declaration. */
  readonly assigned: Map<string, Array<Written>>
  /** Values of properties with names that are not computed. */
  readonly properties: Map<string, Array<Written>>
  /** Values of properties with computed names. */
  readonly computed: Array<{ readonly key: Node; readonly value: Written }>
}

const define = (node: Node, scope: Scope, parent: Node | undefined, { assigned, computed, properties }: Writes) => {
  const store = (name: string | undefined, key: Node, value: Written) => {
    if (name === undefined) computed.push({ key, value })
    else push(properties, name, value)
  }
  const assign = (pattern: Node, node?: Node) => {
    for (const target of Syntax.targets(pattern)) {
      if (target.type === "Identifier") push(assigned, target.name, { node, scope })
      else store(Syntax.keyOf(target), target.property, { node, scope })
    }
  }
  switch (node.type) {
    case "VariableDeclaration": {
      const to = node.kind === "var" ? nearestFunction(scope) : scope
      const isLoop = parent?.type === "ForInStatement" || parent?.type === "ForOfStatement"
      for (const { id, init } of node.declarations) declare(to, id, init, isLoop)
      return
    }
    case "FunctionDeclaration":
    case "ClassDeclaration":
      return declare(scope, node.id, node)
    case "AssignmentExpression":
      // Parts of a value are not known.
      if (node.left.type.endsWith("Pattern")) return assign(node.left)
      return assign(node.left, isArithmetic(node.operator) ? node : node.right)
    case "ForInStatement":
    case "ForOfStatement":
      return assign(node.left)
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
      if (parent?.type !== "ObjectPattern") store(Syntax.keyOf(node), node.key, { node: node.value, scope })
  }
}

const isNumber = (
  node: Node | null | undefined,
  scope: Scope,
  assigned: Writes["assigned"],
  depth = 0
): boolean => {
  if (depth > 4) return false
  const each = (node: Node | null | undefined, from = scope) => isNumber(node, from, assigned, depth + 1)
  switch (node?.type) {
    case "Literal":
      return typeof node.value === "number"
    case "UpdateExpression":
      return true
    case "UnaryExpression":
      return /^[-+~]$/.test(node.operator)
    case "AssignmentExpression":
      return isArithmetic(node.operator)
    case "BinaryExpression":
      return isArithmetic(node.operator) || node.operator === "+" && each(node.left) && each(node.right)
    case "Identifier": {
      const { isOpen = true, values = [] } = find(scope, node.name) ?? {}
      return !isOpen && values.length > 0 &&
        [...values, ...assigned.get(node.name) ?? []].every((written) => each(written.node, written.scope))
    }
  }
  return false
}

const textsIn = (node: Node): ReadonlyArray<string> =>
  node.type === "TemplateLiteral"
    ? node.quasis.map(({ value }) => value.cooked ?? "")
    : node.type === "BinaryExpression" && node.operator === "+"
    ? [...textsIn(node.left), ...textsIn(node.right)]
    : [Syntax.textOf(node) ?? []].flat()

/** Scope of a part: a superclass and computed names of members are outside their class, what a switch compares before it. */
const scopeOf = ({ type }: Node, key: string, outer: Scope, scope: Scope): Scope =>
  key === "discriminant"
    ? outer
    : key === "superClass" || key === "key" && (type === "MethodDefinition" || type === "PropertyDefinition")
    ? outsideClass(scope)
    : scope

export const make = (program: Acorn.Program) => {
  const writes: Writes = { assigned: new Map(), properties: new Map(), computed: [] }
  const scopes = new Map<Node, Scope>()
  const global: Scope = { names: new Map(), parent: undefined, isFunction: true, receiver: "global" }
  const read = (node: Node, parent: Node | undefined, outer: Scope) => {
    define(node, outer, parent, writes)
    const scope = scopeIn(node, parent, outer)
    scopes.set(node, scope)
    for (const [key, child] of Syntax.children(node)) read(child, node, scopeOf(node, key, outer, scope))
  }
  read(program, undefined, global)
  // A name that is assigned without a declaration becomes a global of the program, unless there is one already.
  for (const name of writes.assigned.keys()) {
    if (isPlatform(name) || global.names.has(name)) continue
    global.names.set(name, { values: [], isOpen: false, isCallable: false })
  }
  return {
    ...writes,
    find,
    isNumber: (node: Node, scope: Scope): boolean => isNumber(node, scope, writes.assigned),
    /** Whether a computed property is not reflective: it is a number, or contains a text that none of those has. */
    isHarmlessKey: (key: Node, scope: Scope): boolean =>
      isNumber(key, scope, writes.assigned) ||
      textsIn(key).some((text) => [...reflective].every((name) => !name.includes(text))),
    /** Visits every part of the program except names that are not references. */
    walk: (visit: (node: Node, scope: Scope, parent: Node | undefined) => void) => {
      const step = (node: Node, parent: Node | undefined) => {
        const scope = scopes.get(node) ?? global
        visit(node, Syntax.isClass(node) ? outsideClass(scope) : scope, parent)
        for (const [key, child] of Syntax.children(node)) {
          if (child.type !== "Identifier" || !isLabel(node, key)) step(child, node)
        }
      }
      step(program, undefined)
    }
  }
}
