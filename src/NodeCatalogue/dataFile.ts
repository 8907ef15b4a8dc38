/**
 * The catalogue as a file: an index, the search's data and each type of node, compressed one by one, so that a look at
 * one reads no other.
 *
 * **Details**
 *
 * Four bytes with the length of the index, the index (JSON), the search's data, the types in the order of the index;
 * all but the first four brotli. Made by `build.ts` from n8n's packages.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib"
import * as NodeType from "../domain/nodes/NodeType.ts"
import * as Releases from "../domain/nodes/Releases.ts"
import * as N8nError from "../N8nError.ts"

/** What the file says of itself, and how many bytes each part takes. */
const Index = Schema.fromJsonString(Schema.Struct({
  /** Of n8n. */
  release: Schema.String,
  search: Schema.Int,
  types: Schema.Record(Schema.String, Schema.Int),
  releases: Releases.Releases
}))

const Descriptions = Schema.fromJsonString(Schema.Array(NodeType.Description))

const compress = (text: string) =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 22 } })

const decompress = (bytes: Uint8Array) => brotliDecompressSync(bytes).toString("utf8")

/** What a catalogue is made of. */
export interface Contents {
  /** Of n8n. */
  readonly release: string
  readonly types: ReadonlyArray<NodeType.NodeType>
  /** What other releases lack. */
  readonly releases: Releases.Releases
  /** What the search is opened with. */
  readonly search: string
}

/** The file's bytes. */
export const pack = ({ release, releases, search, types }: Contents): Uint8Array => {
  const blocks = types.map(({ descriptions }) => compress(Schema.encodeSync(Descriptions)(descriptions)))
  const found = compress(search)
  const index = compress(
    Schema.encodeSync(Index)({
      release,
      releases,
      search: found.length,
      types: Object.fromEntries(types.map(({ type }, at) => [type, blocks[at]?.length ?? 0]))
    })
  )
  const head = Buffer.alloc(4)
  head.writeUInt32BE(index.length)
  return Buffer.concat([head, index, found, ...blocks])
}

/** A file that is open for looking things up; each look reads only what it needs. */
export interface DataFile {
  /** Of n8n. */
  readonly release: string
  readonly types: ReadonlyArray<string>
  readonly releases: Releases.Releases
  readonly search: Effect.Effect<string, N8nError.Validation>
  /** `undefined` for a type that is not in it. */
  readonly read: (type: string) => Effect.Effect<NodeType.NodeType | undefined, N8nError.Validation>
}

const unusable = (path: string, why: string) =>
  new N8nError.Validation({
    reason: `The node catalogue cannot be read: ${why}`,
    errorDetails: path,
    hint: "It lies beside main.js in dist, as pnpm build makes it: build or install effect-n8n-mcp again."
  })

/** Reads the index of the file at `path`. */
export const open = (path: string): Effect.Effect<DataFile, N8nError.Validation, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem

    const readBytes = (position: number, length: number) =>
      fs.open(path).pipe(
        Effect.flatMap((file) => file.readAlloc(length, { position: BigInt(position) })),
        Effect.scoped,
        Effect.mapError(({ message }) => unusable(path, message)),
        Effect.map(Option.getOrElse(() => new Uint8Array()))
      )

    const readText = (position: number, length: number) =>
      Effect.flatMap(
        readBytes(position, length),
        (bytes) =>
          Effect.try({
            try: () => decompress(bytes),
            catch: () => unusable(path, `its byte ${position} is not as made`)
          })
      )

    const head = yield* readBytes(0, 4)
    if (head.length < 4) return yield* unusable(path, "it is empty")
    const indexLength = Buffer.from(head).readUInt32BE()
    const index = yield* Effect.flatMap(readText(4, indexLength), Schema.decodeEffect(Index)).pipe(
      Effect.mapError((error) => error._tag === "ValidationError" ? error : unusable(path, "its index is not as made"))
    )

    const from = 4 + indexLength
    const places = new Map<string, { readonly position: number; readonly length: number }>()
    let position = from + index.search
    for (const [type, length] of Object.entries(index.types)) {
      places.set(type, { position, length })
      position += length
    }
    return {
      release: index.release,
      releases: index.releases,
      types: [...places.keys()],
      search: readText(from, index.search),
      read: (type) => {
        const place = places.get(type)
        if (place === undefined) return Effect.succeed(undefined)
        return readText(place.position, place.length).pipe(
          Effect.flatMap(Schema.decodeEffect(Descriptions)),
          Effect.mapError((error) =>
            error._tag === "ValidationError" ? error : unusable(path, `${type} is not as made`)
          ),
          Effect.map((descriptions) => ({ type, descriptions }))
        )
      }
    }
  })
