/** Writes files atomically. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import { randomBytes } from "node:crypto"
import * as AtomicFile from "../../base/AtomicFile.ts"
import type * as Errors from "../../base/Errors.ts"
import { own } from "../../base/Json.ts"
import * as Contents from "../../workflow/Contents.ts"
import type { CodeFiles, CodeOptions } from "./codeFiles.ts"
import * as fileNames from "./fileNames.ts"
import * as Locate from "./locate.ts"
import type { Lock } from "./lock.ts"
import * as read from "./read.ts"
import type { WorkflowFile } from "./read.ts"
import * as refusals from "./refusals.ts"
import { writable } from "./refusals.ts"

/** A written file; `before` is its old text. */
export interface Written {
  readonly path: string
  readonly before: string | undefined
  readonly after: string
}

/** Runs before a file is replaced, with its text and real path; its failure prevents that. */
export type Keep<E, R> = (before: string, path: string) => Effect.Effect<void, E, R>

type Read = (path: string) => Effect.Effect<WorkflowFile, Errors.ValidationError>

const encode = (userPath: string, text: string, encoding: read.Encoding = "UTF-8") => {
  const bytes = read.encode(text, encoding)
  return bytes.length > refusals.maxBytes ? refusals.tooLarge(userPath, bytes.length) : Effect.succeed(bytes)
}

const isTemporary = /^\.effect-n8n-mcp-[\da-f-]+\.tmp$/

const makePlacer = Effect.fnUntraced(function*(locate: Locate.Locate) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  /** Time of the last cleaning by folder: each reads the folder, which may have thousands of files. */
  const cleaned = new Map<string, number>()

  const removeLeft = Effect.fnUntraced(function*(folder: string) {
    const now = yield* Clock.currentTimeMillis
    if (now - (cleaned.get(folder) ?? -Infinity) < AtomicFile.leftAfter) return
    cleaned.set(folder, now)
    const names = (yield* fs.readDirectory(folder)).filter((name) => isTemporary.test(name))
    yield* AtomicFile.removeLeft(fs, names.map((name) => path.join(folder, name)))
  })

  /** Writes a temporary file beside the file and runs `place`, unless the path leads elsewhere by then. */
  const beside = <E, R>(
    userPath: string,
    file: string,
    bytes: Uint8Array,
    mode: number,
    place: (temporary: string) => Effect.Effect<void, E, R>
  ) =>
    Effect.gen(function*() {
      yield* Effect.ignore(removeLeft(path.dirname(file)))
      const name = `.effect-n8n-mcp-${randomBytes(12).toString("hex")}.tmp`
      const temporary = path.join(path.dirname(file), name)
      yield* AtomicFile.stage(fs, { data: bytes, temporary, mode, isReal: true }, (staged) =>
        Effect.gen(function*() {
          // The folder itself may have become a link in the meantime.
          const now = yield* locate.possible(userPath)
          const isSame = path.join(now.at, ...now.rest) === file &&
            Locate.identity(yield* fs.lstat(temporary)) === Locate.identity(staged)
          if (!isSame) return yield* refusals.changed(userPath, "written")
          yield* place(temporary)
        })).pipe(orMoved(userPath))
    }).pipe(Effect.uninterruptible)

  /** Replaces the error of a moved file by one that names the new state of its path. */
  const orMoved = (userPath: string) => <A, E, R>(effect: Effect.Effect<A, E | PlatformError.PlatformError, R>) =>
    Effect.catchIf(
      effect,
      (error): error is PlatformError.PlatformError =>
        Predicate.isTagged(error, "PlatformError") && AtomicFile.isMoved(error as PlatformError.PlatformError),
      () => Effect.andThen(locate.possible(userPath), refusals.changed(userPath, "written"))
    )

  const makeFolders = Effect.fnUntraced(function*(userPath: string, { at, rest }: Locate.Place) {
    const folder = yield* orMoved(userPath)(AtomicFile.makeFolders(fs, at, rest.slice(0, -1)))
    // A folder may have become a link in the meantime.
    const place = yield* locate.possible(userPath)
    if (path.dirname(path.join(place.at, ...place.rest)) !== folder) return yield* refusals.changed(userPath, "written")
  })

  /** Links the temporary file to its name, so that the file is never incomplete; writes it if links are not supported. */
  const linkNew = (userPath: string, file: string, bytes: Uint8Array) => (temporary: string) =>
    fs.link(temporary, file).pipe(
      Effect.catchIf(
        ({ reason }) => reason._tag !== "AlreadyExists",
        () =>
          Effect.scoped(Effect.flatMap(AtomicFile.openNew(fs, file, 0o666), (open) => open.writeAll(bytes))).pipe(
            Effect.tapError(({ reason }) =>
              reason._tag === "AlreadyExists" ? Effect.void : Effect.ignore(fs.remove(file))
            )
          )
      ),
      Effect.catchIf(({ reason }) => reason._tag === "AlreadyExists", () => refusals.exists(userPath))
    )

  return { beside, makeFolders, linkNew }
})

const existing = Effect.fnUntraced(function*(locate: Locate.Locate, userPath: string) {
  const target: refusals.Target = { kind: "File", path: userPath }
  yield* Locate.checkName(target)
  return yield* locate.existing(target).pipe(
    Effect.catchTag("PlatformError", (error) => refusals.unreadable(target, error))
  )
})

const createFree = Effect.fn("WorkflowFiles.createFree")(function*(
  locate: Locate.Locate,
  create: (path: string, text: string) => Effect.Effect<{ readonly path: string }, Errors.ValidationError>,
  { fs, path }: { readonly fs: FileSystem.FileSystem; readonly path: Path.Path },
  name: string,
  text: string
) {
  const [root] = yield* locate.roots
  if (root === undefined) {
    return yield* refusals.refuse(`There is no files root for '${name}'`, {
      _tag: "SetFilesRoot",
      purpose: "KeepFiles"
    })
  }
  const taken = new Set(yield* fs.readDirectory(root).pipe(writable(root)))
  for (const stem of fileNames.free(name, taken)) {
    const file = path.join(root, `${stem}.json`)
    const created = yield* create(file, text).pipe(
      Effect.asSome,
      Effect.catchIf(({ reason }) => reason === refusals.exists(file).reason, () => Effect.succeedNone)
    )
    if (Option.isSome(created)) return { ...created.value, stem }
  }
  return yield* refusals.refuse(
    `No name is free for '${name}' in ${refusals.quote([root])}`,
    "Use another name for the workflow."
  )
})

/** Fails if a file has more in it than this workflow, which its removal would lose. */
const checkAlone = (userPath: string, { inside, text }: WorkflowFile) =>
  Effect.flatMap(inside, (one) => Contents.isAlone(text, one) ? Effect.void : Effect.fail(refusals.notAlone(userPath)))

/** Whether a file has a list of nodes, as other programs' files do not. */
const canBeReplaced = ({ contents, value }: WorkflowFile) =>
  (contents._tag === "Workflows" ? contents.all.map(({ workflow }) => workflow) : [value])
    .some((each) => Array.isArray(own(each, "nodes")))

export const make = Effect.fnUntraced(function*(locate: Locate.Locate, read: Read, lock: Lock, code: CodeFiles) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { beside, linkNew, makeFolders } = yield* makePlacer(locate)

  const pathOf = ({ at, rest }: Locate.Place) => path.join(at, ...rest)

  const createAt = Effect.fnUntraced(
    function*(userPath: string, place: Locate.Place, text: string, options: CodeOptions) {
      yield* encode(userPath, text)
      const file = pathOf(place)
      if (fileNames.isReserved(path.basename(file))) return yield* refusals.reserved(userPath)
      yield* makeFolders(userPath, place)
      const { changes, own } = yield* code.parts(file, text, undefined, options)
      const bytes = yield* encode(userPath, own)
      yield* code.write(file, changes, beside(userPath, file, bytes, 0o666, linkNew(userPath, file, bytes)))
    }
  )

  const create = Effect.fn("WorkflowFiles.create")(
    function*(userPath: string, text: string, options: CodeOptions = {}) {
      const place = yield* locate.possible(userPath)
      if (place.rest.length === 0) return yield* refusals.exists(userPath)
      const file = pathOf(place)
      yield* createAt(userPath, place, text, options).pipe(lock(userPath, file), writable(userPath))
      return { path: file }
    }
  )

  const replace = Effect.fnUntraced(
    function*<E, R>(userPath: string, old: WorkflowFile, text: string, keep: Keep<E, R>, options: CodeOptions) {
      yield* encode(userPath, text, old.encoding)
      const [file, raw] = [old.path, old.beside?.raw ?? old.text]
      const result = { path: file, before: old.text, after: text }
      const { changes, own } = yield* code.parts(file, text, old.beside, options)
      if (own === raw && changes.size === 0) return result
      const bytes = yield* encode(userPath, own, old.encoding)
      yield* fs.access(file, { writable: true }).pipe(writable(userPath))
      yield* keep(old.text, file)
      const { gid, mode, uid } = yield* fs.stat(file).pipe(writable(userPath))
      const check = Effect.gen(function*() {
        const now = yield* read(userPath)
        if (now.path !== file || now.text !== old.text) return yield* refusals.changed(userPath, "rewritten")
      })
      if (changes.size > 0) yield* check
      const writeOwn = beside(userPath, file, bytes, 0o600, (temporary) =>
        Effect.gen(function*() {
          yield* Effect.ignore(fs.chown(temporary, Option.getOrElse(uid, () => -1), Option.getOrElse(gid, () => -1)))
          yield* fs.chmod(temporary, mode & 0o7777)
          // If code files were written, the check has been made.
          if (changes.size === 0) yield* check
          yield* fs.rename(temporary, file)
        }))
      yield* code.write(file, changes, own === raw ? Effect.void : writeOwn).pipe(writable(userPath))
      return result
    }
  )

  const update = Effect.fn("WorkflowFiles.update")(function*<E, R, E2 = never, R2 = never>(
    userPath: string,
    change: (file: WorkflowFile) => Effect.Effect<string | undefined, E, R>,
    keep: Keep<E2, R2>,
    options: CodeOptions = {}
  ) {
    // The file is read under the lock, since another writer may be replacing it.
    const file = yield* existing(locate, userPath)
    return yield* Effect.gen(function*() {
      const old = yield* read(userPath)
      if (old.path !== file) return yield* refusals.changed(userPath, "rewritten")
      const text = yield* change(old)
      return text === undefined || text === old.text && Object.keys(options).length === 0
        ? { path: file, before: old.text, after: old.text }
        : yield* replace(userPath, old, text, keep, options)
    }).pipe(lock(userPath, file))
  })

  const save = Effect.fn("WorkflowFiles.save")(function*<E, R, E2 = never, R2 = never>(
    userPath: string,
    content: (before: WorkflowFile | undefined) => Effect.Effect<string, E, R>,
    keep: Keep<E2, R2>
  ) {
    const file = pathOf(yield* locate.possible(userPath))
    return yield* Effect.gen(function*() {
      const place = yield* locate.possible(userPath)
      if (pathOf(place) !== file) return yield* refusals.changed(userPath, "rewritten")
      if (place.rest.length > 0) {
        const after = yield* content(undefined)
        yield* createAt(userPath, place, after, {}).pipe(writable(userPath))
        return { path: file, before: undefined, after }
      }
      const old = yield* Effect.mapError(
        read(userPath),
        ({ reason }) => refusals.refuse(reason, refusals.notOverwritten)
      )
      if (!canBeReplaced(old)) return yield* refusals.notWorkflow(userPath)
      const after = yield* content(old)
      return after === old.text ? { path: file, before: after, after } : yield* replace(userPath, old, after, keep, {})
    }).pipe(lock(userPath, file))
  })

  const remove = Effect.fn("WorkflowFiles.remove")(function*<E, R>(
    userPath: string,
    keep: (file: WorkflowFile) => Effect.Effect<void, E, R>
  ) {
    const file = yield* existing(locate, userPath)
    yield* Effect.gen(function*() {
      const old = yield* read(userPath)
      yield* Effect.andThen(checkAlone(userPath, old), keep(old))
      yield* code.remove(file, old.beside, fs.remove(file)).pipe(writable(userPath))
    }).pipe(lock(userPath, file))
  })

  return {
    create,
    createFree: (name: string, text: string) => createFree(locate, create, { fs, path }, name, text),
    update,
    save,
    remove
  }
})
