/**
 * All node types, to search and to look up with their versions and parameters. Works offline, from a data file built
 * from n8n's packages; other packages can be added.
 */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import type * as Scope from "effect/Scope"
import { fileURLToPath } from "node:url"
import * as Errors from "../base/Errors.ts"
import { nearest } from "../base/Nearest.ts"
import type { CredentialTypes } from "./data/CredentialFiles.ts"
import * as DataFile from "./data/DataFile.ts"
import * as Packages from "./data/Packages.ts"
import * as Search from "./search/Search.ts"
import type { Deprecations } from "./types/Deprecations.ts"
import { nearestTypes } from "./types/NearestTypes.ts"
import type * as NodeType from "./types/NodeType.ts"
import type { Releases } from "./types/Releases.ts"
import * as ToolVariant from "./types/ToolVariant.ts"

export type { UnreadablePackage } from "./data/Packages.ts"
export type { Hits, Query, Row } from "./search/Search.ts"

/**
 * Looks up node types. Everything fails when the data file cannot be read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** n8n's release that the types come from: `2.41.1`. */
  readonly release: Effect.Effect<string, Errors.ValidationError>
  /** What earlier releases of n8n lack. */
  readonly releases: Effect.Effect<Releases, Errors.ValidationError>
  /** The deprecated types, and what to use instead. */
  readonly deprecations: Effect.Effect<Deprecations, Errors.ValidationError>
  /** Every type, without the tool variants that n8n makes of some. */
  readonly types: Effect.Effect<ReadonlyArray<string>, Errors.ValidationError>
  /** The type; it may be a tool variant. */
  readonly find: (type: string) => Effect.Effect<Option.Option<NodeType.NodeType>, Errors.ValidationError>
  /** The type; a `NotFoundError` names the nearest. */
  readonly get: (type: string) => Effect.Effect<NodeType.NodeType, Errors.N8nError>
  /** Which fields n8n's own credential types have, and which of them are secrets. */
  readonly credentials: Effect.Effect<CredentialTypes, Errors.ValidationError>
  readonly search: (query: Search.Query) => Effect.Effect<Search.Hits, Errors.N8nError>
}

/**
 * The catalogue of node types.
 *
 * @category services
 * @since 0.1.0
 */
export class NodeCatalogue extends Context.Service<NodeCatalogue, Service>()("effect-n8n-mcp/NodeCatalogue") {}

/**
 * Looks up several types at once.
 *
 * @category functions
 * @since 0.1.0
 */
export const findAll = Effect.fnUntraced(function*(
  types: Iterable<string>
): Effect.fn.Return<
  (type: string) => NodeType.NodeType | undefined,
  Errors.ValidationError,
  NodeCatalogue
> {
  const { find } = yield* NodeCatalogue
  const byType = new Map(
    yield* Effect.forEach(
      new Set(types),
      (type) => Effect.map(find(type), (nodeType) => [type, Option.getOrUndefined(nodeType)] as const)
    )
  )
  return (type) => byType.get(type)
})

/**
 * Where the types come from.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The data file. Default: `nodes.data` beside the code, else that of the installed package. An app whose bundle runs
   * without `node_modules` copies `effect-n8n-mcp/nodes.data` beside the bundle, or says here where it is.
   */
  readonly dataFile?: string | undefined
  /** Packages besides n8n's own: folders or `nodes.json` files. */
  readonly nodes?: ReadonlyArray<string> | undefined
}

/**
 * The data file of this build, in `dist`; the sources use it too. In an app's bundle it is beside the bundle.
 *
 * @category constants
 * @since 0.1.0
 */
export const dataFile: string = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/nodes.data" : "./nodes.data", import.meta.url)
)

/** The data file of the package as it is installed, for an app that bundles the code alone. */
const installedFile = () => {
  try {
    return fileURLToPath(import.meta.resolve("effect-n8n-mcp/nodes.data"))
  } catch {
    return dataFile
  }
}

/** Types in the cache; a workflow rarely has more. */
const cachedTypes = 50

const didYouMean = (types: ReadonlyArray<string>) =>
  types.length === 0 ? "" : `Did you mean ${types.map((type) => `'${type}'`).join(", ")}?`

const make = (
  opened: Effect.Effect<DataFile.DataFile, Errors.ValidationError>,
  added: ReadonlyArray<NodeType.NodeType>
): Effect.Effect<Service> =>
  Effect.gen(function*() {
    const file = yield* Effect.cached(opened)
    const addedTypes = new Map(added.map((each) => [each.type, each]))
    const types = Effect.map(file, (open) => [...new Set([...addedTypes.keys(), ...open.types])])
    const index = yield* Effect.cached(
      Effect.map(
        Effect.flatMap(file, ({ search }) => search),
        (text) => Search.open(text, added)
      )
    )

    const read = (type: string) =>
      addedTypes.has(type) ? Effect.succeed(addedTypes.get(type)) : Effect.flatMap(file, (open) => open.read(type))

    const cache = yield* Cache.make({
      capacity: cachedTypes,
      lookup: Effect.fnUntraced(function*(type: string) {
        const nodeType = yield* read(type)
        if (nodeType !== undefined) return Option.some(nodeType)
        const baseType = ToolVariant.baseOf(type)
        const base = baseType === undefined ? undefined : yield* read(baseType)
        return Option.fromUndefinedOr(base === undefined ? undefined : ToolVariant.variant(type, base))
      })
    })
    const find = (type: string) => Cache.get(cache, type)

    return {
      release: Effect.map(file, ({ release }) => release),
      releases: Effect.map(file, ({ releases }) => releases),
      deprecations: Effect.map(file, ({ deprecations }) => deprecations),
      credentials: yield* Effect.cached(Effect.flatMap(file, ({ credentials }) => credentials)),
      types,
      find,
      get: Effect.fnUntraced(function*(type) {
        const nodeType = yield* find(type)
        if (Option.isSome(nodeType)) return nodeType.value
        return yield* new Errors.NotFoundError({
          operation: "get node type",
          resourceType: "Node type",
          resourceId: type,
          hint: [didYouMean(nearestTypes(type, { nearest, types: yield* types })), { _tag: "SearchNodeTypes" }]
        })
      }),
      search: (query) => Effect.flatMap(index, (open) => Search.search(open, query))
    }
  })

/**
 * The catalogue of the data file and of `nodes`; a package that cannot be read fails the layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options = {}
): Layer.Layer<NodeCatalogue, Packages.UnreadablePackage, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    NodeCatalogue,
    Effect.gen(function*() {
      const context = yield* Effect.context<FileSystem.FileSystem | Scope.Scope>()
      const isBeside = FileSystem.FileSystem.use((fs) => Effect.orElseSucceed(fs.exists(dataFile), () => false))
      const path = options.dataFile ?? ((yield* isBeside) ? dataFile : installedFile())
      // Opened now and read when it is needed: by then the package may have been replaced.
      const file = yield* Effect.option(FileSystem.FileSystem.use((fs) => fs.open(path)))
      const added = yield* Effect.forEach(options.nodes ?? [], Packages.read)
      return yield* make(
        Option.match(file, {
          onNone: () => Effect.provideContext(DataFile.open(path), context),
          onSome: (file) => DataFile.read(path, file)
        }),
        added.flatMap(({ types }) => types)
      )
    })
  )
