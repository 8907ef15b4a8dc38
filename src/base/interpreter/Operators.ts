/** Unary and binary operators. */
import { charge, chargeText, fail, Fn, kindOf, makeText, type Run, toNumber, toPrimitive, toText } from "./Values.ts"

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

type Operation = (left: unknown, right: unknown, run: Run) => unknown

const add: Operation = (left, right, run) => {
  if (typeof left === "number" && typeof right === "number") return left + right
  const [a, b] = [toPrimitive(run, left), toPrimitive(run, right)]
  if (typeof a !== "string" && typeof b !== "string") return Number(a) + Number(b)
  const [first, second] = [String(a), String(b)]
  makeText(run, first.length + second.length)
  return first + second
}

/** As `===`, charged by length, since equal texts are compared in full. */
export const isSame = (run: Run, left: unknown, right: unknown): boolean => {
  if (typeof left === "string" && typeof right === "string" && left.length === right.length) {
    chargeText(run, left.length)
  }
  return left === right
}

const isLoose = (run: Run, left: unknown, right: unknown): boolean => {
  if (left === null || left === undefined || right === null || right === undefined) {
    // oxlint-disable-next-line eqeqeq -- null equals undefined only
    return left == right
  }
  if (typeof left === typeof right) return isSame(run, left, right)
  const [a, b] = [toPrimitive(run, left), toPrimitive(run, right)]
  return typeof a === typeof b ? isSame(run, a, b) : toNumber(run, a) === toNumber(run, b)
}

/** The host's operators compare numbers and strings, but are typed for one of them. */
const comparison: { readonly [operator: string]: (left: string, right: string) => boolean } = {
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right
}

const compare = (apply: (left: string, right: string) => boolean): Operation => (left, right, run) => {
  if (typeof left === "number" && typeof right === "number") return apply(left as never, right as never)
  const [a, b] = [toPrimitive(run, left, "number"), toPrimitive(run, right, "number")]
  if (typeof a !== "string" || typeof b !== "string") return apply(toNumber(run, a) as never, toNumber(run, b) as never)
  chargeText(run, Math.min(a.length, b.length))
  return apply(a, b)
}

const hasKey: Operation = (key, object, run) => {
  if (typeof object !== "object" || object === null) {
    return fail(run, "type", `'in' needs an object, not ${kindOf(object)}`)
  }
  const name = toText(run, key)
  chargeText(run, name.length)
  return Object.hasOwn(object, name)
}

const binary: { readonly [operator: string]: Operation } = {
  "===": (left, right, run) => isSame(run, left, right),
  "!==": (left, right, run) => !isSame(run, left, right),
  "==": (left, right, run) => isLoose(run, left, right),
  "!=": (left, right, run) => !isLoose(run, left, right),
  "+": add,
  in: hasKey,
  ...Object.fromEntries(Object.entries(comparison).map(([operator, apply]) => [operator, compare(apply)])),
  ...Object.fromEntries(
    Object.entries(arithmetic).map(([operator, apply]): readonly [string, Operation] => [
      operator,
      (left, right, run) =>
        typeof left === "number" && typeof right === "number"
          ? apply(left, right)
          : apply(toNumber(run, left), toNumber(run, right))
    ])
  )
}

/** The binary operator, except those that short-circuit. */
export const operation = (operator: string): Operation | undefined =>
  Object.hasOwn(binary, operator) ? binary[operator] : undefined

export const unary: { readonly [operator: string]: (value: unknown, run: Run) => unknown } = {
  "!": (value) => !value,
  "-": (value, run) => -toNumber(run, value),
  "+": (value, run) => toNumber(run, value),
  "~": (value, run) => ~toNumber(run, value),
  void: () => undefined,
  typeof: (value, run) => {
    charge(run, 1)
    return value instanceof Fn ? "function" : typeof value
  }
}
