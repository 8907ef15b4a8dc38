/** Writes files atomically: readers see the whole file or none of it. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"

/** The content of a file, and the temporary file that it is written through. */
export interface Content {
  readonly bytes: Uint8Array
  /** A path on the same file system that no other writer uses. */
  readonly temporary: string
  readonly mode: number
}

/** Writes the bytes to `temporary` and syncs them, runs `place` to link or rename that file, then removes it. */
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

/** Writes or replaces a file: readers see the old content or the new, even if this process is killed. */
export const write = (file: string, content: Content) =>
  stage(content, () => FileSystem.FileSystem.use((fs) => fs.rename(content.temporary, file)))
