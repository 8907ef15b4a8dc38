/** Persistent state of the server: snapshots, executions of tests, drafts, the sealing key. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { Database } from "../../base/Database.ts"
import * as Documents from "../../base/Documents.ts"
import * as Snapshots from "../../workflows/store/Snapshots.ts"
import * as Options from "./Options.ts"
import { forms, type Named, parse } from "./statePlace.ts"

export type Place =
  | Extract<Named, { readonly _tag: "Folder" }>
  | Extract<Named, { readonly _tag: "Database" }> & { readonly database: Layer.Layer<Database> }

const postgres = (url: Redacted.Redacted<string>) =>
  Layer.unwrap(Effect.map(Effect.promise(() => import("../Postgres.ts")), ({ layer }) => layer(url)))

export const named = (text: Redacted.Redacted<string>): Place | undefined => {
  const place = parse(text)
  return place?._tag === "Database" ? { ...place, database: postgres(place.url) } : place
}

export const place = Effect.fnUntraced(function*(
  { state }: Pick<Options.Options, "state">,
  env: NodeJS.ProcessEnv
): Effect.fn.Return<Place, Options.InvalidOption> {
  if (state === undefined) return { _tag: "Folder", folder: Snapshots.defaultFolder(env) }
  return named(state) ?? (yield* Options.refuse(`--state is ${forms}`))
})

export const documents = (place: Place) =>
  place._tag === "Folder"
    ? Documents.layerFolder(place.folder)
    : Layer.provide(Documents.layerDatabase, place.database)
