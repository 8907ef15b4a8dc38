/** Node types of npm packages, from `dist/types/nodes.json` or from the nodes' code. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as NodeType from "../types/NodeType.ts"
import * as ItemFields from "./itemFields.ts"
import * as NodeFiles from "./nodeFiles.ts"

/** Unreadable package; the server does not start. */
export class UnreadablePackage extends Data.TaggedError("UnreadablePackage")<{ readonly message: string }> {}

export interface NodePackage {
  readonly name: string
  readonly version: string | undefined
  readonly types: ReadonlyArray<NodeType.NodeType>
}

const Manifest = Schema.fromJsonString(Schema.Struct({
  name: Schema.String,
  version: Schema.optionalKey(Schema.String),
  n8n: Schema.optionalKey(Schema.Struct({ nodes: Schema.optionalKey(Schema.Array(Schema.String)) }))
}))
const Descriptions = Schema.fromJsonString(Schema.Array(NodeType.Description))

const newest = (description: NodeType.Description) => Math.max(...NodeType.versionsOf(description))

const typesOf = (
  packageName: string,
  descriptions: ReadonlyArray<NodeType.Description>,
  itemFields: ReadonlyMap<string, ItemFields.ItemFields>
): ReadonlyArray<NodeType.NodeType> =>
  [...Map.groupBy(descriptions, ({ name }) => `${packageName}.${name.slice(name.lastIndexOf(".") + 1)}`)].map((
    [type, all]
  ) => {
    const fields = itemFields.get(type.slice(type.lastIndexOf(".") + 1))
    const sorted = all.toSorted((a, b) => newest(b) - newest(a))
    return { type, descriptions: sorted, ...fields !== undefined && { itemFields: fields } }
  })

/** Metadata file created by n8n's build tools. */
const listFile = "dist/types/nodes.json"

/**
 * Reads a package. `path` is the package's folder or its `dist/types/nodes.json`. Without that file, the nodes listed
 * in package.json are instantiated for their descriptions, which runs the package's code, as n8n does. The nearest
 * package.json above `path` has the package's name, the first part of its types' names.
 */
export const read = (
  path: string
): Effect.Effect<NodePackage, UnreadablePackage, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const unreadable = (why: string) => new UnreadablePackage({ message: `--nodes ${path}: ${why}` })
    const exists = (file: string) => Effect.orElseSucceed(fs.exists(file), () => false)

    const { type } = yield* Effect.mapError(fs.stat(path), () => unreadable("there is no such file or folder"))
    let folder = type === "Directory" ? path : paths.dirname(path)
    while (!(yield* exists(paths.join(folder, "package.json")))) {
      const above = paths.dirname(folder)
      if (above === folder) return yield* unreadable("no package.json there or above it gives the package's name")
      folder = above
    }
    const { n8n, name, version } = yield* fs.readFileString(paths.join(folder, "package.json")).pipe(
      Effect.flatMap(Schema.decodeEffect(Manifest)),
      Effect.mapError(() => unreadable(`${paths.join(folder, "package.json")} has no name`))
    )

    const file = type === "Directory" ? paths.join(path, listFile) : path
    const isInstantiated = type === "Directory" && !(yield* exists(file))
    if (isInstantiated && (n8n?.nodes ?? []).length === 0) {
      return yield* unreadable(`it has no ${listFile}, and its package.json lists no nodes (n8n.nodes)`)
    }
    const text = yield* isInstantiated
      ? Effect.mapError(NodeFiles.describe(path, n8n?.nodes ?? []), (why) => unreadable(`cannot be loaded: ${why}`))
      : Effect.mapError(fs.readFileString(file), ({ message }) => unreadable(message))
    const descriptions = yield* Effect.mapError(Schema.decodeEffect(Descriptions)(text), ({ message }) =>
      unreadable(`is not a list of node types: ${message.slice(0, 300)}`))
    const itemFields = yield* ItemFields.read(folder, descriptions)
    return { name, version, types: typesOf(name, descriptions, itemFields) }
  })
