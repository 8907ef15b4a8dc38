/** Files that are there whole or not at all. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"

/** What is written, and through which file. */
export interface Content {
  readonly bytes: Uint8Array
  /** Where the bytes are written first: on the same file system, under a name that no other writer uses. */
  readonly temporary: string
  readonly mode: number
}

/** Writes the bytes to disk as `temporary`, and has `place` bring that where it belongs; afterwards it is gone. */
export const stage = <E, R>(
  { bytes, mode, temporary }: Content,
  place: (staged: FileSystem.File.Info) => Effect.Effect<void, E, R>
): Effect.Effect<void, PlatformError.PlatformError | E, FileSystem.FileSystem | R> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const write = Effect.scoped(Effect.gen(function*() {
      const file = yield* fs.open(temporary, { flag: "wx", mode })
      yield* file.writeAll(bytes)
      yield* file.sync
      return yield* file.stat
    }))
    yield* Effect.ensuring(Effect.flatMap(write, place), Effect.ignore(fs.remove(temporary)))
  }).pipe(Effect.uninterruptible)

/** Writes a file or replaces it: others find the old content or the new, also when this process is killed. */
export const write = (file: string, content: Content) =>
  stage(content, () => FileSystem.FileSystem.use((fs) => fs.rename(content.temporary, file)))
