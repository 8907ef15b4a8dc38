/** Evaluates the expressions in node types, such as those that make a node's ports. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Interpreter from "../../base/Interpreter.ts"
import type { Evaluate } from "./Ports.ts"

/** The 256 inputs of a Merge take a third of it. */
const perExpression = 50_000

/** Enough for ten thousand nodes whose ports depend on parameters. */
const perWorkflow = 20_000_000

const programs = new Map<string, Result.Result<Interpreter.Program, Interpreter.Problem>>()

/**
 * Evaluates with a budget for all expressions together; make one for each workflow.
 *
 * **Details**
 *
 * A type's package is data: its expressions see copies of nothing but the parameters and the version, and change neither.
 */
export const make: Effect.Effect<Evaluate> = Effect.map(Interpreter.load, ({ compile }): Evaluate => {
  let left = perWorkflow
  return (expression, { parameters, version }) => {
    const program = programs.get(expression) ??
      compile(expression.replace(/^=\s*\{\{/, "").replace(/\}\}\s*$/, ""))
    programs.set(expression, program)
    if (Result.isFailure(program)) return undefined
    const steps = Math.min(perExpression, left)
    const budget: Interpreter.Budget = { steps }
    const scope = { $parameter: parameters, $nodeVersion: version }
    const result = Interpreter.evaluate(program.success, scope, budget)
    left -= steps - budget.steps
    return Result.getOrUndefined(result)
  }
})
