/** Resolves paths below the files roots. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { fileOf } from "../Reference.ts"
import * as refusals from "./refusals.ts"

export interface Place {
  /** Real path of the root. */
  readonly root: string
  /** Existing part of the path: absolute, without links. */
  readonly at: string
  /** Names of the missing part, the file's last. */
  readonly rest: ReadonlyArray<string>
}

const maxLinks = 40

/** Identity of a file's state, which changes when the file is replaced or written. */
export const identity = ({ dev, ino, mtime, size }: FileSystem.File.Info) =>
  [dev, Option.getOrUndefined(ino), size, Option.getOrUndefined(mtime)?.getTime()].join()

/** Whether a folder belongs to tools: nothing is created there, and searches ignore it. */
export const isIgnored = (name: string) => name === "node_modules" || name.startsWith(".")

const rootOpener = (fs: FileSystem.FileSystem, path: Path.Path) => (target: refusals.Target) => (root: string) =>
  fs.realPath(root).pipe(
    Effect.flatMap((real) => Effect.map(fs.stat(real), ({ type }) => ({ type, real, path: path.resolve(root) }))),
    Effect.filterOrFail(({ type }) => type === "Directory"),
    Effect.mapError(() =>
      refusals.serverFault(
        `The files root '${root}' is not a folder that exists`,
        { _tag: "SetFilesRoot", purpose: "ReplaceMissing" },
        target
      )
    )
  )

export const make = Effect.fnUntraced(function*(rootPaths: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const openRoot = rootOpener(fs, path)

  const outside = (target: refusals.Target, how: string) =>
    refusals.refuse(
      `${target.kind} '${target.path}' ${how} the files root ${refusals.quote(rootPaths) || "(none is set)"}`,
      { _tag: "SetFilesRoot", purpose: "ReadElsewhere" },
      target
    )

  const roots = Effect.forEach(
    rootPaths,
    (root) => Effect.map(openRoot({ kind: "File", path: "" })(root), ({ real }) => real)
  )

  const exists = (file: string) =>
    fs.lstat(file).pipe(Effect.as(true), Effect.catchIf(refusals.isNotFound, () => Effect.succeed(false)))

  const follow = Effect.fnUntraced(function*(target: refusals.Target) {
    const roots = yield* Effect.forEach(rootPaths, openRoot(target))
    const below = (file: string) =>
      roots.flatMap((folder) =>
        [folder.real, folder.path].flatMap((root) => {
          const relative = path.relative(root, file)
          return Option.isSome(path.resolveWithin(root, relative))
            ? [{ root: folder.real, names: relative.split(path.sep).filter(Boolean) }]
            : []
        })
      )[0]
    const file = target.kind === "File" ? fileOf(target.path) : target.path
    const start = below(path.resolve(roots[0]?.real ?? "", file))
    if (start === undefined) return yield* outside(target, "is not under")
    if (target.kind === "File" && !refusals.isJson(file)) return yield* refusals.notJson(target.path)
    let { root } = start
    let at = root
    let names: ReadonlyArray<string> = start.names
    for (let links = 0; names.length > 0;) {
      const [name = "", ...rest] = names
      const next = path.join(at, name)
      const info = yield* fs.lstat(next).pipe(Effect.catchIf(refusals.isNotFound, () => Effect.undefined))
      if (info === undefined) {
        // macOS stores が as two code points; models write one.
        const forms = [name.normalize("NFC"), name.normalize("NFD")].filter((form) => form !== name)
        const same = yield* Effect.findFirst(forms, (form) => exists(path.join(at, form)))
        if (Option.isNone(same)) return { root, at, rest: names }
        names = [same.value, ...rest]
      } else if (info.type === "SymbolicLink") {
        const destination = below(path.resolve(at, yield* fs.readLink(next)))
        if (destination === undefined) return yield* outside(target, "is a link that leads out of")
        if (++links > maxLinks) {
          return yield* refusals.refuse(
            `${target.kind} '${target.path}' is a cycle of links`,
            "Use another path.",
            target
          )
        }
        root = destination.root
        at = destination.root
        names = [...destination.names, ...rest]
      } else {
        at = next
        names = rest
      }
    }
    if (target.kind === "File" && !refusals.isJson(at)) return yield* refusals.notJson(target.path)
    return { root, at, rest: names }
  })

  const existing = (target: refusals.Target) =>
    Effect.flatMap(
      follow(target),
      ({ at, rest: [name] }) =>
        name === undefined
          ? Effect.succeed(at)
          : Effect.flatMap(fs.readDirectory(at), (entries) => refusals.missing(target, at, name, entries))
    )

  /** Place of an existing or new file; a new one must not have a hidden or ignored name. */
  const possible = Effect.fnUntraced(
    function*(userPath: string) {
      yield* checkName({ kind: "File", path: userPath })
      const place = yield* follow({ kind: "File", path: userPath })
      const name = place.rest.at(-1)
      if (name === undefined) return place
      if (!refusals.isJson(name)) return yield* refusals.notJson(userPath)
      const folder = path.relative(place.root, path.join(place.at, ...place.rest.slice(0, -1)))
      const ignored = [...folder.split(path.sep), name].find(isIgnored)
      if (ignored !== undefined) {
        return yield* refusals.refuse(
          `File '${userPath}' would be ${ignored === name ? "hidden" : `in '${ignored}'`}`,
          "New files are not written into node_modules or under names that begin with a dot: use another path."
        )
      }
      const { type } = yield* fs.lstat(place.at)
      if (type !== "Directory") {
        return yield* refusals.refuse(`'${place.at}' is not a folder but a ${type.toLowerCase()}`, "Use another path.")
      }
      return place
    },
    (locating, path) =>
      Effect.catchTag(locating, "PlatformError", (error) =>
        Effect.fail(
          // Looking up a name that is too long fails, too.
          error.reason._tag === "PermissionDenied"
            ? refusals.unreadable({ kind: "File", path }, error)
            : refusals.unwritable(path, error)
        ))
  )

  return { roots, existing, possible }
})

export type Locate = Effect.Success<ReturnType<typeof make>>

export const checkName = Effect.fnUntraced(function*(target: refusals.Target) {
  const { kind, path } = target
  if (kind === "File" && path.trim() === "") {
    return yield* refusals.refuse("File path is required", "Use the path of a .json file.")
  }
  if (path.includes("\0")) return yield* refusals.refuse(`${kind} path contains a NUL character`, "Remove it.", target)
})
