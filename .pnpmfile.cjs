// Of these only data is read (dist/types); what they would run with is left out.
const dataOnly = new Set(["n8n-nodes-base", "@n8n/n8n-nodes-langchain"])

// The compiler of `pnpm check` is written in Go and has no API yet; TypeDoc reads the sources with the last one that has.
const withOwnCompiler = (pkg) => ({
  ...pkg,
  peerDependencies: {},
  dependencies: { ...pkg.dependencies, typescript: "6.0.3" }
})

/** The compiled file of a source. */
const compiled = (file) => file?.replace("./src/", "./dist/").replace(/\.ts$/, ".js") ?? null

module.exports = {
  hooks: {
    // `exports` names sources, which the repository's own tools read; the package has what is compiled from them. The
    // command is in a package of its own.
    beforePacking: ({ bin: _, mcpName: __, ...pkg }) => ({
      ...pkg,
      exports: Object.fromEntries(Object.entries(pkg.exports).map(([name, file]) => [name, compiled(file)]))
    }),
    updateConfig: (config) => {
      config.allowBuilds = {
        ...config.allowBuilds,
        esbuild: true,
        dprint: true,
        "isolated-vm": false,
        ssh2: false,
        "cpu-features": false
      }
      return config
    },
    readPackage: (pkg) =>
      dataOnly.has(pkg.name)
        ? { ...pkg, dependencies: {}, optionalDependencies: {}, peerDependencies: {} }
        : pkg.name === "typedoc"
        ? withOwnCompiler(pkg)
        : pkg
  }
}
