/** A folder of workflow files, and looks into it that do not go through the service. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as PlatformError from "effect/PlatformError"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Errors from "../../../src/base/Errors.ts"
import * as WorkflowFiles from "../../../src/workflows/files/WorkflowFiles.ts"
import { folderWith } from "../../support/folders.ts"

export const over = (...roots: ReadonlyArray<string>) =>
  Effect.provide(WorkflowFiles.WorkflowFiles, WorkflowFiles.layer({ roots }))

/** Runs a generator with a folder of these files, and the service over it. */
export const inFolder = <Eff extends Effect.Effect<unknown, unknown, unknown>, A>(
  files: Parameters<typeof folderWith>[0],
  use: (here: WorkflowFiles.Service & { readonly root: string }) => Generator<Eff, A, never>
) =>
  Effect.gen(function*() {
    const root = yield* folderWith(files)
    const service = yield* over(root)
    return yield* Effect.gen(() => use({ ...service, root }))
  })

export const workflow = (more: object = {}) => JSON.stringify({ name: "w", nodes: [], connections: {}, ...more })

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

export const contentOf = (file: string) =>
  FileSystem.FileSystem.use((fs) => Effect.map(fs.readFile(file), (bytes) => utf8.decode(bytes)))

export const namesIn = (folder: string) =>
  FileSystem.FileSystem.use((fs) => Effect.map(fs.readDirectory(folder, { recursive: true }), (all) => all.toSorted()))

/** Texts of all files in a folder, by name. */
export const contents = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const all: { [name: string]: string } = {}
  for (const name of yield* namesIn(folder)) {
    if ((yield* fs.stat(`${folder}/${name}`)).type === "File") all[name] = yield* contentOf(`${folder}/${name}`)
  }
  return all
})

/** The refusal of a file, with its field and a hint. */
export const refusal = <E, R>(effect: Effect.Effect<unknown, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.instanceOf(error, Errors.ValidationError)
    assert.strictEqual(error.field, "filePath")
    assert.isNotEmpty(Hints.text(error.hint))
    return error
  })

export const isText = (message: string, says: string | RegExp) =>
  typeof says === "string" ? assert.strictEqual(message, says) : assert.match(message, says)

export const failure = (method: string, code: string) =>
  PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method, cause: { code } })
