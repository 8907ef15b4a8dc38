// Of these only data is read (dist/types); what they would run with is left out.
const dataOnly = new Set(["n8n-nodes-base", "@n8n/n8n-nodes-langchain"])

// The compiler of `pnpm check` is written in Go and has no API yet; TypeDoc reads the sources with the last one that has.
const withOwnCompiler = (pkg) => ({
  ...pkg,
  peerDependencies: {},
  dependencies: { ...pkg.dependencies, typescript: "6.0.3" }
})

module.exports = {
  hooks: {
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
