/** Puts files in their places atomically. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import { randomBytes } from "node:crypto"
import * as AtomicFile from "../../base/AtomicFile.ts"
import { sha256 } from "../../base/Hash.ts"
import * as Locate from "./locate.ts"
import { changed, exists } from "./refusals.ts"

/** Age in milliseconds after which the temporary files of an interrupted writer are removed. */
const leftAfter = 60_000

export const make = Effect.fnUntraced(function*(locate: Locate.Locate) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const temporaryOf = (file: string) => `.effect-n8n-mcp-${sha256(path.basename(file)).slice(0, 16)}-`

  const removeLeft = Effect.fnUntraced(function*(file: string) {
    const folder = path.dirname(file)
    const now = yield* Clock.currentTimeMillis
    const left = (yield* fs.readDirectory(folder)).filter((name) => name.startsWith(temporaryOf(file)))
    yield* Effect.forEach(left.map((name) => path.join(folder, name)), (name) =>
      Effect.when(
        fs.remove(name),
        Effect.map(fs.stat(name), ({ mtime }) => now - Option.getOrThrow(mtime).getTime() > leftAfter)
      ))
  })

  /** Writes a temporary file beside the file and runs `place`, unless the path leads elsewhere by then. */
  const beside = <E, R>(
    userPath: string,
    file: string,
    bytes: Uint8Array,
    mode: number,
    place: (temporary: string) => Effect.Effect<void, E, R>
  ) =>
    Effect.gen(function*() {
      yield* Effect.ignore(removeLeft(file))
      const temporary = path.join(path.dirname(file), `${temporaryOf(file)}${randomBytes(6).toString("hex")}.tmp`)
      yield* AtomicFile.stage({ bytes, temporary, mode, isReal: true }, (staged) =>
        Effect.gen(function*() {
          // The folder itself may have become a link in the meantime.
          const now = yield* locate.possible(userPath)
          const isSame = path.join(now.at, ...now.rest) === file &&
            Locate.identity(yield* fs.lstat(temporary)) === Locate.identity(staged)
          if (!isSame) return yield* changed(userPath, "written")
          yield* place(temporary)
        })).pipe(
          Effect.provideService(FileSystem.FileSystem, fs),
          orMoved(userPath)
        )
    }).pipe(Effect.uninterruptible)

  /** Replaces the error of a moved file by one that names the new state of its path. */
  const orMoved = (userPath: string) => <A, E, R>(effect: Effect.Effect<A, E | PlatformError.PlatformError, R>) =>
    Effect.catchIf(
      effect,
      (error): error is PlatformError.PlatformError =>
        Predicate.isTagged(error, "PlatformError") && AtomicFile.isMoved(error as PlatformError.PlatformError),
      () => Effect.andThen(locate.possible(userPath), changed(userPath, "written"))
    )

  const makeFolders = Effect.fnUntraced(function*(userPath: string, { at, rest }: Locate.Place) {
    const folder = yield* AtomicFile.makeFolders(at, rest.slice(0, -1)).pipe(
      Effect.provideService(FileSystem.FileSystem, fs),
      Effect.provideService(Path.Path, path),
      orMoved(userPath)
    )
    // A folder may have become a link in the meantime.
    const place = yield* locate.possible(userPath)
    if (path.dirname(path.join(place.at, ...place.rest)) !== folder) return yield* changed(userPath, "written")
  })

  /** Links the temporary file to its name, so that the file is never incomplete; writes it if links are not supported. */
  const linkNew = (userPath: string, file: string, bytes: Uint8Array) => (temporary: string) =>
    fs.link(temporary, file).pipe(
      Effect.catchIf(
        ({ reason }) => reason._tag !== "AlreadyExists",
        () =>
          Effect.scoped(Effect.flatMap(AtomicFile.openNew(file, 0o666), (open) => open.writeAll(bytes))).pipe(
            Effect.provideService(FileSystem.FileSystem, fs),
            Effect.tapError(({ reason }) =>
              reason._tag === "AlreadyExists" ? Effect.void : Effect.ignore(fs.remove(file))
            )
          )
      ),
      Effect.catchIf(({ reason }) => reason._tag === "AlreadyExists", () => exists(userPath))
    )

  return { beside, makeFolders, linkNew }
})
