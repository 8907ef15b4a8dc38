/** Compiles JavaScript's syntax tree to closures; any syntax not handled here is refused. */
import type * as Acorn from "acorn"
import { functionExpression, keyOf } from "./Functions.ts"
import * as Members from "./Members.ts"
import { operation, unary } from "./Operators.ts"
import * as Patterns from "./Patterns.ts"
import { type Compilation, type Evaluate, nested, refuse, type Scope, shortCircuited, stop } from "./Scope.ts"
import { charge, fail, list, makeText, objectCost, own, put, record, type Run, toText } from "./Values.ts"

export interface Options {
  /** Whether the scope is an item: `$json` is the whole item, and anything missing, at any depth, is `undefined`. */
  readonly isItem: boolean
}

/** A compiled expression, and the steps of one pass through it. */
export interface Compiled {
  readonly evaluate: (run: Run) => unknown
  readonly cost: number
  /** Paths of an item that it names, with their parents: `customer`, `customer.id`. */
  readonly reads: ReadonlyArray<ReadonlyArray<string | number>>
  /** Paths of `reads` whose value it uses, not only something inside it. */
  readonly uses: ReadonlyArray<ReadonlyArray<string | number>>
  readonly usesWhole: boolean
  /** Fields that it reads instead of a known name or a length if an item has them. */
  readonly mayRead: ReadonlyArray<string>
}

/** Maximum number of regular expressions, each of which may take milliseconds to compile. */
const maxPatterns = 20

const literal = (node: Acorn.Literal, { compilation }: Scope): Evaluate => {
  const { regex, value } = node
  if (regex) {
    if (++compilation.patterns > maxPatterns) stop(node, "budget", `More than ${maxPatterns} regular expressions`)
    const pattern = Patterns.compile(regex.pattern, regex.flags)
    return typeof pattern === "string" ? stop(node, "refused", pattern) : () => pattern
  }
  return typeof value === "bigint" ? refuse(node, "A bigint") : () => value
}

const template = (node: Acorn.TemplateLiteral, scope: Scope): Evaluate => {
  const texts = node.quasis.map(({ value }) => value.cooked ?? "")
  const parts = node.expressions.map((part) => expression(part, scope))
  return (env, run) => {
    let text = texts[0] ?? ""
    parts.forEach((part, index) => {
      const next = toText(run, part(env, run))
      const after = texts[index + 1] ?? ""
      makeText(run, text.length + next.length + after.length)
      text += next + after
    })
    return text
  }
}

const object = (node: Acorn.ObjectExpression, scope: Scope): Evaluate => {
  const parts = node.properties.map((property) => {
    if (property.type === "SpreadElement") return { spread: expression(property.argument, scope) }
    if (property.kind !== "init") return refuse(property, "A getter or setter")
    const key = keyOf(property)
    if (key === "__proto__") return refuse(property, "A key '__proto__'")
    return { key, value: expression(property.value, scope) }
  })
  return (env, run) => {
    const result: { [key: string]: unknown } = {}
    charge(run, objectCost)
    for (const part of parts) {
      if ("spread" in part) {
        const value = part.spread(env, run)
        if (typeof value === "string") fail(run, "type", "A string has no keys to spread")
        const from = (Array.isArray(value) ? value : record(value) ?? {}) as { readonly [key: string]: unknown }
        for (const key of Object.keys(from)) put(run, result, key, from[key])
      } else put(run, result, part.key, part.value(env, run))
    }
    return own(result)
  }
}

const logical = ({ left: first, operator, right: second }: Acorn.LogicalExpression, scope: Scope): Evaluate => {
  const left = expression(first, scope)
  const right = expression(second, scope)
  if (operator === "&&") return (env, run) => left(env, run) && right(env, run)
  if (operator === "||") return (env, run) => left(env, run) || right(env, run)
  return (env, run) => left(env, run) ?? right(env, run)
}

const operators = (node: Acorn.UnaryExpression | Acorn.BinaryExpression, scope: Scope): Evaluate => {
  if (node.type === "UnaryExpression") {
    const apply = unary[node.operator] ?? refuse(node, `'${node.operator}'`)
    const value = expression(node.argument, scope)
    return (env, run) => apply(value(env, run), run)
  }
  const apply = operation(node.operator) ?? refuse(node, `'${node.operator}'`)
  const left = expression(node.left, scope)
  const right = expression(node.right, scope)
  return (env, run) => apply(left(env, run), right(env, run), run)
}

const expression: Compilation["expression"] = (node, scope) =>
  nested(node, scope, (): Evaluate => {
    if (node.type === "Literal") return literal(node, scope)
    if (node.type === "TemplateLiteral") return template(node, scope)
    if (node.type === "Identifier") return Members.identifier(node, scope)
    if (node.type === "MemberExpression") return Members.memberValue(node, scope)
    if (node.type === "CallExpression") return Members.call(node, scope)
    if (node.type === "NewExpression") return Members.create(node, scope)
    if (node.type === "AssignmentExpression") return Members.assignment(node, scope)
    if (node.type === "ChainExpression") {
      const chain = expression(node.expression, scope)
      return (env, run) => {
        const value = chain(env, run)
        return value === shortCircuited ? undefined : value
      }
    }
    if (node.type === "UnaryExpression" || node.type === "BinaryExpression") return operators(node, scope)
    if (node.type === "LogicalExpression") return logical(node, scope)
    if (node.type === "ConditionalExpression") {
      const test = expression(node.test, scope)
      const yes = expression(node.consequent, scope)
      const no = expression(node.alternate, scope)
      return (env, run) => test(env, run) ? yes(env, run) : no(env, run)
    }
    if (node.type === "ArrayExpression") {
      const all = Members.values(node, scope)
      return (env, run) => list(run, all(env, run))
    }
    if (node.type === "ObjectExpression") return object(node, scope)
    if (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression") {
      return functionExpression(node, scope)
    }
    return refuse(node)
  })

/** Compiles one expression; throws a {@link Problem}. @internal */
export const compile = (root: Acorn.Expression, { isItem }: Options): Compiled => {
  const compilation: Compilation = {
    isItem,
    expression,
    reads: new Map(),
    usesWhole: false,
    mayRead: new Set(),
    patterns: 0,
    cost: 0,
    level: 0,
    deepest: 0
  }
  const evaluate = expression(root, { compilation, names: new Map(), parent: undefined })
  const { cost, usesWhole } = compilation
  const reads = [...compilation.reads.values()]
  return {
    evaluate: (run) => evaluate(undefined, run),
    cost,
    reads: reads.map(({ steps }) => steps),
    uses: reads.flatMap(({ steps, uses }) => uses > 0 ? [steps] : []),
    usesWhole,
    mayRead: [...compilation.mayRead]
  }
}
