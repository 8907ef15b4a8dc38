/** Builds the modules in `dist` that apps import, with all dependencies but `effect`; source maps lead to `src`. */
import { decode, encode, type SourceMapSegment } from "@jridgewell/sourcemap-codec"
import { build, type BuildOptions, type Plugin } from "esbuild"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { metadata, root } from "./metadata.ts"

const files = (patterns: ReadonlyArray<string>) =>
  new Set(patterns.filter((file) => file.endsWith(".ts")).flatMap((file) => globSync(file, { cwd: root })))

const exported = Object.entries(metadata.exports)
const inner = files(
  exported.flatMap(([name, file]) => file === null ? `${name.replace("./", "src/")}.ts` : [])
)

/** Files that package.json exports, for Node; the declarations of all else are beside them. */
const entryPoints = [...files(exported.flatMap(([, file]) => file?.replace("*", "**/*") ?? []))]
  .filter((file) => !inner.has(file) && file !== "src/domain.ts")

interface SourceMap {
  readonly version: number
  readonly sources: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
  readonly mappings: string
}

/** Map without what is not ours: that is not packed, and is shown as it is bundled. */
const withOurSources = ({ mappings, sources, version }: SourceMap): SourceMap => {
  const ours = sources.filter((source) => !source.includes("/node_modules/"))
  const indices = sources.map((source) => ours.indexOf(source))
  const lines = decode(mappings).map((line) => {
    const owners = line.map(([, source]) => source === undefined ? -1 : indices[source] ?? -1)
    return line.flatMap((segment, at): Array<SourceMapSegment> => {
      const owner = owners[at] ?? -1
      // One without a source ends what is before it.
      if (segment.length === 1 || owner < 0) return at === 0 || (owners[at - 1] ?? -1) >= 0 ? [[segment[0]]] : []
      return [[segment[0], owner, segment[2], segment[3]]]
    })
  })
  return { version, sources: ours, names: [], mappings: encode(lines) }
}

const onlyOurSources: Plugin = {
  name: "only-our-sources",
  setup: ({ onEnd }) =>
    onEnd(({ metafile }) => {
      const maps = Object.keys(metafile?.outputs ?? {}).filter((file) => file.endsWith(".map"))
      for (const file of maps.map((file) => join(root, file))) {
        writeFileSync(file, JSON.stringify(withOurSources(JSON.parse(readFileSync(file, "utf8")))))
      }
    })
}

const shared: BuildOptions = {
  absWorkingDir: root,
  outbase: "src",
  outdir: "dist",
  bundle: true,
  external: ["effect"],
  format: "esm",
  mainFields: ["module", "main"],
  legalComments: "none",
  loader: { ".md": "text" },
  logLevel: "warning",
  sourcemap: "linked",
  sourcesContent: false,
  metafile: true,
  plugins: [onlyOurSources]
}

await build({
  ...shared,
  entryPoints,
  splitting: true,
  // In the same folder as nodes.data, which the code reads from its own folder.
  chunkNames: "shared-[hash]",
  platform: "node",
  target: "node22",
  // Bundled CommonJS modules call require for Node's modules.
  banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" }
})

// For browsers too: it fails if a module of Node is imported.
await build({
  ...shared,
  entryPoints: ["src/domain.ts"],
  splitting: true,
  chunkNames: "domain-[name]-[hash]",
  platform: "browser",
  target: "es2022"
})
