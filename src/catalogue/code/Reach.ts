/** Effects of a node's code beyond computing from its input. */
import type * as Acorn from "acorn"
import type { Parse } from "../../base/JavaScript.ts"
import * as Syntax from "../../base/Syntax.ts"
import lists from "./javascript.json" with { type: "json" }
import * as Scopes from "./scopes.ts"

/** Possible effects of code; those that cannot be excluded count. */
interface Reach {
  /** Whether it may send, read or write something outside the workflow. */
  readonly outside: boolean
  /** Whether it reads or writes state that outlives an execution. */
  readonly state: boolean
}

const words = (texts: ReadonlyArray<string>): ReadonlySet<string> => new Set(texts.join(" ").split(" "))

const values = words(lists.values)

/** Namespaces and classes: harmless to call and to read from, as long as they are not changed. */
const namespaces = words(lists.namespaces)

/** Namespaces that lead to every function: they may only be read by name, called, or compared with. */
const guarded = words(lists.guarded)

/** Types of nodes that do nothing beyond their parts; a type that is not known may do anything. */
const inert = words(lists.inert)

/** Functions of `Object` that give no access to prototypes and accessors. */
const ofObject = words(lists.ofObject)

/** Functions that call their argument later. */
const timers = new Set(["setTimeout", "setInterval", "setImmediate", "queueMicrotask"])

/** n8n's helpers that only handle items and binary data. */
const helpers = words(lists.helpers)

const consoleMethods = words(lists.console)

/** Modules without access to anything outside. */
const modules = words(lists.modules)

const staticData = new Set(["$getWorkflowStaticData", "getWorkflowStaticData"])

/** Functions that call their argument at this position. */
const callers: ReadonlyMap<string, number> = new Map([
  ...[...words(lists.callers)].map((name) => [name, 0] as const),
  ...["from", "fromAsync", "parse", "stringify", "groupBy", "replace", "replaceAll"].map((name) => [name, 1] as const)
])

type Node = Syntax.Node

class Collector {
  outside = false
  state = false
  private readsAny = false
  private callsAny = false
  private readonly scopes: Scopes.Scopes

  constructor(scopes: Scopes.Scopes) {
    this.scopes = scopes
  }

  get reach(): Reach {
    return { outside: this.outside || this.readsAny && (this.callsAny || this.isCalledByOthers()), state: this.state }
  }

  private isFree(node: Node, scope: Scopes.Scope): string | undefined {
    return node.type !== "Identifier" || this.scopes.find(scope, node.name) !== undefined ? undefined : node.name
  }

  /** Whether the value is certainly a function of the program or a harmless one. */
  private isFunction(node: Node | null | undefined, scope: Scopes.Scope, depth = 0): boolean {
    if (depth > 8) return false
    const each = (node: Node) => this.isFunction(node, scope, depth + 1)
    switch (node?.type) {
      case "FunctionExpression":
      case "FunctionDeclaration":
      case "ArrowFunctionExpression":
      case "ClassExpression":
      case "ClassDeclaration":
        return true
      case "ChainExpression":
        return each(node.expression)
      case "ConditionalExpression":
        return each(node.consequent) && each(node.alternate)
      case "LogicalExpression":
        return each(node.left) && each(node.right)
      case "MemberExpression": {
        const free = this.isFree(node.object, scope)
        const key = Syntax.keyOf(node)
        return free !== undefined && key !== undefined &&
          (namespaces.has(free) || values.has(free) && this.isMethod(key, depth + 1))
      }
      case "Identifier": {
        const { name } = node
        const binding = this.scopes.find(scope, name)
        if (binding === undefined) return values.has(name) || namespaces.has(name) || staticData.has(name)
        if (binding.isCallable) return true
        const all = [...binding.values, ...this.scopes.assigned.get(name) ?? []]
        return all.length > 0 && !binding.isOpen &&
          all.every((each) => this.isFunction(each.node, each.scope, depth + 1))
      }
    }
    return false
  }

  /** Whether a value may be a function that neither the program nor the language defines. */
  private mayBeAny({ node, scope }: Scopes.Written, depth = 0): boolean {
    return Scopes.mayBeFunction(node) && !this.isFunction(node, scope, depth)
  }

  /** Whether only n8n, the language or the program defines functions as properties of this name. */
  private isMethod(name: string, depth = 0): boolean {
    return (this.scopes.properties.get(name) ?? []).every((written) => !this.mayBeAny(written, depth))
  }

  /** Whether a value that may be any function is where the language or its functions may call it. */
  private isCalledByOthers(): boolean {
    return [...Scopes.implicit].some((name) => !this.isMethod(name)) ||
      this.scopes.computed.some(({ key, value }) =>
        !this.scopes.isNumber(key, value.scope) && this.mayBeAny(value) && !isCopied(value.node)
      )
  }

  private callee(value: Node, scope: Scopes.Scope): void {
    const node = value.type === "ChainExpression" ? value.expression : value
    if (node.type === "Super" || this.isFunction(node, scope)) return
    // Names that are not harmless already count as outside.
    if (this.isFree(node, scope) !== undefined) return
    const name = node.type === "MemberExpression" ? Syntax.keyOf(node) : undefined
    if (node.type !== "MemberExpression" || name === undefined || !this.isMethod(name)) this.callsAny = true
    else if (indirect.has(name)) {
      const { object } = node
      const isKnown = this.isFunction(object, scope) ||
        object.type === "MemberExpression" && Syntax.keyOf(object) !== undefined
      if (!isKnown) this.callsAny = true
    }
  }

  private call(node: Acorn.CallExpression | Acorn.NewExpression, scope: Scopes.Scope): void {
    const { arguments: args, callee } = node
    const [first] = args
    const free = this.isFree(callee, scope)
    this.callee(callee, scope)
    if (free !== undefined && timers.has(free) && !this.isFunction(first, scope)) this.outside = true
    if (free === "require" && !modules.has((Syntax.textOf(first) ?? "").replace(/^node:/, ""))) this.outside = true
    const name = callee.type === "MemberExpression" ? Syntax.keyOf(callee) : undefined
    const isExecuted = node.type === "NewExpression" && free === "Promise"
    const position = isExecuted ? 0 : callers.get(name ?? "")
    if (position === undefined) return
    const called = args.slice(position, name === "then" ? 2 : position + 1)
    const spread = args.filter(({ type }) => type === "SpreadElement")
    if ([...called, ...spread].some((node) => this.mayBeAny({ node, scope }))) this.callsAny = true
  }

  private name(node: Acorn.Identifier, scope: Scopes.Scope, parent: Node | undefined): void {
    const name = this.isFree(node, scope)
    if (name === undefined || parent?.type === "UnaryExpression" && parent.operator === "typeof") return
    const isCallee = Syntax.isCalleeOf(node, parent)
    if (staticData.has(name)) this.state = true
    else if (name === "helpers" || name === "$helpers") {
      if (!isHarmlessHelper(node, parent)) this.outside = true
    } else if (name === "require" || timers.has(name)) {
      if (!isCallee) this.outside = true
    } else if (namespaces.has(name)) {
      const isMember = Syntax.isObjectOf(node, parent)
      const key = isMember ? Syntax.keyOf(parent) : undefined
      if (name === "console" && !consoleMethods.has(key ?? "")) this.outside = true
      if (name === "Object" && isMember && !ofObject.has(key ?? "")) this.outside = true
      if (isMember ? key === undefined : guarded.has(name) && !isCallee && !isCompared(parent)) this.outside = true
    } else if (!values.has(name)) this.outside = true
  }

  private member(node: Acorn.MemberExpression, scope: Scopes.Scope, parent: Node | undefined): void {
    const { object, property } = node
    const key = Syntax.keyOf(node)
    if (key === undefined) {
      if (passesOn(node, parent) && !this.scopes.isHarmlessKey(property, scope)) this.readsAny = true
    } else if (Scopes.reflective.has(key)) {
      const isNameOfIt = key === "constructor" &&
        (isCompared(parent) || Syntax.isObjectOf(node, parent) && Syntax.keyOf(parent) === "name")
      if (!isNameOfIt) this.outside = true
    } else if (key === "prototype" && this.isFree(object, scope) !== undefined && !Syntax.isObjectOf(node, parent)) {
      this.outside = true
    }
    if (object.type === "ThisExpression" && scope.receiver === "global") this.ofGlobal(node, key, parent)
  }

  /** Visits a member of `this`, which outside of classes may be the global object. */
  private ofGlobal(node: Node, key: string | undefined, parent: Node | undefined): void {
    if (key === undefined) this.outside = true
    else if (staticData.has(key)) this.state = true
    else if (key === "helpers") {
      if (!isHarmlessHelper(node, parent)) this.outside = true
    } else if (!values.has(key) && (this.scopes.properties.get(key) === undefined || Scopes.isPlatform(key))) {
      this.outside = true
    }
  }

  /** Visits the target of an assignment, which may change a namespace: `Error.prepareStackTrace = …`. */
  private target(target: Node, scope: Scopes.Scope): void {
    if (target.type !== "MemberExpression") return
    let node: Node = target
    while (node.type === "MemberExpression") node = node.object
    const free = this.isFree(node, scope)
    if (free !== undefined && namespaces.has(free)) this.outside = true
  }

  readonly visit = (node: Node, scope: Scopes.Scope, parent: Node | undefined): void => {
    switch (node.type) {
      case "Identifier":
        return this.name(node, scope, parent)
      case "MemberExpression":
        return this.member(node, scope, parent)
      case "CallExpression":
      case "NewExpression":
        return this.call(node, scope)
      case "TaggedTemplateExpression":
        return this.callee(node.tag, scope)
      case "AssignmentExpression":
        return this.target(node.left, scope)
      case "ClassDeclaration":
      case "ClassExpression":
        if (node.superClass) this.callee(node.superClass, scope)
        return
      case "ThisExpression":
        if (scope.receiver === "global" && !Syntax.isObjectOf(node, parent)) this.outside = true
        return
      case "Property": {
        const key = Syntax.keyOf(node)
        if (parent?.type !== "ObjectPattern") return
        if (key === undefined) this.readsAny ||= !this.scopes.isHarmlessKey(node.key, scope)
        else if (Scopes.reflective.has(key)) this.outside = true
        return
      }
      default:
        if (!inert.has(node.type)) this.outside = true
    }
  }
}

/** Whether only a harmless one of n8n's helpers is read. */
const isHarmlessHelper = (node: Node, parent: Node | undefined): boolean =>
  Syntax.isObjectOf(node, parent) && helpers.has(Syntax.keyOf(parent) ?? "")

/** Whether a value is read from another, which the program does not see to be a function. */
const isCopied = (node: Node | null | undefined): boolean =>
  node?.type === "MemberExpression" && !/Function|Class|Call/.test(node.object.type)

/** Methods of functions that call them. */
const indirect = new Set(["call", "apply", "bind"])

/** Whether a property's value is passed on and could be called, rather than only written or used in a computation. */
const passesOn = (node: Node, parent: Node | undefined): boolean => {
  switch (parent?.type) {
    case "AssignmentExpression":
      return parent.left !== node || /^(?:\|\||&&|\?\?)=$/.test(parent.operator)
    case "MemberExpression":
      return parent.object !== node || indirect.has(Syntax.keyOf(parent) ?? "")
    case "BinaryExpression":
    case "UnaryExpression":
    case "UpdateExpression":
    case "TemplateLiteral":
      return false
    case "IfStatement":
    case "ConditionalExpression":
      return parent.test !== node
  }
  return true
}

/** Whether a part of the parent is compared, or is extended by a class. */
const isCompared = (parent: Node | undefined): boolean =>
  parent?.type === "BinaryExpression" || parent?.type === "ClassBody" || Syntax.isClass(parent)

/** Reach of a node's code; code that does not parse, or is nested too deeply, may do anything. */
export const ofJavaScript = (code: string, parse: Parse): Reach => {
  const program = parse(code, "body")?.program
  if (program === undefined) return { outside: true, state: false }
  const scopes = Scopes.make(program)
  const collector = new Collector(scopes)
  scopes.walk(collector.visit)
  return collector.reach
}

const sqlFunctions = words(lists.sqlFunctions)

/** Texts and comments of SQL. */
const sqlTexts = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|--[^\n]*|\/\*[\s\S]*?\*\//g

/**
 * Whether SQL over items may use a file, another source or code, which n8n has refused since 2025: it is not one query,
 * calls a function that is not known to compute, reads from a text, or has a text that could be a file's name.
 */
const sqlCallsOut = (sql: string): boolean => {
  const texts: Array<string> = []
  const query = sql.replace(sqlTexts, (text) => {
    if (!/^['"]/.test(text)) return " "
    texts.push(text.slice(1, -1))
    return " '' "
  }).replace(/[\s;]+$/, "")
  return !/^\s*(?:select|with)\b/i.test(query) || /[`@;{}]|->|[^ -~\s]\s*\(/.test(query) ||
    /\b(?:attach|begin|create|declare|delete|drop|exec|insert|into|load|require|set|source|update)\b/i.test(query) ||
    /\b(?:apply|from|join|using)\s*['[?]/i.test(query) ||
    texts.some((text) => /[/\\]|\.\w+$/.test(text)) ||
    [...query.matchAll(/([\w$]+|\]|')\s*\(/g)].some(([, name = ""]) => !sqlFunctions.has(name.toLowerCase()))
}

/** Reach of a parameter's value, by the file extension of its language. */
export const of = (extension: string | undefined, code: unknown, parse: Parse): Reach => {
  if (extension !== "js" && extension !== "sql") return { outside: false, state: false }
  // n8n resolves an expression first.
  if (typeof code !== "string" || code.startsWith("=")) return { outside: true, state: false }
  return extension === "js" ? ofJavaScript(code, parse) : { outside: sqlCallsOut(code), state: false }
}
