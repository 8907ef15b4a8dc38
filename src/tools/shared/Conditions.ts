/** Expressions, paths and node names in the arguments of tools that query items. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Errors from "../../base/Errors.ts"
import * as Interpreter from "../../base/Interpreter.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import type { Field } from "../../executions/ItemView.ts"
import * as parameters from "./Parameters.ts"

export const where = parameters.optional(Schema.String, "JavaScript over fields: qty > 9 && country === 'JP'.")

export const paths = (description: string) =>
  Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(50)).annotate({ description }))

export const fields = paths("Paths: orderNo, customer.id.")

const shownSource = 20

export const wrongExpression = (source: string, { at, kind, message }: Interpreter.Problem) =>
  parameters.invalid(
    "where",
    `where, at character ${at + 1} ('${source.slice(at, at + shownSource)}'): ${message}`,
    kind === "budget"
      ? "Simplify it, or search fewer items."
      : "One expression over an item's fields: ===, <, >=, &&, ||, arithmetic, includes, startsWith, toLowerCase, some, every, Number, /regex/.test(text)."
  )

/** Compiles `where` and returns a function that makes a condition with a budget of steps of its own. */
export const compiler = Effect.fnUntraced(function*(source: string | undefined) {
  if (source === undefined) return () => undefined
  const compiled = (yield* Interpreter.load).where(source)
  return Result.isFailure(compiled) ? yield* wrongExpression(source, compiled.failure) : compiled.success
})

/** Parses paths that start at the item or at `$json`; fails with a `ValidationError` for the first invalid one. */
export const parsePaths = (parameter: string, paths: ReadonlyArray<string> = []) =>
  Effect.forEach(paths, (path): Effect.Effect<Field, Errors.ValidationError> => {
    const steps = JsonPath.parse(path)
    return steps === undefined
      ? Effect.fail(
        parameters.invalid(
          parameter,
          `'${path}' is not a path`,
          "Write orderNo, customer.id, lines[0].sku or [\"order no\"]."
        )
      )
      : Effect.succeed({ path, steps: steps.length > 1 && steps[0] === "$json" ? steps.slice(1) : steps })
  })
