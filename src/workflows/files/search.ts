/** Searches files for the ids of workflows. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import { presentIds } from "./presence.ts"
import type { FilesBelow } from "./walk.ts"

/** Places of ids in a folder. */
export interface Presence {
  /** Real paths of the files that contain an id, of any kind. */
  readonly filesOf: ReadonlyMap<string, ReadonlyArray<string>>
  /** Real paths of files, folders and links that cannot be read, and may contain any. */
  readonly unreadable: ReadonlyArray<string>
}

const concurrency = 16

const latin1 = new TextDecoder("latin1")

/** Characters of a file that are searched twice, so that an id across two chunks is found. */
const overlap = 4_096

export const make = Effect.fnUntraced(function*(filesBelow: FilesBelow) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  /** Ids in a file in any encoding whose letters are ASCII's. */
  const idsIn = (file: string) =>
    Stream.runFold(fs.stream(file), () => ({ ids: new Set<string>(), rest: "" }), ({ ids, rest }, bytes) => {
      const text = rest + latin1.decode(bytes).replaceAll("\0", "")
      for (const id of presentIds(text)) ids.add(id)
      return { ids, rest: text.slice(-overlap) }
    })

  return Effect.fn("WorkflowFiles.presence")(function*(directory: string, wanted: ReadonlyArray<string>) {
    const { files, unreadable } = yield* filesBelow(directory, true)
    const filesOf = new Map(wanted.map((id) => [id, new Array<string>()]))
    const searched = [...files].filter((file) => !path.basename(file).startsWith(".n8n-")).toSorted()
    const failed = yield* Effect.forEach(searched, (file) =>
      idsIn(file).pipe(
        Effect.match({
          onFailure: () => [file],
          onSuccess: ({ ids }) => {
            for (const id of ids) filesOf.get(id)?.push(file)
            return []
          }
        })
      ), { concurrency })
    const present: Presence = { filesOf, unreadable: [...unreadable, ...failed.flat()] }
    return present
  })
})
