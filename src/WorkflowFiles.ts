/** Workflow files: read only what lies under the files root, in the state in which people share such files. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Jsonc from "jsonc-parser"
import * as N8nError from "./N8nError.ts"
import { nearest } from "./Nearest.ts"

/** A file's content. */
export interface WorkflowFile {
  /** Where it really is: absolute, without links. */
  readonly path: string
  /** The parsed JSON; whether it is a workflow is for others to judge. */
  readonly value: unknown
  /** What was no JSON but surely meant: each such kind once, with how many and where the first was. */
  readonly repairs: ReadonlyArray<string>
}

/** Reads files. Every refusal is a `Validation` of the field `filePath`. */
export interface Service {
  /**
   * The JSON in a file under a files root; a relative path starts at the first root.
   *
   * **Details**
   *
   * Regular `.json` files in UTF-8 of at most 10 MB. A byte order mark, comments and trailing commas are repaired.
   *
   * **Gotchas**
   *
   * Links may lead from one place under a root to another. One that leads out is refused before anything outside is
   * touched, so that no answer tells what exists there.
   */
  readonly read: (path: string) => Effect.Effect<WorkflowFile, N8nError.Validation>
}

/** The files under the roots. */
export class WorkflowFiles extends Context.Service<WorkflowFiles, Service>()("effect-n8n-mcp/WorkflowFiles") {}

/** Where files may be read. */
export interface Options {
  /** Absolute paths of folders, one at least; that they exist is checked at each use. */
  readonly roots: ReadonlyArray<string>
}

const maxBytes = 10_000_000
const maxLinks = 40

const setRoot = "set --files-root (N8N_MCP_FILES_ROOT) where the server is started"

const refuse = (reason: string, hint: string) => new N8nError.Validation({ reason, field: "filePath", hint })

const isJson = (name: string) => /\.json$/i.test(name)

const notJson = (asked: string) =>
  refuse(`File '${asked}' is not a .json file`, "Only .json files are read, and links to such.")

const unreadable = (asked: string, { reason }: PlatformError.PlatformError) => {
  const code = Predicate.hasProperty(reason.cause, "code") ? reason.cause.code : reason._tag
  return refuse(`File '${asked}' cannot be read (${String(code)})`, "Check the path, and who may read it.")
}

const changed = (asked: string) =>
  refuse(`File '${asked}' changed while it was read`, "Call again when it is complete.")

const quote = (names: ReadonlyArray<string>) => names.map((name) => `'${name}'`).join(", ")

/** Names are compared without their extension, which would make all alike. */
const stem = (name: string) => name.replace(/\.json$/i, "")

const missing = (asked: string, folder: string, name: string, entries: ReadonlyArray<string>) => {
  const there = entries.filter((entry) => !entry.startsWith(".") && isJson(entry) === isJson(name)).toSorted()
  const near = nearest(stem(name), there.map(stem)).flatMap((found) => there.filter((entry) => stem(entry) === found))
  const few = there.slice(0, 8)
  const instead = near.length > 0
    ? `Did you mean ${quote(near)}?`
    : few.length > 0
    ? `There are ${quote(few)}${few.length < there.length ? " and others" : ""}.`
    : "Nothing like it is there."
  return refuse(`File '${asked}' does not exist`, `'${folder}' has no '${name}'. ${instead}`)
}

/** Which file, in which state: another one when it was replaced or written to. */
const identity = ({ dev, ino, mtime, size }: FileSystem.File.Info) =>
  [dev, Option.getOrUndefined(ino), size, Option.getOrUndefined(mtime)?.getTime()].join()

/** Reads under the roots. One that does not exist fails the reading, not the layer. */
export const layer = (options: Options): Layer.Layer<WorkflowFiles, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    WorkflowFiles,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path

      const openRoot = (root: string) =>
        fs.realPath(root).pipe(
          Effect.flatMap((real) =>
            Effect.map(fs.stat(real), ({ type }) => ({ type, real, given: path.resolve(root) }))
          ),
          Effect.filterOrFail(({ type }) => type === "Directory"),
          Effect.mapError(() =>
            refuse(`The files root '${root}' is not a folder that exists`, `Create it, or ${setRoot}.`)
          )
        )

      /** The real path: links are followed here, one by one, each only while it stays under a root. */
      const locate = Effect.fnUntraced(function*(asked: string) {
        const roots = yield* Effect.forEach(options.roots, openRoot)
        const below = (file: string) =>
          roots.flatMap(({ given, real }) =>
            [real, given].flatMap((root) => {
              const relative = path.relative(root, file)
              return Option.isSome(path.resolveWithin(root, relative))
                ? [{ root: real, names: relative.split(path.sep).filter(Boolean) }]
                : []
            })
          )[0]
        const outside = (how: string) =>
          refuse(
            `File '${asked}' ${how} the files root ${quote(options.roots) || "(none is set)"}`,
            `Give a path under it, relative or absolute; to read elsewhere, ${setRoot}.`
          )

        const start = below(path.resolve(roots[0]?.real ?? "", asked))
        if (start === undefined) return yield* outside("is not under")
        if (!isJson(asked)) return yield* notJson(asked)
        let at = start.root
        let names: ReadonlyArray<string> = start.names
        for (let links = 0; names.length > 0;) {
          const [name = "", ...rest] = names
          const next = path.join(at, name)
          const info = yield* fs.lstat(next).pipe(
            Effect.catchIf(({ reason }) => reason._tag === "NotFound", () => Effect.undefined)
          )
          if (info === undefined) {
            const entries = yield* fs.readDirectory(at)
            // macOS writes が as two code points, models write one.
            const same = entries.find((entry) => entry !== name && entry.normalize() === name.normalize())
            if (same === undefined) return yield* missing(asked, at, name, entries)
            names = [same, ...rest]
          } else if (info.type === "SymbolicLink") {
            const target = below(path.resolve(at, yield* fs.readLink(next)))
            if (target === undefined) return yield* outside("is a link that leads out of")
            if (++links > maxLinks) return yield* refuse(`File '${asked}' is a circle of links`, "Give another path.")
            at = target.root
            names = [...target.names, ...rest]
          } else {
            at = next
            names = rest
          }
        }
        return isJson(at) ? at : yield* notJson(asked)
      })

      const bytesOf = Effect.fnUntraced(function*(asked: string, file: string) {
        // Looked at before opening: to open a pipe is to wait for its writer.
        const { type } = yield* fs.lstat(file)
        if (type !== "File") {
          return yield* refuse(`'${asked}' is not a file but a ${type.toLowerCase()}`, "Give the path of a .json file.")
        }
        const open = yield* fs.open(file)
        const before = yield* open.stat
        // What was opened lies under the root only if the way there still leads to it.
        const there = yield* Effect.flatMap(locate(asked), fs.lstat)
        if (identity(there) !== identity(before)) return yield* changed(asked)
        const size = Number(before.size)
        if (size > maxBytes) {
          return yield* refuse(
            `File '${asked}' is over 10 MB: it has ${size.toLocaleString("en")} bytes`,
            "Workflows are far smaller: is it the right file? Pinned data (pinData) can be taken out."
          )
        }
        const bytes = new Uint8Array(size)
        let filled = 0
        for (let read = 1; read > 0 && filled < size; filled += read) {
          read = yield* open.read(bytes.subarray(filled))
        }
        if (identity(yield* open.stat) !== identity(before)) return yield* changed(asked)
        return bytes
      }, Effect.scoped)

      return WorkflowFiles.of({
        read: Effect.fn("WorkflowFiles.read")(
          function*(asked) {
            if (asked.trim() === "") return yield* refuse("File path is required", "Give the path of a .json file.")
            if (asked.includes("\0")) return yield* refuse("File path holds a NUL character", "Give it without.")
            const file = yield* locate(asked)
            const bytes = yield* bytesOf(asked, file)
            return { path: file, ...(yield* parse(asked, bytes)) }
          },
          (read, asked) => Effect.catchTag(read, "PlatformError", (error) => Effect.fail(unreadable(asked, error)))
        )
      })
    })
  )

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const parseStrictly = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** A stretch of the text. */
interface Span {
  readonly offset: number
  readonly length: number
}

/** Both count from 1. */
const place = (text: string, { offset }: Span) => {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/)
  return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`
}

/** Finds what JSON with comments has beyond JSON, and the first thing that even that does not allow. */
const scan = (text: string) => {
  const comments: Array<Span> = []
  const commas: Array<Span> = []
  let comma: Span | undefined
  let fault: string | undefined
  const goesOn = () => {
    comma = undefined
  }
  const ends = () => {
    if (comma !== undefined) commas.push(comma)
    comma = undefined
  }
  Jsonc.visit(text, {
    onComment: (offset, length) => comments.push({ offset, length }),
    onSeparator: (character, offset, length) => {
      if (character === ",") comma = { offset, length }
    },
    onObjectBegin: goesOn,
    onArrayBegin: goesOn,
    onObjectProperty: goesOn,
    onLiteralValue: goesOn,
    onObjectEnd: ends,
    onArrayEnd: ends,
    onError: (code, offset, length) => {
      // `CommaExpected` reads `comma expected`.
      fault ??= Jsonc.printParseErrorCode(code).replace(/\B[A-Z]/g, (letter) => ` ${letter}`).toLowerCase() +
        ` at ${place(text, { offset, length })}`
    }
  }, { allowTrailingComma: true })
  return { comments, commas, fault }
}

const without = (text: string, spans: ReadonlyArray<Span>) => {
  const sorted = spans.toSorted((a, b) => a.offset - b.offset)
  const ends = [0, ...sorted.map(({ length, offset }) => offset + length)]
  return ends.map((from, index) => text.slice(from, sorted[index]?.offset)).join(" ")
}

const removed = (text: string, what: string, spans: ReadonlyArray<Span>) =>
  spans.slice(0, 1).map((first) =>
    spans.length === 1
      ? `removed a ${what} at ${place(text, first)}`
      : `removed ${spans.length} ${what}s, the first at ${place(text, first)}`
  )

const parse = Effect.fnUntraced(function*(asked: string, bytes: Uint8Array) {
  const decoded = yield* Effect.try({
    try: () => utf8.decode(bytes),
    catch: () => refuse(`File '${asked}' is not UTF-8 text`, "Save it as UTF-8; if it is packed, unpack it.")
  })
  const hasMark = decoded.startsWith("\uFEFF")
  const text = hasMark ? decoded.slice(1) : decoded
  const marks = hasMark ? ["removed a byte order mark"] : []
  if (text.trim() === "") return yield* refuse(`File '${asked}' is empty`, "Export the workflow from n8n again.")
  const strict = parseStrictly(text)
  if (Option.isSome(strict)) return { value: strict.value, repairs: marks }

  const { comments, commas, fault } = yield* Effect.try({
    try: () => scan(text),
    catch: () => refuse(`File '${asked}' is not JSON: it is nested too deeply`, "Export the workflow from n8n again.")
  })
  const repaired = fault === undefined ? parseStrictly(without(text, [...comments, ...commas])) : Option.none()
  if (Option.isNone(repaired)) {
    return yield* refuse(
      `File '${asked}' is not JSON: ${fault ?? "another syntax"}`,
      "Correct the file there, or export the workflow from n8n again."
    )
  }
  const repairs = [...marks, ...removed(text, "comment", comments), ...removed(text, "trailing comma", commas)]
  return { value: repaired.value, repairs }
})
