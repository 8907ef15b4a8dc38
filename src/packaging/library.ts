/**
 * Builds the modules of `dist` that other apps import. They contain all dependencies but `effect`, which those apps have
 * already, and of which there must be one.
 */
import { buildSync } from "esbuild"
import { globSync } from "node:fs"
import { root } from "./metadata.ts"

const isLeftOut = (file: string) =>
  file === "src/main.ts" || file === "src/catalogue/data/build.ts" || file.startsWith("src/packaging/")

buildSync({
  absWorkingDir: root,
  entryPoints: globSync("src/**/*.ts", { cwd: root }).filter((file) => !isLeftOut(file)),
  outbase: "src",
  outdir: "dist",
  bundle: true,
  splitting: true,
  // Beside nodes.data, which the code reads from its own folder.
  chunkNames: "shared-[hash]",
  external: ["effect"],
  platform: "node",
  format: "esm",
  mainFields: ["module", "main"],
  target: "node22",
  legalComments: "none",
  logLevel: "warning",
  // What is CommonJS in there asks for Node's modules.
  banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" }
})
