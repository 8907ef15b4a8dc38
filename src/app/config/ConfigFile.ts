/** Reading of the operator's files: JSON with comments and trailing commas. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Schema from "effect/Schema"
import { parse, type ParseError, printParseErrorCode } from "jsonc-parser"
import * as Arguments from "../../answer/Arguments.ts"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import type * as Errors from "../../base/Errors.ts"

const parseText = (text: string) => {
  const errors: Array<ParseError> = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [first] = errors
  return first === undefined
    ? Effect.succeed(value)
    : Effect.fail(
      `not JSON: ${printParseErrorCode(first.error)} in line ${text.slice(0, first.offset).split("\n").length}`
    )
}

export const explain = (error: Errors.ValidationError): string => `${error.reason}. ${Hints.text(error.hint)}`.trim()

/** Reads files with this content; fails with the reason. Messages call the content `name`, such as "A policy". */
export const reader = <A>(name: string, schema: Schema.ConstraintCodec<A, unknown>) => {
  const decode = Arguments.decoder<A, never>(name, schema, Tool.jsonSchema(schema))
  return (file: string): Effect.Effect<A, string, FileSystem.FileSystem> =>
    FileSystem.FileSystem.use((fs) => fs.readFileString(file)).pipe(
      Effect.mapError(({ message }) => message),
      Effect.flatMap(parseText),
      Effect.flatMap((value) => Effect.mapError(decode(value), explain))
    )
}
