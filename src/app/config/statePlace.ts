/** Parsing of the place of the state. */
import * as Redacted from "effect/Redacted"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { sha256 } from "../../base/Hash.ts"

/** Folder of this machine, or a database shared with others. */
export type Named =
  | { readonly _tag: "Folder"; readonly folder: string }
  | {
    readonly _tag: "Database"
    readonly url: Redacted.Redacted<string>
    /** Address without user and password. */
    readonly address: string
    readonly key: string
  }

/** Place named by a text, relative folders starting at `base`; `undefined` if invalid. */
export const parse = (text: Redacted.Redacted<string>, base = "."): Named | undefined => {
  const value = Redacted.value(text).trim()
  const [, scheme] = /^([a-z][a-z\d+.-]+):/i.exec(value) ?? []
  if (scheme === undefined) return value === "" ? undefined : { _tag: "Folder", folder: resolve(base, value) }
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === "file:") return { _tag: "Folder", folder: fileURLToPath(url) }
  return url?.protocol === "postgres:" || url?.protocol === "postgresql:"
    ? {
      _tag: "Database",
      url: Redacted.make(value),
      address: `${url.host}${url.pathname}`,
      key: sha256(value)
    }
    : undefined
}

/** Valid forms for messages, which never repeat the input because it may contain a password. */
export const forms = "neither a folder nor postgres://user:password@host:5432/database"
