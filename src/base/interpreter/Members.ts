/** Names, properties, calls and assignments. */
import type * as Acorn from "acorn"
import { constructors, globals, statics } from "./Globals.ts"
import { isMethod, methodOf } from "./Methods.ts"
import { envAt, type Evaluate, refuse, resolve, type Scope, shortCircuited, stop, uninitialized } from "./Scope.ts"
import * as Values from "./Values.ts"

/** Names that n8n's expressions know beside the item, refused here: they would read fields that no item has. */
const beyondItem = new Set([
  ..."$binary $env $execution $input $item $itemIndex $items $node $now $pageCount $parameter $position".split(" "),
  ..."$prevNode $request $response $runIndex $secrets $today $vars $workflow".split(" ")
])

/** Reads an own property; `undefined` if the object lacks it. */
export const get = (object: unknown, key: string | number, run: Values.Run, at: number, isItem: boolean): unknown => {
  if (typeof object === "object" && object !== null) {
    if (Object.hasOwn(object, key)) {
      const value = (object as Record<string | number, unknown>)[key]
      return typeof value === "function" ? undefined : value
    }
    if (Values.record(object) !== undefined) return undefined
  } else if (typeof object === "string") {
    if (key === "length") return object.length
    const index = Number(key)
    if (Number.isInteger(index) && String(index) === String(key)) return object[index]
  } else if (object === undefined || object === null) {
    if (isItem) return undefined
    run.at = at
    return Values.fail(run, "nullish", `'${key}' of ${String(object)} cannot be read`)
  }
  if (methodOf(object, String(key)) === undefined) return undefined
  run.at = at
  return Values.fail(run, "refused", `'${key}' can only be called`)
}

const keyOf = (run: Values.Run, value: unknown): string | number => {
  if (typeof value === "number" && value >= 0) return value
  const key = Values.toText(run, value)
  Values.chargeText(run, key.length)
  return key
}

/** Path from the item to the value that a node names; `undefined` if it is computed. */
const stepsTo = (
  node: Acorn.Expression | Acorn.Super,
  scope: Scope
): ReadonlyArray<string | number> | undefined => {
  if (node.type === "Identifier") {
    if (resolve(scope, node.name) !== undefined || Object.hasOwn(globals, node.name)) return undefined
    return node.name === "$json" ? [] : [node.name]
  }
  if (node.type === "MemberExpression") {
    const { computed, object, property } = node
    const before = stepsTo(object, scope)
    if (before === undefined) return undefined
    if (!computed) return property.type === "Identifier" ? [...before, property.name] : undefined
    if (property.type !== "Literal") return undefined
    const { value } = property
    return typeof value === "string" || typeof value === "number" ? [...before, value] : undefined
  }
  if (node.type === "ChainExpression") return stepsTo(node.expression, scope)
  return undefined
}

const item: Evaluate = (_, run) => run.scope

/** Whether a node is `$json`, the item as a whole. */
const isItself = (node: Acorn.Expression | Acorn.Super, scope: Scope) =>
  scope.compilation.isItem && stepsTo(node, scope)?.length === 0

/** Counts a use of the value that a node names, or takes back that of an object of which only a member is used. */
const noteRead = (node: Acorn.Expression | Acorn.Super, scope: Scope, uses = 1) => {
  const { isItem, mayRead, reads } = scope.compilation
  const steps = isItem ? stepsTo(node, scope) : undefined
  if (steps === undefined || steps.length === 0) return
  if (steps.at(-1) === "length") return void mayRead.add("length")
  const key = JSON.stringify(steps)
  const read = reads.get(key) ?? { steps, uses: 0 }
  read.uses += uses
  reads.set(key, read)
}

export const identifier = (node: Acorn.Identifier, scope: Scope): Evaluate => {
  const { name, start } = node
  const { isItem } = scope.compilation
  const local = resolve(scope, name)
  if (local !== undefined) {
    const { hops, slot } = local
    return (env, run) => {
      const value = envAt(env, hops).values[slot]
      if (value !== uninitialized) return value
      run.at = start
      return Values.fail(run, "reference", `'${name}' is read before its declaration`)
    }
  }
  if (isItself(node, scope)) {
    scope.compilation.usesWhole = true
    return item
  }
  if (isItem && beyondItem.has(name)) {
    return stop(node, "refused", `'${name}' is not known here: only one item's fields and $json are`)
  }
  noteRead(node, scope)
  const isGlobal = Object.hasOwn(globals, name)
  if (isItem && isGlobal) scope.compilation.mayRead.add(name)
  const value = isGlobal ? globals[name] : undefined
  return (_, run) => {
    if (Object.hasOwn(run.scope, name)) return run.scope[name]
    if (isGlobal || isItem) return value
    run.at = start
    return Values.fail(run, "reference", `'${name}' is not known here`)
  }
}

/** The object and the key of a member expression; the object is {@link shortCircuited} if the chain has ended. */
const member = (node: Acorn.MemberExpression, scope: Scope) => {
  const { object, property } = node
  if (object.type === "Super") return refuse(object)
  if (property.type === "PrivateIdentifier") return refuse(property)
  const { expression } = scope.compilation
  const key = !node.computed && property.type === "Identifier"
    ? property.name
    : property.type === "Literal" && typeof property.value === "string"
    ? property.value
    : expression(property, scope)
  const isField = typeof key === "string" && isItself(object, scope)
  return { object: isField ? item : expression(object, scope), key }
}

/** A constant or function of a namespace, unless a local name shadows it. */
const staticOf = ({ computed, object, property }: Acorn.MemberExpression, scope: Scope) => {
  if (computed || object.type !== "Identifier" || property.type !== "Identifier") return undefined
  const table = Object.hasOwn(statics, object.name) && resolve(scope, object.name) === undefined
    ? statics[object.name]
    : undefined
  return table !== undefined && Object.hasOwn(table, property.name) ? table[property.name] : undefined
}

export const memberValue = (node: Acorn.MemberExpression, scope: Scope): Evaluate => {
  const constant = staticOf(node, scope)
  if (constant !== undefined) return () => constant
  noteRead(node, scope)
  const { key, object } = member(node, scope)
  if (stepsTo(node, scope) !== undefined) noteRead(node.object, scope, -1)
  const { isItem } = scope.compilation
  const { optional } = node
  const { start } = node.property
  return (env, run) => {
    const value = object(env, run)
    if (value === shortCircuited || optional && (value === undefined || value === null)) return shortCircuited
    return get(value, typeof key === "string" ? key : keyOf(run, key(env, run)), run, start, isItem)
  }
}

export const values = (
  whole: Acorn.CallExpression | Acorn.NewExpression | Acorn.ArrayExpression,
  scope: Scope
): (env: Parameters<Evaluate>[0], run: Values.Run) => Array<unknown> => {
  const { expression } = scope.compilation
  const parts = (whole.type === "ArrayExpression" ? whole.elements : whole.arguments).map((node) => {
    if (node === null) return refuse(whole, "A hole in an array")
    return node.type === "SpreadElement"
      ? { spread: expression(node.argument, scope), at: node.start }
      : { one: expression(node, scope) }
  })
  const [first, ...more] = parts
  const only = more.length === 0 && first !== undefined && "one" in first ? first.one : undefined
  if (only !== undefined) return (env, run) => [only(env, run)]
  return (env, run) => {
    const result: Array<unknown> = []
    for (const part of parts) {
      if ("one" in part) result.push(part.one(env, run))
      else if ("spread" in part) {
        const spread = part.spread(env, run)
        run.at = part.at
        const all = Values.elements(run, spread)
        Values.charge(run, Values.elementCost * all.length)
        for (const value of all) result.push(value)
      }
    }
    return result
  }
}

const methodCall = (callee: Acorn.MemberExpression, node: Acorn.CallExpression, scope: Scope): Evaluate => {
  const { isItem } = scope.compilation
  if (isItself(callee.object, scope)) scope.compilation.usesWhole = true
  const args = values(node, scope)
  const { key, object } = member(callee, scope)
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
    const name = String(typeof key === "string" ? key : keyOf(run, key(env, run)))
    const method = methodOf(self, name)
    if (method !== undefined && !(Values.record(self) !== undefined && Object.hasOwn(self as object, name))) {
      const values = args(env, run)
      run.at = at
      return method(run, self as never, values)
    }
    const inner = get(self, name, run, at, isItem)
    if (node.optional && (inner === undefined || inner === null)) return shortCircuited
    const values = args(env, run)
    run.at = at
    return inner instanceof Values.Fn
      ? inner.call(values, run)
      : Values.fail(run, "type", `${Values.kindOf(self)} has no method '${name.slice(0, 100)}'`)
  }
}

export const call = (node: Acorn.CallExpression, scope: Scope): Evaluate => {
  const { callee, optional, start } = node
  if (callee.type === "Super") return refuse(callee)
  if (callee.type === "MemberExpression" && staticOf(callee, scope) === undefined) {
    return methodCall(callee, node, scope)
  }
  const { expression, isItem } = scope.compilation
  const isUnknown = isItem && callee.type === "Identifier" && resolve(scope, callee.name) === undefined &&
    !(globals[callee.name] instanceof Values.Fn)
  if (isUnknown) return stop(callee, "refused", `There is no function '${callee.name}' here`)
  const args = values(node, scope)
  const target = expression(callee, scope)
  return (env, run) => {
    const value = target(env, run)
    if (value === shortCircuited || optional && (value === undefined || value === null)) return shortCircuited
    const values = args(env, run)
    run.at = start
    return value instanceof Values.Fn
      ? value.call(values, run)
      : Values.fail(run, "type", `${Values.kindOf(value)} cannot be called`)
  }
}

export const create = (node: Acorn.NewExpression, scope: Scope): Evaluate => {
  const { callee } = node
  const make = callee.type === "Identifier" && resolve(scope, callee.name) === undefined &&
      Object.hasOwn(constructors, callee.name)
    ? constructors[callee.name] ?? refuse(node)
    : refuse(node, "'new'", ", except new Date(…)")
  const args = values(node, scope)
  return (env, run) => {
    const values = args(env, run)
    run.at = node.start
    Values.charge(run, Values.objectCost)
    return make(run, values)
  }
}

const assignProperty = (target: unknown, name: string | number, value: unknown, run: Values.Run) => {
  const own = Values.changeable(run, target)
  if (!Array.isArray(own)) return Values.put(run, own as Record<string, unknown>, String(name), value)
  const index = Number(name)
  if (!Number.isInteger(index) || index < 0 || index > own.length) {
    return Values.fail(run, "refused", `'${name}' is not an index of the array that can be written`)
  }
  Values.charge(run, Values.elementCost)
  own[index] = value
}

export const assignment = ({ left, operator, right }: Acorn.AssignmentExpression, scope: Scope): Evaluate => {
  if (operator !== "=") return refuse(left, `'${operator}'`)
  const { expression } = scope.compilation
  if (left.type === "Identifier") {
    const local = resolve(scope, left.name)
    if (local === undefined || local.isConstant) return refuse(left, `A new value of '${left.name}'`)
    const { hops, slot } = local
    const value = expression(right, scope)
    return (env, run) => envAt(env, hops).values[slot] = value(env, run)
  }
  if (left.type !== "MemberExpression") return refuse(left, "This assignment")
  const { key, object } = member(left, scope)
  const value = expression(right, scope)
  return (env, run) => {
    const target = object(env, run)
    const name = typeof key === "string" ? key : keyOf(run, key(env, run))
    const result = value(env, run)
    run.at = left.start
    assignProperty(target, name, result, run)
    return result
  }
}
