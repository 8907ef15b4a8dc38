/** Where the things of one n8n are: its files, and what is kept of it. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import { join } from "node:path"
import type { Files } from "../tools/Selection.ts"
import * as Options from "./Options.ts"
import * as State from "./State.ts"
import * as Upstreams from "./Upstreams.ts"

/** Folders of files, and the state. */
export interface Places {
  /** Absolute. */
  readonly filesRoots: ReadonlyArray<string>
  readonly state: State.Place
}

/** What says that a profile has places of its own. */
type Own = Pick<Upstreams.Upstream, "filesRoots" | "state">

/** The folders that are named for an upstream, its own or the server's; `undefined` where none are. */
const named = ({ filesRoot }: Options.Options, own: Own) =>
  own.filesRoots ?? (filesRoot.length > 0 ? filesRoot : undefined)

/** The folders and the state of an upstream: what it does not say itself is the server's. */
export const of = Effect.fnUntraced(function*(options: Options.Options, own: Own) {
  const { state = yield* State.place(options, process.env) } = own
  return { filesRoots: named(options, own) ?? Options.filesRoots(options, process.env), state } satisfies Places
})

/** As {@link of}; the demo's are in a temporary folder, which ends with the scope, unless others are named. */
export const forUse = Effect.fnUntraced(function*(options: Options.Options, own: Own) {
  const places = yield* of(options, own)
  if (!options.demo || places.state._tag === "Database") return places
  const folder = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "n8n-mcp-demo-" }))
  return {
    filesRoots: named(options, own) ?? (options.transport === "http" ? [] : [folder]),
    state: Option.isSome(options.state) ? places.state : { _tag: "Folder", folder: join(folder, ".state") }
  } satisfies Places
}, Effect.catchTag("PlatformError", Effect.die))

/** What the file tools have to work with. */
export const files = ({ filesRoots, state }: Places): Files =>
  filesRoots.length > 0 ? "folder" : state._tag === "Database" ? "drafts" : "none"

/**
 * What the file tools of this server have at best: with several profiles some may have more than others. Over stdio they
 * are offered without a folder too, to say what to set.
 */
export const offered = Effect.fnUntraced(function*(options: Options.Options) {
  if (options.transport === "stdio") return "folder"
  const { upstreams } = yield* Upstreams.load(options)
  const all = yield* Effect.forEach(upstreams, (upstream) => Effect.map(of(options, upstream), files))
  return (["folder", "drafts"] as const).find((kind) => all.includes(kind)) ?? "none"
})
