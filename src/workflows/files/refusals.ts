/** Errors for files that are not read or written, with advice. */
import * as Effect from "effect/Effect"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import type { Hint } from "../../base/Advice.ts"
import * as Errors from "../../base/Errors.ts"
import { nearest } from "../../base/Nearest.ts"
import { digits } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"

/** A file or folder, with the path as the caller wrote it. */
export interface Target {
  readonly kind: "File" | "Folder"
  readonly path: string
}

const aFile: Pick<Target, "kind"> = { kind: "File" }

export const refuse = (reason: string, hint: Hint | undefined, { kind } = aFile) =>
  Errors.invalid(kind === "File" ? "filePath" : "directoryPath", reason, hint)

/** Error of this machine that no other call can avoid. */
export const serverFault = (reason: string, hint: Hint, target = aFile) =>
  new Errors.ValidationError({ ...refuse(reason, hint, target), isServerFault: true })

export const isNotFound = ({ reason }: PlatformError.PlatformError) => reason._tag === "NotFound"

export const isJson = (name: string) => /\.json$/i.test(name)

export const stem = (name: string) => name.replace(/\.json$/i, "")

export const quote = (paths: ReadonlyArray<string>) => Rows.names(paths, 8, 300)

export const code = ({ reason }: PlatformError.PlatformError) =>
  String(Predicate.hasProperty(reason.cause, "code") ? reason.cause.code : reason._tag)

/** Codes of errors that no other call can avoid: a full, broken or read-only disk, or missing permissions. */
const machineCodes: ReadonlySet<string> = new Set(
  "EACCES EDQUOT EIO EMFILE ENFILE ENOMEM ENOSPC ENXIO EPERM EROFS ESTALE PermissionDenied".split(" ")
)

const isMachine = (error: PlatformError.PlatformError) => machineCodes.has(code(error))

export const unreadable = (target: Target, error: PlatformError.PlatformError) =>
  (isMachine(error) ? serverFault : refuse)(
    `${target.kind} '${target.path}' cannot be read (${code(error)})`,
    "Check the path and its permissions.",
    target
  )

export const unwritable = (path: string, error: PlatformError.PlatformError) =>
  (isMachine(error) ? serverFault : refuse)(
    `File '${path}' cannot be written (${code(error)})`,
    "Make it and its folder writable for this user, or use another path."
  )

/** Turns errors of the file system into refusals of a write. */
export const writable = (path: string) => <A, E, R>(effect: Effect.Effect<A, E | PlatformError.PlatformError, R>) =>
  Effect.catchIf(
    effect,
    (error): error is PlatformError.PlatformError => Predicate.isTagged(error, "PlatformError"),
    (error) => Effect.fail(unwritable(path, error))
  )

export const notJson = (path: string) =>
  refuse(`File '${path}' is not a .json file`, "Only .json files and links to them are read and written.")

export const changed = (path: string, during: string) =>
  refuse(`File '${path}' changed while it was ${during}`, "Nothing was written: try again when it is complete.")

export const missing = (target: Target, folder: string, name: string, entries: ReadonlyArray<string>) => {
  const similar = entries.filter((entry) => !entry.startsWith(".") && isJson(entry) === isJson(name)).toSorted()
  const near = nearest(stem(name), similar.map(stem)).flatMap((name) => similar.filter((entry) => stem(entry) === name))
  const instead = near.length > 0
    ? `Did you mean ${quote(near)}?`
    : similar.length > 0
    ? `There are ${quote(similar)}.`
    : "It contains nothing similar."
  return refuse(
    `${target.kind} '${target.path}' does not exist`,
    `'${folder}' has no '${name}'. ${instead}`,
    target
  )
}

export const exists = (path: string) => refuse(`File '${path}' exists already`, { _tag: "OpenExistingFile" })

export const reserved = (path: string) =>
  refuse(
    `File '${path}' would have the name of another program's configuration`,
    "Nothing was written. Name the file after the workflow."
  )

export const notOverwritten = "Only workflows are overwritten, and this file is unchanged: use another path."

export const notWorkflow = (path: string) =>
  refuse(`File '${path}' is not a workflow: it has no list of nodes`, notOverwritten)

export const notAlone = (path: string) =>
  refuse(`File '${path}' contains more than this workflow`, "It was not removed: take the workflow out of it by hand.")

/** Maximum size of a workflow's file. */
export const maxBytes = 10_000_000

export const tooLarge = (path: string, bytes: number) =>
  refuse(
    `File '${path}' is over 10 MB: it has ${digits(bytes)} bytes`,
    "Workflows are far smaller: is it the right file? Pinned data (pinData) can be removed."
  )

/** A file that is something else than a workflow. */
export interface Other {
  readonly file: string
  readonly what?: string
}

/** Refusal of a run that finds no workflow, which names what it found instead. */
export const noWorkflows = (place: string, others: ReadonlyArray<Other>) => {
  const named = Rows.listed(others.map(({ file, what }) => what === undefined ? file : `${file} (${what})`), 5)
  return Errors.invalid(
    "folder",
    `There are no workflows in ${place}${others.length === 0 ? "" : `, only ${named}`}`,
    "Check the folder or the profile: a workflow's file is a JSON object with name, nodes and connections."
  )
}
