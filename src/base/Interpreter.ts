/** Evaluates untrusted JavaScript expressions by an allow-list, with a step budget and without host objects. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Compiled, Options } from "./interpreter/Compile.ts"
import { charge, Fn, Problem, start, toJson } from "./interpreter/Values.ts"
import { parser } from "./JavaScript.ts"
import type { Obj } from "./Json.ts"
import * as Lazy from "./Lazy.ts"
import * as Syntax from "./Syntax.ts"

export { Problem }

export type Program = Compiled

/** A number of steps that evaluations share; each subtracts what it uses. */
export interface Budget {
  steps: number
}

/** Step limits of one search: per item, and for all items together. */
export interface Limits {
  readonly perItem?: number
  readonly total?: number
}

/** Whether an item matches. */
export interface Predicate {
  (item: Obj): Result.Result<boolean, Problem>
  /** The places of an item that the expression names, each with those it lies in: `customer`, `customer.id`. */
  readonly reads: ReadonlyArray<ReadonlyArray<string | number>>
  /** Paths of `reads` whose value it uses, not only something inside it: `customer.id`. */
  readonly uses: ReadonlyArray<ReadonlyArray<string | number>>
  /** Whether it uses the item as a whole, beside the places that it names: `Object.keys($json)`. */
  readonly usesWhole: boolean
  /** Fields that it reads instead of a known name or a length if an item has them: they are not among `reads`. */
  readonly mayRead: ReadonlyArray<string>
}

export interface Interpreter {
  readonly compile: (source: string) => Result.Result<Program, Problem>
  /**
   * Compiles a condition on one JSON item. The item's fields and `$json` are in scope; anything missing, at any depth,
   * is `undefined`. The result makes a predicate for each search, with a budget of its own. An item that takes too many
   * steps or more than 100 ms is a `budget` problem, as is every item once the total is used up; a `type` problem means
   * that the expression does not fit this item.
   */
  readonly where: (source: string) => Result.Result<(limits?: Limits) => Predicate, Problem>
}

const maxSource = 50_000

// One step takes about 20 to 60 ns.
const defaultLimits = { perItem: 10_000_000, total: 100_000_000 } satisfies Limits

const problem = (kind: Problem["kind"], message: string, at: number) => new Problem({ kind, message, at })

/** Turns a stack overflow into a problem; other exceptions are bugs in the interpreter. */
const catchProblems = <A>(body: () => A): Result.Result<A, Problem> => {
  try {
    return Result.succeed(body())
  } catch (error) {
    // The source was parsed with a parenthesis in front.
    if (error instanceof Problem) return Result.fail(problem(error.kind, error.message, Math.max(error.at - 1, 0)))
    if (error instanceof RangeError) return Result.fail(problem("budget", "It uses too much memory", 0))
    throw error
  }
}

/**
 * Evaluates a program; the result is a JSON copy of its value, or `undefined` if the value has no JSON form.
 *
 * **Gotchas**
 *
 * The scope must hold JSON only; it is never mutated.
 */
export const evaluate = (program: Program, scope: Obj, budget: Budget): Result.Result<unknown, Problem> => {
  const run = start(scope, budget.steps)
  const result = catchProblems(() => {
    charge(run, program.cost)
    return toJson(run, program.evaluate(run))
  })
  budget.steps = Math.max(run.steps, 0)
  return result
}

const [yes, no] = [Result.succeed(true), Result.succeed(false)]

const predicate = (
  { cost, evaluate, mayRead, reads, uses, usesWhole }: Program,
  now: () => number,
  limits: Limits = {}
): Predicate => {
  const { perItem, total } = { ...defaultLimits, ...limits }
  let left = total
  const matches = (item: Obj) => {
    const steps = Math.min(perItem, left)
    const run = start(item, steps, now)
    try {
      charge(run, cost)
      const value = evaluate(run)
      // `amount => 5` is a typo for `>=`, and a function is always truthy.
      if (value instanceof Fn) return Result.fail(problem("refused", "It is a function, not a condition", 0))
      return value ? yes : no
    } catch (error) {
      return catchProblems(() => {
        throw error
      })
    } finally {
      left -= steps - Math.max(run.steps, 0)
    }
  }
  return Object.assign(matches, { reads, uses, usesWhole, mayRead })
}

/** Loads the interpreter, with the parser and the regular expression engine on first use. */
export const load: Effect.Effect<Interpreter> = Effect.map(
  Effect.all([parser, Lazy.load(() => import("./interpreter/Compile.ts")), Clock.Clock]),
  ([parse, { compile: compileTree }, clock]): Interpreter => {
    const now = () => clock.currentTimeMillisUnsafe()
    const compile = (source: string, options: Options): Result.Result<Program, Problem> => {
      if (source.length > maxSource) return Result.fail(problem("budget", "The expression is too long", maxSource))
      if (source.trim() === "") return Result.fail(problem("syntax", "The expression is empty", 0))
      // In parentheses `{}` is an object, not a block.
      const parsed = parse(`(${source}\n)`, "expression")
      if (parsed === undefined) return Result.fail(problem("budget", "It is nested too deeply", 0))
      const offsetOf = (at: number) => Math.min(Math.max(at - 1, 0), source.length)
      if (parsed.program === undefined) return Result.fail(problem("syntax", parsed.mistake, offsetOf(parsed.at)))
      const expression = Syntax.expressionOf(parsed.program)
      if (expression === undefined) {
        const at = offsetOf(parsed.program.body[1]?.start ?? 0)
        return Result.fail(problem("syntax", "There is more than one expression", at))
      }
      return catchProblems(() => compileTree(expression, options))
    }
    return {
      compile: (source) => compile(source, { isItem: false }),
      where: (source) =>
        Result.map(compile(source, { isItem: true }), (program) => (limits) => predicate(program, now, limits))
    }
  }
)
