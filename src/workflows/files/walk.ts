/** Finds the files below a folder. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Locate from "./locate.ts"
import { isJson, refuse, type Target, unreadable } from "./refusals.ts"

const maxFiles = 20_000

/** Folders of tools, whose copies of files are no files of the folder. */
const tools: ReadonlySet<string> = new Set([".git", ".hg", ".jj", ".svn", "node_modules"])

/** Real paths of the files below a folder, and of what cannot be read there. */
export const make = Effect.fnUntraced(function*(locate: Locate.Locate) {
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
          `Folder '${target.path}' has over ${maxFiles.toLocaleString("en")} .json files below it`,
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

export type FilesBelow = Effect.Success<ReturnType<typeof make>>
