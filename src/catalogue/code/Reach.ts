/** Effects of a node's code beyond computing from its input. */
import type { Parse } from "../../base/JavaScript.ts"
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import lists from "./javascript.json" with { type: "json" }
import pythonLists from "./python.json" with { type: "json" }
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

/** Modules without access to anything outside. */
const modules = words(lists.modules)

const staticData = new Set(["$getWorkflowStaticData", "getWorkflowStaticData"])

/** Functions that call their argument at this position. */
const callers: ReadonlyMap<string, number> = new Map([
  ...[...words(lists.callers)].map((name) => [name, 0] as const),
  ...["from", "parse", "groupBy"].map((name) => [name, 1] as const)
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
    return { outside: this.outside || this.readsAny && this.callsAny, state: this.state }
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
    const position = name === undefined ? undefined : callers.get(name)
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

/** Standard modules that only compute. */
const pythonModules = words(pythonLists.modules)

/** Names that give access to code, attributes by name, files or n8n's helpers. */
const names = words(pythonLists.names)

/** Attributes by which harmless values and modules lead to others. */
const attributes = words(pythonLists.attributes)

/** Methods that a class may define. */
const special = words(pythonLists.special)

const stringStart = /([A-Za-z]{0,2})("""|'''|"|')/y

/** Code without comments and strings, but with the expressions in f-strings; `undefined` if a string has no end. */
const withoutTexts = (code: string): string | undefined => {
  let out = ""
  let at = 0
  /** Reads code to its end, or to the `}` of an f-string. */
  const readCode = (isInText: boolean): boolean => {
    let depth = 0
    while (at < code.length) {
      const char = code[at] ?? ""
      stringStart.lastIndex = at
      const start = /\w/.test(code[at - 1] ?? "") && /\w/.test(char) ? null : stringStart.exec(code)
      if (start !== null) {
        at += start[0].length
        out += " \"\" "
        if (!readText(start[2] ?? "", /[ft]/i.test(start[1] ?? ""))) return false
      } else if (char === "#") {
        while (at < code.length && code[at] !== "\n") at++
      } else if (isInText && char === "}" && depth === 0) {
        at++
        out += " ) "
        return true
      } else if (isInText && char === ":" && depth === 0) {
        // A format follows, in which quotes do not begin strings.
        while (at < code.length && code[at] !== "}") {
          if (code[at++] === "{" && !readCode(true)) return false
        }
      } else {
        if (/[[({]/.test(char)) depth++
        if (/[\])}]/.test(char)) depth--
        out += char === "\n" && depth > 0 ? " " : char
        at++
      }
    }
    return !isInText
  }
  const readText = (quote: string, isFormatted: boolean): boolean => {
    while (at < code.length) {
      if (code.startsWith(quote, at)) {
        at += quote.length
        return true
      }
      if (code[at] === "\\") at += isFormatted && code[at + 1] === "{" ? 1 : 2
      else if (isFormatted && code.startsWith("{{", at)) at += 2
      else if (isFormatted && code[at] === "{") {
        at++
        out += " ( "
        if (!readCode(true)) return false
      } else if (quote.length === 1 && code[at] === "\n") return false
      else at++
    }
    return false
  }
  return readCode(false) ? out : undefined
}

/** Imported modules; `undefined` for an import of another form. */
const imported = (code: string): ReadonlyArray<string> | undefined => {
  const all: Array<string> = []
  const statement = /(?:^|[;:\n])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b([^;\n]*)|import[ \t]+([^;\n]+))/g
  let count = 0
  for (const [, from, parts, list] of code.matchAll(statement)) {
    count++
    if (from !== undefined) {
      all.push(from, ...(parts?.match(/\w+/g) ?? []).filter((part) => part.startsWith("_") || attributes.has(part)))
    }
    for (const each of list?.split(",") ?? []) all.push(each.trim().split(/\s/)[0] ?? "")
  }
  return count === (code.match(/\bimport\b/g) ?? []).length ? all : undefined
}

/** Reach of a node's code; code that does not certainly only compute may do anything. */
export const ofPython = (source: string): Reach => {
  // Python treats compatibility forms of a letter as the letter itself.
  const code = withoutTexts(source.normalize("NFKC").replace(/\r\n?/g, "\n").replace(/\\\n/g, " "))
  if (code === undefined) return { outside: true, state: false }
  const matches = [...code.matchAll(/(\.\s*)?\b([\p{L}_][\p{L}\p{N}_]*)/gu)]
  const isReached = matches.some(([, dot, name = ""]) =>
    name.startsWith("__") && (dot !== undefined || !special.has(name)) ||
    (dot === undefined ? names.has(name) : name.startsWith("_") || attributes.has(name))
  )
  return {
    outside: isReached ||
      imported(code)?.every((module: string) => pythonModules.has(module.split(".")[0] ?? "")) !== true,
    state: matches.some(([, , name]) => /^_?getWorkflowStaticData$/.test(name ?? ""))
  }
}

/** SQL over items that uses other sources or code, which n8n has refused since 2025. */
const sqlCallsOut =
  /`|->|\b(?:attach|require|source|create|into)\b|\b(?:from|join|using)\s*[a-z_]\w*\s*\(|\b(?:from|join)\s*["'[]/i

/** Reach of a parameter's value, by the file extension of its language. */
export const of = (extension: string | undefined, code: unknown, parse: Parse): Reach => {
  const isCode = extension === "js" || extension === "py" || extension === "sql"
  if (!isCode) return { outside: false, state: false }
  if (typeof code !== "string") return { outside: true, state: false }
  if (extension === "js") return ofJavaScript(code, parse)
  return extension === "py" ? ofPython(code) : { outside: sqlCallsOut.test(code), state: false }
}
