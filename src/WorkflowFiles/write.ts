/** Puts files in their place, whole or not at all. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import { createHash, randomBytes } from "node:crypto"
import type * as N8nError from "../N8nError.ts"
import * as Locate from "./locate.ts"
import type { Lock } from "./lock.ts"
import * as names from "./names.ts"
import { isWorkflow, type WorkflowFile } from "./read.ts"
import {
  type Asked,
  changed,
  exists,
  leftAlone,
  maxBytes,
  notWorkflow,
  quote,
  refuse,
  setRoot,
  tooLarge,
  unreadable,
  unwritable
} from "./refusals.ts"

/** A file that was written; `before` is what it replaced. */
export interface Written {
  readonly path: string
  readonly before: string | undefined
  readonly after: string
}

/** Runs before a file is replaced, with its text and real path; its failure keeps the file as it is. */
export type Keep<E, R> = (before: string, path: string) => Effect.Effect<void, E, R>

type Read = (path: string) => Effect.Effect<WorkflowFile, N8nError.Validation>

const encode = (asked: string, text: string) => {
  const bytes = new TextEncoder().encode(text)
  return bytes.length > maxBytes ? tooLarge(asked, bytes.length) : Effect.succeed(bytes)
}

/** What a killed writer left is removed by the next one after this time. */
const leftAfter = 60_000

/** Writes where `locate` says, under the lock of each file. */
export const make = Effect.fnUntraced(function*(locate: Locate.Locate, read: Read, lock: Lock) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const writable = (asked: string) => <A, E, R>(effect: Effect.Effect<A, E | PlatformError.PlatformError, R>) =>
    Effect.catchIf(
      effect,
      (error): error is PlatformError.PlatformError => Predicate.isTagged(error, "PlatformError"),
      (error) => Effect.fail(unwritable(asked, error))
    )

  const temporaryOf = (file: string) =>
    `.effect-n8n-mcp-${createHash("sha256").update(path.basename(file)).digest("hex").slice(0, 16)}-`

  const removeLeft = Effect.fnUntraced(function*(file: string) {
    const folder = path.dirname(file)
    const left = (yield* fs.readDirectory(folder)).filter((name) => name.startsWith(temporaryOf(file)))
    yield* Effect.forEach(left.map((name) => path.join(folder, name)), (name) =>
      Effect.when(
        fs.remove(name),
        Effect.map(fs.stat(name), ({ mtime }) => Date.now() - Option.getOrThrow(mtime).getTime() > leftAfter)
      ))
  })

  /** A full copy beside the file, given to `place`; where that is was looked up anew after writing. */
  const beside = <E, R>(
    asked: string,
    file: string,
    bytes: Uint8Array,
    mode: number,
    place: (temporary: string) => Effect.Effect<void, E, R>
  ) =>
    Effect.gen(function*() {
      yield* Effect.ignore(removeLeft(file))
      const temporary = path.join(path.dirname(file), `${temporaryOf(file)}${randomBytes(6).toString("hex")}.tmp`)
      yield* Effect.gen(function*() {
        const written = yield* Effect.scoped(Effect.gen(function*() {
          const open = yield* fs.open(temporary, { flag: "wx", mode })
          yield* open.writeAll(bytes)
          yield* open.sync
          return Locate.identity(yield* open.stat)
        }))
        // The folder itself may have become a link meanwhile.
        const there = yield* locate.possible(asked)
        const isSame = path.join(there.at, ...there.rest) === file &&
          Locate.identity(yield* fs.lstat(temporary)) === written
        if (!isSame) return yield* changed(asked, "written")
        yield* place(temporary)
      }).pipe(Effect.ensuring(Effect.ignore(fs.remove(temporary))))
    }).pipe(Effect.uninterruptible)

  const makeFolders = Effect.fnUntraced(function*(asked: string, { at, rest }: Locate.Place) {
    let folder = at
    for (const name of rest.slice(0, -1)) {
      folder = path.join(folder, name)
      yield* fs.makeDirectory(folder).pipe(
        Effect.catchIf(({ reason }) => reason._tag === "AlreadyExists", () => Effect.void)
      )
    }
    // None of them may lead elsewhere.
    const place = yield* locate.possible(asked)
    if (path.dirname(path.join(place.at, ...place.rest)) !== folder) return yield* changed(asked, "written")
  })

  /** Two names of one file, so that the second is never there before the content; not every file system has that. */
  const linkNew = (asked: string, file: string, bytes: Uint8Array) => (temporary: string) =>
    fs.link(temporary, file).pipe(
      Effect.catchIf(
        ({ reason }) => reason._tag !== "AlreadyExists",
        () =>
          fs.writeFile(file, bytes, { flag: "wx" }).pipe(
            Effect.tapError(({ reason }) =>
              reason._tag === "AlreadyExists" ? Effect.void : Effect.ignore(fs.remove(file))
            )
          )
      ),
      Effect.catchIf(({ reason }) => reason._tag === "AlreadyExists", () => exists(asked))
    )

  const createAt = Effect.fnUntraced(function*(asked: string, place: Locate.Place, text: string) {
    const bytes = yield* encode(asked, text)
    const file = path.join(place.at, ...place.rest)
    yield* makeFolders(asked, place)
    yield* beside(asked, file, bytes, 0o666, linkNew(asked, file, bytes))
  })

  const create = Effect.fn("WorkflowFiles.create")(function*(asked: string, text: string) {
    const place = yield* locate.possible(asked)
    if (place.rest.length === 0) return yield* exists(asked)
    const file = path.join(place.at, ...place.rest)
    yield* createAt(asked, place, text).pipe(lock(asked, file), writable(asked))
    return { path: file }
  })

  const replace = Effect.fnUntraced(function*<E, R>(asked: string, old: WorkflowFile, text: string, keep: Keep<E, R>) {
    const bytes = yield* encode(asked, text)
    const file = old.path
    yield* fs.access(file, { writable: true }).pipe(writable(asked))
    yield* keep(old.text, file)
    const { gid, mode, uid } = yield* fs.stat(file).pipe(writable(asked))
    yield* beside(asked, file, bytes, 0o600, (temporary) =>
      Effect.gen(function*() {
        yield* Effect.ignore(fs.chown(temporary, Option.getOrElse(uid, () => -1), Option.getOrElse(gid, () => -1)))
        yield* fs.chmod(temporary, mode & 0o7777)
        const now = yield* read(asked)
        if (now.path !== file || now.text !== old.text) return yield* changed(asked, "rewritten")
        yield* fs.rename(temporary, file)
      })).pipe(writable(asked))
    return { path: file, before: old.text, after: text }
  })

  const update = Effect.fn("WorkflowFiles.update")(function*<E, R, E2 = never, R2 = never>(
    asked: string,
    change: (file: WorkflowFile) => Effect.Effect<string | undefined, E, R>,
    keep: Keep<E2, R2>
  ) {
    // Read only under the lock: the one before may be replacing it.
    const wanted: Asked = { kind: "File", path: asked }
    yield* Locate.checkName(wanted)
    const file = yield* locate.existing(wanted).pipe(
      Effect.catchTag("PlatformError", (error) => unreadable(wanted, error))
    )
    return yield* Effect.gen(function*() {
      const old = yield* read(asked)
      if (old.path !== file) return yield* changed(asked, "rewritten")
      const text = yield* change(old)
      return text === undefined || text === old.text
        ? { path: file, before: old.text, after: old.text }
        : yield* replace(asked, old, text, keep)
    }).pipe(lock(asked, file))
  })

  const save = Effect.fn("WorkflowFiles.save")(function*<E, R, E2 = never, R2 = never>(
    asked: string,
    content: (before: WorkflowFile | undefined) => Effect.Effect<string, E, R>,
    keep: Keep<E2, R2>
  ) {
    const pathOf = ({ at, rest }: Locate.Place) => path.join(at, ...rest)
    const file = pathOf(yield* locate.possible(asked))
    return yield* Effect.gen(function*() {
      const place = yield* locate.possible(asked)
      if (pathOf(place) !== file) return yield* changed(asked, "rewritten")
      if (place.rest.length > 0) {
        const after = yield* content(undefined)
        yield* createAt(asked, place, after).pipe(writable(asked))
        return { path: file, before: undefined, after }
      }
      const old = yield* read(asked).pipe(Effect.mapError(({ reason }) => refuse(reason, leftAlone)))
      if (!isWorkflow(old.value)) return yield* notWorkflow(asked)
      const after = yield* content(old)
      return after === old.text ? { path: file, before: after, after } : yield* replace(asked, old, after, keep)
    }).pipe(lock(asked, file))
  })

  const createFree = Effect.fn("WorkflowFiles.createFree")(function*(name: string, text: string) {
    const [root] = yield* locate.roots
    if (root === undefined) return yield* refuse(`There is no files root for '${name}'`, `To keep files, ${setRoot}.`)
    const taken = new Set(yield* fs.readDirectory(root).pipe(writable(root)))
    for (const stem of names.free(name, taken)) {
      const file = path.join(root, `${stem}.json`)
      const made = yield* create(file, text).pipe(
        Effect.asSome,
        Effect.catchIf(({ reason }) => reason === exists(file).reason, () => Effect.succeedNone)
      )
      if (Option.isSome(made)) return { ...made.value, stem }
    }
    return yield* refuse(`No name is free for '${name}' in ${quote([root])}`, "Give the workflow another name.")
  })

  return { create, createFree, update, save }
})
