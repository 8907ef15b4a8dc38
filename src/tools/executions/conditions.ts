/** What the tools that ask items have in common: expressions, paths and names that must be right. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Errors from "../../base/Errors.ts"
import * as Interpreter from "../../base/Interpreter.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { suggestion } from "../../base/Nearest.ts"
import type { Execution } from "../../executions/Execution.ts"
import type { Field } from "../../executions/ItemFields.ts"
import { nodeNames } from "../../executions/NodeExecution.ts"
import * as ExecutionHead from "../../n8n/model/ExecutionHead.ts"

/** Refuses an argument. */
export const invalid = (field: string, reason: string, hint: string) =>
  new Errors.ValidationError({ reason, field, hint })

/** The parameter `where`. */
export const where = Schema.optionalKey(
  Schema.String.annotate({
    description: "JavaScript over an item's fields, or $json: amount > 1000 && country === 'JP'."
  })
)

/** A parameter that takes paths. */
export const paths = (description: string) =>
  Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(50)).annotate({ description }))

/** The parameter `fields`. */
export const fields = paths("Show only these paths: [\"orderNo\", \"customer.id\"].")

const shownSource = 20

/** What is wrong with an expression, and where. */
export const wrongExpression = (source: string, { at, kind, message }: Interpreter.Problem) =>
  invalid(
    "where",
    `where, at character ${at + 1} ('${source.slice(at, at + shownSource)}'): ${message}`,
    kind === "budget"
      ? "Make it cheaper, or look at fewer items."
      : "One expression over an item's fields: ===, <, >=, &&, ||, arithmetic, includes, startsWith, toLowerCase, some, every, Number, /regex/.test(text)."
  )

/** Compiles `where`. */
export const compile = Effect.fnUntraced(function*(source: string | undefined) {
  if (source === undefined) return undefined
  const compiled = (yield* Interpreter.load).where(source)
  return Result.isFailure(compiled) ? yield* wrongExpression(source, compiled.failure) : compiled.success
})

/** Reads paths, from the item on or from `$json`; the first that is none is refused. */
export const parsePaths = (parameter: string, paths: ReadonlyArray<string> = []) =>
  Effect.forEach(paths, (path): Effect.Effect<Field, Errors.ValidationError> => {
    const steps = JsonPath.parse(path)
    return steps === undefined
      ? Effect.fail(
        invalid(parameter, `'${path}' is no path`, "Write orderNo, customer.id, lines[0].sku or [\"order no\"].")
      )
      : Effect.succeed({ path, steps: steps.length > 1 && steps[0] === "$json" ? steps.slice(1) : steps })
  })

/** Refuses a node that the execution does not know. */
export const checkNode = (execution: Execution, name: string, field: string) => {
  const names = nodeNames(execution)
  return names.includes(name)
    ? Effect.void
    : Effect.fail(
      invalid(field, `Node '${name}' not found in execution '${execution.id}'`, suggestion(name, names))
    )
}

/** Why an execution has less to search than one may expect. */
export const incomplete = (execution: Execution): string | undefined => {
  if (!ExecutionHead.isOver(execution.status)) {
    return execution.runs.size === 0
      ? `The execution is ${execution.status}, and n8n shows no data of it yet: get_execution with wait tells when it is over.`
      : `The execution is ${execution.status}: this is its data until now.`
  }
  return execution.runs.size === 0 ? "n8n kept no data of this execution, or no node ran." : undefined
}
