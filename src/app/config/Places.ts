/** Folders of files and the state of one n8n. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import { join } from "node:path"
import * as Options from "./Options.ts"
import * as State from "./State.ts"
import * as Upstreams from "./Upstreams.ts"

/** Folders of files, and the state. */
export interface Places {
  /** Absolute. */
  readonly filesRoots: ReadonlyArray<string>
  readonly state: State.Place
}

/** Places of a profile. */
type Own = Pick<Upstreams.Upstream, "filesRoots" | "state">

/** Folders set for an upstream, its own or the server's, if any. */
const named = ({ filesRoot }: Options.Options, own: Own) =>
  own.filesRoots ?? (filesRoot.length > 0 ? filesRoot : undefined)

/** Folders and state of an upstream; the server's by default. */
export const of = Effect.fnUntraced(function*(options: Options.Options, own: Own) {
  const { state = yield* State.place(options, process.env) } = own
  return { filesRoots: named(options, own) ?? Options.filesRoots(options, process.env), state } satisfies Places
})

/** Like {@link of}; the demo uses a temporary folder, removed with the scope, unless others are set. */
export const forUse = Effect.fnUntraced(function*(options: Options.Options, own: Own) {
  const places = yield* of(options, own)
  if (!options.demo || places.state._tag === "Database") return places
  const folder = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "n8n-mcp-demo-" }))
  return {
    filesRoots: named(options, own) ?? (options.transport === "http" ? [] : [folder]),
    state: Option.isSome(options.state) ? places.state : { _tag: "Folder", folder: join(folder, ".state") }
  } satisfies Places
}, Effect.catchTag("PlatformError", Effect.die))

/**
 * Whether any profile of this server has a folder for the file tools. Over stdio they are offered without one too, to
 * say what to set.
 */
export const offersFiles = Effect.fnUntraced(function*(options: Options.Options) {
  if (options.transport === "stdio") return true
  const { upstreams } = yield* Upstreams.load(options)
  const all = yield* Effect.forEach(upstreams, (upstream) => of(options, upstream))
  return all.some(({ filesRoots }) => filesRoots.length > 0)
})
