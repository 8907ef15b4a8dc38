/** The content of a file that lies under a root. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import * as AtomicFile from "../../base/AtomicFile.ts"
import { obj } from "../../base/Json.ts"
import type { Beside, CodeFiles } from "./codeFiles.ts"
import { fill } from "./fill.ts"
import * as JsonText from "./JsonText.ts"
import * as Locate from "./locate.ts"
import { changed, maxBytes, refuse, type Target, tooLarge, unreadable } from "./refusals.ts"

/** A file's content. */
export interface WorkflowFile {
  /** Where it really is: absolute, without links. */
  readonly path: string
  /** Its text as it is, a byte order mark included; code that is in files beside it stands in it. */
  readonly text: string
  /** The parsed JSON; whether it is a workflow is for others to judge. */
  readonly value: unknown
  /** What was no JSON but surely meant: each such kind once, with how many and where the first was. */
  readonly repairs: ReadonlyArray<string>
  /** What is in files beside it, if anything is. */
  readonly beside?: Beside
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The text of these bytes, and what it holds. */
export const parse = Effect.fnUntraced(function*(userPath: string, bytes: Uint8Array) {
  const text = yield* Effect.try({
    try: () => utf8.decode(bytes),
    catch: () => refuse(`File '${userPath}' is not UTF-8 text`, "Save it as UTF-8; if it is packed, unpack it.")
  })
  if (text.replace(/^\uFEFF/, "").trim() === "") {
    return yield* refuse(`File '${userPath}' is empty`, "Export the workflow from n8n again.")
  }
  const parsed = JsonText.parse(text)
  return Result.isSuccess(parsed) ? { text, ...parsed.success } : yield* refuse(
    `File '${userPath}' is not JSON: ${parsed.failure}`,
    "Correct the file there, or export the workflow from n8n again."
  )
})

/** Reads what `locate` finds. */
export const make = Effect.fnUntraced(function*(locate: Locate.Locate, code: CodeFiles) {
  const fs = yield* FileSystem.FileSystem

  const bytesOf = Effect.fnUntraced(function*(target: Target, file: string) {
    // Looked at before opening: to open a pipe is to wait for its writer.
    const { type } = yield* fs.lstat(file)
    if (type !== "File") {
      return yield* refuse(
        `'${target.path}' is not a file but a ${type.toLowerCase()}`,
        "Give the path of a .json file."
      )
    }
    const open = yield* fs.open(file)
    const before = yield* open.stat
    const place = yield* AtomicFile.placeOf(open).pipe(Effect.provideService(FileSystem.FileSystem, fs))
    if (place !== undefined && place !== file) return yield* changed(target.path, "read")
    // What was opened lies under the root only if the way there still leads to it.
    const there = yield* Effect.flatMap(locate.existing(target), fs.lstat)
    if (Locate.identity(there) !== Locate.identity(before)) return yield* changed(target.path, "read")
    const size = Number(before.size)
    if (size > maxBytes) return yield* tooLarge(target.path, size)
    const bytes = new Uint8Array(size)
    yield* fill(open, bytes)
    if (Locate.identity(yield* open.stat) !== Locate.identity(before)) return yield* changed(target.path, "read")
    return bytes
  }, Effect.scoped)

  return Effect.fn("WorkflowFiles.read")(
    function*(path: string) {
      const target: Target = { kind: "File", path }
      yield* Locate.checkName(target)
      const file = yield* locate.existing(target)
      const bytes = yield* bytesOf(target, file)
      const { repairs, text, value } = yield* parse(path, bytes)
      const content: WorkflowFile = { path: file, repairs, ...(yield* code.joined(path, file, text, value)) }
      return content
    },
    (reading, path) =>
      reading.pipe(
        Effect.catchTag("PlatformError", (error) => Effect.fail(unreadable({ kind: "File", path }, error))),
        // A writer replaces a file in an instant.
        Effect.retry({ times: 2, while: ({ reason }) => reason === changed(path, "read").reason })
      )
  )
})

/** An object with a list of nodes: what may be overwritten. */
export const isWorkflow = (value: unknown): boolean => Array.isArray(obj(value)?.["nodes"])

/** A workflow that n8n would know as one. */
export const isListed = (value: unknown): boolean => isWorkflow(value) && obj(obj(value)?.["connections"]) !== undefined
