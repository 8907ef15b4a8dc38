/** Files of the operator: JSON with comments and trailing commas. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"
import type * as Schema from "effect/Schema"
import { parse, type ParseError, printParseErrorCode } from "jsonc-parser"
import { dirname } from "node:path"
import * as Arguments from "../../answer/Arguments.ts"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import codes from "./faults.json" with { type: "json" }

/** Descriptions of the parser's errors, by code. */
const faults: { readonly [code: string]: string } = codes

/** Parses JSON with comments and trailing commas; the failure says where it is not JSON. */
export const parseText = (text: string): Effect.Effect<unknown, string> => {
  const errors: Array<ParseError> = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first === undefined) return Effect.succeed(value)
  const before = text.slice(0, first.offset).split("\n")
  const isDoubled = /[,{[]\s*$/.test(text.slice(0, first.offset)) && text[first.offset] === ","
  const code = printParseErrorCode(first.error)
  return Effect.fail(
    `not JSON: ${isDoubled ? "one comma too many" : faults[code] ?? code} in line ${before.length}, column ${
      (before.at(-1)?.length ?? 0) + 1
    }`
  )
}

/** Reason why a file cannot be read or written, for a person. */
export const fault = ({ reason }: PlatformError.PlatformError): string =>
  reason._tag === "NotFound"
    ? "it does not exist"
    : reason._tag === "PermissionDenied"
    ? "its permissions do not allow it"
    : reason.message

/** The path, or the nearest folder above it that exists. */
export const nearest = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  let existing = path
  while (existing !== dirname(existing) && !(yield* Effect.orElseSucceed(fs.exists(existing), () => false))) {
    existing = dirname(existing)
  }
  return existing
})

/** Reads any JSON; fails with the reason. */
export const read = (file: string): Effect.Effect<unknown, string, FileSystem.FileSystem> =>
  FileSystem.FileSystem.use((fs) => fs.readFileString(file)).pipe(Effect.mapError(fault), Effect.flatMap(parseText))

/** Decodes a content of this name; fails with the reason. */
export const decoder = <A>(name: string, schema: Schema.ConstraintCodec<A, unknown>) => (value: unknown) =>
  // The JSON Schema is made here, since most starts read no file.
  Effect.mapError(
    Arguments.decoder<A, never>(name, schema, Tool.jsonSchema(schema))(value),
    (error) => Hints.explain(error, { as: "person" })
  )

/** Reads files with this content; fails with the reason. Messages call the content `name`, such as "A policy". */
export const reader = <A>(name: string, schema: Schema.ConstraintCodec<A, unknown>) => {
  const decode = decoder(name, schema)
  return (file: string): Effect.Effect<A, string, FileSystem.FileSystem> => Effect.flatMap(read(file), decode)
}
