/** The files of cases: found, read, and written back. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import { randomBytes } from "node:crypto"
import * as AtomicFile from "../../base/AtomicFile.ts"
import * as Errors from "../../base/Errors.ts"
import { obj } from "../../base/Json.ts"
import * as JsonText from "../../workflows/files/JsonText.ts"
import { isIgnored } from "../../workflows/files/WorkflowFiles.ts"
import * as TestCase from "./TestCase.ts"

/** How the name of a case's file ends. */
export const suffix = ".test.json"

const refuse = (reason: string, hint: string, errorDetails?: string) =>
  new Errors.ValidationError({ reason, hint, ...(errorDetails === undefined ? {} : { errorDetails }) })

const unreadable = (path: string) => ({ reason }: PlatformError.PlatformError) =>
  reason._tag === "NotFound"
    ? refuse(`There is no file or folder '${path}'`, "Give folders and files of cases.")
    : refuse(`'${path}' cannot be read`, "Look at its permissions.", reason.message)

/** The files of cases in and below a folder; `node_modules`, dot folders and links to folders are passed by. */
const below = (folder: string): Effect.Effect<
  ReadonlyArray<string>,
  PlatformError.PlatformError,
  FileSystem.FileSystem | Path.Path
> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const names = (yield* fs.readDirectory(folder)).filter((name) => !isIgnored(name)).toSorted()
    const found = yield* Effect.forEach(names, (name) => {
      const file = path.join(folder, name)
      if (name.endsWith(suffix)) return Effect.succeed([file])
      return Effect.flatMap(fs.lstat(file), ({ type }) => type === "Directory" ? below(file) : Effect.succeed([]))
    })
    return found.flat()
  })

/** A place that was asked for. */
export interface Place {
  /** A folder itself, or that of a file: absolute. */
  readonly folder: string
  readonly files: ReadonlyArray<string>
}

/** The cases at these paths, which are folders or files, each once. */
export const find = Effect.fn("CaseFiles.find")(function*(paths: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const places = yield* Effect.forEach(paths, (given) => {
    const at = path.resolve(given)
    return fs.stat(at).pipe(
      Effect.flatMap(({ type }) =>
        type === "Directory"
          ? Effect.map(below(at), (files): Place => ({ folder: at, files }))
          : Effect.succeed<Place>({ folder: path.dirname(at), files: [at] })
      ),
      Effect.mapError(unreadable(given))
    )
  })
  return {
    folders: [...new Set(places.map(({ folder }) => folder))],
    files: [...new Set(places.flatMap(({ files }) => files))]
  }
})

/** A case as it is in its file. */
export interface CaseFile {
  readonly path: string
  readonly text: string
  readonly value: object
  readonly testCase: TestCase.TestCase
}

const notCase = (faults: ReadonlyArray<TestCase.Fault>) =>
  new Errors.ValidationError({
    reason: faults.map(({ message, path }) => path === "" ? message : `${path}: ${message}`).join("\n"),
    field: faults[0]?.path ?? "",
    hint: "Nothing ran."
  })

/** Reads a case; fails with all that is wrong with it. */
export const read = Effect.fn("CaseFiles.read")(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(fs.readFileString(path), unreadable(path))
  const parsed = JsonText.parse(text)
  if (Result.isFailure(parsed)) return yield* refuse(`It is not JSON: ${parsed.failure}`, "Nothing ran.")
  const { value } = parsed.success
  const decoded = TestCase.fromJson(value)
  if (Result.isFailure(decoded)) return yield* notCase(decoded.failure)
  return { path, text, value: obj(value) ?? {}, testCase: decoded.success } satisfies CaseFile
})

/** Writes what a case expects into its file, which keeps its layout and its comments; false where it says so already. */
export const write = Effect.fn("CaseFiles.write")(function*({ path, text, value }: CaseFile, expect: object) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const after = JsonText.rewrite(text, { ...value, expect })
  if (after === text) return false
  const changed = Effect.gen(function*() {
    const file = yield* fs.realPath(path)
    if ((yield* fs.readFileString(file)) !== text) {
      return yield* refuse("It was changed while it ran", "Nothing was written; run it again.")
    }
    const { mode } = yield* fs.stat(file)
    const temporary = paths.join(paths.dirname(file), `.effect-n8n-mcp-${randomBytes(6).toString("hex")}.tmp`)
    yield* AtomicFile.write(file, { bytes: new TextEncoder().encode(after), temporary, mode: mode & 0o777 })
    return true
  })
  return yield* Effect.catchTag(
    changed,
    "PlatformError",
    ({ reason }) => Effect.fail(refuse("It cannot be written", "Look at its permissions.", reason.message))
  )
})
