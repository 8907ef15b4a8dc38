/** Where the server keeps what outlives it: snapshots, the executions of tests, its sealing key. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { Database } from "../base/Database.ts"
import * as Snapshots from "../workflows/store/Snapshots.ts"
import * as Options from "./Options.ts"

/** A folder of this machine, or a database that others use too. */
export type Place =
  | { readonly _tag: "Folder"; readonly folder: string }
  | { readonly _tag: "Database"; readonly database: Layer.Layer<Database>; readonly address: string }

const refuse = (message: string) => Effect.fail(new Options.InvalidOption({ message }))

/** Loaded only where it is used. */
const postgres = (url: Redacted.Redacted<string>) =>
  Layer.unwrap(Effect.map(Effect.promise(() => import("./Postgres.ts")), ({ layer }) => layer(url)))

/** The place that `--state` names. */
export const place = Effect.fnUntraced(function*(
  { state }: Pick<Options.Options, "state">,
  env: NodeJS.ProcessEnv
): Effect.fn.Return<Place, Options.InvalidOption> {
  if (Option.isNone(state)) return { _tag: "Folder", folder: Snapshots.defaultFolder(env) }
  const text = Redacted.value(state.value).trim()
  const [, scheme] = /^([a-z][a-z\d+.-]+):/i.exec(text) ?? []
  if (scheme === undefined) return { _tag: "Folder", folder: resolve(text) }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === "file:") return { _tag: "Folder", folder: fileURLToPath(url) }
  return url?.protocol === "postgres:" || url?.protocol === "postgresql:"
    ? { _tag: "Database", database: postgres(Redacted.make(text)), address: `${url.host}${url.pathname}` }
    : yield* refuse("--state is neither a folder nor postgres://user:password@host:5432/database")
})
