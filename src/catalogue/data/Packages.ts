/** Node types of npm packages, from `dist/types/nodes.json` or from the nodes' code. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { spawn } from "node:child_process"
import { realpathSync } from "node:fs"
import type { Module } from "node:module"
import { dirname, join } from "node:path"
import { obj } from "../../base/Json.ts"
import * as Rows from "../../base/Rows.ts"
import * as NodeType from "../types/NodeType.ts"

/** Fields by resource and operation (`message/getAll`), or by the empty string. */
type ItemFields = Readonly<Record<string, string>>

const Known = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Struct({ sourcePath: Schema.String })))

const ItemSchema = Schema.fromJsonString(Schema.Struct({
  properties: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Struct({ type: Schema.optionalKey(Schema.Unknown) }))
  )
}))

const marks: Readonly<Record<string, string>> = { object: "{}", array: "[]" }

const inWords = ({ properties = {} }: typeof ItemSchema.Type): string => {
  const names = Object.entries(properties).map(([name, { type }]) => `${name}${marks[String(type)] ?? ""}`)
  return Rows.listed(names, 25, " ")
}

const readFolder = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const files = (yield* fs.readDirectory(folder, { recursive: true })).filter((file) => file.endsWith(".json"))
  const byOperation = new Map(
    files.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })).map((file) =>
      [file.slice(file.indexOf("/") + 1).replace(/\.json$/, "").replace(/^output$/, ""), file] as const
    )
  )
  const entries = yield* Effect.forEach(
    byOperation,
    ([operation, file]) =>
      fs.readFileString(paths.join(folder, file)).pipe(
        Effect.flatMap(Schema.decodeEffect(ItemSchema)),
        Effect.map((schema) => [operation, inWords(schema)] as const)
      )
  )
  return Object.fromEntries(entries.filter(([, fields]) => fields !== ""))
})

/** Fields by node name (`slack`) of a package; nodes without schemas are omitted. */
const readItemFields = Effect.fnUntraced(function*(
  folder: string,
  descriptions: ReadonlyArray<{ readonly name: string; readonly schemaPath?: string }>
): Effect.fn.Return<ReadonlyMap<string, ItemFields>, never, FileSystem.FileSystem | Path.Path> {
  const paths = yield* Path.Path
  const known = yield* (yield* FileSystem.FileSystem).readFileString(paths.join(folder, "dist/known/nodes.json")).pipe(
    Effect.flatMap(Schema.decodeEffect(Known)),
    Effect.orElseSucceed(() => ({} as typeof Known.Type))
  )
  const byName = new Map<string, ItemFields>()
  for (const { name, schemaPath } of descriptions) {
    const source = known[name]?.sourcePath
    if (source === undefined || byName.has(name)) continue
    const own = schemaPath === undefined ? paths.dirname(source) : paths.join("dist/nodes", schemaPath)
    const fields = yield* Effect.orElseSucceed(readFolder(paths.join(folder, own, "__schema__")), () => ({}))
    if (Object.keys(fields).length > 0) byName.set(name, fields)
  }
  return byName
})

const timeout = "20 seconds"

type Load = (request: string, parent: Module, isMain: boolean) => unknown

/** Script for a separate process, self-contained: instantiates nodes as n8n does, with proxies of missing modules. */
const describeInside = (require: NodeJS.Require, folder: string, files: ReadonlyArray<string>): string => {
  const path = require("node:path") as typeof import("node:path")
  const modules = require("node:module") as { _load: Load }

  const connectionType = (key: string) => key === "Main" ? "main" : `ai_${key[2]?.toLowerCase()}${key.slice(3)}`
  const connectionTypes = new Proxy({}, { get: (_, key) => connectionType(String(key)) })
  const known: Record<PropertyKey, unknown> = {
    NodeConnectionTypes: connectionTypes,
    NodeConnectionType: connectionTypes,
    VersionedNodeType: class {
      nodeVersions: unknown
      description: unknown
      constructor(nodeVersions: unknown, description: unknown) {
        this.nodeVersions = nodeVersions
        this.description = description
      }
    },
    [Symbol.toPrimitive]: () => "",
    [Symbol.iterator]: () => [].values()
  }
  const anything = (): object =>
    new Proxy(Object, {
      get: (target, key) =>
        key === "prototype" ? target.prototype : Object.hasOwn(known, key) ? known[key] : anything(),
      apply: anything
    })

  const load = modules._load
  modules._load = (...request) => {
    try {
      return load(...request)
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined
      if (code === "MODULE_NOT_FOUND" || code === "ERR_ACCESS_DENIED") return anything()
      throw error
    }
  }

  type Node = { readonly description: object; readonly nodeVersions?: Readonly<Record<string, Node>> }
  const all = files.flatMap((file) => {
    const exported = require(path.resolve(folder, file)) as Record<string, new() => Node>
    const Node = exported[path.basename(file).split(".")[0] ?? ""] ?? Object.values(exported)[0]
    if (Node === undefined) return []
    const node = new Node()
    return node.nodeVersions === undefined
      ? [node.description]
      : Object.entries(node.nodeVersions).map(([version, { description }]) => ({
        version: Number(version),
        ...description
      }))
  })
  return JSON.stringify(all)
}

// tsx wraps functions in its helper `__name`.
const code = `const __name = (it) => it
const send = process.send.bind(process)
const [folder, ...files] = process.argv.slice(1)
const end = (message) => send(message, () => process.exit())
try { end({ json: (${
  String(describeInside)
})(require, folder, files) }) } catch (error) { end({ error: String(error) }) }`

const above = (folder: string): ReadonlyArray<string> =>
  dirname(folder) === folder ? [] : [dirname(folder), ...above(dirname(folder))]

const readable = (folder: string): ReadonlyArray<string> => [
  folder,
  ...above(folder).map((each) => join(each, "node_modules"))
]

/**
 * Reads the descriptions of a package's nodes as JSON; fails with the reason.
 *
 * The package's code runs in an isolated process: environment PATH and HOME only, no stdin, no stdout (which may be an
 * MCP connection). Node's permissions allow it to read only the package and its dependencies, and neither to write
 * files nor to start processes.
 *
 * **Gotchas**
 *
 * Node's permissions do not restrict the network.
 */
export const describe = (folder: string, files: ReadonlyArray<string>): Effect.Effect<string, string> =>
  Effect.callback<string, string>((resume) => {
    const real = realpathSync(folder)
    const { HOME, PATH } = process.env
    const child = spawn(
      process.execPath,
      [
        "--permission",
        "--max-old-space-size=512",
        ...readable(real).map((path) => `--allow-fs-read=${path}`),
        "--eval",
        code,
        "--",
        real,
        ...files
      ],
      { cwd: real, env: { ...(PATH && { PATH }), ...(HOME && { HOME }) }, stdio: ["ignore", "ignore", "ignore", "ipc"] }
    )
    child.once("message", (message) => {
      const { error, json } = obj(message) ?? {}
      resume(json === undefined ? Effect.fail(String(error)) : Effect.succeed(String(json)))
    })
    child.once("error", (error) => resume(Effect.fail(String(error))))
    child.once("exit", () => resume(Effect.fail("it ended before its nodes were made")))
    return Effect.sync(() => child.kill("SIGKILL"))
  }).pipe(
    Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(`it did not load in ${timeout}`) })
  )

/** Unreadable package; the server does not start. */
export class UnreadablePackage extends Data.TaggedError("UnreadablePackage")<{ readonly message: string }> {}

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
  itemFields: ReadonlyMap<string, ItemFields>
): ReadonlyArray<NodeType.NodeType> =>
  [...Map.groupBy(descriptions, ({ name }) => `${packageName}.${NodeType.shortName(name)}`)].map((
    [type, all]
  ) => {
    const fields = itemFields.get(NodeType.shortName(type))
    const sorted = all.toSorted((a, b) => newest(b) - newest(a))
    return { type, descriptions: sorted, ...fields !== undefined && { itemFields: fields } }
  })

const listFile = "dist/types/nodes.json"

/**
 * Reads a package. `path` is the package's folder or its `dist/types/nodes.json`. Without that file, the nodes listed
 * in package.json are instantiated for their descriptions, which runs the package's code, as n8n does. The nearest
 * package.json above `path` has the package's name, the first part of its types' names.
 */
export const read = (
  path: string
): Effect.Effect<
  { readonly version: string | undefined; readonly types: ReadonlyArray<NodeType.NodeType> },
  UnreadablePackage,
  FileSystem.FileSystem | Path.Path
> =>
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
      ? Effect.mapError(describe(path, n8n?.nodes ?? []), (why) => unreadable(`cannot be loaded: ${why}`))
      : Effect.mapError(fs.readFileString(file), ({ message }) => unreadable(message))
    const descriptions = yield* Effect.mapError(Schema.decodeEffect(Descriptions)(text), ({ message }) =>
      unreadable(`is not a list of node types: ${message.slice(0, 300)}`))
    const itemFields = yield* readItemFields(folder, descriptions)
    return { version, types: typesOf(name, descriptions, itemFields) }
  })
