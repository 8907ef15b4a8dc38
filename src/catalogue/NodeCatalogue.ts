/** Catalogue of all node types, offline from a data file of n8n's packages; other packages can be added. */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Assets from "../base/Assets.ts"
import * as Errors from "../base/Errors.ts"
import * as Lazy from "../base/Lazy.ts"
import { nearest } from "../base/Nearest.ts"
import * as Rows from "../base/Rows.ts"
import * as DataFile from "./data/DataFile.ts"
import * as Packages from "./data/Packages.ts"
import * as Query from "./search/Query.ts"
import type * as Search from "./search/Search.ts"
import * as NodeType from "./types/NodeType.ts"
import type { Deprecations, Releases } from "./types/Releases.ts"
import * as ToolVariant from "./types/ToolVariant.ts"

export type { UnreadablePackage } from "./data/Packages.ts"
export { maxRows } from "./search/Query.ts"
export type { Hits, Query, Row } from "./search/Search.ts"

/** Lookup of node types. Every method fails if the data file cannot be read. */
export interface Service {
  /** n8n release of the types: `2.41.1`. */
  readonly release: Effect.Effect<string, Errors.ValidationError>
  /** Types missing in earlier releases of n8n. */
  readonly releases: Effect.Effect<Releases, Errors.ValidationError>
  /** Deprecated types and their successors. */
  readonly deprecations: Effect.Effect<Deprecations, Errors.ValidationError>
  /** All types except tool variants. */
  readonly types: Effect.Effect<ReadonlyArray<string>, Errors.ValidationError>
  /** Type or tool variant by name, if it exists. */
  readonly find: (type: string) => Effect.Effect<Option.Option<NodeType.NodeType>, Errors.ValidationError>
  /** Type or tool variant by name, also without its package (`slack`); a `NotFoundError` names the nearest. */
  readonly get: (type: string) => Effect.Effect<NodeType.NodeType, Errors.N8nError>
  /** Fields of n8n's credential types, and which of them are secrets. */
  readonly credentials: Effect.Effect<DataFile.CredentialTypes, Errors.ValidationError>
  readonly search: (query: Search.Query) => Effect.Effect<Search.Hits, Errors.N8nError>
}

/** Catalogue of node types. */
export class NodeCatalogue extends Context.Service<NodeCatalogue, Service>()("effect-n8n-mcp/NodeCatalogue") {}

/** Looks up several types. */
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

/** Sources of the types. */
export interface Options {
  /** Default: `nodes.data` beside the code, else the installed package's. A bundled app copies it or sets its path. */
  readonly dataFile?: string | undefined
  /** Further packages: folders or `nodes.json` files. */
  readonly nodes?: ReadonlyArray<string> | undefined
}

const fileName = "nodes.data"

/** Data file of this build in `dist`; in an app, beside its bundle. @internal */
export const dataFile = (): string => Assets.beside(fileName)

const cachedTypes = 50

const didYouMean = (types: ReadonlyArray<string>) => types.length === 0 ? "" : `Did you mean ${Rows.names(types)}?`

/** Loads the module that searches; a service loads it when it is first asked. @internal */
export const loadSearch = Lazy.load(() => import("./search/Search.ts"))

const make = (
  opened: Effect.Effect<DataFile.DataFile, Errors.ValidationError>,
  added: ReadonlyArray<NodeType.NodeType>
): Effect.Effect<Service> =>
  Effect.gen(function*() {
    const file = yield* Effect.cached(opened)
    const addedTypes = new Map(added.map((each) => [each.type, each]))
    const types = yield* Effect.cached(
      Effect.map(file, (open) => [...new Set([...addedTypes.keys(), ...open.types])])
    )
    const index = yield* Effect.cached(
      Effect.zipWith(
        loadSearch,
        Effect.flatMap(file, ({ search }) => search),
        ({ open }, text) => open(text, added),
        { concurrent: true }
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
        if (type === "") return yield* Errors.invalid("type", "Node type is required", { _tag: "SearchNodeTypes" })
        const known = yield* types
        const nodeType = yield* find(NodeType.withPackage(type, known))
        if (Option.isSome(nodeType)) return nodeType.value
        return yield* new Errors.NotFoundError({
          operation: "get node type",
          resourceType: "Node type",
          resourceId: type,
          hint: [didYouMean(NodeType.nearestTypes(type, { nearest, types: known })), { _tag: "SearchNodeTypes" }]
        })
      }),
      search: Effect.fnUntraced(function*(query) {
        const checked = yield* Query.check(query)
        const [{ search }, open] = yield* Effect.all([loadSearch, index])
        return yield* search(open, checked)
      })
    }
  })

/** Catalogue of the data file and the packages `nodes`; an unreadable package fails the layer. */
export const layer = (
  options: Options = {}
): Layer.Layer<NodeCatalogue, Packages.UnreadablePackage, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    NodeCatalogue,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const isThere = (path: string) => Effect.orElseSucceed(fs.exists(path), () => false)
      const path = options.dataFile ?? Option.getOrElse(
        yield* Effect.findFirst(Assets.places(fileName), isThere),
        dataFile
      )
      const file = yield* DataFile.open(path)
      const added = yield* Effect.forEach(options.nodes ?? [], Packages.read)
      return yield* make(file, added.flatMap(({ types }) => types))
    })
  )
