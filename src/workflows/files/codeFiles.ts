/**
 * The files of code beside a workflow's file.
 *
 * **Details**
 *
 * A workflow in several files is written as one: what is to be written stands in a journal first, and a reader takes
 * it for written from then on. What a killed writer left is finished by the next one, or taken back where the workflow's
 * own file was never made.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { createHash, randomBytes } from "node:crypto"
import * as AtomicFile from "../../base/AtomicFile.ts"
import * as codeParts from "./codeParts.ts"
import { fill } from "./fill.ts"
import * as JsonText from "./JsonText.ts"
import { maxBytes, refuse, tooLarge, unreadable } from "./refusals.ts"

/** A file's text before and after; `undefined` where there is none. */
export interface Change {
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Changes of files beside a workflow's file, by their path from its folder. */
export type Changes = ReadonlyMap<string, Change>

const Entry = Schema.Struct({
  file: Schema.String,
  /** The hash of the text before. */
  before: Schema.NullOr(Schema.String),
  after: Schema.NullOr(Schema.String)
})

const Journal = Schema.fromJsonString(Schema.Array(Entry))

const hash = (text: string) => createHash("sha256").update(text).digest("hex")

const hashOf = (text: string | undefined) => text === undefined ? null : hash(text)

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const valueOf = (text: string) => Result.getOrUndefined(JsonText.parse(text))?.value

const isNotFound = ({ reason }: PlatformError.PlatformError) => reason._tag === "NotFound"

/**
 * What of a file's JSON is in files beside it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Beside {
  /** The text of the workflow's own file, with references. */
  readonly raw: string
  /** The text of each file that it refers to. */
  readonly files: ReadonlyMap<string, string>
}

/** Reads and writes them. */
export const make = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const journalOf = (file: string) =>
    path.join(path.dirname(file), `.effect-n8n-mcp-${hash(path.basename(file)).slice(0, 16)}.journal`)

  const place = (file: string, name: string) => path.join(path.dirname(file), ...name.split("/"))

  /** The text of a file that is where its path says, with no link on the way. */
  const textAt = (full: string) =>
    Effect.scoped(Effect.gen(function*() {
      const info = yield* Effect.flatMap(fs.realPath(full), (real) => real === full ? fs.stat(real) : Effect.undefined)
      if (info?.type !== "File") return yield* refuse(`'${full}' is a link or no file`, "Put a plain file there.")
      const size = Number(info.size)
      if (size > maxBytes) return yield* tooLarge(full, size)
      const open = yield* fs.open(full, { noFollow: true })
      const real = yield* AtomicFile.placeOf(open).pipe(Effect.provideService(FileSystem.FileSystem, fs))
      if (real !== undefined && real !== full) return yield* refuse(`'${full}' was replaced`, "Call again.")
      const bytes = new Uint8Array(size)
      yield* fill(open, bytes)
      return yield* Effect.try({
        try: () => utf8.decode(bytes),
        catch: () => refuse(`File '${full}' is not UTF-8 text`, "Save it as UTF-8.")
      })
    })).pipe(
      Effect.catchTag("PlatformError", (error) =>
        isNotFound(error)
          ? Effect.undefined
          : Effect.fail(unreadable({ kind: "File", path: full }, error)))
    )

  const checkName = (shown: string, name: string) =>
    codeParts.isCodeFile(name)
      ? Effect.void
      : refuse(
        `File '${shown}' refers to '${name}', which is no file of code in its folder`,
        "Code files lie in the workflow's folder or below, are not hidden, and end in .css, .html, .js, .py or .sql."
      )

  /** What is being written to the files of a workflow, if its writer has not finished. */
  const readJournal = Effect.fnUntraced(function*(file: string) {
    const text = yield* textAt(journalOf(file))
    if (text === undefined) return undefined
    const entries = yield* Effect.orElseSucceed(Schema.decodeEffect(Journal)(text), () => undefined)
    const name = path.basename(file)
    // Nothing but what a writer of this file would have written is believed.
    return entries?.every((entry) => entry.file === name || codeParts.isCodeFile(entry.file)) === true ? entries : []
  })

  const pending = (entries: ReadonlyArray<typeof Entry.Type> | undefined, name: string, text: string | undefined) => {
    const entry = entries?.find(({ file }) => file === name)
    return entry !== undefined && entry.before === hashOf(text) ? entry.after ?? undefined : text
  }

  /** The whole text and value of a workflow's file, with the code from the files that it refers to. */
  const joined = Effect.fnUntraced(function*(shown: string, file: string, own: string, ownValue: unknown) {
    const isPlain = (text: string) => !/"\$+file"/.test(text)
    const journal = isPlain(own) ? undefined : yield* readJournal(file)
    const raw = pending(journal, path.basename(file), own) ?? own
    const inFile = raw === own ? ownValue : valueOf(raw)
    if (isPlain(raw)) return { text: raw, value: inFile }
    const files = new Map<string, string>()
    for (const { file: name } of codeParts.references(inFile)) {
      if (files.has(name)) continue
      yield* checkName(shown, name)
      const text = pending(journal, name, yield* textAt(place(file, name)))
      if (text === undefined) {
        return yield* refuse(
          `File '${shown}' refers to '${name}', which does not exist`,
          "Bring it back (from git), or write the code into the workflow in place of the reference."
        )
      }
      files.set(name, text)
    }
    const value = codeParts.join(inFile, (name) => files.get(name) ?? "")
    const text = JsonText.rewrite(raw, value)
    return text === raw ? { text, value } : { text, value, beside: { raw, files } satisfies Beside }
  })

  /** The text for a workflow's file, and the changes beside it, for a whole text. */
  const parts = Effect.fnUntraced(function*(
    file: string,
    text: string,
    before: Beside | undefined,
    places: codeParts.CodePlaces | "join" | undefined
  ) {
    const unchanged: { readonly own: string; readonly changes: Changes } = { own: text, changes: new Map() }
    if (before === undefined && typeof places !== "function" && !/"\$+file"/.test(text)) return unchanged
    const whole = valueOf(text)
    const stem = path.basename(file, path.extname(file))
    const taken = yield* Effect.orElseSucceed(fs.readDirectory(place(file, `${stem}.code`)), () => [])
    const { files, value } = codeParts.split(whole, {
      before: before === undefined || places === "join" ? undefined : valueOf(before.raw),
      places: places === "join" ? undefined : places,
      stem,
      taken
    })
    const changes = new Map<string, Change>()
    for (const [name, after] of files) {
      const old = before?.files.get(name)
      if (old !== after) changes.set(name, { before: old, after })
    }
    for (const [name, old] of before?.files ?? []) {
      if (!files.has(name)) changes.set(name, { before: old, after: undefined })
    }
    return { own: value === undefined ? text : JsonText.rewrite(before?.raw ?? text, value), changes }
  })

  const put = Effect.fnUntraced(function*(full: string, text: string | undefined, mode: number) {
    if (text === undefined) return yield* fs.remove(full, { force: true })
    const folder = path.dirname(full)
    yield* fs.makeDirectory(folder, { recursive: true })
    if ((yield* fs.realPath(folder)) !== folder) {
      return yield* refuse(`'${folder}' leads elsewhere`, "Put a plain folder there.")
    }
    yield* AtomicFile.write(full, {
      bytes: new TextEncoder().encode(text),
      temporary: path.join(folder, `.${path.basename(full)}.${randomBytes(6).toString("hex")}.tmp`),
      mode,
      isReal: true
    }).pipe(Effect.provideService(FileSystem.FileSystem, fs))
  })

  const putAll = (file: string, texts: ReadonlyArray<readonly [string, string | undefined]>) =>
    Effect.forEach(texts, ([name, text]) => put(place(file, name), text, 0o644), { discard: true, concurrency: 4 })

  /** Writes the changes beside a file, then runs `writeOwn`; all of it comes to be, or none. */
  const write = <E, R>(file: string, own: Change, changes: Changes, writeOwn: Effect.Effect<void, E, R>) => {
    if (changes.size === 0) return writeOwn
    const entries = [...changes, [path.basename(file), own] as const].map(([name, { after, before }]) => ({
      file: name,
      before: hashOf(before),
      after: after ?? null
    }))
    const back = putAll(file, [...changes].map(([name, { before }]) => [name, before]))
    return put(journalOf(file), JSON.stringify(entries), 0o600).pipe(
      Effect.andThen(
        putAll(
          file,
          [...changes].filter(([, { after }]) => after !== undefined).map(([name, { after }]) => [name, after])
        )
          .pipe(
            Effect.andThen(writeOwn),
            Effect.tapError(() => Effect.ignore(Effect.andThen(back, fs.remove(journalOf(file)))))
          )
      ),
      Effect.andThen(
        putAll(file, [...changes].filter(([, { after }]) => after === undefined).map(([name]) => [name, undefined]))
      ),
      Effect.andThen(fs.remove(journalOf(file), { force: true })),
      Effect.uninterruptible
    )
  }

  /** Finishes what a killed writer of a file left, or takes it back. */
  const recover = Effect.fnUntraced(function*(file: string) {
    const journal = yield* readJournal(file)
    if (journal === undefined) return
    const isThere = yield* fs.exists(file)
    for (const { after, before, file: name } of journal) {
      const full = name === path.basename(file) ? file : place(file, name)
      const now = yield* textAt(full)
      if (isThere && hashOf(now) === before) yield* put(full, after ?? undefined, 0o644)
      // Nothing was there before, and nothing but this writer's own text is removed.
      if (!isThere && before === null && now !== undefined && now === after) yield* put(full, undefined, 0o644)
    }
    yield* fs.remove(journalOf(file), { force: true })
  })

  /** Removes a file and what only it refers to. */
  const remove = <E, R>(file: string, beside: Beside | undefined, removeOwn: Effect.Effect<void, E, R>) =>
    Effect.andThen(removeOwn, putAll(file, [...beside?.files.keys() ?? []].map((name) => [name, undefined])))

  return { joined, parts, write, recover, remove }
})

/** What reads and writes code files. */
export type CodeFiles = Effect.Success<typeof make>
