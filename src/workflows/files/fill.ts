/** Reads open files. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"

/** Fills from a file until its end or the array's. */
export const fill = Effect.fnUntraced(function*(open: FileSystem.File, bytes: Uint8Array) {
  let filled = 0
  for (let read = 1; read > 0 && filled < bytes.length; filled += read) {
    read = yield* open.read(bytes.subarray(filled))
  }
})
