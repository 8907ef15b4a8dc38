/** Known findings in a file: an array of texts for each, one a line. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Options from "../config/Options.ts"
import { optional, toggle } from "./root.ts"

export type Key = ReadonlyArray<string>

const Baseline = Schema.fromJsonString(Schema.Array(Schema.Array(Schema.String)))

export const flags = {
  baseline: optional("baseline", "FILE", "Report only findings that are not in this file"),
  updateBaseline: toggle("update-baseline", "Write the findings into the baseline, and report none of them")
}

const read = Effect.fnUntraced(function*(file: string) {
  return yield* (yield* FileSystem.FileSystem).readFileString(file).pipe(
    Effect.mapError((error) =>
      Options.refuse(`--baseline: '${file}' cannot be read: ${ConfigFile.fault(error)}. --update-baseline writes it`)
    ),
    Effect.flatMap((text) =>
      Effect.mapError(
        Schema.decodeEffect(Baseline)(text),
        () => Options.refuse(`--baseline: '${file}' is not a baseline; --update-baseline writes one`)
      )
    )
  )
})

/** Writes keys, one a line; `isOther` selects those of the file that stay. */
const write = Effect.fnUntraced(function*(
  file: string,
  keys: ReadonlyArray<Key>,
  isOther: (key: Key) => boolean
) {
  const fs = yield* FileSystem.FileSystem
  const others = (yield* fs.exists(file)) ? (yield* read(file)).filter(isOther) : []
  const lines = [...others, ...keys].map((key) => JSON.stringify(key)).toSorted()
  yield* fs.writeFileString(file, `[\n${lines.join(",\n")}\n]\n`)
}, (effect, file) =>
  Effect.catchTag(
    effect,
    "PlatformError",
    (error) => Effect.fail(Options.refuse(`--baseline: '${file}' cannot be written: ${ConfigFile.fault(error)}`))
  ))

/** Opens the baseline before the work: `isKnown` for its findings, `update` if it is to be written. */
export const open = Effect.fnUntraced(function*(file: string | undefined, isUpdate: boolean) {
  if (isUpdate && file === undefined) return yield* Options.refuse("--update-baseline needs --baseline FILE")
  const known = new Set(
    file === undefined || isUpdate ? [] : (yield* read(file)).map((key) => JSON.stringify(key))
  )
  return {
    isKnown: (key: Key) => isUpdate || known.has(JSON.stringify(key)),
    update: (keys: ReadonlyArray<Key>, isOther: (key: Key) => boolean) =>
      file === undefined || !isUpdate ? Effect.void : write(file, keys, isOther)
  }
})
