/** Reads files below a root. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import * as AtomicFile from "../../base/AtomicFile.ts"
import { obj } from "../../base/Json.ts"
import type { Beside, CodeFiles } from "./codeFiles.ts"
import * as JsonText from "./JsonText.ts"
import * as Locate from "./locate.ts"
import { changed, maxBytes, refuse, type Target, tooLarge, unreadable } from "./refusals.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export const decode = (shown: string, bytes: Uint8Array) =>
  Effect.try({
    try: () => utf8.decode(bytes),
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
  /** Parsed JSON, not necessarily of a workflow. */
  readonly value: unknown
  /** Repairs of the text: each kind once, with the number and the first place. */
  readonly repairs: ReadonlyArray<string>
  /** Parts in files beside it, if there are any. */
  readonly beside?: Beside
}

/** Options of reading a file. */
export interface ReadOptions {
  /** Whether secrets in `.n8n-secrets.json` are not read: `[redacted]` stands for them. */
  readonly hidesSecrets?: boolean | undefined
}

export const parse = Effect.fnUntraced(function*(userPath: string, bytes: Uint8Array) {
  const text = yield* decode(userPath, bytes)
  if (text.replace(/^\uFEFF/, "").trim() === "") {
    return yield* refuse(`File '${userPath}' is empty`, "Export the workflow from n8n again.")
  }
  const parsed = JsonText.parse(text)
  return Result.isSuccess(parsed) ? { text, ...parsed.success } : yield* refuse(
    `File '${userPath}' is not JSON: ${parsed.failure}`,
    "Fix the file there, or export the workflow from n8n again."
  )
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

  return Effect.fn("WorkflowFiles.read")(
    function*(path: string, options?: ReadOptions) {
      const target: Target = { kind: "File", path }
      yield* Locate.checkName(target)
      const file = yield* locate.existing(target)
      const bytes = yield* bytesOf(target, file)
      const { repairs, text, value } = yield* parse(path, bytes)
      const content: WorkflowFile = {
        path: file,
        repairs,
        ...(yield* code.joined(path, file, text, value, options?.hidesSecrets === true))
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
})

/** Whether a value has a list of nodes, so that its file may be overwritten. */
export const isWorkflow = (value: unknown): boolean => Array.isArray(obj(value)?.["nodes"])

/** Whether n8n would accept a value as a workflow. */
export const isListed = (value: unknown): boolean => isWorkflow(value) && obj(obj(value)?.["connections"]) !== undefined
