/**
 * Builds the modules in `dist` that apps import, one per source file, so that a bundler takes only what is used and Node
 * loads no more, with source maps that lead to `src`. Dependencies other than `effect` are bundled into `dist/vendor`.
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

const write = (file: string, text: string) => {
  const path = join(root, "dist", file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const places = new Set<string>()

/** Builds a module and those that it imports. */
const add = async (file: string): Promise<void> => {
  const to = place(file)
  if (places.has(to)) return
  places.add(to)
  const text = readFileSync(join(root, file), "utf8")
  if (!file.endsWith(".ts")) {
    return write(to, `export default ${file.endsWith(".json") ? text.trim() : JSON.stringify(text)}\n`)
  }
  const { code, map } = await transform(text, {
    loader: "ts",
    format: "esm",
    target: "es2022",
    // Characters of other languages take half as many bytes unescaped, and shorter forms load sooner.
    charset: "utf8",
    minifySyntax: true,
    sourcemap: "external",
    sourcesContent: false,
    sourcefile: relative(dirname(join("dist", to)), file),
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } }
  })
  const imported: Array<string> = []
  const from = (path: string) => relative(dirname(to), path).replace(/^(?!\.)/, "./")
  const resolved = ({ names, specifier }: Import): string => {
    if (/^(node:|effect(\/|$))/.test(specifier)) return specifier
    if (!specifier.startsWith(".")) {
      vendored.set(specifier, new Set([...vendored.get(specifier) ?? [], ...names]))
      return from(`${vendorFile(specifier)}.js`)
    }
    const source = join(dirname(file), specifier)
    imported.push(...source.includes("*") ? globSync(source, { cwd: root }) : [source])
    return from(place(source))
  }
  const module = edited(code, map, edits(parse(code, { ecmaVersion: "latest", sourceType: "module" }), resolved))
  write(to, `${module.code}//# sourceMappingURL=${basename(to)}.map\n`)
  write(`${to}.map`, module.map)
  await Promise.all(imported.map(add))
}

await Promise.all(entryPoints.map(add))

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
    write(relative(join(root, "dist"), path), text.includes("__require") ? requireFrom + text : text)
  }
}

const specifiers = [...vendored.keys()]
const isScoped = (specifier: string) => specifier.startsWith("@")
await buildVendored(specifiers.filter((each) => !isScoped(each)), false)
// These share packages with each other.
await buildVendored(specifiers.filter(isScoped), true)
