/** Makes `dist/nodes.data` of n8n's packages: `node src/NodeCatalogue/build.ts`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { createRequire } from "node:module"
import { dirname } from "node:path"
import * as Releases from "../domain/nodes/Releases.ts"
import { dataFile } from "../NodeCatalogue.ts"
import * as DataFile from "./dataFile.ts"
import * as Packages from "./packages.ts"
import * as Search from "./search.ts"

const require = createRequire(import.meta.url)

/** Earlier releases, oldest first, as package.json names their packages. */
const earlier = ["1.123", "2.10", "2.20", "2.30"]

const folder = (name: string) => dirname(require.resolve(`${name}/package.json`))

const read = (names: ReadonlyArray<string>) =>
  Effect.map(Effect.forEach(names.map(folder), Packages.read), (packages) => ({
    release: packages[0]?.version ?? "",
    types: packages.flatMap(({ types }) => types)
  }))

const build = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const { release, types } = yield* read(["n8n-nodes-base", "@n8n/n8n-nodes-langchain"])
  const releases = yield* Effect.forEach(
    earlier,
    (release) =>
      Effect.map(read([`n8n-nodes-base-${release}`, `n8n-nodes-langchain-${release}`]), ({ types }) => ({
        release,
        types
      }))
  )
  const bytes = DataFile.pack({
    release,
    releases: Releases.differences(releases, types),
    types,
    search: Search.serialize(types.map(Search.toDocument))
  })
  const dist = dirname(dataFile)
  yield* fs.makeDirectory(dist, { recursive: true })
  // Never half a file: another process may be reading it.
  const made = yield* fs.makeTempFile({ directory: dist, prefix: "nodes" })
  yield* fs.writeFile(made, bytes)
  yield* fs.rename(made, dataFile)
  // The data is under n8n's licence, not ours: its text goes with it.
  yield* fs.copyFile(`${folder("n8n-nodes-base")}/LICENSE.md`, `${dataFile}.LICENSE.md`)
  return `${types.length} node types, ${(bytes.length / 1e6).toFixed(2)} MB: ${dataFile}`
})

process.stderr.write(`${await Effect.runPromise(Effect.provide(build, NodeServices.layer))}\n`)
