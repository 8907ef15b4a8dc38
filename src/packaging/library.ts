/**
 * Builds the modules in `dist` that apps import, with source maps that lead to `src`. A source file is a module of its
 * own, so that a bundler takes only what is used and Node loads no more, or part of the only one that imports it.
 * Dependencies other than `effect` are bundled into `dist/vendor`.
 */
import { parse } from "acorn"
import { build, transform } from "esbuild"
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { metadata, root } from "./metadata.ts"
import { edited, edits, type Import } from "./modules.ts"

const files = (patterns: ReadonlyArray<string>) =>
  new Set(patterns.filter((file) => file.endsWith(".ts")).flatMap((file) => globSync(file, { cwd: root })))

const exported = Object.entries(metadata.exports)
const inner = files(exported.flatMap(([name, file]) => file === null ? `${name.replace("./", "src/")}.ts` : []))

/** Files that package.json exports; the rest follows from their imports. */
const entryPoints = [...files(exported.flatMap(([, file]) => file?.replace("*", "**/*") ?? []))]
  .filter((file) => !inner.has(file))

/** Imported names of each bundled package; `*` is all of them. */
const vendored = new Map<string, Set<string>>()
const vendorFile = (specifier: string) =>
  `vendor/${specifier.replace(/^@/, "").replace(/\.js$/, "").replace(/\W+/g, "-")}`

/** Place in `dist` of what is compiled from a file of the repository. */
const place = (file: string) =>
  `${file.startsWith("src/") ? file.slice(4) : join("vendor", file.replace(/^\.[^/]+\//, ""))}.js`.replace(
    /\.ts\.js$/,
    ".js"
  )

/** Prefix of places in `dist` until each module has its own. */
const mark = "dist:/"

interface Module {
  readonly file: string
  readonly contents: string
  readonly importers: Set<string>
  isSeparate: boolean
}

const modules = new Map<string, Module>()

const compile = async (file: string): Promise<string> => {
  const text = readFileSync(join(root, file), "utf8")
  if (!file.endsWith(".ts")) return `export default ${file.endsWith(".json") ? text.trim() : JSON.stringify(text)}\n`
  const { code, map } = await transform(text, {
    loader: "ts",
    format: "esm",
    target: "es2022",
    sourcemap: "external",
    sourcesContent: false,
    sourcefile: basename(file),
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } }
  })
  // What it exports as a namespace can only be left out if it is a module of its own.
  const isBarrel = text.includes("export * as ")
  const queue: Array<Promise<void>> = []
  const resolved = ({ isDynamic, names, specifier }: Import): string => {
    if (/^(node:|effect(\/|$))/.test(specifier)) return specifier
    if (!specifier.startsWith(".")) {
      vendored.set(specifier, new Set([...vendored.get(specifier) ?? [], ...names]))
      return `${mark}${vendorFile(specifier)}.js`
    }
    const source = join(dirname(file), specifier)
    for (const each of source.includes("*") ? globSync(source, { cwd: root }) : [source]) {
      queue.push(add(each, isDynamic || isBarrel ? undefined : file))
    }
    return mark + place(source)
  }
  const changed = edited(code, map, edits(parse(code, { ecmaVersion: "latest", sourceType: "module" }), resolved))
  await Promise.all(queue)
  return `${changed.code}//# sourceMappingURL=data:application/json;base64,${btoa(changed.map)}`
}

/** Adds a module; one without an importer is a file of its own. */
const add = async (file: string, importer?: string): Promise<void> => {
  const known = modules.get(place(file))
  if (known === undefined) {
    const module = { file, contents: "", importers: new Set<string>(), isSeparate: importer === undefined }
    if (importer !== undefined) module.importers.add(place(importer))
    modules.set(place(file), module)
    module.contents = await compile(file)
  } else if (importer === undefined) known.isSeparate = true
  else known.importers.add(place(importer))
}

for (const file of entryPoints) await add(file)

/** Module whose file contains this one: itself, or the only one that imports it. */
const owners = new Map([...modules].flatMap(([name, { isSeparate }]) => isSeparate ? [[name, name] as const] : []))
while (owners.size < modules.size) {
  for (const [name, module] of modules) {
    const all = [...module.importers].map((each) => owners.get(each))
    if (owners.has(name) || all.includes(undefined)) continue
    module.isSeparate = new Set(all).size > 1
    owners.set(name, module.isSeparate ? name : all[0] ?? name)
  }
}

const write = (file: string, text: string) => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: [...modules].flatMap(([name, { isSeparate }]) =>
    isSeparate ? [{ in: mark + name, out: name.replace(/\.js$/, "") }] : []
  ),
  outdir: "dist",
  bundle: true,
  write: false,
  external: ["effect", "node:*"],
  format: "esm",
  target: "es2022",
  sourcemap: "linked",
  sourcesContent: false,
  logLevel: "warning",
  plugins: [{
    name: "modules",
    setup: ({ onLoad, onResolve }) => {
      onResolve({ filter: /^dist:/ }, ({ kind, path }) => {
        const module = modules.get(path.slice(mark.length))
        return kind !== "entry-point" && module?.isSeparate !== false
          ? { path, external: true }
          : { path: join(root, module?.file ?? ""), pluginData: module }
      })
      onLoad({ filter: /./ }, ({ pluginData: module }) => ({ contents: module.contents, loader: "js" }))
    }
  }]
})
for (const { path, text } of outputFiles) {
  const from = dirname(relative(join(root, "dist"), path))
  write(
    path,
    text.replaceAll(/(?<=["`])dist:\/([^"`$]*)/g, (_, to: string) => relative(from, to).replace(/^(?!\.)/, "./"))
  )
}

const requireFrom =
  "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);\n"

const buildVendored = async (specifiers: ReadonlyArray<string>, splitting: boolean) => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: specifiers.map((specifier) => ({ in: `vendor:${specifier}`, out: vendorFile(specifier) })),
    outdir: "dist",
    chunkNames: "vendor/[name]-[hash]",
    bundle: true,
    splitting,
    write: false,
    external: ["effect"],
    format: "esm",
    platform: "node",
    mainFields: ["module", "main"],
    target: "node22",
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    logLevel: "warning",
    plugins: [{
      name: "vendor",
      setup: ({ onLoad, onResolve }) => {
        onResolve({ filter: /^vendor:/ }, ({ path }) => ({ path: path.slice(7), namespace: "vendor" }))
        onLoad({ filter: /./, namespace: "vendor" }, ({ path }) => {
          const names = [...vendored.get(path) ?? []]
          const what = names.includes("*") ? "*" : `{ ${names.join(", ")} }`
          return { contents: `export ${what} from "${path}"`, resolveDir: root }
        })
      }
    }]
  })
  // Bundled CommonJS calls require for Node's modules; what browsers load must be without it.
  for (const { path, text } of outputFiles) {
    write(path, text.includes("__require") ? requireFrom + text : text)
  }
}

const specifiers = [...vendored.keys()]
const isScoped = (specifier: string) => specifier.startsWith("@")
await buildVendored(specifiers.filter((each) => !isScoped(each)), false)
// These share packages with each other.
await buildVendored(specifiers.filter(isScoped), true)

// It fails if a module of Node is imported.
await build({
  absWorkingDir: root,
  entryPoints: ["dist/domain.js"],
  bundle: true,
  write: false,
  external: ["effect"],
  format: "esm",
  platform: "browser",
  logLevel: "warning"
})
