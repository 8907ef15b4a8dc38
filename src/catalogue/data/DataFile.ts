/**
 * Catalogue file: an index, search data and node types, each compressed separately, so that looking up a type reads no
 * other.
 *
 * Format: four bytes with the length of the index, the index (JSON), the search data, the types in the order of the
 * index, the fields of credentials; everything after the first four bytes is compressed with Brotli. `build.ts` creates
 * it from n8n's packages.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib"
import * as Errors from "../../base/Errors.ts"
import * as NodeType from "../types/NodeType.ts"
import * as Releases from "../types/Releases.ts"

const Index = Schema.fromJsonString(Schema.Struct({
  release: Schema.String,
  search: Schema.Int,
  types: Schema.Record(Schema.String, Schema.Int),
  releases: Releases.Releases,
  deprecations: Releases.Deprecations,
  credentials: Schema.Int
}))

/** Fields by type, inherited ones included, and whether each is a secret. */
export const CredentialTypes = Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Boolean))
export type CredentialTypes = typeof CredentialTypes.Type

const Credentials = Schema.fromJsonString(CredentialTypes)

const Block = Schema.fromJsonString(Schema.Struct({
  descriptions: Schema.Array(NodeType.Description),
  itemFields: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
}))

const compress = (text: string) =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 22 } })

const decompress = (bytes: Uint8Array) => brotliDecompressSync(bytes).toString("utf8")

export interface Contents {
  readonly release: string
  readonly types: ReadonlyArray<NodeType.NodeType>
  readonly releases: Releases.Releases
  readonly deprecations: Releases.Deprecations
  readonly credentials: CredentialTypes
  readonly search: string
}

export const pack = ({ credentials, deprecations, release, releases, search, types }: Contents): Uint8Array => {
  const blocks = types.map(({ type: _, ...block }) => compress(Schema.encodeSync(Block)(block)))
  const searchBlock = compress(search)
  const credentialBlock = compress(Schema.encodeSync(Credentials)(credentials))
  const index = compress(
    Schema.encodeSync(Index)({
      release,
      releases,
      deprecations,
      search: searchBlock.length,
      credentials: credentialBlock.length,
      types: Object.fromEntries(types.map(({ type }, at) => [type, blocks[at]?.length ?? 0]))
    })
  )
  const head = Buffer.alloc(4)
  head.writeUInt32BE(index.length)
  return Buffer.concat([head, index, searchBlock, ...blocks, credentialBlock])
}

/** Open data file; each lookup reads only the bytes it needs. */
export type DataFile = Effect.Success<ReturnType<typeof read>>

const unusable = (path: string, why: string) =>
  new Errors.ValidationError({
    reason: `The node catalogue cannot be read: ${why}`,
    errorDetails: path,
    hint: "Build or install effect-n8n-mcp again: pnpm build makes nodes.data beside main.js in dist. An app that " +
      "bundles it copies effect-n8n-mcp/nodes.data beside its bundle, or gives its path as the layer's dataFile.",
    isServerFault: true
  })

/** Opens the file at `path`, which stays open for the scope even if it is replaced; the result reads its index. */
export const open = (
  path: string
): Effect.Effect<Effect.Effect<DataFile, Errors.ValidationError>, never, FileSystem.FileSystem | Scope.Scope> =>
  Effect.map(Effect.result(FileSystem.FileSystem.use((fs) => fs.open(path))), (file) =>
    Effect.fromResult(file).pipe(
      Effect.mapError(({ message }) => unusable(path, message)),
      Effect.flatMap((file) => read(path, file))
    ))

const read = (path: string, file: FileSystem.File) =>
  Effect.gen(function*() {
    const readBytes = (position: number, length: number) =>
      file.readAlloc(length, { position: BigInt(position) }).pipe(
        Effect.mapError(({ message }) => unusable(path, message)),
        Effect.map(Option.getOrElse(() => new Uint8Array()))
      )

    const damagedAt = (position: number) => unusable(path, `it is damaged at byte ${position}`)

    const readText = (position: number, length: number) =>
      Effect.flatMap(
        readBytes(position, length),
        (bytes) => Effect.try({ try: () => decompress(bytes), catch: () => damagedAt(position) })
      )

    const readJson = <A>(schema: Schema.Codec<A, string>, position: number, length: number) =>
      Effect.flatMap(
        readText(position, length),
        (text) => Effect.mapError(Schema.decodeEffect(schema)(text), () => damagedAt(position))
      )

    const head = yield* readBytes(0, 4)
    if (head.length < 4) return yield* unusable(path, "it is empty")
    const indexLength = Buffer.from(head).readUInt32BE()
    const index = yield* readJson(Index, 4, indexLength)

    const searchPosition = 4 + indexLength
    const places = new Map<string, { readonly position: number; readonly length: number }>()
    let position = searchPosition + index.search
    for (const [type, length] of Object.entries(index.types)) {
      places.set(type, { position, length })
      position += length
    }
    return {
      release: index.release,
      releases: index.releases,
      deprecations: index.deprecations,
      types: [...places.keys()],
      credentials: readJson(Credentials, position, index.credentials),
      search: readText(searchPosition, index.search),
      read: (type: string): Effect.Effect<NodeType.NodeType | undefined, Errors.ValidationError> => {
        const place = places.get(type)
        if (place === undefined) return Effect.succeed(undefined)
        return Effect.map(readJson(Block, place.position, place.length), (block) => ({ type, ...block }))
      }
    }
  })
