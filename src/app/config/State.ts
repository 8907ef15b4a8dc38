/** Persistent state of the server: snapshots, executions of tests, drafts, the sealing key. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { Database } from "../../base/Database.ts"
import * as Documents from "../../base/Documents.ts"
import { sha256 } from "../../base/Hash.ts"
import * as Options from "./Options.ts"

/** Folder of this machine, or a database shared with others. */
export type Place =
  | { readonly _tag: "Folder"; readonly folder: string }
  | {
    readonly _tag: "Database"
    /** Address without user and password. */
    readonly address: string
    readonly key: string
    readonly database: Layer.Layer<Database>
  }

const postgres = (url: string) =>
  Layer.unwrap(Effect.map(Effect.promise(() => import("../Postgres.ts")), ({ layer }) => layer(Redacted.make(url))))

const pathOf = Option.liftThrowable((url: URL) => fileURLToPath(url))

/** Place named by a text, relative folders starting at `base`; `undefined` if invalid. */
export const named = (text: Redacted.Redacted<string>, base = "."): Place | undefined => {
  const value = Redacted.value(text).trim()
  const [, scheme] = /^([a-z][a-z\d+.-]+):/i.exec(value) ?? []
  if (scheme === undefined) return value === "" ? undefined : { _tag: "Folder", folder: resolve(base, value) }
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === "file:") {
    return Option.getOrUndefined(Option.map(pathOf(url), (folder) => ({ _tag: "Folder", folder })))
  }
  return url?.protocol === "postgres:" || url?.protocol === "postgresql:"
    ? { _tag: "Database", address: `${url.host}${url.pathname}`, key: sha256(value), database: postgres(value) }
    : undefined
}

/** Valid forms for messages, which never repeat the input because it may contain a password. */
export const forms = "neither a folder nor postgres://user:password@host:5432/database"

export const place = Effect.fnUntraced(function*(
  { state }: Pick<Options.Options, "state">,
  env: NodeJS.ProcessEnv
): Effect.fn.Return<Place, Options.InvalidOption> {
  if (state === undefined) return { _tag: "Folder", folder: Documents.defaultFolder(env) }
  return named(state) ?? (yield* Options.refuse(`--state is ${forms}`))
})

export const documents = (place: Place) =>
  place._tag === "Folder"
    ? Documents.layerFolder(place.folder)
    : Layer.provide(Documents.layerDatabase, place.database)
