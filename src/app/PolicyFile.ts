/** The operator's policy, from the file of `--policy`. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { parse, type ParseError, printParseErrorCode } from "jsonc-parser"
import * as Arguments from "../answer/Arguments.ts"
import * as Hints from "../answer/Hints.ts"
import * as Tool from "../answer/Tool.ts"
import * as Policy from "../workflows/Policy.ts"
import * as Options from "./Options.ts"

const decode = Arguments.decoder("A policy", Policy.Rules, Tool.jsonSchema(Policy.Rules))

const parseFile = (text: string) => {
  const errors: Array<ParseError> = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [first] = errors
  return first === undefined
    ? Effect.succeed(value)
    : Effect.fail(
      `no JSON: ${printParseErrorCode(first.error)} in line ${text.slice(0, first.offset).split("\n").length}`
    )
}

/** Reads `{"bannedNodes": […], "minScheduleMinutes": 5, "protectedTags": […], "requireErrorWorkflow": true}`. */
export const load = (
  file: string
): Effect.Effect<Policy.Rules, Options.InvalidOption, FileSystem.FileSystem> =>
  FileSystem.FileSystem.use((fs) => fs.readFileString(file)).pipe(
    Effect.mapError(({ message }) => message),
    Effect.flatMap(parseFile),
    Effect.flatMap((value) =>
      Effect.mapError(decode(value), (error) => `${error.reason}. ${Hints.text(error.hint)}`.trim())
    ),
    Effect.mapError((reason) => new Options.InvalidOption({ message: `--policy: ${file}: ${reason}` }))
  )
