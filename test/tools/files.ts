/** What lies in folders. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"

/** Every file below a folder, by path. */
export const filesIn = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const files = new Map<string, string>()
  for (const name of (yield* fs.readDirectory(folder, { recursive: true })).toSorted()) {
    const path = `${folder}/${name}`
    if ((yield* fs.stat(path)).type === "File") files.set(name, yield* fs.readFileString(path))
  }
  return files
})
