/** An app that uses the packed library: what its imports cost in a bundle. */
import { build } from "esbuild"
import { metadata } from "../../src/packaging/metadata.ts"

/** One import of an app, with the most kilobytes that it may cost: minified, with Effect, without what loads later. */
export interface Use {
  readonly name: string
  readonly from: string
  readonly most: number
}

const use = (name: string, from: string, most: number): Use => ({ name, from, most })

export const uses: ReadonlyArray<Use> = [
  use("Redact", "", 20),
  use("Redact", "/domain", 20),
  use("Mermaid", "/domain", 20),
  use("WorkflowDiff", "/domain", 50),
  use("Workflow", "/domain", 100),
  use("WorkflowProblems", "/domain", 160),
  use("N8nClient", "", 230),
  use("layer", "/N8nClient", 215),
  use("getExecution", "/tools/executions/getExecution", 250),
  use("listWorkflows", "/tools/workflows/listWorkflows", 220),
  use("all", "/tools", 1250),
  use("Truncated", "", 100),
  use("Toolkit", "/mcp", 200),
  use("McpServer", "/mcp", 280),
  use("FakeN8n", "/testing", 375)
]

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
export const sizes = async (
  app: string,
  code: string
): Promise<{ readonly whole: number; readonly atOnce: number }> => {
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
