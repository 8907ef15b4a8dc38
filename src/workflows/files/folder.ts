/** A folder of workflows: what lies beside them, and one user of the whole at a time. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as AtomicFile from "../../base/AtomicFile.ts"
import type * as Errors from "../../base/Errors.ts"
import type { CodeFiles } from "./codeFiles.ts"
import type * as Locate from "./locate.ts"
import type { Lock } from "./lock.ts"
import * as names from "./names.ts"
import { refuse, type Target, unreadable, unwritable } from "./refusals.ts"

/** A folder under a files root. Its files go by paths relative to it. */
export interface WorkflowFolder {
  /** Its real path, or the one that it would have. */
  readonly path: string
  readonly exists: boolean
  /** The names right in it. */
  readonly names: Effect.Effect<ReadonlyArray<string>, Errors.ValidationError>
  /** A file name for a workflow, unlike those in `taken` whatever the case, that every system allows. */
  readonly freeName: (workflowName: string, taken: ReadonlySet<string>) => string
  /** The text of any file; `undefined` where there is none. */
  readonly read: (file: string) => Effect.Effect<string | undefined, Errors.ValidationError>
  /** Writes any file, and the folders to it: it has the old text or the new, never a part. */
  readonly write: (file: string, text: string) => Effect.Effect<void, Errors.ValidationError>
  readonly remove: (file: string) => Effect.Effect<void, Errors.ValidationError>
  /** Removes the code that a workflow's file left in its folder, as far as `isKnown` accepts its path and text. */
  readonly removeCode: (
    file: string,
    isKnown: (file: string, text: string) => boolean
  ) => Effect.Effect<void, Errors.ValidationError>
  /** Runs alone among all processes of one user that ask for the same folder. */
  readonly exclusively: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Errors.ValidationError, R>
}

const isNotFound = ({ reason }: PlatformError.PlatformError) => reason._tag === "NotFound"

/** Opens folders that `locate` reaches. */
export const make = Effect.fnUntraced(function*(locate: Locate.Locate, lock: Lock, code: CodeFiles) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  /** Where a folder is or would be, by what a workflow's file in it would be. */
  const place = (folder: string) =>
    Effect.map(locate.possible(path.join(folder, "n8n-sync-place.json")), ({ at, rest }) => ({
      real: path.dirname(path.join(at, ...rest)),
      missing: rest.slice(0, -1),
      at
    }))

  return Effect.fn("WorkflowFiles.folder")(function*(userPath: string) {
    const { missing, real } = yield* place(userPath)

    /** The real path of a file; no link is followed, so that nothing outside is touched. */
    const locateFile = Effect.fnUntraced(function*(file: string, makesFolders: boolean) {
      const full = path.join(real, file)
      const target: Target = { kind: "File", path: full }
      if (path.relative(real, full).startsWith("..")) {
        return yield* refuse(`'${file}' is not in '${real}'`, "Give a path in the folder.")
      }
      const parent = yield* place(path.dirname(full))
      if (makesFolders) {
        yield* AtomicFile.makeFolders(parent.at, parent.missing).pipe(
          Effect.provideService(FileSystem.FileSystem, fs),
          Effect.provideService(Path.Path, path),
          Effect.mapError((error) => unwritable(full, error))
        )
      }
      const at = path.join(parent.real, path.basename(full))
      const info = yield* fs.lstat(at).pipe(
        Effect.catchIf(isNotFound, () => Effect.undefined),
        Effect.mapError((error) => unreadable(target, error))
      )
      if (info !== undefined && info.type !== "File") {
        return yield* refuse(`'${full}' is not a file but a ${info.type.toLowerCase()}`, "Remove it, or move it away.")
      }
      return { at, isThere: info !== undefined }
    })

    const folder: WorkflowFolder = {
      path: real,
      exists: missing.length === 0,
      names: missing.length > 0 ? Effect.succeed([]) : fs.readDirectory(real).pipe(
        Effect.mapError((error) => unreadable({ kind: "Folder", path: real }, error))
      ),
      freeName: (name, taken) => {
        const [stem = "workflow"] = names.free(name, taken)
        return `${stem}.json`
      },
      read: Effect.fnUntraced(function*(file) {
        const { at, isThere } = yield* locateFile(file, false)
        return isThere
          ? yield* fs.readFileString(at).pipe(Effect.mapError((error) => unreadable({ kind: "File", path: at }, error)))
          : undefined
      }),
      write: Effect.fnUntraced(function*(file, text) {
        const { at } = yield* locateFile(file, true)
        // One user at a time: a name of its own is enough, and what a killed one left is replaced.
        const temporary = path.join(path.dirname(at), `.${path.basename(at)}.tmp`)
        yield* fs.remove(temporary, { force: true }).pipe(
          Effect.andThen(AtomicFile.write(at, {
            bytes: new TextEncoder().encode(text),
            temporary,
            mode: 0o644,
            isReal: true
          })),
          Effect.provideService(FileSystem.FileSystem, fs),
          Effect.catchIf(
            (error): error is PlatformError.PlatformError => Predicate.isTagged(error, "PlatformError"),
            (error) => Effect.fail(unwritable(at, error))
          )
        )
      }),
      remove: Effect.fnUntraced(function*(file) {
        const { at, isThere } = yield* locateFile(file, false)
        if (isThere) yield* fs.remove(at).pipe(Effect.mapError((error) => unwritable(at, error)))
      }),
      removeCode: Effect.fnUntraced(function*(file, isKnown) {
        const { at } = yield* locateFile(file, false)
        const folder = file.slice(0, file.lastIndexOf("/") + 1)
        yield* code.removeLeft(at, (name, text) => isKnown(`${folder}${name}`, text)).pipe(
          Effect.catchTag("PlatformError", (error) => Effect.fail(unwritable(at, error)))
        )
      }),
      exclusively: lock(userPath, path.join(real, ".n8n-sync"))
    }
    return folder
  })
})
