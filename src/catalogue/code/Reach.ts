/** Effects of a node's code beyond computing from its input. */
import type { Parse } from "../../base/JavaScript.ts"
import { arr, type Obj, obj, str } from "../../base/Json.ts"
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

  private isFree(node: Obj | undefined, scope: Scopes.Scope): string | undefined {
    const name = Scopes.typeOf(node) === "Identifier" ? str(node?.["name"]) : undefined
    return name === undefined || this.scopes.find(scope, name) !== undefined ? undefined : name
  }

  /** Whether the value is certainly a function of the program or a harmless one. */
  private isFunction(value: unknown, scope: Scopes.Scope, depth = 0): boolean {
    const node = obj(value)
    if (node === undefined || depth > 8) return false
    const each = (...keys: ReadonlyArray<string>) => keys.every((key) => this.isFunction(node[key], scope, depth + 1))
    switch (Scopes.typeOf(node)) {
      case "FunctionExpression":
      case "FunctionDeclaration":
      case "ArrowFunctionExpression":
      case "ClassExpression":
      case "ClassDeclaration":
        return true
      case "ChainExpression":
        return each("expression")
      case "ConditionalExpression":
        return each("consequent", "alternate")
      case "LogicalExpression":
        return each("left", "right")
      case "MemberExpression": {
        const free = this.isFree(obj(node["object"]), scope)
        const key = Scopes.keyOf(node)
        return free !== undefined && key !== undefined &&
          (namespaces.has(free) || values.has(free) && this.isMethod(key, depth + 1))
      }
      case "Identifier": {
        const name = String(node["name"])
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

  /** Whether only n8n, the language or the program defines functions as properties of this name. */
  private isMethod(name: string, depth = 0): boolean {
    return (this.scopes.properties.get(name) ?? []).every(({ node, scope }) =>
      !Scopes.mayBeFunction(node) || this.isFunction(node, scope, depth)
    )
  }

  /** Whether a value that may be any function is where the language or its functions may call it. */
  private isCalledByOthers(): boolean {
    const mayBeAny = ({ node, scope }: Scopes.Written) => Scopes.mayBeFunction(node) && !this.isFunction(node, scope)
    return [...Scopes.implicit].some((name) => this.scopes.properties.get(name)?.some(mayBeAny) === true) ||
      this.scopes.computed.some(({ key, value }) =>
        !this.scopes.isNumber(key, value.scope) && mayBeAny(value) && !isCopied(value.node)
      )
  }

  private callee(value: unknown, scope: Scopes.Scope): void {
    const node = Scopes.typeOf(obj(value)) === "ChainExpression" ? obj(obj(value)?.["expression"]) : obj(value)
    if (node === undefined || Scopes.typeOf(node) === "Super" || this.isFunction(node, scope)) return
    // Names that are not harmless already count as outside.
    if (this.isFree(node, scope) !== undefined) return
    const name = Scopes.typeOf(node) === "MemberExpression" ? Scopes.keyOf(node) : undefined
    const receiver = obj(node["object"])
    if (name === undefined || !this.isMethod(name)) this.callsAny = true
    else if (indirect.has(name)) {
      const isKnown = this.isFunction(receiver, scope) ||
        Scopes.typeOf(receiver) === "MemberExpression" && Scopes.keyOf(receiver ?? {}) !== undefined
      if (!isKnown) this.callsAny = true
    }
  }

  private call(node: Obj, scope: Scopes.Scope): void {
    const callee = obj(node["callee"])
    const args = arr(node["arguments"])
    const free = this.isFree(callee, scope)
    this.callee(callee, scope)
    if (free !== undefined && timers.has(free) && !this.isFunction(args[0], scope)) this.outside = true
    if (free === "require" && !modules.has((Scopes.textOf(args[0]) ?? "").replace(/^node:/, ""))) this.outside = true
    const name = Scopes.typeOf(callee) === "MemberExpression" ? Scopes.keyOf(callee ?? {}) : undefined
    const isExecuted = Scopes.typeOf(node) === "NewExpression" && free === "Promise"
    const position = isExecuted ? 0 : callers.get(name ?? "")
    if (position === undefined) return
    const called = name === "then" ? args.slice(0, 2) : args.slice(position, position + 1)
    if (
      [...called, ...args.filter((each) => Scopes.typeOf(obj(each)) === "SpreadElement")].some((each) =>
        Scopes.mayBeFunction(each) && !this.isFunction(each, scope)
      )
    ) this.callsAny = true
  }

  private name(node: Obj, scope: Scopes.Scope, parent: Obj): void {
    const name = this.isFree(node, scope)
    if (name === undefined || Scopes.typeOf(parent) === "UnaryExpression" && parent["operator"] === "typeof") return
    const isCallee = parent["callee"] === node
    if (staticData.has(name)) this.state = true
    else if (name === "helpers" || name === "$helpers") {
      if (!isHarmlessHelper(node, parent)) this.outside = true
    } else if (name === "require" || timers.has(name)) {
      if (!isCallee) this.outside = true
    } else if (namespaces.has(name)) {
      const isMember = Scopes.typeOf(parent) === "MemberExpression" && parent["object"] === node
      const isRead = isMember && Scopes.keyOf(parent) !== undefined
      if (name === "console" && !(isMember && consoleMethods.has(Scopes.keyOf(parent) ?? ""))) this.outside = true
      if (name === "Object" && isMember && !ofObject.has(Scopes.keyOf(parent) ?? "")) this.outside = true
      if (isMember ? !isRead : guarded.has(name) && !isCallee && !isCompared(parent)) this.outside = true
    } else if (!values.has(name)) this.outside = true
  }

  private member(node: Obj, scope: Scopes.Scope, parent: Obj): void {
    const key = Scopes.keyOf(node)
    if (key === undefined) {
      if (passesOn(node, parent) && !this.scopes.isHarmlessKey(node["property"], scope)) this.readsAny = true
    } else if (Scopes.reflective.has(key)) {
      const isNameOfIt = key === "constructor" &&
        (isCompared(parent) || parent["object"] === node && Scopes.keyOf(parent) === "name")
      if (!isNameOfIt) this.outside = true
    } else if (
      key === "prototype" && this.isFree(obj(node["object"]), scope) !== undefined && parent["object"] !== node
    ) {
      this.outside = true
    }
    const target = obj(node["object"])
    if (Scopes.typeOf(target) === "ThisExpression" && scope.receiver === "global") this.ofGlobal(node, key, parent)
  }

  /** Visits a member of `this`, which outside of classes may be the global object. */
  private ofGlobal(node: Obj, key: string | undefined, parent: Obj): void {
    if (key === undefined) this.outside = true
    else if (staticData.has(key)) this.state = true
    else if (key === "helpers") {
      if (!isHarmlessHelper(node, parent)) this.outside = true
    } else if (!values.has(key) && (this.scopes.properties.get(key) === undefined || Scopes.isPlatform(key))) {
      this.outside = true
    }
  }

  /** Visits the target of an assignment, which may change a namespace: `Error.prepareStackTrace = …`. */
  private target(value: unknown, scope: Scopes.Scope): void {
    let node = obj(value)
    if (Scopes.typeOf(node) !== "MemberExpression") return
    while (Scopes.typeOf(node) === "MemberExpression") node = obj(node?.["object"])
    const free = this.isFree(node, scope)
    if (free !== undefined && namespaces.has(free)) this.outside = true
  }

  readonly visit = (node: Obj, scope: Scopes.Scope, parent: Obj): void => {
    switch (Scopes.typeOf(node)) {
      case "Identifier":
        return this.name(node, scope, parent)
      case "MemberExpression":
        return this.member(node, scope, parent)
      case "CallExpression":
      case "NewExpression":
        return this.call(node, scope)
      case "TaggedTemplateExpression":
        return this.callee(node["tag"], scope)
      case "AssignmentExpression":
        return this.target(node["left"], scope)
      case "ClassDeclaration":
      case "ClassExpression":
        return this.callee(node["superClass"], scope)
      case "ThisExpression": {
        if (scope.receiver === "global" && !(parent["object"] === node)) this.outside = true
        return
      }
      case "Property": {
        const key = Scopes.keyOf(node)
        if (Scopes.typeOf(parent) !== "ObjectPattern") return
        if (key === undefined) this.readsAny ||= !this.scopes.isHarmlessKey(node["key"], scope)
        else if (Scopes.reflective.has(key)) this.outside = true
        return
      }
      case "ImportExpression":
      case "WithStatement":
      case "MetaProperty":
        this.outside = true
    }
  }
}

/** Whether only a harmless one of n8n's helpers is read. */
const isHarmlessHelper = (node: Obj, parent: Obj): boolean =>
  parent["object"] === node && helpers.has(Scopes.keyOf(parent) ?? "")

/** Whether a value is read from another, which the program does not see to be a function. */
const isCopied = (value: unknown): boolean => {
  const node = obj(value)
  return Scopes.typeOf(node) === "MemberExpression" && !/Function|Class|Call/.test(Scopes.typeOf(obj(node?.["object"])))
}

/** Methods of functions that call them. */
const indirect = new Set(["call", "apply", "bind"])

/** Whether a property's value is passed on and could be called, rather than only written or used in a computation. */
const passesOn = (node: Obj, parent: Obj): boolean => {
  switch (Scopes.typeOf(parent)) {
    case "AssignmentExpression":
      return parent["left"] !== node || /^(?:\|\||&&|\?\?)=$/.test(String(parent["operator"]))
    case "MemberExpression":
      return parent["object"] !== node || indirect.has(Scopes.keyOf(parent) ?? "")
    case "BinaryExpression":
    case "UnaryExpression":
    case "UpdateExpression":
    case "TemplateLiteral":
      return false
    case "IfStatement":
    case "ConditionalExpression":
      return parent["test"] !== node
  }
  return true
}

/** Whether a part of the parent is compared, or is extended by a class. */
const isCompared = (parent: Obj): boolean =>
  Scopes.typeOf(parent) === "BinaryExpression" || Scopes.typeOf(parent).startsWith("Class")

/** Reach of a node's code; code that does not parse may do anything. */
export const ofJavaScript = (code: string, parse: Parse): Reach => {
  try {
    const parsed = parse(code, "body")
    if (parsed === undefined || "mistake" in parsed) return { outside: true, state: false }
    const scopes = Scopes.make(parsed.program)
    const collector = new Collector(scopes)
    scopes.walk(collector.visit)
    return collector.reach
  } catch (error) {
    // The code is nested too deeply.
    if (error instanceof RangeError) return { outside: true, state: false }
    throw error
  }
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
