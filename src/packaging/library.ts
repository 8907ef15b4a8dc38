/**
 * Builds the modules in `dist` that apps import, one per source file, so that a bundler takes only what is used and Node
 * loads no more, with source maps that lead to `src`. Dependencies other than `effect` are bundled into `dist/vendor`.
 */
import { build, type BuildOptions } from "esbuild"
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { dirname, join, relative } from "node:path"
import { RolldownMagicString } from "rolldown"
import { parseSync } from "rolldown/utils"
import { dist, root } from "./metadata.ts"

const options = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  mainFields: ["module", "main"],
  external: ["effect"],
  // Shorter forms load sooner.
  minifySyntax: true,
  legalComments: "none",
  logLevel: "warning"
} satisfies BuildOptions

/** Imported names of each bundled package; `*` is all of them. */
const vendored = new Map<string, Set<string>>()
const isVendored = (specifier: string) => !/^(\.|node:|effect(\/|$))/.test(specifier)
const vendorFile = (specifier: string) =>
  `vendor/${specifier.replace(/^@/, "").replace(/\.js$/, "").replace(/\W+/g, "-")}`
const vendor = (specifier: string, names: ReadonlyArray<string>) => {
  if (!isVendored(specifier) || names.length === 0) return
  vendored.set(specifier, new Set([...vendored.get(specifier) ?? [], ...names]))
}

/** Source whose values are marked as free of effects, so that a bundler leaves out those that are not used. */
const marked = (file: string) => {
  const code = readFileSync(file, "utf8")
  const text = new RolldownMagicString(code)
  const { module, program } = parseSync(file, code)
  for (const { entries, moduleRequest } of module.staticImports) {
    const values = entries.filter(({ isType }) => !isType)
    vendor(
      moduleRequest.value,
      values.map(({ importName: { kind, name } }) => name ?? (kind === "Default" ? "default" : "*"))
    )
  }
  const evaluated = program.body
    .map((node) => node.type === "ExportNamedDeclaration" ? node.declaration : node)
    .flatMap((node) =>
      node?.type === "VariableDeclaration"
        ? node.declarations.map(({ init }) => init)
        : node?.type === "ClassDeclaration"
        ? [
          node.superClass,
          ...node.body.body.map((each) => each.type === "PropertyDefinition" && each.static ? each.value : null)
        ]
        : []
    )
  for (const value of evaluated) {
    // Without a parameter, esbuild would replace the call by its value, and lose the mark.
    if (value === null || /Function|^(Identifier|Literal|ClassExpression)$/.test(value.type)) continue
    text.appendLeft(value.start, "/* @__PURE__ */ ((_) => (").appendRight(value.end, "))()")
  }
  return `${text.toString()}\n//# sourceMappingURL=${text.generateMap({ source: file, hires: true }).toUrl()}`
}

const { outputFiles } = await build({
  ...options,
  write: false,
  // All that package.json's exports reach (the compiler has written their declarations).
  entryPoints: globSync("**/*.d.ts", { cwd: dist }).map((file) => `src/${file.replace(".d.ts", ".ts")}`),
  outbase: "src",
  chunkNames: "shared/[name]-[hash]",
  target: "es2022",
  // Characters of other languages take half as many bytes unescaped.
  charset: "utf8",
  loader: { ".md": "text" },
  sourcemap: "linked",
  sourcesContent: false,
  plugins: [{
    name: "modules",
    setup: ({ onLoad, onResolve }) => {
      onLoad({ filter: /\.ts$/ }, ({ path }) => ({ contents: marked(path), loader: "ts" }))
      onResolve({ filter: /./ }, ({ importer, kind, path }) => {
        if (kind === "entry-point") return undefined
        if (path.endsWith(".ts")) return { path: path.replace(/\.ts$/, ".js"), external: true, sideEffects: false }
        if (!isVendored(path)) return undefined
        if (kind === "dynamic-import") vendor(path, ["*"])
        const file = relative(dirname(importer), join(root, "src", `${vendorFile(path)}.js`))
        return { path: file.replace(/^(?!\.)/, "./"), external: true, sideEffects: false }
      })
    }
  }]
})

for (const { path, text } of outputFiles) {
  mkdirSync(dirname(path), { recursive: true })
  // Every module imports the helper of those that import guides.
  writeFileSync(path, text.replace(/^import "[./]+\/shared\/chunk-\w+\.js";$/m, ""))
}

await build({
  ...options,
  entryPoints: [...vendored.keys()].map((specifier) => ({ in: `vendor:${specifier}`, out: vendorFile(specifier) })),
  chunkNames: "vendor/[name]-[hash]",
  target: "node22",
  minifyWhitespace: true,
  plugins: [{
    name: "vendor",
    setup: ({ onLoad, onResolve }) => {
      onResolve({ filter: /^vendor:/ }, ({ path }) => ({ path: path.slice(7), namespace: "vendor" }))
      onLoad({ filter: /./, namespace: "vendor" }, ({ path }) => {
        const names = [...vendored.get(path) ?? []]
        const what = names.includes("*") ? "*" : `{ ${names.join(", ")} }`
        return { contents: `export ${what} from "${path}"`, resolveDir: root }
      })
      // What browsers load must be without `require`: modules of Node that CommonJS requires are imported.
      onResolve(
        { filter: /./ },
        ({ kind, path }) =>
          kind === "require-call" && isBuiltin(path)
            ? { path: path.replace("node:", ""), namespace: "node" }
            : undefined
      )
      onLoad({ filter: /./, namespace: "node" }, ({ path }) => ({
        contents: `import all from "node:${path}"\nmodule.exports = all`
      }))
    }
  }]
})
