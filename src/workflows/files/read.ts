/** Reads files below a root: UTF-8, or UTF-16 and UTF-32, which a mark or the zeros of the first characters show. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as AtomicFile from "../../base/AtomicFile.ts"
import type * as Errors from "../../base/Errors.ts"
import * as Contents from "../../workflow/Contents.ts"
import { fileOf, selectorOf } from "../Reference.ts"
import type { Beside, CodeFiles } from "./codeFiles.ts"
import * as Locate from "./locate.ts"
import { changed, maxBytes, refuse, stem, type Target, tooLarge, unreadable } from "./refusals.ts"

export type Encoding = "UTF-8" | `UTF-${"16" | "32"}${"LE" | "BE"}`

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const encodingOf = (bytes: Uint8Array): Encoding => {
  const [a = 1, b = 1, c = 1, d = 1] = bytes
  if (bytes.length % 2 === 1) return "UTF-8"
  if (a === 0) return b === 0 ? "UTF-32BE" : "UTF-16BE"
  if (b === 0 || a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "UTF-32LE" : "UTF-16LE"
  return a === 0xfe && b === 0xff ? "UTF-16BE" : "UTF-8"
}

/** Text of bytes including its mark; throws if they are not text. */
const decodeText = (bytes: Uint8Array): { readonly text: string; readonly encoding: Encoding } => {
  const encoding = encodingOf(bytes)
  if (encoding === "UTF-8") return { text: utf8.decode(bytes), encoding }
  const [view, isLittle] = [new DataView(bytes.buffer, bytes.byteOffset, bytes.length), encoding.endsWith("LE")]
  let text = ""
  for (let at = 0; at < bytes.length; at += encoding.includes("16") ? 2 : 4) {
    text += encoding.includes("16")
      ? String.fromCharCode(view.getUint16(at, isLittle))
      : String.fromCodePoint(view.getUint32(at, isLittle))
  }
  return { text, encoding }
}

export const encode = (text: string, encoding: Encoding): Uint8Array => {
  if (encoding === "UTF-8") return new TextEncoder().encode(text)
  const isWide = encoding.includes("32")
  const units = isWide ? [...text] : text.split("")
  const view = new DataView(new ArrayBuffer(units.length * (isWide ? 4 : 2)))
  for (const [index, unit] of units.entries()) {
    if (isWide) view.setUint32(index * 4, unit.codePointAt(0) ?? 0, encoding.endsWith("LE"))
    else view.setUint16(index * 2, unit.charCodeAt(0), encoding.endsWith("LE"))
  }
  return new Uint8Array(view.buffer)
}

export const decode = (shown: string, bytes: Uint8Array) =>
  Effect.try({
    try: () => decodeText(bytes),
    catch: () => refuse(`File '${shown}' is not UTF-8 text`, "Save it as UTF-8; if it is compressed, decompress it.")
  })

export const readAll = Effect.fnUntraced(function*(open: FileSystem.File, size: number, shown: string) {
  if (size > maxBytes) return yield* tooLarge(shown, size)
  const bytes = new Uint8Array(size)
  let filled = 0
  for (let read = 1; read > 0 && filled < size; filled += read) {
    read = Number(yield* open.read(bytes.subarray(filled)))
  }
  return bytes
})

/** Whether an open file is elsewhere than its real path says; `undefined` if the system does not report it. */
export const isElsewhere = (fs: FileSystem.FileSystem, open: FileSystem.File, path: string) =>
  Effect.map(AtomicFile.placeOf(fs, open), (place) => place === undefined ? undefined : place !== path)

/** A file and its content. */
export interface WorkflowFile {
  /** Real path: absolute, without links. */
  readonly path: string
  /** Text including a byte order mark, with the code from files beside it. */
  readonly text: string
  /** @internal */
  readonly encoding: Encoding
  /** @internal */
  readonly contents: Exclude<Contents.Contents, { readonly _tag: "Broken" }>
  /** The workflow in it, if it is one; else the whole value. */
  readonly value: unknown
  /** Repairs of the text and of its form: each kind once, with the number and the first place. */
  readonly repairs: ReadonlyArray<string>
  /** Parts in files beside it, if there are any. */
  readonly beside?: Beside
  /** The workflow and its place; fails if the file is something else, or several. @internal */
  readonly inside: Effect.Effect<Contents.Inside, Errors.ValidationError>
  /** Text with another workflow in place of this one; everything around it stays. */
  readonly rewriting: (workflow: unknown) => Effect.Effect<string, Errors.ValidationError>
}

/** A file that cannot be read, or whose text is not JSON. */
export interface Unreadable {
  /** @internal */
  readonly contents: Contents.Contents & { readonly _tag: "Broken" }
  /** Its text; `undefined` if it is too large or not text. */
  readonly raw: string | undefined
}

/** Options of reading a file. */
export interface ReadOptions {
  /** Whether secrets in `.n8n-secrets.json` are not read: `[redacted]` stands for them. */
  readonly hidesSecrets?: boolean | undefined
}

/** Contents of a file's text; cases of `effect-n8n-mcp test`, whose data may be workflows, are something else. */
export const contentsOf = Effect.fnUntraced(function*(shown: string, text: string) {
  const name = stem(shown.split(/[\\/]/).at(-1) ?? "")
  const contents = Contents.read(text, name)
  if (contents._tag === "Broken") return yield* refuse(`File '${shown}' ${contents.why}`, contents.hint)
  return contents._tag === "Workflows" && name.endsWith(".test")
    ? { ...contents, _tag: "Other" as const, what: "it is a test case" }
    : contents
})

export const make = Effect.fnUntraced(function*(locate: Locate.Locate, code: CodeFiles) {
  const fs = yield* FileSystem.FileSystem

  const bytesOf = Effect.fnUntraced(function*(target: Target, file: string) {
    // Checked before opening, since opening a pipe waits for its writer.
    const { type } = yield* fs.lstat(file)
    if (type !== "File") {
      return yield* refuse(
        `'${target.path}' is not a file but a ${type.toLowerCase()}`,
        "Use the path of a .json file."
      )
    }
    const open = yield* fs.open(file)
    const before = yield* open.stat
    if (yield* isElsewhere(fs, open, file)) return yield* changed(target.path, "read")
    // The open file is below the root only if the path still leads to it.
    const there = yield* Effect.flatMap(locate.existing(target), fs.lstat)
    if (Locate.identity(there) !== Locate.identity(before)) return yield* changed(target.path, "read")
    const bytes = yield* readAll(open, Number(before.size), target.path)
    if (Locate.identity(yield* open.stat) !== Locate.identity(before)) return yield* changed(target.path, "read")
    return bytes
  }, Effect.scoped)

  /** Text of a file, without that of files beside it. */
  const source = Effect.fnUntraced(function*(path: string) {
    const target: Target = { kind: "File", path }
    yield* Locate.checkName(target)
    const file = yield* locate.existing(target)
    return { file, ...yield* decode(path, yield* bytesOf(target, file)) }
  })

  const read = Effect.fn("WorkflowFiles.read")(
    function*(path: string, options?: ReadOptions) {
      const { encoding, file, text: raw } = yield* source(path)
      const { beside, text } = yield* code.joined(path, file, raw, options?.hidesSecrets === true)
      const contents = yield* contentsOf(fileOf(path), text)
      const inside = Effect.mapError(
        Effect.fromResult(Contents.one(contents, selectorOf(path))),
        (why) => refuse(`File '${path}' is not an n8n workflow: ${why}`, "Nothing was done.")
      )
      const content: WorkflowFile = {
        path: file,
        text,
        encoding,
        contents,
        inside,
        value: yield* Effect.match(inside, {
          onFailure: () => contents.value,
          onSuccess: ({ workflow }) => workflow
        }),
        repairs: contents.repairs,
        rewriting: (workflow) => Effect.flatMap(inside, ({ at }) => Contents.rewriting(text, at, workflow)),
        ...(beside === undefined ? {} : { beside })
      }
      return content
    },
    (reading, path, _options?: ReadOptions) =>
      reading.pipe(
        Effect.catchTag("PlatformError", (error) => Effect.fail(unreadable({ kind: "File", path }, error))),
        // A file that a writer replaced can be read in the next attempt.
        Effect.retry({ times: 2, while: ({ reason }) => reason === changed(path, "read").reason })
      )
  )

  /** Text of a file that cannot be read as a whole, or not as text: enough to see whether it looks like a workflow. */
  const rawOf = Effect.fnUntraced(function*(path: string) {
    const open = yield* fs.open(yield* locate.existing({ kind: "File", path }), { noFollow: true })
    const size = Number((yield* open.stat).size)
    const bytes = yield* readAll(open, Math.min(size, maxBytes), path)
    const decoded = Option.liftThrowable(decodeText)(bytes)
    return size > maxBytes || Option.isNone(decoded)
      ? { raw: undefined, isLikely: Contents.isLikely(new TextDecoder("latin1").decode(bytes)) }
      : { raw: decoded.value.text, isLikely: Contents.isLikely(decoded.value.text) }
  }, Effect.scoped)

  const inspect = (path: string, options?: ReadOptions) =>
    Effect.catchTag(read(path, options), "ValidationError", ({ hint, reason }) =>
      Effect.map(
        Effect.orElseSucceed(rawOf(path), () => ({ raw: undefined, isLikely: false })),
        ({ isLikely, raw }): Unreadable => ({
          raw,
          contents: { _tag: "Broken", why: reason, ...hint === undefined ? {} : { hint }, isLikely }
        })
      ))

  /** Reads a file that is meant to be one workflow. */
  const workflow = (path: string) =>
    Effect.flatMap(read(path), (file) => Effect.map(file.inside, ({ workflow }) => ({ ...file, value: workflow })))

  return { source, read, inspect, workflow }
})

export type Source = Effect.Success<ReturnType<typeof make>>["source"]
