/** Evaluation of the expressions in node types, such as those that compute a node's ports. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Interpreter from "../../base/Interpreter.ts"
import type { Evaluate } from "./Ports.ts"

/** Step limit of one expression; the 256 inputs of a Merge take a third of it. */
const perExpression = 50_000

/** Step limit of a workflow: enough for ten thousand nodes whose ports depend on parameters. */
const perWorkflow = 20_000_000

const programs = new Map<string, Result.Result<Interpreter.Program, Interpreter.Problem>>()

/** Evaluator with one budget, for one workflow; the untrusted expressions see copies of parameters and version. */
export const make: Effect.Effect<Evaluate> = Effect.map(Interpreter.load, ({ compile }): Evaluate => {
  let left = perWorkflow
  return (expression, { parameters, version }) => {
    const program = programs.get(expression) ?? compile(expression.replace(/^=\s*\{\{/, "").replace(/\}\}\s*$/, ""))
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
