/** Reads open files. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as AtomicFile from "../../base/AtomicFile.ts"
import { maxBytes, refuse, tooLarge } from "./refusals.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export const decode = (shown: string, bytes: Uint8Array) =>
  Effect.try({
    try: () => utf8.decode(bytes),
    catch: () => refuse(`File '${shown}' is not UTF-8 text`, "Save it as UTF-8; if it is compressed, decompress it.")
  })

export const readAll = Effect.fnUntraced(function*(open: FileSystem.File, size: number, shown: string) {
  if (size > maxBytes) return yield* tooLarge(shown, size)
  const bytes = new Uint8Array(size)
  let filled = 0
  for (let read = 1; read > 0 && filled < size; filled += read) {
    read = Number(yield* open.read(bytes.subarray(filled)))
  }
  return bytes
})

/** Whether an open file is elsewhere than its real path says; `undefined` if the system does not report it. */
export const isElsewhere = (fs: FileSystem.FileSystem, open: FileSystem.File, path: string) =>
  AtomicFile.placeOf(open).pipe(
    Effect.map((place) => place === undefined ? undefined : place !== path),
    Effect.provideService(FileSystem.FileSystem, fs)
  )
