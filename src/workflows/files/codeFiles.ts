/**
 * Code files beside a workflow's file: written before it and removed after it, so that references hold.
 *
 * In the parameters of its nodes `{"$file": "invoices.code/add-vat.js"}` stands for the text of that file, by a path from
 * the workflow's folder. An object that only looks like a reference has one more `$` before its key.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { randomBytes } from "node:crypto"
import { rmdir } from "node:fs/promises"
import * as AtomicFile from "../../base/AtomicFile.ts"
import { obj, own, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import type { CodePlace, CodePlaces } from "../../workflow/CodePlaces.ts"
import * as Contents from "../../workflow/Contents.ts"
import * as fileNames from "./fileNames.ts"
import type * as Locate from "./locate.ts"
import type { Lock } from "./lock.ts"
import { decode, isElsewhere, readAll } from "./read.ts"
import { isNotFound, refuse, unreadable } from "./refusals.ts"
import * as SecretFiles from "./secretFiles.ts"

const extensions: ReadonlySet<string> = new Set(["css", "html", "js", "py", "sql"])

/** Whether a file can contain code: below the workflow's folder, with the extension of a language, not hidden. */
const isCodeFile = (file: string): boolean =>
  file.length <= 250 && !/[\\:\p{Cc}]/u.test(file) &&
  file.split("/").every((name) => name !== "" && !name.startsWith(".") && name !== "node_modules") &&
  extensions.has(file.slice(file.lastIndexOf(".") + 1))

type Path = CodePlace["path"]

/** References to code files, by their paths from the workflow's folder, with slashes. */
const code = SecretFiles.standIns(
  "file",
  (content) => typeof content === "string" ? content : undefined,
  (workflow, change) =>
    JsonPath.walk(workflow, [], (value, path) => {
      const [top, index, key] = path
      return top === "nodes" && typeof index === "number" && key === "parameters" ? change(value, path) : value
    })
)

const references = (inFile: unknown) => code.all(inFile).map(({ content: file, path }) => ({ path, file }))

const canBeFile = (text: string) => text.isWellFormed() && !/[\r\0]|^\uFEFF/.test(text)

const keyOf = (workflow: unknown, path: Path) => JSON.stringify(SecretFiles.stablePath(workflow, path))

/**
 * JSON of a workflow's own file, and the texts of its code files. `before` is the current JSON of the file. Without
 * `places`, only code that is in files already stays there. `folder` is for new code files, `taken` are the names in
 * it, and `unused` the texts there that the JSON does not refer to.
 */
const split = (
  workflow: unknown,
  before: unknown,
  places: CodePlaces | undefined,
  { folder, taken, unused }: {
    readonly folder: string
    readonly taken: ReadonlyArray<string>
    readonly unused: ReadonlyMap<string, string>
  }
) => {
  const known = new Map(references(before).map(({ file, path }) => [keyOf(before, path), file]))
  const endings = new Map(
    (places === undefined ? [] : places(obj(workflow) ?? {})).map(({ extension, path }) => [
      JSON.stringify(path),
      extension
    ])
  )
  const files = new Map<string, string>()
  const stems = new Set(
    [...taken, ...[...known.values()].map((file) => file.slice(file.lastIndexOf("/") + 1))]
      .map((name) => `${name.slice(0, name.lastIndexOf("."))}.json`)
  )
  /** File of the node's code under another parameter, which is gone: an upgrade renames `functionCode` to `jsCode`. */
  const renamed = (path: Path) => {
    if (!/code$/i.test(String(path.at(-1)))) return undefined
    const [, name] = SecretFiles.stablePath(workflow, path)
    const gone = [...known].filter(([key]) => {
      const [, owner, ...rest] = JSON.parse(key) as Path
      return owner === name && typeof JsonPath.get(workflow, [...path.slice(0, 2), ...rest]) !== "string"
    })
    return gone.length === 1 ? gone[0]?.[1] : undefined
  }
  const fileFor = (path: Path, text: string) => {
    const old = known.get(keyOf(workflow, path)) ?? renamed(path)
    if (old !== undefined && !files.has(old)) return old
    const extension = endings.get(JSON.stringify(path))
    if (extension === undefined || !(text.length > 200 || text.split("\n").length > 4)) return undefined
    const same = [...unused].find(([file, old]) => old === text && file.endsWith(`.${extension}`) && !files.has(file))
    if (same !== undefined) return same[0]
    const node = str(own(JsonPath.get(workflow, path.slice(0, 2)), "name")) ?? "node"
    const [name = "node"] = fileNames.free(node, stems)
    stems.add(`${name}.json`)
    return `${folder}/${name}.${extension}`
  }
  const value = code.split(workflow, (inner, path) => {
    if (typeof inner !== "string" || !canBeFile(inner)) return inner
    const file = fileFor(path, inner)
    if (file === undefined) return inner
    files.set(file, inner)
    return { $file: file }
  })
  return { value, files }
}

export interface Change {
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Whether code and secrets are moved into files beside the workflow, back into it, or not at all. */
export interface CodeOptions {
  readonly code?: CodePlaces | "join" | undefined
  readonly secrets?: "extract" | "join" | undefined
}

const marks = /"\$+(?:file|secret)"/

/** Changes of files beside a workflow's file, by their path from its folder. */
export type Changes = ReadonlyMap<string, Change>

/** The workflow of a text, and its place. */
const insideOf = (shown: string, text: string) =>
  Effect.mapError(
    Effect.fromResult(Contents.one(Contents.read(text))),
    (why) => refuse(`'${shown}' cannot have parts in files beside it: ${why}`, "Store each in a file of its own.")
  )

type Place = { readonly path: ReadonlyArray<string | number> }

/** Places in a text, of places in its workflow. */
const placesIn = <A extends Place>(raw: string, references: (workflow: unknown) => ReadonlyArray<A>) =>
  Result.match(Contents.one(Contents.read(raw)), {
    onFailure: () => [],
    onSuccess: ({ at, workflow }) =>
      references(workflow).map((each): A => ({ ...each, path: [...at[0] ?? [], ...each.path] }))
  })

/** Parts of a workflow that are in files beside it. */
export interface Beside {
  readonly raw: string
  readonly hasSecrets: boolean
  readonly files: ReadonlyMap<string, string>
}

/** Places of a workflow whose text is in files beside it. */
export const codePlaces = (
  { raw }: Pick<Beside, "raw">
): ReadonlyArray<{ readonly path: ReadonlyArray<string | number>; readonly file: string }> => placesIn(raw, references)

/** Paths of the values that are in `.n8n-secrets.json`. */
export const secretPlaces = ({ raw }: Pick<Beside, "raw">): ReadonlyArray<ReadonlyArray<string | number>> =>
  placesIn(raw, SecretFiles.references).map(({ path }) => path)

const placeWith = (path: Path.Path) => (file: string, name: string) => path.join(path.dirname(file), ...name.split("/"))

const makeWriter = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const place = placeWith(path)

  const put = Effect.fnUntraced(function*(base: string, name: string, text: string | undefined) {
    const full = path.join(base, ...name.split("/"))
    if (text === undefined) return yield* fs.remove(full, { force: true })
    const folder = path.dirname(full)
    yield* AtomicFile.makeFolders(fs, base, path.relative(base, folder).split(path.sep).filter(Boolean))
    if ((yield* fs.realPath(folder)) !== folder) {
      return yield* refuse(`'${folder}' leads elsewhere`, "Put a plain folder there.")
    }
    yield* AtomicFile.write(fs, full, {
      data: text,
      temporary: path.join(folder, `.${path.basename(full)}.${randomBytes(6).toString("hex")}.tmp`),
      mode: 0o644,
      isReal: true
    })
  })

  const putAll = (file: string, texts: ReadonlyArray<readonly [string, string | undefined]>) =>
    Effect.forEach(texts, ([name, text]) => put(path.dirname(file), name, text), { discard: true, concurrency: 4 })

  const removeAll = Effect.fnUntraced(function*(file: string, names: ReadonlyArray<string>) {
    yield* putAll(file, names.map((name) => [name, undefined]))
    const folders = new Set(names.map((name) => path.dirname(place(file, name))))
    folders.delete(path.dirname(file))
    // Fails for a folder that is not empty.
    yield* Effect.forEach(folders, (folder) => Effect.ignore(Effect.tryPromise(() => rmdir(folder))), { discard: true })
  })

  /** Writes the changes beside a file and runs `writeOwn`; an error of either puts the code back. */
  const write = <E, R>(file: string, changes: Changes, writeOwn: Effect.Effect<void, E, R>) => {
    const written = [...changes].filter(([, { after }]) => after !== undefined)
    const removed = [...changes].filter(([, { after }]) => after === undefined)
    return putAll(file, written.map(([name, { after }]) => [name, after])).pipe(
      Effect.andThen(writeOwn),
      Effect.tapError(() => Effect.ignore(putAll(file, written.map(([name, { before }]) => [name, before])))),
      Effect.andThen(removeAll(file, removed.map(([name]) => name))),
      Effect.uninterruptible
    )
  }

  const remove = <E, R>(file: string, beside: Beside | undefined, removeOwn: Effect.Effect<void, E, R>) =>
    Effect.andThen(removeOwn, removeAll(file, [...beside?.files.keys() ?? []]))

  return { removeAll, write, remove }
})

export const make = Effect.fnUntraced(function*(locate: Locate.Locate, lock: Lock) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const place = placeWith(path)
  const { remove, removeAll, write } = yield* makeWriter

  const textAt = (full: string) =>
    Effect.scoped(Effect.gen(function*() {
      const info = yield* Effect.flatMap(fs.realPath(full), (real) => real === full ? fs.stat(real) : Effect.undefined)
      if (info?.type !== "File") return yield* refuse(`'${full}' is a link or not a file`, "Put a plain file there.")
      const open = yield* fs.open(full, { noFollow: true })
      if (yield* isElsewhere(fs, open, full)) return yield* refuse(`'${full}' was replaced`, "Try again.")
      return (yield* decode(full, yield* readAll(open, Number(info.size), full))).text
    })).pipe(
      Effect.catchTag("PlatformError", (error) =>
        isNotFound(error) ? Effect.undefined : Effect.fail(unreadable({ kind: "File", path: full }, error)))
    )

  const secrets = yield* SecretFiles.make(locate, lock, textAt)

  const checkName = (shown: string, name: string) =>
    isCodeFile(name)
      ? Effect.void
      : refuse(
        `File '${shown}' refers to '${name}', which is not a code file in its folder`,
        "Code files are in or below the workflow's folder, are not hidden, and end in .css, .html, .js, .py or .sql."
      )

  const joined = Effect.fnUntraced(function*(
    shown: string,
    file: string,
    raw: string,
    hidesSecrets: boolean
  ) {
    if (!marks.test(raw) || Contents.read(raw)._tag !== "Workflows") return { text: raw }
    const { at, workflow: inFile } = yield* insideOf(shown, raw)
    const files = new Map<string, string>()
    const withSecrets = hidesSecrets ? SecretFiles.hidden(inFile) : yield* secrets.joined(shown, file, inFile)
    for (const { file: name } of references(withSecrets)) {
      if (files.has(name)) continue
      yield* checkName(shown, name)
      const text = yield* textAt(place(file, name))
      if (text === undefined) {
        return yield* refuse(
          `File '${shown}' refers to '${name}', which does not exist`,
          "Restore it (from git), or replace the reference by the code."
        )
      }
      files.set(name, text)
    }
    const value = code.join(withSecrets, (name) => files.get(name) ?? "")
    const text = yield* Contents.rewriting(raw, at, value)
    const hasSecrets = SecretFiles.keysIn(inFile).length > 0
    return text === raw ? { text } : { text, beside: { raw, hasSecrets, files } satisfies Beside }
  })

  const folderOf = (file: string) => `${path.basename(file, path.extname(file))}.code`

  const inFolder = Effect.fnUntraced(function*(file: string) {
    const folder = folderOf(file)
    const names = yield* Effect.orElseSucceed(fs.readDirectory(place(file, folder)), () => [])
    const texts = yield* Effect.forEach(
      names.map((name) => `${folder}/${name}`).filter(isCodeFile),
      (name) =>
        Effect.map(
          Effect.orElseSucceed(textAt(place(file, name)), () => undefined),
          (text) => text === undefined ? [] : [[name, text] as const]
        )
    )
    return { names, texts: new Map(texts.flat()) }
  })

  const parts = Effect.fnUntraced(function*(
    file: string,
    text: string,
    before: Beside | undefined,
    { code: places, secrets: mode }: CodeOptions
  ) {
    const unchanged: { readonly own: string; readonly changes: Changes } = { own: text, changes: new Map() }
    const isPlain = before === undefined && typeof places !== "function" && mode !== "extract"
    if (isPlain && !marks.test(text)) return unchanged
    const raw = before && (yield* insideOf(file, before.raw)).workflow
    const { at, workflow } = yield* insideOf(file, text)
    const whole = yield* secrets.separated(file, workflow, raw, mode)
    const { names, texts } = yield* inFolder(file)
    const inFile = places === "join" ? undefined : raw
    const { files, value } = split(whole, inFile, places === "join" ? undefined : places, {
      folder: folderOf(file),
      taken: names,
      // An interrupted writer may leave code that no workflow refers to.
      unused: new Map([...texts].filter(([name]) => before?.files.has(name) !== true))
    })
    const changes = new Map<string, Change>()
    for (const [name, after] of files) {
      const old = before?.files.get(name) ?? texts.get(name)
      if (old !== after) changes.set(name, { before: old, after })
    }
    for (const [name, old] of before?.files ?? []) {
      if (!files.has(name)) changes.set(name, { before: old, after: undefined })
    }
    return { own: yield* Contents.rewriting(before?.raw ?? text, at, value), changes }
  })

  /** Removes code that a deleted file left in its folder, if `isKnown` accepts its path and text. */
  const removeLeft = Effect.fnUntraced(function*(file: string, isKnown: (name: string, text: string) => boolean) {
    const { texts } = yield* inFolder(file)
    yield* removeAll(file, [...texts].flatMap(([name, text]) => isKnown(name, text) ? [name] : []))
  })

  return { joined, parts, write, remove, removeLeft }
})

export type CodeFiles = Effect.Success<ReturnType<typeof make>>
