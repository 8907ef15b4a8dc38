/** Lists the workflows below a folder, and searches its files for ids. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Input from "../../base/Input.ts"
import { defined, str } from "../../base/Json.ts"
import * as Contents from "../../workflow/Contents.ts"
import { contentsOf, type Source } from "./read.ts"
import { unreadable } from "./refusals.ts"
import type { FilesBelow } from "./walk.ts"

/** A workflow in a file. */
export interface Listed {
  /** n8n's id, if the file has one. */
  readonly id?: string
  readonly name: string
  /** Relative to the first root if it is below it, else absolute; of several in a file, with `#ID` or `#NAME`. */
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
}

/** Page of a listing. Default: everything. */
const Page = Schema.Struct({
  offset: Schema.optional(Input.within("offset", Input.fromZero)),
  limit: Schema.optional(Input.count("limit", Input.fromZero.maximum))
})
/** Page of a listing. Default: everything. */
export interface Page extends Schema.Schema.Type<typeof Page> {}

const checkPage = Input.decoder(Page)

/** Places of ids in a folder. */
export interface Presence {
  /** Real paths of the files that contain an id, of any kind. */
  readonly filesOf: ReadonlyMap<string, ReadonlyArray<string>>
  /** Real paths of files, folders and links that cannot be read, and may contain any. */
  readonly unreadable: ReadonlyArray<string>
  /** Real paths of all files, without our own `.n8n-` files. */
  readonly files: ReadonlyArray<string>
}

const concurrency = 16

const latin1 = new TextDecoder("latin1")

/** Characters of a file that are searched twice, so that an id across two chunks is found. */
const overlap = 4_096

export const make = Effect.fnUntraced(function*(filesBelow: FilesBelow, source: Source) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const look = Effect.fnUntraced(function*(shown: string) {
    const { file, text } = yield* source(shown)
    const { mtime } = yield* fs.stat(file)
    const contents = yield* contentsOf(shown, text)
    const all = contents._tag === "Workflows" ? contents.all : []
    return all.filter(({ workflow }) => Contents.faultOf(workflow) === undefined).map(({ workflow }): Listed => {
      const [id, name] = [str(workflow["id"]), String(workflow["name"])]
      return defined({
        id,
        name,
        path: all.length === 1 ? shown : `${shown}#${id ?? name}`,
        lastModified: Option.getOrThrow(mtime).toISOString()
      })
    })
  })

  const paths = Effect.fn("WorkflowFiles.paths")(function*(directory?: string) {
    const { files } = yield* filesBelow(directory)
    return [...files].toSorted()
  })

  const list = Effect.fn("WorkflowFiles.list")(function*(
    directory?: string,
    page: Page = {}
  ) {
    const { limit = Infinity, offset = 0 } = yield* checkPage(page)
    const { files, root } = yield* filesBelow(directory)
    const shown = (file: string) =>
      Option.match(path.resolveWithin(root, path.relative(root, file)), {
        onNone: () => file,
        onSome: () => path.relative(root, file)
      })
    const looks = yield* Effect.forEach(
      [...files].map(shown).toSorted(),
      (path) =>
        look(path).pipe(
          Effect.catchTag("PlatformError", (error) => unreadable({ kind: "File", path }, error)),
          Effect.match({
            onFailure: ({ reason }) => ({ workflows: [], unreadable: [{ path, reason }] }),
            onSuccess: (workflows) => ({ workflows, unreadable: [] })
          })
        ),
      { concurrency }
    )
    const workflows = looks.flatMap((look) => look.workflows)
    const listing: Listing = {
      workflows: workflows.slice(offset, offset + limit),
      total: workflows.length,
      unreadable: looks.flatMap((look) => look.unreadable)
    }
    return listing
  })

  /** Ids in a file in any encoding whose letters are ASCII's. */
  const idsIn = (file: string) =>
    Stream.runFold(fs.stream(file), () => ({ ids: new Set<string>(), rest: "" }), ({ ids, rest }, bytes) => {
      const text = rest + latin1.decode(bytes).replaceAll("\0", "")
      for (const id of Contents.ids(text)) ids.add(id)
      return { ids, rest: text.slice(-overlap) }
    })

  const presence = Effect.fn("WorkflowFiles.presence")(function*(directory: string, wanted: ReadonlyArray<string>) {
    const { files, unreadable } = yield* filesBelow(directory, true)
    const filesOf = new Map(wanted.map((id) => [id, new Array<string>()]))
    const searched = [...files].filter((file) => !path.basename(file).startsWith(".n8n-")).toSorted()
    const failed = yield* Effect.forEach(wanted.length === 0 ? [] : searched, (file) =>
      idsIn(file).pipe(
        Effect.match({
          onFailure: () => [file],
          onSuccess: ({ ids }) => {
            for (const id of ids) filesOf.get(id)?.push(file)
            return []
          }
        })
      ), { concurrency })
    const present: Presence = { filesOf, unreadable: [...unreadable, ...failed.flat()], files: searched }
    return present
  })

  return { paths, list, presence }
})
