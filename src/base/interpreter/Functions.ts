/** Functions, and the statements and patterns in them. */
import type * as Acorn from "acorn"
import { namesIn } from "../Syntax.ts"
import { get } from "./Members.ts"
import * as Scopes from "./Scope.ts"
import { charge, descend, elements, fail, Fn, type Run } from "./Values.ts"

/** Runs a statement; a returned value is wrapped in an object. */
type Execute = (env: Scopes.Env | undefined, run: Run) => undefined | { readonly value: unknown }

type Bind = (value: unknown, env: Scopes.Env | undefined, run: Run) => void

export const keyOf = (property: Acorn.AssignmentProperty | Acorn.Property): string =>
  property.computed
    ? Scopes.refuse(property, "A computed key")
    : property.key.type === "Identifier"
    ? property.key.name
    : property.key.type === "Literal"
    ? String(property.key.value)
    : Scopes.refuse(property.key)

const binding = (pattern: Acorn.Pattern, scope: Scopes.Scope): Bind =>
  Scopes.nested(pattern, scope, (): Bind => {
    switch (pattern.type) {
      case "Identifier": {
        const { hops, slot } = Scopes.resolve(scope, pattern.name) ?? Scopes.refuse(pattern)
        return (value, env) => {
          Scopes.envAt(env, hops).values[slot] = value
        }
      }
      case "ArrayPattern": {
        const binds = pattern.elements.map((element) => element === null ? undefined : binding(element, scope))
        return (value, env, run) => {
          run.at = pattern.start
          const values = elements(run, value)
          binds.forEach((bind, index) => bind?.(values[index], env, run))
        }
      }
      case "ObjectPattern": {
        const { isItem } = scope.compilation
        const binds = pattern.properties.map((property): Bind => {
          if (property.type === "RestElement") return Scopes.refuse(property)
          const key = keyOf(property)
          const bind = binding(property.value, scope)
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
        return Scopes.refuse(pattern)
    }
  })

/** Compiles a function; the name of a function expression is not in scope within it. */
export const functionExpression = (
  node: Acorn.ArrowFunctionExpression | Acorn.FunctionExpression | Acorn.FunctionDeclaration,
  outer: Scopes.Scope
): Scopes.Evaluate => {
  if (node.async || node.generator) return Scopes.refuse(node, node.async ? "An async function" : "A generator")
  const scope = Scopes.inner(outer)
  for (const param of node.params) for (const name of namesIn(param)) Scopes.declare(scope, name, false)
  const [{ body, params }, { cost, nesting }] = Scopes.measure(scope.compilation, () => {
    const { body } = node
    if (body.type === "BlockStatement") declareAll(body.body, scope)
    return {
      params: node.params.map((param) => binding(param, scope)),
      body: body.type === "BlockStatement"
        ? result(sequence(body.body, scope))
        : scope.compilation.expression(body, scope)
    }
  })
  return (outer) =>
    new Fn((args, run) => {
      charge(run, cost)
      descend(run, nesting)
      const env = Scopes.enter(scope, outer)
      for (let index = 0; index < params.length; index++) params[index]?.(args[index], env, run)
      const value = body(env, run)
      run.depth -= nesting
      return value
    })
}

const result = (body: Execute): Scopes.Evaluate => (env, run) => body(env, run)?.value

const declareAll = (statements: ReadonlyArray<Acorn.Statement>, scope: Scopes.Scope) => {
  for (const statement of statements) {
    if (statement.type === "FunctionDeclaration") Scopes.declare(scope, statement.id.name, false)
    if (statement.type !== "VariableDeclaration") continue
    const { declarations, kind } = statement
    if (kind !== "const" && kind !== "let") Scopes.refuse(statement, `'${kind}'`, ": use const or let")
    for (const { id } of declarations) for (const name of namesIn(id)) Scopes.declare(scope, name, kind === "const")
  }
}

const sequence = (statements: ReadonlyArray<Acorn.Statement>, scope: Scopes.Scope): Execute => {
  const hoisted = statements.flatMap((statement) =>
    statement.type === "FunctionDeclaration"
      ? [{ slot: scope.names.get(statement.id.name)?.slot ?? 0, make: functionExpression(statement, scope) }]
      : []
  )
  const steps = statements.flatMap((each) =>
    each.type === "FunctionDeclaration" || each.type === "EmptyStatement" ? [] : [statement(each, scope)]
  )
  return (env, run) => {
    for (const { make, slot } of hoisted) Scopes.envAt(env, 0).values[slot] = make(env, run)
    for (const step of steps) {
      const end = step(env, run)
      if (end !== undefined) return end
    }
    return undefined
  }
}

const block = (statements: ReadonlyArray<Acorn.Statement>, outer: Scopes.Scope): Execute => {
  const scope = Scopes.inner(outer)
  declareAll(statements, scope)
  const body = sequence(statements, scope)
  return (env, run) => body(Scopes.enter(scope, env), run)
}

const variables = (node: Acorn.VariableDeclaration, scope: Scopes.Scope): Execute => {
  const binds = node.declarations.map(({ id, init }) => ({
    bind: binding(id, scope),
    value: init === null || init === undefined ? undefined : scope.compilation.expression(init, scope)
  }))
  return (env, run) => {
    for (const { bind, value } of binds) bind(value?.(env, run), env, run)
    return undefined
  }
}

const statement = (node: Acorn.Statement, scope: Scopes.Scope): Execute =>
  Scopes.nested(node, scope, (): Execute => {
    const { expression } = scope.compilation
    if (node.type === "EmptyStatement") return () => undefined
    if (node.type === "ExpressionStatement") {
      const value = expression(node.expression, scope)
      return (env, run) => void value(env, run)
    }
    if (node.type === "ReturnStatement") {
      const value = node.argument ? expression(node.argument, scope) : () => undefined
      return (env, run) => ({ value: value(env, run) })
    }
    if (node.type === "BlockStatement") return block(node.body, scope)
    if (node.type === "VariableDeclaration") return variables(node, scope)
    if (node.type === "IfStatement") {
      const test = expression(node.test, scope)
      const yes = statement(node.consequent, scope)
      const no = node.alternate ? statement(node.alternate, scope) : undefined
      return (env, run) => test(env, run) ? yes(env, run) : no?.(env, run)
    }
    return Scopes.refuse(node)
  })
