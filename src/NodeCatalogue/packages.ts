/** Node types as npm packages of n8n nodes carry them: in `dist/types/nodes.json`. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as NodeType from "../domain/NodeType.ts"

/** A package that cannot be read; the server does not start. */
export class UnreadablePackage extends Data.TaggedError("UnreadablePackage")<{ readonly message: string }> {}

/** A package of node types. */
export interface NodePackage {
  readonly name: string
  readonly version: string | undefined
  readonly types: ReadonlyArray<NodeType.NodeType>
}

const Manifest = Schema.fromJsonString(
  Schema.Struct({ name: Schema.String, version: Schema.optionalKey(Schema.String) })
)
const Descriptions = Schema.fromJsonString(Schema.Array(NodeType.Description))

const newest = (description: NodeType.Description) => Math.max(...NodeType.versionsOf(description))

/** Descriptions of one name are one type. */
const typesOf = (
  packageName: string,
  descriptions: ReadonlyArray<NodeType.Description>
): ReadonlyArray<NodeType.NodeType> =>
  [...Map.groupBy(descriptions, ({ name }) => `${packageName}.${name.slice(name.lastIndexOf(".") + 1)}`)].map((
    [type, all]
  ) => ({ type, descriptions: all.toSorted((a, b) => newest(b) - newest(a)) }))

/**
 * Reads a package.
 *
 * **Details**
 *
 * `path` is its folder or its `dist/types/nodes.json`. The package's name, which is the first half of its types' names,
 * is that of the nearest package.json above.
 */
export const read = (
  path: string
): Effect.Effect<NodePackage, UnreadablePackage, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const unreadable = (why: string) => new UnreadablePackage({ message: `--nodes ${path}: ${why}` })

    const { type } = yield* Effect.mapError(fs.stat(path), () => unreadable("there is no such file or folder"))
    const file = type === "Directory" ? paths.join(path, "dist", "types", "nodes.json") : path
    const text = yield* Effect.mapError(fs.readFileString(file), () =>
      unreadable(`there is no ${file}: give a package that was built with it (n8n-generate-metadata makes it)`))
    const descriptions = yield* Effect.mapError(Schema.decodeEffect(Descriptions)(text), ({ message }) =>
      unreadable(`is no list of node types: ${message.slice(0, 300)}`))

    let folder = type === "Directory" ? path : paths.dirname(path)
    while (
      !(yield* Effect.orElseSucceed(fs.exists(paths.join(folder, "package.json")), () =>
        false))
    ) {
      const above = paths.dirname(folder)
      if (above === folder) {
        return yield* unreadable("no package.json above it tells the package's name")
      }
      folder = above
    }
    const manifest = yield* fs.readFileString(paths.join(folder, "package.json")).pipe(
      Effect.flatMap(Schema.decodeEffect(Manifest)),
      Effect.mapError(() =>
        unreadable(`${paths.join(folder, "package.json")} tells no name`)
      )
    )
    return { name: manifest.name, version: manifest.version, types: typesOf(manifest.name, descriptions) }
  })
