/** Why a file is not read or written, and what to do about it. */
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import type { Hint } from "../../base/Advice.ts"
import * as Errors from "../../base/Errors.ts"
import { nearest } from "../../base/Nearest.ts"

/** A file or folder, by the path that the caller wrote. */
export interface Target {
  readonly kind: "File" | "Folder"
  readonly path: string
}

export const refuse = (reason: string, hint: Hint) => new Errors.ValidationError({ reason, field: "filePath", hint })

/** The same of a folder, which has a parameter of its own. */
export const refuseAt = ({ kind }: Target, reason: string, hint: Hint) =>
  new Errors.ValidationError({ reason, field: kind === "File" ? "filePath" : "directoryPath", hint })

/** What no other call would mend: this machine has to be put right, or has to have time. */
export const serverFault = (reason: string, hint: Hint, { kind }: Pick<Target, "kind"> = { kind: "File" }) =>
  new Errors.ValidationError({
    reason,
    field: kind === "File" ? "filePath" : "directoryPath",
    hint,
    isServerFault: true
  })

export const isJson = (name: string) => /\.json$/i.test(name)

/** Names are compared without their extension, which would make all alike. */
export const stem = (name: string) => name.replace(/\.json$/i, "")

export const quote = (names: ReadonlyArray<string>) => names.map((name) => `'${name}'`).join(", ")

export const code = ({ reason }: PlatformError.PlatformError) =>
  String(Predicate.hasProperty(reason.cause, "code") ? reason.cause.code : reason._tag)

/** A disk that is full, broken or not to be written, or rights that this server lacks: no other call would mend it. */
const machineCodes: ReadonlySet<string> = new Set([
  "EACCES",
  "EDQUOT",
  "EIO",
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "ENOSPC",
  "ENXIO",
  "EPERM",
  "EROFS",
  "ESTALE",
  "PermissionDenied"
])

const isMachine = (error: PlatformError.PlatformError) => machineCodes.has(code(error))

export const unreadable = ({ kind, path }: Target, error: PlatformError.PlatformError) =>
  new Errors.ValidationError({
    reason: `${kind} '${path}' cannot be read (${code(error)})`,
    field: kind === "File" ? "filePath" : "directoryPath",
    hint: "Check the path, and who may read it.",
    ...(isMachine(error) ? { isServerFault: true } : {})
  })

export const unwritable = (path: string, error: PlatformError.PlatformError) =>
  (isMachine(error) ? serverFault : refuse)(
    `File '${path}' cannot be written (${code(error)})`,
    "Make it and its folder writable for this user, or give another path."
  )

export const notJson = (path: string) =>
  refuse(`File '${path}' is not a .json file`, "Only .json files are read and written, and links to such.")

export const changed = (path: string, during: string) =>
  refuse(`File '${path}' changed while it was ${during}`, "Nothing was written: call again when it is complete.")

export const missing = (target: Target, folder: string, name: string, entries: ReadonlyArray<string>) => {
  const there = entries.filter((entry) => !entry.startsWith(".") && isJson(entry) === isJson(name)).toSorted()
  const near = nearest(stem(name), there.map(stem)).flatMap((name) => there.filter((entry) => stem(entry) === name))
  const few = there.slice(0, 8)
  const instead = near.length > 0
    ? `Did you mean ${quote(near)}?`
    : few.length > 0
    ? `There are ${quote(few)}${few.length < there.length ? " and others" : ""}.`
    : "Nothing like it is there."
  return refuseAt(
    target,
    `${target.kind} '${target.path}' does not exist`,
    `'${folder}' has no '${name}'. ${instead}`
  )
}

export const exists = (path: string) => refuse(`File '${path}' exists already`, { _tag: "OpenExistingFile" })

export const spoken = (path: string) =>
  refuse(
    `File '${path}' would bear the name of another program's file, which obeys what it says`,
    "Nothing was written. Give the file the workflow's own name."
  )

export const leftAlone = "Only workflows are overwritten, and this file was left as it is: give another path."

export const notWorkflow = (path: string) =>
  refuse(`File '${path}' is not a workflow: it has no list of nodes`, leftAlone)

export const maxBytes = 10_000_000

export const tooLarge = (path: string, bytes: number) =>
  refuse(
    `File '${path}' is over 10 MB: it has ${bytes.toLocaleString("en")} bytes`,
    "Workflows are far smaller: is it the right file? Pinned data (pinData) can be taken out."
  )
