/** References to workflows and their versions. Pure. */
import { defined } from "../base/Json.ts"
import { placeOf } from "./WorkflowPlace.ts"

export const published = "published"

export const isSnapshot = (version: string): boolean => version.startsWith("snapshot-")

const ofFile = /^(.+\.json(?:#.+)?)@([^\\/.]*)$/i

/** Splits `ID@VERSION`; an `@` within a path is part of the path, unless it follows `.json`. */
const split = (text: string): readonly [id: string, version: string | undefined] => {
  const [, path, version] = ofFile.exec(text) ?? []
  if (path !== undefined) return [path, version]
  const at = placeOf(text).kind === "file" ? -1 : text.indexOf("@")
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

export const versionIn = (text: string): string | undefined => split(text)[1]

/** Parses `ID`, `ID@published`, `ID@VERSION`, and paths or draft ids with or without `@VERSION`. */
export const parse = (text: string) => {
  const [id, version] = split(text)
  return defined({ place: placeOf(id), version })
}

export const format = (id: string, version: string | undefined): string =>
  version === undefined ? id : `${id}@${version}`
