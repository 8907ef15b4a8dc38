/** Finds the files below a folder, lists their workflows, and searches them for ids. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Input from "../../base/Input.ts"
import { defined, str } from "../../base/Json.ts"
import { digits } from "../../base/Plural.ts"
import * as Contents from "../../workflow/Contents.ts"
import * as Locate from "./locate.ts"
import { contentsOf, type Source } from "./read.ts"
import { isJson, refuse, type Target, unreadable } from "./refusals.ts"

const maxFiles = 20_000

/** Folders of tools, whose copies of files are no files of the folder. */
const tools: ReadonlySet<string> = new Set([".git", ".hg", ".jj", ".svn", "node_modules"])

/** Real paths of the files below a folder, and of what cannot be read there. */
export const filesBelow = Effect.fnUntraced(function*(locate: Locate.Locate) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  /** Files below a folder: `.json` files that are not hidden, or `all` that are not of a tool. */
  const walk = Effect.fnUntraced(function*(target: Target, start: string, all: boolean) {
    const files = new Set<string>()
    const unreadable: Array<string> = []
    const seen = new Set([start])
    const folders = [start]
    const isLeft = all ? (name: string) => tools.has(name) : Locate.isIgnored
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const here = folder
      const entries = yield* fs.readDirectoryEntries(here).pipe(
        Effect.catch((error) =>
          here === start ? Effect.fail(error) : Effect.sync(() => {
            unreadable.push(here)
            return []
          })
        )
      )
      for (const { name, type } of entries) {
        const full = path.join(here, name)
        const entry = type === "Directory" || type === "File" ? { type, real: full } : yield* linkTarget(full)
        if (entry === undefined && isJson(name)) unreadable.push(full)
        if (
          entry?.type === "Directory" && ![name, path.basename(entry.real)].some(isLeft) && !seen.has(entry.real)
        ) {
          seen.add(entry.real)
          folders.push(entry.real)
        } else if (entry?.type === "File" && (all || isJson(name) && isJson(entry.real))) files.add(entry.real)
      }
      if (!all && files.size > maxFiles) {
        return yield* refuse(
          `Folder '${target.path}' has over ${digits(maxFiles)} .json files below it`,
          "Use a subfolder as directoryPath.",
          target
        )
      }
    }
    return { files, unreadable }
  })

  const linkTarget = (link: string) =>
    locate.existing({ kind: "Folder", path: link }).pipe(
      Effect.flatMap((real) => Effect.map(fs.lstat(real), ({ type }) => ({ type, real }))),
      Effect.catch(() => Effect.undefined)
    )

  return Effect.fnUntraced(function*(directory = ".", all = false) {
    const target: Target = { kind: "Folder", path: directory }
    yield* Locate.checkName(target)
    return yield* Effect.gen(function*() {
      const start = yield* locate.existing(target)
      const { type } = yield* fs.lstat(start)
      if (type !== "Directory") {
        return yield* refuse(`'${target.path}' is not a folder but a ${type.toLowerCase()}`, "Use a folder.", target)
      }
      const [root = ""] = yield* locate.roots
      return { ...yield* walk(target, start, all), root }
    }).pipe(Effect.catchTag("PlatformError", (error) => Effect.fail(unreadable(target, error))))
  })
})

type FilesBelow = Effect.Success<ReturnType<typeof filesBelow>>

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
