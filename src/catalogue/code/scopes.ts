/** Scopes of a JavaScript program: the names that it defines, and their possible values. */
import { arr, type Obj, obj, str } from "../../base/Json.ts"

export interface Written {
  readonly node: unknown
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

export const typeOf = (node: Obj | undefined): string => str(node?.["type"]) ?? ""

export const textOf = (value: unknown): string | undefined => {
  const node = obj(value)
  if (typeOf(node) === "Literal") {
    const literal = node?.["value"]
    return typeof literal === "string" || typeof literal === "number" ? String(literal) : undefined
  }
  const [quasi, ...more] = arr(node?.["quasis"])
  return typeOf(node) === "TemplateLiteral" && more.length === 0
    ? str(obj(obj(quasi)?.["value"])?.["cooked"])
    : undefined
}

export const keyOf = (node: Obj): string | undefined => {
  const property = obj(node["property"] ?? node["key"])
  return node["computed"] !== true && typeOf(property) !== "Literal" ? str(property?.["name"]) : textOf(property)
}

/** Whether a value may be a function: it is not a literal, the result of an operator, an object or a list. */
export const mayBeFunction = (value: unknown): boolean =>
  !/^(?:Literal|TemplateLiteral|ObjectExpression|ArrayExpression|BinaryExpression|UnaryExpression|UpdateExpression)$/
    .test(typeOf(obj(value)))

/** Names and members that a pattern gives values to. */
const targets = (pattern: unknown): ReadonlyArray<Obj> => {
  const node = obj(pattern)
  switch (typeOf(node)) {
    case "Identifier":
    case "MemberExpression":
      return node === undefined ? [] : [node]
    case "ObjectPattern":
      return arr(node?.["properties"]).flatMap((each) => targets(obj(each)?.["value"] ?? obj(each)?.["argument"]))
    case "ArrayPattern":
      return arr(node?.["elements"]).flatMap(targets)
    case "RestElement":
      return targets(node?.["argument"])
    case "AssignmentPattern":
      return targets(node?.["left"])
  }
  return []
}

const children = (node: Obj): ReadonlyArray<readonly [string, Obj]> =>
  Object.entries(node).flatMap(([key, value]) =>
    arr(Array.isArray(value) ? value : [value]).flatMap((each) => {
      const child = obj(each)
      return child !== undefined && typeof child["type"] === "string" ? [[key, child] as const] : []
    })
  )

/** Whether an identifier is the name of a property or a label rather than a reference. */
const isLabel = (parent: Obj, key: string): boolean => {
  switch (typeOf(parent)) {
    case "MemberExpression":
      return key === "property" && parent["computed"] !== true
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
      return key === "key" && parent["computed"] !== true
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

const isClass = (node: Obj) => /^Class(?:Declaration|Expression)$/.test(typeOf(node))

const declare = (scope: Scope, pattern: unknown, init: unknown, isOpen = false) => {
  const isPlain = typeOf(obj(pattern)) === "Identifier"
  const value = isPlain ? init : undefined
  for (const target of targets(pattern)) {
    const name = String(target["name"])
    const binding = scope.names.get(name) ?? { values: [], isOpen: false, isCallable: false }
    if (value !== undefined) binding.values.push({ node: value, scope })
    if (isOpen || !isPlain) binding.isOpen = true
    scope.names.set(name, binding)
  }
}

const functionScope = (node: Obj, parent: Obj, outer: Scope): Scope => {
  const scope: Scope = { names: new Map(), parent: outer, isFunction: true, receiver: outer.receiver }
  if (typeOf(node) !== "ArrowFunctionExpression") {
    scope.names.set("arguments", { values: [], isOpen: true, isCallable: false })
  }
  for (const param of arr(node["params"])) declare(scope, param, undefined, true)
  const isExecutor = typeOf(parent) === "NewExpression" && obj(parent["callee"])?.["name"] === "Promise"
  if (isExecutor) { for (const binding of scope.names.values()) binding.isCallable = true }
  if (typeOf(node) === "FunctionExpression") declare(scope, node["id"], node)
  return scope
}

const isFunctionNode = (node: Obj) => /Function/.test(typeOf(node))

const scopeIn = (node: Obj, parent: Obj, outer: Scope): Scope => {
  if (isFunctionNode(node)) return functionScope(node, parent, outer)
  if (
    !isClass(node) &&
    !/^(?:BlockStatement|StaticBlock|For\w*Statement|SwitchStatement|CatchClause)$/.test(typeOf(node))
  ) {
    return outer
  }
  const receiver = isClass(node) ? "class" : outer.receiver
  // Variables of a function's body are not seen by the defaults of its parameters.
  const isFunction = isFunctionNode(parent) || typeOf(node) === "StaticBlock"
  const scope: Scope = { names: new Map(), parent: outer, isFunction, receiver }
  if (typeOf(node) === "CatchClause") declare(scope, node["param"], undefined, true)
  if (isClass(node)) declare(scope, node["id"], node)
  return scope
}

interface Writes {
  /** Values assigned to names after their declaration. */
  readonly assigned: Map<string, Array<Written>>
  /** Values of properties with names that are not computed. */
  readonly properties: Map<string, Array<Written>>
  /** Values of properties with computed names. */
  readonly computed: Array<{ readonly key: unknown; readonly value: Written }>
}

const store = (member: Obj, value: Written, { computed, properties }: Writes): void => {
  const key = keyOf(member)
  if (key === undefined) computed.push({ key: member["property"], value })
  else push(properties, key, value)
}

/** Assignment of values that are not known to a pattern. */
const assign = (pattern: unknown, scope: Scope, writes: Writes): void => {
  const unknown = { node: undefined, scope }
  for (const target of targets(pattern)) {
    if (typeOf(target) === "Identifier") push(writes.assigned, String(target["name"]), unknown)
    else store(target, unknown, writes)
  }
}

const define = (node: Obj, scope: Scope, parent: Obj, writes: Writes): void => {
  const { assigned, computed, properties } = writes
  switch (typeOf(node)) {
    case "VariableDeclaration": {
      const to = node["kind"] === "var" ? nearestFunction(scope) : scope
      const isLoop = /^For(?:In|Of)/.test(typeOf(parent))
      for (const each of arr(node["declarations"])) {
        declare(to, obj(each)?.["id"], obj(each)?.["init"] ?? undefined, isLoop)
      }
      return
    }
    case "FunctionDeclaration":
    case "ClassDeclaration":
      return declare(scope, node["id"], node)
    case "AssignmentExpression": {
      const left = obj(node["left"])
      const isArithmetic = /^(?:[-*/%|&^]|\*\*|<<|>>>?)=$/.test(String(node["operator"]))
      const value = { node: isArithmetic ? { type: "UpdateExpression" } : node["right"], scope }
      if (typeOf(left) === "Identifier") push(assigned, String(left?.["name"]), value)
      else if (typeOf(left) === "MemberExpression") store(left ?? {}, value, writes)
      else assign(left, scope, writes)
      return
    }
    case "ForInStatement":
    case "ForOfStatement":
      return assign(node["left"], scope, writes)
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition": {
      if (typeOf(parent) === "ObjectPattern") return
      const key = keyOf(node)
      if (key === undefined) computed.push({ key: node["key"], value: { node: node["value"], scope } })
      else push(properties, key, { node: node["value"], scope })
    }
  }
}

const isNumber = (value: unknown, scope: Scope, assigned: Writes["assigned"], depth = 0): boolean => {
  const node = obj(value)
  if (node === undefined || depth > 4) return false
  const each = (value: unknown, from = scope) => isNumber(value, from, assigned, depth + 1)
  switch (typeOf(node)) {
    case "Literal":
      return typeof node["value"] === "number"
    case "UpdateExpression":
      return true
    case "UnaryExpression":
      return /^[-+~]$/.test(String(node["operator"]))
    case "BinaryExpression":
      return /^(?:[-*/%|&^]|\*\*|<<|>>>?)$/.test(String(node["operator"])) ||
        node["operator"] === "+" && each(node["left"]) && each(node["right"])
    case "Identifier": {
      const binding = find(scope, String(node["name"]))
      const later = assigned.get(String(node["name"])) ?? []
      return binding !== undefined && !binding.isOpen && binding.values.length > 0 &&
        [...binding.values, ...later].every((written) => each(written.node, written.scope))
    }
  }
  return false
}

const textsIn = (value: unknown): ReadonlyArray<string> => {
  const node = obj(value)
  if (typeOf(node) === "TemplateLiteral") {
    return arr(node?.["quasis"]).map((quasi) => str(obj(obj(quasi)?.["value"])?.["cooked"]) ?? "")
  }
  if (typeOf(node) === "BinaryExpression" && node?.["operator"] === "+") {
    return [...textsIn(node["left"]), ...textsIn(node["right"])]
  }
  const text = textOf(node)
  return text === undefined ? [] : [text]
}

/** Scope of a part: a superclass and computed names of members are outside their class, what a switch compares before it. */
const scopeOf = (node: Obj, key: string, outer: Scope, scope: Scope): Scope =>
  key === "discriminant"
    ? outer
    : key === "superClass" || key === "key" && /^(?:Method|Property)Definition$/.test(typeOf(node))
    ? outsideClass(scope)
    : scope

export const make = (program: Obj) => {
  const writes: Writes = { assigned: new Map(), properties: new Map(), computed: [] }
  const scopes = new Map<Obj, Scope>()
  const global: Scope = { names: new Map(), parent: undefined, isFunction: true, receiver: "global" }
  const read = (node: Obj, parent: Obj, outer: Scope) => {
    define(node, outer, parent, writes)
    const scope = scopeIn(node, parent, outer)
    scopes.set(node, scope)
    for (const [key, child] of children(node)) read(child, node, scopeOf(node, key, outer, scope))
  }
  read(program, {}, global)
  // A name that is assigned without a declaration becomes a global of the program, unless there is one already.
  for (const name of writes.assigned.keys()) {
    if (isPlatform(name) || global.names.has(name)) continue
    global.names.set(name, { values: [], isOpen: false, isCallable: false })
  }
  return {
    ...writes,
    find,
    isNumber: (value: unknown, scope: Scope): boolean => isNumber(value, scope, writes.assigned),
    /** Whether a computed property is not reflective: it is a number, or contains a text that none of those has. */
    isHarmlessKey: (key: unknown, scope: Scope): boolean =>
      isNumber(key, scope, writes.assigned) ||
      textsIn(key).some((text) => [...reflective].every((name) => !name.includes(text))),
    /** Visits every part of the program except names that are not references. */
    walk: (visit: (node: Obj, scope: Scope, parent: Obj) => void) => {
      const step = (node: Obj, parent: Obj) => {
        const scope = scopes.get(node) ?? global
        visit(node, isClass(node) ? outsideClass(scope) : scope, parent)
        for (const [key, child] of children(node)) {
          if (typeOf(child) === "Identifier" && isLabel(node, key)) continue
          step(child, node)
        }
      }
      step(program, {})
    }
  }
}
