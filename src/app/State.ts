/** Where the server keeps what outlives it: snapshots, the executions of tests, its sealing key. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { Database } from "../base/Database.ts"
import * as Snapshots from "../workflows/store/Snapshots.ts"
import * as Options from "./Options.ts"

/** A folder of this machine, or a database that others use too. */
export type Place =
  | { readonly _tag: "Folder"; readonly folder: string }
  | {
    readonly _tag: "Database"
    readonly database: Layer.Layer<Database>
    /** Without user and password. */
    readonly address: string
    /** The same of the same database, for the same user. */
    readonly key: string
  }

/** Loaded only where it is used. */
const postgres = (url: Redacted.Redacted<string>) =>
  Layer.unwrap(Effect.map(Effect.promise(() => import("./Postgres.ts")), ({ layer }) => layer(url)))

/** The place that a text names, a folder's path starting at `base`; `undefined` if it names none. */
export const parse = (text: Redacted.Redacted<string>, base = "."): Place | undefined => {
  const value = Redacted.value(text).trim()
  const [, scheme] = /^([a-z][a-z\d+.-]+):/i.exec(value) ?? []
  if (scheme === undefined) return value === "" ? undefined : { _tag: "Folder", folder: resolve(base, value) }
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === "file:") return { _tag: "Folder", folder: fileURLToPath(url) }
  return url?.protocol === "postgres:" || url?.protocol === "postgresql:"
    ? {
      _tag: "Database",
      database: postgres(Redacted.make(value)),
      address: `${url.host}${url.pathname}`,
      key: createHash("sha256").update(value).digest("hex")
    }
    : undefined
}

/** What a place may be, for messages: nothing of what was given is repeated, since it may hold a password. */
export const forms = "neither a folder nor postgres://user:password@host:5432/database"

/** The place that `--state` names. */
export const place = Effect.fnUntraced(function*(
  { state }: Pick<Options.Options, "state">,
  env: NodeJS.ProcessEnv
): Effect.fn.Return<Place, Options.InvalidOption> {
  if (Option.isNone(state)) return { _tag: "Folder", folder: Snapshots.defaultFolder(env) }
  return parse(state.value) ?? (yield* new Options.InvalidOption({ message: `--state is ${forms}` }))
})
