/** Which workflow is read, and which state of it. Pure. */
import { placeOf, type WorkflowPlace } from "./WorkflowPlace.ts"

/** A workflow as it is, or as it was in one of its versions. */
export interface Reference {
  readonly place: WorkflowPlace
  /** {@link published}, n8n's own id of a version, or a snapshot's version; absent for the workflow as it is. */
  readonly version?: string
}

/** The version that stands for what runs. */
export const published = "published"

/** Whether a version is a snapshot of ours, not one of n8n's. */
export const isSnapshot = (version: string): boolean => version.startsWith("snapshot-")

const ofFile = /^(.+\.json)@([^\\/.]*)$/i

/** `ID@VERSION` taken apart; an `@` within a path is part of the path, unless it follows `.json`. */
const split = (text: string): readonly [id: string, version: string | undefined] => {
  const [, path, version] = ofFile.exec(text) ?? []
  if (path !== undefined) return [path, version]
  const at = placeOf(text).kind === "file" ? -1 : text.indexOf("@")
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** The version that a text names; `undefined` where it names a workflow as it is. */
export const versionIn = (text: string): string | undefined => split(text)[1]

/** Reads `ID`, `ID@published`, `ID@VERSION`, a path or a draft's id, of which snapshots are named in the same way. */
export const parse = (text: string): Reference => {
  const [id, version] = split(text)
  const place = placeOf(id)
  return version === undefined ? { place } : { place, version }
}

/** The text of a reference. */
export const format = (id: string, version: string | undefined): string =>
  version === undefined ? id : `${id}@${version}`
