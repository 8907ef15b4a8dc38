/** Writes files atomically: readers see the whole file or none of it. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import { join } from "node:path"

/** The content of a file, and the temporary file that it is written through. */
export interface Content {
  readonly data: string | Uint8Array
  /** A path on the same file system that no other writer uses. */
  readonly temporary: string
  readonly mode: number
  /** Whether the path is free of links, so that the file must be exactly there. */
  readonly isReal?: boolean
}

/** Real path of an open file, which does not move as the folders of a path can, where the system reports it. */
export const placeOf = (fs: FileSystem.FileSystem, file: FileSystem.File): Effect.Effect<string | undefined> =>
  // Node's file system knows a file by a number, which Effect's type of it does not show.
  Predicate.hasProperty(file, "fd") && Predicate.isNumber(file.fd)
    ? Effect.orElseSucceed(fs.readLink(`/proc/self/fd/${file.fd}`), () => undefined)
    : Effect.undefined

const moved = "the folder was replaced while the file was opened"

/** Whether a new file is elsewhere than its path says. */
export const isMoved = ({ reason }: PlatformError.PlatformError): boolean =>
  "description" in reason && reason.description === moved

/** Opens a new file at exactly this path; a file that ends up elsewhere is removed. */
export const openNew = Effect.fnUntraced(function*(fs: FileSystem.FileSystem, path: string, mode: number) {
  const file = yield* fs.open(path, { flag: "wx", mode })
  const place = yield* placeOf(fs, file)
  if (place === undefined || place === path) return file
  yield* Effect.ignore(fs.remove(place))
  return yield* movedError("open", path)
})

const movedError = (method: string, path: string) =>
  PlatformError.systemError({
    _tag: "NotFound",
    module: "FileSystem",
    method,
    pathOrDescriptor: path,
    description: moved
  })

/** Makes the folders below an existing one, each inside its parent, opened where the path says. */
export const makeFolders = Effect.fnUntraced(function*(
  fs: FileSystem.FileSystem,
  at: string,
  names: ReadonlyArray<string>
) {
  let parent = at
  for (const name of names) {
    const folder = join(parent, name)
    yield* Effect.scoped(Effect.gen(function*() {
      // Windows opens no folders.
      const open = yield* Effect.orElseSucceed(fs.open(parent), () => undefined)
      const place = open === undefined ? undefined : yield* placeOf(fs, open)
      if (place !== undefined && place !== parent) return yield* movedError("makeDirectory", folder)
      const inside = Predicate.hasProperty(open, "fd") && place !== undefined
        ? `/proc/self/fd/${open.fd}/${name}`
        : folder
      yield* fs.makeDirectory(inside)
    })).pipe(Effect.catchIf(({ reason }) => reason._tag === "AlreadyExists", () => Effect.void))
    parent = folder
  }
  return parent
})

/** Writes the data to `temporary` and syncs it, runs `place` to link or rename that file, then removes it. */
export const stage = <E, R>(
  fs: FileSystem.FileSystem,
  { data, isReal, mode, temporary }: Content,
  place: (staged: FileSystem.File.Info) => Effect.Effect<void, E, R>
): Effect.Effect<void, PlatformError.PlatformError | E, R> =>
  Effect.scoped(Effect.gen(function*() {
    const file = yield* isReal === true ? openNew(fs, temporary, mode) : fs.open(temporary, { flag: "wx", mode })
    yield* file.writeAll(typeof data === "string" ? new TextEncoder().encode(data) : data)
    yield* file.sync
    return yield* file.stat
  })).pipe(
    Effect.flatMap(place),
    Effect.ensuring(Effect.ignore(fs.remove(temporary))),
    Effect.uninterruptible
  )

/** Age in milliseconds of a temporary file from which its writer was interrupted. */
export const leftAfter = 60_000

/** Removes those of these temporary files whose writers were interrupted. */
export const removeLeft = Effect.fnUntraced(function*(
  fs: FileSystem.FileSystem,
  temporaries: ReadonlyArray<string>
) {
  const now = yield* Clock.currentTimeMillis
  yield* Effect.forEach(temporaries, (path) =>
    Effect.when(
      fs.remove(path, { force: true }),
      Effect.map(fs.stat(path), ({ mtime }) => now - Option.getOrThrow(mtime).getTime() > leftAfter)
    ))
}, (removing) => Effect.ignore(removing))

/** Writes or replaces a file: readers see the old content or the new, even if this process is killed. */
export const write = (fs: FileSystem.FileSystem, file: string, content: Content) =>
  stage(fs, content, () => fs.rename(content.temporary, file))

/** Writes as the only writer of the file: an interrupted one may have left the temporary file. */
export const writeAlone = (fs: FileSystem.FileSystem, file: string, content: Content) =>
  Effect.andThen(fs.remove(content.temporary, { force: true }), write(fs, file, content))
