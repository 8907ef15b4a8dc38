/**
 * Bundles the program into a folder: `main.js`, which imports `main-run.js` and its chunks on a supported Node, its
 * prepared answers (`start.json`), and the licences of bundled packages (`NOTICES.md`). What a start imports is one chunk,
 * and what its first call imports another, since finding and reading a file takes a millisecond.
 *
 * `node program.ts [FOLDER [EXTENSION]]`; by default those of the build, and `.js`.
 */
import * as Effect from "effect/Effect"
import { build } from "esbuild"
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join, relative, resolve } from "node:path"
import { build as bundle, type BuildOptions, type OutputChunk, type Plugin, type RolldownOutput } from "rolldown"
import { viteDynamicImportVarsPlugin, viteImportGlobPlugin } from "rolldown/experimental"
import { dist, root } from "./metadata.ts"
import { prepared } from "./start.ts"

const [, , outdir = dist, extension = ".js"] = process.argv
const folder = resolve(root, outdir)

/**
 * Takes Node's modules as objects. An `import` reads each of their exports, also those that Node loads on their first
 * use: with `node:http` it loads `fetch`, which takes 20 ms.
 */
const nodeModules: Plugin = {
  name: "node-modules",
  // The bundler's own code comes before all.
  resolveId: (id, importer = "") => isBuiltin(id) && !importer.startsWith("\0") ? `\0${id}` : undefined,
  load: (id) =>
    id.startsWith("\0") && isBuiltin(id.slice(1))
      ? { code: `module.exports = process.getBuiltinModule(${JSON.stringify(id.slice(1))})`, moduleType: "js" }
      : undefined
}

const options = {
  cwd: root,
  input: { "main-run": "src/app/Run.ts" },
  platform: "node",
  preserveEntrySignatures: "allow-extension",
  resolve: {
    mainFields: ["module", "main"],
    // The SDK's default validator is never used, but half of the loading time of older clients; Node has digests.
    alias: { ajv: false, "ajv-formats": false, "@noble/hashes/sha2.js": false }
  },
  transform: { target: "node22" },
  moduleTypes: { ".md": "text" },
  plugins: [nodeModules, viteDynamicImportVarsPlugin(), viteImportGlobPlugin()],
  // A tool that a first call loads alone is in the same chunk as what that call loads.
  checks: { ineffectiveDynamicImport: false },
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
} satisfies BuildOptions

const chunksOf = ({ output }: RolldownOutput) => output.flatMap((chunk) => chunk.type === "chunk" ? chunk : [])

/** Modules that are loaded with these modules. */
const loadedWith = (modules: ReadonlyArray<string>, chunks: ReadonlyArray<OutputChunk>) => {
  const has = ({ moduleIds }: OutputChunk) => modules.some((module) => moduleIds.includes(join(root, "src", module)))
  const all = new Set(chunks.filter(has))
  for (const { imports } of all) {
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) all.add(chunk)
  }
  return new Set([...all].flatMap(({ moduleIds }) => moduleIds))
}

const small = chunksOf(await bundle({ ...options, write: false }))
const start = loadedWith(["app/Run.ts"], small)
const first = loadedWith(["app/FirstCalls.ts", "tools/workflows/listWorkflows.ts"], small)

const chunks = chunksOf(
  await bundle({
    ...options,
    output: {
      ...options.output,
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [
          { name: "start", test: (module) => start.has(module) },
          { name: "first", test: (module) => first.has(module) && !start.has(module) }
        ]
      }
    }
  })
)

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

const modules = chunks.flatMap(({ moduleIds }) => moduleIds)
const folders = new Set(modules.map((file) => relative(root, file)).flatMap(folderOf))
const notices = [...folders].filter((folder) => existsSync(join(root, folder, "package.json"))).map(notice).toSorted()
writeFileSync(join(folder, "NOTICES.md"), `# Bundled packages and their licences\n\n${notices.join("\n")}`)
writeFileSync(join(folder, "start.json"), JSON.stringify(await Effect.runPromise(prepared)))
