/** Compiles JavaScript's syntax tree to closures; any syntax not handled here is refused. */
import type * as Acorn from "acorn"
import { constructors, globals, isMethod, methodOf, statics } from "./Methods.ts"
import * as Patterns from "./Patterns.ts"
import {
  changeable,
  charge,
  chargeText,
  descend,
  elementCost,
  elements,
  fail,
  Fn,
  kindOf,
  list,
  objectCost,
  own,
  Problem,
  put,
  record,
  type Run,
  toNumber,
  toPrimitive,
  toText
} from "./Values.ts"

/** The local variables of a block or function at run time. */
interface Env {
  readonly values: Array<unknown>
  readonly parent: Env | undefined
}

/** The local variables of a block or function at compile time. */
interface Block {
  readonly names: Map<string, { readonly slot: number; readonly isConstant: boolean }>
  readonly parent: Block | undefined
}

type Evaluate = (env: Env | undefined, run: Run) => unknown

/** Runs a statement; the result says how it ended, with a returned value inside an object. */
type Execute = (env: Env | undefined, run: Run) => undefined | "break" | "continue" | { readonly value: unknown }

/** Binds a value to the names of a pattern. */
type Bind = (value: unknown, env: Env | undefined, run: Run) => void

/** The value of a name before its declaration. */
const uninitialized = Symbol("uninitialized")
/** The value of a chain that ended at `?.`. */
const shortCircuited = Symbol("shortCircuited")

/** How a program treats missing names and properties. */
export interface Options {
  /** The scope is an item: `$json` is all of it, and anything missing, at any depth, is `undefined`. */
  readonly isItem: boolean
}

/** A compiled expression, and the steps that one pass through it takes. */
export interface Compiled {
  readonly evaluate: (run: Run) => unknown
  readonly cost: number
  /** The places of an item that it names outright, each with those it lies in: `customer`, `customer.id`. */
  readonly reads: ReadonlyArray<ReadonlyArray<string | number>>
}

/** What n8n's expressions know beside the item: here they would be fields that no item has. */
const beyondItem = new Set([
  ..."$binary $env $execution $input $item $itemIndex $items $node $now $pageCount $parameter $position".split(" "),
  ..."$prevNode $request $response $runIndex $secrets $today $vars $workflow".split(" ")
])

/** The deepest nesting that is compiled. */
const maxNesting = 250

const refused: { readonly [type: string]: string } = {
  ThisExpression: "'this'",
  AwaitExpression: "'await'",
  YieldExpression: "'yield'",
  ImportExpression: "'import'",
  ClassExpression: "A class",
  ClassDeclaration: "A class",
  TryStatement: "'try'",
  TaggedTemplateExpression: "A tagged template",
  MetaProperty: "'import.meta'",
  Super: "'super'",
  WithStatement: "'with'",
  LabeledStatement: "A label"
}

const describe = ({ type }: Acorn.Node) => refused[type] ?? type.replace(/([a-z])([A-Z])/g, "$1 $2")

const stop = ({ start }: Acorn.Node, kind: Problem["kind"], message: string): never => {
  throw new Problem({ kind, message, at: start })
}

const refuse = (node: Acorn.Node, what = describe(node), advice = ""): never =>
  stop(node, "refused", `${what} is not allowed here${advice}`)

const arithmetic: { readonly [operator: string]: (left: number, right: number) => number } = {
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "%": (left, right) => left % right,
  "**": (left, right) => left ** right,
  "&": (left, right) => left & right,
  "|": (left, right) => left | right,
  "^": (left, right) => left ^ right,
  "<<": (left, right) => left << right,
  ">>": (left, right) => left >> right,
  ">>>": (left, right) => left >>> right
}

const add = (left: unknown, right: unknown, run: Run): unknown => {
  if (typeof left === "number" && typeof right === "number") return left + right
  const [a, b] = [toPrimitive(run, left), toPrimitive(run, right)]
  if (typeof a !== "string" && typeof b !== "string") return Number(a) + Number(b)
  const sum = String(a) + String(b)
  chargeText(run, sum.length)
  return sum
}

const looseEquals = (left: unknown, right: unknown, run: Run): boolean => {
  const [isLeft, isRight] = [typeof left === "object" && left !== null, typeof right === "object" && right !== null]
  // oxlint-disable-next-line eqeqeq -- implements the operator
  if (isLeft === isRight || left === null || left === undefined || right === null || right === undefined) {
    return left == right
  }
  // oxlint-disable-next-line eqeqeq -- implements the operator
  return toPrimitive(run, left) == toPrimitive(run, right)
}

type Compare = (left: string, right: string) => boolean

/** The host's operators compare numbers as well as strings, but are typed for one of them. */
const comparison: { readonly [operator: string]: Compare } = {
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right
}

/** The binary operators, except those that short-circuit. */
const operation = (operator: string): ((left: unknown, right: unknown, run: Run) => unknown) | undefined => {
  if (operator === "===") return (left, right) => left === right
  if (operator === "!==") return (left, right) => left !== right
  if (operator === "==") return looseEquals
  if (operator === "!=") return (left, right, run) => !looseEquals(left, right, run)
  if (operator === "+") return add
  if (operator === "in") {
    return (key, object, run) =>
      typeof object === "object" && object !== null
        ? Object.hasOwn(object, toText(run, key))
        : fail(run, "type", `'in' needs an object, not ${kindOf(object)}`)
  }
  if (Object.hasOwn(arithmetic, operator)) {
    const apply = arithmetic[operator] as (left: number, right: number) => number
    return (left, right, run) =>
      typeof left === "number" && typeof right === "number"
        ? apply(left, right)
        : apply(toNumber(run, left), toNumber(run, right))
  }
  if (Object.hasOwn(comparison, operator)) {
    const compare = comparison[operator] as Compare
    return (left, right, run) =>
      typeof left === "number" && typeof right === "number"
        ? compare(left as never, right as never)
        : compare(toPrimitive(run, left, "number") as string, toPrimitive(run, right, "number") as string)
  }
  return undefined
}

/** Reads an own property; `undefined` if there is none with this name. */
const get = (object: unknown, key: string | number, run: Run, at: number, isItem: boolean): unknown => {
  if (typeof object === "object" && object !== null) {
    if (Object.hasOwn(object, key)) {
      const value = (object as Record<string | number, unknown>)[key]
      return typeof value === "function" ? undefined : value
    }
    if (record(object) !== undefined) return undefined
  } else if (typeof object === "string") {
    if (key === "length") return object.length
    const index = Number(key)
    if (Number.isInteger(index) && String(index) === String(key)) return object[index]
  } else if (object === undefined || object === null) {
    if (isItem) return undefined
    run.at = at
    return fail(run, "type", `'${key}' of ${String(object)} cannot be read`)
  }
  if (methodOf(object, String(key)) === undefined) return undefined
  run.at = at
  return fail(run, "refused", `'${key}' can only be called`)
}

const keyOf = (run: Run, value: unknown): string | number =>
  typeof value === "string" || typeof value === "number" && value >= 0 ? value : toText(run, value)

/** Compiles one expression; throws a {@link Problem}. @internal */
export const compile = (root: Acorn.Expression, { isItem }: Options): Compiled => {
  // The cost of one pass through the current function or loop body, and its depth of nesting.
  let cost = 0
  let level = 0
  let deepest = 0
  const reads = new Map<string, ReadonlyArray<string | number>>()

  const measure = <A>(body: () => A): readonly [A, { readonly cost: number; readonly nesting: number }] => {
    const before = [cost, deepest] as const
    cost = 1
    deepest = level
    const result = body()
    const measurement = { cost, nesting: deepest - level + 2 }
    cost = before[0] + 1
    deepest = Math.max(before[1], deepest)
    return [result, measurement]
  }

  const nested = <A>(node: Acorn.Node, body: () => A): A => {
    cost++
    level++
    deepest = Math.max(deepest, level)
    if (level > maxNesting) stop(node, "budget", "It is nested too deeply")
    const result = body()
    level--
    return result
  }

  // ---- names

  const declare = (block: Block, name: string, isConstant: boolean) => {
    if (!block.names.has(name)) block.names.set(name, { slot: block.names.size, isConstant })
  }

  const namesIn = (pattern: Acorn.Pattern): ReadonlyArray<string> => {
    switch (pattern.type) {
      case "Identifier":
        return [pattern.name]
      case "ObjectPattern":
        return pattern.properties.flatMap((property) =>
          namesIn(property.type === "RestElement" ? property.argument : property.value)
        )
      case "ArrayPattern":
        return pattern.elements.flatMap((element) => element === null ? [] : namesIn(element))
      case "RestElement":
        return namesIn(pattern.argument)
      case "AssignmentPattern":
        return namesIn(pattern.left)
      default:
        return refuse(pattern)
    }
  }

  const resolve = (block: Block | undefined, name: string) => {
    let hops = 0
    for (let at = block; at !== undefined; at = at.parent, hops++) {
      const known = at.names.get(name)
      if (known !== undefined) return { hops, ...known }
    }
    return undefined
  }

  const envAt = (env: Env | undefined, hops: number): Env => {
    let at = env
    for (let hop = 0; hop < hops; hop++) at = at?.parent
    return at as Env
  }

  const enter = ({ names }: Block, parent: Env | undefined): Env => {
    const values: Array<unknown> = []
    for (let slot = 0; slot < names.size; slot++) values.push(uninitialized)
    return { values, parent }
  }

  /** The steps from the item to what a node names; `undefined` where that is not written outright. */
  const stepsTo = (
    node: Acorn.Expression | Acorn.Super,
    block: Block | undefined
  ): ReadonlyArray<string | number> | undefined => {
    switch (node.type) {
      case "Identifier": {
        if (resolve(block, node.name) !== undefined || Object.hasOwn(globals, node.name)) return undefined
        return node.name === "$json" ? [] : [node.name]
      }
      case "MemberExpression": {
        const { computed, object, property } = node
        const before = stepsTo(object, block)
        if (before === undefined) return undefined
        if (!computed) return property.type === "Identifier" ? [...before, property.name] : undefined
        if (property.type !== "Literal") return undefined
        const { value } = property
        return typeof value === "string" || typeof value === "number" ? [...before, value] : undefined
      }
      case "ChainExpression":
      case "ParenthesizedExpression":
        return stepsTo(node.expression, block)
      default:
        return undefined
    }
  }

  const noteRead = (node: Acorn.Identifier | Acorn.MemberExpression, block: Block | undefined) => {
    const steps = isItem ? stepsTo(node, block) : undefined
    if (steps !== undefined && steps.length > 0 && steps.at(-1) !== "length") reads.set(JSON.stringify(steps), steps)
  }

  const identifier = (node: Acorn.Identifier, block: Block | undefined): Evaluate => {
    const { name, start } = node
    const local = resolve(block, name)
    if (local !== undefined) {
      const { hops, slot } = local
      return (env, run) => {
        const value = envAt(env, hops).values[slot]
        if (value !== uninitialized) return value
        run.at = start
        return fail(run, "reference", `'${name}' is read before its declaration`)
      }
    }
    if (isItem && name === "$json") return (_, run) => run.scope
    if (isItem && beyondItem.has(name)) {
      return stop(node, "refused", `'${name}' is not known here: only one item's fields and $json are`)
    }
    noteRead(node, block)
    const isGlobal = Object.hasOwn(globals, name)
    const value = isGlobal ? globals[name] : undefined
    return (_, run) => {
      if (Object.hasOwn(run.scope, name)) return run.scope[name]
      if (isGlobal || isItem) return value
      run.at = start
      return fail(run, "reference", `'${name}' is not known here`)
    }
  }

  // ---- patterns

  const withDefault = (bind: Bind, value: Evaluate): Bind => (input, env, run) =>
    bind(input === undefined ? value(env, run) : input, env, run)

  const binding = (pattern: Acorn.Pattern, block: Block): Bind =>
    nested(pattern, (): Bind => {
      switch (pattern.type) {
        case "Identifier": {
          const { hops, slot } = resolve(block, pattern.name) ?? refuse(pattern)
          return (value, env) => {
            envAt(env, hops).values[slot] = value
          }
        }
        case "AssignmentPattern":
          return withDefault(binding(pattern.left, block), expression(pattern.right, block))
        case "ArrayPattern": {
          const binds = pattern.elements.map((element) =>
            element === null
              ? undefined
              : element.type === "RestElement"
              ? { rest: binding(element.argument, block) }
              : { one: binding(element, block) }
          )
          return (value, env, run) => {
            run.at = pattern.start
            const values = elements(run, value)
            binds.forEach((bind, index) => {
              if (bind === undefined) return
              if ("rest" in bind) bind.rest(list(run, values.slice(index)), env, run)
              else bind.one(values[index], env, run)
            })
          }
        }
        case "ObjectPattern": {
          const keys: Array<string> = []
          const binds = pattern.properties.map((property): Bind => {
            if (property.type === "RestElement") {
              const rest = binding(property.argument, block)
              return (value, env, run) => {
                const left = Object.entries(record(value) ?? {}).filter(([key]) => !keys.includes(key))
                rest(objectFrom(run, left), env, run)
              }
            }
            const key = staticKey(property)
            const bind = binding(property.value, block)
            keys.push(key)
            return (value, env, run) => bind(get(value, key, run, property.start, isItem), env, run)
          })
          return (value, env, run) => {
            if (!isItem && (value === undefined || value === null)) {
              run.at = pattern.start
              return fail(run, "type", `${String(value)} has no properties`)
            }
            for (const bind of binds) bind(value, env, run)
          }
        }
        default:
          return refuse(pattern)
      }
    })

  const objectFrom = (run: Run, pairs: ReadonlyArray<readonly [string, unknown]>) => {
    const result: { [key: string]: unknown } = {}
    charge(run, objectCost)
    for (const [key, value] of pairs) put(run, result, key, value)
    return own(result)
  }

  const staticKey = (property: Acorn.Property | Acorn.AssignmentProperty): string => {
    if (property.computed) return refuse(property, "A computed key")
    return property.key.type === "Identifier"
      ? property.key.name
      : property.key.type === "Literal"
      ? String(property.key.value)
      : refuse(property.key)
  }

  // ---- functions

  const functionExpression = (
    node: Acorn.ArrowFunctionExpression | Acorn.FunctionExpression | Acorn.FunctionDeclaration,
    outer: Block | undefined
  ): Evaluate => {
    if (node.async || node.generator) return refuse(node, node.async ? "An async function" : "A generator")
    const block: Block = { names: new Map(), parent: outer }
    for (const param of node.params) for (const name of namesIn(param)) declare(block, name, false)
    const ownName = node.type === "FunctionExpression" ? node.id?.name : undefined
    if (ownName !== undefined) declare(block, ownName, true)
    const ownSlot = ownName === undefined || node.params.some((param) => namesIn(param).includes(ownName))
      ? undefined
      : block.names.get(ownName)?.slot
    const [{ body, params }, { cost, nesting }] = measure(() => {
      const { body } = node
      if (body.type === "BlockStatement") declareAll(body.body, block)
      return {
        params: node.params.map((param, index) => parameter(param, index, block)),
        body: body.type === "BlockStatement" ? result(sequence(body.body, block)) : expression(body, block)
      }
    })
    return (outer) => {
      const self: Fn = new Fn((args, run) => {
        charge(run, cost)
        descend(run, nesting)
        const env = enter(block, outer)
        if (ownSlot !== undefined) env.values[ownSlot] = self
        for (let index = 0; index < params.length; index++) params[index]?.(args, env, run)
        const value = body(env, run)
        run.depth -= nesting
        return value
      })
      return self
    }
  }

  const parameter = (param: Acorn.Pattern, index: number, block: Block) => {
    if (param.type === "RestElement") {
      const bind = binding(param.argument, block)
      return (args: ReadonlyArray<unknown>, env: Env, run: Run) => bind(list(run, args.slice(index)), env, run)
    }
    const bind = binding(param, block)
    return (args: ReadonlyArray<unknown>, env: Env, run: Run) => bind(args[index], env, run)
  }

  const result = (body: Execute): Evaluate => (env, run) => {
    const end = body(env, run)
    return typeof end === "object" ? end.value : undefined
  }

  const returning = (value: Evaluate): Execute => (env, run) => ({ value: value(env, run) })

  // ---- statements

  /** Declares the names of statements in their block. */
  const declareAll = (statements: ReadonlyArray<Acorn.Statement | Acorn.ModuleDeclaration>, block: Block) => {
    for (const statement of statements) {
      if (statement.type === "FunctionDeclaration") declare(block, statement.id.name, false)
      if (statement.type === "VariableDeclaration") declareVariables(statement, block)
    }
  }

  const declareVariables = (node: Acorn.VariableDeclaration, block: Block) => {
    if (node.kind !== "const" && node.kind !== "let") refuse(node, `'${node.kind}'`, ": use const or let")
    for (const { id } of node.declarations) for (const name of namesIn(id)) declare(block, name, node.kind === "const")
  }

  const sequence = (statements: ReadonlyArray<Acorn.Statement>, block: Block): Execute => {
    const hoisted = statements.flatMap((statement) =>
      statement.type === "FunctionDeclaration"
        ? [{ slot: block.names.get(statement.id.name)?.slot ?? 0, make: functionExpression(statement, block) }]
        : []
    )
    const steps = statements.flatMap((each) =>
      each.type === "FunctionDeclaration" || each.type === "EmptyStatement" ? [] : [statement(each, block)]
    )
    return (env, run) => {
      for (const { make, slot } of hoisted) envAt(env, 0).values[slot] = make(env, run)
      for (const step of steps) {
        const end = step(env, run)
        if (end !== undefined) return end
      }
      return undefined
    }
  }

  /** Statements in a block of their own. */
  const blockStatement = (statements: ReadonlyArray<Acorn.Statement>, outer: Block | undefined): Execute => {
    const block: Block = { names: new Map(), parent: outer }
    declareAll(statements, block)
    const body = sequence(statements, block)
    return (env, run) => body(enter(block, env), run)
  }

  const variables = (node: Acorn.VariableDeclaration, block: Block): Execute => {
    const binds = node.declarations.map(({ id, init }) => ({
      bind: binding(id, block),
      value: init === null || init === undefined ? undefined : expression(init, block)
    }))
    return (env, run) => {
      for (const { bind, value } of binds) bind(value?.(env, run), env, run)
      return undefined
    }
  }

  /** The parts of a loop; each pass through the body is charged. */
  const loop = (
    body: Acorn.Statement,
    block: Block | undefined,
    rest: () => { readonly test?: Evaluate | undefined; readonly update?: Evaluate | undefined }
  ) => {
    const [{ execute, test, update }, { cost }] = measure(() => ({ ...rest(), execute: statement(body, block) }))
    return { execute: (env: Env | undefined, run: Run) => (charge(run, cost), execute(env, run)), test, update }
  }

  const forLoop = (node: Acorn.ForStatement, outer: Block | undefined): Execute => {
    const block: Block = { names: new Map(), parent: outer }
    const { init } = node
    if (init?.type === "VariableDeclaration") declareVariables(init, block)
    const start = init === null || init === undefined
      ? undefined
      : init.type === "VariableDeclaration"
      ? variables(init, block)
      : expression(init, block)
    const { execute, test, update } = loop(node.body, block, () => ({
      test: node.test ? expression(node.test, block) : undefined,
      update: node.update ? expression(node.update, block) : undefined
    }))
    return (outer, run) => {
      let env = enter(block, outer)
      start?.(env, run)
      for (;;) {
        if (test !== undefined && !test(env, run)) break
        const end = execute(env, run)
        if (end === "break") break
        if (typeof end === "object") return end
        // Closures keep the variables of their own iteration.
        env = { values: [...env.values], parent: outer }
        update?.(env, run)
      }
      return undefined
    }
  }

  const forEach = (node: Acorn.ForOfStatement | Acorn.ForInStatement, outer: Block | undefined): Execute => {
    const { left } = node
    if (node.type === "ForOfStatement" && node.await) return refuse(node, "'await'")
    if (left.type !== "VariableDeclaration") return refuse(left, "A loop without a declaration")
    const block: Block = { names: new Map(), parent: outer }
    declareVariables(left, block)
    const [declaration] = left.declarations
    const bind = declaration === undefined ? refuse(left) : binding(declaration.id, block)
    const source = expression(node.right, outer)
    const { execute } = loop(node.body, block, () => ({}))
    const isOf = node.type === "ForOfStatement"
    return (outer, run) => {
      const value = source(outer, run)
      run.at = node.start
      const values = isOf ? elements(run, value) : Object.keys(Array.isArray(value) ? value : record(value) ?? {})
      for (const each of values) {
        const env = enter(block, outer)
        bind(each, env, run)
        const end = execute(env, run)
        if (end === "break") break
        if (typeof end === "object") return end
      }
      return undefined
    }
  }

  const whileLoop = (node: Acorn.WhileStatement | Acorn.DoWhileStatement, block: Block | undefined): Execute => {
    const { execute, test } = loop(node.body, block, () => ({ test: expression(node.test, block) }))
    const isFirst = node.type === "WhileStatement"
    return (env, run) => {
      for (let round = isFirst ? 1 : 0;; round++) {
        if (round > 0 && !test?.(env, run)) return undefined
        const end = execute(env, run)
        if (end === "break") return undefined
        if (typeof end === "object") return end
      }
    }
  }

  const switchStatement = (node: Acorn.SwitchStatement, outer: Block | undefined): Execute => {
    const block: Block = { names: new Map(), parent: outer }
    for (const { consequent } of node.cases) declareAll(consequent, block)
    const value = expression(node.discriminant, outer)
    const cases = node.cases.map(({ consequent, test }) => ({
      test: test ? expression(test, block) : undefined,
      body: sequence(consequent, block)
    }))
    return (outer, run) => {
      const subject = value(outer, run)
      const env = enter(block, outer)
      const match = cases.findIndex(({ test }) => test !== undefined && test(env, run) === subject)
      const first = match < 0 ? cases.findIndex(({ test }) => test === undefined) : match
      for (const { body } of first < 0 ? [] : cases.slice(first)) {
        const end = body(env, run)
        if (end !== undefined) return end === "break" ? undefined : end
      }
      return undefined
    }
  }

  const statement = (node: Acorn.Statement, block: Block | undefined): Execute =>
    nested(node, (): Execute => {
      switch (node.type) {
        case "EmptyStatement":
          return () => undefined
        case "ExpressionStatement": {
          const value = expression(node.expression, block)
          return (env, run) => void value(env, run)
        }
        case "ReturnStatement":
          return returning(node.argument ? expression(node.argument, block) : () => undefined)
        case "BlockStatement":
          return blockStatement(node.body, block)
        case "VariableDeclaration":
          return block === undefined ? refuse(node) : variables(node, block)
        case "IfStatement": {
          const test = expression(node.test, block)
          const yes = statement(node.consequent, block)
          const no = node.alternate ? statement(node.alternate, block) : undefined
          return (env, run) => test(env, run) ? yes(env, run) : no?.(env, run)
        }
        case "ForStatement":
          return forLoop(node, block)
        case "ForOfStatement":
        case "ForInStatement":
          return forEach(node, block)
        case "WhileStatement":
        case "DoWhileStatement":
          return whileLoop(node, block)
        case "SwitchStatement":
          return switchStatement(node, block)
        case "BreakStatement":
          return node.label ? refuse(node, "A label") : () => "break"
        case "ContinueStatement":
          return node.label ? refuse(node, "A label") : () => "continue"
        case "ThrowStatement": {
          const value = expression(node.argument, block)
          return (env, run) => {
            const thrown = toText(run, value(env, run))
            run.at = node.start
            return fail(run, "thrown", thrown.slice(0, 200))
          }
        }
        default:
          return refuse(node)
      }
    })

  // ---- expressions

  const values = (
    nodes: ReadonlyArray<Acorn.Expression | Acorn.SpreadElement | null>,
    block: Block | undefined
  ): (env: Env | undefined, run: Run) => Array<unknown> => {
    const parts = nodes.map((node) => {
      if (node === null) return refuse(root, "A hole in an array")
      return node.type === "SpreadElement"
        ? { spread: expression(node.argument, block), at: node.start }
        : { one: expression(node, block) }
    })
    const [first, ...more] = parts
    const only = more.length === 0 ? first?.one : undefined
    if (only !== undefined) return (env, run) => [only(env, run)]
    return (env, run) => {
      const result: Array<unknown> = []
      for (const part of parts) {
        if (part.one !== undefined) result.push(part.one(env, run))
        else {
          const spread = part.spread(env, run)
          run.at = part.at
          const all = elements(run, spread)
          charge(run, elementCost * all.length)
          for (const value of all) result.push(value)
        }
      }
      return result
    }
  }

  const object = (node: Acorn.ObjectExpression, block: Block | undefined): Evaluate => {
    const parts = node.properties.map((property) => {
      if (property.type === "SpreadElement") return { spread: expression(property.argument, block) }
      if (property.kind !== "init") return refuse(property, "A getter or setter")
      const key = property.computed ? expression(property.key, block) : staticKey(property)
      if (key === "__proto__") return refuse(property, "A key '__proto__'")
      return { key, value: expression(property.value, block) }
    })
    return (env, run) => {
      const result: { [key: string]: unknown } = {}
      charge(run, objectCost)
      for (const part of parts) {
        if ("spread" in part) {
          const value = part.spread(env, run)
          const from = typeof value === "string" || Array.isArray(value) ? value : record(value) ?? {}
          for (const [key, inner] of Object.entries(from)) put(run, result, key, inner)
        } else {
          const key = typeof part.key === "string" ? part.key : toText(run, part.key(env, run))
          put(run, result, key, part.value(env, run))
        }
      }
      return own(result)
    }
  }

  /** The object and the key of a member expression; the object is {@link shortCircuited} if the chain has ended. */
  const member = (node: Acorn.MemberExpression, block: Block | undefined) => {
    if (node.object.type === "Super") return refuse(node.object)
    const { property } = node
    const key = property.type === "PrivateIdentifier"
      ? refuse(property)
      : node.computed
      ? property.type === "Literal" && typeof property.value === "string" ? property.value : expression(property, block)
      : property.type === "Identifier"
      ? property.name
      : refuse(property)
    return { object: expression(node.object, block), key }
  }

  const memberValue = (node: Acorn.MemberExpression, block: Block | undefined): Evaluate => {
    const { object: source, property } = node
    if (!node.computed && source.type === "Identifier" && property.type === "Identifier") {
      const constant = staticOf(source, property.name, block)
      if (constant !== undefined) return () => constant
    }
    noteRead(node, block)
    const { key, object } = member(node, block)
    const { optional, start } = { optional: node.optional, start: node.property.start }
    if (typeof key === "string") {
      return (env, run) => {
        const value = object(env, run)
        if (value === shortCircuited || optional && (value === undefined || value === null)) return shortCircuited
        return get(value, key, run, start, isItem)
      }
    }
    return (env, run) => {
      const value = object(env, run)
      if (value === shortCircuited || optional && (value === undefined || value === null)) return shortCircuited
      return get(value, keyOf(run, key(env, run)), run, start, isItem)
    }
  }

  /** A constant or function of a namespace, unless a local name shadows it. */
  const staticOf = (node: Acorn.Identifier, name: string, block: Block | undefined) => {
    const table = Object.hasOwn(statics, node.name) && resolve(block, node.name) === undefined
      ? statics[node.name]
      : undefined
    return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
  }

  const call = (node: Acorn.CallExpression, block: Block | undefined): Evaluate => {
    const { callee } = node
    if (callee.type === "Super") return refuse(callee)
    const args = values(node.arguments, block)
    const { optional, start } = node
    const isMethodCall = callee.type === "MemberExpression" &&
      !(callee.object.type === "Identifier" && callee.property.type === "Identifier" && !callee.computed &&
        staticOf(callee.object, callee.property.name, block) !== undefined)
    if (isMethodCall) {
      const { key, object } = member(callee, block)
      const at = callee.property.start
      if (key === "constructor" || typeof key === "string" && !isMethod(key) && isItem) {
        return refuse(callee.property, `A method '${key}'`)
      }
      return (env, run) => {
        const self = object(env, run)
        if (self === shortCircuited) return shortCircuited
        if (self === undefined || self === null) {
          if (callee.optional) return shortCircuited
          if (isItem) return undefined
        }
        const name = typeof key === "string" ? key : toText(run, key(env, run))
        const method = methodOf(self, name)
        if (method !== undefined && !(record(self) !== undefined && Object.hasOwn(self as object, name))) {
          const values = args(env, run)
          run.at = at
          return method(run, self as never, values)
        }
        const inner = get(self, name, run, at, isItem)
        if (optional && (inner === undefined || inner === null)) return shortCircuited
        const values = args(env, run)
        run.at = at
        return inner instanceof Fn
          ? inner.call(values, run)
          : fail(run, "type", `${kindOf(self)} has no method '${name}'`)
      }
    }
    const isUnknown = isItem && callee.type === "Identifier" && resolve(block, callee.name) === undefined &&
      !(globals[callee.name] instanceof Fn)
    if (isUnknown) return stop(callee, "refused", `There is no function '${callee.name}' here`)
    const target = expression(callee, block)
    return (env, run) => {
      const value = target(env, run)
      if (value === shortCircuited || optional && (value === undefined || value === null)) return shortCircuited
      const values = args(env, run)
      run.at = start
      return value instanceof Fn ? value.call(values, run) : fail(run, "type", `${kindOf(value)} cannot be called`)
    }
  }

  /** The target of an assignment, to read and write. */
  const reference = (
    node: Acorn.Pattern | Acorn.Expression,
    block: Block | undefined
  ): (env: Env | undefined, run: Run) => { readonly read: () => unknown; readonly write: (value: unknown) => void } => {
    if (node.type === "Identifier") {
      const local = resolve(block, node.name)
      if (local === undefined || local.isConstant) return refuse(node, `A new value of '${node.name}'`)
      const read = identifier(node, block)
      const { hops, slot } = local
      return (env, run) => ({
        read: () => read(env, run),
        write: (value) => {
          // Reading fails before the declaration.
          read(env, run)
          envAt(env, hops).values[slot] = value
        }
      })
    }
    if (node.type !== "MemberExpression") return refuse(node, "This assignment")
    const { key, object } = member(node, block)
    return (env, run) => {
      const target = object(env, run)
      const name = typeof key === "string" ? key : keyOf(run, key(env, run))
      return {
        read: () => get(target, name, run, node.start, false),
        write: (value) => {
          run.at = node.start
          const own = changeable(run, target)
          if (!Array.isArray(own)) return put(run, own as Record<string, unknown>, String(name), value)
          const index = Number(name)
          if (!Number.isInteger(index) || index < 0 || index > own.length) {
            return fail(run, "refused", `'${name}' is not an index of the array that can be written`)
          }
          charge(run, elementCost)
          own[index] = value
        }
      }
    }
  }

  const assignment = (node: Acorn.AssignmentExpression, block: Block | undefined): Evaluate => {
    const target = reference(node.left, block)
    const value = expression(node.right, block)
    const operator = node.operator.slice(0, -1)
    const isNeeded = operator === "&&"
      ? (before: unknown) => Boolean(before)
      : operator === "||"
      ? (before: unknown) => !before
      : operator === "??"
      ? (before: unknown) => before === undefined || before === null
      : undefined
    const apply = operation(operator)
    return (env, run) => {
      const { read, write } = target(env, run)
      if (isNeeded !== undefined) {
        const before = read()
        if (!isNeeded(before)) return before
      }
      const result = apply === undefined ? value(env, run) : apply(read(), value(env, run), run)
      write(result)
      return result
    }
  }

  const unary = (node: Acorn.UnaryExpression, block: Block | undefined): Evaluate => {
    const value = expression(node.argument, block)
    switch (node.operator) {
      case "!":
        return (env, run) => !value(env, run)
      case "-":
        return (env, run) => -toNumber(run, value(env, run))
      case "+":
        return (env, run) => toNumber(run, value(env, run))
      case "~":
        return (env, run) => ~toNumber(run, value(env, run))
      case "void":
        return (env, run) => void value(env, run)
      case "typeof":
        return (env, run) => {
          const operand = value(env, run)
          return operand instanceof Fn ? "function" : typeof operand
        }
      default:
        return refuse(node, `'${node.operator}'`)
    }
  }

  const logical = (node: Acorn.LogicalExpression, block: Block | undefined): Evaluate => {
    const left = expression(node.left, block)
    const right = expression(node.right, block)
    if (node.operator === "&&") return (env, run) => left(env, run) && right(env, run)
    if (node.operator === "||") return (env, run) => left(env, run) || right(env, run)
    return (env, run) => left(env, run) ?? right(env, run)
  }

  const template = (node: Acorn.TemplateLiteral, block: Block | undefined): Evaluate => {
    const texts = node.quasis.map(({ value }) => value.cooked ?? "")
    const parts = node.expressions.map((part) => expression(part, block))
    return (env, run) => {
      let text = texts[0] ?? ""
      parts.forEach((part, index) => {
        text += toText(run, part(env, run)) + (texts[index + 1] ?? "")
        chargeText(run, text.length)
      })
      return text
    }
  }

  const literal = (node: Acorn.Literal): Evaluate => {
    const { regex, value } = node
    if (regex) {
      const pattern = Patterns.compile(regex.pattern, regex.flags)
      return typeof pattern === "string" ? stop(node, "refused", pattern) : () => pattern
    }
    return typeof value === "bigint" ? refuse(node, "A bigint") : () => value
  }

  const create = (node: Acorn.NewExpression, block: Block | undefined): Evaluate => {
    const { callee } = node
    const make = callee.type === "Identifier" && resolve(block, callee.name) === undefined &&
        Object.hasOwn(constructors, callee.name)
      ? constructors[callee.name] ?? refuse(node)
      : refuse(node, "'new'", ", except new Date(…)")
    const args = values(node.arguments, block)
    return (env, run) => {
      const values = args(env, run)
      run.at = node.start
      charge(run, objectCost)
      return make(run, values)
    }
  }

  const update = (node: Acorn.UpdateExpression, block: Block | undefined): Evaluate => {
    const target = reference(node.argument, block)
    const step = node.operator === "++" ? 1 : -1
    return (env, run) => {
      const { read, write } = target(env, run)
      const before = toNumber(run, read())
      write(before + step)
      return node.prefix ? before + step : before
    }
  }

  const expression = (node: Acorn.Expression | Acorn.PrivateIdentifier, block: Block | undefined): Evaluate =>
    nested(node, (): Evaluate => {
      switch (node.type) {
        case "Literal":
          return literal(node)
        case "TemplateLiteral":
          return template(node, block)
        case "Identifier":
          return identifier(node, block)
        case "MemberExpression":
          return memberValue(node, block)
        case "CallExpression":
          return call(node, block)
        case "ChainExpression": {
          const chain = expression(node.expression, block)
          return (env, run) => {
            const value = chain(env, run)
            return value === shortCircuited ? undefined : value
          }
        }
        case "UnaryExpression":
          return unary(node, block)
        case "BinaryExpression": {
          const apply = operation(node.operator)
          if (apply === undefined) return refuse(node, `'${node.operator}'`)
          const left = expression(node.left, block)
          const right = expression(node.right, block)
          return (env, run) => apply(left(env, run), right(env, run), run)
        }
        case "LogicalExpression":
          return logical(node, block)
        case "ConditionalExpression": {
          const test = expression(node.test, block)
          const yes = expression(node.consequent, block)
          const no = expression(node.alternate, block)
          return (env, run) => test(env, run) ? yes(env, run) : no(env, run)
        }
        case "ArrayExpression": {
          const all = values(node.elements, block)
          return (env, run) => list(run, all(env, run))
        }
        case "ObjectExpression":
          return object(node, block)
        case "ArrowFunctionExpression":
        case "FunctionExpression":
          return functionExpression(node, block)
        case "AssignmentExpression":
          return assignment(node, block)
        case "UpdateExpression":
          return update(node, block)
        case "SequenceExpression": {
          const all = node.expressions.map((each) => expression(each, block))
          return (env, run) => all.reduce<unknown>((_, each) => each(env, run), undefined)
        }
        case "NewExpression":
          return create(node, block)
        case "ParenthesizedExpression":
          return expression(node.expression, block)
        default:
          return refuse(node)
      }
    })

  const evaluate = expression(root, undefined)
  return { evaluate: (run) => evaluate(undefined, run), cost, reads: [...reads.values()] }
}
