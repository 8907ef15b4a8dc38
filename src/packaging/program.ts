/**
 * Bundles the program into a folder: `main.js`, which imports `main-run.js` and its chunks on a supported Node, its
 * prepared answers (`start.json`), and the licences of bundled packages (`NOTICES.md`). Rolldown bundles it, since it
 * makes a third fewer chunks than esbuild, and a start reads each from disk.
 *
 * `node program.ts [FOLDER [EXTENSION]]`; by default those of the build, and `.js`.
 */
import * as Effect from "effect/Effect"
import { build } from "esbuild"
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { build as bundle } from "rolldown"
import { viteDynamicImportVarsPlugin, viteImportGlobPlugin } from "rolldown/experimental"
import { dist, root } from "./metadata.ts"
import { prepared } from "./start.ts"

const [, , outdir = dist, extension = ".js"] = process.argv
const folder = resolve(root, outdir)

const { output } = await bundle({
  cwd: root,
  input: { "main-run": "src/app/Run.ts" },
  platform: "node",
  resolve: {
    mainFields: ["module", "main"],
    // The SDK's default validator is never used, but half of the loading time of older clients; Node has digests.
    alias: { ajv: false, "ajv-formats": false, "@noble/hashes/sha2.js": false }
  },
  transform: { target: "node22" },
  moduleTypes: { ".md": "text" },
  plugins: [viteDynamicImportVarsPlugin(), viteImportGlobPlugin()],
  logLevel: "warn",
  output: {
    dir: folder,
    format: "esm",
    entryFileNames: `[name]${extension}`,
    chunkFileNames: `main-[name]-[hash]${extension}`,
    comments: false,
    // Names stay, for stack traces.
    minify: { compress: true, codegen: true, mangle: false },
    banner: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);"
  }
})

await build({
  absWorkingDir: root,
  entryPoints: ["src/main.ts"],
  outdir: folder,
  outExtension: { ".js": extension },
  bundle: true,
  platform: "node",
  format: "esm",
  // Every Node with `import()` can read it.
  target: "node12.22",
  logLevel: "warning",
  plugins: [{
    name: "main-run",
    setup: ({ onResolve }) =>
      onResolve({ filter: /\/Run\.ts$/ }, () => ({ path: `./main-run${extension}`, external: true }))
  }]
})

/** Package folder of a file: `…/node_modules/@scope/name`. */
const folderOf = (file: string) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []

const notice = (folder: string) => {
  const { license, name, version } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
  const [file] = globSync("{LICENSE,LICENCE,license,License}*", { cwd: join(root, folder) })
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(root, folder, file), "utf8").trim()
  return `## ${name} ${version}\n\n${text}\n`
}

const modules = output.flatMap((chunk) => chunk.type === "chunk" ? chunk.moduleIds : [])
const folders = new Set(modules.map((file) => relative(root, file)).flatMap(folderOf))
const notices = [...folders].filter((folder) => existsSync(join(root, folder, "package.json"))).map(notice).toSorted()
writeFileSync(join(folder, "NOTICES.md"), `# Bundled packages and their licences\n\n${notices.join("\n")}`)
writeFileSync(join(folder, "start.json"), JSON.stringify(await Effect.runPromise(prepared)))
