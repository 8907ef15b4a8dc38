/**
 * Builds the modules in `dist` that other apps import. All dependencies are bundled except `effect`, which those apps
 * already have and must not have twice.
 */
import { type BuildOptions, buildSync } from "esbuild"
import { globSync } from "node:fs"
import { root } from "./metadata.ts"

/** What package.json exports; the declarations of all else are beside it. */
const entryPoints = [
  "src/index.ts",
  "src/mcp/index.ts",
  "src/testing/index.ts",
  ...globSync("src/tools/**/*.ts", { cwd: root }).filter((file) => !file.startsWith("src/tools/shared/"))
]

const shared: BuildOptions = {
  absWorkingDir: root,
  outbase: "src",
  outdir: "dist",
  bundle: true,
  external: ["effect"],
  format: "esm",
  mainFields: ["module", "main"],
  legalComments: "none",
  logLevel: "warning"
}

buildSync({
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
buildSync({ ...shared, entryPoints: ["src/domain.ts"], platform: "browser", target: "es2022" })
