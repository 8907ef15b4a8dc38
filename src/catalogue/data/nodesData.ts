/** Builds `dist/nodes.data` from n8n's packages: `node src/catalogue/data/nodesData.ts`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { createRequire } from "node:module"
import { basename, dirname, join } from "node:path"
import { dataFile } from "../NodeCatalogue.ts"
import * as Search from "../search/Search.ts"
import wordLists from "../search/wordLists.json" with { type: "json" }
import * as Releases from "../types/Releases.ts"
import * as DataFile from "./DataFile.ts"
import * as Packages from "./Packages.ts"

const require = createRequire(import.meta.url)

/** Earlier releases of n8n, oldest first, as package.json names their packages. */
const earlierReleases = ["1.123", "2.10", "2.20", "2.30"]

const folderOf = (name: string) => dirname(require.resolve(`${name}/package.json`))

const CredentialType = Schema.Struct({
  name: Schema.String,
  extends: Schema.optionalKey(Schema.Array(Schema.String)),
  properties: Schema.Array(Schema.Struct({
    name: Schema.String,
    type: Schema.String,
    typeOptions: Schema.optionalKey(Schema.Struct({
      password: Schema.optionalKey(Schema.Boolean),
      redactJsonLeaves: Schema.optionalKey(Schema.Boolean)
    }))
  }))
})

const CredentialFile = Schema.fromJsonString(Schema.Array(CredentialType))

const ownFields = ({ properties }: typeof CredentialType.Type) =>
  Object.fromEntries(
    properties.filter(({ type }) => type !== "notice").map(({ name, typeOptions = {} }) => [
      name,
      typeOptions.password === true || typeOptions.redactJsonLeaves === true
    ])
  )

const credentialTypes = Effect.fnUntraced(function*(folders: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const types = new Map(
    (yield* Effect.forEach(
      folders,
      (folder) =>
        Effect.flatMap(
          fs.readFileString(path.join(folder, "dist/types/credentials.json")),
          Schema.decodeEffect(CredentialFile)
        )
    ))
      .flat().map((type) => [type.name, type])
  )
  const fieldsOf = (name: string): Readonly<Record<string, boolean>> => {
    const type = types.get(name)
    return type === undefined ? {} : Object.assign({}, ...(type.extends ?? []).map(fieldsOf), ownFields(type))
  }
  return Object.fromEntries([...types.keys()].map((name) => [name, fieldsOf(name)])) satisfies DataFile.CredentialTypes
})

const read = (names: ReadonlyArray<string>) =>
  Effect.map(Effect.forEach(names.map(folderOf), Packages.read), (packages) => ({
    release: packages[0]?.version ?? "",
    types: packages.flatMap(({ types }) => types)
  }))

const build = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const { release, types } = yield* read(["n8n-nodes-base", "@n8n/n8n-nodes-langchain"])
  const releases = yield* Effect.forEach(
    earlierReleases,
    (release) =>
      Effect.map(read([`n8n-nodes-base-${release}`, `n8n-nodes-langchain-${release}`]), ({ types }) => ({
        release,
        types
      }))
  )
  const bytes = DataFile.pack({
    release,
    releases: Releases.differences(releases, types),
    deprecations: Releases.deprecations(types),
    credentials: yield* credentialTypes(["n8n-nodes-base", "@n8n/n8n-nodes-langchain"].map(folderOf)),
    types,
    search: Search.serialize(types, wordLists)
  })
  const dist = process.env["N8N_MCP_DIST"] ?? dirname(dataFile())
  const file = join(dist, basename(dataFile()))
  yield* fs.makeDirectory(dist, { recursive: true })
  // Another process may be reading the file, so it is replaced atomically.
  const temporaryFile = yield* fs.makeTempFile({ directory: dist, prefix: "nodes" })
  yield* fs.writeFile(temporaryFile, bytes)
  yield* fs.rename(temporaryFile, file)
  // The data is under n8n's licence.
  yield* fs.copyFile(`${folderOf("n8n-nodes-base")}/LICENSE.md`, `${file}.LICENSE.md`)
  return `${types.length} node types, ${(bytes.length / 1e6).toFixed(2)} MB: ${file}`
})

process.stderr.write(`${await Effect.runPromise(Effect.provide(build, NodeServices.layer))}\n`)
