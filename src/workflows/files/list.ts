/** Lists the workflows below a folder. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { defined, obj, str } from "../../base/Json.ts"
import { isElsewhere, isListed, parse, readAll } from "./read.ts"
import { changed, unreadable } from "./refusals.ts"
import type { FilesBelow } from "./walk.ts"

/** A workflow in a file. */
export interface Listed {
  /** n8n's id, if the file has one. */
  readonly id?: string
  readonly name: string
  /** Relative to the first root if it is below it, else absolute. */
  readonly path: string
  /** ISO 8601. */
  readonly lastModified: string
}

/** A page of workflows. */
export interface Listing {
  readonly workflows: ReadonlyArray<Listed>
  /** Number of workflows on all pages. */
  readonly total: number
  /** First five `.json` files that could not be read. */
  readonly unreadable: ReadonlyArray<{ readonly path: string; readonly reason: string }>
  readonly unreadableCount: number
}

/** Page of a listing. Default: everything. */
export interface Page {
  readonly offset?: number | undefined
  readonly limit?: number | undefined
}

const maxUnreadable = 5
const concurrency = 16

export const make = Effect.fnUntraced(function*(filesBelow: FilesBelow) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const look = Effect.fnUntraced(function*(file: string, shown: string) {
    const open = yield* fs.open(file, { noFollow: true })
    const info = yield* open.stat
    const isMoved = (yield* isElsewhere(fs, open, file)) ?? (yield* fs.realPath(file)) !== file
    if (isMoved) return yield* changed(shown, "read")
    const { value } = yield* parse(shown, yield* readAll(open, Number(info.size), shown))
    if (!isListed(value)) return []
    const { id, name } = obj(value) ?? {}
    const listed: Listed = defined({
      id: str(id),
      name: str(name) ?? path.basename(file, path.extname(file)),
      path: shown,
      lastModified: Option.getOrThrow(info.mtime).toISOString()
    })
    return [listed]
  }, Effect.scoped)

  const paths = Effect.fn("WorkflowFiles.paths")(function*(directory?: string) {
    const { files } = yield* filesBelow(directory)
    return [...files].toSorted()
  })

  const list = Effect.fn("WorkflowFiles.list")(function*(
    directory?: string,
    { limit = Infinity, offset = 0 }: Page = {}
  ) {
    const { files, root } = yield* filesBelow(directory)
    const shown = (file: string) =>
      Option.match(path.resolveWithin(root, path.relative(root, file)), {
        onNone: () => file,
        onSome: () => path.relative(root, file)
      })
    const looks = yield* Effect.forEach(
      [...files].map((file) => ({ file, path: shown(file) })).toSorted((a, b) => a.path < b.path ? -1 : 1),
      ({ file, path }) =>
        look(file, path).pipe(
          Effect.catchTag("PlatformError", (error) => unreadable({ kind: "File", path }, error)),
          Effect.match({
            onFailure: ({ reason }) => ({ workflows: [], unreadable: [{ path, reason }] }),
            onSuccess: (workflows) => ({ workflows, unreadable: [] })
          })
        ),
      { concurrency }
    )
    const workflows = looks.flatMap((look) => look.workflows)
    const failed = looks.flatMap((look) => look.unreadable)
    const listing: Listing = {
      workflows: workflows.slice(offset, offset + limit),
      total: workflows.length,
      unreadable: failed.slice(0, maxUnreadable),
      unreadableCount: failed.length
    }
    return listing
  })

  return { paths, list }
})
