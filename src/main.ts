#!/usr/bin/env node
/** Entry point of every start: checks the version of Node, in old syntax, before importing anything. */

/** `engines.node` of package.json. */
const needed = [22, 19] as const

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major > needed[0] || major === needed[0] && minor >= needed[1]) {
  // Not in Node's default folder, where other users could write.
  const cache = process.env["XDG_CACHE_HOME"] || `${process.getBuiltinModule("node:os").homedir()}/.cache`
  process.getBuiltinModule("node:module").enableCompileCache(`${cache}/effect-n8n-mcp/compiled`)
  void import("./app/Run.ts")
} else {
  const script = process.argv[1] || ""
  process.stderr.write(
    `effect-n8n-mcp needs Node ${
      needed.join(".")
    } or later, but this is Node ${process.versions.node} at ${process.execPath}. ` +
      `Run it with npx -y -p node@24 node ${/\s/.test(script) ? `"${script}"` : script}, or install Node 24.\n`
  )
  process.exitCode = 1
}
