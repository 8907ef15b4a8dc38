/** A folder of workflows and other files, with exclusive access to all of them. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as AtomicFile from "../../base/AtomicFile.ts"
import * as Errors from "../../base/Errors.ts"
import type { CodeFiles } from "./codeFiles.ts"
import * as fileNames from "./fileNames.ts"
import type * as Locate from "./locate.ts"
import type { Lock } from "./lock.ts"
import { isNotFound, refuse, type Target, unreadable, writable } from "./refusals.ts"

/** A folder below a files root. Paths of its files are relative to it. */
export interface WorkflowFolder {
  /** Real path, or the one that it would have. */
  readonly path: string
  readonly exists: boolean
  /**
   * Makes a function that names the file of a new workflow: every system allows the name, and it differs by more than
   * case from those in the folder, from `taken` and from earlier ones.
   */
  readonly namer: (
    taken: ReadonlyArray<string>
  ) => Effect.Effect<(workflowName: string) => string, Errors.ValidationError>
  /** Text of any file; `undefined` if it does not exist. */
  readonly read: (file: string) => Effect.Effect<string | undefined, Errors.ValidationError>
  /** Writes any file and its folders atomically. */
  readonly write: (file: string, text: string) => Effect.Effect<void, Errors.ValidationError>
  /** Removes code that a deleted workflow file left in its folder, if `isKnown` accepts its path and text. */
  readonly removeCode: (
    file: string,
    isKnown: (file: string, text: string) => boolean
  ) => Effect.Effect<void, Errors.ValidationError>
  /** Runs an effect with exclusive access to the folder among all processes of one user. */
  readonly exclusively: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Errors.ValidationError, R>
}

export const make = Effect.fnUntraced(function*(locate: Locate.Locate, lock: Lock, code: CodeFiles) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  /** Real path of an existing or new folder, located by a file that could be in it. */
  const place = (folder: string) => {
    const file = path.join(folder, "n8n-sync-place.json")
    return locate.possible(file).pipe(
      Effect.map(({ at, rest }) => ({ real: path.dirname(path.join(at, ...rest)), missing: rest.slice(0, -1), at })),
      Effect.mapError((error) =>
        new Errors.ValidationError({ ...error, reason: error.reason.replace(`File '${file}'`, `Folder '${folder}'`) })
      )
    )
  }

  return Effect.fn("WorkflowFiles.folder")(function*(userPath: string) {
    const { missing, real } = yield* place(userPath)

    /** Real path of a file; links are not followed, so that nothing outside is touched. */
    const locateFile = Effect.fnUntraced(function*(file: string, makesFolders: boolean) {
      const full = path.join(real, file)
      const target: Target = { kind: "File", path: full }
      if (path.relative(real, full).startsWith("..")) {
        return yield* refuse(`'${file}' is not in '${real}'`, "Use a path in the folder.")
      }
      const parent = yield* place(path.dirname(full))
      if (makesFolders) {
        yield* writable(full)(AtomicFile.makeFolders(fs, parent.at, parent.missing))
      }
      const at = path.join(parent.real, path.basename(full))
      const info = yield* fs.lstat(at).pipe(
        Effect.catchIf(isNotFound, () => Effect.undefined),
        Effect.mapError((error) => unreadable(target, error))
      )
      if (info !== undefined && info.type !== "File") {
        return yield* refuse(`'${full}' is not a file but a ${info.type.toLowerCase()}`, "Remove it, or move it away.")
      }
      return { at, exists: info !== undefined }
    })

    const folder: WorkflowFolder = {
      path: real,
      exists: missing.length === 0,
      namer: (taken) =>
        (missing.length > 0 ? Effect.succeed([]) : fs.readDirectory(real)).pipe(
          Effect.map((present) => fileNames.namer([...present, ...taken])),
          Effect.mapError((error) => unreadable({ kind: "Folder", path: real }, error))
        ),
      read: Effect.fnUntraced(function*(file) {
        const { at, exists } = yield* locateFile(file, false)
        return exists
          ? yield* fs.readFileString(at).pipe(Effect.mapError((error) => unreadable({ kind: "File", path: at }, error)))
          : undefined
      }),
      write: Effect.fnUntraced(function*(file, text) {
        const { at } = yield* locateFile(file, true)
        // Access is exclusive: one name is enough, and the file of an interrupted writer is replaced.
        const temporary = path.join(path.dirname(at), `.${path.basename(at)}.tmp`)
        yield* writable(at)(AtomicFile.writeAlone(fs, at, { data: text, temporary, mode: 0o644, isReal: true }))
      }),
      removeCode: Effect.fnUntraced(function*(file, isKnown) {
        const { at } = yield* locateFile(file, false)
        const folder = file.slice(0, file.lastIndexOf("/") + 1)
        yield* code.removeLeft(at, (name, text) => isKnown(`${folder}${name}`, text)).pipe(writable(at))
      }),
      exclusively: lock(userPath, path.join(real, ".n8n-sync"))
    }
    return folder
  })
})
