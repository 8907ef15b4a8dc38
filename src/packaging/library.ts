/**
 * Builds the modules in `dist` that other apps import. All dependencies are bundled except `effect`, which those apps
 * already have and must not have twice.
 */
import { buildSync } from "esbuild"
import { globSync } from "node:fs"
import { root } from "./metadata.ts"

const isExcluded = (file: string) =>
  file === "src/main.ts" || file === "src/catalogue/data/build.ts" || file.startsWith("src/packaging/")

buildSync({
  absWorkingDir: root,
  entryPoints: globSync("src/**/*.ts", { cwd: root }).filter((file) => !isExcluded(file)),
  outbase: "src",
  outdir: "dist",
  bundle: true,
  splitting: true,
  // In the same folder as nodes.data, which the code reads from its own folder.
  chunkNames: "shared-[hash]",
  external: ["effect"],
  platform: "node",
  format: "esm",
  mainFields: ["module", "main"],
  target: "node22",
  legalComments: "none",
  logLevel: "warning",
  // Bundled CommonJS modules call require for Node's modules.
  banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" }
})
