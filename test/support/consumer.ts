/** An app that uses the packed library: what its imports cost in a bundle, when they load, and when types are checked. */
import { build } from "esbuild"
import { spawnSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { metadata, root } from "../../src/packaging/metadata.ts"

/** One import of an app, with the largest number of kilobytes that it may cost, minified, with Effect. */
export interface Use {
  readonly name: string
  readonly from: string
  readonly most: number
}

const use = (name: string, from: string, most: number): Use => ({ name, from, most })

export const uses: ReadonlyArray<Use> = [
  use("Redact", "", 20),
  use("Redact", "/domain", 20),
  use("Workflow", "/domain", 80),
  use("Mermaid", "/domain", 80),
  use("WorkflowDiff", "/domain", 120),
  use("WorkflowProblems", "/domain", 160),
  use("N8nClient", "", 220),
  use("layer", "/N8nClient", 220),
  use("tools.getExecution", "", 2000),
  use("getExecution", "/tools/executions/getExecution", 300),
  use("listWorkflows", "/tools/workflows/listWorkflows", 300),
  use("Truncated", "/mcp", 80),
  use("Toolkit", "/mcp", 300),
  use("McpServer", "/mcp", 400),
  use("FakeN8n", "/testing", 400),
  use("all", "/tools", 2000)
]

/** Unpacks the tarball into an app's `node_modules`, beside its peers. */
export const install = (tarball: string, app: string): void => {
  const modules = join(app, "node_modules")
  mkdirSync(join(modules, metadata.name), { recursive: true })
  for (const peer of ["effect", "@modelcontextprotocol", "@effect"]) {
    symlinkSync(join(root, "node_modules", peer), join(modules, peer))
  }
  spawnSync("tar", ["xzf", tarball, "--strip-components=1", "-C", join(modules, metadata.name)], { stdio: "inherit" })
  writeFileSync(join(app, "package.json"), JSON.stringify({ type: "module", private: true }))
}

/** Code of an app that imports this and nothing else. */
export const codeOf = ({ from, name }: Pick<Use, "from" | "name">): string =>
  `import { ${name.split(".")[0]} } from "${metadata.name}${from}"\nconsole.log(${name})`

const bundled = (app: string, contents: string, splitting: boolean) =>
  build({
    stdin: { contents, resolveDir: app },
    outdir: app,
    bundle: true,
    minify: true,
    splitting,
    format: "esm",
    platform: "node",
    write: false,
    metafile: true,
    logLevel: "error",
    absWorkingDir: app
  })

/** Bytes of a minified bundle: in one file, and what loads at once if the rest is split off. */
export const sizes = async (app: string, code: string): Promise<{ readonly whole: number; readonly atOnce: number }> => {
  const { outputFiles: [file] } = await bundled(app, code, false)
  const { metafile: { outputs } } = await bundled(app, code, true)
  const seen = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    for (const { kind, path } of outputs[file]?.imports ?? []) if (kind === "import-statement") visit(path)
  }
  visit("stdin.js")
  const atOnce = [...seen].reduce((sum, file) => sum + (outputs[file]?.bytes ?? 0), 0)
  return { whole: file?.contents.length ?? 0, atOnce }
}
