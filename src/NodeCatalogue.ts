/**
 * Every type of node there is: to search, and to look one up with all its versions and parameters. Offline, from a
 * data file made of n8n's own packages; other packages can be added.
 */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import { fileURLToPath } from "node:url"
import type * as NodeType from "./domain/nodes/NodeType.ts"
import type { Releases } from "./domain/nodes/Releases.ts"
import * as ToolVariant from "./domain/nodes/ToolVariant.ts"
import { meant } from "./domain/problems/TypeProblems.ts"
import * as N8nError from "./N8nError.ts"
import { nearest } from "./Nearest.ts"
import * as DataFile from "./NodeCatalogue/dataFile.ts"
import * as Packages from "./NodeCatalogue/packages.ts"
import * as Search from "./NodeCatalogue/search.ts"

/** Looks up node types. Everything fails with a `Validation` when the data file is not there. */
export interface Service {
  /** The release of n8n that the types are of: `2.41.1`. */
  readonly release: Effect.Effect<string, N8nError.Validation>
  /** What other releases of n8n lack. */
  readonly releases: Effect.Effect<Releases, N8nError.Validation>
  /** Every type, but the tools that n8n makes of some. */
  readonly types: Effect.Effect<ReadonlyArray<string>, N8nError.Validation>
  /** The type, be it a tool that n8n makes of another. */
  readonly find: (type: string) => Effect.Effect<Option.Option<NodeType.NodeType>, N8nError.Validation>
  /** The type; `NotFound` names the nearest. */
  readonly get: (type: string) => Effect.Effect<NodeType.NodeType, N8nError.N8nError>
  readonly search: (query: Search.Query) => Effect.Effect<Search.Hits, N8nError.N8nError>
}

/** The catalogue of node types. */
export class NodeCatalogue extends Context.Service<NodeCatalogue, Service>()("effect-n8n-mcp/NodeCatalogue") {}

/** Where the types come from. */
export interface Options {
  /** The data file; by default the one that is built into `dist`. */
  readonly dataFile?: string | undefined
  /** Packages besides n8n's own: folders, or `nodes.json` files. */
  readonly nodes?: ReadonlyArray<string> | undefined
}

/** The data file of this build; the sources use the one in `dist` too. */
export const dataFile: string = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../dist/nodes.data" : "./nodes.data", import.meta.url)
)

/** Types that are kept after they were looked at; a workflow rarely has more. */
const keptTypes = 50

const didYouMean = (types: ReadonlyArray<string>) =>
  types.length === 0 ? "" : `Did you mean ${types.map((type) => `'${type}'`).join(", ")}? `

const make = (
  opened: Effect.Effect<DataFile.DataFile, N8nError.Validation>,
  added: ReadonlyArray<NodeType.NodeType>
): Effect.Effect<Service> =>
  Effect.gen(function*() {
    const file = yield* Effect.cached(opened)
    const addedTypes = new Map(added.map((each) => [each.type, each]))
    const types = Effect.map(file, (open) => [...new Set([...addedTypes.keys(), ...open.types])])
    const index = yield* Effect.cached(
      Effect.map(
        Effect.flatMap(file, ({ search }) => search),
        (text) => Search.open(text, added.map(Search.toDocument))
      )
    )

    const read = (type: string) =>
      addedTypes.has(type) ? Effect.succeed(addedTypes.get(type)) : Effect.flatMap(file, (open) => open.read(type))

    const kept = yield* Cache.make({
      capacity: keptTypes,
      lookup: Effect.fnUntraced(function*(type: string) {
        const found = yield* read(type)
        if (found !== undefined) return Option.some(found)
        const baseType = ToolVariant.baseOf(type)
        const base = baseType === undefined ? undefined : yield* read(baseType)
        return Option.fromUndefinedOr(base === undefined ? undefined : ToolVariant.variant(type, base))
      })
    })
    const find = (type: string) => Cache.get(kept, type)

    return {
      release: Effect.map(file, ({ release }) => release),
      releases: Effect.map(file, ({ releases }) => releases),
      types,
      find,
      get: Effect.fnUntraced(function*(type) {
        const found = yield* find(type)
        if (Option.isSome(found)) return found.value
        return yield* new N8nError.NotFound({
          operation: "get node type",
          resourceType: "Node type",
          resourceId: type,
          hint: `${didYouMean(meant(type, { nearest, types: yield* types }))}node_search finds types by what they do.`
        })
      }),
      search: (query) => Effect.flatMap(index, (open) => Search.search(open, query))
    }
  })

/** The catalogue of the data file, and of what `nodes` names; a package that cannot be read fails the layer. */
export const layer = (
  options: Options = {}
): Layer.Layer<NodeCatalogue, Packages.UnreadablePackage, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    NodeCatalogue,
    Effect.gen(function*() {
      const context = yield* Effect.context<FileSystem.FileSystem>()
      const added = yield* Effect.forEach(options.nodes ?? [], Packages.read)
      return yield* make(
        Effect.provideContext(DataFile.open(options.dataFile ?? dataFile), context),
        added.flatMap(({ types }) => types)
      )
    })
  )
